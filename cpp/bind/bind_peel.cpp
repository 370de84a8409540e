#include "arrays.hpp"
#include "microagg/peel.hpp"

void microagg::bind::register_peel(nb::module_& m) {
  nb::enum_<Pivot>(m, "Pivot")
      .value("CENTROID", Pivot::CENTROID)
      .value("CENTROID_OPPOSITE", Pivot::CENTROID_OPPOSITE)
      .value("PAIR", Pivot::PAIR)
      .value("REFERENCES", Pivot::REFERENCES);
  nb::enum_<Growth>(m, "Growth").value("SEED", Growth::SEED).value("CENTROID", Growth::CENTROID);
  nb::enum_<Leftovers>(m, "Leftovers")
      .value("EACH", Leftovers::EACH)
      .value("JOINTLY", Leftovers::JOINTLY)
      .value("BY_RECORD", Leftovers::BY_RECORD);
  nb::enum_<Engine>(m, "Engine")
      .value("AUTO", Engine::AUTO)
      .value("BRUTE", Engine::BRUTE)
      .value("TREE", Engine::TREE);
  m.def("peel_queries", &Peel::queries, nb::arg("n"), nb::arg("k"), nb::arg("pivot"),
        nb::arg("growth"));
  m.def("begins_with_tree", &Remaining::begins_with_tree, nb::arg("n"), nb::arg("p"),
        nb::arg("queries"));
  m.def(
      "peel",
      [](Matrix points, std::int64_t k, Pivot pivot, Growth growth, std::int64_t stop, Watch& watch,
         Engine engine, Leftovers leftovers, bool earlier_first, bool in_turns, bool divide_by_all,
         Numbering numbering) {
        const PeelRules rules{pivot,         growth,   stop,         leftovers,
                              earlier_first, in_turns, divide_by_all};
        return array_of(
            released([&] { return peel(points_of(points), k, rules, watch, engine, numbering); }));
      },
      nb::arg("points").noconvert(), nb::arg("k"), nb::arg("pivot"), nb::arg("growth"),
      nb::arg("stop"), nb::arg("watch"), nb::arg("engine") = Engine::AUTO,
      nb::arg("leftovers") = Leftovers::EACH, nb::arg("earlier_first") = false,
      nb::arg("in_turns") = false, nb::arg("divide_by_all") = false,
      nb::arg("numbering") = Numbering::APPEARANCE);
}
