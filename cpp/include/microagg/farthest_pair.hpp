// The farthest pair of the remaining records, again and again while they become fewer: a search
// that remembers upper bounds, which only fall as records go, and returns just what a full search
// would.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "microagg/farthest.hpp"
#include "microagg/points.hpp"
#include "microagg/remaining.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Largest distance, then lowest first row, then lowest second row. Of equal records only the lowest
// that remains can be first.
//
// No partner of x is farther from it than |x - c| + max |y - c|, whatever the centre c. Once that
// allows x to be first, its farthest partner is looked for; when that one is gone, their distance
// is still a bound.
class FarthestPair {
 public:
  FarthestPair(Points points, Remaining& remaining, Poll& poll)
      : points_(points),
        remaining_(remaining),
        poll_(poll),
        from_medians_(points, remaining, Equals::ONCE),
        from_means_(points, remaining, Equals::ONCE) {
    from_medians_.sort_from(medians().data());
    from_means_.sort_from(means().data());
    waiting_ = from_medians_.entries();
  }

  struct Pair {
    Row first;
    Row second;
  };

  // At least two records must remain.
  Pair find() {
    while (true) {
      wake();
      const Candidate top = candidates_.top();
      const bool known = top.partner != Remaining::NONE && remaining_.contains(top.partner);
      const Row row = remaining_.successor(top.row);
      if (known && row == top.row) return {row, top.partner};
      candidates_.pop();
      if (row == Remaining::NONE) continue;
      if (known && row != top.partner) {
        candidates_.push({top.squared, row, top.partner});
        continue;
      }
      const double bound = norm_bound(row);
      candidates_.push(bound < top.squared ? Candidate{bound, row, Remaining::NONE}
                                           : with_partner(row));
    }
  }

 private:
  // A record that may be first, with what is known of its partner.
  struct Candidate {
    double squared;  // the farthest is no farther
    Row row;
    Row partner;  // the farthest, if it remains; NONE if nobody looked
  };
  struct Later {  // true when `a` can be first only after `b`
    bool operator()(const Candidate& a, const Candidate& b) const {
      return a.squared < b.squared || (a.squared == b.squared && a.row > b.row);
    }
  };

  // Candidates are those who may be first; the others wait in the order of their bounds.
  void wake() {
    for (; !waiting_.empty(); waiting_ = waiting_.subspan(1)) {
      auto& entry = waiting_.front();
      if (!from_medians_.stays(entry)) continue;
      const double bound = norm_bound(entry.root(), from_medians_);
      if (!candidates_.empty() && bound < candidates_.top().squared) return;
      candidates_.push({bound, entry.row, Remaining::NONE});
    }
  }

  Candidate with_partner(Row row) {
    Neighbour far = remaining_.farthest(points_.row(row));
    poll_.tick(remaining_.size() * points_.p);
    // Only where all distances are 0 and no row is lower, it is itself the farthest.
    if (far.row == row) {
      do {
        ++far.row;
      } while (!remaining_.contains(far.row));
    }
    return {far.distance, row, far.row};
  }

  double norm_bound(Row row) {
    double least = std::numeric_limits<double>::infinity();
    for (DistanceList* list : {&from_medians_, &from_means_}) {
      const double* centre = list->reference().data();
      const double squared = squared_distance(points_.row(row), centre, points_.p);
      least = std::min(least, norm_bound(std::sqrt(squared), *list));
    }
    return least;
  }
  double norm_bound(double root, DistanceList& list) const {
    const double bound = (root + list.front().root()) * rounding_slack(points_.p);
    return bound * bound;
  }

  // Outliers do not move the medians away from the others; the means lie between clusters.
  std::vector<double> medians() const {
    std::vector<double> centre;
    Array<double> values(static_cast<std::size_t>(points_.n));
    for (std::int64_t a = 0; a < points_.p; ++a) {
      for (Row row = 0; row < points_.n; ++row) values[row] = points_.row(row)[a];
      const auto middle = values.begin() + points_.n / 2;
      std::nth_element(values.begin(), middle, values.end());
      centre.push_back(*middle);
    }
    return centre;
  }
  std::vector<double> means() const {
    std::vector<double> centre(static_cast<std::size_t>(points_.p));
    for (Row row = 0; row < points_.n; ++row) {
      for (std::int64_t a = 0; a < points_.p; ++a) {
        centre[a] += points_.row(row)[a] / static_cast<double>(points_.n);
      }
    }
    return centre;
  }

  Points points_;
  Remaining& remaining_;
  Poll& poll_;
  DistanceList from_medians_;
  DistanceList from_means_;
  std::span<DistanceList::Entry> waiting_;
  std::priority_queue<Candidate, std::vector<Candidate>, Later> candidates_;
};

}  // namespace microagg
