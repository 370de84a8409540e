#include "arrays.hpp"
#include "microagg/exhaustive.hpp"

void microagg::bind::register_exhaustive(nb::module_& m) {
  m.def(
      "exhaustive",
      [](Matrix points, std::int64_t k, Watch& watch) {
        return array_of(released([&] { return exhaustive(points_of(points), k, watch); }));
      },
      nb::arg("points").noconvert(), nb::arg("k"), nb::arg("watch"));
}
