// Simulated annealing of a partition: cheap random changes, accepted by Metropolis' rule while the
// temperature falls, drawn among the records whose neighbourhood is as wide as the temperature.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/live_groups.hpp"
#include "microagg/near_rows.hpp"
#include "microagg/outcome.hpp"
#include "microagg/points.hpp"
#include "microagg/random.hpp"
#include "microagg/watch.hpp"
#include "microagg/widest.hpp"

namespace microagg {

// How long to stay at a temperature, and which records to draw: the first `active`.
struct AnnealLevel {
  double temperature;
  std::int64_t active;
  std::int64_t steps;
};

// Whether groups are disbanded and founded too, or only records change places.
enum class AnnealMoves { ALL, RECORDS };

// Groups: what a change costs, as LiveGroups says it for the SSE.
template <class Groups>
class AnnealOf {
 public:
  using Moves = AnnealMoves;

  // The rows of the block are in order of decreasing neighbourhood.
  AnnealOf(const Block& block, Groups groups, std::uint64_t seed, Watch& watch,
           Moves moves = Moves::ALL)
      : groups_(std::move(groups)),
        near_(block),
        random_(seed),
        watch_(watch),
        poll_(watch, 10'000, Deadline::HEED) {
    const std::int64_t k = block.k;
    const double rarer = moves == Moves::ALL ? std::min(1.0, 10.0 / static_cast<double>(k)) : 0.0;
    const auto share = [&](double of_small_k) {
      return static_cast<std::uint64_t>(of_small_k * rarer * 0x1.0p32);
    };
    stride_ = std::max<std::size_t>(1, static_cast<std::size_t>(k / 10));
    disband_below_ = share(DISBAND);
    regroup_below_ = disband_below_ + share(REGROUP);
    found_below_ = regroup_below_ + share(FOUND);
  }

  // If time does not suffice, the levels to come are shortened, and what the deadline strikes ends.
  // With `report`, the watch hears of the SSE at each level.
  Outcome run(std::span<const AnnealLevel> levels, bool report) {
    return with_widest([&] { return cool_down(levels, report); });
  }

 private:
  Outcome cool_down(std::span<const AnnealLevel> levels, bool report) {
    bool truncated = false;
    std::int64_t all = 0;
    for (const AnnealLevel& level : levels) all += level.steps;
    std::int64_t to_come = all;
    double seconds_a_step = 0.0;  // lately
    try {
      for (AnnealLevel level : levels) {
        const std::int64_t planned = level.steps;
        const double share = share_in_time(seconds_a_step * static_cast<double>(to_come),
                                           static_cast<double>(to_come) / static_cast<double>(all));
        if (share < 1.0) {
          truncated = true;
          level.steps = static_cast<std::int64_t>(share * static_cast<double>(planned));
        }
        const double start = watch_.seconds();
        cool(level, report);
        if (level.steps > 0) {
          const double now = (watch_.seconds() - start) / static_cast<double>(level.steps);
          seconds_a_step = seconds_a_step == 0.0 ? now : 0.8 * seconds_a_step + 0.2 * now;
        }
        watch_.add_work(planned);
        to_come -= planned;
      }
    } catch (const DeadlinePassed&) {
      truncated = true;  // between two proposals
    }
    return {groups_.labels(), truncated};
  }

  // One random number serves two choices: its halves.
  static constexpr std::uint64_t HALF = 0xFFFFFFFFULL;
  // Shares of the proposals, as thresholds for such a half. Disbanding and founding take the longer
  // the larger k, so large groups do it less often.
  static constexpr double DISBAND = 0.006;
  static constexpr double REGROUP = 0.006;
  static constexpr double FOUND = 0.027;
  static constexpr std::uint64_t SWAP = 0x80000000ULL;  // half of those that cannot migrate
  static constexpr double UNLIMITED = std::numeric_limits<double>::infinity();

