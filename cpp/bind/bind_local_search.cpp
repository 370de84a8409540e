#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.hpp"
#include "microagg/best_cycle.hpp"
#include "microagg/descent.hpp"
#include "microagg/dissolve.hpp"
#include "microagg/objective.hpp"
#include "microagg/pool_pass.hpp"
#include "microagg/two_swap.hpp"

namespace microagg::bind {

const Bindings bindings("local_search", [](nb::module_& m) {
  m.def(
      "descent",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, IntegerMatrix lists,
         Integers place, std::optional<Integers> begin, Watch& watch) {
        const Block block{points_of(points), span_of(rows), span_of(labels), k,
                          lists_of(lists),   span_of(place)};
        return pair_of(released([&] {
          Descent descent(block, watch);
          return begin ? descent.run(span_of(*begin)) : descent.run();
        }));
      },
      array("points"), array("rows"), array("labels"), nb::arg("k"), array("lists"), array("place"),
      array("begin").none(), nb::arg("watch"),
      "Descent of a block to a local optimum; one that begins at some places does not prove in "
      "the\n"
      "end that nothing was missed. Returns the groups of the rows, and whether the deadline came\n"
      "first.");
  m.def(
      "dissolve",
      [](Matrix points, Integers labels, std::int64_t k, Watch& watch) {
        return pair_of(
            released([&] { return Dissolve(points_of(points), span_of(labels), k, watch).run(); }));
      },
      array("points"), array("labels"), nb::arg("k"), nb::arg("watch"),
      "Scatters groups of low homogeneity where that pays; others may grow to 4k-1 records.\n"
      "Returns the groups, and whether the deadline came first.");
  m.def(
      "two_swap",
      [](Matrix points, Integers labels, Watch& watch, Numbering numbering) {
        return pair_of(released([&] {
          Outcome outcome = TwoSwap(points_of(points), span_of(labels), watch).run();
          outcome.labels = numbered(std::move(outcome.labels), numbering);
          return outcome;
        }));
      },
      array("points"), array("labels"), nb::arg("watch"),
      nb::arg("numbering") = Numbering::APPEARANCE,
      "The best exchange of two records, again and again. Returns the groups, and whether the\n"
      "deadline came first.");
  m.def(
      "pool_pass",
      [](Matrix points, Integers labels, std::int64_t k, std::int64_t capacity, IntegerMatrix lists,
         Watch& watch) {
        return array_of(released([&] {
          return PoolPass(points_of(points), span_of(labels), k, capacity, lists_of(lists), watch)
              .run();
        }));
      },
      array("points"), array("labels"), nb::arg("k"), nb::arg("capacity"), array("lists"),
      nb::arg("watch"),
      "One pass of ICSM over a pool of migrations and exchanges. Lists without rows: every group\n"
      "is looked at.");
  m.def(
      "best_cycle",
      [](Matrix points, Integers labels, std::int64_t k, std::int64_t tries, IntegerMatrix lists,
         Watch& watch) {
        return array_of(released([&] {
          return BestCycle(points_of(points), span_of(labels), k, tries, lists_of(lists), watch)
              .run();
        }));
      },
      array("points"), array("labels"), nb::arg("k"), nb::arg("tries"), array("lists"),
      nb::arg("watch"),
      "The best cyclic shift of ICSM from the groups of lowest score, so many of them tried. "
      "Lists\n"
      "without rows: every group is looked at.");
});

}  // namespace microagg::bind
