// Fixed-size partitions that peel groups off the outside of the data: MDAV, MD, CBFS, TFRP's first
// phase, and the centroid-growth pair Diameter and Centroid. One loop; the methods differ in three
// small rules.
#pragma once

#include <limits>
#include <vector>

#include "microagg/exact_sum.hpp"
#include "microagg/farthest.hpp"
#include "microagg/farthest_pair.hpp"
#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/remaining.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Around which records the next groups are formed.
enum class Pivot {
  CENTROID,           // r farthest from the centroid of what remains (CBFS, Centroid)
  CENTROID_OPPOSITE,  // r as above and s farthest from r outside r's group (MDAV)
  PAIR,               // the two most distant records r and s (MD, Diameter)
  REFERENCES,         // r farthest from one of two fixed points, in turns (TFRP)
};
// Which records join a group.
enum class Growth {
  SEED,      // the k-1 nearest to the seed
  CENTROID,  // one at a time, each the nearest to the running centroid of the group
};
// Where fewer than k records that are left go (ties: the group formed first).
enum class Leftovers {
  EACH,       // each to the group with the nearest centroid
  JOINTLY,    // all to the group whose centroid is nearest to theirs
  BY_RECORD,  // each to the group of the nearest record
};
struct PeelRules {
  Pivot pivot;
  Growth growth;
  // How many records must remain for another round, in multiples of k.
  std::int64_t stop;  // 3: MDAV's 3k rule; 2: pairs; 1: single groups
  Leftovers leftovers = Leftovers::EACH;
  bool earlier_first = false;  // MDAV: of r and s, the one earlier in the array has its group first
  bool in_turns = false;       // MD: both groups take records in turns
  bool divide_by_all = false;  // CBFS: the sum of what remains is divided by n
};

// What becomes of centroids while leftovers join their groups.
enum class Centroids { FIXED, UPDATED };

// The centroids of groups while records join them.
class GroupCentroids {
 public:
  GroupCentroids(Points points, const Labels& group_of, Label groups)
      : points_(points),
        sums_(static_cast<std::size_t>(groups), RunningCentroid(points.p)),
        centres_(static_cast<std::size_t>(groups * points.p)) {
    for (Row row = 0; row < points.n; ++row) {
      if (group_of[row] >= 0) sums_[group_of[row]].add(points.row(row));
    }
    for (Label group = 0; group < groups; ++group) write(group);
  }

  Label nearest(const double* query) const {
    Neighbour best{std::numeric_limits<double>::infinity(), 0};
    for (Label group = 0; group < static_cast<Label>(sums_.size()); ++group) {
      const double* centre = centres_.data() + group * points_.p;
      const Neighbour candidate{squared_distance(query, centre, points_.p), group};
      if (nearer(candidate, best)) best = candidate;
    }
    return best.row;
  }
  void add(Row row, Label group) {
    sums_[group].add(points_.row(row));
    write(group);
  }

 private:
  void write(Label group) { sums_[group].write(centres_.data() + group * points_.p); }

  Points points_;
  std::vector<RunningCentroid> sums_;
  Array<double> centres_;
};

// Records without a group (-1), in the given order, go each to the group with the nearest centroid
// (ties: the group formed first).
inline void join_nearest_groups(Points points, const Rows& leftovers, Centroids centroids,
                                Labels& group_of, Label groups) {
  GroupCentroids centres(points, group_of, groups);
  for (const Row row : leftovers) {
    group_of[row] = centres.nearest(points.row(row));
    if (centroids == Centroids::UPDATED) centres.add(row, group_of[row]);
  }
}

// All of them together to the group whose centroid is nearest to theirs.
inline void join_nearest_group_jointly(Points points, const Rows& leftovers, Labels& group_of,
                                       Label groups) {
  if (leftovers.empty()) return;
  RunningCentroid sums(points.p);
  for (const Row row : leftovers) sums.add(points.row(row));
  std::vector<double> centroid(static_cast<std::size_t>(points.p));
  sums.write(centroid.data());
  const Label nearest = GroupCentroids(points, group_of, groups).nearest(centroid.data());
  for (const Row row : leftovers) group_of[row] = nearest;
}

// Each to the group of the nearest record that has one.
inline void join_groups_of_nearest_records(Points points, const Rows& leftovers, Labels& group_of) {
  Labels joined;
  for (const Row leftover : leftovers) {
    Neighbour best{std::numeric_limits<double>::infinity(), 0};
    for (Row row = 0; row < points.n; ++row) {
      if (group_of[row] < 0) continue;
      const Neighbour candidate{squared_distance(points.row(row), points.row(leftover), points.p),
                                group_of[row]};
      if (nearer(candidate, best)) best = candidate;
    }
    joined.push_back(best.row);
  }
  for (std::size_t i = 0; i < leftovers.size(); ++i) group_of[leftovers[i]] = joined[i];
}

