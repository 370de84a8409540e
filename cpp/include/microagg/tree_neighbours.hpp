// The remaining records behind the same three calls as BruteNeighbours (farthest, k_nearest,
// remove), in a tree of boxes. Boxes and single-precision coordinates only rule records out; the
// exact distances of those left decide, so that answers are those of brute force to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "microagg/neighbours.hpp"
#include "microagg/points.hpp"
#include "microagg/rotated_records.hpp"
#include "microagg/simd.hpp"

namespace microagg {

// An order of records in which each LANES, each LANES^2, each LANES^3 .. successive ones lie close
// together: median cuts along the axis of largest variance.
class BoxOrder {
 public:
  // `coordinates`: p for each record.
  BoxOrder(const Array<float>& coordinates, std::int64_t p) : coordinates_(coordinates), p_(p) {
    const auto n = static_cast<std::int64_t>(coordinates.size()) / p;
    keys_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) keys_[i].record = static_cast<std::int32_t>(i);
    cut(0, n);
  }
  std::int32_t operator[](std::int64_t place) const { return keys_[place].record; }

 private:
  struct Key {
    float value;  // along the axis of the cut
    std::int32_t record;
  };

  void cut(std::int64_t begin, std::int64_t end) {
    const std::int64_t blocks = (end - begin + simd::LANES - 1) / simd::LANES;
    if (blocks <= 1) return;
    std::int64_t whole = 1;  // blocks in each child of the smallest node that holds all
    while (whole * simd::LANES < blocks) whole *= simd::LANES;
    const std::int64_t children = (blocks + whole - 1) / whole;
    const std::int64_t middle = begin + children / 2 * whole * simd::LANES;
    const std::int64_t axis = widest(begin, end);
    for (std::int64_t i = begin; i < end; ++i) {
      keys_[i].value = coordinates_[keys_[i].record * p_ + axis];
    }
    std::nth_element(keys_.begin() + begin, keys_.begin() + middle, keys_.begin() + end,
                     [](const Key& one, const Key& other) { return one.value < other.value; });
    cut(begin, middle);
    cut(middle, end);
  }

  std::int64_t widest(std::int64_t begin, std::int64_t end) {
    const std::int64_t stride = std::max<std::int64_t>(1, (end - begin) / SAMPLE);
    sums_.assign(static_cast<std::size_t>(2 * p_), 0.0F);
    float count = 0.0F;
    for (std::int64_t i = begin; i < end; i += stride) {
      const float* y = coordinates_.data() + keys_[i].record * p_;
      const float* first = coordinates_.data() + keys_[begin].record * p_;
      count += 1.0F;
      for (std::int64_t a = 0; a < p_; ++a) {
        const float d = y[a] - first[a];
        sums_[a] += d;
        sums_[p_ + a] += d * d;
      }
    }
    std::int64_t best = 0;
    float most = -1.0F;
    for (std::int64_t a = 0; a < p_; ++a) {
      const float spread = sums_[p_ + a] - sums_[a] * sums_[a] / count;
      if (spread > most) {
        most = spread;
        best = a;
      }
    }
    return best;
  }

  static constexpr std::int64_t SAMPLE = 128;

  const Array<float>& coordinates_;
  std::int64_t p_;
  Array<Key> keys_;
  std::vector<float> sums_;
};

// Blocks of LANES records, blocks of LANES boxes around these, blocks of LANES boxes around those
// .. up to one block: the children of box `lane` of block `b` of one level are block b * LANES +
// lane of the level below.
class BoxTree {
 public:
  explicit BoxTree(std::int64_t p) : p_(p), box_(static_cast<std::size_t>(2 * p + 1)) {}

  // Coordinates of all records, p each, in the order of their slots.
  template <class RecordAt>
  void fill(std::int64_t n, RecordAt record_at) {
    std::int64_t blocks = (n + simd::LANES - 1) / simd::LANES;
    records_.assign(static_cast<std::size_t>(blocks * p_ * simd::LANES), EMPTY);
    for (std::int64_t slot = 0; slot < n; ++slot) {
      const float* y = record_at(slot);
      float* at = first_of(slot);
      for (std::int64_t a = 0; a < p_; ++a) at[a * simd::LANES] = y[a];
    }
    levels_.clear();
    stale_.clear();
    do {
      const std::int64_t above = (blocks + simd::LANES - 1) / simd::LANES;
      levels_.emplace_back(static_cast<std::size_t>(above * simd::box_stride(p_)), EMPTY);
      for (std::int64_t block = 0; block < blocks; ++block) enclose(levels() - 1, block);
      blocks = above;
    } while (blocks > 1);
  }

