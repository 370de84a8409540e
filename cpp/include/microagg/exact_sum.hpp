// Sums that keep about 106 bits, so that a running total can lose records without losing digits.
#pragma once

#include <cstdint>
#include <vector>

#include "microagg/points.hpp"

namespace microagg {

// An unevaluated sum high + low (double-double).
class ExactSum {
 public:
  void add(double x) {
    const double sum = high_ + x;
    const double part = sum - high_;
    low_ += (high_ - (sum - part)) + (x - part);
    const double high = sum + low_;
    low_ = low_ - (high - sum);
    high_ = high;
  }
  void add(const ExactSum& other) {
    add(other.high_);
    add(other.low_);
  }
  double value() const { return high_; }
  double rest() const { return low_; }  // beyond `value`

 private:
  double high_ = 0.0;
  double low_ = 0.0;
};

// A sum to which numbers are only added: what rounding takes is gathered beside it, and returned at
// the end. As many digits, and an addition has less to wait for.
class GatheredSum {
 public:
  void add(double x) {
    const double sum = sum_ + x;
    const double part = sum - sum_;
    lost_ += (sum_ - (sum - part)) + (x - part);
    sum_ = sum;
  }
  ExactSum total() const {
    ExactSum total;
    total.add(sum_);
    total.add(lost_);
    return total;
  }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

// One sum of many numbers, in four parts: each addition has to wait for the one before it.
class ManySum {
 public:
  void add(std::int64_t number, double x) { parts_[number % 4].add(x); }
  ExactSum total() const {
    ExactSum total;
    for (const GatheredSum& part : parts_) total.add(part.total());
    return total;
  }

 private:
  GatheredSum parts_[4];
};

// The centroid of a changing set of records.
class RunningCentroid {
 public:
  explicit RunningCentroid(std::int64_t p) : sums_(static_cast<std::size_t>(p)) {}

  void add(const double* record) {
    for (std::size_t a = 0; a < sums_.size(); ++a) sums_[a].add(record[a]);
    ++count_;
  }
  void remove(const double* record) {
    for (std::size_t a = 0; a < sums_.size(); ++a) sums_[a].add(-record[a]);
    --count_;
  }
  void write(double* centroid) const { write(centroid, count_); }
  // The sum of the records divided by another number than theirs.
  void write(double* centroid, std::int64_t divisor) const {
    for (std::size_t a = 0; a < sums_.size(); ++a) {
      centroid[a] = sums_[a].value() / static_cast<double>(divisor);
    }
  }

 private:
  std::vector<ExactSum> sums_;
  std::int64_t count_ = 0;
};

}  // namespace microagg
