// Optimal partition of one attribute (Hansen and Mukherjee's shortest path over the sorted values).
//
// The cost of any stretch is had in O(1) without cancellation: the sorted values are cut into
// blocks of k; a stretch of k .. 2k-1 records is the end of one block merged with the beginning of
// what follows, and merging two stretches only adds non-negative terms. Values are taken relative
// to the boundary between the two, itself a member of the stretch. So equal values cost exactly
// nothing and the objective keeps its digits whatever the offset or the gaps (prefix sums would
// lose them).
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/sort_rows.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Count, mean and sum of squares of a stretch, the mean relative to some member.
struct Moments {
  double count = 0.0;
  double mean = 0.0;
  double squares = 0.0;

  // `share`: 1 / (count + 1).
  void add(double x, double share) {
    count += 1.0;
    const double d = x - mean;
    mean += d * share;
    squares += d * (x - mean);
  }
  // Sum of squares of this stretch and `other` together; `share`: 1 / (both counts).
  double merged(const Moments& other, double share) const {
    const double apart = mean - other.mean;
    return squares + other.squares + apart * apart * (count * other.count * share);
  }
};

class OptimalUnivariate {
 public:
  OptimalUnivariate(std::span<const double> sorted, std::int64_t k, Watch& watch)
      : x_(sorted),
        n_(static_cast<std::int64_t>(x_.size())),
        k_(k),
        poll_(watch, 100'000),
        cost_(static_cast<std::size_t>(3 * k) + 1, std::numeric_limits<double>::infinity()),
        start_(x_.size() + 1, 0),
        tails_(static_cast<std::size_t>(2 * k) + 1),
        share_(static_cast<std::size_t>(2 * k) + 1) {
    for (std::int64_t size = 1; size <= 2 * k; ++size) {
      share_[size] = 1.0 / static_cast<double>(size);
    }
  }

  // First position of each group of the best partition, in increasing order.
  Rows starts() {
    cost_[2 * k_] = 0.0;
    for (std::int64_t block = 0; block * k_ < n_; ++block) {
      prepare(block);
      const double boundary = x_[block * k_];
      const std::int64_t size = std::min(n_ - block * k_, k_);
      Moments head;
      for (std::int64_t taken = 1; taken <= size; ++taken) {
        head.add(x_[block * k_ + taken - 1] - boundary, share_[taken]);
        find_start(block, taken, head);
      }
      previous_ = head;
      poll_.tick(k_);
    }
    Rows path;
    path.reserve(static_cast<std::size_t>(n_ / k_));
    for (Row end = static_cast<Row>(n_); end > 0; end = start_[end]) path.push_back(start_[end]);
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  // Moments of every tail (up to the end of its block) of the two blocks before this one, relative
  // to the first value after it. The last, an empty tail, begins this block.
  void prepare(std::int64_t block) {
    if (block == 0) return;
    std::copy(cost_.begin() + k_, cost_.end(), cost_.begin());
    std::copy(tails_.begin() + k_, tails_.end() - 1, tails_.begin());
    Moments tail;
    for (std::int64_t size = 1; size <= k_; ++size) {
      tail.add(x_[block * k_ - size] - x_[block * k_], share_[size]);
      tails_[2 * k_ - size] = tail;
    }
  }

  // Best start of a group that ends after `taken` records of `block`, whose moments are `head`.
  void find_start(std::int64_t block, std::int64_t taken, const Moments& head) {
    const std::int64_t end = block * k_ + taken;
    if (end < k_) return;
    const std::int64_t before = (block - 2) * k_;  // where cost_ and tails_ begin
    // The best start never moves left as the end moves right (the costs of sorted values are
    // Monge).
    const std::int64_t first =
        std::max({std::int64_t{0}, end - 2 * k_ + 1, std::int64_t{start_[end - 1]}});
    double best = std::numeric_limits<double>::infinity();
    std::int64_t best_start = first;
    const auto try_start = [&](std::int64_t start, const Moments& rest) {
      const double total =
          cost_[start - before] + tails_[start - before].merged(rest, share_[end - start]);
      const bool better = total <= best;  // ties: the later start
      best = better ? total : best;       // no branch: it would be a coin toss
      best_start = better ? start : best_start;
    };
    std::int64_t start = first;
    if (start < before + k_) {
      const Moments longer = with_previous(block, taken, head);
      for (; start < before + k_; ++start) try_start(start, longer);
    }
    for (; start <= end - k_; ++start) try_start(start, head);
    cost_[end - before] = best;
    start_[end] = static_cast<Row>(best_start);
  }

  // The whole block before this one and `head`, relative to the first value of that block.
  Moments with_previous(std::int64_t block, std::int64_t taken, const Moments& head) const {
    Moments moved = head;
    moved.mean += x_[block * k_] - x_[(block - 1) * k_];
    const double share = share_[k_ + taken];
    return {previous_.count + head.count,
            previous_.mean + (moved.mean - previous_.mean) * (head.count * share),
            previous_.merged(moved, share)};
  }

  std::span<const double> x_;
  std::int64_t n_;
  std::int64_t k_;
  Poll poll_;
  std::vector<double> cost_;  // of the best partition up to a position, from two blocks back on
  Rows start_;                // of its last group
  std::vector<Moments> tails_;
  std::vector<double> share_;
  Moments previous_;
};

struct UnivariateOptimum {
  Labels labels;
  double sse = 0.0;
};

// The groups that begin at these positions of the sorted values. Their cost is that of
// objective.hpp, rounding included, but had here where the values of a group lie side by side.
inline UnivariateOptimum optimum_of(const SortedRows& sorted, const Rows& starts) {
  const std::int64_t n = static_cast<std::int64_t>(sorted.rows.size());
  Labels labels(sorted.rows.size());
  ManySum sse;
  for (std::size_t number = 0; number < starts.size(); ++number) {
    const std::int64_t begin = starts[number];
    const std::int64_t end = number + 1 < starts.size() ? starts[number + 1] : n;
    std::int64_t first = begin;  // by its row
    for (std::int64_t at = begin; at < end; ++at) {
      labels[sorted.rows[at]] = static_cast<Label>(number);
      first = sorted.rows[at] < sorted.rows[first] ? at : first;  // no branch, as above
    }
    UnivariateGroup group{sorted.values[first], {}, end - begin};
    for (std::int64_t at = begin; at < end; ++at) {
      group.offsets.add(sorted.values[at] - group.first);  // its own is 0
    }
    const double mean = group.mean_offset();
    for (std::int64_t at = begin; at < end; ++at) {
      const double d = sorted.values[at] - group.first - mean;
      sse.add(at, d * d);
    }
  }
  return {by_first_appearance(std::move(labels)), sse.total().value()};
}

// O(n) sorting and, in practice, O(n) search (O(n k) at worst).
[[nodiscard]] inline UnivariateOptimum optimal_univariate(std::span<const double> values,
                                                          std::int64_t k, Watch& watch) {
  MICROAGG_ASSERT(k >= 1);
  if (values.empty()) return {};
  const SortedRows sorted = sort_rows(values);
  if (static_cast<std::int64_t>(values.size()) < 2 * k) return optimum_of(sorted, Rows{0});
  return optimum_of(sorted, OptimalUnivariate(sorted.values, k, watch).starts());
}

}  // namespace microagg
