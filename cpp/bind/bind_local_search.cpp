#include "arrays.hpp"
#include "microagg/best_cycle.hpp"
#include "microagg/dissolve.hpp"
#include "microagg/pool_pass.hpp"
#include "microagg/two_swap.hpp"

void microagg::bind::register_local_search(nb::module_& m) {
  m.def(
      "dissolve",
      [](Matrix points, Integers labels, std::int64_t k, Watch& watch) {
        bool truncated = false;
        Labels found = released(
            [&] { return Dissolve(points_of(points), span_of(labels), k, watch).run(truncated); });
        return nb::make_tuple(array_of(std::move(found)), truncated);
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert(), nb::arg("k"), nb::arg("watch"));
  m.def(
      "two_swap",
      [](Matrix points, Integers labels, Watch& watch, Numbering numbering) {
        bool truncated = false;
        Labels found = released([&] {
          return numbered(TwoSwap(points_of(points), span_of(labels), watch).run(truncated),
                          numbering);
        });
        return nb::make_tuple(array_of(std::move(found)), truncated);
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert(), nb::arg("watch"),
      nb::arg("numbering") = Numbering::APPEARANCE);
  // `lists`: the nearest records of every record, one row each; no rows: every group is looked at.
  m.def(
      "pool_pass",
      [](Matrix points, Integers labels, std::int64_t k, std::int64_t capacity, Lists lists,
         Watch& watch) {
        return array_of(released([&] {
          return PoolPass(points_of(points), span_of(labels), k, capacity, all_of(lists),
                          length_of(lists), watch)
              .run();
        }));
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert(), nb::arg("k"),
      nb::arg("capacity"), nb::arg("lists").noconvert(), nb::arg("watch"));
  m.def(
      "best_cycle",
      [](Matrix points, Integers labels, std::int64_t k, std::int64_t tries, Lists lists,
         Watch& watch) {
        return array_of(released([&] {
          return BestCycle(points_of(points), span_of(labels), k, tries, all_of(lists),
                           length_of(lists), watch)
              .run();
        }));
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert(), nb::arg("k"), nb::arg("tries"),
      nb::arg("lists").noconvert(), nb::arg("watch"));
}
