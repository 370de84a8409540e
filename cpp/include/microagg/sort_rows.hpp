// Rows by increasing value (ties: lowest row first): radix sort on the leading 32 bits, then a
// plain sort of the few runs that still agree. O(n) unless values differ only in their last bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "microagg/points.hpp"

namespace microagg {

// The values in increasing order, and the rows they came from.
struct SortedRows {
  Rows rows;
  Array<double> values;
};

inline void sort_run(std::span<const double> values, SortedRows& sorted, std::size_t begin,
                     std::size_t end) {
  std::sort(sorted.rows.begin() + static_cast<std::ptrdiff_t>(begin),
            sorted.rows.begin() + static_cast<std::ptrdiff_t>(end), [&](Row a, Row b) {
              return values[a] < values[b] || (values[a] == values[b] && a < b);
            });
  for (std::size_t i = begin; i < end; ++i) sorted.values[i] = values[sorted.rows[i]];
}

[[nodiscard]] inline SortedRows sort_rows(std::span<const double> values) {
  const std::size_t n = values.size();
  // Doubles order like unsigned integers once negatives are inverted and the sign bit is flipped.
  const auto key_of = [&](std::size_t row) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(values[row] + 0.0);  // -0 equals 0
    return bits ^ ((bits >> 63) ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
  };
  // One word per record: the leading half of its key, and its row. Fresh memory is what costs here,
  // so the room for the sorted values serves as the second buffer meanwhile.
  Array<std::uint64_t> words(n);
  SortedRows sorted{Rows(n), Array<double>(n)};
  constexpr int PASSES = 3;
  constexpr int BITS[PASSES] = {11, 11, 10};
  constexpr int SHIFT[PASSES] = {32, 43, 54};
  std::array<std::array<std::uint32_t, 2048>, PASSES> places{};
  for (std::size_t row = 0; row < n; ++row) {
    const std::uint64_t word = (key_of(row) & 0xFFFFFFFF00000000ULL) | row;
    sorted.values[row] = std::bit_cast<double>(word);
    for (int pass = 0; pass < PASSES; ++pass) {
      ++places[pass][(word >> SHIFT[pass]) & ((1U << BITS[pass]) - 1)];
    }
  }
  for (int pass = 0; pass < PASSES; ++pass) {
    std::uint32_t offset = 0;
    for (std::uint32_t& place : places[pass]) offset += std::exchange(place, offset);
    const std::uint64_t mask = (1U << BITS[pass]) - 1;
    if (pass % 2 == 0) {
      for (const double held : sorted.values) {
        const std::uint64_t word = std::bit_cast<std::uint64_t>(held);
        words[places[pass][(word >> SHIFT[pass]) & mask]++] = word;
      }
    } else {
      for (const std::uint64_t word : words) {
        sorted.values[places[pass][(word >> SHIFT[pass]) & mask]++] = std::bit_cast<double>(word);
      }
    }
  }
  static_assert(PASSES % 2 == 1, "the words end up in `words`");
  Rows& rows = sorted.rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows[i] = static_cast<Row>(words[i] & 0xFFFFFFFFU);
    sorted.values[i] = values[rows[i]];
  }
  // Runs that agree in the leading half are mostly of two or three records; equal values in them
  // are in order of their rows already.
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && (words[end] >> 32) == (words[begin] >> 32)) ++end;
    if (end - begin > 32) {
      sort_run(values, sorted, begin, end);
    } else {
      for (std::size_t i = begin + 1; i < end; ++i) {
        const double value = sorted.values[i];
        const Row row = rows[i];
        std::size_t to = i;
        for (; to > begin && sorted.values[to - 1] > value; --to) {
          sorted.values[to] = sorted.values[to - 1];
          rows[to] = rows[to - 1];
        }
        sorted.values[to] = value;
        rows[to] = row;
      }
    }
    begin = end;
  }
  return sorted;
}

}  // namespace microagg
