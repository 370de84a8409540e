// k-Ward (CMP98, Algorithm 1): Ward's hierarchical joining, stopped when every group has k records.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/farthest_pair.hpp"
#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/remaining.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Which records form the two groups to begin with.
enum class Extremes {
  VALUES,    // the k first and the k last in the order of given values
  DISTANCE,  // around the two most distant records, growing towards the centroid; lower row first
  DISTANCE_SWAP,   // the same, higher row first
  DISTANCE_DRAWN,  // the same, higher row first where the two records drew different numbers
};

class KWard {
 public:
  // `drawn`: a number for each record, for DISTANCE_DRAWN.
  KWard(Points points, std::span<const double> values, Extremes extremes,
        std::span<const std::int32_t> drawn, std::int64_t k, Watch& watch)
      : points_(points),
        values_(values),
        extremes_(extremes),
        drawn_(drawn),
        k_(k),
        poll_(watch, 300'000) {}

  [[nodiscard]] Labels run() {
    Labels labels(static_cast<std::size_t>(points_.n));
    Label next = 0;
    std::vector<std::vector<Row>> pending(1);
    for (Row row = 0; row < points_.n; ++row) pending.front().push_back(row);
    std::int64_t done = 0;
    while (!pending.empty()) {
      const std::vector<Row> rows = std::move(pending.back());
      pending.pop_back();
      if (static_cast<std::int64_t>(rows.size()) < 2 * k_) {
        for (const Row row : rows) labels[row] = next;
        ++next;
        done += static_cast<std::int64_t>(rows.size());
        poll_.report_done(static_cast<double>(done) / static_cast<double>(points_.n));
      } else {
        for (auto& part : split(rows)) pending.push_back(std::move(part));
      }
    }
    return by_first_appearance(std::move(labels));
  }

 private:
  struct Group {
    std::vector<Row> members;  // the lowest row first; empty once joined to another
    std::vector<double> centroid;
    double size = 0.0;
    double cost = std::numeric_limits<double>::infinity();  // of joining `partner`
    std::int64_t partner = -1;
  };

  // Steps 1 and 2: two groups of k, then joins. Returns the parts, each of at least k records.
  std::vector<std::vector<Row>> split(const std::vector<Row>& rows) {
    if (all_equal(rows)) return runs_of_k(rows);
    groups_.clear();
    auto [first, last] = extreme_groups(rows);
    std::vector<std::uint8_t> grouped(static_cast<std::size_t>(points_.n));
    for (auto* extreme : {&first, &last}) {
      for (const Row row : *extreme) grouped[row] = 1;
      add_group(*extreme);
    }
    for (const Row row : rows) {
      if (!grouped[row]) add_group({row});
    }
    for (std::int64_t at = 0; at < count(); ++at) find_partner(at);
    while (true) {
      std::int64_t best = -1;
      for (std::int64_t at = 0; at < count(); ++at) {
        if (small(at) && (best < 0 || pair_before(join_of(at), join_of(best)))) best = at;
      }
      if (best < 0) break;
      join(best, groups_[best].partner);
    }
    std::vector<std::vector<Row>> parts;
    for (Group& group : groups_) {
      if (!group.members.empty()) parts.push_back(std::move(group.members));
    }
    return parts;
  }

  // Equal records cost nothing however they are cut; joining would take them apart k at a time.
  bool all_equal(const std::vector<Row>& rows) const {
    return std::all_of(rows.begin(), rows.end(), [&](Row row) {
      return std::equal(points_.row(row), points_.row(row) + points_.p, points_.row(rows.front()));
    });
  }
  std::vector<std::vector<Row>> runs_of_k(const std::vector<Row>& rows) const {
    std::vector<std::vector<Row>> parts;
    for (auto at = rows.begin(); at != rows.end();) {
      const auto end = rows.end() - at < 2 * k_ ? rows.end() : at + k_;
      parts.emplace_back(at, end);
      at = end;
    }
    return parts;
  }

  std::int64_t count() const { return static_cast<std::int64_t>(groups_.size()); }
  // Groups below k look for a partner of any size; two groups of k or more are never joined.
  bool small(std::int64_t at) const {
    return !groups_[at].members.empty() && groups_[at].size < static_cast<double>(k_);
  }

  void add_group(const std::vector<Row>& members) {
    Group group;
    group.members = members;
    std::sort(group.members.begin(), group.members.end());
    group.size = static_cast<double>(members.size());
    RunningCentroid sums(points_.p);
    for (const Row row : group.members) sums.add(points_.row(row));
    group.centroid.resize(static_cast<std::size_t>(points_.p));
    sums.write(group.centroid.data());
    groups_.push_back(std::move(group));
  }

  // Growth of the SSE when two groups are joined.
  double join_cost(const Group& a, const Group& b) const {
    return a.size * b.size / (a.size + b.size) *
           squared_distance(a.centroid.data(), b.centroid.data(), points_.p);
  }

  Row lowest(std::int64_t at) const { return groups_[at].members.front(); }
  // The join that a group would make.
  CostedPair join_of(std::int64_t at) const {
    return {groups_[at].cost, lowest(at), lowest(groups_[at].partner)};
  }

  void offer_partner(std::int64_t at, std::int64_t other) {
    Group& group = groups_[at];
    const double cost = join_cost(group, groups_[other]);
    if (group.partner < 0 || pair_before({cost, lowest(at), lowest(other)}, join_of(at))) {
      group.cost = cost;
      group.partner = other;
    }
  }
  void find_partner(std::int64_t at) {
    if (!small(at)) return;
    groups_[at].partner = -1;
    for (std::int64_t other = 0; other < count(); ++other) {
      if (other != at && !groups_[other].members.empty()) offer_partner(at, other);
    }
    poll_.tick(count() * points_.p);
  }

  void join(std::int64_t a, std::int64_t b) {
    Group& into = groups_[a];
    Group& from = groups_[b];
    const double size = into.size + from.size;
    for (std::size_t j = 0; j < into.centroid.size(); ++j) {
      into.centroid[j] = (into.size * into.centroid[j] + from.size * from.centroid[j]) / size;
    }
    into.size = size;
    into.members.insert(into.members.end(), from.members.begin(), from.members.end());
    std::sort(into.members.begin(), into.members.end());
    from.members.clear();
    for (std::int64_t at = 0; at < count(); ++at) {
      if (!small(at)) continue;
      Group& group = groups_[at];
      if (at != a && group.partner != a && group.partner != b) {
        // Joining never brings groups nearer in Ward's measure, but a tie may now come first.
        offer_partner(at, a);
      } else if (at != a && join_cost(group, into) <= group.cost) {
        group.partner = a;  // still the cheapest, by the same argument
        group.cost = join_cost(group, into);
      } else {
        find_partner(at);
      }
    }
    poll_.tick(count() * points_.p);
  }

  std::pair<std::vector<Row>, std::vector<Row>> extreme_groups(const std::vector<Row>& rows) {
    if (extremes_ == Extremes::VALUES) {
      std::vector<Row> order = rows;
      std::sort(order.begin(), order.end(), [&](Row a, Row b) {
        return values_[a] < values_[b] || (values_[a] == values_[b] && a < b);
      });
      return {{order.begin(), order.begin() + k_}, {order.end() - k_, order.end()}};
    }
    std::vector<double> own;
    for (const Row row : rows)
      own.insert(own.end(), points_.row(row), points_.row(row) + points_.p);
    const Points subset{own.data(), static_cast<std::int64_t>(rows.size()), points_.p};
    Remaining remaining(subset, 2 * k_);
    auto [r, s] = FarthestPair(subset, remaining, poll_).find();
    if (extremes_ == Extremes::DISTANCE_SWAP ||
        (extremes_ == Extremes::DISTANCE_DRAWN && drawn_[rows[r]] != drawn_[rows[s]])) {
      std::swap(r, s);
    }
    remaining.remove(r);
    remaining.remove(s);
    auto first = grow(subset, remaining, r);
    auto last = grow(subset, remaining, s);
    for (auto* extreme : {&first, &last}) {
      for (Row& row : *extreme) row = rows[row];
    }
    return {first, last};
  }

  std::vector<Row> grow(Points subset, Remaining& remaining, Row seed) {
    std::vector<Row> members{seed};
    RunningCentroid sums(subset.p);
    std::vector<double> centroid(static_cast<std::size_t>(subset.p));
    sums.add(subset.row(seed));
    while (static_cast<std::int64_t>(members.size()) < k_) {
      sums.write(centroid.data());
      const Row row = remaining.k_nearest(centroid.data(), 1).front().row;
      remaining.remove(row);
      sums.add(subset.row(row));
      members.push_back(row);
    }
    return members;
  }

  Points points_;
  std::span<const double> values_;
  Extremes extremes_;
  std::span<const std::int32_t> drawn_;
  std::int64_t k_;
  Poll poll_;
  std::vector<Group> groups_;
};

// O(n^2 p) in practice: every small group remembers its cheapest partner.
[[nodiscard]] inline Labels k_ward(Points points, std::span<const double> values, Extremes extremes,
                                   std::span<const std::int32_t> drawn, std::int64_t k,
                                   Watch& watch) {
  MICROAGG_ASSERT(k >= 1 && points.n >= 1);
  MICROAGG_ASSERT(values.empty() || static_cast<std::int64_t>(values.size()) == points.n);
  MICROAGG_ASSERT(drawn.empty() || static_cast<std::int64_t>(drawn.size()) == points.n);
  return KWard(points, values, extremes, drawn, k, watch).run();
}

}  // namespace microagg
