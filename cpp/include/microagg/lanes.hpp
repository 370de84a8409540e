// Sums over values that lie side by side, several at a time: each addition would have to wait for
// the one before it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace microagg {

inline constexpr std::int64_t LANES = 8;

// Sums of term(i), i rising from 0, over chunks of `CHUNK` of the n numbers, handed to `take` in
// order. Eight chunks go side by side, each in order: the same bits as one after the other.
template <std::int64_t CHUNK, class Term, class Take>
void chunk_sums(std::int64_t n, Term term, Take take) {
  std::int64_t begin = 0;
  for (; begin + LANES * CHUNK <= n; begin += LANES * CHUNK) {
    std::array<double, LANES> sums{};
    for (std::int64_t i = begin; i < begin + CHUNK; ++i) {
      for (std::int64_t lane = 0; lane < LANES; ++lane) sums[lane] += term(i + lane * CHUNK);
    }
    for (const double sum : sums) take(sum);
  }
  for (; begin < n; begin += CHUNK) {
    double sum = 0.0;
    for (std::int64_t i = begin; i < std::min(n, begin + CHUNK); ++i) sum += term(i);
    take(sum);
  }
}

}  // namespace microagg
