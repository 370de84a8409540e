// k-means whose groups have at least k records each.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "microagg/live_groups.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// The assignment of records to centres of least total cost among those with at least k records a
// centre. Every record begins at its cheapest centre; while a centre has too few, one record comes
// by the cheapest chain of moves from a centre that has more than k: successive shortest paths.
// Moves of a chain may have negative costs, so paths are found by Bellman and Ford's method.
class SizedAssignment {
 public:
  // `costs`: a row for each record, a column for each centre. Needs k records a centre or more.
  void run(std::span<const double> costs, std::int64_t centres, std::int64_t k, Poll& poll) {
    costs_ = costs;
    centres_ = static_cast<Label>(centres);
    k_ = k;
    const std::int64_t n = static_cast<std::int64_t>(costs.size()) / centres;
    group_of_.resize(static_cast<std::size_t>(n));
    members_.resize(static_cast<std::size_t>(centres));
    for (auto& members : members_) members.clear();
    largest_ = 0.0;
    for (Row row = 0; row < n; ++row) {
      const double* own = costs.data() + row * centres;
      const auto nearest = static_cast<Label>(std::min_element(own, own + centres) - own);
      group_of_[row] = nearest;
      members_[nearest].push_back(row);
      largest_ = std::max(largest_, *std::max_element(own, own + centres));
    }
    poll.tick(2 * n * centres);
    if (std::none_of(members_.begin(), members_.end(), [&](const auto& m) { return lacks(m); }))
      return;
    moves_.assign(static_cast<std::size_t>(centres * centres), Move{});
    for (Label from = 0; from < centres_; ++from) find_moves(from);
    for (Label to = 0; to < centres_; ++to) {
      while (lacks(members_[to])) {
        find_path(to);
        for (const Step& step : path_) give(step.row, step.to);
        for (const Step& step : path_) find_moves(step.from);
        find_moves(to);
        poll.tick(static_cast<std::int64_t>(members_[to].size() + 2 * path_.size()) * centres +
                  2 * centres * centres);
      }
    }
  }

  std::span<const Label> groups() const { return group_of_; }
  const std::vector<std::vector<Row>>& members() const { return members_; }

 private:
  static constexpr double NOTHING = std::numeric_limits<double>::infinity();
  struct Move {
    double cost = NOTHING;
    Row row = -1;
  };
  struct Step {
    Row row;
    Label from;
    Label to;
  };

  bool lacks(const std::vector<Row>& members) const {
    return static_cast<std::int64_t>(members.size()) < k_;
  }
  bool can_give(Label group) const {
    return static_cast<std::int64_t>(members_[group].size()) > k_;
  }
  const Move& move(Label from, Label to) const { return moves_[from * centres_ + to]; }

  // The record of a group that goes to each other group at the least cost.
  void find_moves(Label from) {
    Move* const moves = moves_.data() + from * centres_;
    std::fill(moves, moves + centres_, Move{});
    for (const Row row : members_[from]) {
      const double* costs = costs_.data() + static_cast<std::int64_t>(row) * centres_;
      for (Label to = 0; to < centres_; ++to) {
        const double cost = costs[to] - costs[from];
        if (cost < moves[to].cost || (cost == moves[to].cost && row < moves[to].row))
          moves[to] = {cost, row};
      }
    }
  }

  // The cheapest chain of moves that ends in `to`, last move first, into `path_`.
  void find_path(Label to) {
    // No chain of moves leads back to where it began at a gain: what looks like one is rounding.
    const double rounding = 1e-12 * largest_;
    reached_.assign(static_cast<std::size_t>(centres_), NOTHING);
    before_.assign(static_cast<std::size_t>(centres_), -1);
    for (Label group = 0; group < centres_; ++group) {
      if (can_give(group)) reached_[group] = 0.0;
    }
    bool changed = true;
    for (Label round = 0; changed && round < centres_; ++round) {
      changed = false;
      for (Label from = 0; from < centres_; ++from) {
        if (reached_[from] == NOTHING) continue;
        for (Label next = 0; next < centres_; ++next) {
          if (next == from || move(from, next).row < 0) continue;
          const double cost = reached_[from] + move(from, next).cost;
          if (reached_[next] == NOTHING || cost < reached_[next] - rounding) {
            reached_[next] = cost;
            before_[next] = from;
            changed = true;
          }
        }
      }
    }
    path_.clear();
    for (Label at = to; before_[at] >= 0 && static_cast<Label>(path_.size()) < centres_;
         at = before_[at]) {
      path_.push_back({move(before_[at], at).row, before_[at], at});
    }
    if (before_[path_.back().from] < 0) return;
    // Rounding has closed a circle after all: the cheapest single move will do.
    Label best = -1;
    for (Label from = 0; from < centres_; ++from) {
      if (can_give(from) && (best < 0 || move(from, to).cost < move(best, to).cost)) best = from;
    }
    path_.assign({{move(best, to).row, best, to}});
  }

