// The remaining records behind three calls: farthest, k_nearest, remove. Brute force with a filter:
// single-precision distances in SIMD blocks rule out nearly every record, the few candidates left
// are compared by their exact distance. O(n p) per query, O(n p) memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "microagg/points.hpp"
#include "microagg/simd.hpp"

namespace microagg {

// Keeps the k first neighbours in the order `nearer` of those offered, in whatever order they come.
class Nearest {
 public:
  void reset(std::int64_t k) {
    k_ = static_cast<std::size_t>(k);
    heap_.clear();
  }
  // Nothing with a larger distance can enter any more.
  double threshold() const {
    if (k_ == 0) return -1.0;
    return heap_.size() < k_ ? std::numeric_limits<double>::infinity() : heap_.front().distance;
  }
  // False if it is not among them.
  bool offer(const Neighbour& candidate) {
    if (heap_.size() < k_) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end(), nearer);
      return true;
    }
    if (k_ == 0 || !nearer(candidate, heap_.front())) return false;
    std::pop_heap(heap_.begin(), heap_.end(), nearer);
    heap_.back() = candidate;
    std::push_heap(heap_.begin(), heap_.end(), nearer);
    return true;
  }
  const std::vector<Neighbour>& sorted() {
    std::sort(heap_.begin(), heap_.end(), nearer);
    return heap_;
  }

 private:
  std::size_t k_ = 0;
  std::vector<Neighbour> heap_;
};

// Records in SIMD blocks of one precision; empty slots hold NaN.
template <class Real>
struct RecordBlocks {
  Array<Real> values;
  std::vector<Real> query;

  void clear() { values = Array<Real>(); }  // gives the memory back
};

class BruteNeighbours {
 public:
  static constexpr Row NONE = -1;

  explicit BruteNeighbours(Points points) : BruteNeighbours(points, all_rows(points)) {}

  // Only these rows remain.
  BruteNeighbours(Points points, const Rows& rows)
      : points_(points), slots_(rows), slot_of_(static_cast<std::size_t>(points.n), NONE) {
    // A fixed shuffle: on sorted files a scan would otherwise meet a new farthest record at each
    // step.
    std::uint64_t state = 0x9E3779B97F4A7C15ULL;
    for (std::size_t i = slots_.size(); i > 1; --i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      std::swap(slots_[i - 1], slots_[(state >> 33) % i]);
    }
    remaining_ = static_cast<std::int64_t>(rows.size());
    rebuild(Precision::SINGLE);
  }

  std::int64_t size() const { return remaining_; }
  bool contains(Row row) const { return slot_of_[row] != NONE; }

  void remove(Row row) {
    const std::int64_t slot = slot_of_[row];
    slot_of_[row] = NONE;
    slots_[slot] = NONE;
    --remaining_;
    const std::int64_t at = slot / simd::LANES * points_.p * simd::LANES + slot % simd::LANES;
    if (precision_ == Precision::SINGLE) {
      single_.values[at] = std::numeric_limits<float>::quiet_NaN();
    } else {
      double_.values[at] = std::numeric_limits<double>::quiet_NaN();
    }
    if (remaining_ * 16 >= static_cast<std::int64_t>(slots_.size()) * 15) return;
    if (precision_ == Precision::DOUBLE || remaining_ * 2 < laid_out_) {
      rebuild(Precision::SINGLE);
    } else {
      close_gaps();
    }
  }

  // `twin`, equal to `row`, takes its place.
  void replace(Row row, Row twin) {
    slot_of_[twin] = slot_of_[row];
    slots_[slot_of_[twin]] = twin;
    slot_of_[row] = NONE;
  }

  // The remaining record farthest from `query` (ties: lowest row).
  Neighbour farthest(const double* query) {
    nearest_.reset(0);
    scan(query, true);
    return farthest_;
  }

  // The k remaining records nearest to `query`, nearest first (ties: lowest row first).
  const std::vector<Neighbour>& k_nearest(const double* query, std::int64_t k) {
    nearest_.reset(k);
    scan(query, false);
    return nearest_.sorted();
  }

