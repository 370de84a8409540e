#include "arrays.hpp"
#include "microagg/columns.hpp"
#include "microagg/pricing.hpp"

void microagg::bind::register_pricing(nb::module_& m) {
  m.def(
      "column_costs",
      [](Matrix points, Integers members, Counts sizes) {
        return array_of(released(
            [&] { return column_costs(points_of(points), {span_of(members), span_of(sizes)}); }));
      },
      nb::arg("points").noconvert(), nb::arg("members").noconvert(), nb::arg("sizes").noconvert());
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
      nb::arg("n"), nb::arg("members").noconvert(), nb::arg("sizes").noconvert(),
      nb::arg("cuts").noconvert(), nb::arg("cut_sizes").noconvert());
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
        return nb::make_tuple(array_of(std::move(rows)), array_of(std::move(counts)));
      },
      nb::arg("n"), nb::arg("members").noconvert(), nb::arg("sizes").noconvert(),
      nb::arg("values").noconvert(), nb::arg("largest"), nb::arg("below"));
  nb::class_<Pricing>(m, "Pricing")
      .def(
          "__init__",
          [](Pricing* self, Matrix points, std::int64_t k) {
            nb::gil_scoped_release release;
            new (self) Pricing(points_of(points), k);
          },
          nb::arg("points").noconvert(), nb::arg("k"))
      .def_prop_ro("work", &Pricing::work)
      .def(
          "run",
          [](Pricing& self, Vector duals, Integers cuts, Counts cut_sizes, Vector multipliers,
             double charge, Lists apart, Lists together, double below, bool every,
             std::int64_t most_columns, std::int64_t most_work, std::int64_t most_of_one,
             Watch& watch) {
            PricedColumns found = released([&] {
              return self.run({span_of(duals),
                               {span_of(cuts), span_of(cut_sizes)},
                               span_of(multipliers),
                               charge},
                              {all_of(apart), all_of(together)}, below, every, most_columns,
                              most_work, most_of_one, watch);
            });
            return nb::make_tuple(
                array_of(std::move(found.members)), array_of(std::move(found.sizes)),
                array_of(std::move(found.costs)), array_of(std::move(found.least)), found.complete);
          },
          nb::arg("duals").noconvert(), nb::arg("cuts").noconvert(),
          nb::arg("cut_sizes").noconvert(), nb::arg("multipliers").noconvert(), nb::arg("charge"),
          nb::arg("apart").noconvert(), nb::arg("together").noconvert(), nb::arg("below"),
          nb::arg("every"), nb::arg("most_columns"), nb::arg("most_work"), nb::arg("most_of_one"),
          nb::arg("watch"));
}
