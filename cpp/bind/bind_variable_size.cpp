#include "bindings.hpp"
#include "microagg/genetic.hpp"
#include "microagg/genetic_groups.hpp"
#include "microagg/k_ward.hpp"
#include "microagg/mst_cut.hpp"
#include "microagg/v_mdav.hpp"

namespace microagg::bind {

const Bindings bindings("variable_size", [](nb::module_& m) {
  nb::enum_<Extremes>(m, "Extremes", "Which records form the first two groups of k-Ward.")
      .value("VALUES", Extremes::VALUES, "The first and the last in the order of given values.")
      .value("DISTANCE", Extremes::DISTANCE, "Around the two most distant, lower row first.")
      .value("DISTANCE_SWAP", Extremes::DISTANCE_SWAP, "The same, higher row first.")
      .value("DISTANCE_DRAWN", Extremes::DISTANCE_DRAWN,
             "The same, higher row first where the two drew different numbers.");
  m.def(
      "v_mdav",
      [](Matrix points, std::int64_t k, double gamma, Watch& watch, Engine engine,
         Numbering numbering) {
        return array_of(released(
            [&] { return v_mdav(points_of(points), k, gamma, watch, engine, numbering); }));
      },
      array("points"), nb::arg("k"), nb::arg("gamma"), nb::arg("watch"),
      nb::arg("engine") = Engine::AUTO, nb::arg("numbering") = Numbering::APPEARANCE,
      "MDAV with groups that may take further near records, the more readily the larger gamma.");
  m.def(
      "mst_cut",
      [](Matrix points, std::int64_t k, Watch& watch) {
        return array_of(released([&] { return mst_cut(points_of(points), k, watch); }));
      },
      array("points"), nb::arg("k"), nb::arg("watch"),
      "The parts of the minimum spanning tree that remain when its long edges are cut.");
  m.def(
      "k_ward",
      [](Matrix points, Vector values, Extremes extremes, Integers drawn, std::int64_t k,
         Watch& watch) {
        return array_of(released([&] {
          return k_ward(points_of(points), span_of(values), extremes, span_of(drawn), k, watch);
        }));
      },
      array("points"), array("values"), nb::arg("extremes"), array("drawn"), nb::arg("k"),
      nb::arg("watch"),
      "Ward's joining from two groups at the extremes, in parts of fewer and fewer records.");
  m.def(
      "genetic",
      [](Matrix points, Integers order, std::int64_t k, std::int64_t generations,
         std::uint64_t seed, Watch& watch) {
        return array_of(released([&] {
          return by_first_appearance(
              Genetic(points_of(points), span_of(order), k, generations, seed, watch).run());
        }));
      },
      array("points"), array("order"), nb::arg("k"), nb::arg("generations"), nb::arg("seed"),
      nb::arg("watch"), "A genetic search over the cuts of an order.");
  m.def(
      "genetic_groups",
      [](Matrix points, std::int64_t k, std::int64_t generations, std::uint64_t seed,
         Watch& watch) {
        return array_of(released(
            [&] { return GeneticGroups(points_of(points), k, generations, seed, watch).run(); }));
      },
      array("points"), nb::arg("k"), nb::arg("generations"), nb::arg("seed"), nb::arg("watch"),
      "A genetic search over the groups of all records.");
});

}  // namespace microagg::bind
