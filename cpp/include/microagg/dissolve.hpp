// Phase II of TFRP (TFRP07, section 3.2): groups of low homogeneity are scattered where that pays.
#pragma once

#include <vector>

#include "microagg/centroid_tree.hpp"
#include "microagg/groups.hpp"
#include "microagg/outcome.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// O(n^2 p / k) at worst; O(n log n) where boxes tell near from far.
class Dissolve {
 public:
  Dissolve(Points points, std::span<const Label> labels, std::int64_t k, Watch& watch)
      : groups_(points, labels),
        k_(k),
        poll_(watch, 1'000'000, Deadline::HEED),
        tree_(groups_),
        joined_(static_cast<std::size_t>(groups_.count())) {
    MICROAGG_ASSERT(k >= 1);
  }
  Dissolve(const Dissolve&) = delete;  // the tree looks at the groups
  Dissolve& operator=(const Dissolve&) = delete;

  // Groups in order of decreasing SSE, each once: members go to the nearest other centroids if that
  // lowers the total. Groups may grow to 4k-1 records; splitting them is left to the caller.
  Outcome run() {
    bool truncated = false;
    try {
      scatter_all();
    } catch (const DeadlinePassed&) {
      truncated = true;  // what was scattered until then has lowered the SSE
    }
    return {groups_.labels(), truncated};
  }

 private:
  void scatter_all() {
    std::vector<Neighbour> order;
    for (Label group = 0; group < groups_.count(); ++group) {
      sse_.push_back(groups_.sse_with(group));
      order.push_back({sse_.back(), group});
    }
    std::sort(order.begin(), order.end(), farther);
    for (const Neighbour& entry : order) {
      const Label group = entry.row;
      if (groups_.size(group) >= 2 * k_) continue;
      const bool pays = scattering_pays(group);
      if (pays) groups_.move_all(moves_);
      for (const auto& [row, to] : moves_) {
        if (pays && joined_[to] > 0) {
          sse_[to] = groups_.sse_with(to);
          tree_.update(to);
        }
        joined_[to] = 0;
      }
    }
  }

  // Leaves the moves in `moves_`, and in `joined_` how many records would join a group.
  bool scattering_pays(Label group) {
    moves_.clear();
    targets_.clear();
    double growth = 0.0;
    double before = sse_[group];
    for (const Row row : groups_.members(group)) {
      const Label to = nearest_open(row, group);
      if (to < 0) return false;
      const auto known = std::find(targets_.begin(), targets_.end(), to);
      const auto place = known - targets_.begin();
      if (known == targets_.end()) {
        targets_.push_back(to);
        before += sse_[to];
        centroids_.resize(targets_.size() * static_cast<std::size_t>(groups_.points().p));
        std::copy_n(groups_.centroid(to), groups_.points().p, centroid_of_target(place));
      }
      growth += join(row, place, groups_.size(to) + joined_[to]++);
      moves_.push_back({row, to});
      poll_.tick(tree_.work() * groups_.points().p);
      // Further records never lower the SSE of a group. Rounding is far below the slack.
      if (growth > sse_[group] * (1.0 + 1e-6)) return false;
    }
    // Records that join a group never lower its SSE: what the others have now is the least they can
    // have. Rounding is far below the slack.
    double rest = before - sse_[group];
    double after = 0.0;
    for (const Label to : targets_) {
      std::vector<Row> further;
      for (const auto& [row, target] : moves_) {
        if (target == to) further.push_back(row);
      }
      after += groups_.sse_with(to, further);
      rest -= sse_[to];
      if (after + rest > before * (1.0 + 1e-9)) return false;
    }
    return before > after;
  }

  // How much the SSE of a target of `size` records grows when the record joins it.
  double join(Row row, std::ptrdiff_t target, std::int64_t size) {
    const double* record = groups_.points().row(row);
    double* centroid = centroid_of_target(target);
    const auto grown = static_cast<double>(size + 1);
    double sum = 0.0;
    for (std::int64_t a = 0; a < groups_.points().p; ++a) {
      const double gap = record[a] - centroid[a];
      sum += gap * gap;
      centroid[a] += gap / grown;
    }
    return static_cast<double>(size) / grown * sum;
  }
  double* centroid_of_target(std::ptrdiff_t target) {
    return centroids_.data() + target * groups_.points().p;
  }

  // The nearest centroid among the other groups that may still grow.
  Label nearest_open(Row row, Label own) {
    const Label guess = moves_.empty() ? -1 : moves_.back().second;
    return tree_.nearest(groups_.points().row(row), guess, [&](Label group) {
      const std::int64_t size = groups_.size(group);
      return group != own && size > 0 && size + joined_[group] < 4 * k_ - 1;
    });
  }

  Groups groups_;
  std::int64_t k_;
  Poll poll_;
  CentroidTree tree_;
  std::vector<double> sse_;  // of each group as it is
  std::vector<std::int64_t> joined_;
  std::vector<std::pair<Row, Label>> moves_;
  std::vector<Label> targets_;     // of the moves, each once
  std::vector<double> centroids_;  // of the targets, with the records that would join them
};

}  // namespace microagg
