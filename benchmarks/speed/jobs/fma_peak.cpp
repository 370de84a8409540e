// What one core can do: fused multiply-adds on registers alone, as many at once as hide their
// latency. Prints single-precision multiply-adds a CPU second (lanes counted), the best of several
// spells.
#include <cstdio>
#include <ctime>

#if defined(__AVX512F__)
constexpr int BYTES = 64;
#elif defined(__AVX2__)
constexpr int BYTES = 32;
#else
constexpr int BYTES = 16;
#endif
typedef float Lanes __attribute__((vector_size(BYTES)));

int main(int count, char**) {
  constexpr int CHAINS = 12, STEPS = 2'000'000;
  Lanes sum[CHAINS];
  for (int c = 0; c < CHAINS; ++c) sum[c] = Lanes{} + static_cast<float>(c + count);
  const Lanes factor = Lanes{} + 0.999f * static_cast<float>(count);
  const Lanes term = Lanes{} + 0.001f;
  double best = 0.0;
  for (int spell = 0; spell < 20; ++spell) {
    const std::clock_t start = std::clock();
    for (int step = 0; step < STEPS; ++step) {
#pragma GCC unroll 12
      for (int c = 0; c < CHAINS; ++c) sum[c] = sum[c] * factor + term;
    }
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const double rate = double{STEPS} * CHAINS * (BYTES / 4) / taken;
    if (rate > best) best = rate;
  }
  float used = 0.0f;  // or the compiler would leave everything out
  for (int c = 0; c < CHAINS; ++c) used += sum[c][0];
  std::printf("%g %g\n", best, static_cast<double>(used));
}
