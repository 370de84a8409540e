// Columns brought to a common unit, without overflow or lost digits for any finite input: values
// are first taken relative to the middle of the column's range and divided by a power of two.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
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

  Standardised run(Scale scale) {
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

  // Row by row, so that the columns need not wait for each other; only where there is one column
  // its values go in lanes. `__restrict`: what is written is none of what is read.
  template <class Step, class Join>
  void fold(double* __restrict folded_columns, std::int64_t begin, std::int64_t end, Step step,
            Join join) const {
    if constexpr (P == 1) {
      const auto own = [&](std::int64_t i) { return values_.values[i]; };
      const auto one = [&](double so_far, double x) { return step(so_far, x, 0); };
      folded_columns[0] = folded<LANES_OF_COLUMN<P>>(folded_columns[0], begin, end, own, one, join);
    } else {
      for (std::int64_t i = begin; i < end; ++i) {
        const double* record = values_.row(i);
        for (std::int64_t a = 0; a < p(); ++a) {
          folded_columns[a] = step(folded_columns[a], record[a], a);
        }
      }
    }
  }

  // Sum of term(value, column) over each column: plain sums of chunks, added with compensation.
  template <class Term>
  std::vector<double> column_sums(Term term) const {
    std::vector<ExactSum> totals(columns());
    std::vector<double> sums(columns());
    for (std::int64_t begin = 0; begin < values_.n; begin += CHUNK) {
      std::fill(sums.begin(), sums.end(), 0.0);
      fold(
          sums.data(), begin, std::min(values_.n, begin + CHUNK),
          [&](double sum, double x, std::int64_t a) { return sum + term(x, a); }, std::plus<>());
      for (std::size_t a = 0; a < sums.size(); ++a) totals[a].add(sums[a]);
    }
    for (std::size_t a = 0; a < sums.size(); ++a) sums[a] = totals[a].value();
    return sums;
  }

  void find_ranges() {
    const auto least = [](double x, double y) { return std::min(x, y); };
    const auto most = [](double x, double y) { return std::max(x, y); };
    const auto of_column = [](auto step) {
      return [step](double so_far, double x, std::int64_t) { return step(so_far, x); };
    };
    for (std::int64_t begin = 0; begin < values_.n; begin += CHUNK) {
      const std::int64_t end = std::min(values_.n, begin + CHUNK);
      fold(low_.data(), begin, end, of_column(least), least);
      fold(high_.data(), begin, end, of_column(most), most);
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
inline Standardised standardise(Points values, Scale scale) {
  return values.p == 1 ? Standardiser<1>(values).run(scale) : Standardiser<0>(values).run(scale);
}

}  // namespace microagg
