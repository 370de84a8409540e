// The two steps of ICSM15's local search that change assignments: the pool of simple changes
// (Algorithm 3) and the cycle over ranked groups (Algorithm 4).
#pragma once

#include <limits>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/neighbours.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// One pass of 1-opt and 2-opt: collects up to `capacity` improving migrations and exchanges in the
// order of the records, then applies the best first, each group at most once. Pairs of groups too
// far apart for any gain are passed over unseen, which changes nothing but the time.
class PoolPass {
 public:
  PoolPass(Points points, std::span<const Label> labels, std::int64_t k, std::int64_t capacity,
           Watch& watch)
      : groups_(points, labels),
        k_(k),
        capacity_(static_cast<std::size_t>(capacity)),
        poll_(watch, 200'000, Deadline::HEED),
        least_(LEAST_GAIN * groups_.total_sse()) {}

  Labels run() {
    find_near_groups();
    for (Row row = 0; row < groups_.points().n && pool_.size() < capacity_; ++row) {
      collect_exchanges(row);
      collect_migrations(row);
    }
    std::stable_sort(pool_.begin(), pool_.end(),
                     [](const Change& a, const Change& b) { return a.change < b.change; });
    std::vector<std::uint8_t> changed(static_cast<std::size_t>(groups_.count()));
    for (const Change& change : pool_) {
      const Label from = groups_.group_of(change.row);
      const Label to = change.to;
      if (changed[from] || changed[to]) continue;
      changed[from] = changed[to] = 1;
      if (change.partner >= 0) {
        groups_.swap(change.row, change.partner);
      } else {
        groups_.move(change.row, to);
      }
    }
    return groups_.labels();
  }

 private:
  struct Change {
    double change;
    Row row;
    Row partner;  // -1: a migration
    Label to;
  };

  void find_near_groups() {
    near_.resize(static_cast<std::size_t>(groups_.count()));
    for (Label p = 0; p < groups_.count(); ++p) {
      for (Label q = p + 1; q < groups_.count(); ++q) {
        if (!groups_.swap_may_pay(p, q)) continue;
        near_[p].push_back(q);
        near_[q].push_back(p);
      }
      poll_.tick((groups_.count() - p) * groups_.points().p);
    }
  }

  void add(const Change& change) {
    if (change.change < -least_ && pool_.size() < capacity_) pool_.push_back(change);
  }

  void collect_exchanges(Row row) {
    partners_.clear();
    for (const Label group : near_[groups_.group_of(row)]) {
      for (const Row other : groups_.members(group)) {
        if (other > row) partners_.push_back({groups_.swap_change(row, other), other});
      }
    }
    std::erase_if(partners_, [&](const Neighbour& other) { return !(other.distance < -least_); });
    std::sort(partners_.begin(), partners_.end(),
              [](const Neighbour& a, const Neighbour& b) { return a.row < b.row; });
    for (const Neighbour& other : partners_) {
      add({other.distance, row, other.row, groups_.group_of(other.row)});
    }
    poll_.tick(static_cast<std::int64_t>(near_[groups_.group_of(row)].size()) * k_ *
               groups_.points().p);
  }

  void collect_migrations(Row row) {
    const Label own = groups_.group_of(row);
    if (groups_.size(own) <= k_) return;
    const double gain = groups_.remove_gain(row);
    for (Label group = 0; group < groups_.count(); ++group) {
      if (group == own || groups_.size(group) >= 2 * k_ - 1) continue;
      add({groups_.insert_cost(row, group) - gain, row, -1, group});
    }
    poll_.tick(groups_.count() * groups_.points().p);
  }

  Groups groups_;
  std::int64_t k_;
  std::size_t capacity_;
  Poll poll_;
  double least_;
  std::vector<std::vector<Label>> near_;
  std::vector<Neighbour> partners_;
  std::vector<Change> pool_;
};

// The most improving cyclic shift of records over groups that begins at the group of lowest score
// and visits groups in order of their distance from it; a group is entered by a record that takes
// another's place, or joins it while the next group loses one without replacement.
class BestCycle {
 public:
  // `reach`: a record is only offered to this many nearest groups (all, if there are no more).
  BestCycle(Points points, std::span<const Label> labels, std::int64_t k, std::int64_t reach,
            Watch& watch)
      : groups_(points, labels),
        k_(k),
        reach_(reach),
        poll_(watch, 100'000, Deadline::HEED),
        least_(LEAST_GAIN * groups_.total_sse()) {}

  Labels run() {
    if (groups_.count() > 1) {
      rank_groups();
      lay_out_nodes();
      find_paths();
      if (best_cost_ < -least_) apply_best();
    }
    return groups_.labels();
  }

 private:
  // Score of equation 7 in closed form: with w the distance of centroids, the sum of all
  // replacements in group q by records of p is -2 m_p SSE_q + (1 - 1/m_q) (m_p SSE_q + m_q SSE_p +
  // m_p m_q w^2).
  void rank_groups() {
    const std::int64_t p = groups_.points().p;
    const Label count = groups_.count();
    std::vector<double> spread(static_cast<std::size_t>(count));
    for (Label group = 0; group < count; ++group) spread[group] = groups_.sse_with(group);
    Neighbour lowest{std::numeric_limits<double>::infinity(), 0};
    for (Label a = 0; a < count; ++a) {
      double score = 0.0;
      for (Label b = 0; b < count; ++b) {
        if (a == b) continue;
        const double ma = static_cast<double>(groups_.size(a));
        const double mb = static_cast<double>(groups_.size(b));
        const double apart = squared_distance(groups_.centroid(a), groups_.centroid(b), p);
        const double pairs = ma * spread[b] + mb * spread[a] + ma * mb * apart;
        score += -2.0 * ma * spread[b] + (1.0 - 1.0 / mb) * pairs;
        score -= -2.0 * mb * spread[a] + (1.0 - 1.0 / ma) * pairs;
      }
      if (nearer({score, a}, lowest)) lowest = {score, a};
      poll_.tick(count * p);
    }
    std::vector<Neighbour> order;
    for (Label group = 0; group < count; ++group) {
      const double apart =
          squared_distance(groups_.centroid(group), groups_.centroid(lowest.row), p);
      order.push_back({group == lowest.row ? -1.0 : apart, group});
    }
    std::sort(order.begin(), order.end(), nearer);
    for (const Neighbour& entry : order) ranked_.push_back(entry.row);
  }

  // A node is a record, or a group itself (row -1). Nodes of one group follow each other, the group
  // last.
  struct Node {
    Row row;
    Label group;
  };

  void lay_out_nodes() {
    const std::int64_t p = groups_.points().p;
    for (const Label group : ranked_) {
      first_node_.push_back(static_cast<std::int64_t>(nodes_.size()));
      for (const Row row : groups_.members(group)) nodes_.push_back({row, group});
      nodes_.push_back({-1, group});
    }
    first_node_.push_back(static_cast<std::int64_t>(nodes_.size()));
    // A record x that takes the place of y costs `weight` |x - hole|^2 - `gain`, where `hole` is
    // the centroid without y and `gain` what y's leaving saves; one that joins a group without
    // replacing anybody costs the same with the group's centroid and no gain.
    const std::int64_t blocks =
        (static_cast<std::int64_t>(nodes_.size()) + simd::LANES - 1) / simd::LANES;
    holes_.resize(static_cast<std::size_t>(blocks * simd::LANES * p));
    weight_.resize(nodes_.size());
    gain_.resize(nodes_.size());
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(nodes_.size()); ++at) {
      const Node& node = nodes_[at];
      const double m = static_cast<double>(groups_.size(node.group));
      const double* centroid = groups_.centroid(node.group);
      double* hole = holes_.data() + at / simd::LANES * p * simd::LANES + at % simd::LANES;
      if (node.row < 0) {
        for (std::int64_t a = 0; a < p; ++a) hole[a * simd::LANES] = centroid[a];
        weight_[at] = groups_.size(node.group) < 2 * k_ - 1 ? m / (m + 1.0) : -1.0;
      } else {
        const double* y = groups_.points().row(node.row);
        for (std::int64_t a = 0; a < p; ++a) {
          hole[a * simd::LANES] = centroid[a] + (centroid[a] - y[a]) / (m - 1.0);
        }
        weight_[at] = (m - 1.0) / m;
        gain_[at] = groups_.remove_gain(node.row);
      }
    }
    distances_.resize(static_cast<std::size_t>(blocks * simd::LANES));
  }

