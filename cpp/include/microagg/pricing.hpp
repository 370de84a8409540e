// All groups that are cheap at given prices: the pricing problem of column generation, solved
// exactly.
//
// A price ("dual") pi_i for each record and a multiplier mu_S >= 0 for each of some odd sets S
// ("cuts"), and a charge F >= 0 on every group, give a group C of m records the reduced cost
//
//     rc(C) = w_C - sum_{i in C} pi_i + sum_S mu_S floor(|C and S| / 2) + F,
//     w_C = (1/m) sum of D_ij over the pairs of C.
//
// The search looks for rc(C) - F < t - F. In what follows, rc and t are without F.
//
// With pair weights omega_ij = D_ij - (pi_i + pi_j) m/(m-1), m rc(C) is their sum over the pairs,
// apart from the cuts, which only add. Taking away the record whose star (the sum of its pairs'
// weights) is the largest never raises the mean weight of a pair. So every group with rc(C) < t
// grows from one record by steps whose sets have a mean below 2t/(m-1) and whose last record has
// the largest star: each group is met along one path. What can still come is bounded below by
//
//     m rc >= (pairs so far - m prices + cuts) + sum over the records to come of
//             (D to those so far - m price + its part of the distances to its nearest
//              + half its cuts),
//
// where the distance between two of them is parted between them, in proportion to their prices,
// and a cut of which the members hold an odd number is counted half for each of its records.
// Candidates that fail this with the cheapest company leave for good.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "microagg/columns.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

struct Prices {
  std::span<const double> duals;  // per record
  RowSets cuts;
  std::span<const double> multipliers;  // per cut, not negative
  double charge = 0.0;                  // on every group, not negative
};

// Pairs that branching keeps apart or together: two records each.
struct Branches {
  std::span<const Row> apart;
  std::span<const Row> together;
};

struct PricedColumns {
  Array<Row> members;         // ascending in each column
  Array<std::int64_t> sizes;  // of the columns
  Array<double> costs;        // reduced
  // Per record: the least of 0 and rc(C)/|C| over the groups that hold it.
  Array<double> least;
  bool complete = true;  // false: the work or the number of columns ran out
};

class Pricing {
 public:
  // O(n^2) memory.
  Pricing(Points points, std::int64_t k)
      : n_(points.n),
        k_(k),
        distances_(static_cast<std::size_t>(n_ * n_)),
        nearest_(static_cast<std::size_t>(n_ * 2 * k)) {
    MICROAGG_ASSERT(k >= 2 && n_ >= k);
    for (Row i = 0; i < n_; ++i) {
      for (Row j = 0; j < i; ++j) {
        const double d = squared_distance(points.row(i), points.row(j), points.p);
        distances_[at(i, j)] = distances_[at(j, i)] = d;
      }
    }
  }

  // Groups of k to 2k-1 records with a reduced cost below `below`. With `every`, every one; else
  // only those that were the cheapest so far for one of their records. Stops after `most_columns`
  // or `most_work` candidates looked at, and goes on with the next record after `most_of_one` from
  // one: prices far from right leave too many groups, and some for each record are better than all
  // for a few.
  [[nodiscard]] PricedColumns run(const Prices& prices, const Branches& branches, double below,
                                  bool every, std::int64_t most_columns, std::int64_t most_work,
                                  std::int64_t most_of_one, Watch& watch) {
    MICROAGG_ASSERT(static_cast<std::int64_t>(prices.duals.size()) == n_);
    MICROAGG_ASSERT(prices.charge >= 0.0);
    prices_ = prices.duals;
    charge_ = prices.charge;
    below_ = below - charge_;
    every_ = every;
    most_columns_ = static_cast<std::size_t>(most_columns);
    work_left_ = most_work_ = most_work;
    stopped_ = false;
    found_ = {};
    found_.least.assign(static_cast<std::size_t>(n_), 0.0);
    members_.clear();  // where the last run was broken off
    take_cuts(prices);
    take_branches(branches);
    sum_nearest();
    Poll poll(watch, 1'000'000, Deadline::HEED);
    poll_ = &poll;
    try {
      for (m_ = k_; m_ < std::min(2 * k_, n_ + 1) && !stopped_; ++m_) {
        for (Row first = 0; first < n_ && !stopped_; ++first) {
          left_for_one_ = most_of_one;
          grow_from(first);
        }
      }
    } catch (const DeadlinePassed&) {
      found_.complete = false;
    } catch (const Cancelled&) {
      found_.complete = false;
    }
    release_branches(branches);
    return std::move(found_);
  }

