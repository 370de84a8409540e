// The nearest records of every record, by a tree of median cuts along principal axes.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <system_error>
#include <thread>
#include <vector>

#include "microagg/neighbours.hpp"
#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"
#include "microagg/simd.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// All records of a leaf search together: leaves in order of their distance from its centre, until
// none can hold a nearer record or MOST_LEAVES were looked at and all lists are full. So lists are
// exact where that many leaves suffice (always up to 4,096 records), and very nearly so beyond, at
// a cost of O(n p) distances times a constant. Memory O(n (p + length)).
class NeighbourLists {
 public:
  static constexpr std::int64_t LEAF = 64;
  static constexpr std::int64_t MOST_LEAVES = 96;

  // Needs length < n.
  NeighbourLists(Points points, std::int64_t length)
      : points_(points),
        length_(length),
        coordinates_(points, MOST_AXES),
        rows_(static_cast<std::size_t>(points.n)) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = static_cast<Row>(i);
    build(0, points.n);
    boxes_.shrink_to_fit();
    fill_blocks();
  }

  // Row by row, `length` each, in the order `nearer`; a record is not its own neighbour.
  Rows run(std::int64_t threads, Watch& watch) {
    threads = std::min(threads, static_cast<std::int64_t>(leaves_.size()));
    Rows lists(static_cast<std::size_t>(points_.n * length_));
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
    const auto work = [&](std::int64_t thread) {
      try {
        Search search(*this, lists);
        Poll poll(watch, 1'000'000, Deadline::HEED);
        for (std::size_t leaf; (leaf = next.fetch_add(1)) < leaves_.size();) {
          poll.tick(search.run(leaves_[leaf]));
          if (thread == 0) {
            poll.report_done(static_cast<double>(leaf) / static_cast<double>(leaves_.size()));
          }
        }
      } catch (...) {
        failures[thread] = std::current_exception();
      }
    };
    std::vector<std::thread> others;
    try {
      for (std::int64_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    } catch (const std::system_error&) {  // no more threads to be had: those there are do the work
    }
    work(0);
    for (std::thread& other : others) other.join();
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
    return lists;
  }

 private:
  static constexpr std::int64_t MOST_AXES = 16;

  struct Node {
    std::int64_t begin;
    std::int64_t end;
    std::int32_t left = -1;  // of a leaf: none
    std::int32_t right = -1;
    std::int64_t block = 0;  // of a leaf: its first SIMD block
  };

  // --- the tree ---

  std::int64_t axes() const { return coordinates_.points().p; }
  double* box(std::int32_t node) { return boxes_.data() + node * 2 * axes(); }
  const double* box(std::int32_t node) const { return boxes_.data() + node * 2 * axes(); }

  std::int32_t build(std::int64_t begin, std::int64_t end) {
    const auto node = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({begin, end});
    boxes_.resize(boxes_.size() + static_cast<std::size_t>(2 * axes()));
    bound(node);
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
    const std::int32_t left = build(begin, half);
    const std::int32_t right = build(half, end);
    nodes_[node].left = left;
    nodes_[node].right = right;
    return node;
  }

  void bound(std::int32_t node) {
    const Points coordinates = coordinates_.points();
    const std::int64_t q = coordinates.p;
    double* low = box(node);
    double* high = low + q;
    std::fill(low, low + q, std::numeric_limits<double>::infinity());
    std::fill(high, high + q, -std::numeric_limits<double>::infinity());
    for (std::int64_t i = nodes_[node].begin; i < nodes_[node].end; ++i) {
      const double* x = coordinates.row(rows_[i]);
      for (std::int64_t a = 0; a < q; ++a) {
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
      count += (nodes_[leaf].end - nodes_[leaf].begin + simd::LANES - 1) / simd::LANES;
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

  // --- one leaf's records looking for their nearest ---

  class Search {
   public:
    Search(const NeighbourLists& tree, Rows& lists)
        : tree_(tree),
          lists_(lists),
          nearest_(static_cast<std::size_t>(LEAF)),
          centre_(static_cast<std::size_t>(tree.axes())) {}

    // Returns the work done, in distances times attributes.
    std::int64_t run(std::int32_t leaf) {
      const Node& own = tree_.nodes_[leaf];
      const std::int64_t count = own.end - own.begin;
      for (std::int64_t i = 0; i < count; ++i) nearest_[i].reset(tree_.length_);
      const double* box = tree_.box(leaf);
      for (std::int64_t a = 0; a < tree_.axes(); ++a) {
        centre_[a] = box[a] / 2.0 + box[tree_.axes() + a] / 2.0;
      }
      std::int64_t looked = 0;
      waiting_.clear();
      push(0);
      while (!waiting_.empty() && (looked < MOST_LEAVES || !full(count))) {
        std::pop_heap(waiting_.begin(), waiting_.end(), later);
        const std::int32_t node = waiting_.back().node;
        waiting_.pop_back();
        if (apart(leaf, node) > worst(count)) continue;
        if (tree_.nodes_[node].left < 0) {
          scan(own, tree_.nodes_[node]);
          ++looked;
        } else {
          push(tree_.nodes_[node].left);
          push(tree_.nodes_[node].right);
        }
      }
      for (std::int64_t i = 0; i < count; ++i) {
        Row* list = lists_.data() + tree_.rows_[own.begin + i] * tree_.length_;
        for (const Neighbour& other : nearest_[i].sorted()) *list++ = other.row;
      }
      return looked * LEAF * count * tree_.points_.p;
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
      const double* low = tree_.box(node);
      const double* high = low + tree_.axes();
      double sum = 0.0;
      for (std::int64_t a = 0; a < tree_.axes(); ++a) {
        const double d = std::max({low[a] - centre_[a], centre_[a] - high[a], 0.0});
        sum += d * d;
      }
      waiting_.push_back({sum, node});
      std::push_heap(waiting_.begin(), waiting_.end(), later);
    }
    // No record of one node is nearer to one of the other, but for rounding.
    double apart(std::int32_t one, std::int32_t other) const {
      const std::int64_t q = tree_.axes();
      const double* a_box = tree_.box(one);
      const double* b_box = tree_.box(other);
      double sum = 0.0;
      for (std::int64_t a = 0; a < q; ++a) {
        const double d = std::max({a_box[a] - b_box[q + a], b_box[a] - a_box[q + a], 0.0});
        sum += d * d;
      }
      return sum * (1.0 - 1e-9);
    }
    bool full(std::int64_t count) const {
      for (std::int64_t i = 0; i < count; ++i) {
        if (nearest_[i].threshold() == std::numeric_limits<double>::infinity()) return false;
      }
      return true;
    }
    double worst(std::int64_t count) const {
      double worst = 0.0;
      for (std::int64_t i = 0; i < count; ++i) worst = std::max(worst, nearest_[i].threshold());
      return worst;
    }
    void scan(const Node& own, const Node& leaf) {
      const auto scan_blocks = simd::kernels().scan_double;
      const std::int64_t end = leaf.block + (leaf.end - leaf.begin + simd::LANES - 1) / simd::LANES;
      alignas(64) double distances[simd::LANES];
      for (std::int64_t i = own.begin; i < own.end; ++i) {
        const Row row = tree_.rows_[i];
        Nearest& nearest = nearest_[i - own.begin];
        const double* query = tree_.points_.row(row);
        for (std::int64_t block = leaf.block;; ++block) {
          const double near = nearest.threshold();
          block = scan_blocks(tree_.blocks_.data(), tree_.points_.p, block, end, query, near,
                              std::numeric_limits<double>::infinity(), distances);
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
    std::vector<Nearest> nearest_;
    std::vector<double> centre_;
    std::vector<Waiting> waiting_;
  };

  Points points_;
  std::int64_t length_;
  PrincipalCoordinates coordinates_;
  Rows rows_;  // in the order of the leaves
  std::vector<Node> nodes_;
  std::vector<double> boxes_;
  std::vector<std::int32_t> leaves_;
  Array<double> blocks_;
};

}  // namespace microagg
