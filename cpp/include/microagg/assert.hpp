// What a kernel takes for granted about its arguments, checked in the sanitizer build
// (MICROAGG_SANITIZE) and nowhere else.
#pragma once

#if defined(MICROAGG_ASSERTS)
#include <cstdio>
#include <cstdlib>

namespace microagg {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
  std::abort();
}

}  // namespace microagg

#define MICROAGG_ASSERT(condition)    \
  ((condition) ? static_cast<void>(0) \
               : ::microagg::assertion_failed(#condition, __FILE__, __LINE__))
#else
// Not evaluated, but its variables count as used.
#define MICROAGG_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
