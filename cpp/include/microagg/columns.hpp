// Groups as columns of a linear program: their costs, and odd sets that cut off fractions of them.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "microagg/points.hpp"

namespace microagg {

// Sets of records one after the other, and how many each has.
struct RowSets {
  std::span<const Row> rows;
  std::span<const std::int64_t> sizes;

  template <class Visit>
  void for_each(Visit visit) const {
    const Row* row = rows.data();
    for (std::size_t set = 0; set < sizes.size(); ++set) {
      visit(set, std::span<const Row>{row, static_cast<std::size_t>(sizes[set])});
      row += sizes[set];
    }
  }
};

// The SSE of each group about its mean, from the distances of its pairs.
[[nodiscard]] inline Array<double> column_costs(Points points, const RowSets& columns) {
  MICROAGG_ASSERT(hold(points, columns.rows));
  Array<double> costs(columns.sizes.size());
  columns.for_each([&](std::size_t column, std::span<const Row> members) {
    double sum = 0.0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        sum += squared_distance(points.row(members[i]), points.row(members[j]), points.p);
      }
    }
    costs[column] = sum / static_cast<double>(members.size());
  });
  return costs;
}

// For each group and each cut of which it holds two records or more: the column, the cut, and half
// the number of its records, rounded down.
[[nodiscard]] inline Array<std::int64_t> columns_of_cuts(std::int64_t n, const RowSets& columns,
                                                         const RowSets& cuts) {
  std::vector<std::vector<std::int64_t>> cuts_of(static_cast<std::size_t>(n));
  cuts.for_each([&](std::size_t cut, std::span<const Row> rows) {
    for (const Row row : rows) cuts_of[row].push_back(static_cast<std::int64_t>(cut));
  });
  std::vector<std::int64_t> met(cuts.sizes.size(), 0);
  Array<std::int64_t> entries;
  columns.for_each([&](std::size_t column, std::span<const Row> members) {
    for (const Row row : members) {
      for (const std::int64_t cut : cuts_of[row]) ++met[cut];
    }
    for (const Row row : members) {
      for (const std::int64_t cut : cuts_of[row]) {
        if (met[cut] >= 2) {
          entries.insert(entries.end(), {static_cast<std::int64_t>(column), cut, met[cut] / 2});
        }
        met[cut] = 0;
      }
    }
  });
  return entries;
}

// Looks for odd sets S that fractional columns violate. The columns cover each record once, so that
// sum_C x_C floor(|C and S| / 2) = (|S| - sum of x_C over the C that hold an odd number of S) / 2,
// and a partition has (|S| - 1) / 2 at most: S is violated if its odd columns weigh less than 1.
// From every record, pairs of near records are added or taken away, always the best that was not
// changed lately.
class OddSets {
 public:
  // Columns with values between 0 and 1.
  OddSets(std::int64_t n, const RowSets& columns, std::span<const double> values,
          std::int64_t largest)
      : largest_(static_cast<std::size_t>(largest)),
        values_(values),
        columns_of_(static_cast<std::size_t>(n)),
        near_(static_cast<std::size_t>(n)),
        inside_(static_cast<std::size_t>(n), 0),
        changed_(static_cast<std::size_t>(n), -TABU),
        odd_(values.size(), 0) {
    columns.for_each([&](std::size_t column, std::span<const Row> members) {
      for (const Row row : members) {
        columns_of_[row].push_back(column);
        for (const Row other : members) near_[row].push_back(other);
      }
    });
    for (auto& rows : near_) {
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    }
  }

  struct Found {
    double weight;
    std::vector<Row> rows;
  };
  // Those found with odd columns below `below`, each once, the lightest first.
  [[nodiscard]] std::vector<Found> run(double below) {
    found_.clear();
    for (std::size_t row = 0; row < near_.size(); ++row) {
      if (!near_[row].empty()) search(static_cast<Row>(row), below);
    }
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return a.rows != b.rows ? a.rows < b.rows : a.weight < b.weight;
    });
    const auto same = [](const Found& a, const Found& b) { return a.rows == b.rows; };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.weight < b.weight; });
    return std::move(found_);
  }

 private:
  static constexpr std::int64_t STEPS = 12;
  static constexpr std::int64_t TABU = 3;

  void search(Row first, double below) {
    set_.clear();
    weight_ = 0.0;
    flip(first);
    for (step_ = 0; step_ < STEPS; ++step_) {
      double best = 1e300;
      Row best_one = -1;
      Row best_other = -1;
      around_.clear();
      for (const Row row : set_) {
        around_.insert(around_.end(), near_[row].begin(), near_[row].end());
      }
      std::sort(around_.begin(), around_.end());
      around_.erase(std::unique(around_.begin(), around_.end()), around_.end());
      for (const Row one : around_) {
        if (is_tabu(one)) continue;
        const double with_one = flip(one);
        for (const Row other : near_[one]) {
          if (other == one || is_tabu(other)) continue;
          const std::size_t size = set_.size() + (inside_[other] ? std::size_t(-1) : 1);
          if (size > largest_ || size < 3) continue;
          const double weight = with_one + change(other);
          if (weight < best - 1e-12) {
            best = weight;
            best_one = one;
            best_other = other;
          }
        }
        flip(one);
      }
      if (best_one < 0) break;
      flip(best_one);
      flip(best_other);
      changed_[best_one] = changed_[best_other] = step_;
      if (weight_ < below) keep();
    }
    while (!set_.empty()) flip(set_.back());
    for (const Row row : touched_) changed_[row] = -TABU;
    touched_.clear();
  }
  bool is_tabu(Row row) {
    touched_.push_back(row);
    return step_ - changed_[row] < TABU;
  }
  // What the weight of the odd columns would change by.
  double change(Row row) const {
    double sum = 0.0;
    for (const std::size_t column : columns_of_[row]) {
      sum += odd_[column] ? -values_[column] : values_[column];
    }
    return sum;
  }
  // The record joins or leaves the set; the weight after that.
  double flip(Row row) {
    weight_ += change(row);
    for (const std::size_t column : columns_of_[row]) odd_[column] = !odd_[column];
    inside_[row] = !inside_[row];
    if (inside_[row]) {
      set_.push_back(row);
    } else {
      set_.erase(std::find(set_.begin(), set_.end(), row));
    }
    return weight_;
  }
  void keep() {
    found_.push_back({weight_, set_});
    std::sort(found_.back().rows.begin(), found_.back().rows.end());
  }

  std::size_t largest_;
  std::span<const double> values_;
  std::vector<std::vector<std::size_t>> columns_of_;
  std::vector<std::vector<Row>> near_;
  std::vector<char> inside_;
  std::vector<std::int64_t> changed_;  // at which step
  std::vector<char> odd_;              // per column
  std::vector<Row> set_;
  std::vector<Row> around_;
  std::vector<Row> touched_;
  double weight_ = 0.0;
  std::int64_t step_ = 0;
  std::vector<Found> found_;
};

}  // namespace microagg
