// Which records are equal: chains of rows, each to the next higher one with the same values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "microagg/points.hpp"

namespace microagg {

class Repeats {
 public:
  static constexpr Row NONE = -1;

  Repeats() = default;
  // O(n p), by hashing.
  explicit Repeats(Points points) {
    const std::size_t places = std::bit_ceil(static_cast<std::size_t>(points.n) * 2);
    Rows table(places, NONE);  // of each record the highest row so far
    firsts_.reserve(static_cast<std::size_t>(points.n));
    for (Row row = 0; row < points.n; ++row) {
      std::size_t place = hash(points.row(row), points.p) & (places - 1);
      while (table[place] != NONE && !equal(points, table[place], row)) {
        place = (place + 1) & (places - 1);
      }
      const Row before = table[place];
      table[place] = row;
      if (before == NONE) {
        firsts_.push_back(row);
      } else {
        if (next_.empty()) next_.resize(static_cast<std::size_t>(points.n), NONE);
        next_[before] = row;
      }
    }
  }

  // False also if nobody looked.
  bool any() const { return !next_.empty(); }
  Row next(Row row) const { return next_.empty() ? NONE : next_[row]; }
  // The lowest row of each distinct record.
  const Rows& firsts() const { return firsts_; }
  void forget_firsts() { firsts_ = Rows(); }

 private:
  // Zeros of either sign count as different here, which costs time at most.
  static std::size_t hash(const double* record, std::int64_t p) {
    std::uint64_t state = 0;
    for (std::int64_t a = 0; a < p; ++a) {
      state = (state ^ std::bit_cast<std::uint64_t>(record[a])) * 0x9E3779B97F4A7C15ULL;
      state ^= state >> 29;
    }
    return static_cast<std::size_t>(state ^ (state >> 32));
  }
  static bool equal(Points points, Row one, Row other) {
    return std::equal(points.row(one), points.row(one) + points.p, points.row(other));
  }

  Rows next_;
  Rows firsts_;
};

}  // namespace microagg