  std::int64_t levels() const { return static_cast<std::int64_t>(levels_.size()); }
  const float* records() const { return records_.data(); }
  const float* records(std::int64_t block) const {
    return records_.data() + block * p_ * simd::LANES;
  }
  const float* boxes(std::int64_t level, std::int64_t block) const {
    return levels_[level].data() + block * simd::box_stride(p_);
  }

  // Boxes shrink only when told to: records that go one after the other mostly share them.
  void remove(std::int64_t slot) {
    float* at = first_of(slot);
    for (std::int64_t a = 0; a < p_; ++a) at[a * simd::LANES] = EMPTY;
    stale_.push_back(slot / simd::LANES);
  }
  void shrink() {
    for (std::int64_t level = 0; level < levels() && !stale_.empty(); ++level) {
      std::sort(stale_.begin(), stale_.end());
      stale_.erase(std::unique(stale_.begin(), stale_.end()), stale_.end());
      std::erase_if(stale_, [&](std::int64_t block) { return !enclose(level, block); });
      for (std::int64_t& block : stale_) block /= simd::LANES;
    }
    stale_.clear();
  }

 private:
  static constexpr float EMPTY = std::numeric_limits<float>::quiet_NaN();

  float* first_of(std::int64_t slot) {
    return records_.data() + slot / simd::LANES * p_ * simd::LANES + slot % simd::LANES;
  }

  // Writes the box around a block (of records, if level is 0, of boxes of level - 1 otherwise) into
  // its lane of `level`; false if it was there already.
  bool enclose(std::int64_t level, std::int64_t block) {
    if (level == 0) {
      simd::kernels().enclose_records(records(block), p_, box_.data());
    } else {
      simd::kernels().enclose_boxes(boxes(level - 1, block), p_, box_.data());
    }
    float* lane =
        levels_[level].data() + block / simd::LANES * simd::box_stride(p_) + block % simd::LANES;
    bool changed = false;
    for (std::int64_t i = 0; i < 2 * p_ + 1; ++i) {
      changed |= !(lane[i * simd::LANES] == box_[i]);
      lane[i * simd::LANES] = box_[i];
    }
    return changed;
  }

  std::int64_t p_;
  Array<float> records_;
  std::vector<Array<float>> levels_;
  std::vector<float> box_;
  std::vector<std::int64_t> stale_;  // blocks that lost records since boxes last shrank
};

class TreeNeighbours {
 public:
  static constexpr Row NONE = -1;

  static bool fits(std::int64_t n, std::int64_t p) {
    return n > 0 && p <= RotatedRecords::MOST_ATTRIBUTES;
  }

  // Only these rows remain; at least one.
  TreeNeighbours(Points points, const Rows& rows)
      : points_(points),
        rows_(rows),
        slot_of_(static_cast<std::size_t>(points.n), NONE),
        tree_(points.p),
        query_(static_cast<std::size_t>(points.p + 1)) {
    remaining_ = static_cast<std::int64_t>(rows.size());
    rebuild();
  }

  // False if there is nothing that boxes could do: then no query may be asked.
  bool usable() const { return usable_; }
  std::int64_t size() const { return remaining_; }
  bool contains(Row row) const { return slot_of_[row] != NONE; }
  // What was done since the tree was built, in records that brute force would have looked at in the
  // same time.
  double work() const { return work_; }

  void remove(Row row) {
    const std::int64_t slot = slot_of_[row];
    slot_of_[row] = NONE;
    rows_[slot] = NONE;
    --remaining_;
    if (usable_) tree_.remove(slot);
    if (2 * remaining_ < static_cast<std::int64_t>(rows_.size()) && remaining_ > 0) rebuild();
  }

  // As those of BruteNeighbours.
  void replace(Row row, Row twin) {
    slot_of_[twin] = slot_of_[row];
    rows_[slot_of_[twin]] = twin;
    slot_of_[row] = NONE;
  }
  Neighbour farthest(const double* query) {
    aim(query);
    return find_farthest();
  }
  const std::vector<Neighbour>& k_nearest(const double* query, std::int64_t k) {
    aim(query);
    return find_nearest(k);
  }
  const std::vector<Neighbour>& k_nearest_and_farthest(const double* query, std::int64_t k,
                                                       Neighbour& farthest) {
    aim(query);
    farthest = find_farthest();
    return find_nearest(k);
  }

  // Lays the remaining records out anew. There must be one.
  void rebuild() {
    rows_.erase(std::remove(rows_.begin(), rows_.end(), NONE), rows_.end());
    records_.emplace(points_, rows_);
    usable_ = records_->usable();
    if (usable_) {
      const std::int64_t p = points_.p;
      const auto n = static_cast<std::int64_t>(rows_.size());
      Array<float> coordinates(static_cast<std::size_t>(n * p));
      for (std::int64_t i = 0; i < n; ++i) {
        records_->turn(points_.row(rows_[i]), coordinates.data() + i * p);
      }
      const BoxOrder order(coordinates, p);
      Rows rows(rows_.size());
      for (std::int64_t i = 0; i < n; ++i) rows[i] = rows_[order[i]];
      rows_ = std::move(rows);
      tree_.fill(n, [&](std::int64_t slot) { return coordinates.data() + order[slot] * p; });
    }
    for (std::size_t slot = 0; slot < rows_.size(); ++slot) {
      slot_of_[rows_[slot]] = static_cast<Row>(slot);
    }
  }