// The records as an array whose front fills with those that have a group: a record that gets one
// changes places with the first that has none.
class RecordArray {
 public:
  explicit RecordArray(std::int64_t n)
      : rows_(static_cast<std::size_t>(n)), places_(static_cast<std::size_t>(n)) {
    for (Row row = 0; row < n; ++row) rows_[row] = places_[row] = row;
  }

  bool earlier(Row a, Row b) const { return places_[a] < places_[b]; }
  void to_front(Row row) {
    const Row first = rows_[grouped_];
    std::swap(rows_[grouped_], rows_[places_[row]]);
    places_[first] = places_[row];
    places_[row] = grouped_++;
  }

 private:
  Rows rows_;
  Rows places_;
  Row grouped_ = 0;
};

// Records without a group, lowest row first.
inline Rows without_group(const Labels& group_of) {
  Rows rows;
  for (std::size_t row = 0; row < group_of.size(); ++row) {
    if (group_of[row] < 0) rows.push_back(static_cast<Row>(row));
  }
  return rows;
}

class Peel {
 public:
  // About how many queries there will be: a group's members come one by one or all at once, and a
  // record that may be of the farthest pair is asked for its own farthest one.
  static std::int64_t queries(std::int64_t n, std::int64_t k, Pivot pivot, Growth growth) {
    const std::int64_t members = growth == Growth::SEED ? n / k : n;
    return members + (pivot == Pivot::PAIR ? n : 0);
  }

  Peel(Points points, std::int64_t k, PeelRules rules, Watch& watch, Engine engine)
      : points_(points),
        k_(k),
        rules_(rules),
        poll_(watch, 1'000'000),
        remaining_(points, queries(points.n, k, rules.pivot, rules.growth), engine),
        centroid_(points.p),
        farthest_(points, remaining_),
        group_of_(static_cast<std::size_t>(points.n), -1),
        at_(static_cast<std::size_t>(points.p)),
        array_(rules.earlier_first ? points.n : 0) {
    for (std::int64_t row = 0; row < points.n; ++row) centroid_.add(points.row(row));
  }

  // Groups in the order in which they were formed.
  [[nodiscard]] Labels run() {
    if (points_.n >= 2 * k_) {
      if (rules_.pivot == Pivot::PAIR) {
        FarthestPair pairs(points_, remaining_, poll_);
        while (more()) form_pair(pairs.find());
      } else if (rules_.pivot == Pivot::REFERENCES) {
        form_from_references();
      } else {
        const bool opposite = rules_.pivot == Pivot::CENTROID_OPPOSITE;
        while (more()) form_next(opposite);
        if (rules_.stop == 3 && remaining_.size() >= 2 * k_) form_next(false);
      }
    }
    if (remaining_.size() >= k_) {
      form_last();
    } else {
      join_leftovers(without_group(group_of_));
    }
    return std::move(group_of_);
  }

 private:
  bool more() {
    const double left = static_cast<double>(remaining_.size());
    const double all = static_cast<double>(points_.n);
    poll_.report_done(1.0 - left * left / (all * all));
    return remaining_.size() >= rules_.stop * k_;
  }

  void take(Row row, Label group) {
    remaining_.remove(row);
    centroid_.remove(points_.row(row));
    group_of_[row] = group;
  }

  void form_pair(FarthestPair::Pair pair) {
    const Label first = groups_++;
    const Label second = groups_++;
    take(pair.first, first);
    take(pair.second, second);  // reserved: the first group never takes the second's seed
    if (rules_.in_turns) {
      for (std::int64_t size = 1; size < k_; ++size) {
        take(nearest_to(points_.row(pair.first)), first);
        take(nearest_to(points_.row(pair.second)), second);
        poll();
      }
      return;
    }
    grow(pair.first, first);
    grow(pair.second, second);
  }
  Row nearest_to(const double* query) { return remaining_.k_nearest(query, 1).front().row; }

  Row farthest_from_centroid() {
    centroid_.write(at_.data(), rules_.divide_by_all ? points_.n : remaining_.size());
    return farthest_.find(at_.data()).row;
  }

  void form_next(bool with_opposite) {
    if (rules_.earlier_first) {
      form_earlier_first(with_opposite);
    } else {
      form_around_centroid(with_opposite);
    }
  }

  // r farthest from the centroid, s farthest from r. Where only one more group is formed, it is
  // that of the earlier of them.
  void form_earlier_first(bool both) {
    const Row r = farthest_from_centroid();
    Row s = remaining_.farthest(points_.row(r)).row;
    // Only when all that remains is equal, r is itself the farthest.
    while (s == r || !remaining_.contains(s)) ++s;
    const bool s_first = array_.earlier(s, r);
    const Row first = s_first ? s : r;
    const Row second = s_first ? r : s;
    const Label group = groups_++;
    take(first, group);
    array_.to_front(first);
    if (both) take(second, group + 1);
    grow(first, group);
    if (!both) return;
    ++groups_;
    array_.to_front(second);
    grow(second, group + 1);
  }

