#include "arrays.hpp"
#include "microagg/exact_neighbours.hpp"
#include "microagg/neighbour_bound.hpp"

void microagg::bind::register_bound(nb::module_& m) {
  m.def(
      "exact_neighbours",
      [](Matrix points, std::int64_t length, std::int64_t threads, Watch& watch) {
        return array_of(released([&] {
                          return ExactNeighbours(points_of(points), length, watch).run(threads);
                        }),
                        {points.shape(0), static_cast<std::size_t>(length)});
      },
      nb::arg("points").noconvert(), nb::arg("length"), nb::arg("threads"), nb::arg("watch"));
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
