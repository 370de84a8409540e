// Queries that look for the nearest of other points, the targets: an intruder's records and the
// distinct records of a release. A tree of median cuts along principal axes, as for neighbour
// lists.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "microagg/neighbours.hpp"
#include "microagg/parallel.hpp"
#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"
#include "microagg/simd.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Every answer is exact: a box is left out only if nothing in it can matter, whatever rounding did
// to it. Distances are those of all kernels. Memory O(n p).
class Targets {
 public:
  static constexpr std::int64_t LEAF = 32;
  static constexpr Row NONE = -1;

  // The first `count` points are the targets, at least one; the others are the queries.
  Targets(Points points, std::int64_t count, Watch& watch)
      : points_(points),
        count_(count),
        watch_(watch),
        coordinates_(points, MOST_AXES),
        axes_(coordinates_.points().p),
        error_(coordinates_.error()),
        rows_(static_cast<std::size_t>(count)) {
    const double share = (1.0 - 1e-9) / coordinates_.stretch();  // the rest is for rounding
    share_ = share > 0.0 ? share : 0.0;
    std::iota(rows_.begin(), rows_.end(), Row{0});
    Poll poll(watch, 1'000'000);
    build(0, count, poll);
    fill_blocks();
  }

  // Query by query its `length` nearest targets, nearest first (ties: lowest row first); NONE where
  // there are no more.
  Rows nearest(std::int64_t length, std::int64_t threads) const {
    Rows lists(static_cast<std::size_t>(queries() * length), NONE);
    each_query(threads, [&](std::int64_t query, Poll& poll) {
      Nearest nearest;
      nearest.reset(std::min(length, count_));
      const auto reach = [&] { return nearest.threshold(); };
      search(count_ + query, poll, reach, [&](const Neighbour& found) { nearest.offer(found); });
      Row* list = lists.data() + query * length;
      for (const Neighbour& found : nearest.sorted()) *list++ = found.row;
    });
    return lists;
  }

  // How much all targets weigh that are as near to a query as its own one, that one included; zero
  // if one is nearer. Squared distances that differ by a share of at most `slack`, or by `least`,
  // are equal.
  Array<std::int64_t> rivals(std::span<const std::int64_t> weights, std::span<const Row> own,
                             double slack, double least, std::int64_t threads) const {
    Array<std::int64_t> result(static_cast<std::size_t>(queries()));
    each_query(threads, [&](std::int64_t query, Poll& poll) {
      const double distance =
          squared_distance(points_.row(count_ + query), points_.row(own[query]), points_.p);
      const double near = distance * (1.0 - slack) - least;
      double far = distance * (1.0 + slack) + least;
      std::int64_t weight = 0;
      search(
          count_ + query, poll, [&] { return far; },
          [&](const Neighbour& found) {
            if (found.distance < near) {
              far = -1.0;  // nothing more to find
            } else {
              weight += weights[found.row];
            }
          });
      result[query] = far < 0.0 ? 0 : weight;
    });
    return result;
  }

 private:
  static constexpr std::int64_t MOST_AXES = 16;
  static constexpr std::int64_t PIECE = 64;  // queries that a thread takes at a time
  static constexpr double EVERYWHERE = std::numeric_limits<double>::infinity();

  struct Node {
    std::int64_t begin;
    std::int64_t end;
    std::int32_t left = -1;  // of a leaf: none
    std::int32_t right = -1;
    std::int64_t block = 0;  // of a leaf: its first SIMD block

    std::int64_t blocks() const { return (end - begin + simd::LANES - 1) / simd::LANES; }
  };

  std::int64_t queries() const { return points_.n - count_; }

  template <class Answer>
  void each_query(std::int64_t threads, Answer answer) const {
    const std::int64_t pieces = (queries() + PIECE - 1) / PIECE;
    in_parallel(pieces, threads, [&](auto next) {
      Poll poll(watch_, 1'000'000);
      for (std::int64_t piece; (piece = next()) < pieces;) {
        const std::int64_t end = std::min(queries(), (piece + 1) * PIECE);
        for (std::int64_t query = piece * PIECE; query < end; ++query) answer(query, poll);
        watch_.report_done(static_cast<double>(piece) / static_cast<double>(pieces));
      }
    });
  }

  // --- the tree ---

  std::int32_t build(std::int64_t begin, std::int64_t end, Poll& poll) {
    const auto node = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({begin, end});
    boxes_.resize(boxes_.size() + static_cast<std::size_t>(2 * axes_));
    bound(node);
    poll.tick((end - begin) * axes_);
    if (end - begin <= LEAF) {
      leaves_.push_back(node);
      return node;
    }
    // Left of the cut whole blocks of lanes.
    const std::int64_t half = ((end - begin) / 2 + simd::LANES - 1) / simd::LANES * simd::LANES;
    const std::span<Row> rows = std::span(rows_).subspan(begin, end - begin);
    const auto as_it_is = [](double spread) { return spread; };
    cut_along(coordinates_.points(), widest_axis(coordinates_.points(), rows, as_it_is), rows,
              half);
    const std::int32_t left = build(begin, begin + half, poll);
    const std::int32_t right = build(begin + half, end, poll);
    nodes_[node].left = left;
    nodes_[node].right = right;
    return node;
  }

