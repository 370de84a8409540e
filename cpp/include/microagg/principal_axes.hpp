// Records projected on their leading principal axes: the coordinates in which trees cut best.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "microagg/points.hpp"

namespace microagg {

// Eigenvectors of a symmetric matrix as rows of `vectors`, by Jacobi's rotations: only exactly
// rounded operations, so that every machine finds the same axes.
inline void jacobi(std::vector<double>& matrix, std::vector<double>& vectors, std::int64_t p) {
  vectors.assign(matrix.size(), 0.0);
  for (std::int64_t a = 0; a < p; ++a) vectors[a * p + a] = 1.0;
  double all = 0.0;
  for (const double value : matrix) all += value * value;
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0.0;
    for (std::int64_t a = 0; a < p; ++a) {
      for (std::int64_t b = a + 1; b < p; ++b) off += matrix[a * p + b] * matrix[a * p + b];
    }
    if (!(off > 1e-20 * all)) return;  // axes for cutting need no more; also leaves on NaN
    for (std::int64_t a = 0; a < p; ++a) {
      for (std::int64_t b = a + 1; b < p; ++b) {
        const double between = matrix[a * p + b];
        if (between == 0.0) continue;
        const double theta = (matrix[b * p + b] - matrix[a * p + a]) / (2.0 * between);
        const double root = std::sqrt(theta * theta + 1.0);
        const double t = theta >= 0.0 ? 1.0 / (theta + root) : 1.0 / (theta - root);
        const double c = 1.0 / std::sqrt(t * t + 1.0);
        const double s = t * c;
        const auto turn = [c, s](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (std::int64_t i = 0; i < p; ++i) turn(matrix[i * p + a], matrix[i * p + b]);
        for (std::int64_t i = 0; i < p; ++i) turn(matrix[a * p + i], matrix[b * p + i]);
        for (std::int64_t i = 0; i < p; ++i) turn(vectors[a * p + i], vectors[b * p + i]);
      }
    }
  }
}

// The principal axes of a sample of the records and, of many attributes, of those that vary most.
class PrincipalAxes {
 public:
  explicit PrincipalAxes(Points points) : mean_(static_cast<std::size_t>(points.p)) {
    const std::int64_t p = points.p;
    const std::int64_t stride = std::max<std::int64_t>(1, points.n / SAMPLE);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < points.n; i += stride) {
      ++count;
      for (std::int64_t a = 0; a < p; ++a) {
        mean_[a] += (points.row(i)[a] - mean_[a]) / static_cast<double>(count);
      }
    }
    used_ = most_varied(points, mean_, stride);
    const std::int64_t q = size();
    std::vector<double> covariance(static_cast<std::size_t>(q * q));
    for (std::int64_t i = 0; i < points.n; i += stride) {
      for (std::int64_t a = 0; a < q; ++a) {
        const double d = points.row(i)[used_[a]] - mean_[used_[a]];
        for (std::int64_t b = 0; b <= a; ++b) {
          covariance[a * q + b] += d * (points.row(i)[used_[b]] - mean_[used_[b]]);
        }
      }
    }
    for (std::int64_t a = 0; a < q; ++a) {
      for (std::int64_t b = 0; b < a; ++b) covariance[b * q + a] = covariance[a * q + b];
    }
    std::vector<double> vectors;
    jacobi(covariance, vectors, q);
    std::vector<std::int64_t> order(static_cast<std::size_t>(q));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return covariance[a * q + a] > covariance[b * q + b];
    });
    for (const std::int64_t a : order) {
      vectors_.insert(vectors_.end(), vectors.begin() + a * q, vectors.begin() + (a + 1) * q);
    }
  }

  static constexpr std::size_t MOST_ATTRIBUTES = 64;  // Jacobi's rotations take their cube

  // How many axes there are, and attributes in each.
  std::int64_t size() const { return static_cast<std::int64_t>(used_.size()); }
  // Axis `a`, those of largest variance first: an entry for each attribute that is used.
  const double* axis(std::int64_t a) const { return vectors_.data() + a * size(); }
  const std::vector<std::int64_t>& used() const { return used_; }
  // Of all attributes.
  const std::vector<double>& mean() const { return mean_; }

  // By how much rounding may stretch (or, if there are as many axes as attributes, shrink) squares:
  // no eigenvalue of the axes' inner products is farther from 1 than the largest row sum of their
  // difference from the unit matrix, without signs (Gershgorin). NaN where the data overflow.
  double skew() const {
    double largest = 0.0;
    for (std::int64_t a = 0; a < size(); ++a) {
      double row = 0.0;
      for (std::int64_t b = 0; b < size(); ++b) {
        double product = a == b ? -1.0 : 0.0;
        for (std::int64_t c = 0; c < size(); ++c) product += axis(a)[c] * axis(b)[c];
        row += std::abs(product);
      }
      if (row > largest || std::isnan(row)) largest = row;
    }
    return largest;
  }

 private:
  static constexpr std::int64_t SAMPLE = 10'000;

  static std::vector<std::int64_t> most_varied(Points points, const std::vector<double>& mean,
                                               std::int64_t stride) {
    std::vector<double> spread(mean.size());
    for (std::int64_t i = 0; i < points.n; i += stride) {
      for (std::int64_t a = 0; a < points.p; ++a) {
        const double d = points.row(i)[a] - mean[a];
        spread[a] += d * d;
      }
    }
    std::vector<std::int64_t> used(mean.size());
    std::iota(used.begin(), used.end(), 0);
    std::stable_sort(used.begin(), used.end(),
                     [&](std::int64_t a, std::int64_t b) { return spread[a] > spread[b]; });
    used.resize(std::min(used.size(), MOST_ATTRIBUTES));
    std::sort(used.begin(), used.end());
    return used;
  }

  std::vector<double> mean_;
  std::vector<std::int64_t> used_;
  std::vector<double> vectors_;
};

