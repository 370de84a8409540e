// The remaining records behind three calls, by whichever engine is faster on the data at hand. Both
// give the same answers, so that no partition depends on the choice.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "microagg/neighbours.hpp"
#include "microagg/points.hpp"
#include "microagg/repeats.hpp"
#include "microagg/tree_neighbours.hpp"

namespace microagg {

enum class Engine {
  AUTO,
  BRUTE,
  TREE,  // for tests: wherever a tree can be, however slow
};

// Of equal records the engine knows but the lowest remaining row: n records at one place take no
// longer to search than one.
class Remaining {
 public:
  static constexpr Row NONE = -1;

  // Whether a search of n different records begins with a tree where so many queries will be asked
  // while they become fewer: it takes twice the memory.
  static bool begins_with_tree(std::int64_t n, std::int64_t p, std::int64_t queries) {
    const double scans = static_cast<double>(queries) * static_cast<double>(n) / 2.0;
    return TreeNeighbours::fits(n, p) && tree_pays(n, p, scans);
  }

  // `queries`: about how many will be asked while the records become fewer.
  Remaining(Points points, std::int64_t queries, Engine engine = Engine::AUTO)
      : points_(points),
        engine_(engine),
        here_(static_cast<std::size_t>(points.n), 1),
        size_(points.n) {
    if (queries >= MANY || engine == Engine::TREE) repeats_ = Repeats(points);
    const Rows rows = repeats_.any() ? repeats_.firsts() : all_rows();
    repeats_.forget_firsts();
    distinct_ = static_cast<std::int64_t>(rows.size());
    untried_ = engine != Engine::BRUTE && TreeNeighbours::fits(points.n, points.p);
    if (untried_ && (engine == Engine::TREE || begins_with_tree(distinct_, points.p, queries))) {
      plant(rows);
    } else {
      brute_.emplace(points, rows);
    }
  }

  std::int64_t size() const { return size_; }
  bool contains(Row row) const { return here_[row]; }

  // The lowest remaining row of each distinct record leads the others.
  bool leads(Row row) const { return tree_ ? tree_->contains(row) : brute_->contains(row); }
  // This row, or else the lowest remaining one among the equal rows after it; NONE if there is
  // none.
  Row successor(Row row) const {
    while (row != NONE && !here_[row]) row = repeats_.next(row);
    return row;
  }

  void remove(Row row) {
    here_[row] = 0;
    --size_;
    if (!leads(row)) return;
    const Row twin = successor(row);
    if (twin != NONE) {
      tree_ ? tree_->replace(row, twin) : brute_->replace(row, twin);
    } else if (brute_) {
      brute_->remove(row);
    } else {
      tree_->remove(row);
      if (!tree_->usable() || (engine_ == Engine::AUTO && tree_->size() < FEW)) fell();
    }
  }

  // The remaining record farthest from `query` (ties: lowest row).
  Neighbour farthest(const double* query) {
    choose();
    return tree_ ? tree_->farthest(query) : brute_->farthest(query);
  }
  // The k remaining records nearest to `query`, nearest first (ties: lowest row first). Valid until
  // the next call.
  const std::vector<Neighbour>& k_nearest(const double* query, std::int64_t k) {
    choose();
    return with_equals(tree_ ? tree_->k_nearest(query, k) : brute_->k_nearest(query, k), k);
  }
  const std::vector<Neighbour>& k_nearest_and_farthest(const double* query, std::int64_t k,
                                                       Neighbour& farthest) {
    choose();
    return with_equals(tree_ ? tree_->k_nearest_and_farthest(query, k, farthest)
                             : brute_->k_nearest_and_farthest(query, k, farthest),
                       k);
  }

 private:
  Rows all_rows() const {
    Rows rows(here_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Row>(i);
    return rows;
  }

  // The k nearest of all, given the k nearest of those that lead: who leads a record that is among
  // the k nearest is so too, being as near and lower.
  const std::vector<Neighbour>& with_equals(const std::vector<Neighbour>& leading, std::int64_t k) {
    if (!repeats_.any()) return leading;
    nearest_.reset(k);
    for (const Neighbour& lead : leading) {
      for (Row row = lead.row; row != NONE; row = successor(repeats_.next(row))) {
        if (!nearest_.offer({lead.distance, row})) break;  // nor would higher rows be taken
      }
    }
    return nearest_.sorted();
  }

  // Whether a tree of n records, should it be of no use, costs little beside brute force that looks
  // at so many records: both in nanoseconds, as measured.
  static bool tree_pays(std::int64_t n, std::int64_t attributes, double records) {
    const auto p = static_cast<double>(attributes);
    const double tree = 8.0 * static_cast<double>(n) * (100.0 + 8.0 * p + 0.5 * p * p);
    return tree < records * (0.2 + 0.04 * p);
  }
  static constexpr std::int64_t FEW = 500;  // below, brute force is faster
  static constexpr std::int64_t MANY = 64;  // queries that are worth looking for equal records
  // How many full scans a tree may waste, and how many it may save up.
  static constexpr double CREDIT = 8.0;

  // Before each query. Brute force that has gone on for longer than was expected is replaced by a
  // tree. A tree earns what brute force would have cost and pays what it did itself; out of credit,
  // it is given up for good.
  void choose() {
    if (engine_ != Engine::AUTO) return;
    if (tree_) {
      const auto scan = static_cast<double>(tree_->size());
      credit_ = std::min(credit_ + scan - (tree_->work() - paid_), CREDIT * scan);
      paid_ = tree_->work();
      if (credit_ < 0.0) fell();
    } else if (untried_) {
      scanned_ += static_cast<double>(brute_->size());
      const bool pays = tree_pays(distinct_, points_.p, scanned_);
      if (pays && brute_->size() >= FEW) plant(leading_rows());
    }
  }

  void plant(const Rows& rows) {
    untried_ = false;
    brute_.reset();
    tree_.emplace(points_, rows);
    credit_ = CREDIT * static_cast<double>(rows.size());
    if (!tree_->usable()) fell();
  }
  void fell() {
    const Rows rows = leading_rows();
    tree_.reset();
    brute_.emplace(points_, rows);
  }
  Rows leading_rows() const {
    Rows rows;
    for (Row row = 0; row < points_.n; ++row) {
      if (leads(row)) rows.push_back(row);
    }
    return rows;
  }

  Points points_;
  Engine engine_;
  Array<std::uint8_t> here_;
  std::int64_t size_;
  Repeats repeats_;
  std::optional<TreeNeighbours> tree_;
  std::optional<BruteNeighbours> brute_;
  bool untried_ = false;       // whether there may still be a tree
  std::int64_t distinct_ = 0;  // records at first
  double scanned_ = 0.0;       // by brute force
  double credit_ = 0.0;
  double paid_ = 0.0;
  Nearest nearest_;
};

}  // namespace microagg
