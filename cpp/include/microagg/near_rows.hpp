// The nearest records of each record of a block, as far as they lie in the block too.
#pragma once

#include <span>

#include "microagg/block.hpp"
#include "microagg/points.hpp"

namespace microagg {

class NearRows {
 public:
  explicit NearRows(const Block& block)
      : length_(block.lists.length),
        counts_(block.rows.size()),
        near_(block.rows.size() * static_cast<std::size_t>(length_)) {
    MICROAGG_ASSERT(length_ >= 1);
    MICROAGG_ASSERT(block.place.size() * static_cast<std::size_t>(length_) ==
                    block.lists.rows.size());
    const std::span<const Row> rows = block.rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Row* next = near_.data() + static_cast<std::int64_t>(i) * length_;
      for (const Row other : block.lists.of(rows[i])) {
        const Row at = block.place[other];
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
