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

#include "microagg/block.hpp"
#include "microagg/groups.hpp"
#include "microagg/join_bounds.hpp"
#include "microagg/live_groups.hpp"
#include "microagg/near_rows.hpp"
#include "microagg/outcome.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"
#include "microagg/widest.hpp"

namespace microagg {

class Descent {
 public:
  Descent(const Block& block, Watch& watch)
      : groups_(block),
        near_(block),
        bounds_(groups_, near_),
        poll_(watch, 100'000, Deadline::HEED),
        rows_(block.rows),
        seen_(static_cast<std::size_t>(groups_.capacity())),
        changed_at_(static_cast<std::size_t>(groups_.capacity()), 0),
        looked_(rows_.size(), NEVER),
        from_centroid_(rows_.size()) {
    MICROAGG_ASSERT(groups_.n() >= 2 * block.k);
    for (Label group = 0; group < groups_.capacity(); ++group) measure(group);
  }

  // Runs to a local optimum, or until the deadline. Every change lowers the SSE of the groups it
  // touches, recomputed from their members, by a share of it: descent ends, whatever the rounding,
  // and far outliers do not hide what can be gained elsewhere.
  Outcome run() {
    return until_deadline([this] {
      // When all is quiet, one look at everything proves that nothing was missed.
      for (std::int64_t before = -1; before != changes_;) {
        before = changes_;
        look_at(all_rows(), true);
        if (changes_ != before) until_quiet();
      }
    });
  }
  // Begins with some records, those whose neighbourhoods have changed, and proves nothing.
  Outcome run(std::span<const Row> begin) {
    return until_deadline([this, begin] {
      look_at({begin.begin(), begin.end()}, true);
      until_quiet();
    });
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

  template <class Work>
  Outcome until_deadline(Work work) {
    bool truncated = false;
    try {
      work();
    } catch (const DeadlinePassed&) {
      truncated = true;  // every finished change has lowered the SSE
    }
    return {groups_.labels(), truncated};
  }
  // What is near a change is looked at again.
  void until_quiet() {
    for (std::int64_t before = -1; before != changes_;) {
      before = changes_;
      look_at(rows_near_changes(), false);
    }
  }

  std::vector<Row> all_rows() const {
    std::vector<Row> rows(static_cast<std::size_t>(groups_.n()));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Row>(i);
    return rows;
  }
  // The members of the groups changed in the last look and what is near to them.
  std::vector<Row> rows_near_changes() {
    std::vector<char> wanted(static_cast<std::size_t>(groups_.n()), 0);
    for (const Label group : changed_) {
      for (const Row member : groups_.members(group)) {
        wanted[member] = 1;
        for (const Row other : near_.of(member)) wanted[other] = 1;
      }
    }
    std::vector<Row> rows;
    for (Row row = 0; row < groups_.n(); ++row) {
      if (wanted[row]) rows.push_back(row);
    }
    return rows;
  }
  // Improves what begins with these records, and with the groups they are in. Unless `anew`, moves
  // between groups that have not changed since the record's last look are left out.
  void look_at(const std::vector<Row>& rows, bool anew) {
    changed_.clear();
    for (const Row row : rows) {
      if (anew) looked_[row] = NEVER;
      while (shift(row)) {
      }
    }
    std::vector<Label> groups;
    for (const Row row : rows) groups.push_back(groups_.group_of(row));
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    for (const Label group : groups) {
      if (groups_.size(group) > 0) disband(group);
    }
    for (const Row row : rows) {
      found(row);
    }
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  }

  // The best migration, swap or chain that begins with this record, if any improves.
  bool shift(Row row) {
    const Change best = with_widest([&] { return best_shift(row); });
    looked_[row] = changes_;
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
    seen_.start();
    seen_.first(from);
    for (const Row other : near_.of(row)) {
      const Label to = groups_.group_of(other);
      if (!seen_.first(to)) continue;
      if (changed_at_[from] <= looked_[row] && changed_at_[to] <= looked_[row]) continue;
      if (can_give && groups_.can_take(to)) {
        const double change = groups_.insert_cost(row, to) - gain;
        if (change < best.change) best = {Kind::MIGRATE, change, -1, to};
      }
      poll_.tick(2 * groups_.size(to) * groups_.width());  // nothing has been changed yet
      // With A and B the squared distances of the record and the second from the centroid,
      // replacing it changes the SSE by at least A - B - 2 (A + B) / m; what rounding can do is far
      // less than the rest of the slack.
      const double slack = 2.0 / static_cast<double>(groups_.size(to)) + 1e-9;
      const double least = can_give ? groups_.distance_to(row, to) * (1.0 - slack) - gain : 0.0;
      for (const Row second : groups_.members(to)) {
        const double swapped = groups_.swap_change(row, second);
        if (swapped < best.change) best = {Kind::SWAP, swapped, second, to};
        if (!can_give || least - from_centroid_[second] * (1.0 + slack) > best.change) continue;
        const double so_far = groups_.replace_change(second, row) - gain;
        if (!(so_far < best.change)) continue;  // the last step can only cost
        if (!(so_far + bounds_.at_least(second, from, poll_) < best.change)) continue;
        poll_.tick(list_work(second));
        const auto [last, cost] = groups_.best_near(second, near_.of(second), from, to);
        if (last != LiveGroups::NONE && so_far + cost < best.change) {
          best = {Kind::CHAIN, so_far + cost, second, to, last};
        }
      }
    }
    return best;
  }

  bool disband(Label group) {
    poll_.tick(groups_.size(group) * list_work(groups_.member(group, 0)));
    origins_.clear();
    touched_.assign({group});
    double change = -groups_.sse(group);
    std::vector<Row> rows(groups_.members(group).begin(), groups_.members(group).end());
    std::sort(rows.begin(), rows.end(), [&](Row a, Row b) { return rows_[a] < rows_[b]; });
    for (const Row row : rows) {
      const auto [best, cost] = groups_.best_near(row, near_.of(row), group);
      change += cost;
      if (best == LiveGroups::NONE || !(change < 0.0)) break;
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
    poll_.tick(list_work(row) + 2 * groups_.k() * groups_.width());
    if (!gather(row) || !founding_may_pay()) return false;
    const Label group = groups_.new_group();
    touched_.assign({group});
    for (const Origin& origin : origins_) {
      touched_.push_back(origin.group);
      groups_.move(origin.row, group);
    }
    if (lowered_by_moves()) return true;
    undo_moves();
    groups_.give_back(group);
    return false;
  }
  // The record and its nearest whose groups can spare them, k in all, into `origins_`; `givers_`
  // counts what each group gives.
  bool gather(Row row) {
    origins_.clear();
    givers_.clear();
    const auto consider = [&](Row next) {
      const Label from = groups_.group_of(next);
      auto giver = std::find_if(givers_.begin(), givers_.end(),
                                [from](const Giver& known) { return known.group == from; });
      const std::int64_t gives = giver == givers_.end() ? 0 : giver->count;
      if (groups_.size(from) - gives <= groups_.k()) return;
      if (giver == givers_.end()) giver = givers_.insert(giver, {from, 0, 0.0});
      ++giver->count;
      giver->distances += groups_.distance_to(next, from);
      origins_.push_back({next, from});
    };
    consider(row);
    for (const Row next : near_.of(row)) {
      if (static_cast<std::int64_t>(origins_.size()) == groups_.k()) break;
      consider(next);
    }
    return static_cast<std::int64_t>(origins_.size()) == groups_.k();
  }
  // A group of m that gives t records at distances d from its centroid loses at most m/(m-t) times
  // the sum of d^2 (their mean is no farther than they are on average). False when even that is
  // less than the SSE of the new group.
  bool founding_may_pay() {
    double most = 0.0;
    for (const Giver& giver : givers_) {
      const auto m = static_cast<double>(groups_.size(giver.group));
      most += giver.distances * m / (m - static_cast<double>(giver.count));
    }
    gathered_.clear();
    for (const Origin& origin : origins_) gathered_.push_back(origin.row);
    return groups_.sse_of(gathered_) < most * (1.0 + 1e-9);
  }

  // --- what all changes share ---

  // About what it takes to look at a record's list.
  std::int64_t list_work(Row row) const {
    return static_cast<std::int64_t>(near_.of(row).size()) + 10 * groups_.width();
  }

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
  // Whether the touched groups, made exact, cost less than before.
  bool lowered(double before) {
    refresh_touched();
    if (!(sse_of_touched() < before * (1.0 - LEAST_GAIN))) return false;
    ++changes_;
    for (const Label group : touched_) {
      changed_at_[group] = changes_;
      measure(group);
      bounds_.changed(group);
    }
    changed_.insert(changed_.end(), touched_.begin(), touched_.end());
    return true;
  }
  void measure(Label group) {
    for (const Row row : groups_.members(group))
      from_centroid_[row] = groups_.distance_to(row, group);
  }
  // The same for moves that are done: their groups are restored to see what they cost before.
  bool lowered_by_moves() {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    targets_.clear();
    for (const Origin& origin : origins_) targets_.push_back(groups_.group_of(origin.row));
    for (std::size_t i = origins_.size(); i-- > 0;)
      groups_.move(origins_[i].row, origins_[i].group);
    refresh_touched();
    const double before = sse_of_touched();
    for (std::size_t i = 0; i < origins_.size(); ++i) groups_.move(origins_[i].row, targets_[i]);
    return lowered(before);
  }
  void undo_moves() {
    for (std::size_t i = origins_.size(); i-- > 0;)
      groups_.move(origins_[i].row, origins_[i].group);
    refresh_touched();
  }

  static constexpr std::int64_t NEVER = -1;

  struct Origin {
    Row row;
    Label group;
  };

  struct Giver {
    Label group;
    std::int64_t count;
    double distances;
  };

  LiveGroups groups_;
  NearRows near_;
  JoinBounds bounds_;
  Poll poll_;
  std::vector<Label> touched_;
  std::vector<Origin> origins_;
  std::vector<Label> targets_;
  std::vector<Giver> givers_;
  std::vector<Row> gathered_;
  std::span<const Row> rows_;
  SeenGroups seen_;
  std::int64_t changes_ = 0;
  std::vector<std::int64_t> changed_at_;  // how many changes there were when a group changed last
  std::vector<std::int64_t> looked_;      // .. and when a record was last looked at
  std::vector<double> from_centroid_;     // squared distance of each record from its own
  std::vector<Label> changed_;            // groups, since the last look began
};

}  // namespace microagg
