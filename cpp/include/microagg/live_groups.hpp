// A partition that changes millions of times a second: groups of k to 2k-1 records in fixed slots,
// with centroids that follow each change. For descent and annealing.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/points.hpp"

namespace microagg {

// Sums over attributes in eight lanes and one fixed tree: compilers vectorise it for any CPU, and
// the result is the same on all of them.
inline constexpr std::int64_t SUM_LANES = 8;
template <class Term>
inline double lane_sum(std::int64_t width, Term term) {
  double lanes[SUM_LANES] = {};
  for (std::int64_t a = 0; a < width; a += SUM_LANES) {
    for (std::int64_t lane = 0; lane < SUM_LANES; ++lane) lanes[lane] += term(a + lane);
  }
  double halves[4];
  for (std::int64_t lane = 0; lane < 4; ++lane) halves[lane] = lanes[lane] + lanes[lane + 4];
  return (halves[0] + halves[2]) + (halves[1] + halves[3]);
}

// Which groups were met since the last start.
class SeenGroups {
 public:
  explicit SeenGroups(std::size_t groups) : when_(groups, 0) {}
  void start() { ++now_; }
  bool first(Label group) {
    if (when_[group] == now_) return false;
    when_[group] = now_;
    return true;
  }

 private:
  std::vector<std::int64_t> when_;
  std::int64_t now_ = 0;
};

class LiveGroups {
 public:
  // Coordinates are taken relative to the mean of the block's rows and padded with zeros.
  explicit LiveGroups(const Block& block)
      : n_(static_cast<std::int64_t>(block.rows.size())),
        width_((block.points.p + SUM_LANES - 1) / SUM_LANES * SUM_LANES),
        k_(block.k),
        slots_(2 * k_ - 1),
        values_(static_cast<std::size_t>(n_ * width_)),
        centroids_(static_cast<std::size_t>(n_ / k_ * width_)),
        members_(static_cast<std::size_t>(n_ / k_ * slots_)),
        sizes_(static_cast<std::size_t>(n_ / k_)),
        slot_of_(block.rows.size()),
        group_of_(block.labels.begin(), block.labels.end()),
        reciprocal_(static_cast<std::size_t>(2 * k_ + 1)),
        mean_(static_cast<std::size_t>(width_)),
        seen_(sizes_.size()) {
    MICROAGG_ASSERT(k_ >= 1);
    MICROAGG_ASSERT(hold(block.points, block.rows));
    MICROAGG_ASSERT(block.labels.size() == block.rows.size());
    take_values(block.points, block.rows);
    for (Row row = 0; row < n_; ++row) {
      const Label group = group_of_[row];
      MICROAGG_ASSERT(is_group(group) && can_take(group));
      slot_of_[row] = static_cast<Row>(sizes_[group]);
      members_[group * slots_ + sizes_[group]++] = row;
    }
    for (Label group = capacity() - 1; group >= 0; --group) {
      MICROAGG_ASSERT(sizes_[group] == 0 || sizes_[group] >= k_);
      if (sizes_[group] == 0) unused_.push_back(group);
    }
    for (std::int64_t m = 1; m <= 2 * k_; ++m) reciprocal_[m] = 1.0 / static_cast<double>(m);
    refresh();
  }

  std::int64_t n() const { return n_; }
  std::int64_t k() const { return k_; }
  // Attributes, padded.
  std::int64_t width() const { return width_; }
  // Group numbers are below this; those of size 0 are unused.
  Label capacity() const { return static_cast<Label>(sizes_.size()); }
  std::int64_t size(Label group) const { return sizes_[group]; }
  bool can_give(Label group) const { return sizes_[group] > k_; }
  bool can_take(Label group) const { return sizes_[group] < slots_; }
  Label group_of(Row row) const { return group_of_[row]; }
  Row member(Label group, std::int64_t slot) const { return members_[group * slots_ + slot]; }
  std::span<const Row> members(Label group) const {
    return {members_.data() + group * slots_, static_cast<std::size_t>(sizes_[group])};
  }
  const Labels& labels() const { return group_of_; }

