// A small generator whose numbers are the same on every machine and compiler.
#pragma once

#include <bit>
#include <cstdint>

namespace microagg {

// Natural logarithm of a positive normal number to about 1e-9, from exactly rounded operations
// only: the mathematical library's last digits differ between machines.
inline double portable_log(double x) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  bits = (bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL;
  double mantissa = std::bit_cast<double>(bits);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double q = s * s;
  const double series =
      1.0 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11)))));
  return 2.0 * s * series + static_cast<double>(exponent) * 0.6931471805599453;
}

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
  std::int64_t below(std::int64_t count) { return share_of(next() >> 32, count); }
  // The same from 32 random bits.
  static std::int64_t share_of(std::uint64_t bits, std::int64_t count) {
    return static_cast<std::int64_t>((bits * static_cast<std::uint64_t>(count)) >> 32);
  }
  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Exponentially distributed with mean 1, at most about 37.
  double exponential() {
    return -portable_log(static_cast<double>((next() >> 11) + 1) * 0x1.0p-53);
  }

 private:
  std::uint64_t state_;
};

}  // namespace microagg
