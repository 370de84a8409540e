// Compiled once per instruction set with MICROAGG_LEVEL naming the namespace (see CMakeLists.txt).
// Plain loops and compiler vectors only: no standard library here.
#include "microagg/simd.hpp"

namespace microagg::simd::MICROAGG_LEVEL {

namespace {

// Bytes of one register. Vectors of just this size: wider ones are taken apart badly by compilers.
#if defined(__AVX512F__)
constexpr std::int64_t REGISTER = 64;
#elif defined(__AVX2__)
constexpr std::int64_t REGISTER = 32;
#else
constexpr std::int64_t REGISTER = 16;
#endif

template <class Real>
std::int64_t scan_blocks(const Real* blocks, std::int64_t p, std::int64_t begin, std::int64_t end,
                         const Real* query, Real near, Real far, Real* distances) {
  typedef Real Part __attribute__((vector_size(REGISTER), aligned(sizeof(Real)), may_alias));
  typedef long long Bits __attribute__((vector_size(REGISTER)));
  constexpr std::int64_t WIDTH = REGISTER / static_cast<std::int64_t>(sizeof(Real));
  constexpr std::int64_t PARTS = LANES / WIDTH;
  for (std::int64_t block = begin; block < end; ++block) {
    const Real* values = blocks + block * p * LANES;
    Part sum[PARTS] = {};
    for (std::int64_t a = 0; a < p; ++a) {
      const Real q = query[a];
#pragma GCC unroll 8
      for (std::int64_t part = 0; part < PARTS; ++part) {
        const Part d = *reinterpret_cast<const Part*>(values + a * LANES + part * WIDTH) - q;
        sum[part] += d * d;
      }
    }
    Bits hits = {};
#pragma GCC unroll 8
    for (std::int64_t part = 0; part < PARTS; ++part) {
      hits |= reinterpret_cast<Bits>((sum[part] <= near) | (sum[part] >= far));
    }
    long long any = 0;
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < REGISTER / 8; ++i) any |= hits[i];
    if (any) {
      for (std::int64_t part = 0; part < PARTS; ++part) {
        *reinterpret_cast<Part*>(distances + part * WIDTH) = sum[part];
      }
      return block;
    }
  }
  return end;
}

void block_distances(const double* blocks, std::int64_t p, std::int64_t begin, std::int64_t end,
                     const double* query, double* distances) {
  typedef double Part __attribute__((vector_size(REGISTER), aligned(8), may_alias));
  constexpr std::int64_t WIDTH = REGISTER / 8;
  constexpr std::int64_t PARTS = LANES / WIDTH;
  for (std::int64_t block = begin; block < end; ++block) {
    const double* values = blocks + block * p * LANES;
    Part sum[PARTS] = {};
    for (std::int64_t a = 0; a < p; ++a) {
      const double q = query[a];
#pragma GCC unroll 8
      for (std::int64_t part = 0; part < PARTS; ++part) {
        const Part d = *reinterpret_cast<const Part*>(values + a * LANES + part * WIDTH) - q;
        sum[part] += d * d;
      }
    }
    for (std::int64_t part = 0; part < PARTS; ++part) {
      *reinterpret_cast<Part*>(distances + (block - begin) * LANES + part * WIDTH) = sum[part];
    }
  }
}

// Comparisons are written so that NaN stays NaN: a lane without a box is never in reach.
template <bool FAR>
std::int64_t boxes_in_reach(const float* boxes, std::int64_t p, const float* query, float limit,
                            std::int32_t* lanes, float* bounds) {
  typedef float Part __attribute__((vector_size(REGISTER), aligned(4), may_alias));
  constexpr std::int64_t WIDTH = REGISTER / 4;
  constexpr std::int64_t PARTS = LANES / WIDTH;
  const auto part_at = [](const float* at) -> const Part& {
    return *reinterpret_cast<const Part*>(at);
  };
  Part sum[PARTS] = {};
  Part lifted[PARTS] = {};
  for (std::int64_t a = 0; a < p; ++a) {
    const float q = query[a];
    const float slope = -2.0F * q;
    const float* ends = boxes + a * 2 * LANES;
#pragma GCC unroll 8
    for (std::int64_t part = 0; part < PARTS; ++part) {
      const Part low = part_at(ends + part * WIDTH);
      const Part high = part_at(ends + LANES + part * WIDTH);
      if constexpr (FAR) {
        const Part below = q - low;
        const Part above = high - q;
        const Part reach = below > above ? below : above;
        sum[part] += reach * reach;
        const Part at_low = low * slope;
        const Part at_high = high * slope;
        lifted[part] += at_low > at_high ? at_low : at_high;
      } else {
        const Part below = low - q;
        const Part above = q - high;
        const Part gap = below > above ? below : above;
        const Part zero = {};
        const Part outside = zero > gap ? zero : gap;
        sum[part] += outside * outside;
      }
    }
  }
  alignas(64) float all[LANES];
#pragma GCC unroll 8
  for (std::int64_t part = 0; part < PARTS; ++part) {
    if constexpr (FAR) {
      const Part other = lifted[part] + part_at(boxes + 2 * p * LANES + part * WIDTH) + query[p];
      sum[part] = sum[part] < other ? sum[part] : other;
    }
    *reinterpret_cast<Part*>(all + part * WIDTH) = sum[part];
  }
  std::int64_t count = 0;
  for (std::int32_t lane = 0; lane < LANES; ++lane) {
    lanes[count] = lane;
    bounds[count] = all[lane];
    count += FAR ? all[lane] >= limit : all[lane] <= limit;
  }
  return count;
}

// The least (or greatest) of LANES values but NaN; NaN if there are no others. In vectors of four:
// wider ones take longer to be folded than they save.
template <bool GREATEST>
float extreme(const float* lanes) {
  typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
  const float nothing = GREATEST ? -__builtin_inff() : __builtin_inff();
  Four best = nothing - Four{};
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < LANES; i += 4) {
    const Four next = *reinterpret_cast<const Four*>(lanes + i);
    best = (GREATEST ? next > best : next < best) ? next : best;
  }
  const auto better = [](float one, float other) {
    return (GREATEST ? one > other : one < other) ? one : other;
  };
  const float found = better(better(best[0], best[1]), better(best[2], best[3]));
  return found == nothing ? __builtin_nanf("") : found;
}

