#include "bindings.hpp"
#include "microagg/relocate.hpp"
#include "microagg/sized_means.hpp"

namespace microagg::bind {

namespace {

// Records by attributes, padded as SizedMeans wants them.
std::vector<double> padded(Points points, std::int64_t width) {
  std::vector<double> values(static_cast<std::size_t>(points.n * width));
  for (std::int64_t i = 0; i < points.n; ++i)
    std::copy(points.row(i), points.row(i) + points.p, values.data() + i * width);
  return values;
}
Labels copied(std::span<const Label> labels) { return {labels.begin(), labels.end()}; }

}  // namespace

const Bindings bindings("relocate", [](nb::module_& m) {
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
      array("costs"), nb::arg("k"), nb::arg("watch"),
      "The column of each row of costs in the cheapest assignment with at least k rows a column.");
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
      array("points"), nb::arg("k"), nb::arg("watch"), "All records in two groups of at least k.");
  m.def(
      "relocate",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, IntegerMatrix lists,
         Vector widths, std::int64_t region, std::int64_t steps_a_record, double rise,
         std::int64_t steps, std::uint64_t seed, bool report, Watch& watch) {
        const Block block{
            points_of(points), span_of(rows), span_of(labels), k, lists_of(lists), {}};
        const Relocate::Settings settings{region, steps_a_record, rise};
        return pair_of(released([&] {
          return Relocate(block, span_of(widths), settings, seed, watch).run(steps, report);
        }));
      },
      array("points"), array("rows"), array("labels"), nb::arg("k"), array("lists"),
      array("widths"), nb::arg("region"), nb::arg("steps_a_record"), nb::arg("rise"),
      nb::arg("steps"), nb::arg("seed"), nb::arg("report"), nb::arg("watch"),
      "Groups of a block given up and founded elsewhere, in regions of so many groups. Returns "
      "the\n"
      "groups of the rows, and whether the deadline came first.");
});

}  // namespace microagg::bind