  // Distances of the source record to the holes of all nodes from `begin` on; none for a group as
  // source.
  void measure(std::int64_t from, std::int64_t begin, std::int64_t end) {
    if (nodes_[from].row < 0) return;
    const std::int64_t first = begin / simd::LANES;
    simd::kernels().block_distances(
        holes_.data(), groups_.points().p, first, (end + simd::LANES - 1) / simd::LANES,
        groups_.points().row(nodes_[from].row), distances_.data() + first * simd::LANES);
  }

  // Cost of the edge from node `from`, measured, into node `to`; infinity where group sizes forbid
  // it.
  double edge(std::int64_t from, std::int64_t to) const {
    constexpr double FORBIDDEN = std::numeric_limits<double>::infinity();
    if (nodes_[from].row <
        0) {  // the source group takes nobody further: the target record leaves a gap
      const bool allowed = nodes_[to].row >= 0 && groups_.size(nodes_[to].group) > k_;
      return allowed ? -gain_[to] : FORBIDDEN;
    }
    return weight_[to] < 0.0 ? FORBIDDEN : weight_[to] * distances_[to] - gain_[to];
  }

  void find_paths() {
    starts_ = first_node_[1];
    const std::int64_t n = static_cast<std::int64_t>(nodes_.size());
    const std::int64_t ranks = static_cast<std::int64_t>(ranked_.size());
    cost_.assign(static_cast<std::size_t>(n * starts_), std::numeric_limits<double>::infinity());
    before_.assign(static_cast<std::size_t>(n * starts_), -1);
    for (std::int64_t start = 0; start < starts_; ++start) cost_[start * starts_ + start] = 0.0;
    find_reach();
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      for (std::int64_t from = first_node_[rank]; from < first_node_[rank + 1]; ++from) {
        if (rank > 0) close(from);
        if (near_.empty() || nodes_[from].row < 0) {
          relax(from, first_node_[rank + 1], n);
        } else {
          for (const std::int64_t other : near_[rank]) {
            if (other > rank) relax(from, first_node_[other], first_node_[other + 1]);
          }
        }
      }
    }
  }