void enclose_records(const float* records, std::int64_t p, float* box) {
  typedef float Part __attribute__((vector_size(REGISTER), aligned(4), may_alias));
  constexpr std::int64_t WIDTH = REGISTER / 4;
  constexpr std::int64_t PARTS = LANES / WIDTH;
  Part norm[PARTS] = {};
  for (std::int64_t a = 0; a < p; ++a) {
    const float* lanes = records + a * LANES;
    box[2 * a] = extreme<false>(lanes);
    box[2 * a + 1] = extreme<true>(lanes);
#pragma GCC unroll 8
    for (std::int64_t part = 0; part < PARTS; ++part) {
      const Part y = *reinterpret_cast<const Part*>(lanes + part * WIDTH);
      norm[part] += y * y;
    }
  }
  alignas(64) float norms[LANES];
  for (std::int64_t part = 0; part < PARTS; ++part) {
    *reinterpret_cast<Part*>(norms + part * WIDTH) = norm[part];
  }
  // Rounded upwards past the p squares and sums.
  box[2 * p] = extreme<true>(norms) * (1.0F + static_cast<float>(p + 4) * 0x1.0p-23F);
}

void enclose_boxes(const float* boxes, std::int64_t p, float* box) {
  for (std::int64_t a = 0; a < p; ++a) {
    box[2 * a] = extreme<false>(boxes + 2 * a * LANES);
    box[2 * a + 1] = extreme<true>(boxes + (2 * a + 1) * LANES);
  }
  box[2 * p] = extreme<true>(boxes + 2 * p * LANES);
}

void stretch_costs(const double* columns, std::int64_t stride, std::int64_t p, std::int64_t first,
                   std::int64_t k, double* means, double* costs) {
  typedef double Part __attribute__((vector_size(REGISTER), aligned(8), may_alias));
  constexpr std::int64_t WIDTH = REGISTER / 8;
  constexpr std::int64_t PARTS = STARTS / WIDTH;
  for (std::int64_t a = 0; a < p; ++a) {
    for (std::int64_t lane = 0; lane < STARTS; ++lane) {
      means[a * STARTS + lane] = columns[a * stride + first + lane];
    }
  }
  Part sse[PARTS] = {};
  const auto store = [&](std::int64_t size) {
    for (std::int64_t part = 0; part < PARTS; ++part) {
      *reinterpret_cast<Part*>(costs + (size - k) * STARTS + part * WIDTH) = sse[part];
    }
  };
  if (k == 1) store(1);
  for (std::int64_t size = 2; size < 2 * k; ++size) {
    const double share = 1.0 / static_cast<double>(size);
    const double* values = columns + first + size - 1;
    Part squares[PARTS] = {};
    for (std::int64_t a = 0; a < p; ++a) {
#pragma GCC unroll 8
      for (std::int64_t part = 0; part < PARTS; ++part) {
        const Part x = *reinterpret_cast<const Part*>(values + a * stride + part * WIDTH);
        Part& mean = *reinterpret_cast<Part*>(means + a * STARTS + part * WIDTH);
        const Part d = x - mean;
        mean += d * share;
        squares[part] += d * d;
      }
    }
    const double weight = static_cast<double>(size - 1) * share;
    for (std::int64_t part = 0; part < PARTS; ++part) sse[part] += squares[part] * weight;
    if (size >= k) store(size);
  }
}

void relax(double here, double node, const double* steps, double* there, double* before,
           std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double total = here + steps[i];
    const bool shorter = total < there[i];
    there[i] = shorter ? total : there[i];
    before[i] = shorter ? node : before[i];
  }
}

}  // namespace

extern const Kernels table;
#define MICROAGG_TEXT(x) #x
#define MICROAGG_NAME(x) MICROAGG_TEXT(x)
const Kernels table = {MICROAGG_NAME(MICROAGG_LEVEL),
                       REGISTER,
                       scan_blocks<float>,
                       scan_blocks<double>,
                       block_distances,
                       boxes_in_reach<false>,
                       boxes_in_reach<true>,
                       enclose_records,
                       enclose_boxes,
                       stretch_costs,
                       relax};

}  // namespace microagg::simd::MICROAGG_LEVEL
