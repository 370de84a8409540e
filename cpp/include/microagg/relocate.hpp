// Relocation of groups: one of a region is given up and another is founded where the loss is large,
// the region is arranged anew, and what became better stays. For large k, where moves of single
// records cannot bring a whole group to where it is needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "microagg/anneal.hpp"
#include "microagg/block.hpp"
#include "microagg/live_groups.hpp"
#include "microagg/outcome.hpp"
#include "microagg/points.hpp"
#include "microagg/random.hpp"
#include "microagg/sized_means.hpp"
#include "microagg/watch.hpp"

namespace microagg {

class Relocate {
 public:
  struct Settings {
    std::int64_t region;          // groups in a region; if there are few, two thirds of all
    std::int64_t steps_a_record;  // of a region's anneal
    double rise;                  // of the region's SSE, accepted times an exponential variate
  };
  // What arranging a record of a region anew counts, in steps of an anneal: about what it takes.
  static constexpr std::int64_t STEPS_TO_ARRANGE = 40;

  // `widths`: of the neighbourhood of every record. The places of the block are not needed: each
  // region is a block with places of its own.
  Relocate(const Block& block, std::span<const double> widths, Settings settings,
           std::uint64_t seed, Watch& watch)
      : points_(block.points),
        rows_(block.rows),
        k_(block.k),
        lists_(block.lists),
        settings_(settings),
        random_(seed),
        watch_(watch),
        poll_(watch, 100'000, Deadline::HEED),
        width_((points_.p + SUM_LANES - 1) / SUM_LANES * SUM_LANES),
        values_(centred(points_, rows_, width_)),
        means_(values_, width_, k_),
        place_(static_cast<std::size_t>(points_.n), 0),
        order_(rows_.size()),
        wide_(rows_.size()) {
    MICROAGG_ASSERT(k_ >= 1 && hold(points_, rows_));
    MICROAGG_ASSERT(block.labels.size() == rows_.size());
    MICROAGG_ASSERT(static_cast<std::int64_t>(widths.size()) == points_.n);
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Row a, Row b) { return widths[rows_[a]] > widths[rows_[b]]; });
    rank_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) rank_[order_[i]] = static_cast<Row>(i);
    for (std::size_t i = 0; i < rows_.size(); ++i) wide_[i] = widths[rows_[i]];
    std::vector<std::vector<Row>> members;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto group = static_cast<std::size_t>(block.labels[i]);
      if (group >= members.size()) members.resize(group + 1);
      members[group].push_back(static_cast<Row>(i));
    }
    for (auto& own : members) {
      if (!own.empty()) groups_.push_back(made(std::move(own)));
    }
  }

  // The best groups met when so many steps are done, or at the deadline.
  Outcome run(std::int64_t steps, bool report) {
    keep();
    truncated_ = false;
    try {
      while (steps > 0 && best_ > 0.0 && groups_.size() > 1 && !truncated_) {
        steps -= move();
        if (report) watch_.report_best(best_);
      }
    } catch (const DeadlinePassed&) {
      truncated_ = true;  // between two states: a region is put back only when it is complete
    }
    return {best_labels_, truncated_};
  }

 private:
  struct Group {
    std::vector<Row> members;  // in order
    std::vector<double> centroid;
    double sse;
  };

  static constexpr double FILTER = 1.05;  // times its SSE before, a region is not worth annealing
  static constexpr double TO_RELOCATE = 0.7;
  static constexpr double TO_ADD = 0.15;
  static constexpr std::int64_t FEWEST = 4;  // groups of a region: of two none can be given up
  static constexpr std::int64_t ROUNDS = 2;  // of k-means
  static constexpr std::int64_t HALVINGS = 4;
  static constexpr std::int64_t LEVELS = 1 << HALVINGS;
  static constexpr double HOTTEST = 0.15;  // of a record's average part of the region's SSE
  static constexpr double COLDEST = 0.01;
  static constexpr double ACTIVE = 0.7;  // records are drawn whose width is more of a temperature

  static Array<double> centred(Points points, std::span<const Row> rows, std::int64_t width) {
    std::vector<double> mean(static_cast<std::size_t>(points.p));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double share = 1.0 / static_cast<double>(i + 1);
      const double* x = points.row(rows[i]);
      for (std::int64_t a = 0; a < points.p; ++a) mean[a] += x[a] * share - mean[a] * share;
    }
    Array<double> values(rows.size() * static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* x = points.row(rows[i]);
      for (std::int64_t a = 0; a < points.p; ++a) {
        values[i * static_cast<std::size_t>(width) + a] = x[a] - mean[a];
      }
    }
    return values;
  }

  const double* record(Row row) const { return means_.record(row); }

  Group made(std::vector<Row> members) const {
    std::sort(members.begin(), members.end());
    Group group{std::move(members), std::vector<double>(static_cast<std::size_t>(width_)), 0.0};
    for (const Row row : group.members) {
      for (std::int64_t a = 0; a < width_; ++a) group.centroid[a] += record(row)[a];
    }
    for (double& value : group.centroid) value /= static_cast<double>(group.members.size());
    for (const Row row : group.members)
      group.sse += means_.distance(record(row), group.centroid.data());
    return group;
  }
  static double sse_of(std::span<const Group> groups) {
    double sum = 0.0;
    for (const Group& group : groups) sum += group.sse;
    return sum;
  }
  void keep() {
    best_ = sse_of(groups_);
    best_labels_.resize(rows_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const Row row : groups_[g].members) best_labels_[row] = static_cast<Label>(g);
    }
  }

  // One try; what it cost, in steps.
  std::int64_t move() {
    const Row at = some_record();
    choose_region(at);
    std::int64_t records = 0;
    double before = 0.0;
    for (const Label g : region_) {
      records += static_cast<std::int64_t>(groups_[g].members.size());
      before += groups_[g].sse;
    }
    const std::int64_t to_arrange = STEPS_TO_ARRANGE * records;
    watch_.add_work(to_arrange);  // the anneal adds its own
    if (!place_centres(at, records)) return to_arrange;
    arrange();
    const double arranged = sse_of(found_);
    if (!(arranged <= FILTER * before)) return to_arrange;
    const std::int64_t steps = anneal(arranged);
    const double after = sse_of(found_);
    if (after < before || after - before < settings_.rise * before * random_.exponential()) {
      replace_region();
      if (sse_of(groups_) < best_) keep();
    }
    return to_arrange + steps;
  }

  // Of a group drawn by its SSE, a member drawn by its distance.
  Row some_record() {
    double left = random_.unit() * sse_of(groups_);
    std::size_t g = 0;
    for (; g + 1 < groups_.size(); ++g) {
      if (left < groups_[g].sse) break;
      left -= groups_[g].sse;
    }
    const Group& group = groups_[g];
    left = random_.unit() * group.sse;
    for (const Row row : group.members) {
      left -= means_.distance(record(row), group.centroid.data());
      if (left < 0.0) return row;
    }
    return group.members.back();
  }

  // The group to give up, near the record or anywhere, and the groups between the two.
  void choose_region(Row at) {
    const auto all = static_cast<std::int64_t>(groups_.size());
    const std::int64_t most =
        std::min(std::max(all * 2 / 3, std::min(all, FEWEST)), settings_.region);
    near_.resize(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const double d = means_.distance(record(at), groups_[g].centroid.data());
      near_[g] = {std::sqrt(d), static_cast<Row>(g)};
    }
    by_distance_ = near_;
    std::partial_sort(by_distance_.begin(), by_distance_.begin() + most, by_distance_.end(),
                      nearer);
    const bool is_near = (random_.next() >> 63) != 0 || all <= settings_.region;
    given_up_ =
        is_near ? by_distance_[random_.below(most)].row : static_cast<Label>(random_.below(all));
    const double* other = groups_[given_up_].centroid.data();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      near_[g].distance += std::sqrt(means_.distance(other, groups_[g].centroid.data()));
    }
    std::partial_sort(near_.begin(), near_.begin() + most, near_.end(), nearer);
    region_.clear();
    for (std::int64_t i = 0; i < most; ++i) region_.push_back(near_[i].row);
    // Nothing lies nearer to both, but others may lie as near.
    if (std::find(region_.begin(), region_.end(), given_up_) == region_.end())
      region_.back() = given_up_;
  }

  // The region's centres: one moved to the record, or one more, or one less. False if that would
  // leave nothing to do.
  bool place_centres(Row at, std::int64_t records) {
    const double kind = random_.unit();
    const auto count = static_cast<std::int64_t>(region_.size());
    bool add = true;
    bool take_away = true;
    if (kind >= TO_RELOCATE + TO_ADD) {
      add = false;
    } else if (kind >= TO_RELOCATE && count < records / k_) {
      take_away = false;
    }
    centres_.clear();
    region_rows_.clear();
    for (const Label g : region_) {
      const Group& group = groups_[g];
      region_rows_.insert(region_rows_.end(), group.members.begin(), group.members.end());
      if (g == given_up_ && take_away) continue;
      centres_.insert(centres_.end(), group.centroid.begin(), group.centroid.end());
    }
    if (add) centres_.insert(centres_.end(), record(at), record(at) + width_);
    std::sort(region_rows_.begin(), region_rows_.end(),
              [&](Row a, Row b) { return rank_[a] < rank_[b]; });
    return !centres_.empty();
  }

  // The region's rows around the centres, in groups of k to 2k-1.
  void arrange() {
    means_.run(region_rows_, centres_, ROUNDS, poll_);
    parts_.assign(centres_.size() / static_cast<std::size_t>(width_), {});
    for (std::size_t i = 0; i < region_rows_.size(); ++i)
      parts_[means_.groups()[i]].push_back(region_rows_[i]);
    for (std::size_t part = 0; part < parts_.size();) {
      if (static_cast<std::int64_t>(parts_[part].size()) < 2 * k_) {
        ++part;
        continue;
      }
      const std::vector<Row> rows = std::move(parts_[part]);
      means_.halve(rows, poll_);
      parts_[part].clear();
      parts_.emplace_back();
      for (std::size_t i = 0; i < rows.size(); ++i)
        (means_.groups()[i] == 0 ? parts_[part] : parts_.back()).push_back(rows[i]);
    }
    found_.clear();
    for (auto& part : parts_) found_.push_back(made(std::move(part)));
  }

  // A short anneal of the region, from a moderate temperature on; what was found is replaced.
  std::int64_t anneal(double sse) {
    const std::size_t records = region_rows_.size();
    std::vector<Row> rows(records);
    std::vector<Label> labels(records);
    for (std::size_t i = 0; i < records; ++i) {
      rows[i] = rows_[region_rows_[i]];
      place_[rows[i]] = static_cast<Row>(i);
    }
    for (std::size_t g = 0; g < found_.size(); ++g) {
      for (const Row row : found_[g].members) labels[place_[rows_[row]]] = static_cast<Label>(g);
    }
    const std::vector<AnnealLevel> levels = cooling(sse);
    std::int64_t steps = 0;
    for (const AnnealLevel& level : levels) steps += level.steps;
    const Block region{points_, rows, labels, k_, lists_, place_};
    const auto [groups, truncated] =
        Anneal(region, random_.next(), watch_, Anneal::Moves::RECORDS).run(levels, false);
    truncated_ = truncated;
    std::vector<std::vector<Row>> members(found_.size());
    for (std::size_t i = 0; i < records; ++i) members[groups[i]].push_back(region_rows_[i]);
    found_.clear();
    for (auto& own : members) found_.push_back(made(std::move(own)));
    return steps;
  }
  std::vector<AnnealLevel> cooling(double sse) const {
    const auto records = static_cast<std::int64_t>(region_rows_.size());
    const double share = sse / static_cast<double>(records);
    const double median = wide_[region_rows_[static_cast<std::size_t>(records / 2)]];
    const double hot = HOTTEST * share;
    const double cold = COLDEST * (median > 0.0 ? std::min(share, median) : share);
    double ratio = cold / hot;
    for (std::int64_t i = 0; i < HALVINGS; ++i) ratio = std::sqrt(ratio);
    std::vector<AnnealLevel> levels;
    double temperature = hot;
    for (std::int64_t level = 0; level < LEVELS; ++level) {
      const auto cool =
          std::partition_point(region_rows_.begin(), region_rows_.end(),
                               [&](Row row) { return wide_[row] > ACTIVE * temperature; });
      const std::int64_t active = cool - region_rows_.begin();
      levels.push_back({temperature, std::min(std::max(active, 2 * k_ + 5), records),
                        settings_.steps_a_record * records / LEVELS});
      temperature *= ratio;
    }
    return levels;
  }

  // What was found takes the place of the region's groups.
  void replace_region() {
    std::sort(region_.begin(), region_.end());
    std::size_t next = 0;
    for (; next < std::min(region_.size(), found_.size()); ++next)
      groups_[region_[next]] = std::move(found_[next]);
    for (std::size_t more = next; more < found_.size(); ++more)
      groups_.push_back(std::move(found_[more]));
    for (std::size_t gone = region_.size(); gone > next; --gone) {
      std::swap(groups_[region_[gone - 1]], groups_.back());
      groups_.pop_back();
    }
  }

  Points points_;
  std::span<const Row> rows_;
  std::int64_t k_;
  Lists lists_;
  Settings settings_;
  Random random_;
  Watch& watch_;
  Poll poll_;
  std::int64_t width_;
  Array<double> values_;
  SizedMeans means_;
  Rows place_;                // of every record, in the region of the last anneal
  std::vector<Row> order_;    // of the rows, by decreasing width
  std::vector<Row> rank_;     // in that order
  std::vector<double> wide_;  // widths of the rows
  std::vector<Group> groups_;
  double best_ = 0.0;
  Labels best_labels_;
  bool truncated_ = false;
  // The move at work:
  std::vector<Neighbour> near_;  // groups
  std::vector<Neighbour> by_distance_;
  Label given_up_ = 0;
  std::vector<Label> region_;
  std::vector<Row> region_rows_;  // by decreasing width
  std::vector<double> centres_;
  std::vector<std::vector<Row>> parts_;
  std::vector<Group> found_;
};

}  // namespace microagg
