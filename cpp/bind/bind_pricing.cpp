#include "bindings.hpp"
#include "microagg/columns.hpp"
#include "microagg/pricing.hpp"

namespace microagg::bind {

const Bindings bindings("pricing", [](nb::module_& m) {
  m.def(
      "column_costs",
      [](Matrix points, Integers members, Counts sizes) {
        return array_of(released(
            [&] { return column_costs(points_of(points), {span_of(members), span_of(sizes)}); }));
      },
      array("points"), array("members"), array("sizes"),
      "The SSE of each group; the members of all groups come one after the other.");
  m.def(
      "columns_of_cuts",
      [](std::int64_t n, Integers members, Counts sizes, Integers cuts, Counts cut_sizes) {
        Array<std::int64_t> entries = released([&] {
          return columns_of_cuts(n, {span_of(members), span_of(sizes)},
                                 {span_of(cuts), span_of(cut_sizes)});
        });
        const std::size_t count = entries.size() / 3;
        return array_of(std::move(entries), {count, 3});
      },
      nb::arg("n"), array("members"), array("sizes"), array("cuts"), array("cut_sizes"),
      "For each group and each cut of which it holds two records or more: the column, the cut, "
      "and\n"
      "half the number of these records, rounded down.");
  m.def(
      "odd_sets",
      [](std::int64_t n, Integers members, Counts sizes, Vector values, std::int64_t largest,
         double below) {
        const auto found = released([&] {
          return OddSets(n, {span_of(members), span_of(sizes)}, span_of(values), largest)
              .run(below);
        });
        Array<Row> rows;
        Array<std::int64_t> counts;
        for (const auto& set : found) {
          rows.insert(rows.end(), set.rows.begin(), set.rows.end());
          counts.push_back(static_cast<std::int64_t>(set.rows.size()));
        }
        return std::pair{array_of(std::move(rows)), array_of(std::move(counts))};
      },
      nb::arg("n"), array("members"), array("sizes"), array("values"), nb::arg("largest"),
      nb::arg("below"),
      "Odd sets of at most `largest` records that groups with these fractions violate: their\n"
      "members one after the other, and how many each has.");
  nb::class_<Pricing>(m, "Pricing", "All groups that are cheap at given prices.")
      .def(
          "__init__",
          [](Pricing* self, Matrix points, std::int64_t k) {
            nb::gil_scoped_release release;
            new (self) Pricing(points_of(points), k);
          },
          array("points"), nb::arg("k"), "Takes memory for the distances of all pairs.")
      .def_prop_ro("work", &Pricing::work, "Candidates that the last run looked at.")
      .def(
          "run",
          [](Pricing& self, Vector duals, Integers cuts, Counts cut_sizes, Vector multipliers,
             double charge, IntegerMatrix apart, IntegerMatrix together, double below, bool every,
             std::int64_t most_columns, std::int64_t most_work, std::int64_t most_of_one,
             Watch& watch) {
            PricedColumns found = released([&] {
              return self.run({span_of(duals),
                               {span_of(cuts), span_of(cut_sizes)},
                               span_of(multipliers),
                               charge},
                              {span_of(apart), span_of(together)}, below, every, most_columns,
                              most_work, most_of_one, watch);
            });
            return std::tuple{array_of(std::move(found.members)), array_of(std::move(found.sizes)),
                              array_of(std::move(found.costs)), array_of(std::move(found.least)),
                              found.complete};
          },
          array("duals"), array("cuts"), array("cut_sizes"), array("multipliers"),
          nb::arg("charge"), array("apart"), array("together"), nb::arg("below"), nb::arg("every"),
          nb::arg("most_columns"), nb::arg("most_work"), nb::arg("most_of_one"), nb::arg("watch"),
          "Groups of k to 2k-1 records with a reduced cost below `below`: their members, sizes "
          "and\n"
          "reduced costs; for each record the least of 0 and reduced cost by size over the groups\n"
          "that hold it; and whether nothing was left out.");
});

}  // namespace microagg::bind
