// Sums and the like over values that lie side by side: in lanes, since each addition would have to
// wait for the one before it.
#pragma once

#include <array>
#include <cstdint>

namespace microagg {

// For a column of a matrix with `P` columns (0: some number): its values lie apart unless P is 1,
// and are then taken one after the other.
template <std::int64_t P>
inline constexpr std::int64_t LANES_OF_COLUMN = P == 1 ? 8 : 1;

// `start` and value(begin), .., value(end - 1) put together by `step`; `join` unites the lanes,
// each of which begins with `start`.
template <std::int64_t LANES, class Value, class Step, class Join>
double folded(double start, std::int64_t begin, std::int64_t end, Value value, Step step,
              Join join) {
  std::array<double, LANES> lanes;
  lanes.fill(start);
  std::int64_t i = begin;
  for (; i + LANES <= end; i += LANES) {
    for (std::int64_t lane = 0; lane < LANES; ++lane) {
      lanes[lane] = step(lanes[lane], value(i + lane));
    }
  }
  for (; i < end; ++i) lanes[0] = step(lanes[0], value(i));
  for (std::int64_t lane = 1; lane < LANES; ++lane) lanes[0] = join(lanes[0], lanes[lane]);
  return lanes[0];
}

// Sum of term(begin), .., term(end - 1).
template <std::int64_t LANES, class Term>
double summed(std::int64_t begin, std::int64_t end, Term term) {
  const auto plus = [](double x, double y) { return x + y; };
  return folded<LANES>(0.0, begin, end, term, plus, plus);
}

}  // namespace microagg
