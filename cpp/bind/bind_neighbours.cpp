#include "bindings.hpp"
#include "microagg/neighbour_lists.hpp"

namespace microagg::bind {

const Bindings bindings("neighbours", [](nb::module_& m) {
  m.def(
      "neighbour_lists",
      [](Matrix points, std::int64_t length, std::int64_t most_leaves, std::int64_t threads,
         Watch& watch) {
        return array_of(
            released([&] {
              return NeighbourLists(points_of(points), length, most_leaves, threads, watch).run();
            }),
            {points.shape(0), static_cast<std::size_t>(length)});
      },
      array("points"), nb::arg("length"), nb::arg("most_leaves"), nb::arg("threads"),
      nb::arg("watch"),
      "The `length` nearest records of each, nearest first, one row each; exact if `most_leaves`\n"
      "is 0, else after a look at so many leaves of 64 records.");
  m.def(
      "list_distances",
      [](Matrix points, IntegerMatrix lists, std::int64_t place) {
        const Points x = points_of(points);
        Array<double> distances(static_cast<std::size_t>(x.n));
        for (std::int64_t i = 0; i < x.n; ++i) {
          const Row other = lists_of(lists).of(i)[place];
          distances[i] = squared_distance(x.row(i), x.row(other), x.p);
        }
        return array_of(std::move(distances));
      },
      array("points"), array("lists"), nb::arg("place"),
      "The squared distance from each record to the one at this place of its list.");
});

}  // namespace microagg::bind
