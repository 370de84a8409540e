// The records as every kernel sees them, and the one definition of distance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "microagg/array.hpp"
#include "microagg/assert.hpp"

namespace microagg {

using Row = std::int32_t;     // index of a record
using Label = std::int32_t;   // number of a group
using Labels = Array<Label>;  // one per record
using Rows = Array<Row>;      // records in some order

// A read-only C-contiguous (n, p) table of finite numbers.
struct Points {
  const double* values;
  std::int64_t n;
  std::int64_t p;
  const double* row(std::int64_t i) const { return values + i * p; }
  bool has(std::int64_t i) const { return 0 <= i && i < n; }
};

// Whether there is one group for each record of the points, none with a negative number.
inline bool fit(Points points, std::span<const Label> labels) {
  return static_cast<std::int64_t>(labels.size()) == points.n &&
         std::all_of(labels.begin(), labels.end(), [](Label label) { return label >= 0; });
}
// Whether the rows are records of the points.
inline bool hold(Points points, std::span<const Row> rows) {
  return std::all_of(rows.begin(), rows.end(), [=](Row row) { return points.has(row); });
}

// Squared Euclidean distance: attributes added left to right, no FMA. Every engine computes this
// very sequence of operations, so that no partition ever depends on the engine, the CPU or the
// threads.
inline double squared_distance(const double* a, const double* b, std::int64_t p) {
  double sum = 0.0;
  for (std::int64_t j = 0; j < p; ++j) {
    const double d = a[j] - b[j];
    sum += d * d;
  }
  return sum;
}

// A record with its distance to some query. "Before" in the two orders that all methods share:
struct Neighbour {
  double distance;
  Row row;
};
inline bool nearer(const Neighbour& a, const Neighbour& b) {
  return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
}
inline bool farther(const Neighbour& a, const Neighbour& b) {
  return a.distance > b.distance || (a.distance == b.distance && a.row < b.row);
}

// A pair of records (or of groups, by their lowest rows) with the cost of joining or exchanging
// them.
struct CostedPair {
  double cost;
  Row one;
  Row other;
};
// Lexicographic: cost, lower row, higher row.
inline bool pair_before(const CostedPair& a, const CostedPair& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  const auto [a_low, a_high] = std::minmax(a.one, a.other);
  const auto [b_low, b_high] = std::minmax(b.one, b.other);
  return a_low < b_low || (a_low == b_low && a_high < b_high);
}

}  // namespace microagg
