#include "bindings.hpp"
#include "microagg/anneal.hpp"

namespace microagg::bind {

std::vector<AnnealLevel> levels_of(const Vector& temperatures, const Counts& active,
                                   const Counts& steps) {
  std::vector<AnnealLevel> levels;
  for (std::size_t level = 0; level < temperatures.shape(0); ++level)
    levels.push_back({temperatures.data()[level], active.data()[level], steps.data()[level]});
  return levels;
}

const Bindings bindings("anneal", [](nb::module_& m) {
  m.def(
      "anneal",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, IntegerMatrix lists,
         Integers place, Vector temperatures, Counts active, Counts steps, std::uint64_t seed,
         bool report, Watch& watch) {
        const std::vector<AnnealLevel> levels = levels_of(temperatures, active, steps);
        const Block block{points_of(points), span_of(rows), span_of(labels), k,
                          lists_of(lists),   span_of(place)};
        return pair_of(released([&] { return Anneal(block, seed, watch).run(levels, report); }));
      },
      array("points"), array("rows"), array("labels"), nb::arg("k"), array("lists"), array("place"),
      array("temperatures"), array("active"), array("steps"), nb::arg("seed"), nb::arg("report"),
      nb::arg("watch"),
      "Simulated annealing of a block, whose rows come in order of decreasing neighbourhood: at\n"
      "each temperature so many steps among the first `active` rows. Returns the groups of the\n"
      "rows, and whether time did not suffice.");
});

}  // namespace microagg::bind
