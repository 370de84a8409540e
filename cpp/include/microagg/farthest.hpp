// The record farthest from a slowly moving centroid: a search that remembers distances from where
// the centroid was, and computes exact ones only where these allow a better answer.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "microagg/points.hpp"
#include "microagg/remaining.hpp"

namespace microagg {

// Bounds are sums of computed roots: inflate them past any rounding of p additions.
inline double rounding_slack(std::int64_t p) {
  return 1.0 + 8.0 * static_cast<double>(p + 8) * std::exp2(-53.0);
}

// Whether a list has all of equal records, or one entry for them.
enum class Equals { EACH, ONCE };

// The remaining records by decreasing distance from a reference point.
class DistanceList {
 public:
  struct Entry {
    double squared;  // distance from the reference
    Row row;
    double root() const { return std::sqrt(squared); }
  };

  DistanceList(Points points, const Remaining& remaining, Equals equals = Equals::EACH)
      : points_(points), remaining_(remaining), equals_(equals) {}

  // The first time O(n p), later of the records that then remained.
  void sort_from(const double* reference) {
    if (reference_.empty()) {
      entries_.reserve(static_cast<std::size_t>(remaining_.size()));
      for (Row row = 0; row < points_.n; ++row) {
        if (equals_ == Equals::ONCE ? remaining_.leads(row) : remaining_.contains(row)) {
          entries_.push_back({0.0, row});
        }
      }
    }
    std::erase_if(entries_, [this](Entry& entry) { return !stays(entry); });
    for (Entry& entry : entries_) {
      entry.squared = squared_distance(points_.row(entry.row), reference, points_.p);
    }
    reference_.assign(reference, reference + points_.p);
    head_ = 0;
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.squared > b.squared || (a.squared == b.squared && a.row < b.row);
    });
  }
  // Entries from the first that still remains; those after it may be gone.
  std::span<Entry> entries() {
    while (head_ < entries_.size() && !stays(entries_[head_])) ++head_;
    return std::span<Entry>(entries_).subspan(head_);
  }
  // Whether the record remains; of equal ones, the lowest that does takes the place of others.
  bool stays(Entry& entry) const {
    if (equals_ == Equals::EACH) return remaining_.contains(entry.row);
    entry.row = remaining_.successor(entry.row);
    return entry.row != Remaining::NONE;
  }
  std::int64_t length() const { return static_cast<std::int64_t>(entries_.size()); }
  // The farthest record that still remains; there must be one.
  const Entry& front() { return entries().front(); }
  const std::vector<double>& reference() const { return reference_; }

 private:
  Points points_;
  const Remaining& remaining_;
  Equals equals_;
  std::vector<double> reference_;
  Array<Entry> entries_;
  std::size_t head_ = 0;
};

// Farthest remaining record from a centroid that moves a little between calls.
class FarthestFromCentroid {
 public:
  FarthestFromCentroid(Points points, const Remaining& remaining)
      : points_(points), list_(points, remaining, Equals::ONCE) {}

  Neighbour find(const double* centroid) {
    // Re-sort once walking the stale list has cost as much as a few sorts.
    if (list_.reference().empty() || walked_ > 4 * list_.length()) {
      list_.sort_from(centroid);
      walked_ = 0;
    }
    const double shift = std::sqrt(squared_distance(centroid, list_.reference().data(), points_.p));
    const double slack = rounding_slack(points_.p);
    Neighbour best{-1.0, Remaining::NONE};
    for (auto& entry : list_.entries()) {
      ++walked_;
      const double bound = (entry.root() + shift) * slack;
      if (bound * bound < best.distance) break;
      if (!list_.stays(entry)) continue;
      const Neighbour candidate{squared_distance(points_.row(entry.row), centroid, points_.p),
                                entry.row};
      if (farther(candidate, best)) best = candidate;
    }
    return best;
  }

 private:
  Points points_;
  DistanceList list_;
  std::int64_t walked_ = 0;
};

}  // namespace microagg
