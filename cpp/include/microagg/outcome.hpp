// What a search returns that the deadline may end.
#pragma once

#include "microagg/points.hpp"

namespace microagg {

struct [[nodiscard]] Outcome {
  Labels labels;
  bool truncated = false;  // the deadline came first: the best groups until then
};

}  // namespace microagg
