// Records projected on their leading principal axes: the coordinates in which trees cut best.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
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

// Coordinates on at most `most` orthonormal axes, those of largest variance first; distances in
// them never exceed the true ones (but for rounding). The axes come from a sample of the records.
class PrincipalCoordinates {
 public:
  PrincipalCoordinates(Points points, std::int64_t most) : axes_(std::min(points.p, most)) {
    const std::int64_t p = points.p;
    const std::int64_t stride = std::max<std::int64_t>(1, points.n / SAMPLE);
    std::vector<double> mean(static_cast<std::size_t>(p));
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < points.n; i += stride) {
      ++count;
      for (std::int64_t a = 0; a < p; ++a) {
        mean[a] += (points.row(i)[a] - mean[a]) / static_cast<double>(count);
      }
    }
    std::vector<double> covariance(static_cast<std::size_t>(p * p));
    for (std::int64_t i = 0; i < points.n; i += stride) {
      for (std::int64_t a = 0; a < p; ++a) {
        const double d = points.row(i)[a] - mean[a];
        for (std::int64_t b = 0; b <= a; ++b) {
          covariance[a * p + b] += d * (points.row(i)[b] - mean[b]);
        }
      }
    }
    for (std::int64_t a = 0; a < p; ++a) {
      for (std::int64_t b = 0; b < a; ++b) covariance[b * p + a] = covariance[a * p + b];
    }
    std::vector<double> vectors;
    jacobi(covariance, vectors, p);
    std::vector<std::int64_t> order(static_cast<std::size_t>(p));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return covariance[a * p + a] > covariance[b * p + b];
    });
    values_.resize(static_cast<std::size_t>(points.n * axes_));
    for (std::int64_t i = 0; i < points.n; ++i) {
      for (std::int64_t a = 0; a < axes_; ++a) {
        const double* axis = vectors.data() + order[a] * p;
        double sum = 0.0;
        for (std::int64_t b = 0; b < p; ++b) sum += axis[b] * (points.row(i)[b] - mean[b]);
        values_[i * axes_ + a] = sum;
      }
    }
  }
  Points points() const {
    return {values_.data(), static_cast<std::int64_t>(values_.size()) / axes_, axes_};
  }

 private:
  static constexpr std::int64_t SAMPLE = 10'000;
  std::int64_t axes_;
  Array<double> values_;
};

}  // namespace microagg
