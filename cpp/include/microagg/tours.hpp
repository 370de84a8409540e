// Paths through the records: nearest point next (NPN), and the tour over the groups of a partition
// (VLDBJ06, section 4.2). O(n^2 p) and O(g^2 p + n p log n).
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/farthest_pair.hpp"
#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/remaining.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// The record farthest from the centroid of all records.
[[nodiscard]] inline Row farthest_from_centroid(Points points) {
  RunningCentroid sums(points.p);
  for (std::int64_t row = 0; row < points.n; ++row) sums.add(points.row(row));
  std::vector<double> centroid(static_cast<std::size_t>(points.p));
  sums.write(centroid.data());
  Neighbour best{-1.0, 0};
  for (Row row = 0; row < points.n; ++row) {
    const Neighbour candidate{squared_distance(points.row(row), centroid.data(), points.p), row};
    if (farther(candidate, best)) best = candidate;
  }
  return best.row;
}

// The two records farthest from each other, the lower row first (twice the only record, if there is
// one).
[[nodiscard]] inline FarthestPair::Pair farthest_pair(Points points, Deadline deadline,
                                                      Watch& watch) {
  if (points.n < 2) return {0, 0};
  Poll poll(watch, 1'000'000, deadline);
  Remaining remaining(points, 1);
  return FarthestPair(points, remaining, poll).find();
}

// From `first`, always on to the nearest record not yet visited.
[[nodiscard]] inline Rows nearest_next(Points points, Row first, Deadline deadline, Watch& watch) {
  MICROAGG_ASSERT(points.has(first));
  Poll poll(watch, 1'000'000, deadline);
  Remaining remaining(points, points.n);
  Rows order{first};
  order.reserve(static_cast<std::size_t>(points.n));
  remaining.remove(first);
  while (remaining.size() > 0) {
    order.push_back(remaining.k_nearest(points.row(order.back()), 1).front().row);
    remaining.remove(order.back());
    poll.tick((remaining.size() + 1) * points.p);
    poll.report_done(static_cast<double>(order.size()) / static_cast<double>(points.n));
  }
  return order;
}

// NPN over the group centroids, from the group of `first`. A group begins at its record nearest to
// the centroid before it (the first group: at `first`), the others follow by distance to that
// record.
[[nodiscard]] inline Rows group_tour(Points points, std::span<const Label> labels, Row first,
                                     Deadline deadline, Watch& watch) {
  MICROAGG_ASSERT(fit(points, labels) && points.has(first));
  const Array<std::int64_t> sizes = group_sizes(labels);
  std::vector<Rows> members(sizes.size());
  Array<double> centroids(sizes.size() * static_cast<std::size_t>(points.p));
  for (Row row = 0; row < points.n; ++row) members[labels[row]].push_back(row);
  for (std::size_t group = 0; group < members.size(); ++group) {
    RunningCentroid sums(points.p);
    for (const Row row : members[group]) sums.add(points.row(row));
    sums.write(centroids.data() + static_cast<std::int64_t>(group) * points.p);
  }
  const Points centres{centroids.data(), static_cast<std::int64_t>(sizes.size()), points.p};
  Rows order;
  order.reserve(static_cast<std::size_t>(points.n));
  std::vector<Neighbour> ranked;
  const double* before = nullptr;
  for (const Row group : nearest_next(centres, labels[first], deadline, watch)) {
    Row start = first;
    if (before) {
      Neighbour best{std::numeric_limits<double>::infinity(), 0};
      for (const Row row : members[group]) {
        const Neighbour candidate{squared_distance(points.row(row), before, points.p), row};
        if (nearer(candidate, best)) best = candidate;
      }
      start = best.row;
    }
    order.push_back(start);
    ranked.clear();
    for (const Row row : members[group]) {
      if (row == start) continue;
      ranked.push_back({squared_distance(points.row(row), points.row(start), points.p), row});
    }
    std::sort(ranked.begin(), ranked.end(), nearer);
    for (const Neighbour& next : ranked) order.push_back(next.row);
    before = centres.row(group);
  }
  return order;
}

}  // namespace microagg
