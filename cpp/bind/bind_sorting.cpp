#include "bindings.hpp"
#include "microagg/fixed_runs.hpp"
#include "microagg/univariate.hpp"

namespace microagg::bind {

const Bindings bindings("sorting", [](nb::module_& m) {
  m.def(
      "fixed_runs",
      [](Vector values, std::int64_t k, bool descending) {
        return array_of(released([&] { return fixed_runs(span_of(values), k, descending); }));
      },
      array("values"), nb::arg("k"), nb::arg("descending"),
      "Runs of k sorted values; the last takes what is left over.");
  m.def(
      "optimal_univariate",
      [](Vector values, std::int64_t k, Watch& watch) {
        UnivariateOptimum found =
            released([&] { return optimal_univariate(span_of(values), k, watch); });
        return std::pair{array_of(std::move(found.labels)), found.sse};
      },
      array("values"), nb::arg("k"), nb::arg("watch"),
      "The best groups of one attribute, and their SSE.");
});

}  // namespace microagg::bind
