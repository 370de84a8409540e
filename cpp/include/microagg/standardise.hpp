// Columns brought to a common unit, without overflow or lost digits for any finite input: values
// are first taken relative to the middle of the column's range and divided by a power of two.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/lanes.hpp"
#include "microagg/points.hpp"
#include "microagg/sort_rows.hpp"

namespace microagg {

enum class Scale { ZSCORE, RANGE, ROBUST, RANK };

struct Standardised {
  Array<double> values;        // (n, p)
  Array<std::uint8_t> usable;  // per column: 0 when it has no spread; its values are then 0
};

// `P`: the number of columns where the compiler shall know it, else 0.
template <std::int64_t P>
class Standardiser {
 public:
  explicit Standardiser(Points values)
      : values_(values),
        low_(columns(), std::numeric_limits<double>::infinity()),
        high_(columns(), -std::numeric_limits<double>::infinity()),
        middle_(columns()),
        factor_(columns()),
        centre_(columns()),
        spread_(columns()) {
    find_ranges();
  }

  [[nodiscard]] Standardised run(Scale scale) {
    Standardised result{Array<double>(static_cast<std::size_t>(values_.n * p())),
                        Array<std::uint8_t>(columns(), 1)};
    if (scale == Scale::ZSCORE) find_moments();
    for (std::int64_t a = 0; a < p(); ++a) {
      if (scale == Scale::RANGE) {
        centre_[a] = unit(low_[a], a);
        spread_[a] = unit(high_[a], a) - centre_[a];
      } else if (scale == Scale::ROBUST) {
        find_median_and_deviation(a);
      } else if (scale == Scale::RANK) {
        spread_[a] = high_[a] > low_[a] ? 1.0 : 0.0;
        write_ranks(a, result.values.data() + a);
      }
      if (low_[a] == high_[a] || !(spread_[a] > 0.0)) result.usable[a] = 0;
    }
    if (scale != Scale::RANK) write_units(result);
    for (std::int64_t a = 0; a < p(); ++a) {
      if (result.usable[a]) continue;
      for (std::int64_t i = 0; i < values_.n; ++i) result.values[i * p() + a] = 0.0;
    }
    return result;
  }

 private:
  static constexpr std::int64_t CHUNK = 512;  // rows, which stay in the cache

  std::int64_t p() const { return P > 0 ? P : values_.p; }
  std::size_t columns() const { return static_cast<std::size_t>(p()); }
  double value(std::int64_t i, std::int64_t a) const { return values_.values[i * p() + a]; }
  double unit(double x, std::int64_t a) const { return (x - middle_[a]) * factor_[a]; }

