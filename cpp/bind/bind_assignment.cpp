#include "arrays.hpp"
#include "microagg/assignment.hpp"

void microagg::bind::register_assignment(nb::module_& m) {
  // On a block, as `descent` and `anneal`; one round for each temperature.
  m.def(
      "assignment_rounds",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, Lists lists, Integers place,
         std::int64_t reach, double skip, Vector temperatures, std::uint64_t seed, bool report,
         Watch& watch) {
        bool truncated = false;
        Labels found = released([&] {
          return AssignmentRounds(points_of(points), span_of(rows), span_of(labels), k,
                                  all_of(lists), length_of(lists), span_of(place), reach, skip,
                                  seed, watch)
              .run(span_of(temperatures), report, truncated);
        });
        return nb::make_tuple(array_of(std::move(found)), truncated);
      },
      nb::arg("points").noconvert(), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(),
      nb::arg("k"), nb::arg("lists").noconvert(), nb::arg("place").noconvert(), nb::arg("reach"),
      nb::arg("skip"), nb::arg("temperatures").noconvert(), nb::arg("seed"), nb::arg("report"),
      nb::arg("watch"));
  // The column of each row. Row i knows those `columns` that lie between starts i and i+1, at those
  // costs; at least one assignment must exist.
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
      nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("costs").noconvert(),
      nb::arg("watch"));
}
