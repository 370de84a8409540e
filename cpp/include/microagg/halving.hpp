// Records halved again and again along principal axes, until parts are small: what blocks and trees
// of boxes have in common.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/parallel.hpp"
#include "microagg/points.hpp"
#include "microagg/principal_axes.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// The records at some places.
struct Part {
  std::int64_t begin;
  std::int64_t end;

  std::int64_t size() const { return end - begin; }
};

// What a thread needs to cut.
class Cutter {
 public:
  Cutter(PrincipalCoordinates& coordinates, Watch& watch, Deadline deadline)
      : coordinates_(coordinates), poll_(watch, 1'000'000, deadline) {}

  // The axis along which the part varies most; `weigh` may change a spread.
  template <class Weigh>
  std::int64_t widest_axis(Part part, Weigh weigh) {
    const auto axes = static_cast<std::size_t>(coordinates_.axes());
    poll_.tick(part.size() * coordinates_.axes());
    mean_.assign(axes, 0.0);
    spread_.assign(axes, 0.0);
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      const double* x = coordinates_.at(i);
      for (std::size_t a = 0; a < axes; ++a) mean_[a] += x[a];
    }
    for (double& sum : mean_) sum /= static_cast<double>(part.size());
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      const double* x = coordinates_.at(i);
      for (std::size_t a = 0; a < axes; ++a) spread_[a] += (x[a] - mean_[a]) * (x[a] - mean_[a]);
    }
    for (double& spread : spread_) spread = weigh(spread);
    std::size_t best = 0;
    for (std::size_t a = 1; a < axes; ++a) {
      if (spread_[a] > spread_[best]) best = a;
    }
    return static_cast<std::int64_t>(best);
  }
  std::int64_t widest_axis(Part part) {
    return widest_axis(part, [](double spread) { return spread; });
  }

  // Moves the lowest along the axis (ties: by row) before `middle`.
  void cut(Part part, std::int64_t middle, std::int64_t axis) {
    keys_.clear();
    for (std::int64_t i = part.begin; i < part.end; ++i) keys_.push_back(key(i, axis));
    const auto nth = keys_.begin() + (middle - part.begin);
    std::nth_element(keys_.begin(), nth, keys_.end());
    std::int64_t low = part.begin;
    std::int64_t high = middle;
    for (;; ++low, ++high) {
      while (low < middle && key(low, axis) < *nth) ++low;
      while (high < part.end && !(key(high, axis) < *nth)) ++high;
      // The same number on either side, but where the data overflow and nothing has an order.
      if (low == middle || high == part.end) return;
      coordinates_.swap(low, high);
    }
  }

 private:
  // By themselves: the search for the middle would touch all coordinates for the sake of one.
  struct Key {
    double at;
    Row row;

    bool operator<(const Key& other) const {
      return at < other.at || (at == other.at && row < other.row);
    }
  };
  Key key(std::int64_t place, std::int64_t axis) const {
    return {coordinates_.at(place)[axis], coordinates_.row(place)};
  }

  PrincipalCoordinates& coordinates_;
  Poll poll_;
  std::vector<double> mean_;
  std::vector<double> spread_;
  Array<Key> keys_;
};

// Halves the part and what comes of it. `halve(part, cutter)` says where it has cut; at the
// beginning if it leaves the part whole. One thread takes the parts in order, the left half first.
template <class Halve>
void halve_all(PrincipalCoordinates& coordinates, Part all, std::int64_t threads, Watch& watch,
               Deadline deadline, Halve halve) {
  constexpr std::int64_t WORTH_A_THREAD = 10'000;
  if (all.size() < WORTH_A_THREAD) threads = 1;
  std::vector<Part> parts{all};
  const auto each = [&](auto work) {
    const auto count = static_cast<std::int64_t>(parts.size());
    in_parallel(count, threads, [&](auto next) {
      Cutter cutter(coordinates, watch, deadline);
      for (std::int64_t i; (i = next()) < count;) work(i, cutter);
    });
  };
  // First level by level, until there is a part for every thread at every time.
  const auto enough = static_cast<std::size_t>(threads > 1 ? 8 * threads : 1);
  while (!parts.empty() && parts.size() < enough) {
    std::vector<std::int64_t> middles(parts.size());
    each([&](std::int64_t i, Cutter& cutter) { middles[i] = halve(parts[i], cutter); });
    std::vector<Part> halves;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (middles[i] == parts[i].begin) continue;
      halves.push_back({parts[i].begin, middles[i]});
      halves.push_back({middles[i], parts[i].end});
    }
    parts = std::move(halves);
  }
  const auto to_the_end = [&](auto& self, Part part, Cutter& cutter) -> void {
    const std::int64_t middle = halve(part, cutter);
    if (middle == part.begin) return;
    self(self, Part{part.begin, middle}, cutter);
    self(self, Part{middle, part.end}, cutter);
  };
  each([&](std::int64_t i, Cutter& cutter) { to_the_end(to_the_end, parts[i], cutter); });
}

}  // namespace microagg