  // Both in one pass over memory.
  const std::vector<Neighbour>& k_nearest_and_farthest(const double* query, std::int64_t k,
                                                       Neighbour& farthest) {
    nearest_.reset(k);
    scan(query, true);
    farthest = farthest_;
    return nearest_.sorted();
  }

 private:
  enum class Precision { SINGLE, DOUBLE };

  static Rows all_rows(Points points) {
    Rows rows(static_cast<std::size_t>(points.n));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Row>(i);
    return rows;
  }

  void scan(const double* query, bool want_farthest) {
    farthest_ = {want_farthest ? -1.0 : std::numeric_limits<double>::infinity(), NONE};
    if (precision_ == Precision::SINGLE) {
      const std::int64_t checked = scan_single(query);
      // When the filter stops filtering (one attribute or outlier dwarfs all), exact lanes are
      // faster.
      if (checked * 8 > remaining_ && remaining_ > 256) rebuild(Precision::DOUBLE);
    } else {
      scan_double(query);
    }
  }

  void offer(const Neighbour& candidate) {
    nearest_.offer(candidate);
    if (farther(candidate, farthest_)) farthest_ = candidate;
  }

  // Single precision only filters: with coordinates centred and divided by `unit_` (|y| <= 1), the
  // computed root differs from the true one by at most `absolute_` (rounded coordinates) and a
  // share `relative_` (rounded arithmetic). Thresholds are widened by both, so no record is missed.
  float widened_near(double squared) const {
    if (squared < 0.0) return -1.0F;
    const double root = (std::sqrt(squared) / unit_ + absolute_) * (1.0 + relative_);
    return static_cast<float>(root * root * (1.0 + 1e-6));
  }
  float widened_far(double squared) const {
    if (squared < 0.0) return -1.0F;
    const double root = std::max(0.0, std::sqrt(squared) / unit_ * (1.0 - relative_) - absolute_);
    return static_cast<float>(root * root * (1.0 - 1e-6));
  }

