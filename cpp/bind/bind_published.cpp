#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.hpp"
#include "microagg/anneal.hpp"
#include "microagg/codes.hpp"
#include "microagg/mdav_generic.hpp"
#include "microagg/published.hpp"

namespace microagg::bind {

using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
std::vector<AnnealLevel> levels_of(const Vector& temperatures, const Counts& active,
                                   const Counts& steps);  // of bind_anneal.cpp

using Taxonomies = std::vector<std::optional<IntegerMatrix>>;

Codes codes_of(const IntegerMatrix& codes, const Flags& ordered, const Vector& cost,
               const Integers& levels, const Taxonomies& paths) {
  Codes made{span_of(codes), static_cast<std::int64_t>(codes.shape(0)), {}};
  for (std::size_t j = 0; j < codes.shape(1); ++j) {
    CodeAttribute attribute{CodeKind::NOMINAL, cost.data()[j], levels.data()[j], {}};
    if (ordered.data()[j]) {
      attribute.kind = CodeKind::ORDERED;
    } else if (paths[j]) {
      attribute.kind = CodeKind::TAXONOMY;
      attribute.paths = {span_of(*paths[j]), static_cast<std::int64_t>(paths[j]->shape(1))};
    }
    made.attributes.push_back(attribute);
  }
  return made;
}

const Bindings bindings("published", [](nb::module_& m) {
  m.def(
      "published_cost",
      [](Matrix numbers, IntegerMatrix codes, Flags ordered, Vector cost, Integers levels,
         Taxonomies paths, Integers labels) {
        const Codes all = codes_of(codes, ordered, cost, levels, paths);
        return array_of(
            released([&] { return published_cost(points_of(numbers), all, span_of(labels)); }));
      },
      array("numbers"), array("codes"), array("ordered"), array("cost"), array("levels"),
      nb::arg("paths"), array("labels"),
      "What a partition costs when it is published: the SSE of the numbers, then each attribute\n"
      "of the codes.");
  m.def(
      "anneal_published",
      [](Matrix numbers, IntegerMatrix codes, Flags ordered, Vector cost, Integers levels,
         Taxonomies paths, Integers rows, Integers labels, std::int64_t k, IntegerMatrix lists,
         Integers place, Vector temperatures, Counts active, Counts steps, std::uint64_t seed,
         bool report, Watch& watch) {
        const Codes all = codes_of(codes, ordered, cost, levels, paths);
        const std::vector<AnnealLevel> plan = levels_of(temperatures, active, steps);
        const Block block{points_of(numbers), span_of(rows), span_of(labels), k,
                          lists_of(lists),    span_of(place)};
        return pair_of(released([&] {
          return AnnealOf(block, PublishedGroups(block, all), seed, watch).run(plan, report);
        }));
      },
      array("numbers"), array("codes"), array("ordered"), array("cost"), array("levels"),
      nb::arg("paths"), array("rows"), array("labels"), nb::arg("k"), array("lists"),
      array("place"), array("temperatures"), array("active"), array("steps"), nb::arg("seed"),
      nb::arg("report"), nb::arg("watch"),
      "As `anneal`, of what the groups cost when they are published.");
  m.def(
      "mdav_generic",
      [](Matrix values, Flags ordered, IntegerMatrix codes, std::int64_t k, Watch& watch) {
        const GenericRecords records{points_of(values), span_of(ordered), span_of(codes),
                                     static_cast<std::int64_t>(codes.shape(1))};
        return array_of(released([&] { return MdavGeneric(records, k, watch).run(); }));
      },
      array("values"), array("ordered"), array("codes"), nb::arg("k"), nb::arg("watch"),
      "MDAV with the 3k rule over numbers, ordered levels and codes; groups in the order in which\n"
      "they were formed.");
});

}  // namespace microagg::bind
