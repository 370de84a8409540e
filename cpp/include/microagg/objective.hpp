// The one definition of cost, and the one numbering of groups.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/lanes.hpp"
#include "microagg/points.hpp"

namespace microagg {

inline std::size_t group_count(std::span<const Label> labels) {
  Label largest = -1;
  for (const Label label : labels) largest = std::max(largest, label);
  return static_cast<std::size_t>(largest + 1);
}

// Groups renumbered 0, 1, .. in order of their first record, so that equal partitions are equal
// arrays.
[[nodiscard]] inline Labels by_first_appearance(Labels labels) {
  Labels number(group_count(labels), -1);
  Label next = 0;
  for (Label& label : labels) {
    Label& renumbered = number[label];
    if (renumbered < 0) renumbered = next++;
    label = renumbered;
  }
  return labels;
}

// How a kernel numbers the groups that it returns.
enum class Numbering {
  APPEARANCE,  // by their first records
  KEPT,        // as the kernel has them: in order of formation, or as they were given
};
[[nodiscard]] inline Labels numbered(Labels labels, Numbering numbering) {
  return numbering == Numbering::KEPT ? labels : by_first_appearance(std::move(labels));
}

[[nodiscard]] inline Array<std::int64_t> group_sizes(std::span<const Label> labels) {
  Array<std::int64_t> sizes(group_count(labels));
  for (const Label label : labels) ++sizes[label];
  return sizes;
}

// All rows, those of group 0 first, then those of group 1, ..; in each group they rise.
[[nodiscard]] inline Rows rows_by_group(std::span<const Label> labels) {
  Array<std::int64_t> places = group_sizes(labels);
  std::int64_t offset = 0;
  for (std::int64_t& place : places) offset += std::exchange(place, offset);
  Rows rows(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) rows[places[labels[i]]++] = static_cast<Row>(i);
  return rows;
}

// Group means, (groups, p). A running mean in which no intermediate exceeds the data: safe for
// values near the largest double, and exact when all members are equal.
[[nodiscard]] inline Array<double> group_means(Points values, std::span<const Label> labels) {
  MICROAGG_ASSERT(fit(values, labels));
  Array<std::int64_t> seen(group_count(labels));
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
inline ExactSum multivariate_sse(Points points, std::span<const Label> labels) {
  const std::int64_t p = points.p;
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
  return total.total();
}

// One attribute: the same, but that offsets are summed with compensation too, so that the order of
// a group's records does not matter to the result.
struct UnivariateGroup {
  double first = 0.0;
  GatheredSum offsets;
  std::int64_t size = 0;

  void add(double value) {
    if (size++ == 0) {
      first = value;
    } else {
      offsets.add(value - first);
    }
  }
  double mean_offset() const { return offsets.total().value() / static_cast<double>(size); }
};
inline ExactSum univariate_sse(std::span<const double> values, std::span<const Label> labels) {
  Array<UnivariateGroup> groups(group_count(labels));
  for (std::size_t i = 0; i < values.size(); ++i) groups[labels[i]].add(values[i]);
  ManySum total;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const UnivariateGroup& group = groups[labels[i]];
    const double d = values[i] - group.first - group.mean_offset();
    total.add(static_cast<std::int64_t>(i), d * d);
  }
  return total.total();
}

[[nodiscard]] inline ExactSum exact_sse(Points points, std::span<const Label> labels) {
  MICROAGG_ASSERT(fit(points, labels));
  if (points.p != 1) return multivariate_sse(points, labels);
  return univariate_sse({points.values, static_cast<std::size_t>(points.n)}, labels);
}
[[nodiscard]] inline double sse(Points points, std::span<const Label> labels) {
  return exact_sse(points, labels).value();
}

// Total sum of squares: distances to the mean record, with the same care. Sums of a few rows are
// plain.
[[nodiscard]] inline double sst(Points points) {
  constexpr std::int64_t CHUNK = 32;
  const std::int64_t p = points.p;
  const double* first = points.row(0);
  ExactSum total;
  if (p == 1) {
    ExactSum offsets;
    chunk_sums<CHUNK>(
        points.n, [&](std::int64_t i) { return points.values[i] - first[0]; },
        [&](double sum) { offsets.add(sum); });
    const double offset = offsets.value() / static_cast<double>(points.n);
    chunk_sums<CHUNK>(
        points.n,
        [&](std::int64_t i) {
          const double d = points.values[i] - first[0] - offset;
          return d * d;
        },
        [&](double sum) { total.add(sum); });
    return total.value();
  }
  // Column by column inside a chunk, so that short rows cost no more than long ones.
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
