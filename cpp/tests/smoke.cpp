// Every kernel once, without Python, under the sanitizers: no undefined behaviour, no stray memory,
// groups of at least k, the same result at every instruction set.
#include "smoke.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "microagg/exhaustive.hpp"
#include "microagg/neighbour_bound.hpp"
#include "microagg/neighbour_lists.hpp"
#include "microagg/objective.hpp"
#include "microagg/path_cut.hpp"
#include "microagg/peel.hpp"
#include "microagg/standardise.hpp"
#include "microagg/tables.hpp"
#include "microagg/targets.hpp"
#include "microagg/tours.hpp"
#include "microagg/univariate.hpp"

using namespace microagg;
using namespace microagg::smoke;

namespace {

int checks = 0;

}  // namespace

void microagg::smoke::check(bool holds, const char* what) {
  ++checks;
  if (holds) return;
  std::fprintf(stderr, "smoke: %s\n", what);
  std::exit(1);
}

void microagg::smoke::check_partition(const Labels& labels, std::int64_t n, std::int64_t k) {
  check(static_cast<std::int64_t>(labels.size()) == n, "one label per record");
  const auto sizes = group_sizes(labels);
  check(*std::min_element(sizes.begin(), sizes.end()) >= std::min(k, n), "groups of at least k");
}

namespace {

// Normal, heavily tied, with an outlier, all equal.
std::vector<double> sample(int kind, std::int64_t n, std::int64_t p) {
  std::mt19937_64 random(static_cast<std::uint64_t>(kind * 1000 + n));
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(n * p));
  for (double& x : values)
    x = kind == 3 ? 1.5 : kind == 1 ? std::round(normal(random)) : normal(random);
  if (kind == 2) values[0] = 1e8;
  return values;
}

void check_bound(Points points, std::int64_t k, const Labels& labels) {
  Watch watch;
  const std::int64_t length = std::min<std::int64_t>(2 * k, points.n - 1);
  const Rows lists = NeighbourLists(points, length, EVERY_LEAF, 2, watch).run();
  NeighbourBound bound(points, {lists, length}, k, std::min<std::int64_t>(points.n, 5), 2, watch);
  double sum = 0.0;
  for (const double share : bound.run(3)) sum += share;
  check(sum <= sse(points, labels) * (1 + 1e-9), "the bound is at most the SSE");
}

// Groups choose among candidates that they have, for a number and two categories.
void check_tables(std::int64_t groups, std::int64_t k, bool pairs) {
  std::mt19937_64 random(static_cast<std::uint64_t>(groups * 10 + k));
  const auto below = [&](std::uint64_t count) { return static_cast<Code>(random() % count); };
  constexpr Code CODES = 5;
  std::vector<std::int32_t> group;
  std::vector<Code> codes, others;
  std::vector<double> weight, amounts;
  for (std::int64_t row = 0; row < groups * k; ++row) {
    group.push_back(static_cast<std::int32_t>(row % groups));
    for (int i = 0; i < 3; ++i) codes.push_back(below(CODES));
    others.push_back(below(3));
    weight.push_back(0.5 + 0.25 * below(4));
    amounts.push_back(below(9) - 4.0);
  }
  std::vector<std::int64_t> first{0};
  std::vector<Code> code;
  std::vector<double> price, amount;
  std::vector<std::int32_t> start;
  for (std::int64_t g = 0; g < groups; ++g) {
    const Code count = below(4);
    for (Code place = 0; place < count; ++place) {
      code.push_back(below(CODES - 1));
      price.push_back(0.1 * below(10));
      amount.push_back(below(9) - 4.0);
    }
    first.push_back(static_cast<std::int64_t>(code.size()));
    start.insert(start.end(), 3, count > 0 ? 0 : -1);
  }
  const std::vector<Choices> attributes{{first, code, price, {}, CODES},
                                        {first, code, price, amount, CODES},
                                        {first, code, price, {}, CODES}};
  const std::vector<Code> widths{3};
  const TableSource source{group, weight, codes, amounts, others, others, widths};
  const std::vector<Code> halves{0, 0, 1, 1, 2}, tables{0, 1, 2, 0, 1, 3, 1, 2, 3};
  WideTables wide{{halves, halves, halves, halves}, {}, 0.5};
  if (pairs) wide.columns = tables;
  Watch watch;
  const auto chosen =
      TableSearch(attributes, source, wide, {pairs, 5.0, 1.0, 1.0, 8, 20}, watch).run(start);
  for (std::int64_t at = 0; at < groups * 3; ++at) {
    const std::int64_t count = first[at / 3 + 1] - first[at / 3];
    check(count == 0 ? chosen[at] == -1 : chosen[at] >= 0 && chosen[at] < count,
          "a group publishes one of its candidates");
  }
}

// The first half of the records are targets, the rest and the first again look for them.
void check_targets(const std::vector<double>& values, std::int64_t n, std::int64_t p) {
  Watch watch;
  const std::int64_t count = (n + 1) / 2;
  std::vector<double> both = values;
  both.insert(both.end(), values.begin(), values.begin() + count * p);
  const Points points{both.data(), n + count, p};
  const Targets targets(points, count, watch);
  const Rows nearest = targets.nearest(3, 2);
  const Array<std::int64_t> weights(static_cast<std::size_t>(count), 2);
  Rows own(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) own[i] = nearest[i * 3];
  for (const std::int64_t tied : targets.rivals(weights, own, 1e-9, 1e-18, 2)) {
    check(tied >= 2, "no target is nearer than the nearest");
  }
}

