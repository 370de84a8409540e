// Every kernel once, without Python, under the sanitizers: no undefined behaviour, no stray memory,
// groups of at least k, the same result at every instruction set.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "microagg/exhaustive.hpp"
#include "microagg/objective.hpp"
#include "microagg/path_cut.hpp"
#include "microagg/peel.hpp"
#include "microagg/standardise.hpp"
#include "microagg/tours.hpp"
#include "microagg/univariate.hpp"

using namespace microagg;

namespace {

int checks = 0;

void check(bool holds, const char* what) {
  ++checks;
  if (holds) return;
  std::fprintf(stderr, "smoke: %s\n", what);
  std::exit(1);
}

void check_partition(const Labels& labels, std::int64_t n, std::int64_t k) {
  check(static_cast<std::int64_t>(labels.size()) == n, "one label per record");
  const auto sizes = group_sizes(labels);
  check(*std::min_element(sizes.begin(), sizes.end()) >= std::min(k, n), "groups of at least k");
}

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

std::vector<Labels> all_kernels(const std::vector<double>& values, std::int64_t n, std::int64_t p,
                                std::int64_t k) {
  Watch watch;
  const Points points{values.data(), n, p};
  std::vector<Labels> results;
  for (const Pivot pivot : {Pivot::CENTROID, Pivot::CENTROID_OPPOSITE, Pivot::PAIR}) {
    for (const Growth growth : {Growth::SEED, Growth::CENTROID}) {
      const std::int64_t stop = pivot == Pivot::CENTROID ? 1 : pivot == Pivot::PAIR ? 2 : 3;
      results.push_back(peel(points, k, {pivot, growth, stop}, watch));
    }
  }
  const Row first = farthest_from_centroid(points);
  first_of_farthest_pair(points, Deadline::HEED, watch);
  const Rows path = nearest_next(points, first, Deadline::HEED, watch);
  const Rows tour = group_tour(points, results.front(), first, Deadline::HEED, watch);
  for (const bool cyclic : {false, true}) {
    results.push_back(path_cut(points, path, k, cyclic, Deadline::HEED, watch));
    results.push_back(path_cut(points, tour, k, cyclic, Deadline::HEED, watch));
  }
  std::vector<double> column(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) column[i] = values[i * p];
  results.push_back(optimal_univariate(column, k, watch));
  if (n <= 10) results.push_back(exhaustive(points, k, watch));
  for (const Scale scale : {Scale::ZSCORE, Scale::RANGE, Scale::ROBUST, Scale::RANK}) {
    const Standardised scaled = standardise(points, scale);
    for (const double x : scaled.values) check(std::isfinite(x), "scaled values are finite");
  }
  for (const Labels& labels : results) {
    check_partition(labels, n, k);
    check(sse(points, labels) <= sst(points) * (1 + 1e-9), "SSE is at most SST");
    group_means(points, labels);
  }
  return results;
}

}  // namespace

int main() {
  for (int kind = 0; kind < 4; ++kind) {
    for (const std::int64_t n : {2, 3, 7, 9, 33, 400}) {
      for (const std::int64_t p : {1, 3, 13}) {
        for (const std::int64_t k : {2, 3, 5}) {
          if (k > n) continue;
          const auto values = sample(kind, n, p);
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
  Watch cancelled;
  cancelled.cancel();
  bool stopped = false;
  const auto values = sample(0, 20000, 5);
  try {
    peel({values.data(), 20000, 5}, 3, {Pivot::CENTROID, Growth::SEED, 1}, cancelled);
  } catch (const Cancelled&) {
    stopped = true;
  }
  check(stopped, "a cancelled kernel stops");
  std::printf("smoke: %d checks passed\n", checks);
  return 0;
}