 private:
  enum class Aim { NEAR, FAR };

  void aim(const double* query) {
    tree_.shrink();
    exact_ = query;
    const double norm = records_->turn(query, query_.data());
    records_->measure_from(norm);
    query_[points_.p] = records_->norm_addend(norm);
    remote_ = !(norm <= REMOTE);
  }

  // From the root, or one record after the other.
  template <Aim aim>
  void search() {
    if (!remote_) {
      descend<aim>(tree_.levels() - 1, 0);
      return;
    }
    for (const Row row : rows_) {
      if (row != NONE) consider<aim>(row);
    }
  }

  Neighbour find_farthest() {
    farthest_ = {-1.0, NONE};
    near_ = -1.0F;
    far_ = -1.0F;
    search<Aim::FAR>();
    return farthest_;
  }

  const std::vector<Neighbour>& find_nearest(std::int64_t k) {
    nearest_.reset(k);
    near_ = records_->widened_near(nearest_.threshold());
    far_ = std::numeric_limits<float>::infinity();
    search<Aim::NEAR>();
    return nearest_.sorted();
  }

  // Children in the order of their bounds, the best first, until none can matter.
  template <Aim aim>
  void descend(std::int64_t level, std::int64_t block) {
    const auto& kernels = simd::kernels();
    std::int32_t lanes[simd::LANES + 1];
    float bounds[simd::LANES + 1];
    const float limit = aim == Aim::FAR ? far_ : near_;
    const std::int64_t count = (aim == Aim::FAR ? kernels.far_boxes : kernels.near_boxes)(
        tree_.boxes(level, block), points_.p, query_.data(), limit, lanes, bounds);
    work_ += BOXES_WORK;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t best = i;
      for (std::int64_t j = i + 1; j < count; ++j) {
        if (aim == Aim::FAR ? bounds[j] > bounds[best] : bounds[j] < bounds[best]) best = j;
      }
      if (aim == Aim::FAR ? bounds[best] < far_ : bounds[best] > near_) return;
      const std::int64_t child = block * simd::LANES + lanes[best];
      bounds[best] = bounds[i];
      lanes[best] = lanes[i];
      if (level > 0) {
        descend<aim>(level - 1, child);
      } else {
        look_at<aim>(child);
      }
    }
  }

  template <Aim aim>
  void look_at(std::int64_t block) {
    alignas(64) float distances[simd::LANES];
    work_ += BLOCK_WORK;
    if (simd::kernels().scan_float(tree_.records(), points_.p, block, block + 1, query_.data(),
                                   near_, far_, distances) != block) {
      return;
    }
    for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
      if (!(aim == Aim::FAR ? distances[lane] >= far_ : distances[lane] <= near_)) continue;
      consider<aim>(rows_[block * simd::LANES + lane]);
    }
    if (aim == Aim::NEAR) near_ = records_->widened_near(nearest_.threshold());
  }

  template <Aim aim>
  void consider(Row row) {
    const Neighbour candidate{squared_distance(points_.row(row), exact_, points_.p), row};
    work_ += RECORD_WORK;
    if (aim == Aim::NEAR) {
      nearest_.offer(candidate);
    } else if (farther(candidate, farthest_)) {
      farthest_ = candidate;
      far_ = records_->widened_far(farthest_.distance);
    }
  }

  // Queries of a larger norm see all records at one place, and their squares may overflow.
  static constexpr double REMOTE = 0x1.0p20;
  // In records of a sequential scan, as measured.
  static constexpr double BOXES_WORK = 100.0;
  static constexpr double BLOCK_WORK = 50.0;
  static constexpr double RECORD_WORK = 16.0;

  Points points_;
  Rows rows_;     // slot -> row, NONE where removed
  Rows slot_of_;  // row -> slot, NONE when removed
  std::int64_t remaining_ = 0;
  bool usable_ = false;
  std::optional<RotatedRecords> records_;
  BoxTree tree_;
  double work_ = 0.0;
  // The query at hand.
  const double* exact_ = nullptr;
  std::vector<float> query_;
  bool remote_ = false;
  float near_ = 0.0F;
  float far_ = 0.0F;
  Nearest nearest_;
  Neighbour farthest_{-1.0, NONE};
};

}  // namespace microagg