  // Of what is to come and would need so many seconds, the share that there is time for. Colder
  // levels are quicker, up to twice, so that an anneal that is in time is not disturbed; one that
  // is late will know it later.
  double share_in_time(double needed, double to_come) const {
    if (needed <= 0.0) return 1.0;  // nothing to come, or nothing known yet
    const double there = (1.0 + 0.7 * to_come) * watch_.seconds_left();
    return needed <= there ? 1.0 : std::max(0.0, there / needed);
  }

  void cool(const AnnealLevel& level, bool report) {
    temperature_ = level.temperature;
    for (std::int64_t step = 0; step < AHEAD; ++step) draft(step, level.active);
    for (std::int64_t step = 0; step < level.steps; ++step) {
      const Draft now = drafts_[step % AHEAD];
      draft(step, level.active);  // takes the place of this one
      fetch_groups(drafts_[(step + AHEAD / 2) % AHEAD]);
      propose(now);
      poll_.tick();
    }
    groups_.refresh();  // so that rounding in centroids cannot add up
    if (report) watch_.report_best(groups_.sse());
  }

  // A proposal is drawn a few steps before its turn, so that what it needs is in the cache by then.
  static constexpr std::int64_t AHEAD = 8;
  struct Draft {
    Row row;
    std::uint64_t kind;
    const Row* near;  // a near record; none if the block holds none
    std::uint64_t bits;
  };

  void draft(std::int64_t step, std::int64_t active) {
    const std::uint64_t bits = random_.next();
    const std::uint64_t further = random_.next();
    const Row row = static_cast<Row>(Random::share_of(bits >> 32, active));
    Draft& draft = drafts_[step % AHEAD];
    draft = {row, bits & HALF, some_near(row, further >> 32), further & HALF};
    __builtin_prefetch(draft.near);
    groups_.fetch_group_of(row);
    groups_.fetch_record(row);
  }
  void fetch_groups(const Draft& draft) const {
    if (draft.near) groups_.fetch_group(groups_.group_of(*draft.near));
    groups_.fetch_group(groups_.group_of(draft.row));
  }
  void propose(const Draft& draft) {
    if (draft.kind < disband_below_) {
      disband(groups_.group_of(draft.row));
    } else if (draft.kind < regroup_below_) {
      regroup(groups_.group_of(draft.row), draft.bits);
    } else if (draft.kind < found_below_) {
      found(draft.row);
    } else if (draft.near) {
      shift(draft.row, groups_.group_of(*draft.near), draft.bits);
    }
  }

  // A near record, nearer ones more often.
  const Row* some_near(Row row, std::uint64_t bits) const {
    const std::span<const Row> near = near_.of(row);
    if (near.empty()) return nullptr;
    const std::uint64_t square = bits * bits >> 32;
    return &near[Random::share_of(square, static_cast<std::int64_t>(near.size()))];
  }
  Row some_member(Label group, std::uint64_t bits) const {
    return groups_.member(group, Random::share_of(bits, groups_.size(group)));
  }
  bool accept(double change) {
    if (change <= 0.0) return true;
    if (change > 40.0 * temperature_) return false;  // beyond any threshold
    return random_.exponential_exceeds(change, temperature_);
  }

  // The record goes to the group of a near one: alone, or in exchange, or pushing another on.
  void shift(Row row, Label to, std::uint64_t bits) {
    const Label from = groups_.group_of(row);
    if (from == to) return;
    if (groups_.can_give(from) && groups_.can_take(to)) {
      if (accept(groups_.insert_cost(row, to) - groups_.remove_gain(row))) groups_.move(row, to);
      return;
    }
    const std::uint64_t further = random_.next();
    const Row second = some_member(to, bits);
    if ((further & HALF) < SWAP) {
      if (accept(groups_.swap_change(row, second))) groups_.swap(row, second);
      return;
    }
    const Row* next = some_near(second, further >> 32);
    if (!next) return;
    const Label last = groups_.group_of(*next);
    if (last == from || last == to) return;
    if (groups_.can_give(from) && groups_.can_take(last)) {
      const double change = groups_.insert_cost(second, last) - groups_.remove_gain(row) +
                            groups_.replace_change(second, row);
      if (accept(change)) {
        groups_.move(second, last);
        groups_.move(row, to);
      }
      return;
    }
    const Row third = some_member(last, random_.next() >> 32);
    const double change = groups_.replace_change(second, row) +
                          groups_.replace_change(third, second) +
                          groups_.replace_change(row, third);
    if (accept(change)) groups_.rotate(row, second, third);
  }

