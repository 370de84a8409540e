#include "arrays.hpp"
#include "microagg/univariate.hpp"

void microagg::bind::register_univariate(nb::module_& m) {
  m.def(
      "optimal_univariate",
      [](Vector values, std::int64_t k, Watch& watch) {
        UnivariateOptimum found =
            released([&] { return optimal_univariate(span_of(values), k, watch); });
        return nb::make_tuple(array_of(std::move(found.labels)), found.sse);
      },
      nb::arg("values").noconvert(), nb::arg("k"), nb::arg("watch"));
}
