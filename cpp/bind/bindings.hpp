// What bind files share: how each registers itself, and arrays across the border. Arrays come in as
// read-only C-contiguous views and go out as new ones; nothing is converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "microagg/block.hpp"
#include "microagg/outcome.hpp"
#include "microagg/points.hpp"

namespace nb = nanobind;

namespace microagg::bind {

// A bind file has one of these at namespace scope, with the file's name: that alone makes what it
// binds a part of the module, in the order of the names, whatever the order of linking. Types that
// several files need are registered before, in module.cpp.
class Bindings {
 public:
  using Register = void (*)(nb::module_&);
  Bindings(const char* name, Register bind) { all().emplace(name, bind); }
  static std::multimap<std::string, Register>& all() {
    static std::multimap<std::string, Register> known;
    return known;
  }
};

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntegerMatrix = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An array that must have the right type already.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

inline Points points_of(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::int64_t>(matrix.shape(0)),
          static_cast<std::int64_t>(matrix.shape(1))};
}
template <class Array>
std::span<const typename Array::Scalar> span_of(const Array& array) {
  return {array.data(), array.size()};
}
inline Lists lists_of(const IntegerMatrix& lists) {
  return {span_of(lists), static_cast<std::int64_t>(lists.shape(1))};
}

// Hands a vector over to NumPy without copying it.
template <class T>
nb::ndarray<nb::numpy, T> array_of(Array<T> values, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<Array<T>>(std::move(values));
  T* data = owned->data();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<Array<T>*>(p); });
  owned.release();
  return nb::ndarray<nb::numpy, T>(data, shape, owner);
}
template <class T>
nb::ndarray<nb::numpy, T> array_of(Array<T> values) {
  const std::size_t n = values.size();
  return array_of(std::move(values), {n});
}
inline std::pair<nb::ndarray<nb::numpy, Label>, bool> pair_of(Outcome outcome) {
  return {array_of(std::move(outcome.labels)), outcome.truncated};
}

// Runs a kernel without the interpreter lock and hands its result over.
template <class Kernel>
auto released(Kernel kernel) {
  nb::gil_scoped_release release;
  return kernel();
}

}  // namespace microagg::bind