  void form_around_centroid(bool with_opposite) {
    const Row seed = farthest_from_centroid();
    const Label group = groups_++;
    take(seed, group);
    if (!with_opposite) {
      grow(seed, group);
      return;
    }
    Neighbour opposite{};
    join(remaining_.k_nearest_and_farthest(points_.row(seed), k_ - 1, opposite), group);
    poll();
    // Only when all that remains is equally far can the farthest have joined the group itself.
    if (!remaining_.contains(opposite.row)) opposite = remaining_.farthest(points_.row(seed));
    const Label other = groups_++;
    take(opposite.row, other);
    grow(opposite.row, other);
  }

  // The two reference points have the smallest, respectively the largest value of all attributes in
  // each coordinate (TFRP07, section 3). The lists are sorted once and read once.
  void form_from_references() {
    const auto [low, high] =
        std::minmax_element(points_.values, points_.values + points_.n * points_.p);
    DistanceList from_low(points_, remaining_);
    DistanceList from_high(points_, remaining_);
    from_low.sort_from(std::vector<double>(at_.size(), *low).data());
    from_high.sort_from(std::vector<double>(at_.size(), *high).data());
    DistanceList* last_list = &from_low;
    for (bool low_turn = true; more(); low_turn = !low_turn) {
      const Row seed = (low_turn ? from_low : from_high).front().row;
      const Label group = groups_++;
      take(seed, group);
      grow(seed, group);
      last_list = low_turn ? &from_low : &from_high;
    }
    // The paper says only that leftovers join the closest group. Its figures come out when they are
    // taken in the order of the list read last, and centroids follow.
    Rows leftovers;
    for (const auto& entry : last_list->entries()) {
      if (remaining_.contains(entry.row)) leftovers.push_back(entry.row);
    }
    join_nearest_groups(points_, leftovers, Centroids::UPDATED, group_of_, groups_);
  }

  void grow(Row seed, Label group) {
    if (rules_.growth == Growth::SEED) {
      join(remaining_.k_nearest(points_.row(seed), k_ - 1), group);
      poll();
      return;
    }
    RunningCentroid centroid(points_.p);
    centroid.add(points_.row(seed));
    for (std::int64_t size = 1; size < k_; ++size) {
      centroid.write(at_.data());
      const Row row = nearest_to(at_.data());
      take(row, group);
      centroid.add(points_.row(row));
      poll();
    }
  }

  void join(const std::vector<Neighbour>& members, Label group) {
    joining_.assign(members.begin(), members.end());  // take() invalidates `members`
    for (const Neighbour& member : joining_) {
      take(member.row, group);
      if (rules_.earlier_first) array_.to_front(member.row);
    }
  }

  void poll() { poll_.tick((remaining_.size() + 1) * points_.p); }

  void join_leftovers(const Rows& leftovers) {
    if (rules_.leftovers == Leftovers::JOINTLY) {
      join_nearest_group_jointly(points_, leftovers, group_of_, groups_);
    } else if (rules_.leftovers == Leftovers::BY_RECORD) {
      join_groups_of_nearest_records(points_, leftovers, group_of_);
    } else {
      join_nearest_groups(points_, leftovers, Centroids::FIXED, group_of_, groups_);
    }
  }

  // k .. 2k-1 records are left: they are the last group.
  void form_last() {
    const Label group = groups_++;
    for (Label& label : group_of_) {
      if (label < 0) label = group;
    }
  }

  Points points_;
  std::int64_t k_;
  PeelRules rules_;
  Poll poll_;
  Remaining remaining_;
  RunningCentroid centroid_;
  FarthestFromCentroid farthest_;
  Labels group_of_;  // in order of formation; -1 while remaining
  std::vector<double> at_;
  RecordArray array_;  // kept only where the earlier of two seeds comes first
  std::vector<Neighbour> joining_;
  Label groups_ = 0;
};

// At worst O(n^2 p / k) for SEED growth around a centroid, O(n^2 p) for CENTROID growth, O(n^3 p /
// k) for pairs, each record of which mostly asks but a few times, so O(n^2 p); about O(n^1.5) where
// boxes tell near from far.
[[nodiscard]] inline Labels peel(Points points, std::int64_t k, PeelRules rules, Watch& watch,
                                 Engine engine = Engine::AUTO,
                                 Numbering numbering = Numbering::APPEARANCE) {
  MICROAGG_ASSERT(k >= 1 && points.n >= 1 && points.p >= 1);
  return numbered(Peel(points, k, rules, watch, engine).run(), numbering);
}

}  // namespace microagg
