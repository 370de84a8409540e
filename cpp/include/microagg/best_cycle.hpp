// The cycle over ranked groups of ICSM15's local search (Algorithm 4).
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/groups.hpp"
#include "microagg/offers.hpp"
#include "microagg/points.hpp"
#include "microagg/simd.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// The most improving cyclic shift of records over groups that begins at a group of low score and
// visits groups in order of their distance from it; a group is entered by a record that takes
// another's place, or joins it while the next group loses one without replacement.
class BestCycle {
 public:
  // `tries`: if no shift from the group of lowest score improves, the next ones are tried, so many
  // in all (the paper: one).
  BestCycle(Points points, std::span<const Label> labels, std::int64_t k, std::int64_t tries,
            Lists lists, Watch& watch)
      : groups_(points, labels),
        k_(k),
        tries_(tries),
        offers_(groups_, lists),
        poll_(watch, 100'000, Deadline::HEED),
        least_(LEAST_GAIN * groups_.total_sse()) {
    MICROAGG_ASSERT(k >= 1 && tries >= 1);
  }

  [[nodiscard]] Labels run() {
    if (groups_.count() < 2) return groups_.labels();
    std::vector<Neighbour> scores = score_groups();
    std::sort(scores.begin(), scores.end(), nearer);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(tries_, groups_.count()); ++i) {
      rank_groups(scores[i].row);
      lay_out_nodes();
      find_paths();
      if (best_cost_ < -least_) {
        apply_best();
        break;
      }
    }
    return groups_.labels();
  }

 private:
  // Scores of equation 7 in closed form. With S the SSE and w the distance of centroids, replacing
  // records of b by records of a costs, over all pairs, -2 m_a S_b + (1 - 1/m_b) P, where P = m_a
  // S_b + m_b S_a + m_a m_b w^2; sums of w^2 over all groups follow from three moments.
  std::vector<Neighbour> score_groups() {
    const std::int64_t p = groups_.points().p;
    const Label count = groups_.count();
    double records = 0.0;       // sum of m
    double spreads = 0.0;       // sum of S
    double mean_spreads = 0.0;  // sum of S / m
    double norms = 0.0;         // sum of |c|^2
    double weighted_norms = 0.0;
    std::vector<double> spread(static_cast<std::size_t>(count));
    std::vector<double> norm(static_cast<std::size_t>(count));
    std::vector<double> centres(static_cast<std::size_t>(p));           // sum of c
    std::vector<double> weighted_centres(static_cast<std::size_t>(p));  // sum of m c
    for (Label group = 0; group < count; ++group) {
      const double m = static_cast<double>(groups_.size(group));
      spread[group] = groups_.sse_with(group);
      for (std::int64_t a = 0; a < p; ++a) {
        const double c = groups_.centroid(group)[a];
        norm[group] += c * c;
        centres[a] += c;
        weighted_centres[a] += m * c;
      }
      records += m;
      spreads += spread[group];
      mean_spreads += spread[group] / m;
      norms += norm[group];
      weighted_norms += m * norm[group];
    }
    std::vector<Neighbour> scores;
    for (Label group = 0; group < count; ++group) {
      const double m = static_cast<double>(groups_.size(group));
      const double own = spread[group];
      double across = 0.0;
      double weighted_across = 0.0;
      for (std::int64_t a = 0; a < p; ++a) {
        across += groups_.centroid(group)[a] * centres[a];
        weighted_across += groups_.centroid(group)[a] * weighted_centres[a];
      }
      const double apart = static_cast<double>(count) * norm[group] - 2.0 * across + norms;
      const double weighted_apart = records * norm[group] - 2.0 * weighted_across + weighted_norms;
      const double by_own_size = spreads + own / m * records + weighted_apart;  // sum of P / m_a
      const double by_their_size = m * mean_spreads + static_cast<double>(count) * own + m * apart;
      const double score = -2.0 * (m * spreads - records * own) + by_own_size - by_their_size;
      scores.push_back({score, group});
    }
    poll_.tick(groups_.points().n * p);
    return scores;
  }

  void rank_groups(Label first) {
    std::vector<Neighbour> order;
    for (Label group = 0; group < groups_.count(); ++group) {
      const double apart =
          squared_distance(groups_.centroid(group), groups_.centroid(first), groups_.points().p);
      order.push_back({group == first ? -1.0 : apart, group});
    }
    std::sort(order.begin(), order.end(), nearer);
    ranked_.clear();
    rank_of_.resize(order.size());
    for (const Neighbour& entry : order) {
      rank_of_[entry.row] = static_cast<std::int64_t>(ranked_.size());
      ranked_.push_back(entry.row);
    }
  }

  // A node is a record, or a group itself (row -1). Nodes of one group follow each other, the group
  // last.
  struct Node {
    Row row;
    Label group;
  };

  static constexpr double FORBIDDEN = std::numeric_limits<double>::infinity();

  std::int64_t count() const { return static_cast<std::int64_t>(nodes_.size()); }

