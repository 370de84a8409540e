// The nearest records of every record, proven: for bounds, where NeighbourLists, which may miss one
// of a large file, will not do.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "microagg/neighbours.hpp"
#include "microagg/parallel.hpp"
#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"
#include "microagg/simd.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Leaves of near records, cut at medians along principal axes, each in a box. All records of a leaf
// search together, leaf after leaf from the nearest box on; a record leaves out boxes farther away
// than its list reaches. Distances are those of all kernels, and what rounding can do to a box is
// allowed for, so no record is missed. O(n p) distances times a constant that grows with the
// dimension of the data, up to all n^2; memory O(n (p + length)).
class ExactNeighbours {
 public:
  // Needs length < n.
  ExactNeighbours(Points points, std::int64_t length, Watch& watch)
      : points_(points),
        length_(length),
        watch_(watch),
        coordinates_(points, MOST_AXES),
        axes_(coordinates_.points().p),
        error_(coordinates_.error()),
        rows_(static_cast<std::size_t>(points.n)) {
    const double share = (1.0 - 1e-9) / coordinates_.stretch();  // the rest is for rounding
    share_ = share > 0.0 ? share : 0.0;
    std::iota(rows_.begin(), rows_.end(), Row{0});
    Poll poll(watch, 1'000'000, Deadline::HEED);
    cut(0, points.n, poll);
    fill();
  }

  // Row by row, `length` each, nearest first; a record is not its own neighbour. Of several equally
  // far, any may be the last.
  Rows run(std::int64_t threads) const {
    Rows lists(static_cast<std::size_t>(points_.n * length_));
    in_parallel(leaf_count(), threads, [&](auto next) {
      Search search(*this, lists);
      for (std::int64_t leaf; (leaf = next()) < leaf_count();) {
        search.run(leaf);
        watch_.report_done(static_cast<double>(leaf) / static_cast<double>(leaf_count()));
      }
    });
    return lists;
  }

 private:
  static constexpr std::int64_t LEAF = 128;
  static constexpr std::int64_t MOST_AXES = 16;

  std::int64_t leaf_count() const { return static_cast<std::int64_t>(begins_.size()) - 1; }
  std::int64_t size(std::int64_t leaf) const { return begins_[leaf + 1] - begins_[leaf]; }
  const double* low(std::int64_t leaf) const { return boxes_.data() + leaf * 2 * axes_; }
  const double* high(std::int64_t leaf) const { return low(leaf) + axes_; }

  void cut(std::int64_t begin, std::int64_t end, Poll& poll) {
    if (end - begin <= LEAF) {
      begins_.push_back(begin);
      return;
    }
    // Left of the cut whole blocks of lanes.
    const std::int64_t half =
        begin + ((end - begin) / 2 + simd::LANES - 1) / simd::LANES * simd::LANES;
    const std::span<Row> rows = std::span(rows_).subspan(begin, end - begin);
    const auto as_it_is = [](double spread) { return spread; };
    cut_along(coordinates_.points(), widest_axis(coordinates_.points(), rows, as_it_is), rows,
              half - begin);
    poll.tick((end - begin) * axes_);
    cut(begin, half, poll);
    cut(half, end, poll);
  }

  // Boxes, and the records leaf by leaf in SIMD blocks, whose empty slots hold NaN.
  void fill() {
    begins_.push_back(points_.n);
    const std::int64_t q = axes_;
    const std::int64_t p = points_.p;
    boxes_.resize(static_cast<std::size_t>(leaf_count() * 2 * q));
    first_block_.push_back(0);
    for (std::int64_t leaf = 0; leaf < leaf_count(); ++leaf) {
      first_block_.push_back(first_block_.back() + (size(leaf) + simd::LANES - 1) / simd::LANES);
    }
    blocks_.assign(static_cast<std::size_t>(first_block_.back() * p * simd::LANES),
                   std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t leaf = 0; leaf < leaf_count(); ++leaf) {
      double* low = boxes_.data() + leaf * 2 * q;
      double* high = low + q;
      std::fill(low, high, std::numeric_limits<double>::infinity());
      std::fill(high, high + q, -std::numeric_limits<double>::infinity());
      for (std::int64_t slot = 0; slot < size(leaf); ++slot) {
        const Row row = rows_[begins_[leaf] + slot];
        const double* y = coordinates_.points().row(row);
        for (std::int64_t a = 0; a < q; ++a) {
          low[a] = std::min(low[a], y[a]);
          high[a] = std::max(high[a], y[a]);
        }
        double* at = blocks_.data() + (first_block_[leaf] + slot / simd::LANES) * p * simd::LANES +
                     slot % simd::LANES;
        for (std::int64_t a = 0; a < p; ++a) at[a * simd::LANES] = points_.row(row)[a];
      }
    }
  }