  double distance(Row one, Row other) const { return squared(record(one), record(other)); }
  double distance_to(Row row, Label group) const { return squared(record(row), centroid(group)); }
  double distance_to(Row row, const double* place) const { return squared(record(row), place); }
  // The centroid of a group without one of its members, or of all of it for NONE.
  void centroid_without(Label group, Row row, double* place) const {
    MICROAGG_ASSERT(is_group(group));
    MICROAGG_ASSERT(row == NONE || (group_of_[row] == group && sizes_[group] > 1));
    const double* c = centroid(group);
    std::copy(c, c + width_, place);
    if (row == NONE) return;
    const double* x = record(row);
    const double share = reciprocal_[sizes_[group] - 1];
    for (std::int64_t a = 0; a < width_; ++a) place[a] += (c[a] - x[a]) * share;
  }
  // Growth of the group's SSE when the record joins it.
  double insert_cost(Row row, Label group) const {
    MICROAGG_ASSERT(is_record(row) && is_group(group) && group_of_[row] != group);
    const std::int64_t m = sizes_[group];
    return static_cast<double>(m) * reciprocal_[m + 1] * distance_to(row, group);
  }
  // Fall of its group's SSE when the record leaves it; the group must have other members.
  double remove_gain(Row row) const {
    MICROAGG_ASSERT(is_record(row) && sizes_[group_of_[row]] > 1);
    const std::int64_t m = sizes_[group_of_[row]];
    return static_cast<double>(m) * reciprocal_[m - 1] * distance_to(row, group_of_[row]);
  }
  // Change of the SSE of `out`'s group when `in` takes its place:
  // |in - c|^2 - |out - c|^2 - |in - out|^2 / m.
  double replace_change(Row out, Row in) const {
    MICROAGG_ASSERT(is_record(out) && is_record(in) && group_of_[out] != group_of_[in]);
    const Label group = group_of_[out];
    const double share = reciprocal_[sizes_[group]];
    const double* x = record(in);
    const double* y = record(out);
    const double* c = centroid(group);
    return lane_sum(width_, [=](std::int64_t a) {
      const double u = x[a] - y[a];
      return u * ((x[a] - c[a]) + (y[a] - c[a]) - u * share);
    });
  }
  // Change of the SSE when two records of different groups change places: both replacements at
  // once, 2 (x - y)'(c_P - c_Q) - |x - y|^2 (1/m_P + 1/m_Q).
  double swap_change(Row one, Row other) const {
    MICROAGG_ASSERT(is_record(one) && is_record(other) && group_of_[one] != group_of_[other]);
    const Label p = group_of_[one];
    const Label q = group_of_[other];
    const double shares = reciprocal_[sizes_[p]] + reciprocal_[sizes_[q]];
    const double* x = record(one);
    const double* y = record(other);
    const double* c = centroid(p);
    const double* d = centroid(q);
    return lane_sum(width_, [=](std::int64_t a) {
      const double u = x[a] - y[a];
      return u * (2.0 * (c[a] - d[a]) - u * shares);
    });
  }
  // The group, among those of the near records (of every `stride`-th), that the record can join at
  // the least cost, never `except`; NONE if all are full.
  struct Offer {
    Label group;
    double cost;
  };
  Offer best_near(Row row, std::span<const Row> near, Label except, Label or_except = NONE,
                  std::size_t stride = 1) {
    return cheapest_near(near, except, or_except, stride,
                         [&](Label group) { return insert_cost(row, group); });
  }
  // SSE of a group about its centroid.
  double sse(Label group) const {
    double sum = 0.0;
    for (const Row row : members(group)) sum += distance_to(row, group);
    return sum;
  }
  // SSE that these records would have as a group.
  double sse_of(std::span<const Row> rows) {
    MICROAGG_ASSERT(!rows.empty());
    std::fill(mean_.begin(), mean_.end(), 0.0);
    const double share = 1.0 / static_cast<double>(rows.size());
    for (const Row row : rows) {
      const double* x = record(row);
      for (std::int64_t a = 0; a < width_; ++a) mean_[a] += x[a] * share;
    }
    double sum = 0.0;
    for (const Row row : rows) sum += squared(record(row), mean_.data());
    return sum;
  }
  double sse() const {
    double sum = 0.0;
    for (Label group = 0; group < capacity(); ++group) sum += sse(group);
    return sum;
  }

  // Hints that these will be needed soon; without effect on results.
  void fetch_group_of(Row row) const { __builtin_prefetch(group_of_.data() + row); }
  void fetch_record(Row row) const { fetch(record(row)); }
  void fetch_group(Label group) const {
    fetch(centroid(group));
    __builtin_prefetch(sizes_.data() + group);
    __builtin_prefetch(members_.data() + group * slots_);
  }

  // The record leaves its group and belongs to none until it is put into one.
  void take_out(Row row) {
    MICROAGG_ASSERT(is_record(row) && is_group(group_of_[row]));
    MICROAGG_ASSERT(member(group_of_[row], slot_of_[row]) == row);
    const Label group = group_of_[row];
    const std::int64_t m = sizes_[group]--;
    const Row last = members_[group * slots_ + m - 1];
    members_[group * slots_ + slot_of_[row]] = last;
    slot_of_[last] = slot_of_[row];
    if (m > 1) shift_centroid(group, record(row), -reciprocal_[m - 1]);
    group_of_[row] = NONE;
  }
  void put_into(Row row, Label group) {
    MICROAGG_ASSERT(is_record(row) && is_group(group) && can_take(group));
    const std::int64_t m = sizes_[group]++;
    members_[group * slots_ + m] = row;
    slot_of_[row] = static_cast<Row>(m);
    group_of_[row] = group;
    if (m == 0) {
      std::copy(record(row), record(row) + width_, centroid(group));
    } else {
      shift_centroid(group, record(row), reciprocal_[m + 1]);
    }
  }
  void move(Row row, Label to) {
    take_out(row);
    put_into(row, to);
  }
  // `in`, of another group, takes the place of `out`; `out` is left for the caller to place.
  void replace(Label group, Row slot, Row out, Row in) {
    MICROAGG_ASSERT(is_group(group) && slot < sizes_[group]);
    MICROAGG_ASSERT(member(group, slot) == out && in != out);
    const double share = reciprocal_[sizes_[group]];
    const double* x = record(in);
    const double* y = record(out);
    double* c = centroid(group);
    for (std::int64_t a = 0; a < width_; ++a) c[a] += (x[a] - y[a]) * share;
    members_[group * slots_ + slot] = in;
    slot_of_[in] = slot;
    group_of_[in] = group;
  }
  void swap(Row one, Row other) {
    const Label p = group_of_[one];
    const Label q = group_of_[other];
    const Row one_slot = slot_of_[one];
    const Row other_slot = slot_of_[other];
    replace(p, one_slot, one, other);
    replace(q, other_slot, other, one);
  }
  // `first` goes to the group of `second`, that to the group of `third`, that to that of `first`.
  void rotate(Row first, Row second, Row third) {
    const Label a = group_of_[first];
    const Label b = group_of_[second];
    const Label c = group_of_[third];
    const Row a_slot = slot_of_[first];
    const Row b_slot = slot_of_[second];
    const Row c_slot = slot_of_[third];
    replace(b, b_slot, second, first);
    replace(c, c_slot, third, second);
    replace(a, a_slot, first, third);
  }

