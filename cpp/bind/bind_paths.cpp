#include "arrays.hpp"
#include "microagg/path_cut.hpp"
#include "microagg/tours.hpp"

void microagg::bind::register_paths(nb::module_& m) {
  nb::enum_<Deadline>(m, "Deadline")
      .value("IGNORE", Deadline::IGNORE)
      .value("HEED", Deadline::HEED);
  m.def(
      "farthest_from_centroid",
      [](Matrix points) {
        return released([&] { return farthest_from_centroid(points_of(points)); });
      },
      nb::arg("points").noconvert());
  m.def(
      "farthest_pair",
      [](Matrix points, Deadline deadline, Watch& watch) {
        const auto pair =
            released([&] { return farthest_pair(points_of(points), deadline, watch); });
        return nb::make_tuple(pair.first, pair.second);
      },
      nb::arg("points").noconvert(), nb::arg("deadline"), nb::arg("watch"));
  m.def(
      "nearest_next",
      [](Matrix points, Row first, Deadline deadline, Watch& watch) {
        return array_of(
            released([&] { return nearest_next(points_of(points), first, deadline, watch); }));
      },
      nb::arg("points").noconvert(), nb::arg("first"), nb::arg("deadline"), nb::arg("watch"));
  m.def(
      "group_tour",
      [](Matrix points, Integers labels, Row first, Deadline deadline, Watch& watch) {
        return array_of(released([&] {
          return group_tour(points_of(points), span_of(labels), first, deadline, watch);
        }));
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert(), nb::arg("first"),
      nb::arg("deadline"), nb::arg("watch"));
  m.def(
      "path_cut",
      [](Matrix points, Integers order, std::int64_t k, bool cyclic, Deadline deadline,
         Watch& watch) {
        return array_of(released([&] {
          return by_first_appearance(
              path_cut(points_of(points), span_of(order), k, cyclic, deadline, watch));
        }));
      },
      nb::arg("points").noconvert(), nb::arg("order").noconvert(), nb::arg("k"), nb::arg("cyclic"),
      nb::arg("deadline"), nb::arg("watch"));
}
