// Vectors whose large ones lie on huge pages: on big data, fresh small pages cost as much as the
// work. All begin with a cache line: else whether wide loads straddle two would be a matter of
// luck.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace microagg {

template <class T>
class HugePages {
 public:
  using value_type = T;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}  // NOLINT(google-explicit-constructor): what vectors ask for

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < LARGE) return static_cast<T*>(::operator new(bytes, std::align_val_t{LINE}));
    const std::size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void* memory = std::aligned_alloc(PAGE, whole);
    if (!memory) throw std::bad_alloc();
#if defined(__linux__)
    madvise(memory, whole, MADV_HUGEPAGE);  // a hint: nothing depends on its success
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < LARGE) {
      ::operator delete(memory, std::align_val_t{LINE});
    } else {
      std::free(memory);
    }
  }
  bool operator==(const HugePages&) const { return true; }

 private:
  static constexpr std::size_t LINE = 64;
  static constexpr std::size_t PAGE = std::size_t{1} << 21;
  static constexpr std::size_t LARGE = std::size_t{1} << 21;
};

// For everything that grows with the number of records.
template <class T>
using Array = std::vector<T, HugePages<T>>;

}  // namespace microagg