  void lay_out_nodes() {
    const std::int64_t p = groups_.points().p;
    nodes_.clear();
    first_node_.clear();
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
    enter_.resize(nodes_.size());
    leave_.assign(nodes_.size(), FORBIDDEN);
    step_.resize(nodes_.size());
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(nodes_.size()); ++at) {
      const Node& node = nodes_[at];
      const double m = static_cast<double>(groups_.size(node.group));
      const double* centroid = groups_.centroid(node.group);
      double* hole = holes_.data() + at / simd::LANES * p * simd::LANES + at % simd::LANES;
      if (node.row < 0) {
        for (std::int64_t a = 0; a < p; ++a) hole[a * simd::LANES] = centroid[a];
        const bool has_room = groups_.size(node.group) < 2 * k_ - 1;
        weight_[at] = has_room ? m / (m + 1.0) : 0.0;
        enter_[at] = has_room ? 0.0 : FORBIDDEN;
      } else {
        const double* y = groups_.points().row(node.row);
        for (std::int64_t a = 0; a < p; ++a) {
          hole[a * simd::LANES] = centroid[a] + (centroid[a] - y[a]) / (m - 1.0);
        }
        weight_[at] = (m - 1.0) / m;
        enter_[at] = -groups_.remove_gain(node.row);
        if (groups_.size(node.group) > k_) leave_[at] = enter_[at];
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

  // Costs of the edges from node `from` into nodes begin .. end-1; infinity where group sizes
  // forbid one.
  void find_steps(std::int64_t from, std::int64_t begin, std::int64_t end) {
    measure(from, begin, end);
    if (nodes_[from].row <
        0) {  // the source group takes nobody further: the target record leaves a gap
      std::copy(leave_.begin() + begin, leave_.begin() + end, step_.begin() + begin);
    } else {
      for (std::int64_t to = begin; to < end; ++to) {
        step_[to] = weight_[to] * distances_[to] + enter_[to];
      }
    }
  }

  void find_paths() {
    starts_ = first_node_[1];
    const std::int64_t n = count();
    const std::int64_t ranks = static_cast<std::int64_t>(ranked_.size());
    cost_.assign(static_cast<std::size_t>(n * starts_), FORBIDDEN);
    before_.assign(static_cast<std::size_t>(n * starts_), -1);
    for (std::int64_t start = 0; start < starts_; ++start) cost_[start * n + start] = 0.0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      for (std::int64_t from = first_node_[rank]; from < first_node_[rank + 1]; ++from) {
        if (rank > 0) close(from);
        if (offers_.everywhere() || nodes_[from].row < 0) {
          relax(from, first_node_[rank + 1], n);
        } else {
          for (const Label group : offers_.of(nodes_[from].row)) {
            const std::int64_t other = rank_of_[group];
            if (other > rank) relax(from, first_node_[other], first_node_[other + 1]);
          }
        }
      }
    }
  }

  void relax(std::int64_t from, std::int64_t begin, std::int64_t end) {
    find_steps(from, begin, end);
    const std::int64_t n = count();
    for (std::int64_t start = 0; start < starts_; ++start) {
      const double here = cost_[start * n + from];
      if (here == FORBIDDEN) continue;
      simd::kernels().relax(here, static_cast<double>(from), step_.data() + begin,
                            cost_.data() + start * n + begin, before_.data() + start * n + begin,
                            end - begin);
    }
    poll_.tick((end - begin) * (groups_.points().p + starts_) / 4 + 1);
  }

  // Back to the start: the last record takes the first one's place, or what sizes allow.
  void close(std::int64_t from) {
    find_steps(from, 0, starts_);
    for (std::int64_t start = 0; start < starts_; ++start) {
      const double total = cost_[start * count() + from] + step_[start];
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
    for (std::int64_t at = best_end_; at >= 0;
         at = static_cast<std::int64_t>(before_[best_start_ * count() + at])) {
      if (nodes_[at].row >= 0) moves.push_back({nodes_[at].row, nodes_[to].group});
      to = at;
    }
    groups_.move_all(moves);
  }

  Groups groups_;
  std::int64_t k_;
  std::int64_t tries_;
  Offers offers_;
  Poll poll_;
  double least_;
  std::vector<Label> ranked_;
  std::vector<std::int64_t> rank_of_;  // of each group
  std::vector<Node> nodes_;
  std::vector<std::int64_t> first_node_;  // of each rank, and one past the last
  Array<double> holes_;                   // in SIMD blocks
  std::vector<double> weight_;
  std::vector<double> enter_;  // what is added to it
  std::vector<double> leave_;  // cost of a record's leaving its group without replacement
  Array<double> distances_;
  std::vector<double> step_;
  std::int64_t starts_ = 0;
  Array<double> cost_;    // from each start, of the shortest path to a node
  Array<double> before_;  // the node before it on that path; -1: none
  double best_cost_ = 0.0;
  std::int64_t best_end_ = -1;
  std::int64_t best_start_ = -1;
};

}  // namespace microagg
