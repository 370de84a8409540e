// The one definition of cost, and the one numbering of groups.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/points.hpp"

namespace microagg {

// Groups renumbered 0, 1, .. in order of their first record, so that equal partitions are equal
// arrays.
inline Labels by_first_appearance(Labels labels) {
  Label largest = -1;
  for (const Label label : labels) largest = std::max(largest, label);
  Labels number(static_cast<std::size_t>(largest) + 1, -1);
  Label next = 0;
  for (Label& label : labels) {
    Label& renumbered = number[label];
    if (renumbered < 0) renumbered = next++;
    label = renumbered;
  }
  return labels;
}

inline Array<std::int64_t> group_sizes(std::span<const Label> labels) {
  Label largest = -1;
  for (const Label label : labels) largest = std::max(largest, label);
  Array<std::int64_t> sizes(static_cast<std::size_t>(largest) + 1);
  for (const Label label : labels) ++sizes[label];
  return sizes;
}

// Group means, (groups, p). A running mean in which no intermediate exceeds the data: safe for
// values near the largest double, and exact when all members are equal.
inline Array<double> group_means(Points values, std::span<const Label> labels) {
  Array<std::int64_t> seen(group_sizes(labels).size());
  Array<double> means(seen.size() * static_cast<std::size_t>(values.p));
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
// `P`: the number of attributes where the compiler shall know it, else 0.
template <std::int64_t P = 0>
double sse_of(Points points, std::span<const Label> labels) {
  const std::int64_t p = P > 0 ? P : points.p;
  const Array<std::int64_t> sizes = group_sizes(labels);
  // Per group, side by side: its first record, and the mean of the others' offsets from it.
  Array<double> groups(sizes.size() * static_cast<std::size_t>(2 * p));
  Array<std::uint8_t> seen(sizes.size());
  for (std::int64_t i = 0; i < points.n; ++i) {
    double* first = groups.data() + labels[i] * 2 * p;
    const double* record = points.row(i);
    if (!seen[labels[i]]) {
      seen[labels[i]] = 1;
      std::copy(record, record + p, first);
    } else {
      for (std::int64_t a = 0; a < p; ++a) first[p + a] += record[a] - first[a];
    }
  }
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    double* offset = groups.data() + static_cast<std::int64_t>(group) * 2 * p + p;
    for (std::int64_t a = 0; a < p; ++a) offset[a] /= static_cast<double>(sizes[group]);
  }
  ManySum total;
  for (std::int64_t i = 0; i < points.n; ++i) {
    const double* first = groups.data() + labels[i] * 2 * p;
    const double* record = points.row(i);
    double sum = 0.0;
    for (std::int64_t a = 0; a < p; ++a) {
      const double d = record[a] - first[a] - first[p + a];
      sum += d * d;
    }
    total.add(i, sum);  // each by itself: beside a far outlier it must not lose its digits
  }
  return total.value();
}
inline double sse(Points points, std::span<const Label> labels) {
  return points.p == 1 ? sse_of<1>(points, labels) : sse_of(points, labels);
}

// Total sum of squares: distances to the mean record, with the same care.
inline double sst(Points points) {
  constexpr std::int64_t CHUNK = 32;
  const std::int64_t p = points.p;
  const double* first = points.row(0);
  ExactSum total;
  // Column by column inside a few rows at a time, so that short rows cost no more than long ones.
  std::vector<ExactSum> sums(static_cast<std::size_t>(p));
  std::vector<double> offset(static_cast<std::size_t>(p));
  const auto by_chunks = [&](auto visit) {
    for (std::int64_t begin = 0; begin < points.n; begin += CHUNK) {
      const std::int64_t end = std::min(points.n, begin + CHUNK);
      for (std::int64_t a = 0; a < p; ++a) visit(a, begin, end);
    }
  };
  by_chunks([&](std::int64_t a, std::int64_t begin, std::int64_t end) {
    double sum = 0.0;
    for (std::int64_t i = begin; i < end; ++i) sum += points.values[i * p + a] - first[a];
    sums[a].add(sum);
  });
  for (std::int64_t a = 0; a < p; ++a) offset[a] = sums[a].value() / static_cast<double>(points.n);
  by_chunks([&](std::int64_t a, std::int64_t begin, std::int64_t end) {
    double sum = 0.0;
    for (std::int64_t i = begin; i < end; ++i) {
      const double d = points.values[i * p + a] - first[a] - offset[a];
      sum += d * d;
    }
    total.add(sum);
  });
  return total.value();
}

}  // namespace microagg
