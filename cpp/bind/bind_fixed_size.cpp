#include "bindings.hpp"
#include "microagg/peel.hpp"

namespace microagg::bind {

const Bindings bindings("fixed_size", [](nb::module_& m) {
  nb::enum_<Pivot>(m, "Pivot", "Around which records the next groups form.")
      .value("CENTROID", Pivot::CENTROID, "The farthest from the centroid of what remains.")
      .value("CENTROID_OPPOSITE", Pivot::CENTROID_OPPOSITE, "That, and the farthest from it.")
      .value("PAIR", Pivot::PAIR, "The two most distant records.")
      .value("REFERENCES", Pivot::REFERENCES, "The farthest from two fixed points, in turns.");
  nb::enum_<Growth>(m, "Growth", "Which records join a group.")
      .value("SEED", Growth::SEED, "The nearest to its first.")
      .value("CENTROID", Growth::CENTROID, "One at a time the nearest to its centroid.");
  nb::enum_<Leftovers>(m, "Leftovers", "Where fewer than k records that are left go.")
      .value("EACH", Leftovers::EACH, "Each to the nearest centroid.")
      .value("JOINTLY", Leftovers::JOINTLY, "All to the centroid nearest to theirs.")
      .value("BY_RECORD", Leftovers::BY_RECORD, "Each to the group of the nearest record.");
  m.def("peel_queries", &Peel::queries, nb::arg("n"), nb::arg("k"), nb::arg("pivot"),
        nb::arg("growth"), "About how often `peel` looks for near or far records.");
  m.def("begins_with_tree", &Remaining::begins_with_tree, nb::arg("n"), nb::arg("p"),
        nb::arg("queries"), "Whether so many queries begin with a tree, which takes memory.");
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
      array("points"), nb::arg("k"), nb::arg("pivot"), nb::arg("growth"), nb::arg("stop"),
      nb::arg("watch"), nb::arg("engine") = Engine::AUTO, nb::arg("leftovers") = Leftovers::EACH,
      nb::arg("earlier_first") = false, nb::arg("in_turns") = false,
      nb::arg("divide_by_all") = false, nb::arg("numbering") = Numbering::APPEARANCE,
      "Groups of k around far records, one or two at a time, while `stop` times k records remain:\n"
      "MDAV, MD, CBFS, TFRP and their variants.");
});

}  // namespace microagg::bind
