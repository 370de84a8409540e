#include "arrays.hpp"
#include "microagg/best_cycle.hpp"
#include "microagg/dissolve.hpp"
#include "microagg/neighbour_lists.hpp"
#include "microagg/pool_pass.hpp"
#include "microagg/two_swap.hpp"

namespace microagg::bind {

using Lists = nb::ndarray<const Row, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static std::span<const Row> all_of(const Lists& lists) { return {lists.data(), lists.size()}; }
static std::int64_t length_of(const Lists& lists) {
  return static_cast<std::int64_t>(lists.shape(1));
}

}  // namespace microagg::bind

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
      [](Matrix points, Integers labels, Watch& watch) {
        bool truncated = false;
        Labels found = released(
            [&] { return TwoSwap(points_of(points), span_of(labels), watch).run(truncated); });
        return nb::make_tuple(array_of(std::move(found)), truncated);
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert(), nb::arg("watch"));
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
  m.def(
      "neighbour_lists",
      [](Matrix points, std::int64_t length, Watch& watch) {
        return array_of(released([&] { return neighbour_lists(points_of(points), length, watch); }),
                        {points.shape(0), static_cast<std::size_t>(length)});
      },
      nb::arg("points").noconvert(), nb::arg("length"), nb::arg("watch"));
}
