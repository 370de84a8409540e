// The pool of simple changes of ICSM15's local search (Algorithm 3).
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/groups.hpp"
#include "microagg/offers.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// One pass of 1-opt and 2-opt: collects up to `capacity` improving migrations and exchanges in the
// order of the records, then applies the best first, each group at most once. Pairs of groups too
// far apart for any gain are passed over unseen, which changes nothing but the time.
class PoolPass {
 public:
  PoolPass(Points points, std::span<const Label> labels, std::int64_t k, std::int64_t capacity,
           Lists lists, Watch& watch)
      : groups_(points, labels),
        k_(k),
        capacity_(static_cast<std::size_t>(capacity)),
        poll_(watch, 200'000, Deadline::HEED),
        least_(LEAST_GAIN * groups_.total_sse()),
        offers_(groups_, lists),
        swappable_(static_cast<std::size_t>(groups_.count())) {
    MICROAGG_ASSERT(k >= 1 && capacity >= 1);
  }

  [[nodiscard]] Labels run() {
    for (Row row = 0; row < groups_.points().n && pool_.size() < capacity_; ++row) {
      collect_exchanges(row);
      collect_migrations(row);
    }
    std::stable_sort(pool_.begin(), pool_.end(),
                     [](const Change& a, const Change& b) { return a.change < b.change; });
    std::vector<std::uint8_t> changed(static_cast<std::size_t>(groups_.count()));
    for (const Change& change : pool_) {
      const Label from = groups_.group_of(change.row);
      const Label to = change.to;
      if (changed[from] || changed[to]) continue;
      changed[from] = changed[to] = 1;
      if (change.partner >= 0) {
        groups_.swap(change.row, change.partner);
      } else {
        groups_.move(change.row, to);
      }
    }
    return groups_.labels();
  }

 private:
  struct Swappable {
    bool known = false;
    std::vector<Label> groups;
  };
  struct Change {
    double change;
    Row row;
    Row partner;  // -1: a migration
    Label to;
  };

  // Groups to look at for an exchange; without lists the same for all members of a group.
  const std::vector<Label>& swappable(Row row) {
    if (!offers_.everywhere()) return offers_.of(row);
    const Label own = groups_.group_of(row);
    Swappable& known = swappable_[own];
    if (!known.known) {
      known.known = true;
      for (const Label group : offers_.of(row)) {
        if (group != own && groups_.swap_may_pay(own, group)) known.groups.push_back(group);
      }
      poll_.tick(groups_.count() * groups_.points().p);
    }
    return known.groups;
  }

  void add(const Change& change) {
    if (change.change < -least_ && pool_.size() < capacity_) pool_.push_back(change);
  }

  void collect_exchanges(Row row) {
    partners_.clear();
    const Label own = groups_.group_of(row);
    const std::vector<Label>& near = swappable(row);
    for (const Label group : near) {
      if (group == own) continue;
      for (const Row other : groups_.members(group)) {
        if (other <= row) continue;
        const double change = groups_.swap_change(row, other);
        if (change < -least_) partners_.push_back({change, other});
      }
    }
    std::sort(partners_.begin(), partners_.end(),
              [](const Neighbour& a, const Neighbour& b) { return a.row < b.row; });
    for (const Neighbour& other : partners_) {
      add({other.distance, row, other.row, groups_.group_of(other.row)});
    }
    poll_.tick(static_cast<std::int64_t>(near.size()) * k_ * groups_.points().p);
  }

  void collect_migrations(Row row) {
    const Label own = groups_.group_of(row);
    if (groups_.size(own) <= k_) return;
    const double gain = groups_.remove_gain(row);
    const std::vector<Label>& near = offers_.of(row);
    for (const Label group : near) {
      if (group == own || groups_.size(group) >= 2 * k_ - 1) continue;
      add({groups_.insert_cost(row, group) - gain, row, -1, group});
    }
    poll_.tick(static_cast<std::int64_t>(near.size()) * groups_.points().p);
  }

  Groups groups_;
  std::int64_t k_;
  std::size_t capacity_;
  Poll poll_;
  double least_;
  Offers offers_;
  std::vector<Swappable> swappable_;
  std::vector<Neighbour> partners_;
  std::vector<Change> pool_;
};

}  // namespace microagg
