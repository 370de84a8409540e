// Phase II of TFRP (TFRP07, section 3.2): groups of low homogeneity are scattered where that pays.
#pragma once

#include <limits>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// O(n^2 p / k).
class Dissolve {
 public:
  Dissolve(Points points, std::span<const Label> labels, std::int64_t k, Watch& watch)
      : groups_(points, labels), k_(k), poll_(watch, 1'000'000, Deadline::HEED) {}

  // Groups in order of decreasing SSE, each once: members go to the nearest other centroids if that
  // lowers the total. Groups may grow to 4k-1 records; splitting them is left to the caller.
  // `truncated`: the deadline struck; what was scattered until then has lowered the SSE.
  Labels run(bool& truncated) {
    truncated = false;
    try {
      scatter_all();
    } catch (const DeadlinePassed&) {
      truncated = true;
    }
    return groups_.labels();
  }

 private:
  void scatter_all() {
    std::vector<Neighbour> order;
    for (Label group = 0; group < groups_.count(); ++group) {
      order.push_back({groups_.sse_with(group), group});
    }
    std::sort(order.begin(), order.end(), farther);
    for (const Neighbour& entry : order) {
      const Label group = entry.row;
      if (groups_.size(group) >= 2 * k_) continue;
      if (scattering_pays(group)) groups_.move_all(moves_);
    }
  }

  bool scattering_pays(Label group) {
    moves_.clear();
    std::vector<std::int64_t> joined(static_cast<std::size_t>(groups_.count()));
    for (const Row row : groups_.members(group)) {
      const Label to = nearest_open(row, group, joined);
      if (to < 0) return false;
      ++joined[to];
      moves_.push_back({row, to});
      poll_.tick(groups_.count() * groups_.points().p);
    }
    double before = groups_.sse_with(group);
    double after = 0.0;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      const Label to = moves_[i].second;
      if (joined[to] == 0) continue;  // counted with an earlier member
      joined[to] = 0;
      std::vector<Row> further;
      for (const auto& [row, target] : moves_) {
        if (target == to) further.push_back(row);
      }
      before += groups_.sse_with(to);
      after += groups_.sse_with(to, further);
    }
    return before > after;
  }

  // Nearest centroid among the other groups that may still grow. Partial distances: a sum that
  // exceeds the best so far is not finished.
  Label nearest_open(Row row, Label own, const std::vector<std::int64_t>& joined) const {
    const std::int64_t p = groups_.points().p;
    const double* x = groups_.points().row(row);
    double best = std::numeric_limits<double>::infinity();
    Label nearest = -1;
    for (Label group = 0; group < groups_.count(); ++group) {
      const std::int64_t size = groups_.size(group);
      if (group == own || size == 0 || size + joined[group] >= 4 * k_ - 1) continue;
      const double* c = groups_.centroid(group);
      double sum = 0.0;
      for (std::int64_t a = 0; a < p && sum < best; ++a) sum += (x[a] - c[a]) * (x[a] - c[a]);
      if (sum < best) {
        best = sum;
        nearest = group;
      }
    }
    return nearest;
  }

  Groups groups_;
  std::int64_t k_;
  Poll poll_;
  std::vector<std::pair<Row, Label>> moves_;
};

}  // namespace microagg
