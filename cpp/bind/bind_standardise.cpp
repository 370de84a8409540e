#include "bindings.hpp"
#include "microagg/standardise.hpp"

namespace microagg::bind {

const Bindings bindings("standardise", [](nb::module_& m) {
  nb::enum_<Scale>(m, "Scale", "What columns are divided by, or replaced with.")
      .value("ZSCORE", Scale::ZSCORE)
      .value("RANGE", Scale::RANGE)
      .value("ROBUST", Scale::ROBUST)
      .value("RANK", Scale::RANK);
  m.def(
      "standardise",
      [](Matrix values, Scale scale) {
        Standardised result = released([&] { return standardise(points_of(values), scale); });
        return std::pair{array_of(std::move(result.values), {values.shape(0), values.shape(1)}),
                         array_of(std::move(result.usable))};
      },
      array("values"), nb::arg("scale"),
      "The columns in common units, and for each whether it has any spread (1) or not (0).");
});

}  // namespace microagg::bind
