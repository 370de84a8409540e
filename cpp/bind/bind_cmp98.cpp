#include "arrays.hpp"
#include "microagg/fixed_runs.hpp"
#include "microagg/genetic.hpp"
#include "microagg/genetic_groups.hpp"
#include "microagg/k_ward.hpp"

void microagg::bind::register_cmp98(nb::module_& m) {
  nb::enum_<Extremes>(m, "Extremes")
      .value("VALUES", Extremes::VALUES)
      .value("DISTANCE", Extremes::DISTANCE)
      .value("DISTANCE_SWAP", Extremes::DISTANCE_SWAP)
      .value("DISTANCE_DRAWN", Extremes::DISTANCE_DRAWN);
  m.def(
      "fixed_runs",
      [](Vector values, std::int64_t k, bool descending) {
        return array_of(released([&] { return fixed_runs(span_of(values), k, descending); }));
      },
      nb::arg("values").noconvert(), nb::arg("k"), nb::arg("descending"));
  m.def(
      "k_ward",
      [](Matrix points, Vector values, Extremes extremes, Integers drawn, std::int64_t k,
         Watch& watch) {
        return array_of(released([&] {
          return k_ward(points_of(points), span_of(values), extremes, span_of(drawn), k, watch);
        }));
      },
      nb::arg("points").noconvert(), nb::arg("values").noconvert(), nb::arg("extremes"),
      nb::arg("drawn").noconvert(), nb::arg("k"), nb::arg("watch"));
  m.def(
      "genetic",
      [](Matrix points, Integers order, std::int64_t k, std::int64_t generations,
         std::uint64_t seed, Watch& watch) {
        return array_of(released([&] {
          return by_first_appearance(
              Genetic(points_of(points), span_of(order), k, generations, seed, watch).run());
        }));
      },
      nb::arg("points").noconvert(), nb::arg("order").noconvert(), nb::arg("k"),
      nb::arg("generations"), nb::arg("seed"), nb::arg("watch"));
  m.def(
      "genetic_groups",
      [](Matrix points, std::int64_t k, std::int64_t generations, std::uint64_t seed,
         Watch& watch) {
        return array_of(released(
            [&] { return GeneticGroups(points_of(points), k, generations, seed, watch).run(); }));
      },
      nb::arg("points").noconvert(), nb::arg("k"), nb::arg("generations"), nb::arg("seed"),
      nb::arg("watch"));
}
