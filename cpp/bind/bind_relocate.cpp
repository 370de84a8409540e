#include "arrays.hpp"
#include "microagg/relocate.hpp"
#include "microagg/sized_means.hpp"

namespace {

using namespace microagg;

// Records by attributes, padded as SizedMeans wants them.
std::vector<double> padded(Points points, std::int64_t width) {
  std::vector<double> values(static_cast<std::size_t>(points.n * width));
  for (std::int64_t i = 0; i < points.n; ++i)
    std::copy(points.row(i), points.row(i) + points.p, values.data() + i * width);
  return values;
}
Labels copied(std::span<const Label> labels) { return {labels.begin(), labels.end()}; }

}  // namespace

void microagg::bind::register_relocate(nb::module_& m) {
  // The cheapest assignment of the records, one a row of `costs`, to the columns, at least k each.
  m.def(
      "sized_assignment",
      [](Matrix costs, std::int64_t k, Watch& watch) {
        return array_of(released([&] {
          Poll poll(watch, 1'000'000);
          SizedAssignment assignment;
          assignment.run({costs.data(), costs.size()}, static_cast<std::int64_t>(costs.shape(1)), k,
                         poll);
          return copied(assignment.groups());
        }));
      },
      nb::arg("costs").noconvert(), nb::arg("k"), nb::arg("watch"));
  // All records in two groups of at least k.
  m.def(
      "halve",
      [](Matrix matrix, std::int64_t k, Watch& watch) {
        return array_of(released([&] {
          Poll poll(watch, 1'000'000);
          const Points points = points_of(matrix);
          const std::int64_t width = (points.p + SUM_LANES - 1) / SUM_LANES * SUM_LANES;
          const std::vector<double> values = padded(points, width);
          std::vector<Row> rows(static_cast<std::size_t>(points.n));
          for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Row>(i);
          SizedMeans means(values, width, k);
          means.halve(rows, poll);
          return copied(means.groups());
        }));
      },
      nb::arg("points").noconvert(), nb::arg("k"), nb::arg("watch"));
  // On a block, as descent and anneal.
  m.def(
      "relocate",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, Lists lists, Vector widths,
         std::int64_t region, std::int64_t steps_a_record, double rise, std::int64_t steps,
         std::uint64_t seed, bool report, Watch& watch) {
        bool truncated = false;
        Labels found = released([&] {
          return Relocate(points_of(points), span_of(rows), span_of(labels), k, all_of(lists),
                          length_of(lists), span_of(widths), {region, steps_a_record, rise}, seed,
                          watch)
              .run(steps, report, truncated);
        });
        return nb::make_tuple(array_of(std::move(found)), truncated);
      },
      nb::arg("points").noconvert(), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(),
      nb::arg("k"), nb::arg("lists").noconvert(), nb::arg("widths").noconvert(), nb::arg("region"),
      nb::arg("steps_a_record"), nb::arg("rise"), nb::arg("steps"), nb::arg("seed"),
      nb::arg("report"), nb::arg("watch"));
}
