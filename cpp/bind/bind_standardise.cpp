#include "arrays.hpp"
#include "microagg/standardise.hpp"

void microagg::bind::register_standardise(nb::module_& m) {
  nb::enum_<Scale>(m, "Scale")
      .value("ZSCORE", Scale::ZSCORE)
      .value("RANGE", Scale::RANGE)
      .value("ROBUST", Scale::ROBUST)
      .value("RANK", Scale::RANK);
  m.def(
      "standardise",
      [](Matrix values, Scale scale) {
        Standardised result = released([&] { return standardise(points_of(values), scale); });
        return nb::make_tuple(
            array_of(std::move(result.values), {values.shape(0), values.shape(1)}),
            array_of(std::move(result.usable)));
      },
      nb::arg("values").noconvert(), nb::arg("scale"));
}
