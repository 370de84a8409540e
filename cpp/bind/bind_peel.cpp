#include "arrays.hpp"
#include "microagg/peel.hpp"

void microagg::bind::register_peel(nb::module_& m) {
  nb::enum_<Pivot>(m, "Pivot")
      .value("CENTROID", Pivot::CENTROID)
      .value("CENTROID_OPPOSITE", Pivot::CENTROID_OPPOSITE)
      .value("PAIR", Pivot::PAIR)
      .value("REFERENCES", Pivot::REFERENCES);
  nb::enum_<Growth>(m, "Growth").value("SEED", Growth::SEED).value("CENTROID", Growth::CENTROID);
  nb::enum_<Engine>(m, "Engine")
      .value("AUTO", Engine::AUTO)
      .value("BRUTE", Engine::BRUTE)
      .value("TREE", Engine::TREE);
  m.def(
      "peel",
      [](Matrix points, std::int64_t k, Pivot pivot, Growth growth, std::int64_t stop, Watch& watch,
         Engine engine) {
        return array_of(released(
            [&] { return peel(points_of(points), k, {pivot, growth, stop}, watch, engine); }));
      },
      nb::arg("points").noconvert(), nb::arg("k"), nb::arg("pivot"), nb::arg("growth"),
      nb::arg("stop"), nb::arg("watch"), nb::arg("engine") = Engine::AUTO);
}
