#include "bindings.hpp"
#include "microagg/assignment.hpp"

namespace microagg::bind {

const Bindings bindings("assignment", [](nb::module_& m) {
  m.def(
      "assignment_rounds",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, IntegerMatrix lists,
         Integers place, std::int64_t reach, double skip, Vector temperatures, std::uint64_t seed,
         bool report, Watch& watch) {
        const Block block{points_of(points), span_of(rows), span_of(labels), k,
                          lists_of(lists),   span_of(place)};
        return pair_of(released([&] {
          return AssignmentRounds(block, reach, skip, seed, watch)
              .run(span_of(temperatures), report);
        }));
      },
      array("points"), array("rows"), array("labels"), nb::arg("k"), array("lists"), array("place"),
      nb::arg("reach"), nb::arg("skip"), array("temperatures"), nb::arg("seed"), nb::arg("report"),
      nb::arg("watch"),
      "Rounds of assignment on a block, one for each temperature: every group gives a record "
      "away,\n"
      "and all are put back at the least cost. Returns the groups of the rows, and whether time\n"
      "did not suffice.");
  m.def(
      "sparse_assignment",
      [](Counts starts, Integers columns, Vector costs, Watch& watch) {
        const auto size = static_cast<std::int64_t>(starts.shape(0)) - 1;
        return array_of(released([&] {
          std::int64_t most = 0;
          for (std::int64_t row = 0; row < size; ++row)
            most = std::max(most, starts.data()[row + 1] - starts.data()[row]);
          SparseAssignment problem(size, most);
          for (std::int64_t row = 0; row < size; ++row) {
            for (std::int64_t a = starts.data()[row]; a < starts.data()[row + 1]; ++a)
              problem.add(static_cast<Row>(row), columns.data()[a], costs.data()[a]);
          }
          Poll poll(watch, 100'000, Deadline::HEED);
          problem.solve(poll);
          Rows found(static_cast<std::size_t>(size));
          for (std::int64_t row = 0; row < size; ++row)
            found[row] = problem.column_of(static_cast<Row>(row));
          return found;
        }));
      },
      array("starts"), array("columns"), array("costs"), nb::arg("watch"),
      "The column of each row in the cheapest assignment. Row i knows those columns that lie\n"
      "between starts i and i+1, at those costs; at least one assignment must exist.");
});

}  // namespace microagg::bind
