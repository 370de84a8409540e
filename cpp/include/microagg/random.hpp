// A small generator whose numbers are the same on every machine and compiler.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace microagg {

// Natural logarithm of a positive normal number to about 1e-9, from exactly rounded operations
// only: the mathematical library's last digits differ between machines.
constexpr double portable_log(double x) {
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

// Logarithms of 1, 1 + 1/128, .., 2: between two of them lies that of any number from 1 to 2.
inline constexpr std::uint64_t LOG_PARTS = 128;
inline constexpr auto LOGS = [] {
  std::array<double, LOG_PARTS + 1> logs{};
  for (std::uint64_t i = 0; i <= LOG_PARTS; ++i)
    logs[i] = portable_log(1.0 + static_cast<double>(i) / static_cast<double>(LOG_PARTS));
  return logs;
}();

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
  double exponential() { return -portable_log(uniform()); }
  // Whether value < scale * exponential(), which the first digits of the logarithm tell nearly
  // always.
  bool exponential_exceeds(double value, double scale) {
    const double x = uniform();
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const double whole =
        static_cast<double>(1023 - static_cast<std::int64_t>(bits >> 52)) * 0.6931471805599453;
    const std::uint64_t part = bits >> 45 & (LOG_PARTS - 1);
    if (value < scale * (whole - LOGS[part + 1] - SLACK)) return true;
    if (value > scale * (whole - LOGS[part] + SLACK)) return false;
    return value < scale * -portable_log(x);
  }

 private:
  // Far more than the error of a logarithm.
  static constexpr double SLACK = 1e-7;
  // In (0, 1].
  double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1.0p-53; }
  std::uint64_t state_;
};

}  // namespace microagg
