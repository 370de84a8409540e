// Records in a tree of boxes: median cuts along principal axes, and in the leaves their values in
// SIMD blocks.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/halving.hpp"
#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"
#include "microagg/simd.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class MedianTree {
 public:
  struct Node {
    std::int64_t begin;
    std::int64_t end;
    std::int32_t left = -1;  // of a leaf: none
    std::int32_t right = -1;
    std::int64_t block = 0;  // of a leaf: its first SIMD block

    bool is_leaf() const { return left < 0; }
    std::int64_t size() const { return end - begin; }
    std::int64_t blocks() const { return (size() + simd::LANES - 1) / simd::LANES; }
  };

  // The first `count` points are in the tree, at least one, at most `leaf` of them in a leaf; all
  // have coordinates.
  MedianTree(Points points, std::int64_t count, std::int64_t leaf, std::int64_t threads,
             Watch& watch, Deadline deadline)
      : points_(points), leaf_(leaf), coordinates_(points, MOST_AXES) {
    const double share = (1.0 - 1e-9) / coordinates_.stretch();  // the rest is for rounding
    share_ = share > 0.0 ? share : 0.0;
    halve_all(coordinates_, {0, count}, threads, watch, deadline,
              [this](Part part, Cutter& cutter) {
                const std::int64_t middle = middle_of(part);
                if (middle > part.begin) cutter.cut(part, middle, cutter.widest_axis(part));
                return middle;
              });
    grow({0, count});
    find_boxes();
    fill_blocks();
  }

  const Node& node(std::int32_t node) const { return nodes_[node]; }
  const std::vector<std::int32_t>& leaves() const { return leaves_; }
  // Of a node's box.
  const double* low(std::int32_t node) const { return boxes_.data() + node * 2 * axes(); }
  const double* high(std::int32_t node) const { return low(node) + axes(); }

  // The record at a place of a leaf, or of those that are not in the tree.
  Row row(std::int64_t place) const { return coordinates_.row(place); }
  const double* at(std::int64_t place) const { return coordinates_.at(place); }
  const double* blocks() const { return blocks_.data(); }

  std::int64_t axes() const { return coordinates_.axes(); }
  // Of a difference of coordinates.
  double error() const { return coordinates_.error(); }
  // Of squares of coordinates that counts; zero where the data overflow.
  double share() const { return share_; }

 private:
  static constexpr std::int64_t MOST_AXES = 16;
  static constexpr double EVERYWHERE = std::numeric_limits<double>::infinity();

  // Left of it whole blocks of lanes; the beginning, if the part is a leaf.
  std::int64_t middle_of(Part part) const {
    if (part.size() <= leaf_) return part.begin;
    return part.begin + (part.size() / 2 + simd::LANES - 1) / simd::LANES * simd::LANES;
  }

  std::int32_t grow(Part part) {
    const auto node = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({part.begin, part.end});
    const std::int64_t middle = middle_of(part);
    if (middle == part.begin) {
      leaves_.push_back(node);
      return node;
    }
    const std::int32_t left = grow({part.begin, middle});
    const std::int32_t right = grow({middle, part.end});
    nodes_[node].left = left;
    nodes_[node].right = right;
    return node;
  }

  void find_boxes() {
    boxes_.resize(nodes_.size() * static_cast<std::size_t>(2 * axes()));
    for (auto node = static_cast<std::int32_t>(nodes_.size()); node-- > 0;) {
      double* low = boxes_.data() + node * 2 * axes();
      double* high = low + axes();
      std::fill(low, high, EVERYWHERE);
      std::fill(high, high + axes(), -EVERYWHERE);
      const auto include = [&](const double* lowest, const double* highest) {
        for (std::int64_t a = 0; a < axes(); ++a) {
          low[a] = std::min(low[a], lowest[a]);
          high[a] = std::max(high[a], highest[a]);
        }
      };
      const Node& own = nodes_[node];
      if (own.is_leaf()) {
        for (std::int64_t i = own.begin; i < own.end; ++i) include(at(i), at(i));
      } else {  // whose children come later, so their boxes are there
        include(this->low(own.left), this->high(own.left));
        include(this->low(own.right), this->high(own.right));
      }
    }
  }

  // Empty slots hold NaN.
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
        double* to = blocks_.data() + (nodes_[leaf].block + slot / simd::LANES) * p * simd::LANES +
                     slot % simd::LANES;
        for (std::int64_t a = 0; a < p; ++a) to[a * simd::LANES] = points_.row(row(i))[a];
      }
    }
  }

  Points points_;
  std::int64_t leaf_;
  PrincipalCoordinates coordinates_;
  double share_;
  std::vector<Node> nodes_;
  std::vector<double> boxes_;
  std::vector<std::int32_t> leaves_;
  Array<double> blocks_;
};

}  // namespace microagg
