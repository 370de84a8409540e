// Which groups the steps of ICSM look at for a record.
#pragma once

#include <algorithm>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/groups.hpp"
#include "microagg/points.hpp"

namespace microagg {

// Which groups a record is offered to: all, or those of the records nearest to it.
class Offers {
 public:
  // Without lists, to all.
  Offers(const Groups& groups, Lists lists) : groups_(groups), lists_(lists) {
    MICROAGG_ASSERT(lists.empty() || static_cast<std::int64_t>(lists.rows.size()) ==
                                         groups.points().n * lists.length);
    for (Label group = 0; group < groups.count() && lists.empty(); ++group) all_.push_back(group);
  }
  bool everywhere() const { return lists_.empty(); }

  // In order of their labels; the record's own group may be among them.
  const std::vector<Label>& of(Row row) {
    if (lists_.empty()) return all_;
    near_.clear();
    for (const Row other : lists_.of(row)) {
      near_.push_back(groups_.group_of(other));
    }
    std::sort(near_.begin(), near_.end());
    near_.erase(std::unique(near_.begin(), near_.end()), near_.end());
    return near_;
  }

 private:
  const Groups& groups_;
  Lists lists_;
  std::vector<Label> all_;
  std::vector<Label> near_;
};

}  // namespace microagg
