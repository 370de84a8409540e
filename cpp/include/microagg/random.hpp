// A small generator whose numbers are the same on every machine and compiler.
#pragma once

#include <cstdint>

namespace microagg {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // splitmix64
  std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
  }
  // 0 .. count-1; the bias is below count / 2^32.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(((next() >> 32) * static_cast<std::uint64_t>(count)) >> 32);
  }
  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace microagg
