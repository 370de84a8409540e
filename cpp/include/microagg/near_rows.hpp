// The nearest records of each record of a block, as far as they lie in the block too.
#pragma once

#include <span>

#include "microagg/points.hpp"

namespace microagg {

class NearRows {
 public:
  // `lists`: `length` nearest records of every record, nearest first; `rows`: the block's records,
  // whose places here are 0, 1, ..
  NearRows(std::span<const Row> lists, std::int64_t length, std::span<const Row> rows)
      : begins_(rows.size() + 1) {
    const std::int64_t n = static_cast<std::int64_t>(lists.size()) / length;
    Rows place(static_cast<std::size_t>(n), OUTSIDE);
    for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i]] = static_cast<Row>(i);
    near_.reserve(rows.size() * static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      begins_[i] = static_cast<std::int64_t>(near_.size());
      for (const Row other : lists.subspan(rows[i] * length, length)) {
        if (place[other] != OUTSIDE) near_.push_back(place[other]);
      }
    }
    begins_[rows.size()] = static_cast<std::int64_t>(near_.size());
  }

  // Nearest first.
  std::span<const Row> of(Row row) const {
    return {near_.data() + begins_[row],
            static_cast<std::size_t>(begins_[row + 1] - begins_[row])};
  }

 private:
  static constexpr Row OUTSIDE = -1;
  Array<std::int64_t> begins_;
  Rows near_;
};

}  // namespace microagg
