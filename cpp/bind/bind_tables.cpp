#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "microagg/tables.hpp"

namespace microagg::bind {

const Bindings bindings("tables", [](nb::module_& m) {
  m.def(
      "choose_by_tables",
      [](std::vector<Counts> first, std::vector<Integers> code, std::vector<Vector> price,
         std::vector<Vector> amount, Integers codes, Integers group, Vector weight,
         IntegerMatrix before, Matrix amounts, IntegerMatrix others_before,
         IntegerMatrix others_published, Integers codes_of_others, std::vector<Integers> wide_rows,
         IntegerMatrix wide_tables, double wide, IntegerMatrix start, bool pairs, double few,
         double sums, double hot, std::int64_t cooling, std::int64_t sweeps, Watch& watch) {
        std::vector<Choices> attributes;
        for (std::size_t i = 0; i < first.size(); ++i) {
          attributes.push_back({span_of(first[i]), span_of(code[i]), span_of(price[i]),
                                span_of(amount[i]), codes.data()[i]});
        }
        const TableSource source{span_of(group),          span_of(weight),
                                 span_of(before),         span_of(amounts),
                                 span_of(others_before),  span_of(others_published),
                                 span_of(codes_of_others)};
        WideTables of_three{{}, span_of(wide_tables), wide};
        for (const Integers& rows : wide_rows) of_three.rows.push_back(span_of(rows));
        const std::size_t groups = start.shape(0), p = start.shape(1);
        return array_of(released([&] {
                          return TableSearch(attributes, source, of_three,
                                             {pairs, few, sums, hot, cooling, sweeps}, watch)
                              .run(span_of(start));
                        }),
                        {groups, p});
      },
      nb::arg("first"), nb::arg("code"), nb::arg("price"), nb::arg("amount"), array("codes"),
      array("group"), array("weight"), array("before"), array("amounts"), array("others_before"),
      array("others_published"), array("codes_of_others"), nb::arg("wide_rows"),
      array("wide_tables"), nb::arg("wide"), array("start"), nb::arg("pairs"), nb::arg("few"),
      nb::arg("sums"), nb::arg("hot"), nb::arg("cooling"), nb::arg("sweeps"), nb::arg("watch"),
      "Which of its candidates each group publishes, so that tables of counts and sums of numbers\n"
      "by category stay as in the source: (groups, attributes) places among the candidates of the\n"
      "group, -1 where it has none.");
  m.def(
      "nearest_combinations",
      [](IntegerMatrix rows, std::int64_t shared, Counts first, std::vector<Matrix> prices,
         Watch& watch) {
        std::vector<std::span<const double>> all;
        for (const Matrix& each : prices) all.push_back(span_of(each));
        const std::size_t groups = first.size() - 1, columns = prices.size();
        return array_of(released([&] {
                          return nearest_combinations(span_of(rows), shared, span_of(first), all,
                                                      watch);
                        }),
                        {groups, columns});
      },
      array("rows"), nb::arg("shared"), array("first"), nb::arg("prices"), nb::arg("watch"),
      "The combination of codes that costs each group least: one of the first `shared` rows, or "
      "one\n"
      "of its own, which follow group by group. `prices`: by column, (groups, codes).");
});

}  // namespace microagg::bind