  std::int64_t scan_single(const double* query) {
    const std::int64_t p = points_.p;
    for (std::int64_t a = 0; a < p; ++a) {
      single_.query[a] = static_cast<float>((query[a] - centre_[a]) / unit_);
    }
    const auto scan_blocks = simd::kernels().scan_float;
    const std::int64_t blocks = block_count();
    alignas(64) float distances[simd::LANES];
    std::int64_t checked = 0;
    float near = widened_near(nearest_.threshold());
    float far = widened_far(farthest_.distance);
    for (std::int64_t block = 0;; ++block) {
      block = scan_blocks(single_.values.data(), p, block, blocks, single_.query.data(), near, far,
                          distances);
      if (block == blocks) return checked;
      for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
        if (!(distances[lane] <= near || distances[lane] >= far)) continue;
        const Row row = slots_[block * simd::LANES + lane];
        offer({squared_distance(points_.row(row), query, p), row});
        ++checked;
      }
      near = widened_near(nearest_.threshold());
      far = widened_far(farthest_.distance);
    }
  }

  void scan_double(const double* query) {
    const auto scan_blocks = simd::kernels().scan_double;
    const std::int64_t blocks = block_count();
    alignas(64) double distances[simd::LANES];
    for (std::int64_t block = 0;; ++block) {
      const double near = nearest_.threshold();
      const double far = farthest_.distance;
      block =
          scan_blocks(double_.values.data(), points_.p, block, blocks, query, near, far, distances);
      if (block == blocks) return;
      for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
        if (distances[lane] <= near || distances[lane] >= far) {
          offer({distances[lane], slots_[block * simd::LANES + lane]});
        }
      }
    }
  }

  std::int64_t block_count() const {
    return (static_cast<std::int64_t>(slots_.size()) + simd::LANES - 1) / simd::LANES;
  }

  // Moves the remaining records together, as they stand.
  void close_gaps() {
    const std::int64_t p = points_.p;
    const auto place = [this, p](std::int64_t slot) {
      return single_.values.data() + slot / simd::LANES * p * simd::LANES + slot % simd::LANES;
    };
    std::int64_t end = 0;
    for (std::int64_t slot = 0; slot < static_cast<std::int64_t>(slots_.size()); ++slot) {
      const Row row = slots_[slot];
      if (row == NONE) continue;
      if (slot > end) {
        const float* from = place(slot);
        float* to = place(end);
        for (std::int64_t a = 0; a < p; ++a) to[a * simd::LANES] = from[a * simd::LANES];
        slots_[end] = row;
        slot_of_[row] = static_cast<Row>(end);
      }
      ++end;
    }
    slots_.resize(static_cast<std::size_t>(end));
    single_.values.resize(static_cast<std::size_t>(block_count() * simd::LANES * p));
    for (; end % simd::LANES != 0; ++end) *place(end) = std::numeric_limits<float>::quiet_NaN();
  }

  // Lays the remaining records out anew, without gaps, in units that suit them.
  void rebuild(Precision precision) {
    laid_out_ = remaining_;
    slots_.erase(std::remove(slots_.begin(), slots_.end(), NONE), slots_.end());
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      slot_of_[slots_[slot]] = static_cast<Row>(slot);
    }
    precision_ = precision;
    if (precision == Precision::SINGLE) {
      double_.clear();
      find_unit();
      fill(single_, [this](double x, std::int64_t a) {
        return static_cast<float>((x - centre_[a]) / unit_);
      });
    } else {
      single_.clear();
      fill(double_, [](double x, std::int64_t) { return x; });
    }
  }

  template <class Real, class Convert>
  void fill(RecordBlocks<Real>& blocks, Convert convert) {
    const std::int64_t p = points_.p;
    blocks.query.resize(static_cast<std::size_t>(p));
    blocks.values.assign(static_cast<std::size_t>(block_count() * simd::LANES * p),
                         std::numeric_limits<Real>::quiet_NaN());
    for (std::int64_t slot = 0; slot < static_cast<std::int64_t>(slots_.size()); ++slot) {
      const double* record = points_.row(slots_[slot]);
      Real* at = blocks.values.data() + slot / simd::LANES * p * simd::LANES + slot % simd::LANES;
      for (std::int64_t a = 0; a < p; ++a) at[a * simd::LANES] = convert(record[a], a);
    }
  }

  void find_unit() {
    const std::int64_t p = points_.p;
    std::vector<double> low(static_cast<std::size_t>(p), std::numeric_limits<double>::infinity());
    std::vector<double> high(static_cast<std::size_t>(p), -std::numeric_limits<double>::infinity());
    for (const Row row : slots_) {
      for (std::int64_t a = 0; a < p; ++a) {
        low[a] = std::min(low[a], points_.row(row)[a]);
        high[a] = std::max(high[a], points_.row(row)[a]);
      }
    }
    centre_.assign(static_cast<std::size_t>(p), 0.0);
    double largest = 0.0;
    for (std::int64_t a = 0; a < p && !slots_.empty(); ++a) {
      centre_[a] = low[a] / 2.0 + high[a] / 2.0;
      largest = std::max({largest, high[a] - centre_[a], centre_[a] - low[a]});
    }
    unit_ = largest > 0.0 ? std::exp2(std::ceil(std::log2(largest)) + 1.0) : 1.0;
    const double epsilon = std::exp2(-24.0);
    absolute_ = 4.0 * epsilon * std::sqrt(static_cast<double>(p));
    relative_ = static_cast<double>(p + 8) * epsilon;
  }

  Points points_;
  Rows slots_;    // slot -> row, NONE where removed
  Rows slot_of_;  // row -> slot, NONE when removed
  std::int64_t remaining_ = 0;
  std::int64_t laid_out_ = 0;  // how many there were at the last rebuild
  Precision precision_ = Precision::SINGLE;
  RecordBlocks<float> single_;
  RecordBlocks<double> double_;
  std::vector<double> centre_;
  double unit_ = 1.0;
  double absolute_ = 0.0;
  double relative_ = 0.0;
  Nearest nearest_;
  Neighbour farthest_{-1.0, NONE};
};

}  // namespace microagg
