// V-MDAV: MDAV with groups that may take further near records (named in CGS22, section 2).
#pragma once

#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/farthest.hpp"
#include "microagg/peel.hpp"
#include "microagg/points.hpp"
#include "microagg/remaining.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class VariableMdav {
 public:
  VariableMdav(Points points, std::int64_t k, double gamma, Watch& watch, Engine engine)
      : points_(points),
        k_(k),
        gamma_(gamma),
        poll_(watch, 1'000'000),
        remaining_(points, 2 * points.n, engine),
        by_distance_(points, remaining_),
        group_of_(static_cast<std::size_t>(points.n), -1) {
    RunningCentroid sums(points.p);
    for (std::int64_t row = 0; row < points.n; ++row) sums.add(points.row(row));
    std::vector<double> centroid(static_cast<std::size_t>(points.p));
    sums.write(centroid.data());
    by_distance_.sort_from(centroid.data());
  }

  // Groups in the order in which they were formed.
  [[nodiscard]] Labels run() {
    if (points_.n < 2 * k_) return Labels(group_of_.size(), 0);
    while (remaining_.size() >= k_) {
      form_group();
      const double left = static_cast<double>(remaining_.size()) / static_cast<double>(points_.n);
      poll_.report_done(1.0 - left * left);
    }
    join_nearest_groups(points_, without_group(group_of_), Centroids::FIXED, group_of_, groups_);
    return std::move(group_of_);
  }

 private:
  struct Member {
    Row row;
    Neighbour nearest;  // its nearest record outside all groups
  };

  void form_group() {
    const Row seed = by_distance_.front().row;
    members_.clear();
    take(seed);
    const std::vector<Neighbour> nearest = remaining_.k_nearest(points_.row(seed), k_ - 1);
    for (const Neighbour& next : nearest) take(next.row);
    while (static_cast<std::int64_t>(members_.size()) < 2 * k_ - 1 && remaining_.size() > 0) {
      const Neighbour candidate = nearest_to_group();
      const auto around = remaining_.k_nearest(points_.row(candidate.row), 2);
      poll();
      // The candidate itself is among its two nearest; without another record nothing is nearer to
      // it.
      double outside = std::numeric_limits<double>::infinity();
      for (const Neighbour& other : around) {
        if (other.row != candidate.row) outside = std::min(outside, other.distance);
      }
      if (gamma_ == 0.0 || !(candidate.distance < gamma_ * outside)) break;
      take(candidate.row);
    }
    ++groups_;
  }

  void take(Row row) {
    remaining_.remove(row);
    group_of_[row] = groups_;
    members_.push_back({row, {-1.0, Remaining::NONE}});
  }

  Neighbour nearest_to_group() {
    Neighbour best{std::numeric_limits<double>::infinity(), Remaining::NONE};
    for (Member& member : members_) {
      if (member.nearest.row == Remaining::NONE || !remaining_.contains(member.nearest.row)) {
        member.nearest = remaining_.k_nearest(points_.row(member.row), 1).front();
        poll();
      }
      if (best.row == Remaining::NONE || nearer(member.nearest, best)) best = member.nearest;
    }
    return best;
  }

  void poll() { poll_.tick((remaining_.size() + 1) * points_.p); }

  Points points_;
  std::int64_t k_;
  double gamma_;
  Poll poll_;
  Remaining remaining_;
  DistanceList by_distance_;
  Labels group_of_;
  std::vector<Member> members_;
  Label groups_ = 0;
};

// At worst O(n^2 p).
[[nodiscard]] inline Labels v_mdav(Points points, std::int64_t k, double gamma, Watch& watch,
                                   Engine engine = Engine::AUTO,
                                   Numbering numbering = Numbering::APPEARANCE) {
  MICROAGG_ASSERT(k >= 1 && points.n >= 1 && gamma >= 0.0);
  return numbered(VariableMdav(points, k, gamma, watch, engine).run(), numbering);
}

}  // namespace microagg
