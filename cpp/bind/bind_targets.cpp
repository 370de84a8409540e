#include "arrays.hpp"
#include "microagg/targets.hpp"

// In both, the first `targets` points are the targets and the others the queries.
void microagg::bind::register_targets(nb::module_& m) {
  m.def(
      "nearest_targets",
      [](Matrix points, std::int64_t targets, std::int64_t length, std::int64_t threads,
         Watch& watch) {
        return array_of(
            released([&] {
              return Targets(points_of(points), targets, watch).nearest(length, threads);
            }),
            {points.shape(0) - static_cast<std::size_t>(targets),
             static_cast<std::size_t>(length)});
      },
      nb::arg("points").noconvert(), nb::arg("targets"), nb::arg("length"), nb::arg("threads"),
      nb::arg("watch"));
  m.def(
      "rivals",
      [](Matrix points, Counts weights, Integers own, double slack, double least,
         std::int64_t threads, Watch& watch) {
        return array_of(released([&] {
          return Targets(points_of(points), static_cast<std::int64_t>(weights.shape(0)), watch)
              .rivals(span_of(weights), span_of(own), slack, least, threads);
        }));
      },
      nb::arg("points").noconvert(), nb::arg("weights").noconvert(), nb::arg("own").noconvert(),
      nb::arg("slack"), nb::arg("least"), nb::arg("threads"), nb::arg("watch"));
}
