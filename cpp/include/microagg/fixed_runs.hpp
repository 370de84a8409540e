// Univariate fixed-size microaggregation (CMP98, section 2.1): sort, then cut after every k
// records.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/sort_rows.hpp"

namespace microagg {

// Ties in either direction: lowest row first. The last group takes what is left over.
[[nodiscard]] inline Labels fixed_runs(std::span<const double> values, std::int64_t k,
                                       bool descending) {
  MICROAGG_ASSERT(k >= 1);
  Array<double> keys(values.begin(), values.end());
  if (descending) {
    for (double& key : keys) key = -key;
  }
  const Rows rows = sort_rows(keys).rows;
  const std::int64_t n = static_cast<std::int64_t>(rows.size());
  const std::int64_t groups = std::max<std::int64_t>(1, n / k);
  Labels labels(rows.size());
  for (std::int64_t at = 0; at < n; ++at) {
    labels[rows[at]] = static_cast<Label>(std::min(at / k, groups - 1));
  }
  return by_first_appearance(std::move(labels));
}

}  // namespace microagg