  void relax(std::int64_t from, std::int64_t begin, std::int64_t end) {
    measure(from, begin, end);
    const double* here = cost_.data() + from * starts_;
    for (std::int64_t to = begin; to < end; ++to) {
      const double step = edge(from, to);
      double* there = cost_.data() + to * starts_;
      for (std::int64_t start = 0; start < starts_; ++start) {
        if (here[start] + step < there[start]) {
          there[start] = here[start] + step;
          before_[to * starts_ + start] = static_cast<std::int32_t>(from);
        }
      }
    }
    poll_.tick((end - begin) * groups_.points().p / 4 + 1);
  }

  // Back to the start: the last record takes the first one's place, or what sizes allow.
  void close(std::int64_t from) {
    measure(from, 0, starts_);
    for (std::int64_t start = 0; start < starts_; ++start) {
      const double total = cost_[from * starts_ + start] + edge(from, start);
      if (total < best_cost_) {
        best_cost_ = total;
        best_end_ = from;
        best_start_ = start;
      }
    }
  }

  void apply_best() {
    std::vector<std::pair<Row, Label>> moves;
    std::int64_t to = best_start_;
    for (std::int64_t at = best_end_; at >= 0; at = before_[at * starts_ + best_start_]) {
      if (nodes_[at].row >= 0) moves.push_back({nodes_[at].row, nodes_[to].group});
      to = at;
    }
    groups_.move_all(moves);
  }

  // With a limited reach, the ranks of each group's nearest groups.
  void find_reach() {
    if (reach_ >= groups_.count()) return;
    std::vector<std::int64_t> rank_of(static_cast<std::size_t>(groups_.count()));
    for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
      rank_of[ranked_[rank]] = static_cast<std::int64_t>(rank);
    }
    near_.assign(ranked_.size(), {});
    Array<double> centroids;
    for (Label group = 0; group < groups_.count(); ++group) {
      centroids.insert(centroids.end(), groups_.centroid(group),
                       groups_.centroid(group) + groups_.points().p);
    }
    BruteNeighbours index({centroids.data(), groups_.count(), groups_.points().p});
    for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
      for (const Neighbour& other : index.k_nearest(groups_.centroid(ranked_[rank]), reach_ + 1)) {
        near_[rank].push_back(rank_of[other.row]);
      }
      std::sort(near_[rank].begin(), near_[rank].end());
      poll_.tick(groups_.count() * groups_.points().p);
    }
  }

  Groups groups_;
  std::int64_t k_;
  std::int64_t reach_;
  Poll poll_;
  double least_;
  std::vector<Label> ranked_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> first_node_;  // of each rank, and one past the last
  Array<double> holes_;                   // in SIMD blocks
  std::vector<double> weight_;
  std::vector<double> gain_;
  Array<double> distances_;
  std::int64_t starts_ = 0;
  Array<double> cost_;          // of the shortest path to a node from each start
  Array<std::int32_t> before_;  // the node before it on that path
  std::vector<std::vector<std::int64_t>> near_;
  double best_cost_ = 0.0;
  std::int64_t best_end_ = -1;
  std::int64_t best_start_ = -1;
};

}  // namespace microagg
