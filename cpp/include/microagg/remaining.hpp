// The remaining records behind three calls, by whichever engine is faster on the data at hand. Both
// give the same answers, so that no partition depends on the choice.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "microagg/neighbours.hpp"
#include "microagg/points.hpp"
#include "microagg/tree_neighbours.hpp"

namespace microagg {

enum class Engine {
  AUTO,
  BRUTE,
  TREE,  // for tests: wherever a tree can be, however slow
};

class Remaining {
 public:
  static constexpr Row NONE = -1;

  // `queries`: about how many will be asked while the records become fewer.
  Remaining(Points points, std::int64_t queries, Engine engine = Engine::AUTO)
      : points_(points), engine_(engine) {
    const bool wanted = engine == Engine::TREE || (engine == Engine::AUTO && pays(points, queries));
    if (wanted && TreeNeighbours::fits(points)) tree_.emplace(points);
    credit_ = CREDIT * static_cast<double>(points.n);
    if (!tree_) {
      brute_.emplace(points);
    } else if (!tree_->usable()) {
      give_up();
    }
  }

  std::int64_t size() const { return tree_ ? tree_->size() : brute_->size(); }
  bool contains(Row row) const { return tree_ ? tree_->contains(row) : brute_->contains(row); }

  void remove(Row row) {
    if (!tree_) {
      brute_->remove(row);
      return;
    }
    tree_->remove(row);
    if (!tree_->usable() || (engine_ == Engine::AUTO && tree_->size() < FEW)) give_up();
  }

  // The remaining record farthest from `query` (ties: lowest row), never `exclude`.
  Neighbour farthest(const double* query, Row exclude = NONE) {
    choose();
    return tree_ ? tree_->farthest(query, exclude) : brute_->farthest(query, exclude);
  }
  // The k remaining records nearest to `query`, nearest first (ties: lowest row first). Valid until
  // the next call.
  const std::vector<Neighbour>& k_nearest(const double* query, std::int64_t k) {
    choose();
    return tree_ ? tree_->k_nearest(query, k) : brute_->k_nearest(query, k);
  }
  const std::vector<Neighbour>& k_nearest_and_farthest(const double* query, std::int64_t k,
                                                       Neighbour& farthest) {
    choose();
    return tree_ ? tree_->k_nearest_and_farthest(query, k, farthest)
                 : brute_->k_nearest_and_farthest(query, k, farthest);
  }

 private:
  // Whether trees, should they be of no use, cost little beside what brute force takes: both in
  // nanoseconds, as measured.
  static bool pays(Points points, std::int64_t queries) {
    const auto n = static_cast<double>(points.n);
    const auto p = static_cast<double>(points.p);
    const double build = n * (100.0 + 8.0 * p + 0.5 * p * p);
    const double scans = static_cast<double>(queries) * n / 2.0 * (0.2 + 0.04 * p);
    return 8.0 * build < scans;
  }
  static constexpr std::int64_t FEW = 500;  // below, brute force is faster
  // How many full scans a tree may waste, and how many it may save up.
  static constexpr double CREDIT = 8.0;

  // Before each query: the tree earns what brute force would have cost and pays what it did itself.
  // Out of credit, it is built anew if records have gone that made the others look small, and given
  // up otherwise.
  void choose() {
    if (!tree_ || engine_ != Engine::AUTO) return;
    const auto scan = static_cast<double>(tree_->size());
    credit_ = std::min(credit_ + scan - (tree_->work() - paid_), CREDIT * scan);
    paid_ = tree_->work();
    if (credit_ < 0.0) give_up();
  }

  void give_up() {
    const Rows rows = tree_->rows();
    tree_.reset();
    brute_.emplace(points_, rows);
  }

  Points points_;
  Engine engine_;
  std::optional<TreeNeighbours> tree_;
  std::optional<BruteNeighbours> brute_;
  double credit_ = 0.0;
  double paid_ = 0.0;
};

}  // namespace microagg
