// Coarse blocks of near records (or of near groups, by their centroids): halved again and again
// along principal axes.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"
#include "microagg/random.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class KdBlocks {
 public:
  // An item weighs as many records as it stands for. Every block weighs at most `largest`; all but
  // the last of two halves hold a multiple of `multiple` items. Without `jitter` the cut is at the
  // median of the axis of largest spread; with it, axis and place vary with the seed, so that the
  // borders of one cut lie inside the blocks of another.
  KdBlocks(Points items, std::span<const std::int64_t> weights, std::int64_t largest,
           std::int64_t multiple, bool jitter, std::uint64_t seed)
      : weights_(weights),
        largest_(largest),
        multiple_(multiple),
        jitter_(jitter),
        random_(seed),
        coordinates_(items, MOST_AXES),
        order_(static_cast<std::size_t>(items.n)),
        blocks_(static_cast<std::size_t>(items.n)) {}

  Labels run(Watch& watch) {
    Poll poll(watch, 100'000);
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<Row>(i);
    cut(0, static_cast<std::int64_t>(order_.size()), poll);
    return std::move(blocks_);
  }

 private:
  static constexpr std::int64_t MOST_AXES = 8;

  void cut(std::int64_t begin, std::int64_t end, Poll& poll) {
    poll.tick((end - begin) * coordinates_.points().p);
    std::int64_t weight = 0;
    for (std::int64_t i = begin; i < end; ++i) weight += weights_[order_[i]];
    const std::int64_t half = begin + share_of(end - begin);
    if (weight <= largest_ || half == begin || half == end) {
      for (std::int64_t i = begin; i < end; ++i) blocks_[order_[i]] = count_;
      ++count_;
      return;
    }
    const std::span<Row> rows = std::span(order_).subspan(begin, end - begin);
    const std::int64_t axis = widest_axis(coordinates_.points(), rows, [this](double spread) {
      return jitter_ ? spread * (0.25 + random_.unit()) : spread;
    });
    cut_along(coordinates_.points(), axis, rows, half - begin);
    cut(begin, half, poll);
    cut(half, end, poll);
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
  Rows order_;
  Labels blocks_;
  Label count_ = 0;
};

}  // namespace microagg
