#include "bindings.hpp"
#include "microagg/exhaustive.hpp"

namespace microagg::bind {

const Bindings bindings("exhaustive", [](nb::module_& m) {
  m.def(
      "exhaustive",
      [](Matrix points, std::int64_t k, Watch& watch) {
        return array_of(released([&] { return exhaustive(points_of(points), k, watch); }));
      },
      array("points"), nb::arg("k"), nb::arg("watch"),
      "The best of all partitions into groups of at least k.");
});

}  // namespace microagg::bind