  // Sum of term(value, column) over each column: plain sums of chunks, added with compensation. Row
  // by row, so that the columns need not wait for each other.
  template <class Term>
  std::vector<double> column_sums(Term term) const {
    std::vector<ExactSum> totals(columns());
    std::vector<double> sums(columns());
    if constexpr (P == 1) {
      chunk_sums<CHUNK>(
          values_.n, [&](std::int64_t i) { return term(values_.values[i], 0); },
          [&](double sum) { totals[0].add(sum); });
    } else {
      double* __restrict in_chunk = sums.data();  // none of what `term` reads
      for (std::int64_t begin = 0; begin < values_.n; begin += CHUNK) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::int64_t i = begin; i < std::min(values_.n, begin + CHUNK); ++i) {
          for (std::int64_t a = 0; a < p(); ++a) in_chunk[a] += term(value(i, a), a);
        }
        for (std::size_t a = 0; a < sums.size(); ++a) totals[a].add(sums[a]);
      }
    }
    for (std::size_t a = 0; a < sums.size(); ++a) sums[a] = totals[a].value();
    return sums;
  }

  static void widen(Points values, double* __restrict low, double* __restrict high) {
    for (std::int64_t i = 0; i < values.n; ++i) {
      const double* record = values.row(i);
      for (std::int64_t a = 0; a < values.p; ++a) {
        low[a] = std::min(low[a], record[a]);
        high[a] = std::max(high[a], record[a]);
      }
    }
  }

  void find_ranges() {
    if constexpr (P == 1) {  // as if it were eight columns, and the rest
      std::array<double, LANES> lows, highs;
      lows.fill(low_[0]);
      highs.fill(high_[0]);
      const std::int64_t rows = values_.n / LANES;
      widen({values_.values, rows, LANES}, lows.data(), highs.data());
      widen({values_.values + rows * LANES, values_.n % LANES, 1}, low_.data(), high_.data());
      low_[0] = std::min(low_[0], *std::min_element(lows.begin(), lows.end()));
      high_[0] = std::max(high_[0], *std::max_element(highs.begin(), highs.end()));
    } else {
      widen(values_, low_.data(), high_.data());
    }
    for (std::int64_t a = 0; a < p(); ++a) {
      middle_[a] = low_[a] / 2.0 + high_[a] / 2.0;
      int exponent = 0;
      std::frexp(std::max(high_[a] - middle_[a], middle_[a] - low_[a]), &exponent);
      factor_[a] = std::ldexp(1.0, std::min(-exponent, 1000));
    }
  }

  void find_moments() {
    const double n = static_cast<double>(values_.n);
    centre_ = column_sums([&](double x, std::int64_t a) { return unit(x, a); });
    for (double& centre : centre_) centre /= n;
    spread_ = column_sums([&](double x, std::int64_t a) {
      const double d = unit(x, a) - centre_[a];
      return d * d;
    });
    for (double& spread : spread_) spread = std::sqrt(spread / n);
  }

  void write_units(Standardised& result) const {
    double* __restrict out = result.values.data();
    for (std::int64_t i = 0; i < values_.n; ++i) {
      for (std::int64_t a = 0; a < p(); ++a) {
        out[i * p() + a] = (unit(value(i, a), a) - centre_[a]) / spread_[a];
      }
    }
  }

  // Half values, so that no difference overflows; never relative to the range, which outliers set.
  void find_median_and_deviation(std::int64_t a) {
    middle_[a] = 0.0;
    factor_[a] = 0.5;
    column_.resize(static_cast<std::size_t>(values_.n));
    for (std::int64_t i = 0; i < values_.n; ++i) column_[i] = unit(value(i, a), a);
    centre_[a] = median();
    for (double& x : column_) x = std::abs(x - centre_[a]);
    spread_[a] = median();
  }

  double median() {
    const auto middle = column_.begin() + static_cast<std::ptrdiff_t>(column_.size() / 2);
    std::nth_element(column_.begin(), middle, column_.end());
    if (column_.size() % 2 == 1) return *middle;
    return *std::max_element(column_.begin(), middle) / 2.0 + *middle / 2.0;
  }

  // Average rank of equal values, divided by n.
  void write_ranks(std::int64_t a, double* out) {
    column_.resize(static_cast<std::size_t>(values_.n));
    for (std::int64_t i = 0; i < values_.n; ++i) column_[i] = value(i, a);
    const SortedRows sorted = sort_rows(column_);
    for (std::size_t begin = 0; begin < column_.size();) {
      std::size_t end = begin + 1;
      while (end < column_.size() && sorted.values[end] == sorted.values[begin]) ++end;
      const double rank = static_cast<double>(begin + end) / 2.0 / static_cast<double>(values_.n);
      for (std::size_t i = begin; i < end; ++i) out[sorted.rows[i] * p()] = rank;
      begin = end;
    }
  }

  Points values_;
  // Of each column. A value in common units: ((x - middle) * factor - centre) / spread.
  std::vector<double> low_, high_;
  std::vector<double> middle_;
  std::vector<double> factor_;  // 1 / (a power of two near half the range)
  std::vector<double> centre_, spread_;
  Array<double> column_;  // scratch
};

// ZSCORE: (x - mean) / population sd. RANGE: (x - min) / (max - min). ROBUST: (x - median) / MAD.
// RANK: (average rank - 1/2) / n. O(n p); RANK sorts each column.
[[nodiscard]] inline Standardised standardise(Points values, Scale scale) {
  return values.p == 1 ? Standardiser<1>(values).run(scale) : Standardiser<0>(values).run(scale);
}

}  // namespace microagg
