// Arrays across the border: read-only C-contiguous views in, new arrays out. Nothing is converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "microagg/points.hpp"

namespace nb = nanobind;

namespace microagg::bind {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// The nearest records of every record, one row each.
using Lists = nb::ndarray<const Row, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline std::span<const Row> all_of(const Lists& lists) { return {lists.data(), lists.size()}; }
inline std::int64_t length_of(const Lists& lists) {
  return static_cast<std::int64_t>(lists.shape(1));
}
inline Points points_of(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::int64_t>(matrix.shape(0)),
          static_cast<std::int64_t>(matrix.shape(1))};
}
template <class Array>
std::span<const typename Array::Scalar> span_of(const Array& array) {
  return {array.data(), array.shape(0)};
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

// Runs a kernel without the interpreter lock and hands its result over.
template <class Kernel>
auto released(Kernel kernel) {
  nb::gil_scoped_release release;
  return kernel();
}

void register_watch(nb::module_& m);
void register_objective(nb::module_& m);
void register_standardise(nb::module_& m);
void register_peel(nb::module_& m);
void register_paths(nb::module_& m);
void register_univariate(nb::module_& m);
void register_exhaustive(nb::module_& m);
void register_cmp98(nb::module_& m);
void register_variable_size(nb::module_& m);
void register_local_search(nb::module_& m);
void register_anneal(nb::module_& m);
void register_relocate(nb::module_& m);
void register_assignment(nb::module_& m);
void register_pricing(nb::module_& m);
void register_bound(nb::module_& m);
void register_targets(nb::module_& m);
void register_simd(nb::module_& m);

}  // namespace microagg::bind
