// Genetic microaggregation of ordered data (CMP98, section 2.2): a partition is a string of bits,
// one between any two neighbours, that says where a group ends.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/path_cut.hpp"
#include "microagg/points.hpp"
#include "microagg/random.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class Genetic {
 public:
  static constexpr int POPULATION = 60;

  Genetic(Points points, std::span<const Row> order, std::int64_t k, std::int64_t generations,
          std::uint64_t seed, Watch& watch)
      : n_(points.n),
        k_(k),
        generations_(generations),
        order_(order),
        random_(seed),
        poll_(watch, 100'000),
        costs_(static_cast<std::size_t>((points.n + simd::STARTS) * k)) {
    MICROAGG_ASSERT(k >= 1 && generations >= 0);
    MICROAGG_ASSERT(static_cast<std::int64_t>(order.size()) == n_ && hold(points, order));
    Stretches stretches(points, order, k, 0);
    for (std::int64_t first = 0; first < n_; first += simd::STARTS) {
      stretches.each(first, [&](std::int64_t start, std::int64_t size, double cost) {
        costs_[start * k_ + size - k_] = cost;
      });
    }
  }

  [[nodiscard]] Labels run() {
    if (n_ < 2 * k_) return Labels(static_cast<std::size_t>(n_), 0);
    std::vector<Chromosome> population;
    population.push_back(repaired(fixed_size()));
    while (population.size() < POPULATION) population.push_back(repaired(random_bits()));
    std::sort(population.begin(), population.end(), cheaper);
    for (std::int64_t generation = 0; generation < generations_; ++generation) {
      // The best quarter survives; the rest are children of parents that won a tournament.
      std::vector<Chromosome> next(population.begin(), population.begin() + POPULATION / 4);
      while (next.size() < POPULATION) {
        next.push_back(repaired(child(tournament(population), tournament(population))));
        poll_.tick(n_);
      }
      std::sort(next.begin(), next.end(), cheaper);
      population = std::move(next);
      poll_.report_done(static_cast<double>(generation) / static_cast<double>(generations_));
    }
    Labels labels(static_cast<std::size_t>(n_));
    Label group = 0;
    for (std::int64_t at = 0; at < n_; ++at) {
      if (at > 0 && population.front().ends[at - 1]) ++group;
      labels[order_[at]] = group;
    }
    return labels;
  }

 private:
  using Bits = std::vector<std::uint8_t>;  // ends[i]: a group ends after the record at position i
  struct Chromosome {
    Bits ends;
    double cost;
  };
  static bool cheaper(const Chromosome& a, const Chromosome& b) { return a.cost < b.cost; }

  Bits fixed_size() const {
    Bits ends(static_cast<std::size_t>(n_));
    for (std::int64_t at = k_ - 1; at < n_; at += k_) ends[at] = 1;
    return ends;
  }
  Bits random_bits() {
    Bits ends(static_cast<std::size_t>(n_));
    for (std::int64_t at = -1; at < n_;) {
      at += k_ + random_.below(k_);
      if (at < n_) ends[at] = 1;
    }
    return ends;
  }

  const Chromosome& tournament(const std::vector<Chromosome>& population) {
    const auto& a = population[random_.below(POPULATION)];
    const auto& b = population[random_.below(POPULATION)];
    return cheaper(b, a) ? b : a;
  }

  // Two-point crossover, then mutation: a few groups' ends move by one place or vanish.
  Bits child(const Chromosome& mother, const Chromosome& father) {
    Bits ends = mother.ends;
    const std::int64_t a = random_.below(n_);
    const std::int64_t b = random_.below(n_);
    std::copy(father.ends.begin() + std::min(a, b), father.ends.begin() + std::max(a, b),
              ends.begin() + std::min(a, b));
    const std::int64_t mutations = 1 + random_.below(4);
    for (std::int64_t i = 0; i < mutations; ++i) {
      const std::int64_t at = random_.below(n_ - 1);
      const std::int64_t kind = random_.below(4);
      if (kind == 0) {
        ends[at] ^= 1;
      } else if (at > 0 && ends[at] != ends[at - 1]) {
        std::swap(ends[at], ends[at - 1]);
      } else if (ends[at] != ends[at + 1]) {
        std::swap(ends[at], ends[at + 1]);
      }
    }
    return ends;
  }

  // Makes every group hold k .. 2k-1 records, from the left: an end that comes too early is
  // dropped, one that comes too late is put where the two parts cost least; what is left at the end
  // is re-cut.
  Chromosome repaired(Bits ends) const {
    Chromosome result{Bits(ends.size()), 0.0};
    std::int64_t start = 0;
    while (n_ - start >= 2 * k_) {
      std::int64_t size = k_;
      while (size < 2 * k_ && !ends[start + size - 1]) ++size;
      if (size == 2 * k_) size = k_;
      // Never leave fewer than k behind.
      if (n_ - start - size < k_) size = best_split(start);
      close(result, start, size);
      start += size;
    }
    close(result, start, n_ - start);
    return result;
  }
  // 2k .. 3k-1 records are left: the cheapest way to make two groups of them.
  std::int64_t best_split(std::int64_t start) const {
    std::int64_t best = k_;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::int64_t size = k_; size < 2 * k_ && n_ - start - size >= k_; ++size) {
      if (n_ - start - size >= 2 * k_) continue;
      const double cost = cost_of(start, size) + cost_of(start + size, n_ - start - size);
      if (cost < lowest) {
        lowest = cost;
        best = size;
      }
    }
    return best;
  }
  void close(Chromosome& result, std::int64_t start, std::int64_t size) const {
    result.ends[start + size - 1] = 1;
    result.cost += cost_of(start, size);
  }
  double cost_of(std::int64_t start, std::int64_t size) const {
    return costs_[start * k_ + size - k_];
  }

  std::int64_t n_;
  std::int64_t k_;
  std::int64_t generations_;
  std::span<const Row> order_;
  Random random_;
  Poll poll_;
  Array<double> costs_;  // of every stretch of k .. 2k-1 records
};

}  // namespace microagg
