// Records that a search works on by themselves.
#pragma once

#include <span>

#include "microagg/points.hpp"

namespace microagg {

// The nearest records of every record, `length` each, nearest first.
struct Lists {
  std::span<const Row> rows;  // one list after the other; may be empty where a kernel says so
  std::int64_t length;
  bool empty() const { return rows.empty(); }
  std::span<const Row> of(std::int64_t record) const {
    return rows.subspan(static_cast<std::size_t>(record * length),
                        static_cast<std::size_t>(length));
  }
};

// Some records and their groups, of k to 2k-1 records each, none of which reaches outside.
struct Block {
  Points points;                  // all records
  std::span<const Row> rows;      // those of the block; their places here are 0, 1, ..
  std::span<const Label> labels;  // their groups
  std::int64_t k;
  Lists lists;
  std::span<const Row> place;  // of every record, in whatever block it is
};

}  // namespace microagg
