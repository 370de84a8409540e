#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"
#include "microagg/simd.hpp"

namespace microagg::bind {

const Bindings bindings("simd", [](nb::module_& m) {
  m.def(
      "simd_level", [] { return std::string(simd::kernels().name); },
      "The instruction set in use; results do not depend on it.");
  m.def(
      "force_simd_level", [](const std::string& name) { return simd::force(name.c_str()); },
      nb::arg("name"), "Use this instruction set; false if the machine lacks it.");
});

}  // namespace microagg::bind