  // Records in these two boxes (or points: low = high) have at least this distance, even by the
  // computed ones. Stops adding once it is `enough`. Zero where the data overflow.
  double apart(const double* low, const double* high, const double* other_low,
               const double* other_high, double enough) const {
    double sum = 0.0;
    for (std::int64_t a = 0; a < axes_ && sum < enough; ++a) {
      const double gap = std::max(low[a] - other_high[a], other_low[a] - high[a]) - error_;
      sum += gap > 0.0 ? gap * gap * share_ : 0.0;
    }
    return sum;
  }

  // One leaf's records looking for their nearest.
  class Search {
   public:
    Search(const ExactNeighbours& all, Rows& lists)
        : all_(all),
          lists_(lists),
          poll_(all.watch_, 1'000'000, Deadline::HEED),
          nearest_(static_cast<std::size_t>(LEAF)) {}

    void run(std::int64_t own) {
      for (std::int64_t slot = 0; slot < all_.size(own); ++slot) nearest_[slot].reset(all_.length_);
      // The leaves beside it in the order mostly fill the lists.
      const std::int64_t beside = all_.length_ / LEAF + 1;
      const std::int64_t first = std::max<std::int64_t>(0, own - beside);
      const std::int64_t last = std::min(all_.leaf_count(), own + beside + 1);
      for (std::int64_t leaf = first; leaf < last; ++leaf) scan(own, leaf);
      waiting_.clear();
      const double reach = worst(own);
      for (std::int64_t leaf = 0; leaf < all_.leaf_count(); ++leaf) {
        if (first <= leaf && leaf < last) continue;
        const double apart =
            all_.apart(all_.low(own), all_.high(own), all_.low(leaf), all_.high(leaf), reach);
        if (!beyond(apart, reach)) waiting_.push_back({apart, static_cast<Row>(leaf)});
      }
      poll_.tick(all_.leaf_count() * all_.axes_);
      std::sort(waiting_.begin(), waiting_.end(), nearer);
      for (const Neighbour& next : waiting_) {
        if (beyond(next.distance, worst(own))) break;
        scan(own, next.row);
      }
      for (std::int64_t slot = 0; slot < all_.size(own); ++slot) {
        Row* list = lists_.data() + all_.rows_[all_.begins_[own] + slot] * all_.length_;
        for (const Neighbour& other : nearest_[slot].sorted()) *list++ = other.row;
      }
    }

   private:
    // Nothing nearer than a list reaches; lists that are not full reach everywhere.
    static bool beyond(double apart, double reach) {
      return apart >= reach && reach < std::numeric_limits<double>::infinity();
    }
    double worst(std::int64_t own) const {
      double worst = -1.0;
      for (std::int64_t slot = 0; slot < all_.size(own); ++slot) {
        worst = std::max(worst, nearest_[slot].threshold());
      }
      return worst;
    }
    void scan(std::int64_t own, std::int64_t leaf) {
      const auto scan_blocks = simd::kernels().scan_double;
      const std::int64_t begin = all_.first_block_[leaf];
      const std::int64_t end = all_.first_block_[leaf + 1];
      const std::int64_t p = all_.points_.p;
      alignas(64) double distances[simd::LANES];
      for (std::int64_t slot = 0; slot < all_.size(own); ++slot) {
        const Row row = all_.rows_[all_.begins_[own] + slot];
        Nearest& nearest = nearest_[slot];
        const double* at = all_.coordinates_.points().row(row);
        const double reach = nearest.threshold();
        const double apart = all_.apart(at, at, all_.low(leaf), all_.high(leaf), reach);
        if (beyond(apart, reach)) continue;
        poll_.tick((end - begin) * simd::LANES * p);
        for (std::int64_t block = begin;; ++block) {
          const double near = nearest.threshold();
          block = scan_blocks(all_.blocks_.data(), p, block, end, all_.points_.row(row), near,
                              std::numeric_limits<double>::infinity(), distances);
          if (block == end) break;
          for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
            if (!(distances[lane] <= near)) continue;
            const Row other = all_.rows_[all_.begins_[leaf] + (block - begin) * simd::LANES + lane];
            if (other != row) nearest.offer({distances[lane], other});
          }
        }
      }
    }

    const ExactNeighbours& all_;
    Rows& lists_;
    Poll poll_;
    std::vector<Nearest> nearest_;
    std::vector<Neighbour> waiting_;  // leaves, by their distance
  };

  Points points_;
  std::int64_t length_;
  Watch& watch_;
  PrincipalCoordinates coordinates_;
  std::int64_t axes_;
  double error_;                           // of a difference of coordinates
  double share_;                           // of squares of coordinates that counts
  Rows rows_;                              // in the order of the leaves
  std::vector<std::int64_t> begins_;       // of the leaves among the rows, and n
  std::vector<std::int64_t> first_block_;  // of each leaf, and their number
  std::vector<double> boxes_;
  Array<double> blocks_;
};

}  // namespace microagg