// Coordinates on at most `most` orthonormal axes, those of largest variance first; distances in
// them never exceed the true ones (but for rounding). `halving.hpp` changes the order of the
// records, and moves their coordinates along, so that those of near ones lie together.
class PrincipalCoordinates {
 public:
  PrincipalCoordinates(Points points, std::int64_t most)
      : axes_(std::min(points.p, most)), rows_(static_cast<std::size_t>(points.n)) {
    const PrincipalAxes axes(points);
    const std::vector<double>& mean = axes.mean();
    const std::vector<std::int64_t>& used = axes.used();
    values_.resize(static_cast<std::size_t>(points.n * axes_));
    std::iota(rows_.begin(), rows_.end(), Row{0});
    double farthest = 0.0;
    for (std::int64_t i = 0; i < points.n; ++i) {
      const double distance = squared_distance(points.row(i), mean.data(), points.p);
      if (distance > farthest || std::isnan(distance)) farthest = distance;
      for (std::int64_t a = 0; a < axes_; ++a) {
        const double* axis = axes.axis(a);
        double sum = 0.0;
        for (std::int64_t b = 0; b < axes.size(); ++b) {
          sum += axis[b] * (points.row(i)[used[b]] - mean[used[b]]);
        }
        values_[i * axes_ + a] = sum;
      }
    }
    measure_error(axes, std::sqrt(farthest));
  }

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t axes() const { return axes_; }
  // The record at this place, and its coordinates.
  Row row(std::int64_t place) const { return rows_[place]; }
  const double* at(std::int64_t place) const { return values_.data() + place * axes_; }
  void swap(std::int64_t one, std::int64_t other) {
    std::swap(rows_[one], rows_[other]);
    double* values = values_.data();
    std::swap_ranges(values + one * axes_, values + (one + 1) * axes_, values + other * axes_);
  }

  // What rounding can do, for those who prove things: where the coordinates of two records differ
  // by g, their true difference along that axis is at least g - error(), and the squared length of
  // these true differences is at most stretch() times the true squared distance. Infinite or NaN
  // where the data overflow.
  double error() const { return error_; }
  double stretch() const { return stretch_; }

 private:
  // A coordinate is a sum of q products, each of an entry of an axis and of a difference from the
  // mean: it is off by less than (q + 4) 2^-53 times the lengths of both, a difference of two by
  // twice that and its own rounding. The tiny term covers differences whose squares underflow.
  void measure_error(const PrincipalAxes& axes, double farthest) {
    stretch_ = (1.0 + axes.skew()) * (1.0 + 1e-9);
    error_ = static_cast<double>(axes.size() + 8) * 0x1.0p-51 * stretch_ * farthest + 0x1.0p-500;
  }

  std::int64_t axes_;
  Rows rows_;
  Array<double> values_;
  double error_ = 0.0;
  double stretch_ = 0.0;
};

}  // namespace microagg
