// Two-swapping local search (CGS22, section 3): the best exchange of two records, again and again.
#pragma once

#include <limits>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/outcome.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Finds the same exchange as the paper's full sweep over all pairs, at each iteration: every record
// remembers its best partner, and only what an exchange touched is looked at again.
class TwoSwap {
 public:
  TwoSwap(Points points, std::span<const Label> labels, Watch& watch)
      : groups_(points, labels), watch_(watch), best_(static_cast<std::size_t>(points.n)) {}

  // Runs to a local optimum, or until the deadline. Groups keep their numbers.
  Outcome run() {
    Poll poll(watch_, 100'000, Deadline::HEED);
    bool truncated = false;
    double total = groups_.total_sse();
    try {
      for (Row row = 0; row < groups_.points().n; ++row) find_partner(row, poll);
      while (true) {
        const Row x = leader();
        if (x < 0 || !(best_[x].change < -LEAST_GAIN * total)) break;
        const double change = exchange(x, best_[x].partner, poll);
        if (!(change < 0.0)) break;  // all gains left are rounding
        total += change;
      }
    } catch (const DeadlinePassed&) {
      truncated = true;  // every finished exchange has lowered the SSE
    }
    return {groups_.numbers(), truncated};
  }

 private:
  struct Exchange {
    double change = 0.0;
    Row partner = -1;
  };

  CostedPair pair_of(Row row) const { return {best_[row].change, row, best_[row].partner}; }

  Row leader() const {
    Row best = -1;
    for (Row row = 0; row < groups_.points().n; ++row) {
      if (best_[row].partner < 0) continue;
      if (best < 0 || pair_before(pair_of(row), pair_of(best))) {
        best = row;
      }
    }
    return best;
  }

  void offer(Row row, Row partner, double change) {
    Exchange& exchange = best_[row];
    if (!(change < 0.0)) return;
    if (exchange.partner < 0 || pair_before({change, row, partner}, pair_of(row))) {
      exchange = {change, partner};
    }
  }

  // Best partner of one record; its partners learn of it too.
  void find_partner(Row row, Poll& poll) {
    best_[row] = {};
    const Label own = groups_.group_of(row);
    for (Label group = 0; group < groups_.count(); ++group) {
      if (group == own || !groups_.swap_may_pay(own, group)) continue;
      poll.tick(groups_.size(group) * groups_.points().p);
      for (const Row other : groups_.members(group)) {
        const double change = groups_.swap_change(row, other);
        offer(row, other, change);
        offer(other, row, change);
      }
    }
    poll.tick(groups_.count() * groups_.points().p);
  }

  // Makes the exchange, unless the SSE of the two groups does not really fall; returns its change.
  double exchange(Row x, Row y, Poll& poll) {
    const Label p = groups_.group_of(x);
    const Label q = groups_.group_of(y);
    const double before = groups_.sse_with(p) + groups_.sse_with(q);
    groups_.swap(x, y);
    const double change = groups_.sse_with(p) + groups_.sse_with(q) - before;
    if (!(change < 0.0)) {
      groups_.swap(x, y);
      return 0.0;
    }
    // Whoever had a partner in the two groups must look anew.
    std::vector<Row> stale;
    for (Row row = 0; row < groups_.points().n; ++row) {
      const Label own = groups_.group_of(row);
      const Row partner = best_[row].partner;
      const bool lost =
          partner >= 0 && (groups_.group_of(partner) == p || groups_.group_of(partner) == q);
      if (own == p || own == q || lost) stale.push_back(row);
    }
    for (const Row row : stale) best_[row] = {};
    for (const Row row : stale) find_partner(row, poll);
    return change;
  }

  Groups groups_;
  Watch& watch_;
  std::vector<Exchange> best_;
};

}  // namespace microagg
