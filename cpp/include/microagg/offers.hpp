// Which groups the steps of ICSM look at for a record.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/points.hpp"

namespace microagg {

// Which groups a record is offered to: all, or those of the records nearest to it.
class Offers {
 public:
  // `lists`: `length` nearest records of every record, or none.
  Offers(const Groups& groups, std::span<const Row> lists, std::int64_t length)
      : groups_(groups), lists_(lists), length_(length) {
    MICROAGG_ASSERT(lists.empty() ||
                    static_cast<std::int64_t>(lists.size()) == groups.points().n * length);
    for (Label group = 0; group < groups.count() && lists.empty(); ++group) all_.push_back(group);
  }
  bool everywhere() const { return lists_.empty(); }

  // In order of their labels; the record's own group may be among them.
  const std::vector<Label>& of(Row row) {
    if (lists_.empty()) return all_;
    near_.clear();
    for (const Row other : lists_.subspan(row * length_, length_)) {
      near_.push_back(groups_.group_of(other));
    }
    std::sort(near_.begin(), near_.end());
    near_.erase(std::unique(near_.begin(), near_.end()), near_.end());
    return near_;
  }

 private:
  const Groups& groups_;
  std::span<const Row> lists_;
  std::int64_t length_;
  std::vector<Label> all_;
  std::vector<Label> near_;
};

}  // namespace microagg
