// A genetic method for multivariate data: a chromosome is the group label of every record,
// crossover passes whole groups on, and repair restores groups of k .. 2k-1 records. CMP98
// (section 3.2) names the difficulty of representing multivariate partitions; this is our answer to
// it.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/random.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class GeneticGroups {
 public:
  static constexpr int POPULATION = 24;

  GeneticGroups(Points points, std::int64_t k, std::int64_t generations, std::uint64_t seed,
                Watch& watch)
      : points_(points), k_(k), generations_(generations), random_(seed), poll_(watch, 300'000) {
    MICROAGG_ASSERT(k >= 1 && generations >= 0);
  }

  [[nodiscard]] Labels run() {
    if (points_.n < 2 * k_) return Labels(static_cast<std::size_t>(points_.n), 0);
    std::vector<Chromosome> population;
    while (population.size() < POPULATION) population.push_back(finished({}));
    std::sort(population.begin(), population.end(), cheaper);
    for (std::int64_t generation = 0; generation < generations_; ++generation) {
      // Steady state: a child replaces the worst when it is better.
      Chromosome child = crossed(tournament(population), tournament(population));
      if (cheaper(child, population.back())) {
        population.back() = std::move(child);
        std::sort(population.begin(), population.end(), cheaper);
      }
      poll_.report_done(static_cast<double>(generation) / static_cast<double>(generations_));
    }
    Labels labels(static_cast<std::size_t>(points_.n));
    for (std::size_t group = 0; group < population.front().groups.size(); ++group) {
      for (const Row row : population.front().groups[group])
        labels[row] = static_cast<Label>(group);
    }
    return by_first_appearance(std::move(labels));
  }

 private:
  using Group = std::vector<Row>;
  struct Chromosome {
    std::vector<Group> groups;
    std::vector<double> costs;
    double cost = 0.0;
  };
  static bool cheaper(const Chromosome& a, const Chromosome& b) { return a.cost < b.cost; }

  const Chromosome& tournament(const std::vector<Chromosome>& population) {
    const auto& a = population[random_.below(POPULATION)];
    const auto& b = population[random_.below(POPULATION)];
    return cheaper(b, a) ? b : a;
  }

  // Groups of both parents that do not overlap, those with the least SSE per record first; a few
  // are left out by chance, so that their records are grouped anew.
  Chromosome crossed(const Chromosome& mother, const Chromosome& father) {
    std::vector<std::pair<double, const Group*>> candidates;
    for (const Chromosome* parent : {&mother, &father}) {
      for (std::size_t i = 0; i < parent->groups.size(); ++i) {
        const double share = parent->costs[i] / static_cast<double>(parent->groups[i].size());
        candidates.push_back({share * (0.5 + random_.unit()), &parent->groups[i]});
      }
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(points_.n));
    std::vector<Group> kept;
    for (const auto& [share, group] : candidates) {
      const bool overlaps =
          std::any_of(group->begin(), group->end(), [&](Row row) { return taken[row] != 0; });
      if (overlaps || random_.unit() < 0.1) continue;
      for (const Row row : *group) taken[row] = 1;
      kept.push_back(*group);
    }
    return finished(std::move(kept));
  }

  // The farthest from the centroid of the free records among a few random ones: groups formed from
  // the outside in leave fewer stragglers.
  Row choose_seed(const std::vector<Row>& free) {
    std::vector<double> centre(static_cast<std::size_t>(points_.p));
    for (const Row row : free) {
      for (std::int64_t a = 0; a < points_.p; ++a) centre[a] += points_.row(row)[a];
    }
    for (double& c : centre) c /= static_cast<double>(free.size());
    Neighbour best{-1.0, 0};
    for (std::int64_t left = 1 + random_.below(8); left > 0; --left) {
      const Row row = free[random_.below(static_cast<std::int64_t>(free.size()))];
      const Neighbour candidate{squared_distance(points_.row(row), centre.data(), points_.p), row};
      if (farther(candidate, best)) best = candidate;
    }
    return best.row;
  }

  // Repair: records without a group form new ones around one of them, each with its k-1 nearest;
  // the last few join the nearest group.
  Chromosome finished(std::vector<Group> groups) {
    std::vector<std::uint8_t> grouped(static_cast<std::size_t>(points_.n));
    for (const Group& group : groups) {
      for (const Row row : group) grouped[row] = 1;
    }
    std::vector<Row> free;
    for (Row row = 0; row < points_.n; ++row) {
      if (!grouped[row]) free.push_back(row);
    }
    std::vector<Neighbour> near;
    while (static_cast<std::int64_t>(free.size()) >= k_) {
      const Row seed = choose_seed(free);
      near.clear();
      for (const Row row : free) {
        near.push_back({squared_distance(points_.row(row), points_.row(seed), points_.p), row});
      }
      std::nth_element(near.begin(), near.begin() + (k_ - 1), near.end(), nearer);
      Group group;
      for (std::int64_t i = 0; i < k_; ++i) group.push_back(near[i].row);
      std::sort(group.begin(), group.end());
      std::erase_if(free,
                    [&](Row row) { return std::binary_search(group.begin(), group.end(), row); });
      groups.push_back(std::move(group));
      poll_.tick(static_cast<std::int64_t>(near.size()) * points_.p);
    }
    for (const Row row : free) join_nearest(groups, row);
    Chromosome result{std::move(groups), {}, 0.0};
    for (const Group& group : result.groups) {
      result.costs.push_back(cost_of(group));
      result.cost += result.costs.back();
    }
    poll_.tick(points_.n * points_.p);
    return result;
  }

  // To the group with the least mean distance; one that thereby reaches 2k records becomes two.
  void join_nearest(std::vector<Group>& groups, Row row) const {
    Neighbour best{std::numeric_limits<double>::infinity(), 0};
    for (std::size_t i = 0; i < groups.size(); ++i) {
      double distance = 0.0;
      for (const Row other : groups[i]) {
        distance += squared_distance(points_.row(row), points_.row(other), points_.p);
      }
      distance /= static_cast<double>(groups[i].size());
      const Neighbour candidate{distance, static_cast<Row>(i)};
      if (nearer(candidate, best)) best = candidate;
    }
    Group& group = groups[best.row];
    group.push_back(row);
    if (static_cast<std::int64_t>(group.size()) < 2 * k_) return;
    std::vector<Neighbour> near;
    for (const Row other : group) {
      near.push_back({squared_distance(points_.row(row), points_.row(other), points_.p), other});
    }
    std::sort(near.begin(), near.end(), nearer);
    Group around;
    group.clear();
    for (const Neighbour& other : near) {
      (static_cast<std::int64_t>(around.size()) < k_ ? around : group).push_back(other.row);
    }
    groups.push_back(std::move(around));
  }

  double cost_of(const Group& group) const {
    std::vector<double> values;
    for (const Row row : group) {
      values.insert(values.end(), points_.row(row), points_.row(row) + points_.p);
    }
    return sst({values.data(), static_cast<std::int64_t>(group.size()), points_.p});
  }

  Points points_;
  std::int64_t k_;
  std::int64_t generations_;
  Random random_;
  Poll poll_;
};

}  // namespace microagg