  // Candidates that the last run looked at.
  std::int64_t work() const { return most_work_ - work_left_; }

 private:
  struct Candidate {
    Row row;
    double distances;  // to the members so far
  };
  // A set on its way to a group.
  struct Level {
    std::vector<Candidate> candidates;
    std::vector<double> values;
    std::vector<double> stars;  // of the members
  };

  std::size_t at(Row i, Row j) const { return static_cast<std::size_t>(i) * n_ + j; }
  double distance(Row i, Row j) const { return distances_[at(i, j)]; }
  // The sum of the record's `count` smallest parts of distances.
  double nearest(Row row, std::int64_t count) const {
    return nearest_[row * 2 * k_ + std::min(count, n_ - 1)];
  }

  void sum_nearest() {
    double dearest = 0.0;
    for (const double price : prices_) dearest = std::max(dearest, price);
    std::vector<double> weights(static_cast<std::size_t>(n_), 1.0);
    if (dearest > 0.0) {
      for (Row i = 0; i < n_; ++i) weights[i] = std::max(prices_[i], 1e-6 * dearest);
    }
    std::vector<double> parts(static_cast<std::size_t>(n_));
    const std::int64_t most = std::min(2 * k_ - 1, n_ - 1);
    for (Row i = 0; i < n_; ++i) {
      for (Row j = 0; j < n_; ++j) {
        parts[j] = distance(i, j) * (weights[i] / (weights[i] + weights[j]));
      }
      parts[i] = std::numeric_limits<double>::infinity();
      std::partial_sort(parts.begin(), parts.begin() + most, parts.end());
      double sum = 0.0;  // ascending, so that rounding keeps the order of sums
      nearest_[i * 2 * k_] = 0.0;
      for (std::int64_t count = 1; count <= most; ++count) {
        sum += parts[count - 1];
        nearest_[i * 2 * k_ + count] = sum;
      }
    }
  }

  void take_cuts(const Prices& prices) {
    multipliers_ = prices.multipliers;
    cuts_of_.assign(static_cast<std::size_t>(n_), {});
    cuts_.assign(multipliers_.size(), {});
    due_.assign(static_cast<std::size_t>(n_), 0.0);
    changed_.clear();
    prices.cuts.for_each([&](std::size_t cut, std::span<const Row> rows) {
      if (multipliers_[cut] <= 0.0) return;
      cuts_[cut] = rows;
      for (const Row row : rows) cuts_of_[row].push_back(cut);
    });
    met_.assign(multipliers_.size(), 0);
  }
  void take_branches(const Branches& branches) {
    for (std::size_t pair = 0; pair < branches.apart.size(); pair += 2) {
      const Row i = branches.apart[pair];
      const Row j = branches.apart[pair + 1];
      kept_.push_back(distance(i, j));
      distances_[at(i, j)] = distances_[at(j, i)] = std::numeric_limits<double>::infinity();
    }
    partners_.assign(static_cast<std::size_t>(n_), {});
    for (std::size_t pair = 0; pair < branches.together.size(); pair += 2) {
      partners_[branches.together[pair]].push_back(branches.together[pair + 1]);
      partners_[branches.together[pair + 1]].push_back(branches.together[pair]);
    }
  }
  void release_branches(const Branches& branches) {
    for (std::size_t pair = branches.apart.size(); pair > 0; pair -= 2) {
      const Row i = branches.apart[pair - 2];
      const Row j = branches.apart[pair - 1];
      distances_[at(i, j)] = distances_[at(j, i)] = kept_.back();
      kept_.pop_back();
    }
  }

