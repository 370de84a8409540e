// Rounds of assignment: every group gives one record away, all of them at once, and they are put
// back where that costs least in total. A group changes by one record at most, so the costs are
// exact, and long chains of moves are found that pay only together.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/groups.hpp"
#include "microagg/live_groups.hpp"
#include "microagg/near_rows.hpp"
#include "microagg/outcome.hpp"
#include "microagg/points.hpp"
#include "microagg/random.hpp"
#include "microagg/sparse_assignment.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class AssignmentRounds {
 public:
  // A record is offered to the groups of the first `reach` records of its list; a group that has
  // room, and could get a record from a near one that can spare it, gives none away with
  // probability `skip`.
  AssignmentRounds(const Block& block, std::int64_t reach, double skip, std::uint64_t seed,
                   Watch& watch)
      : groups_(block),
        near_(block),
        reach_(static_cast<std::size_t>(reach)),
        skip_below_(static_cast<std::uint64_t>(skip * 0x1.0p32)),
        count_(number_of_groups(block.labels)),
        given_(static_cast<std::size_t>(count_)),
        cores_(static_cast<std::size_t>(count_ * groups_.width())),
        core_sizes_(static_cast<std::size_t>(count_)),
        problem_(count_, reach + 1),
        seen_(static_cast<std::size_t>(count_)),
        random_(seed),
        watch_(watch),
        poll_(watch, 100'000, Deadline::HEED) {}

  // One round for each temperature. At temperature 0 a round is kept if it lowers the SSE; above,
  // every arc's cost is lowered by the temperature times a Gumbel variate, and each round is kept.
  // What the deadline strikes is left out. With `report`, the watch hears of the SSE in the end.
  Outcome run(std::span<const double> temperatures, bool report) {
    bool truncated = false;
    const auto hot = [](double temperature) { return temperature > 0.0; };
    if (std::any_of(temperatures.begin(), temperatures.end(), hot)) fill_gumbels();
    try {
      for (const double temperature : temperatures) {
        round(temperature);
        watch_.add_work(count_);
      }
    } catch (const DeadlinePassed&) {
      truncated = true;  // before anything was moved
    }
    if (report) watch_.report_best(groups_.sse());
    return {groups_.labels(), truncated};
  }

 private:
  static constexpr Row NOBODY = -1;
  static constexpr std::size_t GUMBELS = 1024;
  static constexpr std::uint64_t HALF = 0xFFFFFFFFULL;

  static std::int64_t number_of_groups(std::span<const Label> labels) {
    return *std::max_element(labels.begin(), labels.end()) + 1;
  }

  void round(double temperature) {
    draw();
    pose(temperature);
    problem_.solve(poll_);
    if (temperature > 0.0 || is_cheaper()) apply();
  }

  // Which record each group gives away, and what is left of the group: its core.
  void draw() {
    for (Label group = 0; group < count_; ++group) {
      const std::uint64_t bits = random_.next();
      const Row row = groups_.member(group, Random::share_of(bits >> 32, groups_.size(group)));
      const bool skips =
          (bits & HALF) < skip_below_ && groups_.can_take(group) && is_near_a_giver(row);
      given_[group] = skips ? ~row : row;
      core_sizes_[group] = groups_.size(group) - (skips ? 0 : 1);
      groups_.centroid_without(group, skips ? NOBODY : row, &cores_[group * groups_.width()]);
    }
    poll_.tick(count_ * groups_.width());
  }

  // Whether a group near this record can spare one: otherwise nobody would come to its own instead.
  bool is_near_a_giver(Row row) const {
    return std::ranges::any_of(offers_of(row), [&](Row other) {
      return groups_.group_of(other) != groups_.group_of(row) &&
             groups_.can_give(groups_.group_of(other));
    });
  }
  // The near records whose groups a record is offered to.
  std::span<const Row> offers_of(Row row) const {
    const std::span<const Row> near = near_.of(row);
    return near.first(std::min(reach_, near.size()));
  }

  // Row g is the record that group g gives away, or nobody; column g is the place in group g.
  void pose(double temperature) {
    problem_.clear();
    for (Label group = 0; group < count_; ++group) {
      const bool nobody = given_[group] < 0;
      const Row row = nobody ? ~given_[group] : given_[group];
      seen_.start();
      offer(group, nobody ? NOBODY : row, group, temperature);
      for (const Row other : offers_of(row)) {
        const Label to = groups_.group_of(other);
        // Nobody may come only to a group that is large enough without anybody.
        if (nobody && core_sizes_[to] < groups_.k()) continue;
        offer(group, nobody ? NOBODY : row, to, temperature);
      }
      poll_.tick(static_cast<std::int64_t>(reach_) * groups_.width());
    }
  }
  void offer(Label from, Row row, Label to, double temperature) {
    if (!seen_.first(to)) return;
    double cost = row == NOBODY ? 0.0 : cost_of(row, to);
    if (temperature > 0.0) cost -= temperature * gumbel();
    problem_.add(from, to, cost);
  }
  // Growth of a core's SSE when the record joins it.
  double cost_of(Row row, Label to) const {
    const auto m = static_cast<double>(core_sizes_[to]);
    return m / (m + 1.0) * groups_.distance_to(row, &cores_[to * groups_.width()]);
  }

  bool is_cheaper() const {
    double change = 0.0;
    double all = 0.0;
    for (Label group = 0; group < count_; ++group) {
      const double stays = problem_.arcs(group)[0].cost;
      all += stays;
      change += problem_.cost_of(group) - stays;
    }
    return change < -LEAST_GAIN * all;
  }

  void apply() {
    moved_.clear();
    for (Label group = 0; group < count_; ++group) {
      const Label to = problem_.column_of(group);
      if (to == group) continue;
      if (given_[group] >= 0) moved_.push_back({given_[group], to});
      changed_.push_back(group);
    }
    for (const Move& move : moved_) groups_.take_out(move.row);
    for (const Move& move : moved_) groups_.put_into(move.row, move.to);
    for (const Label group : changed_) groups_.refresh(group);
    changed_.clear();
  }

  // One of 1,024 quantiles: time matters, far tails do not.
  double gumbel() {
    if (gumbel_left_ == 0) {
      gumbel_bits_ = random_.next();
      gumbel_left_ = 6;
    }
    --gumbel_left_;
    const std::uint64_t place = gumbel_bits_ & (GUMBELS - 1);
    gumbel_bits_ >>= 10;
    return gumbels_[place];
  }
  void fill_gumbels() {
    for (std::size_t i = 0; i < GUMBELS; ++i) {
      const double share = (static_cast<double>(i) + 0.5) / GUMBELS;
      gumbels_.push_back(-portable_log(-portable_log(share)));
    }
  }

  struct Move {
    Row row;
    Label to;
  };

  LiveGroups groups_;
  NearRows near_;
  std::size_t reach_;
  std::uint64_t skip_below_;
  std::int64_t count_;
  std::vector<Row> given_;  // ~row if the record is not given away
  std::vector<double> cores_;
  std::vector<std::int64_t> core_sizes_;
  SparseAssignment problem_;
  SeenGroups seen_;
  Random random_;
  Watch& watch_;
  Poll poll_;
  std::vector<Move> moved_;
  std::vector<Label> changed_;
  std::vector<double> gumbels_;
  std::uint64_t gumbel_bits_ = 0;
  int gumbel_left_ = 0;
};

}  // namespace microagg
