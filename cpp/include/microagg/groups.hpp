// A partition that changes: members, centroids, and what a change would cost, for all local
// searches.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "microagg/objective.hpp"
#include "microagg/points.hpp"

namespace microagg {

class Groups {
 public:
  Groups(Points points, std::span<const Label> labels)
      : points_(points), group_of_(labels.begin(), labels.end()) {
    MICROAGG_ASSERT(points.n >= 1 && points.p >= 1);
    MICROAGG_ASSERT(fit(points, labels));
    members_.resize(group_sizes(labels).size());
    centroids_.resize(members_.size() * static_cast<std::size_t>(points.p));
    radius_.resize(members_.size());
    for (Row row = 0; row < points.n; ++row) members_[labels[row]].push_back(row);
    for (Label group = 0; group < count(); ++group) refresh(group);
  }

  Label count() const { return static_cast<Label>(members_.size()); }
  std::int64_t size(Label group) const { return static_cast<std::int64_t>(members_[group].size()); }
  const std::vector<Row>& members(Label group) const { return members_[group]; }
  const double* centroid(Label group) const { return centroids_.data() + group * points_.p; }
  // Largest distance of a member from the centroid.
  double radius(Label group) const { return radius_[group]; }
  Label group_of(Row row) const { return group_of_[row]; }
  Labels labels() const { return by_first_appearance(group_of_); }
  const Labels& numbers() const { return group_of_; }
  const Points& points() const { return points_; }

  double distance_to(Row row, Label group) const {
    return squared_distance(points_.row(row), centroid(group), points_.p);
  }
  // Growth of the group's SSE when the record joins it.
  double insert_cost(Row row, Label group) const {
    const double m = static_cast<double>(size(group));
    return m / (m + 1.0) * distance_to(row, group);
  }
  // Fall of its group's SSE when the record leaves it; the group must have other members.
  double remove_gain(Row row) const {
    MICROAGG_ASSERT(points_.has(row) && size(group_of_[row]) > 1);
    const double m = static_cast<double>(size(group_of_[row]));
    return m / (m - 1.0) * distance_to(row, group_of_[row]);
  }
  // Change of the SSE when two records of different groups change places:
  // 2 (x - y)'(c_P - c_Q) - |x - y|^2 (1/m_P + 1/m_Q), from ICSM15's equation 3 applied twice.
  double swap_change(Row x, Row y) const {
    const Label p = group_of_[x];
    const Label q = group_of_[y];
    MICROAGG_ASSERT(p != q);
    const double* a = points_.row(x);
    const double* b = points_.row(y);
    const double* c = centroid(p);
    const double* d = centroid(q);
    double across = 0.0;
    double apart = 0.0;
    for (std::int64_t j = 0; j < points_.p; ++j) {
      const double u = a[j] - b[j];
      across += u * (c[j] - d[j]);
      apart += u * u;
    }
    return 2.0 * across -
           apart * (1.0 / static_cast<double>(size(p)) + 1.0 / static_cast<double>(size(q)));
  }
  // False when no swap between the two groups can lower the SSE: with w the distance of the
  // centroids and r the sum of the radii, every swap changes it by at least 2 w (w - r) - (w + r)^2
  // (1/m_P + 1/m_Q).
  bool swap_may_pay(Label p, Label q) const {
    const double w = std::sqrt(squared_distance(centroid(p), centroid(q), points_.p));
    const double r = radius_[p] + radius_[q];
    const double shares = 1.0 / static_cast<double>(size(p)) + 1.0 / static_cast<double>(size(q));
    return 2.0 * w * (w - r) < (w + r) * (w + r) * shares * (1.0 + 1e-9);
  }

  void swap(Row x, Row y) {
    const Label p = group_of_[x];
    const Label q = group_of_[y];
    replace(p, x, y);
    replace(q, y, x);
    refresh(p);
    refresh(q);
  }
  void move(Row row, Label to) {
    std::vector<Row>& from = members_[group_of_[row]];
    from.erase(std::find(from.begin(), from.end(), row));
    refresh(group_of_[row]);
    add(row, to);
    refresh(to);
  }
  // Many moves at once: (record, new group) each; groups are refreshed once.
  void move_all(const std::vector<std::pair<Row, Label>>& moves) {
    std::vector<Label> touched;
    for (const auto& [row, to] : moves) {
      std::vector<Row>& from = members_[group_of_[row]];
      from.erase(std::find(from.begin(), from.end(), row));
      touched.push_back(group_of_[row]);
      touched.push_back(to);
    }
    for (const auto& [row, to] : moves) add(row, to);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const Label group : touched) refresh(group);
  }

  // SSE of a group, optionally with further records in it.
  double sse_with(Label group, const std::vector<Row>& further = {}) const {
    std::vector<double> values;
    values.reserve((members_[group].size() + further.size()) * static_cast<std::size_t>(points_.p));
    for (const auto* rows : {&members_[group], &further}) {
      for (const Row row : *rows) {
        values.insert(values.end(), points_.row(row), points_.row(row) + points_.p);
      }
    }
    if (values.empty()) return 0.0;
    return sst({values.data(), static_cast<std::int64_t>(values.size()) / points_.p, points_.p});
  }
  double total_sse() const { return sse(points_, group_of_); }

 private:
  void add(Row row, Label to) {
    members_[to].push_back(row);
    group_of_[row] = to;
  }
  void replace(Label group, Row old_row, Row new_row) {
    MICROAGG_ASSERT(std::count(members_[group].begin(), members_[group].end(), old_row) == 1);
    *std::find(members_[group].begin(), members_[group].end(), old_row) = new_row;
    group_of_[new_row] = group;
  }
  void refresh(Label group) {
    std::sort(members_[group].begin(),
              members_[group].end());  // a centroid must not depend on history
    RunningCentroid sums(points_.p);
    for (const Row row : members_[group]) sums.add(points_.row(row));
    sums.write(centroids_.data() + group * points_.p);
    double largest = 0.0;
    for (const Row row : members_[group]) largest = std::max(largest, distance_to(row, group));
    radius_[group] = std::sqrt(largest);
  }

  Points points_;
  Labels group_of_;
  std::vector<std::vector<Row>> members_;
  Array<double> centroids_;
  std::vector<double> radius_;
};

// A change must lower the SSE by more than this share of it: rounding must not keep a search going.
inline constexpr double LEAST_GAIN = 1e-12;

}  // namespace microagg