  void grow_from(Row first) {
    factor_ = static_cast<double>(m_) / static_cast<double>(m_ - 1);
    levels_.resize(static_cast<std::size_t>(m_ + 1));
    std::vector<Candidate>& all = levels_[0].candidates;
    all.clear();
    for (Row row = 0; row < n_; ++row) {
      if (row != first) all.push_back({row, 0.0});
    }
    levels_[0].stars.assign(1, 0.0);
    add(first);
    grow(0, -static_cast<double>(m_) * prices_[first], 0.0,
         std::abs(static_cast<double>(m_) * prices_[first]));
    remove();
  }

  bool is_broken_off() const { return stopped_ || left_for_one_ < 0; }

  // `base`: pairs - m prices + m cuts of the members; `weight`: of their pairs; `size`: the terms
  // of both without signs, against which rounding is small.
  void grow(std::size_t depth, double base, double weight, double size) {
    const Level& above = levels_[depth];
    Level& level = levels_[depth + 1];
    const Row last = members_.back();
    const double m = static_cast<double>(m_);
    const std::int64_t left = m_ - static_cast<std::int64_t>(members_.size());
    const double limit = m * below_;
    const std::size_t count = above.candidates.size();
    work_left_ -= static_cast<std::int64_t>(count);
    left_for_one_ -= static_cast<std::int64_t>(count);
    if (work_left_ < 0) stopped_ = true;
    if (work_left_ < 0 || left_for_one_ < 0) found_.complete = false;
    poll_->tick(static_cast<std::int64_t>(count));
    if (is_broken_off()) return;

    // The values of the candidates, and the smallest of them.
    level.candidates.resize(count);
    level.values.resize(count);
    const double share = left == 1 ? m : 0.5 * m;  // of a cut's multiplier
    const double* row = distances_.data() + at(last, 0);
    std::size_t kept = 0;
    for (const auto& [other, so_far] : above.candidates) {
      if (other == last) continue;
      const double to_members = so_far + row[other];
      level.candidates[kept] = {other, to_members};
      level.values[kept++] =
          to_members - m * prices_[other] + nearest(other, left - 1) + share * due_[other];
    }
    if (static_cast<std::int64_t>(kept) < left) return;
    level.values.resize(kept);
    double company = 0.0;  // of the cheapest left - 1
    double next = 0.0;     // the cheapest after those
    if (left > 1) {
      smallest_.assign(level.values.begin(), level.values.end());
      const auto end = smallest_.begin() + left;
      std::partial_sort(smallest_.begin(), end, smallest_.end());
      for (auto value = smallest_.begin(); value != end - 1; ++value) company += *value;
      next = *(end - 1);
      if (base + company + next >= limit) return;
    }
    kept = 0;
    for (std::size_t c = 0; c < level.values.size(); ++c) {
      const double best = left > 1 ? company + std::max(level.values[c], next) : level.values[c];
      if (base + best < limit) {
        level.candidates[kept] = level.candidates[c];
        level.values[kept++] = level.values[c];
      }
    }
    level.candidates.resize(kept);
    if (static_cast<std::int64_t>(kept) < left || !partners_can_come(left)) return;

    double prices = 0.0;
    for (const Row member : members_) prices += prices_[member];
    const double members = static_cast<double>(members_.size());
    const double most_weight = below_ * members * (members + 1.0) / (m - 1.0);
    for (std::size_t c = 0; c < kept && !is_broken_off(); ++c) {
      const auto [candidate, to_members] = level.candidates[c];
      const double star = to_members - factor_ * (prices + members * prices_[candidate]);
      const double terms = size + to_members + m * std::abs(prices_[candidate]);
      if (weight + star > most_weight + ROUNDING * terms) continue;
      if (!comes_last(candidate, star, above.stars, level.stars, ROUNDING * terms)) continue;
      if (left == 1) {
        take(candidate, base + level.values[c]);
        continue;
      }
      const double due = m * due_[candidate];
      add(candidate);
      grow(depth + 1, base + to_members - m * prices_[candidate] + due, weight + star, terms);
      remove();
    }
  }

