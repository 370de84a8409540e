#include "bindings.hpp"
#include "microagg/kd_blocks.hpp"

namespace microagg::bind {

const Bindings bindings("blocks", [](nb::module_& m) {
  m.def(
      "kd_blocks",
      [](Matrix items, Counts weights, std::int64_t largest, std::int64_t multiple, bool jitter,
         std::uint64_t seed, std::int64_t threads, Watch& watch) {
        return array_of(released([&] {
          return KdBlocks(points_of(items), span_of(weights), largest, multiple, jitter, seed)
              .run(threads, watch);
        }));
      },
      array("items"), array("weights"), nb::arg("largest"), nb::arg("multiple"), nb::arg("jitter"),
      nb::arg("seed"), nb::arg("threads"), nb::arg("watch"),
      "The block of each item: near ones together, at most `largest` records in a block. Without\n"
      "weights an item is one record; with jitter the cuts vary with the seed.");
});

}  // namespace microagg::bind
