// Records in single precision on their principal axes: coordinates in which boxes are small, with
// thresholds that let no record slip through for rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"

namespace microagg {

// x becomes y = R (x - c) / unit, where R has the principal axes of a sample as rows, c is the
// sample's mean and `unit` a power of two at least twice the largest |x - c|. So |y| <= 1/2, but
// for rounding.
//
// What rounding does to the distance of two such y, in units:
//  - R turns lengths by a share of skew / 2 < 1e-9, which usable() grants.
//  - Computed in double precision, y is off by less than sqrt(p) (p + 4) 2^-53 |x - c|: 2^-43.
//  - Each coordinate is then rounded to single precision, which moves y by at most 2^-24 |y|.
// Both records together: less than `absolute` = 2^-23 max(1, |q|), the query q being the one whose
// norm is not known beforehand.
//  - Single-precision arithmetic on p differences, squares and sums: a share below (p + 3) 2^-24
//    of the square, half of it of the root; `relative` is (p + 8) 2^-24 and covers R as well.
//  - The distance of all kernels, s, is off by a share of (p + 4) 2^-53; where squares underflow,
//    by less than 2^-530, which is nothing beside unit >= 2^-450.
class RotatedRecords {
 public:
  static constexpr std::int64_t MOST_ATTRIBUTES = PrincipalAxes::MOST_ATTRIBUTES;

  // At least one row, at most MOST_ATTRIBUTES attributes.
  RotatedRecords(Points points, std::span<const Row> rows) : points_(points) {
    const std::int64_t p = points.p;
    const auto n = static_cast<std::int64_t>(rows.size());
    const std::int64_t stride = std::max<std::int64_t>(1, n / SAMPLE);
    std::vector<double> sample;
    for (std::int64_t i = 0; i < n; i += stride) {
      sample.insert(sample.end(), points.row(rows[i]), points.row(rows[i]) + p);
    }
    const PrincipalAxes axes({sample.data(), static_cast<std::int64_t>(sample.size()) / p, p});
    centre_ = axes.mean();
    turned_.resize(static_cast<std::size_t>(p * p));
    for (std::int64_t a = 0; a < p; ++a) {
      for (std::int64_t b = 0; b < p; ++b) turned_[b * p + a] = axes.axis(a)[b];
    }
    double largest = 0.0;
    for (const Row row : rows) {
      const double squared = squared_distance(points.row(row), centre_.data(), p);
      if (squared > largest || std::isnan(squared)) largest = squared;
    }
    usable_ = largest >= 0x1.0p-900 && largest <= 0x1.0p900 && axes.skew() <= 1e-9;
    if (usable_) unit_ = std::exp2(std::ceil(std::log2(largest) / 2.0) + 1.0);
    sums_.resize(static_cast<std::size_t>(p));
  }

  // False where all records are equal and where their squares leave the range of numbers.
  bool usable() const { return usable_; }
  double unit() const { return unit_; }

  // Writes p coordinates; returns their norm.
  double turn(const double* record, float* coordinates) {
    const std::int64_t p = points_.p;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (std::int64_t b = 0; b < p; ++b) {
      const double d = record[b] - centre_[b];
      const double* axes = turned_.data() + b * p;
      for (std::int64_t a = 0; a < p; ++a) sums_[a] += axes[a] * d;
    }
    double norm = 0.0;
    for (std::int64_t a = 0; a < p; ++a) {
      const double y = sums_[a] / unit_;
      coordinates[a] = static_cast<float>(std::clamp(y, -HUGE_NORM, HUGE_NORM));
      norm += y * y;
    }
    return std::sqrt(norm);
  }

  // For distances from a query of this norm.
  void measure_from(double norm) { absolute_ = std::max(1.0, norm) * 0x1.0p-23; }
  // A record at most `squared` away has at most this computed squared distance, and its box no
  // larger a computed least one: that is a sum of p squares too, of differences that are no larger.
  float widened_near(double squared) const {
    if (squared < 0.0) return -1.0F;
    const double root = (std::sqrt(squared) / unit_ + absolute_) * (1.0 + relative());
    return static_cast<float>(std::min(root * root * (1.0 + 1e-6), HUGE_NORM));
  }
  // A record at least `squared` away has at least this computed squared distance, and its box no
  // smaller a computed greatest one.
  float widened_far(double squared) const {
    if (squared < 0.0) return -1.0F;
    const double root = std::max(0.0, std::sqrt(squared) / unit_ * (1.0 - relative()) - absolute_);
    return static_cast<float>(root * root * (1.0 - 1e-6));
  }
  // What the norm bound adds to sums over the axes. For every record y in a box with norms of at
  // most N, |y - q|^2 = |y|^2 - 2 q y + |q|^2 <= N + |q|^2 + sum of max(-2 q low, -2 q high). These
  // p + 2 terms and their rounding are no larger than 1/2, |q|^2 and, in all, sqrt(p) |q|.
  float norm_addend(double norm) const {
    const auto p = static_cast<double>(points_.p);
    const double terms = 0.5 + norm * norm + std::sqrt(p) * norm;
    return static_cast<float>(std::min(norm * norm + (p + 8.0) * 0x1.0p-22 * terms, HUGE_NORM));
  }

 private:
  static constexpr std::int64_t SAMPLE = 2'000;
  static constexpr double HUGE_NORM =
      1e30;  // beyond all that matters, and a number in single precision

  double relative() const { return static_cast<double>(points_.p + 8) * 0x1.0p-24; }

  Points points_;
  std::vector<double> centre_;
  std::vector<double> turned_;  // attribute by attribute its entry in each axis
  std::vector<double> sums_;
  bool usable_ = false;
  double unit_ = 1.0;
  double absolute_ = 0.0;
};

}  // namespace microagg