  // Whether the candidate would have the largest star; where rounding decides, yes, for a group met
  // twice is better than one never met. `stars` of the members become `stars_after`.
  bool comes_last(Row candidate, double star, const std::vector<double>& stars,
                  std::vector<double>& stars_after, double rounding) const {
    stars_after.clear();
    for (std::size_t place = 0; place < members_.size(); ++place) {
      const Row member = members_[place];
      const double other = stars[place] + distance(member, candidate) -
                           factor_ * (prices_[member] + prices_[candidate]);
      if (other > star + rounding || (other == star && member > candidate)) return false;
      stars_after.push_back(other);
    }
    stars_after.push_back(star);
    return true;
  }

  void add(Row row) {
    members_.push_back(row);
    for (const std::size_t cut : cuts_of_[row]) {
      const double change = met_[cut]++ % 2 == 0 ? multipliers_[cut] : -multipliers_[cut];
      for (const Row other : cuts_[cut]) {
        changed_.push_back({other, due_[other]});
        due_[other] += change;
      }
    }
  }
  void remove() {
    const std::vector<std::size_t>& cuts = cuts_of_[members_.back()];
    for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
      --met_[*cut];
      for (std::size_t count = cuts_[*cut].size(); count > 0; --count) {
        due_[changed_.back().row] = changed_.back().due;  // as it was: subtracting would round
        changed_.pop_back();
      }
    }
    members_.pop_back();
  }

  bool is_member(Row row) const {
    return std::find(members_.begin(), members_.end(), row) != members_.end();
  }
  // Records that must be together with members have room.
  bool partners_can_come(std::int64_t left) {
    missing_.clear();
    for (const Row member : members_) {
      for (const Row partner : partners_[member]) {
        if (!is_member(partner)) missing_.push_back(partner);
      }
    }
    std::sort(missing_.begin(), missing_.end());
    return std::unique(missing_.begin(), missing_.end()) - missing_.begin() <= left;
  }

  void take(Row last, double sum) {
    group_.assign(members_.begin(), members_.end());
    group_.push_back(last);
    for (const Row member : group_) {
      for (const Row partner : partners_[member]) {
        if (partner != last && !is_member(partner)) return;
      }
    }
    const double cost = sum / static_cast<double>(m_) + charge_;
    const double share = cost / static_cast<double>(m_);
    bool cheapest = every_;
    for (const Row member : group_) {
      if (share < found_.least[member]) {
        found_.least[member] = share;
        cheapest = true;
      }
    }
    if (!cheapest) return;
    if (found_.sizes.size() == most_columns_) {
      stopped_ = true;
      found_.complete = false;
      return;
    }
    std::sort(group_.begin(), group_.end());
    found_.members.insert(found_.members.end(), group_.begin(), group_.end());
    found_.sizes.push_back(m_);
    found_.costs.push_back(cost);
  }

  // Relative to the terms that are added, with a wide margin: a few hundred of them at most.
  static constexpr double ROUNDING = 1e-12;

  std::int64_t n_;
  std::int64_t k_;
  Array<double> distances_;
  Array<double> nearest_;

  // Of one run:
  std::span<const double> prices_;
  std::span<const double> multipliers_;
  double charge_ = 0.0;
  double below_ = 0.0;  // without the charge
  bool every_ = false;
  std::size_t most_columns_ = 0;
  std::int64_t most_work_ = 0;
  std::int64_t work_left_ = 0;
  std::int64_t left_for_one_ = 0;  // of the work, for groups that grow from the present record
  bool stopped_ = false;
  Poll* poll_ = nullptr;
  PricedColumns found_;
  std::vector<std::vector<std::size_t>> cuts_of_;
  std::vector<std::span<const Row>> cuts_;
  std::vector<double> kept_;  // distances of pairs kept apart
  std::vector<std::vector<Row>> partners_;

  // Of one path:
  std::int64_t m_ = 0;
  double factor_ = 0.0;
  std::vector<Level> levels_;
  std::vector<Row> members_;
  std::vector<int> met_;  // per cut: its records among the members
  // Per record: the multipliers that become due when it joins the members, of the cuts of which
  // these hold an odd number; and what it was before each change.
  struct Due {
    Row row;
    double due;
  };
  std::vector<double> due_;
  std::vector<Due> changed_;
  std::vector<double> smallest_;
  std::vector<Row> missing_;
  std::vector<Row> group_;
};

}  // namespace microagg
