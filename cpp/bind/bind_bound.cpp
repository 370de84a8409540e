#include "arrays.hpp"
#include "microagg/neighbour_bound.hpp"

void microagg::bind::register_bound(nb::module_& m) {
  m.def(
      "neighbour_bound",
      [](Matrix points, Lists lists, std::int64_t k, std::int64_t remote, std::int64_t rounds,
         std::int64_t threads, Watch& watch) {
        return array_of(released([&] {
          return NeighbourBound(points_of(points), all_of(lists), length_of(lists), k, remote,
                                threads, watch)
              .run(rounds);
        }));
      },
      nb::arg("points").noconvert(), nb::arg("lists").noconvert(), nb::arg("k"), nb::arg("remote"),
      nb::arg("rounds"), nb::arg("threads"), nb::arg("watch"));
}
