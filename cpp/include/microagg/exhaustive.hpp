// The optimum of a tiny problem by looking at every partition once (dynamic programming over
// subsets).
#pragma once

#include <bit>
#include <limits>
#include <vector>

#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// O(3^n) time, O(2^n) memory: meant for n <= 16.
[[nodiscard]] inline Labels exhaustive(Points points, std::int64_t k, Watch& watch) {
  MICROAGG_ASSERT(1 <= k && k <= points.n && points.n < 32);
  const std::uint32_t all = (1U << points.n) - 1;
  std::vector<double> group_cost(static_cast<std::size_t>(all) + 1);
  Rows members;
  const auto allowed = [&](std::uint32_t set) {
    const int size = std::popcount(set);
    return size >= k && (size < 2 * k || points.n < 2 * k);
  };
  for (std::uint32_t set = 1; set <= all; ++set) {
    if (!allowed(set)) continue;
    members.clear();
    for (Row row = 0; row < points.n; ++row) {
      if (set >> row & 1U) members.push_back(row);
    }
    std::vector<double> values;
    for (const Row row : members) {
      values.insert(values.end(), points.row(row), points.row(row) + points.p);
    }
    group_cost[set] = sst({values.data(), static_cast<std::int64_t>(members.size()), points.p});
  }
  Poll poll(watch, 100'000);
  std::vector<double> best(static_cast<std::size_t>(all) + 1,
                           std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> last(static_cast<std::size_t>(all) + 1);
  best[0] = 0.0;
  for (std::uint32_t set = 1; set <= all; ++set) {
    // The group of the lowest record, with every choice of companions.
    const std::uint32_t lowest = set & (~set + 1);
    const std::uint32_t rest = set ^ lowest;
    for (std::uint32_t companions = rest;; companions = (companions - 1) & rest) {
      const std::uint32_t group = companions | lowest;
      if (allowed(group)) {
        const double total = best[set ^ group] + group_cost[group];
        if (total < best[set]) {
          best[set] = total;
          last[set] = group;
        }
      }
      if (companions == 0) break;
    }
    poll.tick(1LL << std::popcount(rest));
  }
  Labels labels(static_cast<std::size_t>(points.n));
  Label number = 0;
  for (std::uint32_t set = all; set != 0; set ^= last[set], ++number) {
    for (Row row = 0; row < points.n; ++row) {
      if (last[set] >> row & 1U) labels[row] = number;
    }
  }
  return by_first_appearance(std::move(labels));
}

}  // namespace microagg
