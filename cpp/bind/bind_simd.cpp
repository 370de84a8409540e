#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "microagg/simd.hpp"

void microagg::bind::register_simd(nb::module_& m) {
  m.def("simd_level", [] { return std::string(simd::kernels().name); });
  m.def(
      "force_simd_level", [](const std::string& name) { return simd::force(name.c_str()); },
      nb::arg("name"));
}
