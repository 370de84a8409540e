#include "bindings.hpp"
#include "microagg/objective.hpp"

namespace microagg::bind {

const Bindings bindings("objective", [](nb::module_& m) {
  m.def(
      "sse",
      [](Matrix points, Integers labels) {
        return released([&] { return sse(points_of(points), span_of(labels)); });
      },
      array("points"), array("labels"), "The sum of squared distances to the means of the groups.");
  m.def(
      "sse_and_rest",
      [](Matrix points, Integers labels) {
        const ExactSum sum =
            released([&] { return exact_sse(points_of(points), span_of(labels)); });
        return std::pair{sum.value(), sum.rest()};
      },
      array("points"), array("labels"), "The SSE, and what it lacks of the exact sum.");
  m.def(
      "sst", [](Matrix points) { return released([&] { return sst(points_of(points)); }); },
      array("points"), "The sum of squared distances to the mean of all.");
  m.def(
      "by_first_appearance",
      [](Integers labels) {
        return array_of(released([&] {
          return by_first_appearance(Labels(labels.data(), labels.data() + labels.size()));
        }));
      },
      array("labels"), "The groups numbered 0, 1, … in order of their first records.");
  m.def(
      "group_sizes",
      [](Integers labels) {
        return array_of(released([&] { return group_sizes(span_of(labels)); }));
      },
      array("labels"), "How many records each group has.");
  m.def(
      "rows_by_group",
      [](Integers labels) {
        return array_of(released([&] { return rows_by_group(span_of(labels)); }));
      },
      array("labels"), "The rows of group 0, those of group 1 and so on, ascending in each.");
  m.def(
      "group_means",
      [](Matrix values, Integers labels) {
        Array<double> means =
            released([&] { return group_means(points_of(values), span_of(labels)); });
        const std::size_t p = values.shape(1);
        const std::size_t groups = means.size() / p;
        return array_of(std::move(means), {groups, p});
      },
      array("values"), array("labels"), "The mean of each group, one row each.");
});

}  // namespace microagg::bind
