// The nearest records of every record, by a tree of median cuts along principal axes.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/median_tree.hpp"
#include "microagg/neighbours.hpp"
#include "microagg/parallel.hpp"
#include "microagg/points.hpp"
#include "microagg/simd.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// How many leaves of 64 records at most are looked at once all lists are full. For local searches a
// fixed number: with 96, lists are exact up to 4,096 records and very nearly so beyond, at a cost
// of O(n p) distances times a constant; equally far records come in the order of their rows. For
// bounds EVERY_LEAF: no nearer record is missed, whatever that takes, up to all n^2 distances; of
// several equally far any may be the last, or equal records would take all n^2.
inline constexpr std::int64_t EVERY_LEAF = 0;

// All records of a leaf search together, leaf after leaf in the order of their distance from its
// centre, leaving out those that are farther away than the lists reach. Distances are those of all
// kernels, and what rounding can do to a box is allowed for. Memory O(n (p + length)).
class NeighbourLists {
 public:
  static constexpr std::int64_t LEAF = 64;

  // Needs length < n.
  NeighbourLists(Points points, std::int64_t length, std::int64_t most_leaves, std::int64_t threads,
                 Watch& watch)
      : points_(points),
        length_(length),
        most_leaves_(most_leaves),
        threads_(threads),
        watch_(watch),
        tree_(points, points.n, LEAF, threads, watch, Deadline::HEED) {
    MICROAGG_ASSERT(1 <= length && length < points.n);
    MICROAGG_ASSERT(most_leaves >= 0);
  }

  // Row by row, `length` each, nearest first; a record is not its own neighbour.
  [[nodiscard]] Rows run() const {
    Rows lists(static_cast<std::size_t>(points_.n * length_));
    const std::vector<std::int32_t>& leaves = tree_.leaves();
    const auto count = static_cast<std::int64_t>(leaves.size());
    in_parallel(count, threads_, [&](auto next) {
      Search search(*this, lists);
      for (std::int64_t leaf; (leaf = next()) < count;) {
        search.run(leaves[leaf]);
        watch_.report_done(static_cast<double>(leaf) / static_cast<double>(count));
      }
    });
    return lists;
  }

 private:
  using Node = MedianTree::Node;
  static constexpr double EVERYWHERE = std::numeric_limits<double>::infinity();

  // Whether nothing in the box of the node is nearer to a box (or a point: low = high) than a list
  // reaches, even by the computed distances.
  bool beyond(const double* low, const double* high, std::int32_t node, double reach) const {
    if (reach == EVERYWHERE) return false;
    const double* other_low = tree_.low(node);
    const double* other_high = tree_.high(node);
    const double error = tree_.error();
    const double share = tree_.share();
    double sum = 0.0;  // stays zero where the data overflow
    for (std::int64_t a = 0; a < tree_.axes() && sum <= reach; ++a) {
      const double gap = std::max(low[a] - other_high[a], other_low[a] - high[a]) - error;
      sum += gap > 0.0 ? gap * gap * share : 0.0;
    }
    return most_leaves_ == EVERY_LEAF ? sum >= reach : sum > reach;
  }

  // One leaf's records looking for their nearest.
  class Search {
   public:
    Search(const NeighbourLists& all, Rows& lists)
        : all_(all),
          tree_(all.tree_),
          lists_(lists),
          poll_(all.watch_, 1'000'000, Deadline::HEED),
          nearest_(static_cast<std::size_t>(LEAF)),
          centre_(static_cast<std::size_t>(tree_.axes())) {}

    void run(std::int32_t leaf) {
      const Node& own = tree_.node(leaf);
      for (std::int64_t i = 0; i < own.size(); ++i) nearest_[i].reset(all_.length_);
      for (std::int64_t a = 0; a < tree_.axes(); ++a) {
        centre_[a] = tree_.low(leaf)[a] / 2.0 + tree_.high(leaf)[a] / 2.0;
      }
      waiting_.clear();
      push(0);
      double reach = EVERYWHERE;
      for (std::int64_t looked = 0; !waiting_.empty();) {
        const bool enough = all_.most_leaves_ != EVERY_LEAF && looked >= all_.most_leaves_;
        if (enough && reach < EVERYWHERE) break;
        std::pop_heap(waiting_.begin(), waiting_.end(), later);
        const std::int32_t node = waiting_.back().node;
        waiting_.pop_back();
        if (all_.beyond(tree_.low(leaf), tree_.high(leaf), node, reach)) continue;
        if (tree_.node(node).is_leaf()) {
          scan(own, node);
          reach = farthest(own);
          ++looked;
        } else {
          push(tree_.node(node).left);
          push(tree_.node(node).right);
          poll_.tick(tree_.axes());
        }
      }
      for (std::int64_t i = 0; i < own.size(); ++i) {
        Row* list = lists_.data() + tree_.row(own.begin + i) * all_.length_;
        for (const Neighbour& other : nearest_[i].sorted()) *list++ = other.row;
      }
    }

   private:
    struct Waiting {
      double distance;
      std::int32_t node;
    };
    static bool later(const Waiting& a, const Waiting& b) {
      return a.distance > b.distance || (a.distance == b.distance && a.node > b.node);
    }
    void push(std::int32_t node) {
      const double* low = tree_.low(node);
      const double* high = tree_.high(node);
      double sum = 0.0;
      for (std::int64_t a = 0; a < tree_.axes(); ++a) {
        const double d = std::max({low[a] - centre_[a], centre_[a] - high[a], 0.0});
        sum += d * d;
      }
      waiting_.push_back({sum, node});
      std::push_heap(waiting_.begin(), waiting_.end(), later);
    }
    double farthest(const Node& own) const {
      double farthest = -1.0;
      for (std::int64_t i = 0; i < own.size(); ++i) {
        farthest = std::max(farthest, nearest_[i].threshold());
      }
      return farthest;
    }
    void scan(const Node& own, std::int32_t node) {
      const auto scan_blocks = simd::kernels().scan_double;
      const Node& leaf = tree_.node(node);
      const std::int64_t end = leaf.block + leaf.blocks();
      const std::int64_t p = all_.points_.p;
      alignas(64) double distances[simd::LANES];
      for (std::int64_t i = own.begin; i < own.end; ++i) {
        const Row row = tree_.row(i);
        Nearest& nearest = nearest_[i - own.begin];
        const double* at = tree_.at(i);
        if (all_.beyond(at, at, node, nearest.threshold())) continue;
        poll_.tick((end - leaf.block) * simd::LANES * p);
        for (std::int64_t block = leaf.block;; ++block) {
          const double near = nearest.threshold();
          block = scan_blocks(tree_.blocks(), p, block, end, all_.points_.row(row), near,
                              EVERYWHERE, distances);
          if (block == end) break;
          for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
            if (!(distances[lane] <= near)) continue;
            const Row other = tree_.row(leaf.begin + (block - leaf.block) * simd::LANES + lane);
            if (other != row) nearest.offer({distances[lane], other});
          }
        }
      }
    }

    const NeighbourLists& all_;
    const MedianTree& tree_;
    Rows& lists_;
    Poll poll_;
    std::vector<Nearest> nearest_;
    std::vector<double> centre_;    // of the own leaf's box
    std::vector<Waiting> waiting_;  // nodes, by their distance from it
  };

  Points points_;
  std::int64_t length_;
  std::int64_t most_leaves_;
  std::int64_t threads_;
  Watch& watch_;
  MedianTree tree_;
};

}  // namespace microagg
