#include "arrays.hpp"
#include "microagg/objective.hpp"

void microagg::bind::register_objective(nb::module_& m) {
  nb::enum_<Numbering>(m, "Numbering")
      .value("APPEARANCE", Numbering::APPEARANCE)
      .value("KEPT", Numbering::KEPT);
  m.def(
      "sse",
      [](Matrix points, Integers labels) {
        return released([&] { return sse(points_of(points), span_of(labels)); });
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert());
  m.def(
      "sse_and_rest",
      [](Matrix points, Integers labels) {
        const ExactSum sum =
            released([&] { return exact_sse(points_of(points), span_of(labels)); });
        return nb::make_tuple(sum.value(), sum.rest());
      },
      nb::arg("points").noconvert(), nb::arg("labels").noconvert());
  m.def(
      "sst", [](Matrix points) { return released([&] { return sst(points_of(points)); }); },
      nb::arg("points").noconvert());
  m.def(
      "by_first_appearance",
      [](Integers labels) {
        return array_of(released([&] {
          return by_first_appearance(Labels(labels.data(), labels.data() + labels.size()));
        }));
      },
      nb::arg("labels").noconvert());
  m.def(
      "group_sizes",
      [](Integers labels) {
        return array_of(released([&] { return group_sizes(span_of(labels)); }));
      },
      nb::arg("labels").noconvert());
  m.def(
      "rows_by_group",
      [](Integers labels) {
        return array_of(released([&] { return rows_by_group(span_of(labels)); }));
      },
      nb::arg("labels").noconvert());
  m.def(
      "group_means",
      [](Matrix values, Integers labels) {
        Array<double> means =
            released([&] { return group_means(points_of(values), span_of(labels)); });
        const std::size_t p = values.shape(1);
        const std::size_t groups = means.size() / p;
        return array_of(std::move(means), {groups, p});
      },
      nb::arg("values").noconvert(), nb::arg("labels").noconvert());
}
