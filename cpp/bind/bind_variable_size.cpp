#include "arrays.hpp"
#include "microagg/mst_cut.hpp"
#include "microagg/v_mdav.hpp"

void microagg::bind::register_variable_size(nb::module_& m) {
  m.def(
      "v_mdav",
      [](Matrix points, std::int64_t k, double gamma, Watch& watch, Engine engine,
         Numbering numbering) {
        return array_of(released(
            [&] { return v_mdav(points_of(points), k, gamma, watch, engine, numbering); }));
      },
      nb::arg("points").noconvert(), nb::arg("k"), nb::arg("gamma"), nb::arg("watch"),
      nb::arg("engine") = Engine::AUTO, nb::arg("numbering") = Numbering::APPEARANCE);
  m.def(
      "mst_cut",
      [](Matrix points, std::int64_t k, Watch& watch) {
        return array_of(released([&] { return mst_cut(points_of(points), k, watch); }));
      },
      nb::arg("points").noconvert(), nb::arg("k"), nb::arg("watch"));
}
