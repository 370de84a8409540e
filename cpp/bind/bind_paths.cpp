#include "bindings.hpp"
#include "microagg/path_cut.hpp"
#include "microagg/tours.hpp"

namespace microagg::bind {

const Bindings bindings("paths", [](nb::module_& m) {
  m.def(
      "farthest_from_centroid",
      [](Matrix points) {
        return released([&] { return farthest_from_centroid(points_of(points)); });
      },
      array("points"), "The record farthest from the centroid of all.");
  m.def(
      "farthest_pair",
      [](Matrix points, Deadline deadline, Watch& watch) {
        const auto [one, other] =
            released([&] { return farthest_pair(points_of(points), deadline, watch); });
        return std::pair{one, other};
      },
      array("points"), nb::arg("deadline"), nb::arg("watch"), "The two most distant records.");
  m.def(
      "nearest_next",
      [](Matrix points, Row first, Deadline deadline, Watch& watch) {
        return array_of(
            released([&] { return nearest_next(points_of(points), first, deadline, watch); }));
      },
      array("points"), nb::arg("first"), nb::arg("deadline"), nb::arg("watch"),
      "A path that always goes on to the nearest record left.");
  m.def(
      "group_tour",
      [](Matrix points, Integers labels, Row first, Deadline deadline, Watch& watch) {
        return array_of(released([&] {
          return group_tour(points_of(points), span_of(labels), first, deadline, watch);
        }));
      },
      array("points"), array("labels"), nb::arg("first"), nb::arg("deadline"), nb::arg("watch"),
      "A path through the groups, from one to the nearest left, and through the records of each.");
  m.def(
      "path_cut",
      [](Matrix points, Integers order, std::int64_t k, bool cyclic, Deadline deadline,
         Watch& watch) {
        return array_of(released([&] {
          return by_first_appearance(
              path_cut(points_of(points), span_of(order), k, cyclic, deadline, watch));
        }));
      },
      array("points"), array("order"), nb::arg("k"), nb::arg("cyclic"), nb::arg("deadline"),
      nb::arg("watch"), "The best groups of k to 2k-1 records that follow each other on a path.");
});

}  // namespace microagg::bind
