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

// Count, mean and sum of squares of a stretch, extended one value at a time.
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
};

class OptimalUnivariate {
 public:
  OptimalUnivariate(std::vector<double> sorted, std::int64_t k, Watch& watch)
      : x_(std::move(sorted)),
        n_(static_cast<std::int64_t>(x_.size())),
        k_(k),
        poll_(watch, 100'000),
        cost_(x_.size() + 1, std::numeric_limits<double>::infinity()),
        start_(x_.size() + 1, 0),
        tails_(static_cast<std::size_t>(2 * k)),
        share_(static_cast<std::size_t>(2 * k) + 1) {
    for (std::int64_t size = 1; size <= 2 * k; ++size) {
      share_[size] = 1.0 / static_cast<double>(size);
    }
  }

  // First position of the group that ends at each position on the optimal path.
  std::vector<std::int64_t> boundaries() {
    cost_[0] = 0.0;
    for (std::int64_t block = 0; block * k_ < n_; ++block) {
      prepare_tails(block);
      // Stretches that end inside this block begin in one of the two blocks before it, or in it
      // when they begin at 0 or fill it; heads accumulate from the beginning of each of those
      // blocks.
      Moments from_this;
      Moments from_previous = whole_previous_;
      const std::int64_t size = std::min(n_ - block * k_, k_);
      const double boundary = x_[block * k_];
      const double previous_boundary = x_[std::max(std::int64_t{0}, block - 1) * k_];
      for (std::int64_t taken = 1; taken <= size; ++taken) {
        const std::int64_t end = block * k_ + taken;
        from_this.add(x_[end - 1] - boundary, share_[taken]);
        from_previous.add(x_[end - 1] - previous_boundary, share_[k_ + taken]);
        find_start(end, block, from_this, from_previous);
      }
      whole_previous_ = from_this;
      poll_.tick(k_);
    }
    std::vector<std::int64_t> path;
    for (std::int64_t end = n_; end > 0; end = start_[end]) path.push_back(start_[end]);
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  // Moments of every tail (up to the end of its block) of the two blocks before this one.
  void prepare_tails(std::int64_t block) {
    if (block == 0) return;
    std::copy(tails_.begin() + k_, tails_.end(), tails_.begin());
    Moments tail;
    for (std::int64_t size = 1; size <= k_; ++size) {
      tail.add(x_[block * k_ - size] - x_[block * k_], share_[size]);
      tails_[2 * k_ - size] = tail;
    }
  }

  double cost(std::int64_t start, std::int64_t end, std::int64_t block, const Moments& from_this,
              const Moments& from_previous) const {
    const std::int64_t at = start - (block - 2) * k_;  // within the two blocks before
    if (at == 2 * k_) return from_this.squares;
    if (at == k_) return from_previous.squares;
    const Moments& tail = tails_[at];
    const Moments& head = at > k_ ? from_this : from_previous;
    const double apart = tail.mean - head.mean;
    return tail.squares + head.squares +
           apart * apart * (tail.count * head.count * share_[end - start]);
  }

  void find_start(std::int64_t end, std::int64_t block, const Moments& from_this,
                  const Moments& from_previous) {
    const std::int64_t last = end - k_;
    if (last < 0) return;
    // The best start never moves left as the end moves right (the costs of sorted values are
    // Monge).
    const std::int64_t first = std::max({std::int64_t{0}, end - 2 * k_ + 1, start_[end - 1]});
    double best = std::numeric_limits<double>::infinity();
    std::int64_t best_start = first;
    for (std::int64_t start = first; start <= last; ++start) {
      const double total = cost_[start] + cost(start, end, block, from_this, from_previous);
      if (total <= best) {
        best = total;
        best_start = start;
      }
    }
    cost_[end] = best;
    start_[end] = best_start;
  }

  std::vector<double> x_;
  std::int64_t n_;
  std::int64_t k_;
  Poll poll_;
  std::vector<double> cost_;
  std::vector<std::int64_t> start_;
  std::vector<Moments> tails_;
  std::vector<double> share_;
  Moments whole_previous_;
};

// O(n) sorting and, in practice, O(n) search (O(n k) at worst).
inline Labels optimal_univariate(std::span<const double> values, std::int64_t k, Watch& watch) {
  const std::int64_t n = static_cast<std::int64_t>(values.size());
  if (n < 2 * k) return Labels(values.size(), 0);
  const Rows rows = sort_rows(values);
  std::vector<double> sorted(values.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = values[rows[i]];
  const std::vector<std::int64_t> starts =
      OptimalUnivariate(std::move(sorted), k, watch).boundaries();
  Labels labels(values.size());
  Label group = -1;
  std::size_t next = 0;
  for (std::int64_t at = 0; at < n; ++at) {
    if (next < starts.size() && starts[next] == at) {
      ++group;
      ++next;
    }
    labels[rows[at]] = group;
  }
  return by_first_appearance(labels);
}

}  // namespace microagg