  void bound(std::int32_t node) {
    double* low = boxes_.data() + node * 2 * axes_;
    double* high = low + axes_;
    std::fill(low, high, EVERYWHERE);
    std::fill(high, high + axes_, -EVERYWHERE);
    for (std::int64_t i = nodes_[node].begin; i < nodes_[node].end; ++i) {
      const double* x = coordinates_.points().row(rows_[i]);
      for (std::int64_t a = 0; a < axes_; ++a) {
        low[a] = std::min(low[a], x[a]);
        high[a] = std::max(high[a], x[a]);
      }
    }
  }

  // The targets leaf by leaf in SIMD blocks; empty slots hold NaN.
  void fill_blocks() {
    std::int64_t count = 0;
    for (const std::int32_t leaf : leaves_) {
      nodes_[leaf].block = count;
      count += nodes_[leaf].blocks();
    }
    const std::int64_t p = points_.p;
    blocks_.assign(static_cast<std::size_t>(count * p * simd::LANES),
                   std::numeric_limits<double>::quiet_NaN());
    for (const std::int32_t leaf : leaves_) {
      for (std::int64_t i = nodes_[leaf].begin; i < nodes_[leaf].end; ++i) {
        const std::int64_t slot = i - nodes_[leaf].begin;
        double* at = blocks_.data() + (nodes_[leaf].block + slot / simd::LANES) * p * simd::LANES +
                     slot % simd::LANES;
        for (std::int64_t a = 0; a < p; ++a) at[a * simd::LANES] = points_.row(rows_[i])[a];
      }
    }
  }

  // No target in the node's box has a smaller squared distance from `at`; zero where data overflow.
  double at_least(const double* at, std::int32_t node) const {
    const double* low = boxes_.data() + node * 2 * axes_;
    const double* high = low + axes_;
    double sum = 0.0;
    for (std::int64_t a = 0; a < axes_; ++a) {
      const double gap = std::max(low[a] - at[a], at[a] - high[a]) - error_;
      sum += gap > 0.0 ? gap * gap : 0.0;
    }
    return sum * share_;
  }

  // Hands every target within reach() over, and perhaps some that no longer are; `take` may lower
  // the reach, and a negative one ends the search.
  template <class Reach, class Take>
  void search(std::int64_t point, Poll& poll, Reach reach, Take take) const {
    const double* at = coordinates_.points().row(point);
    descend(0, at_least(at, 0), point, at, poll, reach, take);
  }

  template <class Reach, class Take>
  void descend(std::int32_t node, double distance, std::int64_t point, const double* at, Poll& poll,
               Reach& reach, Take& take) const {
    if (distance > reach()) return;
    const Node& here = nodes_[node];
    if (here.left < 0) {
      scan(here, point, poll, reach, take);
      return;
    }
    poll.tick(2 * axes_);
    const double left = at_least(at, here.left);
    const double right = at_least(at, here.right);
    if (left <= right) {
      descend(here.left, left, point, at, poll, reach, take);
      descend(here.right, right, point, at, poll, reach, take);
    } else {
      descend(here.right, right, point, at, poll, reach, take);
      descend(here.left, left, point, at, poll, reach, take);
    }
  }

  template <class Reach, class Take>
  void scan(const Node& leaf, std::int64_t point, Poll& poll, Reach& reach, Take& take) const {
    const auto scan_blocks = simd::kernels().scan_double;
    const std::int64_t end = leaf.block + leaf.blocks();
    alignas(64) double distances[simd::LANES];
    poll.tick((end - leaf.block) * simd::LANES * points_.p);
    for (std::int64_t block = leaf.block;; ++block) {
      block = scan_blocks(blocks_.data(), points_.p, block, end, points_.row(point), reach(),
                          EVERYWHERE, distances);
      if (block == end) return;
      for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
        if (!(distances[lane] <= reach())) continue;
        take(Neighbour{distances[lane],
                       rows_[leaf.begin + (block - leaf.block) * simd::LANES + lane]});
      }
    }
  }

  Points points_;
  std::int64_t count_;
  Watch& watch_;
  PrincipalCoordinates coordinates_;
  std::int64_t axes_;
  double error_;  // of a difference of coordinates
  double share_;  // of squares of coordinates that counts
  Rows rows_;     // in the order of the leaves
  std::vector<Node> nodes_;
  std::vector<double> boxes_;
  std::vector<std::int32_t> leaves_;
  Array<double> blocks_;
};

}  // namespace microagg
