// The nearest records of each record of a block, as far as they lie in the block too.
#pragma once

#include <span>

#include "microagg/points.hpp"

namespace microagg {

class NearRows {
 public:
  // `lists`: `length` nearest records of every record, nearest first; `rows`: the block's records,
  // whose places here are 0, 1, ..; `place`: of every record, in whatever block it is.
  NearRows(std::span<const Row> lists, std::int64_t length, std::span<const Row> rows,
           std::span<const Row> place)
      : length_(length),
        counts_(rows.size()),
        near_(rows.size() * static_cast<std::size_t>(length)) {
    MICROAGG_ASSERT(length >= 1);
    MICROAGG_ASSERT(place.size() * static_cast<std::size_t>(length) == lists.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Row* next = near_.data() + static_cast<std::int64_t>(i) * length;
      for (const Row other : lists.subspan(rows[i] * length, length)) {
        const Row at = place[other];
        if (at < static_cast<Row>(rows.size()) && rows[at] == other) {
          *next++ = at;
          ++counts_[i];
        }
      }
    }
  }

  // Nearest first.
  std::span<const Row> of(Row row) const {
    return {near_.data() + row * length_, static_cast<std::size_t>(counts_[row])};
  }

 private:
  std::int64_t length_;
  Array<std::int32_t> counts_;
  Rows near_;
};

}  // namespace microagg
