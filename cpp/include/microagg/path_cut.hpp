// The best partition into groups of k .. 2k-1 neighbours on a path: MHM (VLDBJ06, section 4.1) as a
// shortest path, and its cyclic variant Tour2Assignment (ICSM15, section 4.2). O(n k p) and
// O(n k p + n k^2); O(n p) memory, O(n k) for the cyclic one.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/points.hpp"
#include "microagg/simd.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Costs of all stretches of k .. 2k-1 records, computed eight starts at a time.
class Stretches {
 public:
  // `wrap`: how many records of the path's beginning follow its end.
  Stretches(Points points, std::span<const Row> order, std::int64_t k, std::int64_t wrap)
      : k_(k),
        p_(points.p),
        stride_(points.n + wrap + 2 * k + 2 * simd::STARTS),
        columns_(static_cast<std::size_t>(stride_ * points.p)),
        means_(static_cast<std::size_t>(points.p * simd::STARTS)),
        costs_(static_cast<std::size_t>(k * simd::STARTS)) {
    for (std::int64_t at = 0; at < points.n + wrap; ++at) {
      const double* record = points.row(order[at < points.n ? at : at - points.n]);
      for (std::int64_t a = 0; a < p_; ++a) columns_[a * stride_ + at] = record[a];
    }
  }

  // Calls relax(start, size, cost) for STARTS starts from `first` on.
  template <class Relax>
  void each(std::int64_t first, Relax relax) {
    simd::kernels().stretch_costs(columns_.data(), stride_, p_, first, k_, means_.data(),
                                  costs_.data());
    for (std::int64_t lane = 0; lane < simd::STARTS; ++lane) {
      for (std::int64_t size = k_; size < 2 * k_; ++size) {
        relax(first + lane, size, costs_[(size - k_) * simd::STARTS + lane]);
      }
    }
  }

 private:
  std::int64_t k_;
  std::int64_t p_;
  std::int64_t stride_;
  Array<double> columns_;
  std::vector<double> means_;
  std::vector<double> costs_;
};

// Shortest path from 0 to every position, for stretches offered in order of their start.
class ShortestPath {
 public:
  explicit ShortestPath(std::int64_t n)
      : cost_(static_cast<std::size_t>(n) + 1, std::numeric_limits<double>::infinity()),
        size_(static_cast<std::size_t>(n) + 1, 0) {
    cost_[0] = 0.0;
  }
  void relax(std::int64_t start, std::int64_t size, double cost) {
    const std::size_t end = static_cast<std::size_t>(start + size);
    if (end >= cost_.size()) return;
    const double total = cost_[start] + cost;
    if (total <= cost_[end]) {  // ties: the later start, i.e. the smaller last group
      cost_[end] = total;
      size_[end] = static_cast<std::int32_t>(size);
    }
  }
  double total() const { return cost_.back(); }
  // Whether a path reaches any position from `first` on, before `end`.
  bool reaches(std::int64_t first, std::int64_t end) const {
    end = std::min(end, static_cast<std::int64_t>(cost_.size()));
    return std::any_of(cost_.begin() + first, cost_.begin() + end,
                       [](double cost) { return cost < std::numeric_limits<double>::infinity(); });
  }
  // Group of each position, numbered from the end of the path.
  Labels groups() const {
    Labels group(cost_.size() - 1);
    Label number = 0;
    for (std::int64_t end = static_cast<std::int64_t>(group.size()); end > 0; ++number) {
      const std::int64_t start = end - size_[end];
      for (std::int64_t at = start; at < end; ++at) group[at] = number;
      end = start;
    }
    return group;
  }

 private:
  Array<double> cost_;
  Array<std::int32_t> size_;
};

[[nodiscard]] inline Labels path_cut(Points points, std::span<const Row> order, std::int64_t k,
                                     bool cyclic, Deadline deadline, Watch& watch) {
  const std::int64_t n = points.n;
  MICROAGG_ASSERT(k >= 1);
  MICROAGG_ASSERT(static_cast<std::int64_t>(order.size()) == n && hold(points, order));
  if (n < 2 * k) return Labels(static_cast<std::size_t>(n), 0);
  Poll poll(watch, 200'000, deadline);
  // A closed tour has a group boundary among any 2k-1 neighbours: try each as the beginning.
  const std::int64_t turns = cyclic ? 2 * k - 1 : 1;
  Stretches stretches(points, order, k, cyclic ? 2 * k : 0);
  ShortestPath best(n);
  std::int64_t best_turn = 0;
  Array<double> costs(cyclic ? static_cast<std::size_t>((n + simd::STARTS) * k) : 0);
  for (std::int64_t first = 0; first < n; first += simd::STARTS) {
    // No group can begin here: nothing ends just before, or too little follows.
    if (!cyclic && (first + k > n || !best.reaches(first, first + simd::STARTS))) continue;
    stretches.each(first, [&](std::int64_t start, std::int64_t size, double cost) {
      if (start >= n) return;
      best.relax(start, size, cost);
      if (cyclic) costs[start * k + size - k] = cost;
    });
    poll.tick(simd::STARTS * k * points.p / 4 + 1);
  }
  for (std::int64_t turn = 1; turn < turns; ++turn) {
    ShortestPath turned(n);
    for (std::int64_t start = 0; start < n; ++start) {
      const std::int64_t at = start + turn < n ? start + turn : start + turn - n;
      for (std::int64_t size = k; size < 2 * k; ++size) {
        turned.relax(start, size, costs[at * k + size - k]);
      }
      poll.tick(k);
    }
    if (turned.total() < best.total()) {
      best = turned;
      best_turn = turn;
    }
  }
  const Labels group = best.groups();
  Labels labels(static_cast<std::size_t>(n));
  for (std::int64_t at = 0; at < n; ++at) labels[order[(at + best_turn) % n]] = group[at];
  return labels;
}

}  // namespace microagg