  void give(Row row, Label to) {
    std::vector<Row>& from = members_[group_of_[row]];
    *std::find(from.begin(), from.end(), row) = from.back();
    from.pop_back();
    members_[to].push_back(row);
    group_of_[row] = to;
  }

  std::span<const double> costs_;
  Label centres_ = 0;
  std::int64_t k_ = 0;
  double largest_ = 0.0;
  std::vector<Label> group_of_;
  std::vector<std::vector<Row>> members_;
  std::vector<Move> moves_;
  std::vector<double> reached_;
  std::vector<Label> before_;
  std::vector<Step> path_;
};

// k-means of some records with at least k in each group, and the halving of groups with 2k or more.
class SizedMeans {
 public:
  // `values`: `width` numbers a record, a multiple of SUM_LANES.
  SizedMeans(std::span<const double> values, std::int64_t width, std::int64_t k)
      : values_(values), width_(width), k_(k) {}

  // `rounds` times: the records to these centres, by squared distance, then the centres to the
  // means. The rows' groups are then found in `groups`.
  void run(std::span<const Row> rows, std::vector<double>& centres, std::int64_t rounds,
           Poll& poll) {
    const std::int64_t count = static_cast<std::int64_t>(centres.size()) / width_;
    costs_.resize(rows.size() * static_cast<std::size_t>(count));
    for (std::int64_t round = 0; round < rounds; ++round) {
      double* next = costs_.data();
      for (const Row row : rows) {
        for (std::int64_t c = 0; c < count; ++c) {
          *next++ = distance(record(row), centres.data() + c * width_);
        }
      }
      poll.tick(static_cast<std::int64_t>(costs_.size()) * width_ / SUM_LANES);
      assignment_.run(costs_, count, k_, poll);
      for (std::int64_t c = 0; c < count; ++c) {
        mean(rows, assignment_.members()[c], centres.data() + c * width_);
      }
    }
  }
  std::span<const Label> groups() const { return assignment_.groups(); }

  // The rows in two groups: the first centres are the record farthest from the mean and the record
  // farthest from that.
  void halve(std::span<const Row> rows, Poll& poll) {
    halves_.assign(static_cast<std::size_t>(2 * width_), 0.0);
    for (const Row row : rows) {
      for (std::int64_t a = 0; a < width_; ++a) halves_[a] += record(row)[a];
    }
    for (std::int64_t a = 0; a < width_; ++a) halves_[a] /= static_cast<double>(rows.size());
    const Row first = farthest(rows, halves_.data());
    const Row second = farthest(rows, record(first));
    std::copy(record(first), record(first) + width_, halves_.begin());
    std::copy(record(second), record(second) + width_, halves_.begin() + width_);
    run(rows, halves_, ROUNDS_OF_HALVING, poll);
  }

  double distance(const double* x, const double* y) const {
    return lane_sum(width_, [=](std::int64_t a) {
      const double d = x[a] - y[a];
      return d * d;
    });
  }
  const double* record(Row row) const { return values_.data() + row * width_; }

 private:
  static constexpr std::int64_t ROUNDS_OF_HALVING = 5;

  Row farthest(std::span<const Row> rows, const double* from) const {
    Row found = rows[0];
    double most = -1.0;
    for (const Row row : rows) {
      const double d = distance(record(row), from);
      if (d > most) {
        most = d;
        found = row;
      }
    }
    return found;
  }
  void mean(std::span<const Row> rows, const std::vector<Row>& members, double* centre) const {
    std::fill(centre, centre + width_, 0.0);
    for (const Row member : members) {
      for (std::int64_t a = 0; a < width_; ++a) centre[a] += record(rows[member])[a];
    }
    for (std::int64_t a = 0; a < width_; ++a) centre[a] /= static_cast<double>(members.size());
  }

  std::span<const double> values_;
  std::int64_t width_;
  std::int64_t k_;
  std::vector<double> costs_;
  std::vector<double> halves_;
  SizedAssignment assignment_;
};

}  // namespace microagg
