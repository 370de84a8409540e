// Table of contents of microagg._core.
#include "arrays.hpp"

NB_MODULE(_core, m) {
  using namespace microagg::bind;
  // An interrupted run may leave objects to threads that end with the process, which is no leak.
  nb::set_leak_warnings(false);
  m.doc() = "Native kernels of microagg; see cpp/include/microagg for each.";
  register_watch(m);
  register_objective(m);
  register_standardise(m);
  register_peel(m);
  register_paths(m);
  register_univariate(m);
  register_exhaustive(m);
  register_cmp98(m);
  register_variable_size(m);
  register_local_search(m);
  register_anneal(m);
  register_relocate(m);
  register_assignment(m);
  register_pricing(m);
  register_bound(m);
  register_targets(m);
  register_simd(m);
}
