// Searches that are compiled for a newer instruction set as well, chosen once at run time.
#pragma once

#include "microagg/simd.hpp"

namespace microagg {

// All that is inlined into this function is compiled for AVX2: the searches above it are made of
// inline functions. What is not inlined stays as it is for any CPU. Every operation is done in the
// same order on each lane, without FMA: identical results. Not under the sanitizers, whose checks
// make the inlined functions too large to compile.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define MICROAGG_WITH_AVX2
template <class Work>
__attribute__((target("avx2"), flatten, noinline)) auto with_avx2(Work work) {
  return work();
}
#endif

template <class Work>
auto with_widest(Work work) {
#ifdef MICROAGG_WITH_AVX2
  if (simd::kernels().register_bytes >= 32) return with_avx2(work);
#endif
  return work();
}

}  // namespace microagg
