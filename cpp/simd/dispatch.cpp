// Chooses the widest instruction set that was built and that this CPU has.
#include <atomic>
#include <cstring>

#include "microagg/simd.hpp"

namespace microagg::simd {

namespace baseline {
extern const Kernels table;
}
#ifdef MICROAGG_HAS_AVX2
namespace avx2 {
extern const Kernels table;
}
#endif
#ifdef MICROAGG_HAS_AVX512
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

const Kernels* find(const char* name) {
#ifdef MICROAGG_HAS_AVX512
  if ((!name || !std::strcmp(name, "avx512")) && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw")) {
    return &avx512::table;
  }
#endif
#ifdef MICROAGG_HAS_AVX2
  if ((!name || !std::strcmp(name, "avx2")) && __builtin_cpu_supports("avx2")) return &avx2::table;
#endif
  if (!name || !std::strcmp(name, "baseline")) return &baseline::table;
  return nullptr;
}

// The only state of the core: a choice that no result depends on.
std::atomic<const Kernels*> chosen{nullptr};

}  // namespace

const Kernels& kernels() {
  const Kernels* table = chosen.load(std::memory_order_relaxed);
  if (!table) chosen.store(table = find(nullptr), std::memory_order_relaxed);
  return *table;
}

bool force(const char* name) {
  const Kernels* table = find(name);
  if (table) chosen.store(table, std::memory_order_relaxed);
  return table != nullptr;
}

}  // namespace microagg::simd