  bool has_unused() const { return !unused_.empty(); }
  Label new_group() {
    MICROAGG_ASSERT(has_unused());
    const Label group = unused_.back();
    unused_.pop_back();
    return group;
  }
  // The group must be empty.
  void give_back(Label group) {
    MICROAGG_ASSERT(is_group(group) && sizes_[group] == 0);
    unused_.push_back(group);
  }

  // Recomputes a centroid from the members, in the order of the rows: a function of the set alone.
  void refresh(Label group) {
    MICROAGG_ASSERT(is_group(group) && sizes_[group] > 0);
    const std::span<Row> rows{members_.data() + group * slots_,
                              static_cast<std::size_t>(sizes_[group])};
    std::sort(rows.begin(), rows.end());
    double* c = centroid(group);
    std::fill(c, c + width_, 0.0);
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      slot_of_[rows[slot]] = static_cast<Row>(slot);
      const double* x = record(rows[slot]);
      for (std::int64_t a = 0; a < width_; ++a) c[a] += x[a];
    }
    for (std::int64_t a = 0; a < width_; ++a) c[a] *= reciprocal_[sizes_[group]];
  }
  void refresh() {
    for (Label group = 0; group < capacity(); ++group) {
      if (sizes_[group] > 0) refresh(group);
    }
  }

  static constexpr Label NONE = -1;

 protected:
  // As `best_near`, by the cost of joining a group that is given.
  template <class Cost>
  Offer cheapest_near(std::span<const Row> near, Label except, Label or_except, std::size_t stride,
                      Cost cost_of) {
    Offer best{NONE, 0.0};
    seen_.start();
    for (std::size_t place = 0; place < near.size(); place += stride) {
      const Label group = group_of_[near[place]];
      if (group == except || group == or_except || !seen_.first(group) || !can_take(group))
        continue;
      const double cost = cost_of(group);
      if (best.group == NONE || cost < best.cost) best = {group, cost};
    }
    return best;
  }

 private:
  bool is_record(Row row) const { return 0 <= row && row < n_; }
  bool is_group(Label group) const { return 0 <= group && group < capacity(); }
  void take_values(Points points, std::span<const Row> rows) {
    std::vector<double> mean(static_cast<std::size_t>(points.p));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* x = points.row(rows[i]);
      const double share = 1.0 / static_cast<double>(i + 1);
      for (std::int64_t a = 0; a < points.p; ++a) mean[a] += x[a] * share - mean[a] * share;
    }
    for (std::int64_t i = 0; i < n_; ++i) {
      const double* x = points.row(rows[i]);
      for (std::int64_t a = 0; a < points.p; ++a) values_[i * width_ + a] = x[a] - mean[a];
    }
  }
  void fetch(const double* values) const {
    for (std::int64_t a = 0; a < width_; a += SUM_LANES) __builtin_prefetch(values + a);
  }
  const double* record(Row row) const { return values_.data() + row * width_; }
  const double* centroid(Label group) const { return centroids_.data() + group * width_; }
  double* centroid(Label group) { return centroids_.data() + group * width_; }
  double squared(const double* x, const double* y) const {
    return lane_sum(width_, [=](std::int64_t a) {
      const double d = x[a] - y[a];
      return d * d;
    });
  }
  void shift_centroid(Label group, const double* x, double share) {
    double* c = centroid(group);
    for (std::int64_t a = 0; a < width_; ++a) c[a] += (x[a] - c[a]) * share;
  }

  std::int64_t n_;
  std::int64_t width_;
  std::int64_t k_;
  std::int64_t slots_;  // per group
  Array<double> values_;
  Array<double> centroids_;
  Rows members_;
  Array<std::int64_t> sizes_;
  Rows slot_of_;
  Labels group_of_;
  std::vector<double> reciprocal_;
  std::vector<Label> unused_;
  std::vector<double> mean_;  // scratch
  SeenGroups seen_;
};

}  // namespace microagg