std::vector<Labels> all_kernels(const std::vector<double>& values, std::int64_t n, std::int64_t p,
                                std::int64_t k) {
  Watch watch;
  const Points points{values.data(), n, p};
  std::vector<Labels> results;
  for (const Pivot pivot :
       {Pivot::CENTROID, Pivot::CENTROID_OPPOSITE, Pivot::PAIR, Pivot::REFERENCES}) {
    for (const Growth growth : {Growth::SEED, Growth::CENTROID}) {
      const std::int64_t stop = pivot == Pivot::CENTROID_OPPOSITE ? 3
                                : pivot == Pivot::PAIR            ? 2
                                                                  : 1;
      const PeelRules rules{pivot, growth, stop};
      results.push_back(peel(points, k, rules, watch));
      for (const Engine engine : {Engine::BRUTE, Engine::TREE}) {
        check(peel(points, k, rules, watch, engine) == results.back(), "all engines agree");
      }
    }
  }
  const PeelRules readings[] = {
      {Pivot::CENTROID_OPPOSITE, Growth::SEED, 2, Leftovers::JOINTLY},
      {Pivot::CENTROID_OPPOSITE, Growth::SEED, 3, Leftovers::EACH, true},
      {Pivot::PAIR, Growth::SEED, 2, Leftovers::BY_RECORD, false, true},
      {Pivot::CENTROID, Growth::SEED, 1, Leftovers::EACH, false, false, true},
  };
  for (const PeelRules& rules : readings) {
    results.push_back(peel(points, k, rules, watch));
    for (const Engine engine : {Engine::BRUTE, Engine::TREE}) {
      check(peel(points, k, rules, watch, engine) == results.back(), "all engines agree");
    }
  }
  const Row first = farthest_from_centroid(points);
  const auto [one, other] = farthest_pair(points, Deadline::HEED, watch);
  check(points.has(one) && points.has(other), "the farthest pair are records");
  const Rows path = nearest_next(points, first, Deadline::HEED, watch);
  const Rows tour = group_tour(points, results.front(), first, Deadline::HEED, watch);
  for (const bool cyclic : {false, true}) {
    results.push_back(path_cut(points, path, k, cyclic, Deadline::HEED, watch));
    results.push_back(path_cut(points, tour, k, cyclic, Deadline::HEED, watch));
  }
  std::vector<double> column(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) column[i] = values[i * p];
  results.push_back(optimal_univariate(column, k, watch).labels);
  if (n <= 10) results.push_back(exhaustive(points, k, watch));
  if (n <= 100) add_paper_methods(points, column, path, k, results);
  if (n >= 2 * k) add_searches(points, k, results);
  check_bound(points, k, results.back());
  check_targets(values, n, p);
  for (const Scale scale : {Scale::ZSCORE, Scale::RANGE, Scale::ROBUST, Scale::RANK}) {
    const Standardised scaled = standardise(points, scale);
    for (const double x : scaled.values) check(std::isfinite(x), "scaled values are finite");
  }
  for (const Labels& labels : results) {
    check_partition(labels, n, k);
    check(sse(points, labels) <= sst(points) * (1 + 1e-9), "SSE is at most SST");
    check(group_means(points, labels).size() ==
              group_sizes(labels).size() * static_cast<std::size_t>(p),
          "one mean for each group");
  }
  return results;
}

}  // namespace

int main() {
  for (const std::int64_t groups : {1, 2, 40}) {
    for (const std::int64_t k : {1, 3}) {
      check_tables(groups, k, true);
      check_tables(groups, k, false);
    }
  }
  for (int kind = 0; kind < 4; ++kind) {
    for (const std::int64_t n : {2, 3, 7, 9, 33, 400}) {
      for (const std::int64_t p : {1, 3, 13}) {
        for (const std::int64_t k : {2, 3, 5}) {
          if (k > n) continue;
          const auto values = sample(kind, n, p);
          check_published({values.data(), n, p}, k);
          check(simd::force("baseline"), "the baseline is always there");
          const auto expected = all_kernels(values, n, p, k);
          for (const char* level : {"avx2", "avx512"}) {
            if (!simd::force(level)) continue;
            check(all_kernels(values, n, p, k) == expected, "all instruction sets agree");
          }
        }
      }
    }
  }
  // Several levels of boxes, trees that are built anew, and trees that are given up.
  for (int kind = 0; kind < 4; ++kind) {
    Watch watch;
    const auto values = sample(kind, 6000, 4);
    const Points points{values.data(), 6000, 4};
    for (const PeelRules rules : {PeelRules{Pivot::CENTROID_OPPOSITE, Growth::SEED, 3},
                                  PeelRules{Pivot::CENTROID_OPPOSITE, Growth::CENTROID, 3},
                                  PeelRules{Pivot::PAIR, Growth::SEED, 2}}) {
      const Labels expected = peel(points, 3, rules, watch, Engine::BRUTE);
      for (const Engine engine : {Engine::AUTO, Engine::TREE}) {
        check(peel(points, 3, rules, watch, engine) == expected, "all engines agree");
      }
    }
  }
  Watch cancelled;
  cancelled.cancel();
  bool stopped = false;
  const auto values = sample(0, 20000, 5);
  try {
    static_cast<void>(
        peel({values.data(), 20000, 5}, 3, {Pivot::CENTROID, Growth::SEED, 1}, cancelled));
  } catch (const Cancelled&) {
    stopped = true;
  }
  check(stopped, "a cancelled kernel stops");
  std::printf("smoke: %d checks passed\n", checks);
  return 0;
}
