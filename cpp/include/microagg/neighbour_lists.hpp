// The nearest records of every record. O(n^2 p) time, O(n length) memory.
#pragma once

#include "microagg/neighbours.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Row by row, `length` each, nearest first; a record is not its own neighbour. Needs length < n.
inline Rows neighbour_lists(Points points, std::int64_t length, Watch& watch) {
  Poll poll(watch, 1'000'000, Deadline::HEED);
  BruteNeighbours index(points);
  Rows lists;
  lists.reserve(static_cast<std::size_t>(points.n * length));
  for (Row row = 0; row < points.n; ++row) {
    std::int64_t taken = 0;
    for (const Neighbour& other : index.k_nearest(points.row(row), length + 1)) {
      if (other.row == row || taken == length) continue;  // among equal records it may be missing
      lists.push_back(other.row);
      ++taken;
    }
    poll.tick(points.n * points.p);
    poll.report_done(static_cast<double>(row) / static_cast<double>(points.n));
  }
  return lists;
}

}  // namespace microagg
