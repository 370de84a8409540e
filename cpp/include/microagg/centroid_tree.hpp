// The nearest of group centroids that move a little while groups change, and some of which may be
// closed: the very group that looking at all of them in order would find.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/points.hpp"

namespace microagg {

// Boxes around centroids, halved along their widest side. A centroid that moves stays in its leaf,
// and the boxes above grow.
class CentroidTree {
 public:
  explicit CentroidTree(const Groups& groups)
      : groups_(groups),
        p_(groups.points().p),
        order_(static_cast<std::size_t>(groups.count())),
        leaf_of_(static_cast<std::size_t>(groups.count())),
        lane_of_(static_cast<std::size_t>(groups.count())) {
    for (Label group = 0; group < groups.count(); ++group) order_[group] = group;
    if (!order_.empty()) split(0, groups.count(), NONE);
    centroids_.resize(static_cast<std::size_t>(leaves_ * LEAF * p_),
                      std::numeric_limits<double>::infinity());
    for (Label group = 0; group < groups.count(); ++group) copy(group);
  }

  // After the centroid of a group has moved.
  void update(Label group) {
    copy(group);
    for (std::int32_t node = leaf_of_[group]; node != NONE; node = nodes_[node].above) {
      widen(node, groups_.centroid(group));
    }
  }

  // The group with the nearest centroid among those for which `open` holds (ties: the lowest); -1
  // if there is none. Bounds are sums in the order of distances, so that rounding keeps them below.
  // `guess`: a group that may be near, or -1; it only saves time.
  template <class Open>
  Label nearest(const double* query, Label guess, Open open) {
    double best = std::numeric_limits<double>::infinity();
    Label found = -1;
    if (guess >= 0 && open(guess)) {
      const double distance = squared_distance(query, groups_.centroid(guess), p_);
      if (distance < best) {
        best = distance;
        found = guess;
      }
    }
    waiting_.clear();
    if (!nodes_.empty()) waiting_.push_back({0.0, 0});
    while (!waiting_.empty()) {
      const auto [bound, at] = waiting_.back();
      waiting_.pop_back();
      if (bound > best) continue;
      const Node& node = nodes_[at];
      if (node.left != NONE) {
        const Waiting left{distance_to_box(node.left, query, best), node.left};
        const Waiting right{distance_to_box(node.right, query, best), node.right};
        work_ += 2;
        const bool left_nearer = left.bound <= right.bound;
        for (const Waiting& next : {left_nearer ? right : left, left_nearer ? left : right}) {
          if (next.bound <= best) waiting_.push_back(next);
        }
        continue;
      }
      const std::array<double, LEAF> distances = distances_in_leaf(node, query);
      for (std::int32_t lane = 0; lane < node.end - node.begin; ++lane) {
        const double distance = distances[lane];
        if (distance > best) continue;
        const Label group = order_[node.begin + lane];
        if ((distance < best || group < found) && open(group)) {
          best = distance;
          found = group;
        }
      }
      work_ += node.end - node.begin;
    }
    return found;
  }

  // Distances computed since the last call.
  std::int64_t work() { return std::exchange(work_, 0); }

 private:
  static constexpr std::int32_t NONE = -1;
  static constexpr std::int32_t LEAF = 8;

  struct Node {
    std::int32_t begin;
    std::int32_t end;
    std::int32_t above;
    std::int32_t left = NONE;
    std::int32_t right = NONE;
    std::int64_t leaf = NONE;
  };
  struct Waiting {
    double bound;
    std::int32_t node;
  };

  std::int32_t split(std::int32_t begin, std::int32_t end, std::int32_t above) {
    const auto at = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({begin, end, above});
    boxes_.resize(boxes_.size() + 2 * static_cast<std::size_t>(p_));
    double* low = low_of(at);
    std::copy_n(groups_.centroid(order_[begin]), p_, low);
    std::copy_n(groups_.centroid(order_[begin]), p_, low + p_);
    for (std::int32_t place = begin + 1; place < end; ++place) {
      widen(at, groups_.centroid(order_[place]));
    }
    if (end - begin <= LEAF) {
      nodes_[at].leaf = leaves_++;
      for (std::int32_t place = begin; place < end; ++place) {
        leaf_of_[order_[place]] = at;
        lane_of_[order_[place]] = place - begin;
      }
      return at;
    }
    std::int64_t widest = 0;
    for (std::int64_t a = 1; a < p_; ++a) {
      if (low[p_ + a] - low[a] > low[p_ + widest] - low[widest]) widest = a;
    }
    const std::int32_t middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](Label a, Label b) {
                       return groups_.centroid(a)[widest] < groups_.centroid(b)[widest];
                     });
    const std::int32_t left = split(begin, middle, at);
    const std::int32_t right = split(middle, end, at);
    nodes_[at].left = left;
    nodes_[at].right = right;
    return at;
  }

  double* low_of(std::int32_t node) { return boxes_.data() + 2 * p_ * node; }
  void widen(std::int32_t node, const double* centroid) {
    double* low = low_of(node);
    double* high = low + p_;
    for (std::int64_t a = 0; a < p_; ++a) {
      low[a] = std::min(low[a], centroid[a]);
      high[a] = std::max(high[a], centroid[a]);
    }
  }
  void copy(Label group) {
    const double* centroid = groups_.centroid(group);
    double* lane = centroids_.data() + nodes_[leaf_of_[group]].leaf * LEAF * p_ + lane_of_[group];
    for (std::int64_t a = 0; a < p_; ++a) lane[a * LEAF] = centroid[a];
  }
  // To all centroids of a leaf at once.
  std::array<double, LEAF> distances_in_leaf(const Node& node, const double* query) const {
    const double* centroids = centroids_.data() + node.leaf * LEAF * p_;
    std::array<double, LEAF> sums{};
    for (std::int64_t a = 0; a < p_; ++a) {
      for (std::int32_t lane = 0; lane < LEAF; ++lane) {
        const double gap = query[a] - centroids[a * LEAF + lane];
        sums[lane] += gap * gap;
      }
    }
    return sums;
  }
  // Not finished once it exceeds `most`.
  double distance_to_box(std::int32_t node, const double* query, double most) const {
    const double* low = boxes_.data() + 2 * p_ * node;
    const double* high = low + p_;
    double sum = 0.0;
    for (std::int64_t begin = 0; begin < p_ && sum <= most; begin += 4) {
      for (std::int64_t a = begin; a < std::min(begin + 4, p_); ++a) {
        const double gap = std::max(0.0, std::max(low[a] - query[a], query[a] - high[a]));
        sum += gap * gap;
      }
    }
    return sum;
  }

  const Groups& groups_;
  std::int64_t p_;
  std::vector<Label> order_;           // groups, leaf after leaf
  std::vector<std::int32_t> leaf_of_;  // node of a group
  std::vector<std::int32_t> lane_of_;  // of a group in its leaf
  std::vector<Node> nodes_;
  std::vector<double> boxes_;      // lower and upper corner of each node
  std::vector<double> centroids_;  // leaf after leaf, attribute after attribute, LEAF lanes each
  std::int64_t leaves_ = 0;
  std::vector<Waiting> waiting_;
  std::int64_t work_ = 0;
};

}  // namespace microagg