  // Every member goes to the best group near it.
  void disband(Label group) {
    const double limit = temperature_ * random_.exponential();
    double change = 0.0;
    if (scatter(group, limit, change)) {
      groups_.give_back(group);
    } else {
      undo();
    }
  }

  // A new group of the record and near ones.
  void found(Row row) {
    if (!groups_.can_give(groups_.group_of(row)) || !groups_.has_unused()) return;
    const Label group = groups_.new_group();
    const double limit = temperature_ * random_.exponential();
    double change = 0.0;
    origins_.clear();
    if (gather(row, group, change) && change < limit) return;
    undo();
    groups_.give_back(group);
  }

  // Disbands a group and founds one about a record near some member, as one change: where hardly a
  // group can spare a record, neither alone is ever cheap enough.
  void regroup(Label group, std::uint64_t bits) {
    const Row* near = some_near(some_member(group, bits), random_.next() >> 32);
    if (!near || groups_.group_of(*near) == group) return;
    const Row row = *near;
    const double limit = temperature_ * random_.exponential();
    double change = 0.0;
    if (scatter(group, UNLIMITED, change) && groups_.can_give(groups_.group_of(row)) &&
        gather(row, group, change) && change < limit)
      return;
    undo();
  }

  // Empties the group, its members going to the best groups near them; false when some find none or
  // all would cost the limit. Of long lists only some records are looked at: a group that is near
  // has many of them there.
  bool scatter(Label group, double limit, double& change) {
    origins_.clear();
    scattered_.assign(groups_.members(group).begin(), groups_.members(group).end());
    change -= groups_.sse(group);
    for (const Row row : scattered_) {
      const auto [best, cost] = groups_.best_near(row, near_.of(row), group, Groups::NONE, stride_);
      change += cost;
      if (best == Groups::NONE || change >= limit) return false;
      draw(row, best);
    }
    return true;
  }
  // Fills the empty group with the record and near ones whose groups can spare them; some are
  // passed over, for variety. False when there are too few.
  bool gather(Row row, Label group, double& change) {
    change -= groups_.remove_gain(row);
    draw(row, group);
    for (const Row next : near_.of(row)) {
      if (groups_.size(group) == groups_.k()) break;
      if (!groups_.can_give(groups_.group_of(next)) || random_.below(8) == 0) continue;
      change += groups_.insert_cost(next, group) - groups_.remove_gain(next);
      draw(next, group);
    }
    return groups_.size(group) == groups_.k();
  }
  void draw(Row row, Label to) {
    origins_.push_back({row, groups_.group_of(row)});
    groups_.move(row, to);
  }
  void undo() {
    for (; !origins_.empty(); origins_.pop_back())
      groups_.move(origins_.back().row, origins_.back().group);
  }

  struct Origin {
    Row row;
    Label group;
  };

  Groups groups_;
  NearRows near_;
  Random random_;
  Watch& watch_;
  Poll poll_;
  std::size_t stride_;  // in lists, where a whole group looks for other ones
  std::uint64_t disband_below_;
  std::uint64_t regroup_below_;
  std::uint64_t found_below_;
  double temperature_ = 0.0;
  Draft drafts_[AHEAD];
  std::vector<Row> scattered_;
  std::vector<Origin> origins_;
};

// Of the SSE.
class Anneal : public AnnealOf<LiveGroups> {
 public:
  Anneal(const Block& block, std::uint64_t seed, Watch& watch, Moves moves = Moves::ALL)
      : AnnealOf(block, LiveGroups(block), seed, watch, moves) {}
};

}  // namespace microagg
