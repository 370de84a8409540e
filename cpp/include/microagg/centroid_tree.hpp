// The nearest of group centroids that move a little while groups change, and some of which may be
// closed: the very group that looking at all of them in order would find.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/points.hpp"

namespace microagg {

// Boxes around centroids, halved along their widest side, three times at each level. A centroid
// that moves stays in its leaf, and the boxes above grow.
class CentroidTree {
 public:
  explicit CentroidTree(const Groups& groups)
      : groups_(groups),
        p_(groups.points().p),
        order_(static_cast<std::size_t>(groups.count())),
        leaf_of_(static_cast<std::size_t>(groups.count())),
        lane_of_(static_cast<std::size_t>(groups.count())) {
    for (Label group = 0; group < groups.count(); ++group) order_[group] = group;
    if (!order_.empty()) split(0, groups.count(), NONE, 0);
    for (Label group = 0; group < groups.count(); ++group) update(group);
  }

  // After the centroid of a group has moved.
  void update(Label group) {
    const double* centroid = groups_.centroid(group);
    double* lane = lanes_of(nodes_[leaf_of_[group]]) + lane_of_[group];
    for (std::int64_t a = 0; a < p_; ++a) lane[a * FAN] = centroid[a];
    const Node* child = &nodes_[leaf_of_[group]];
    while (child->above != NONE) {
      double* low = lanes_of(nodes_[child->above]) + child->lane;
      double* high = low + FAN * p_;
      for (std::int64_t a = 0; a < p_; ++a) {
        low[a * FAN] = std::min(low[a * FAN], centroid[a]);
        high[a * FAN] = std::max(high[a * FAN], centroid[a]);
      }
      child = &nodes_[child->above];
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
      work_ += node.count;
      if (node.children[0] == NONE) {
        const std::array<double, FAN> distances = distances_in_leaf(node, query);
        for (std::int32_t lane = 0; lane < node.count; ++lane) {
          const double distance = distances[lane];
          if (distance > best) continue;
          const Label group = order_[node.begin + lane];
          if ((distance < best || group < found) && open(group)) {
            best = distance;
            found = group;
          }
        }
        continue;
      }
      // The nearest box is looked at first.
      const std::array<double, FAN> bounds = distances_to_boxes(node, query);
      const std::size_t others = waiting_.size();
      for (std::int32_t lane = 0; lane < node.count; ++lane) {
        if (bounds[lane] > best) continue;
        waiting_.push_back({bounds[lane], node.children[lane]});
        for (std::size_t place = waiting_.size() - 1;
             place > others && waiting_[place - 1].bound < waiting_[place].bound; --place) {
          std::swap(waiting_[place - 1], waiting_[place]);
        }
      }
    }
    return found;
  }

  // Distances computed since the last call.
  std::int64_t work() { return std::exchange(work_, 0); }

 private:
  static constexpr std::int32_t NONE = -1;
  static constexpr std::int32_t FAN = 8;  // children of a node, centroids of a leaf

  struct Node {
    std::int32_t begin;
    std::int32_t above;
    std::int32_t lane;       // in the node above
    std::int32_t count = 0;  // of children or centroids
    std::array<std::int32_t, FAN> children{NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE};
    std::int64_t values = 0;  // where its lanes begin
  };
  struct Waiting {
    double bound;
    std::int32_t node;
  };

  std::int32_t split(std::int32_t begin, std::int32_t end, std::int32_t above, std::int32_t lane) {
    const auto at = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({begin, above, lane});
    nodes_[at].values = static_cast<std::int64_t>(lanes_.size());
    lanes_.resize(lanes_.size() + static_cast<std::size_t>(FAN * p_),
                  std::numeric_limits<double>::infinity());
    if (end - begin <= FAN) {
      nodes_[at].count = end - begin;
      for (std::int32_t place = begin; place < end; ++place) {
        leaf_of_[order_[place]] = at;
        lane_of_[order_[place]] = place - begin;
      }
      return at;
    }
    lanes_.resize(lanes_.size() + static_cast<std::size_t>(FAN * p_),
                  -std::numeric_limits<double>::infinity());
    std::array<std::int32_t, FAN + 1> cuts{begin, end};
    std::int32_t parts = 1;
    for (std::int32_t halvings = 0; halvings < 3; ++halvings) {
      std::array<std::int32_t, FAN + 1> finer{begin};
      std::int32_t count = 0;
      for (std::int32_t part = 0; part < parts; ++part) {
        if (cuts[part + 1] - cuts[part] > FAN) {
          finer[++count] = halve(cuts[part], cuts[part + 1]);
        }
        finer[++count] = cuts[part + 1];
      }
      cuts = finer;
      parts = count;
    }
    nodes_[at].count = parts;
    for (std::int32_t part = 0; part < parts; ++part) {
      const std::int32_t child = split(cuts[part], cuts[part + 1], at, part);
      nodes_[at].children[part] = child;
    }
    return at;
  }

  // Where the upper half along the widest side begins.
  std::int32_t halve(std::int32_t begin, std::int32_t end) {
    std::int64_t widest = 0;
    double width = -1.0;
    for (std::int64_t a = 0; a < p_; ++a) {
      double low = groups_.centroid(order_[begin])[a];
      double high = low;
      for (std::int32_t place = begin + 1; place < end; ++place) {
        low = std::min(low, groups_.centroid(order_[place])[a]);
        high = std::max(high, groups_.centroid(order_[place])[a]);
      }
      if (high - low > width) {
        width = high - low;
        widest = a;
      }
    }
    const std::int32_t middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](Label a, Label b) {
                       return groups_.centroid(a)[widest] < groups_.centroid(b)[widest];
                     });
    return middle;
  }

  double* lanes_of(const Node& node) { return lanes_.data() + node.values; }
  // To all centroids of a leaf at once.
  std::array<double, FAN> distances_in_leaf(const Node& node, const double* query) const {
    const double* centroids = lanes_.data() + node.values;
    std::array<double, FAN> sums{};
    for (std::int64_t a = 0; a < p_; ++a) {
      for (std::int32_t lane = 0; lane < FAN; ++lane) {
        const double gap = query[a] - centroids[a * FAN + lane];
        sums[lane] += gap * gap;
      }
    }
    return sums;
  }
  std::array<double, FAN> distances_to_boxes(const Node& node, const double* query) const {
    const double* low = lanes_.data() + node.values;
    const double* high = low + FAN * p_;
    std::array<double, FAN> sums{};
    for (std::int64_t a = 0; a < p_; ++a) {
      for (std::int32_t lane = 0; lane < FAN; ++lane) {
        const double below = low[a * FAN + lane] - query[a];
        const double above = query[a] - high[a * FAN + lane];
        const double gap = std::max(below, above);
        const double outside = 0.5 * (gap + std::abs(gap));  // at least 0, without a branch
        sums[lane] += outside * outside;
      }
    }
    return sums;
  }

  const Groups& groups_;
  std::int64_t p_;
  std::vector<Label> order_;           // groups, leaf after leaf
  std::vector<std::int32_t> leaf_of_;  // node of a group
  std::vector<std::int32_t> lane_of_;  // of a group in its leaf
  std::vector<Node> nodes_;
  // Attribute after attribute, FAN values each: the centroids of a leaf; for other nodes the lower
  // corners of its children's boxes, then the upper ones.
  std::vector<double> lanes_;
  std::vector<Waiting> waiting_;
  std::int64_t work_ = 0;
};

}  // namespace microagg
