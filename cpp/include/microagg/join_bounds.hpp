// Lower bounds on what it costs a record to join a group near it, kept up to date while groups
// change. With large groups a record's list is long, and most looks at it can be left out: the
// bound says that nothing in it is cheap enough.
#pragma once

#include <limits>
#include <vector>

#include "microagg/live_groups.hpp"
#include "microagg/near_rows.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class JoinBounds {
 public:
  JoinBounds(const LiveGroups& groups, const NearRows& near)
      : groups_(groups),
        near_(near),
        entries_(static_cast<std::size_t>(groups.n())),
        seen_(static_cast<std::size_t>(groups.capacity())) {}

  // Must be told of every group whose members have changed.
  void changed(Label group) { log_.push_back(group); }

  // No more than `insert_cost` of the record into any group of its near records that can take it,
  // other than its own and `except`. The bound is the least of costs as they are computed, so that
  // rounding cannot put it above one of them.
  double at_least(Row row, Label except, Poll& poll) {
    Entry& entry = entries_[row];
    const auto now = static_cast<std::int64_t>(log_.size());
    if (now - entry.seen > MOST_CHANGES) {
      poll.tick(static_cast<std::int64_t>(near_.of(row).size()) + 10 * groups_.width());
      entry = scanned(row);
      entry.seen = now;
    }
    for (; entry.seen < now; ++entry.seen) update(entry, row, log_[entry.seen]);
    return entry.cheapest == except ? entry.others : entry.least;
  }

 private:
  static constexpr double NOTHING = std::numeric_limits<double>::infinity();
  // After more changes than this a look at the whole list is quicker.
  static constexpr std::int64_t MOST_CHANGES = 16;

  struct Entry {
    Label cheapest = LiveGroups::NONE;
    double least = NOTHING;   // what joining any group costs at least
    double others = NOTHING;  // .. any but the cheapest
    std::int64_t seen = std::numeric_limits<std::int64_t>::min() / 2;  // entries of the log
  };

  Entry scanned(Row row) {
    Entry entry;
    seen_.start();
    seen_.first(groups_.group_of(row));
    for (const Row other : near_.of(row)) {
      const Label group = groups_.group_of(other);
      if (seen_.first(group) && groups_.can_take(group)) offer(entry, group, cost(row, group));
    }
    return entry;
  }
  // The group has changed since: what was known of it no longer counts.
  void update(Entry& entry, Row row, Label group) const {
    if (entry.cheapest == group) {
      entry.cheapest = LiveGroups::NONE;
      entry.least = entry.others;
    }
    if (group == groups_.group_of(row) || groups_.size(group) == 0 || !groups_.can_take(group))
      return;
    offer(entry, group, cost(row, group));
  }
  static void offer(Entry& entry, Label group, double cost) {
    if (cost < entry.least) {
      entry.others = entry.least;
      entry.least = cost;
      entry.cheapest = group;
    } else if (cost < entry.others) {
      entry.others = cost;
    }
  }
  double cost(Row row, Label group) const { return groups_.insert_cost(row, group); }

  const LiveGroups& groups_;
  const NearRows& near_;
  std::vector<Entry> entries_;
  std::vector<Label> log_;  // changed groups, in order
  SeenGroups seen_;
};

}  // namespace microagg
