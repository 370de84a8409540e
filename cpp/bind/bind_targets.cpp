#include "bindings.hpp"
#include "microagg/targets.hpp"

namespace microagg::bind {

const Bindings bindings("targets", [](nb::module_& m) {
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
      array("points"), nb::arg("targets"), nb::arg("length"), nb::arg("threads"), nb::arg("watch"),
      "The first points are targets, the others queries: for each query the nearest targets,\n"
      "nearest first, and -1 where there are no more.");
  m.def(
      "rivals",
      [](Matrix points, Counts weights, Integers own, double slack, double least,
         std::int64_t threads, Watch& watch) {
        return array_of(released([&] {
          return Targets(points_of(points), static_cast<std::int64_t>(weights.shape(0)), watch)
              .rivals(span_of(weights), span_of(own), slack, least, threads);
        }));
      },
      array("points"), array("weights"), array("own"), nb::arg("slack"), nb::arg("least"),
      nb::arg("threads"), nb::arg("watch"),
      "As many targets as weights, the other points are queries: for each query the weight of all\n"
      "targets as near as its own, that one included; 0 if one is nearer.");
});

}  // namespace microagg::bind
