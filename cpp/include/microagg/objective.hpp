// The one definition of cost, and the one numbering of groups.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/points.hpp"

namespace microagg {

// Groups renumbered 0, 1, .. in order of their first record, so that equal partitions are equal
// arrays.
inline Labels by_first_appearance(const Labels& labels) {
  Label largest = -1;
  for (const Label label : labels) largest = std::max(largest, label);
  Labels number(static_cast<std::size_t>(largest) + 1, -1);
  Labels result(labels.size());
  Label next = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Label& renumbered = number[labels[i]];
    if (renumbered < 0) renumbered = next++;
    result[i] = renumbered;
  }
  return result;
}

inline std::vector<std::int64_t> group_sizes(std::span<const Label> labels) {
  Label largest = -1;
  for (const Label label : labels) largest = std::max(largest, label);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(largest) + 1);
  for (const Label label : labels) ++sizes[label];
  return sizes;
}

// Group means, (groups, p). A running mean in which no intermediate exceeds the data: safe for
// values near the largest double, and exact when all members are equal.
inline std::vector<double> group_means(Points values, std::span<const Label> labels) {
  std::vector<std::int64_t> seen(group_sizes(labels).size());
  std::vector<double> means(seen.size() * static_cast<std::size_t>(values.p));
  for (std::int64_t i = 0; i < values.n; ++i) {
    const double count = static_cast<double>(++seen[labels[i]]);
    double* mean = means.data() + labels[i] * values.p;
    const double* record = values.row(i);
    for (std::int64_t a = 0; a < values.p; ++a) mean[a] += record[a] / count - mean[a] / count;
  }
  return means;
}

// Within-groups sum of squares: distances to group means, summed with compensation. O(n p).
// All is taken relative to each group's first record: that keeps the digits of data far from zero.
inline double sse(Points points, std::span<const Label> labels) {
  const std::vector<std::int64_t> sizes = group_sizes(labels);
  std::vector<std::int64_t> first(sizes.size(), -1);
  std::vector<double> means(sizes.size() * static_cast<std::size_t>(points.p));
  for (std::int64_t i = 0; i < points.n; ++i) {
    std::int64_t& start = first[labels[i]];
    if (start < 0) start = i;
    double* mean = means.data() + labels[i] * points.p;
    for (std::int64_t a = 0; a < points.p; ++a) mean[a] += points.row(i)[a] - points.row(start)[a];
  }
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    double* mean = means.data() + static_cast<std::int64_t>(group) * points.p;
    for (std::int64_t a = 0; a < points.p; ++a) mean[a] /= static_cast<double>(sizes[group]);
  }
  ExactSum total;
  for (std::int64_t i = 0; i < points.n; ++i) {
    const double* mean = means.data() + labels[i] * points.p;
    const double* start = points.row(first[labels[i]]);
    double sum = 0.0;
    for (std::int64_t a = 0; a < points.p; ++a) {
      const double d = points.row(i)[a] - start[a] - mean[a];
      sum += d * d;
    }
    total.add(sum);
  }
  return total.value();
}

// Total sum of squares: distances to the mean record.
inline double sst(Points points) {
  return sse(points, Labels(static_cast<std::size_t>(points.n), 0));
}

}  // namespace microagg
