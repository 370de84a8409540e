#include "bindings.hpp"
#include "microagg/neighbour_bound.hpp"

namespace microagg::bind {

const Bindings bindings("bound", [](nb::module_& m) {
  m.def(
      "neighbour_bound",
      [](Matrix points, IntegerMatrix lists, std::int64_t k, std::int64_t remote,
         std::int64_t rounds, std::int64_t threads, Watch& watch) {
        return array_of(released([&] {
          return NeighbourBound(points_of(points), lists_of(lists), k, remote, threads, watch)
              .run(rounds);
        }));
      },
      array("points"), array("lists"), nb::arg("k"), nb::arg("remote"), nb::arg("rounds"),
      nb::arg("threads"), nb::arg("watch"),
      "A share for each record: together they are at most the SSE of any partition.");
});

}  // namespace microagg::bind
