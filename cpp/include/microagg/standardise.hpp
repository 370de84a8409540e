// Columns brought to a common unit, without overflow or lost digits for any finite input: values
// are first taken relative to the middle of the column's range and divided by a power of two.
#pragma once

#include <algorithm>
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
      : values_(values), columns_(static_cast<std::size_t>(values.p)) {
    find_ranges();
  }

  Standardised run(Scale scale) {
    Standardised result{Array<double>(static_cast<std::size_t>(values_.n * values_.p)),
                        Array<std::uint8_t>(columns_.size(), 1)};
    if (scale == Scale::ZSCORE) find_moments();
    for (std::int64_t a = 0; a < values_.p; ++a) {
      Column& column = columns_[a];
      if (scale == Scale::RANGE) {
        column.centre = unit(column.low, column);
        column.spread = unit(column.high, column) - column.centre;
      } else if (scale == Scale::ROBUST) {
        find_median_and_deviation(a);
      } else if (scale == Scale::RANK) {
        column.spread = column.high > column.low ? 1.0 : 0.0;
        if (column.spread > 0.0) write_ranks(a, result.values.data() + a);
      }
      if (column.low == column.high || !(column.spread > 0.0)) result.usable[a] = 0;
    }
    by_chunks([&](std::int64_t a, std::int64_t begin, std::int64_t end) {
      if (!result.usable[a] || scale == Scale::RANK) return;  // zeros, or there already
      const Column column = columns_[a];
      double* out = result.values.data() + a;
      for (std::int64_t i = begin; i < end; ++i) {
        out[i * p()] = (unit(value(i, a), column) - column.centre) / column.spread;
      }
    });
    return result;
  }

 private:
  struct Column {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    double middle = 0.0;
    double factor = 1.0;  // 1 / (a power of two near half the range)
    double centre = 0.0;  // in units of `factor`, from `middle`
    double spread = 0.0;
  };

  static constexpr std::int64_t LANES = LANES_OF_COLUMN<P>;
  std::int64_t p() const { return P > 0 ? P : values_.p; }
  double value(std::int64_t i, std::int64_t a) const { return values_.values[i * p() + a]; }
  static double unit(double x, const Column& column) { return (x - column.middle) * column.factor; }

  // Visits every column of a chunk of rows before the next chunk: rows are read from memory once.
  template <class Visit>
  void by_chunks(Visit visit) const {
    constexpr std::int64_t CHUNK = 512;
    for (std::int64_t begin = 0; begin < values_.n; begin += CHUNK) {
      const std::int64_t end = std::min(values_.n, begin + CHUNK);
      for (std::int64_t a = 0; a < values_.p; ++a) visit(a, begin, end);
    }
  }

  // Sum of term(value, column) over each column: plain sums of chunks, added with compensation.
  template <class Term>
  std::vector<double> column_sums(Term term) const {
    std::vector<ExactSum> totals(columns_.size());
    by_chunks([&](std::int64_t a, std::int64_t begin, std::int64_t end) {
      const Column column = columns_[a];
      totals[a].add(
          summed<LANES>(begin, end, [&](std::int64_t i) { return term(value(i, a), column); }));
    });
    std::vector<double> sums;
    for (const ExactSum& total : totals) sums.push_back(total.value());
    return sums;
  }

  void find_ranges() {
    by_chunks([&](std::int64_t a, std::int64_t begin, std::int64_t end) {
      const auto least = [](double x, double y) { return std::min(x, y); };
      const auto most = [](double x, double y) { return std::max(x, y); };
      const auto own = [&](std::int64_t i) { return value(i, a); };
      columns_[a].low = folded<LANES>(columns_[a].low, begin, end, own, least, least);
      columns_[a].high = folded<LANES>(columns_[a].high, begin, end, own, most, most);
    });
    for (Column& column : columns_) {
      column.middle = column.low / 2.0 + column.high / 2.0;
      int exponent = 0;
      std::frexp(std::max(column.high - column.middle, column.middle - column.low), &exponent);
      column.factor = std::ldexp(1.0, std::min(-exponent, 1000));
    }
  }

  void find_moments() {
    const double n = static_cast<double>(values_.n);
    const auto sums = column_sums(unit);
    for (std::size_t a = 0; a < columns_.size(); ++a) columns_[a].centre = sums[a] / n;
    const auto squares = column_sums([](double x, const Column& column) {
      const double d = unit(x, column) - column.centre;
      return d * d;
    });
    for (std::size_t a = 0; a < columns_.size(); ++a) {
      columns_[a].spread = std::sqrt(squares[a] / n);
    }
  }

  // Half values, so that no difference overflows; never relative to the range, which outliers set.
  void find_median_and_deviation(std::int64_t a) {
    Column& column = columns_[a];
    column.middle = 0.0;
    column.factor = 0.5;
    column_.resize(static_cast<std::size_t>(values_.n));
    for (std::int64_t i = 0; i < values_.n; ++i) column_[i] = unit(value(i, a), column);
    column.centre = median();
    for (double& x : column_) x = std::abs(x - column.centre);
    column.spread = median();
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
  std::vector<Column> columns_;
  Array<double> column_;  // scratch
};

// ZSCORE: (x - mean) / population sd. RANGE: (x - min) / (max - min). ROBUST: (x - median) / MAD.
// RANK: (average rank - 1/2) / n. O(n p); RANK sorts each column.
inline Standardised standardise(Points values, Scale scale) {
  return values.p == 1 ? Standardiser<1>(values).run(scale) : Standardiser<0>(values).run(scale);
}

}  // namespace microagg
