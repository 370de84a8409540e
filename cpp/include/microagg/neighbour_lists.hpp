// The nearest records of every record, by a tree of median cuts along principal axes.
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
  NeighbourLists(Points points, std::int64_t length, std::int64_t most_leaves, Watch& watch)
      : points_(points),
        length_(length),
        most_leaves_(most_leaves),
        watch_(watch),
        coordinates_(points, MOST_AXES),
        axes_(coordinates_.points().p),
        error_(coordinates_.error()),
        rows_(static_cast<std::size_t>(points.n)) {
    const double share = (1.0 - 1e-9) / coordinates_.stretch();  // the rest is for rounding
    share_ = share > 0.0 ? share : 0.0;
    std::iota(rows_.begin(), rows_.end(), Row{0});
    Poll poll(watch, 1'000'000, Deadline::HEED);
    build(0, points.n, poll);
    boxes_.shrink_to_fit();
    fill_blocks();
  }

  // Row by row, `length` each, nearest first; a record is not its own neighbour.
  Rows run(std::int64_t threads) const {
    Rows lists(static_cast<std::size_t>(points_.n * length_));
    const auto count = static_cast<std::int64_t>(leaves_.size());
    in_parallel(count, threads, [&](auto next) {
      Search search(*this, lists);
      for (std::int64_t leaf; (leaf = next()) < count;) {
        search.run(leaves_[leaf]);
        watch_.report_done(static_cast<double>(leaf) / static_cast<double>(count));
      }
    });
    return lists;
  }

 private:
  static constexpr std::int64_t MOST_AXES = 16;
  static constexpr double EVERYWHERE = std::numeric_limits<double>::infinity();

  struct Node {
    std::int64_t begin;
    std::int64_t end;
    std::int32_t left = -1;  // of a leaf: none
    std::int32_t right = -1;
    std::int64_t block = 0;  // of a leaf: its first SIMD block

    std::int64_t size() const { return end - begin; }
    std::int64_t blocks() const { return (size() + simd::LANES - 1) / simd::LANES; }
  };

  // --- the tree ---

  double* low(std::int32_t node) { return boxes_.data() + node * 2 * axes_; }
  const double* low(std::int32_t node) const { return boxes_.data() + node * 2 * axes_; }
  const double* high(std::int32_t node) const { return low(node) + axes_; }

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
    const std::int64_t half =
        begin + ((end - begin) / 2 + simd::LANES - 1) / simd::LANES * simd::LANES;
    const std::span<Row> rows = std::span(rows_).subspan(begin, end - begin);
    const auto as_it_is = [](double spread) { return spread; };
    cut_along(coordinates_.points(), widest_axis(coordinates_.points(), rows, as_it_is), rows,
              half - begin);
    const std::int32_t left = build(begin, half, poll);
    const std::int32_t right = build(half, end, poll);
    nodes_[node].left = left;
    nodes_[node].right = right;
    return node;
  }

  void bound(std::int32_t node) {
    const Points coordinates = coordinates_.points();
    double* low = this->low(node);
    double* high = low + axes_;
    std::fill(low, high, EVERYWHERE);
    std::fill(high, high + axes_, -EVERYWHERE);
    for (std::int64_t i = nodes_[node].begin; i < nodes_[node].end; ++i) {
      const double* x = coordinates.row(rows_[i]);
      for (std::int64_t a = 0; a < axes_; ++a) {
        low[a] = std::min(low[a], x[a]);
        high[a] = std::max(high[a], x[a]);
      }
    }
  }

  // The records leaf by leaf in SIMD blocks; empty slots hold NaN.
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

  // Whether nothing in the box of the node is nearer to a box (or a point: low = high) than a list
  // reaches, even by the computed distances.
  bool beyond(const double* low, const double* high, std::int32_t node, double reach) const {
    if (reach == EVERYWHERE) return false;
    const double* other_low = this->low(node);
    const double* other_high = this->high(node);
    double sum = 0.0;  // stays zero where the data overflow
    for (std::int64_t a = 0; a < axes_ && sum <= reach; ++a) {
      const double gap = std::max(low[a] - other_high[a], other_low[a] - high[a]) - error_;
      sum += gap > 0.0 ? gap * gap * share_ : 0.0;
    }
    return most_leaves_ == EVERY_LEAF ? sum >= reach : sum > reach;
  }

  // One leaf's records looking for their nearest.
  class Search {
   public:
    Search(const NeighbourLists& tree, Rows& lists)
        : tree_(tree),
          lists_(lists),
          poll_(tree.watch_, 1'000'000, Deadline::HEED),
          nearest_(static_cast<std::size_t>(LEAF)),
          centre_(static_cast<std::size_t>(tree.axes_)) {}

    void run(std::int32_t leaf) {
      const Node& own = tree_.nodes_[leaf];
      for (std::int64_t i = 0; i < own.size(); ++i) nearest_[i].reset(tree_.length_);
      for (std::int64_t a = 0; a < tree_.axes_; ++a) {
        centre_[a] = tree_.low(leaf)[a] / 2.0 + tree_.high(leaf)[a] / 2.0;
      }
      waiting_.clear();
      push(0);
      double reach = EVERYWHERE;
      for (std::int64_t looked = 0; !waiting_.empty();) {
        const bool enough = tree_.most_leaves_ != EVERY_LEAF && looked >= tree_.most_leaves_;
        if (enough && reach < EVERYWHERE) break;
        std::pop_heap(waiting_.begin(), waiting_.end(), later);
        const std::int32_t node = waiting_.back().node;
        waiting_.pop_back();
        if (tree_.beyond(tree_.low(leaf), tree_.high(leaf), node, reach)) continue;
        if (tree_.nodes_[node].left < 0) {
          scan(own, node);
          reach = farthest(own);
          ++looked;
        } else {
          push(tree_.nodes_[node].left);
          push(tree_.nodes_[node].right);
          poll_.tick(tree_.axes_);
        }
      }
      for (std::int64_t i = 0; i < own.size(); ++i) {
        Row* list = lists_.data() + tree_.rows_[own.begin + i] * tree_.length_;
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
      for (std::int64_t a = 0; a < tree_.axes_; ++a) {
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
      const Node& leaf = tree_.nodes_[node];
      const std::int64_t end = leaf.block + leaf.blocks();
      const std::int64_t p = tree_.points_.p;
      alignas(64) double distances[simd::LANES];
      for (std::int64_t i = own.begin; i < own.end; ++i) {
        const Row row = tree_.rows_[i];
        Nearest& nearest = nearest_[i - own.begin];
        if (tree_.most_leaves_ == EVERY_LEAF) {  // so many leaves that a look at the box pays
          const double* at = tree_.coordinates_.points().row(row);
          if (tree_.beyond(at, at, node, nearest.threshold())) continue;
        }
        poll_.tick((end - leaf.block) * simd::LANES * p);
        for (std::int64_t block = leaf.block;; ++block) {
          const double near = nearest.threshold();
          block = scan_blocks(tree_.blocks_.data(), p, block, end, tree_.points_.row(row), near,
                              EVERYWHERE, distances);
          if (block == end) break;
          for (std::int64_t lane = 0; lane < simd::LANES; ++lane) {
            if (!(distances[lane] <= near)) continue;
            const Row other = tree_.rows_[leaf.begin + (block - leaf.block) * simd::LANES + lane];
            if (other != row) nearest.offer({distances[lane], other});
          }
        }
      }
    }

    const NeighbourLists& tree_;
    Rows& lists_;
    Poll poll_;
    std::vector<Nearest> nearest_;
    std::vector<double> centre_;    // of the own leaf's box
    std::vector<Waiting> waiting_;  // nodes, by their distance from it
  };

  Points points_;
  std::int64_t length_;
  std::int64_t most_leaves_;
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
