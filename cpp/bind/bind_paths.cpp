#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "microagg/path_cut.hpp"
#include "microagg/tours.hpp"

void microagg::bind::register_paths(nb::module_& m) {
  m.def(
      "farthest_from_centroid",
      [](Matrix points) {
        return released([&] { return farthest_from_centroid(points_of(points)); });
      },
      nb::arg("points").noconvert());
  m.def(
      "first_of_farthest_pair",
      [](Matrix points) {
        return released([&] { return first_of_farthest_pair(points_of(points)); });
      },
      nb::arg("points").noconvert());
  m.def(
      "nearest_next",
      [](Matrix points, Row first, Watch& watch) {
        return array_of(released([&] { return nearest_next(points_of(points), first, watch); }));
      },
      nb::arg("points").noconvert(), nb::arg("first"), nb::arg("watch"));
  m.def(
      "group_tour",
      [](Matrix points, Integers labels, Row first, Watch& watch) {
        return array_of(
            released([&] { return group_tour(points_of(points), span_of(labels), first, watch); }));
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert(), nb::arg("first"),
      nb::arg("watch"));
  m.def(
      "path_cut",
      [](Matrix points, Integers order, std::int64_t k, bool cyclic,
         Watch& watch) -> std::optional<nb::ndarray<nb::numpy, Label>> {
        std::optional<Labels> labels =
            released([&] { return path_cut(points_of(points), span_of(order), k, cyclic, watch); });
        if (!labels) return std::nullopt;
        return array_of(std::move(*labels));
      },
      nb::arg("points").noconvert(), nb::arg("order").noconvert(), nb::arg("k"), nb::arg("cyclic"),
      nb::arg("watch"));
}
