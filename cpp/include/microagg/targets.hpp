// Queries that look for the nearest of other points, the targets: an intruder's records and the
// distinct records of a release. A tree of median cuts, as for neighbour lists.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "microagg/median_tree.hpp"
#include "microagg/neighbours.hpp"
#include "microagg/parallel.hpp"
#include "microagg/points.hpp"
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
        tree_(points, count, LEAF, 1, watch, Deadline::IGNORE) {
    MICROAGG_ASSERT(1 <= count && count <= points.n);
  }

  // Query by query its `length` nearest targets, nearest first (ties: lowest row first); NONE where
  // there are no more.
  [[nodiscard]] Rows nearest(std::int64_t length, std::int64_t threads) const {
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
  [[nodiscard]] Array<std::int64_t> rivals(std::span<const std::int64_t> weights,
                                           std::span<const Row> own, double slack, double least,
                                           std::int64_t threads) const {
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
  static constexpr std::int64_t PIECE = 64;  // queries that a thread takes at a time
  static constexpr double EVERYWHERE = std::numeric_limits<double>::infinity();

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

  // No target in the node's box has a smaller squared distance from `at`; zero where data overflow.
  double at_least(const double* at, std::int32_t node) const {
    const double* low = tree_.low(node);
    const double* high = tree_.high(node);
    double sum = 0.0;
    for (std::int64_t a = 0; a < tree_.axes(); ++a) {
      const double gap = std::max(low[a] - at[a], at[a] - high[a]) - tree_.error();
      sum += gap > 0.0 ? gap * gap : 0.0;
    }
    return sum * tree_.share();
  }

  // Hands every target within reach() over, and perhaps some that no longer are; `take` may lower
  // the reach, and a negative one ends the search.
  template <class Reach, class Take>
  void search(std::int64_t point, Poll& poll, Reach reach, Take take) const {
    const double* at = tree_.at(point);
    descend(0, at_least(at, 0), point, at, poll, reach, take);
  }

  template <class Reach, class Take>
  void descend(std::int32_t node, double distance, std::int64_t point, const double* at, Poll& poll,
               Reach& reach, Take& take) const {
    if (distance > reach()) return;
    const MedianTree::Node& here = tree_.node(node);
    if (here.is_leaf()) {
      scan(here, point, poll, reach, take);
      return;
    }
    poll.tick(2 * tree_.axes());
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
  void scan(const MedianTree::Node& leaf, std::int64_t point, Poll& poll, Reach& reach,
            Take& take) const {
    const auto scan_blocks = simd::kernels().scan_double;
    const std::int64_t end = leaf.block + leaf.blocks();
    alignas(64) double distances[simd::LANES];
    poll.tick((end - leaf.block) * simd::LANES * points_.p);
    for (std::int64_t block = leaf.block;; ++block) {
      block = scan_blocks(tree_.blocks(), points_.p, block, end, points_.row(point), reach(),
                          EVERYWHERE, distances);
      if (block == end) return;
      for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
        if (!(distances[lane] <= reach())) continue;
        take(Neighbour{distances[lane],
                       tree_.row(leaf.begin + (block - leaf.block) * simd::LANES + lane)});
      }
    }
  }

  Points points_;
  std::int64_t count_;
  Watch& watch_;
  MedianTree tree_;
};

}  // namespace microagg
