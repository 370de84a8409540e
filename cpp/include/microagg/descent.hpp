// Descent to a local optimum. The neighbourhood of a partition, with near(i) the records in the
// list of record i and sizes staying within k and 2k-1:
//   migrate  a record to the group of a near one;
//   swap     a record with any member of the group of a near one;
//   chain    a record to the group of a near one, any member of that on to the group of a record
//            near to it;
//   disband  a group: each member, in order of the rows, to the cheapest group of its near records;
//   found    a group of a record and its k-1 nearest listed records whose groups can spare them.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/live_groups.hpp"
#include "microagg/near_rows.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class Descent {
 public:
  // As for Anneal, the rows in any order.
  Descent(Points points, std::span<const Row> rows, std::span<const Label> labels, std::int64_t k,
          std::span<const Row> lists, std::int64_t length)
      : groups_(points, rows, labels, k),
        near_(lists, length, rows),
        seen_(static_cast<std::size_t>(groups_.capacity()), 0),
        waiting_(rows.size(), true) {
    for (Row row = 0; row < groups_.n(); ++row) queue_.push_back(row);
  }

  // Runs to a local optimum, or until the deadline; `truncated` says which. Every change lowers the
  // SSE, recomputed from the members, by a share of it: descent ends, whatever the rounding.
  Labels run(Watch& watch, bool& truncated) {
    Poll poll(watch, 20'000, Deadline::HEED);
    truncated = false;
    least_gain_ = LEAST_GAIN * groups_.sse();
    try {
      bool improved = true;
      while (improved) {
        improved = false;
        settle(poll);
        for (Label group = 0; group < groups_.capacity(); ++group) {
          poll.tick(10);
          if (groups_.size(group) > 0 && disband(group)) improved = true;
        }
        for (Row row = 0; row < groups_.n(); ++row) {
          poll.tick(2);
          if (found(row)) improved = true;
        }
        // The queue holds those near a change; one look at every record proves that none is missed.
        for (Row row = 0; row < groups_.n() && !improved; ++row) {
          poll.tick(10);
          if (shift(row)) improved = true;
        }
      }
    } catch (const DeadlinePassed&) {
      truncated = true;  // every finished change has lowered the SSE
    }
    return groups_.labels();
  }

 private:
  enum class Kind { NOTHING, MIGRATE, SWAP, CHAIN };
  struct Change {
    Kind kind = Kind::NOTHING;
    double change = 0.0;
    Row second = -1;
    Label to = LiveGroups::NONE;
    Label last = LiveGroups::NONE;
  };

  void settle(Poll& poll) {
    while (!queue_.empty()) {
      const Row row = queue_.back();
      queue_.pop_back();
      waiting_[row] = false;
      while (shift(row)) poll.tick(10);
      poll.tick(10);
    }
  }

  // The best migration, swap or chain that begins with this record, if any improves.
  bool shift(Row row) {
    const Change best = best_shift(row);
    if (best.kind == Kind::NOTHING) return false;
    const Label from = groups_.group_of(row);
    touched_.assign({from, best.to});
    if (best.kind == Kind::CHAIN) touched_.push_back(best.last);
    const double before = sse_of_touched();
    if (best.kind == Kind::SWAP) {
      groups_.swap(row, best.second);
    } else {
      if (best.kind == Kind::CHAIN) groups_.move(best.second, best.last);
      groups_.move(row, best.to);
    }
    if (lowered(before)) return true;
    if (best.kind == Kind::SWAP) {
      groups_.swap(row, best.second);
    } else {
      groups_.move(row, from);
      if (best.kind == Kind::CHAIN) groups_.move(best.second, best.to);
    }
    refresh_touched();
    return false;
  }

  Change best_shift(Row row) {
    const Label from = groups_.group_of(row);
    const bool can_give = groups_.can_give(from);
    const double gain = can_give ? groups_.remove_gain(row) : 0.0;
    Change best;
    best.change = -least_gain_;
    begin_seeing(from);
    for (const Row other : near_.of(row)) {
      const Label to = groups_.group_of(other);
      if (!first_seen(to)) continue;
      if (can_give && groups_.can_take(to)) {
        const double change = groups_.insert_cost(row, to) - gain;
        if (change < best.change) best = {Kind::MIGRATE, change, -1, to};
      }
      for (const Row second : groups_.members(to)) {
        const double swapped = groups_.swap_change(row, second);
        if (swapped < best.change) best = {Kind::SWAP, swapped, second, to};
        if (!can_give) continue;
        const double so_far = groups_.replace_change(second, row) - gain;
        if (!(so_far < best.change)) continue;  // the last step can only cost
        const auto [last, cost] = groups_.best_near(second, near_.of(second), from, to);
        if (last != LiveGroups::NONE && so_far + cost < best.change) {
          best = {Kind::CHAIN, so_far + cost, second, to, last};
        }
      }
    }
    return best;
  }

  bool disband(Label group) {
    origins_.clear();
    touched_.assign({group});
    double change = -groups_.sse(group);
    const std::vector<Row> rows(groups_.members(group).begin(), groups_.members(group).end());
    for (const Row row : rows) {  // a refreshed group is in the order of its rows
      const auto [best, cost] = groups_.best_near(row, near_.of(row), group);
      change += cost;
      if (best == LiveGroups::NONE || !(change < -least_gain_)) break;
      origins_.push_back({row, group});
      touched_.push_back(best);
      groups_.move(row, best);
    }
    if (origins_.size() == rows.size() && lowered_by_moves()) {
      groups_.give_back(group);
      return true;
    }
    undo_moves();
    return false;
  }

  bool found(Row row) {
    if (!groups_.can_give(groups_.group_of(row)) || !groups_.has_unused()) return false;
    const Label group = groups_.new_group();
    origins_.clear();
    touched_.assign({group});
    double change = 0.0;
    const auto draw = [&](Row next) {
      const Label from = groups_.group_of(next);
      origins_.push_back({next, from});
      touched_.push_back(from);
      change -= groups_.remove_gain(next);
      if (groups_.size(group) > 0) change += groups_.insert_cost(next, group);
      groups_.move(next, group);
    };
    draw(row);
    for (const Row next : near_.of(row)) {
      if (groups_.size(group) == groups_.k()) break;
      if (groups_.can_give(groups_.group_of(next))) draw(next);
    }
    const bool pays = groups_.size(group) == groups_.k() && change < -least_gain_;
    if (pays && lowered_by_moves()) return true;
    undo_moves();
    groups_.give_back(group);
    return false;
  }

  // --- what all changes share ---

  double sse_of_touched() const {
    double sum = 0.0;
    for (const Label group : touched_) sum += groups_.sse(group);
    return sum;
  }
  void refresh_touched() {
    for (const Label group : touched_) {
      if (groups_.size(group) > 0) groups_.refresh(group);
    }
  }
  // Whether the touched groups, made exact, cost less than before; if so, what is near is queued.
  bool lowered(double before) {
    refresh_touched();
    if (!(sse_of_touched() - before < -least_gain_)) return false;
    for (const Label group : touched_) {
      for (const Row row : groups_.members(group)) {
        wait(row);
        for (const Row other : near_.of(row)) wait(other);
      }
    }
    return true;
  }
  // The same for moves that are done: their groups are restored to see what they cost before.
  bool lowered_by_moves() {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    targets_.clear();
    for (const Origin& origin : origins_) targets_.push_back(groups_.group_of(origin.row));
    for (std::size_t i = origins_.size(); i-- > 0;) groups_.move(origins_[i].row, origins_[i].group);
    refresh_touched();
    const double before = sse_of_touched();
    for (std::size_t i = 0; i < origins_.size(); ++i) groups_.move(origins_[i].row, targets_[i]);
    return lowered(before);
  }
  void undo_moves() {
    for (std::size_t i = origins_.size(); i-- > 0;) groups_.move(origins_[i].row, origins_[i].group);
    refresh_touched();
  }
  void wait(Row row) {
    if (waiting_[row]) return;
    waiting_[row] = true;
    queue_.push_back(row);
  }
  void begin_seeing(Label own) {
    ++ticket_;
    seen_[own] = ticket_;
  }
  bool first_seen(Label group) {
    if (seen_[group] == ticket_) return false;
    seen_[group] = ticket_;
    return true;
  }

  struct Origin {
    Row row;
    Label group;
  };

  LiveGroups groups_;
  NearRows near_;
  double least_gain_ = 0.0;
  std::vector<Label> touched_;
  std::vector<Origin> origins_;
  std::vector<Label> targets_;
  std::vector<std::int64_t> seen_;  // when a group was last looked at
  std::int64_t ticket_ = 0;
  std::vector<bool> waiting_;
  std::vector<Row> queue_;
};

}  // namespace microagg
