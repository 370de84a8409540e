// Square assignment problems in which a row knows only a few columns: every row gets one column,
// every column one row, and the sum of the costs is the least. Solved by shortest augmenting paths
// (Jonker and Volgenant 1987).
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class SparseAssignment {
 public:
  // An assignment must exist, as it does where every row knows the column of its own number.
  SparseAssignment(std::int64_t size, std::int64_t most_arcs)
      : size_(size),
        stride_(most_arcs),
        arcs_(static_cast<std::size_t>(size * most_arcs)),
        counts_(static_cast<std::size_t>(size)),
        price_(static_cast<std::size_t>(size)),
        row_of_(static_cast<std::size_t>(size)),
        arc_of_(static_cast<std::size_t>(size)),
        distance_(static_cast<std::size_t>(size)),
        before_(static_cast<std::size_t>(size)),
        reached_(static_cast<std::size_t>(size), 0),
        scanned_in_(static_cast<std::size_t>(size), 0) {}

  struct Arc {
    double cost;
    Row column;
  };

  void clear() { std::fill(counts_.begin(), counts_.end(), 0); }
  // A row's arcs lead to different columns.
  void add(Row row, Row column, double cost) {
    arcs_[row * stride_ + counts_[row]++] = {cost, column};
  }
  std::span<const Arc> arcs(Row row) const {
    return {arcs_.data() + row * stride_, static_cast<std::size_t>(counts_[row])};
  }
  // Of the solution.
  Row column_of(Row row) const { return arcs_[row * stride_ + arc_of_[row]].column; }

  double cost_of(Row row) const { return own_arc(row).cost; }

  void solve(Poll& poll) {
    reduce();
    // Most rows find their column without a search. Eight passes are quicker than two or four.
    for (int pass = 0; pass < 8 && !free_.empty(); ++pass) reduce_further(poll);
    for (const Row row : free_) augment(row, poll);
  }

 private:
  static constexpr Row NONE = -1;
  static constexpr double FAR = std::numeric_limits<double>::infinity();

  double reduced(const Arc& arc) const { return arc.cost - price_[arc.column]; }
  const Arc& own_arc(Row row) const { return arcs_[row * stride_ + arc_of_[row]]; }
  void take(Row row, Row arc) {
    arc_of_[row] = arc;
    row_of_[arcs_[row * stride_ + arc].column] = row;
  }

  // Prices such that no arc costs less; rows take a column that costs nothing more, if it is free.
  void reduce() {
    std::fill(price_.begin(), price_.end(), FAR);
    std::fill(row_of_.begin(), row_of_.end(), NONE);
    for (Row row = 0; row < size_; ++row) {
      for (const Arc& arc : arcs(row)) price_[arc.column] = std::min(price_[arc.column], arc.cost);
    }
    free_.clear();
    for (Row row = 0; row < size_; ++row) {
      const auto [least, second] = two_least(row);
      if (row_of_[arcs(row)[least.arc].column] == NONE) {
        take(row, least.arc);
      } else {
        free_.push_back(row);
      }
    }
  }

  struct Least {
    double cost;
    Row arc;
  };
  std::pair<Least, Least> two_least(Row row) const {
    Least least{FAR, NONE};
    Least second{FAR, NONE};
    const std::span<const Arc> all = arcs(row);
    for (std::size_t a = 0; a < all.size(); ++a) {
      const double cost = reduced(all[a]);
      if (cost < least.cost) {
        second = least;
        least = {cost, static_cast<Row>(a)};
      } else if (cost < second.cost) {
        second = {cost, static_cast<Row>(a)};
      }
    }
    return {least, second};
  }

  // A free row takes its cheapest column and lowers the price of it to where the second is as
  // cheap; the row that had it goes on in its place.
  void reduce_further(Poll& poll) {
    still_free_.clear();
    std::int64_t chances = 4 * static_cast<std::int64_t>(free_.size());
    for (std::size_t next = 0; next < free_.size(); ++next) {
      Row row = free_[next];
      while (row != NONE) {
        poll.tick(stride_);
        auto [least, second] = two_least(row);
        const bool strict = least.cost < second.cost && second.arc != NONE;
        Row column = arcs(row)[least.arc].column;
        Row other = row_of_[column];
        if (strict) {
          price_[column] -= second.cost - least.cost;
        } else if (other != NONE && second.arc != NONE) {
          least = second;  // as cheap, and perhaps free
          column = arcs(row)[least.arc].column;
          other = row_of_[column];
        }
        if (other == NONE) {
          take(row, least.arc);
          row = NONE;
        } else if (strict && --chances > 0) {
          take(row, least.arc);
          row = other;
        } else if (strict) {
          take(row, least.arc);
          still_free_.push_back(other);
          row = NONE;
        } else {
          still_free_.push_back(row);
          row = NONE;
        }
      }
    }
    free_.swap(still_free_);
  }

  struct Entry {
    double distance;
    Row column;
    bool operator<(const Entry& other) const {  // a heap's top is its largest
      return distance != other.distance ? distance > other.distance : column > other.column;
    }
  };

  // The shortest path from a free row over rows that change their columns to a free column.
  void augment(Row start, Poll& poll) {
    ++search_;
    heap_.clear();
    scanned_.clear();
    double limit = FAR;  // distance of the nearest free column met so far
    Row end = NONE;
    relax(start, 0.0, limit, end);
    while (!heap_.empty()) {
      const Entry nearest = heap_.front();
      if (!(nearest.distance < limit)) break;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      if (scanned_in_[nearest.column] == search_) continue;  // by a shorter way
      scanned_in_[nearest.column] = search_;
      poll.tick(stride_);
      scanned_.push_back(nearest.column);
      const Row row = row_of_[nearest.column];
      relax(row, nearest.distance - reduced(own_arc(row)), limit, end);
    }
    for (const Row column : scanned_) price_[column] += distance_[column] - limit;
    for (Row row = NONE; row != start;) {
      row = row_of_arc(before_[end]);
      const Row left = row == start ? NONE : own_arc(row).column;
      take(row, static_cast<Row>(before_[end] - row * stride_));
      end = left;
    }
  }
  Row row_of_arc(std::int64_t arc) const { return static_cast<Row>(arc / stride_); }
  // Columns that the row reaches at this distance more than its reduced costs.
  void relax(Row row, double distance, double& limit, Row& end) {
    const std::span<const Arc> all = arcs(row);
    for (std::size_t a = 0; a < all.size(); ++a) {
      const Row column = all[a].column;
      const double to = distance + reduced(all[a]);
      if (!(to < limit)) continue;
      // Rounding may make a way back look shorter by a last digit.
      if (scanned_in_[column] == search_) continue;
      if (reached_[column] == search_ && !(to < distance_[column])) continue;
      reached_[column] = search_;
      distance_[column] = to;
      before_[column] = row * stride_ + static_cast<std::int64_t>(a);
      if (row_of_[column] == NONE) {
        limit = to;
        end = column;
      } else {
        heap_.push_back({to, column});
        std::push_heap(heap_.begin(), heap_.end());
      }
    }
  }

  std::int64_t size_;
  std::int64_t stride_;
  std::vector<Arc> arcs_;
  std::vector<Row> counts_;
  std::vector<double> price_;  // of a column
  std::vector<Row> row_of_;    // of a column
  std::vector<Row> arc_of_;    // of a row: which of its arcs
  std::vector<Row> free_;
  std::vector<Row> still_free_;
  std::vector<double> distance_;
  std::vector<std::int64_t> before_;      // the arc by which a column was reached
  std::vector<std::int64_t> reached_;     // in which search, of a column
  std::vector<std::int64_t> scanned_in_;  // likewise
  std::int64_t search_ = 0;
  std::vector<Entry> heap_;
  std::vector<Row> scanned_;
};

}  // namespace microagg
