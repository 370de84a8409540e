// Columns brought to a common unit, without overflow or lost digits for any finite input: values
// are first taken relative to the middle of the column's range and divided by a power of two.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/points.hpp"
#include "microagg/sort_rows.hpp"

namespace microagg {

enum class Scale { ZSCORE, RANGE, ROBUST, RANK };

struct Standardised {
  std::vector<double> values;        // (n, p)
  std::vector<std::uint8_t> usable;  // per column: 0 when it has no spread; its values are then 0
};

namespace standardise_detail {

// Sum over the rows of term(value, column), per column: plain sums of fixed chunks, added exactly.
template <class Term>
std::vector<double> column_sums(Points values, Term term) {
  constexpr std::int64_t CHUNK = 512;
  std::vector<ExactSum> totals(static_cast<std::size_t>(values.p));
  std::vector<double> part(static_cast<std::size_t>(values.p));
  for (std::int64_t begin = 0; begin < values.n; begin += CHUNK) {
    std::fill(part.begin(), part.end(), 0.0);
    for (std::int64_t i = begin; i < std::min(values.n, begin + CHUNK); ++i) {
      for (std::int64_t a = 0; a < values.p; ++a) part[a] += term(values.row(i)[a], a);
    }
    for (std::int64_t a = 0; a < values.p; ++a) totals[a].add(part[a]);
  }
  std::vector<double> sums(totals.size());
  for (std::size_t a = 0; a < sums.size(); ++a) sums[a] = totals[a].value();
  return sums;
}

inline double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return *std::max_element(values.begin(), middle) / 2.0 + *middle / 2.0;
}

// Average rank of equal values, divided by n.
inline void write_ranks(std::span<const double> column, double* out, std::int64_t stride) {
  const Rows rows = sort_rows(column);
  const double n = static_cast<double>(rows.size());
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    while (end < rows.size() && column[rows[end]] == column[rows[begin]]) ++end;
    const double rank = static_cast<double>(begin + end - 1) / 2.0;
    for (std::size_t i = begin; i < end; ++i) out[rows[i] * stride] = (rank + 0.5) / n;
    begin = end;
  }
}

}  // namespace standardise_detail

// ZSCORE: (x - mean) / population sd. RANGE: (x - min) / (max - min). ROBUST: (x - median) / MAD.
// RANK: average rank / n. O(n p), ROBUST and RANK column by column.
inline Standardised standardise(Points values, Scale scale) {
  using namespace standardise_detail;
  const std::int64_t n = values.n;
  const std::int64_t p = values.p;
  const std::size_t columns = static_cast<std::size_t>(p);
  std::vector<double> low(columns, std::numeric_limits<double>::infinity());
  std::vector<double> high(columns, -std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t a = 0; a < p; ++a) {
      low[a] = std::min(low[a], values.row(i)[a]);
      high[a] = std::max(high[a], values.row(i)[a]);
    }
  }
  std::vector<double> middle(columns);
  std::vector<double> factor(columns);  // 1 / (a power of two near half the range)
  for (std::int64_t a = 0; a < p; ++a) {
    middle[a] = low[a] / 2.0 + high[a] / 2.0;
    int exponent = 0;
    std::frexp(std::max(high[a] - middle[a], middle[a] - low[a]), &exponent);
    factor[a] = std::ldexp(1.0, std::min(-exponent, 1000));
  }
  const auto unit = [&](double x, std::int64_t a) { return (x - middle[a]) * factor[a]; };

  std::vector<double> centre(columns);
  std::vector<double> spread(columns);
  if (scale == Scale::ZSCORE) {
    centre = column_sums(values, unit);
    for (double& sum : centre) sum /= static_cast<double>(n);
    spread = column_sums(values, [&](double x, std::int64_t a) {
      const double d = unit(x, a) - centre[a];
      return d * d;
    });
    for (double& sum : spread) sum = std::sqrt(sum / static_cast<double>(n));
  } else if (scale == Scale::RANGE) {
    for (std::int64_t a = 0; a < p; ++a) {
      centre[a] = unit(low[a], a);
      spread[a] = unit(high[a], a) - centre[a];
    }
  }
  Standardised result{std::vector<double>(static_cast<std::size_t>(n * p)),
                      std::vector<std::uint8_t>(columns, 1)};
  std::vector<double> column(
      scale == Scale::ZSCORE || scale == Scale::RANGE ? 0 : static_cast<std::size_t>(n));
  for (std::int64_t a = 0; a < p && !column.empty(); ++a) {
    for (std::int64_t i = 0; i < n; ++i) column[i] = values.row(i)[a];
    if (scale == Scale::RANK) {
      write_ranks(column, result.values.data() + a, p);
      continue;
    }
    for (double& x : column) x = unit(x, a);
    centre[a] = median(column);
    for (double& x : column) x = std::abs(x - centre[a]);
    spread[a] = median(column);
  }
  for (std::int64_t a = 0; a < p; ++a) {
    if (low[a] == high[a] || (scale != Scale::RANK && !(spread[a] > 0.0))) result.usable[a] = 0;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    double* out = result.values.data() + i * p;
    for (std::int64_t a = 0; a < p; ++a) {
      if (!result.usable[a]) {
        out[a] = 0.0;
      } else if (scale != Scale::RANK) {
        out[a] = (unit(values.row(i)[a], a) - centre[a]) / spread[a];
      }
    }
  }
  return result;
}

}  // namespace microagg
