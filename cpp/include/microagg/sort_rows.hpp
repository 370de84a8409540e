// Rows by increasing value (ties: lowest row first): radix sort on the leading 32 bits, then a
// plain sort of the few runs that still agree. O(n) unless values differ only in their last bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "microagg/points.hpp"

namespace microagg {

inline Rows sort_rows(std::span<const double> values) {
  const std::size_t n = values.size();
  // Doubles order like unsigned integers once negatives are inverted and the sign bit is flipped.
  const auto key_of = [&](std::size_t row) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(values[row] + 0.0);  // -0 equals 0
    return bits ^ ((bits >> 63) ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
  };
  // Leading half of the key, and the row: one word each.
  std::vector<std::uint64_t> words(n);
  std::vector<std::uint64_t> other(n);
  constexpr int PASSES = 3;
  constexpr int BITS[PASSES] = {11, 11, 10};
  constexpr int SHIFT[PASSES] = {32, 43, 54};
  std::array<std::array<std::uint32_t, 2048>, PASSES> counts{};
  for (std::size_t row = 0; row < n; ++row) {
    words[row] = (key_of(row) & 0xFFFFFFFF00000000ULL) | row;
    for (int pass = 0; pass < PASSES; ++pass) {
      ++counts[pass][(words[row] >> SHIFT[pass]) & ((1U << BITS[pass]) - 1)];
    }
  }
  for (int pass = 0; pass < PASSES; ++pass) {
    std::uint32_t offset = 0;
    for (std::uint32_t& count : counts[pass]) {
      const std::uint32_t here = count;
      count = offset;
      offset += here;
    }
    const std::uint64_t mask = (1U << BITS[pass]) - 1;
    for (const std::uint64_t word : words)
      other[counts[pass][(word >> SHIFT[pass]) & mask]++] = word;
    words.swap(other);
  }
  Rows rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<Row>(words[i] & 0xFFFFFFFFU);
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && (words[end] >> 32) == (words[begin] >> 32)) ++end;
    if (end - begin > 1) {
      std::sort(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                rows.begin() + static_cast<std::ptrdiff_t>(end), [&](Row a, Row b) {
                  return values[a] < values[b] || (values[a] == values[b] && a < b);
                });
    }
    begin = end;
  }
  return rows;
}

}  // namespace microagg
