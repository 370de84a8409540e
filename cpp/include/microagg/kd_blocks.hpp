// Coarse blocks of near records (or of near groups, by their centroids): halved again and again
// along principal axes.
#pragma once

#include <cstdint>
#include <span>

#include "microagg/halving.hpp"
#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"
#include "microagg/random.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class KdBlocks {
 public:
  // An item weighs as many records as it stands for; without weights, one. Every block weighs at
  // most `largest`; all but the last of two halves hold a multiple of `multiple` items. Without
  // `jitter` the cut is at the median of the axis of largest spread; with it, axis and place vary
  // with the seed, so that the borders of one cut lie inside the blocks of another.
  KdBlocks(Points items, std::span<const std::int64_t> weights, std::int64_t largest,
           std::int64_t multiple, bool jitter, std::uint64_t seed)
      : weights_(weights),
        largest_(largest),
        multiple_(multiple),
        jitter_(jitter),
        random_(seed),
        coordinates_(items, MOST_AXES),
        begins_(static_cast<std::size_t>(items.n)) {
    MICROAGG_ASSERT(largest >= 1 && multiple >= 1);
    MICROAGG_ASSERT(weights.empty() || static_cast<std::int64_t>(weights.size()) == items.n);
  }

  [[nodiscard]] Labels run(std::int64_t threads, Watch& watch) {
    // Random numbers are drawn in the order of the parts.
    halve_all(coordinates_, {0, coordinates_.size()}, jitter_ ? 1 : threads, watch,
              Deadline::IGNORE, [this](Part part, Cutter& cutter) { return halve(part, cutter); });
    Labels blocks(begins_.size());
    Label block = -1;
    for (std::int64_t i = 0; i < coordinates_.size(); ++i) {
      block += begins_[i];
      blocks[coordinates_.row(i)] = block;
    }
    return blocks;
  }

 private:
  static constexpr std::int64_t MOST_AXES = 8;

  std::int64_t halve(Part part, Cutter& cutter) {
    const std::int64_t middle = part.begin + share_of(part.size());
    if (weight(part) <= largest_ || middle == part.begin || middle == part.end) {
      if (part.size() > 0) begins_[part.begin] = 1;
      return part.begin;
    }
    const std::int64_t axis = cutter.widest_axis(part, [this](double spread) {
      return jitter_ ? spread * (0.25 + random_.unit()) : spread;
    });
    cutter.cut(part, middle, axis);
    return middle;
  }
  std::int64_t weight(Part part) const {
    if (weights_.empty()) return part.size();
    std::int64_t sum = 0;
    for (std::int64_t i = part.begin; i < part.end; ++i) sum += weights_[coordinates_.row(i)];
    return sum;
  }
  std::int64_t share_of(std::int64_t items) {
    const double share = jitter_ ? 0.35 + 0.3 * random_.unit() : 0.5;
    return static_cast<std::int64_t>(share * static_cast<double>(items)) / multiple_ * multiple_;
  }

  std::span<const std::int64_t> weights_;
  std::int64_t largest_;
  std::int64_t multiple_;
  bool jitter_;
  Random random_;
  PrincipalCoordinates coordinates_;
  Array<std::uint8_t> begins_;  // 1 where a block does
};

}  // namespace microagg
