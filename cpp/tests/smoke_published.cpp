// Groups by what they publish.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "microagg/anneal.hpp"
#include "microagg/mdav_generic.hpp"
#include "microagg/neighbour_lists.hpp"
#include "microagg/published.hpp"
#include "smoke.hpp"

namespace microagg::smoke {

namespace {

// Codes of every kind: few and many categories, ordered levels, a taxonomy of two levels.
Codes some_codes(std::int64_t n, const std::vector<Code>& values, const std::vector<Code>& paths) {
  return {values,
          n,
          {{CodeKind::NOMINAL, 2.0, 3, {}},
           {CodeKind::NOMINAL, 1.0, 500, {}},
           {CodeKind::ORDERED, 0.5, 6, {}},
           {CodeKind::ORDERED, 0.25, 400, {}},
           {CodeKind::TAXONOMY, 1.5, 8, {paths, 2}}}};
}

}  // namespace

// What a change will cost is what it has cost, and annealing the published cost lowers it.
void check_published(Points points, std::int64_t k) {
  if (points.n < 2 * k) return;
  std::mt19937_64 random(static_cast<std::uint64_t>(points.n * 10 + k));
  std::vector<Code> values;
  for (Row row = 0; row < points.n; ++row) {
    for (const int levels : {3, 500, 6, 400, 8})
      values.push_back(static_cast<Code>(random() % static_cast<std::uint64_t>(levels)));
  }
  std::vector<Code> paths;
  for (Code code = 0; code < 8; ++code) paths.insert(paths.end(), {code / 3, code});
  const Codes codes = some_codes(points.n, values, paths);
  Rows rows;
  Labels start;
  for (Row row = 0; row < points.n; ++row) {
    rows.push_back(row);
    start.push_back(static_cast<Label>(std::min(row / k, points.n / k - 1)));
  }
  const auto cost = [&](const Labels& labels) {
    double sum = 0.0;
    for (const double part : published_cost(points, codes, labels)) sum += part;
    return sum;
  };
  Watch watch;
  const std::int64_t length = std::min<std::int64_t>(20, points.n - 1);
  const Rows near = NeighbourLists(points, length, 96, 1, watch).run();
  const Block block{points, rows, start, k, {near, length}, rows};
  PublishedGroups groups(block, codes);
  for (int turn = 0; turn < 60; ++turn) {
    const auto pick = [&] { return static_cast<Row>(random() % rows.size()); };
    const Row one = pick();
    const Row other = pick();
    const Label from = groups.group_of(one);
    const Label to = groups.group_of(other);
    if (from == to) continue;
    const double before = cost(groups.labels());
    double change = 0.0;
    if (turn % 2 == 0) {
      change = groups.swap_change(one, other);
      groups.swap(one, other);
    } else {
      if (!groups.can_give(from) || !groups.can_take(to)) continue;
      change = groups.insert_cost(one, to) - groups.remove_gain(one);
      groups.move(one, to);
    }
    const double now = cost(groups.labels());
    check(std::abs(now - before - change) <= 1e-9 * (1.0 + before), "a change costs what was said");
    check(std::abs(groups.sse() - now) <= 1e-9 * (1.0 + now), "groups know what they cost");
  }
  std::array<bool, 13> ordered{};
  ordered.fill(k % 2 == 0);
  const GenericRecords records{points, std::span(ordered).first(static_cast<std::size_t>(points.p)),
                               values, codes.q()};
  check_partition(MdavGeneric(records, k, watch).run(), points.n, k);
  const std::vector<AnnealLevel> levels = {
      {1.0, points.n, 300}, {0.1, points.n, 300}, {1e-300, points.n, 300}};
  const Outcome found = AnnealOf(block, PublishedGroups(block, codes), 7, watch).run(levels, true);
  check_partition(by_first_appearance(found.labels), points.n, k);
  const std::vector<AnnealLevel> cold = {{1e-300, points.n, 900}};
  const Outcome lower = AnnealOf(block, PublishedGroups(block, codes), 7, watch).run(cold, false);
  check(cost(lower.labels) <= cost(start) * (1.0 + 1e-9), "a cold anneal never costs more");
}

}  // namespace microagg::smoke
