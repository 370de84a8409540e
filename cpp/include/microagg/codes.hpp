// Categories as integer codes, and what a group costs that publishes one of them: for ordered
// levels the median, for others the most frequent code or, in a taxonomy, the code of a member that
// is nearest to all.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "microagg/objective.hpp"
#include "microagg/points.hpp"

namespace microagg {

using Code = std::int32_t;

enum class CodeKind { NOMINAL, ORDERED, TAXONOMY };

// By code, its path through a taxonomy: what stands above it at each level, itself at last. The
// distance of two codes is the number of levels at which they differ.
struct Paths {
  std::span<const Code> nodes;  // one path after the other; none without a taxonomy
  std::int64_t depth = 1;
  std::int64_t distance(Code one, Code other) const {
    std::int64_t different = 0;
    for (std::int64_t level = 0; level < depth; ++level)
      different += nodes[one * depth + level] != nodes[other * depth + level];
    return different;
  }
};

struct CodeAttribute {
  CodeKind kind;
  double cost;  // of a changed cell, of one level or of the largest distance
  Code levels;  // codes are below this
  Paths paths;
  // Costs are counted in whole numbers of these.
  double unit() const { return cost / static_cast<double>(paths.depth); }
};

// A read-only (n, q) table of codes.
struct Codes {
  std::span<const Code> values;
  std::int64_t n;
  std::vector<CodeAttribute> attributes;
  std::int64_t q() const { return static_cast<std::int64_t>(attributes.size()); }
  Code of(std::int64_t row, std::int64_t attribute) const { return values[row * q() + attribute]; }
  bool hold() const {
    if (static_cast<std::int64_t>(values.size()) != n * q()) return false;
    for (std::int64_t row = 0; row < n; ++row) {
      for (std::int64_t j = 0; j < q(); ++j) {
        if (of(row, j) < 0 || of(row, j) >= attributes[j].levels) return false;
      }
    }
    return true;
  }
};

// What these codes cost as a group, in units of the attribute. They are sorted.
inline std::int64_t published_units(const CodeAttribute& attribute, std::vector<Code>& codes) {
  std::sort(codes.begin(), codes.end());
  const auto size = static_cast<std::int64_t>(codes.size());
  if (size == 0) return 0;
  std::int64_t sum = 0;
  if (attribute.kind == CodeKind::ORDERED) {
    const Code median = codes[(size - 1) / 2];
    for (const Code code : codes) sum += std::abs(code - median);
    return sum;
  }
  std::int64_t best = size * attribute.paths.depth;
  for (auto first = codes.begin(); first != codes.end();) {
    const auto next = std::upper_bound(first, codes.end(), *first);
    sum = size - (next - first);
    if (attribute.kind == CodeKind::TAXONOMY) {
      sum = 0;
      for (const Code code : codes) {
        sum += attribute.paths.distance(*first, code);
        if (sum >= best) break;
      }
    }
    best = std::min(best, sum);
    first = next;
  }
  return best;
}

// What a partition costs when it is published: the SSE of the numbers, then each attribute.
inline Array<double> published_cost(Points numbers, const Codes& codes,
                                    std::span<const Label> labels) {
  MICROAGG_ASSERT(fit(numbers, labels));
  MICROAGG_ASSERT(codes.n == numbers.n && codes.hold());
  Array<double> parts;
  parts.push_back(numbers.p > 0 ? sse(numbers, labels) : 0.0);
  const Rows rows = rows_by_group(labels);
  std::vector<Code> group;
  for (std::int64_t j = 0; j < codes.q(); ++j) {
    std::int64_t units = 0;
    for (std::size_t first = 0; first < rows.size();) {
      group.clear();
      std::size_t next = first;
      for (; next < rows.size() && labels[rows[next]] == labels[rows[first]]; ++next)
        group.push_back(codes.of(rows[next], j));
      units += published_units(codes.attributes[j], group);
      first = next;
    }
    parts.push_back(codes.attributes[j].unit() * static_cast<double>(units));
  }
  return parts;
}

}  // namespace microagg
