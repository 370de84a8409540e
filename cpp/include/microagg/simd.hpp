// The hot loops that are compiled for several instruction sets and chosen once at run time.
// Every level performs the same operations in the same order on each lane: identical results.
#pragma once

#include <cstdint>

namespace microagg::simd {

// Records are kept in blocks of LANES, attribute-major inside a block.
inline constexpr std::int64_t LANES = 16;

// Computes squared distances block by block from `begin` and returns the first block that holds a
// record with distance <= near or >= far, its LANES distances in `distances`; `end` if there is
// none. Slots without a record hold NaN, which is never a hit.
template <class Real>
using ScanBlocks = std::int64_t (*)(const Real* blocks, std::int64_t p, std::int64_t begin,
                                    std::int64_t end, const Real* query, Real near, Real far,
                                    Real* distances);

// Squared distances of all records of blocks begin .. end-1 to the query: LANES each, into
// `distances`.
using BlockDistances = void (*)(const double* blocks, std::int64_t p, std::int64_t begin,
                                std::int64_t end, const double* query, double* distances);

// Boxes, LANES to a block: per attribute the LANES lower ends, then the LANES upper ends; last the
// LANES largest squared norms of what is inside. A lane without a box holds NaN.
inline constexpr std::int64_t box_stride(std::int64_t p) { return (2 * p + 1) * LANES; }

// Which boxes of one block may hold a record that matters: near ones with a least squared distance
// <= limit, far ones with a greatest squared distance >= limit. Their lanes and these bounds go
// into `lanes` and `bounds` (room for LANES each), in the order of the lanes; returns how many.
// After its p coordinates, `query` has the addend of the norm bound (only far boxes use it).
using BoxesInReach = std::int64_t (*)(const float* boxes, std::int64_t p, const float* query,
                                      float limit, std::int32_t* lanes, float* bounds);

// The box around all records (or boxes) of one block: 2 p ends, lower and upper in turns, and the
// largest squared norm, rounded upwards; all NaN if the block is empty.
using Enclose = void (*)(const float* block, std::int64_t p, float* box);

// Paths are cut eight starts at a time.
inline constexpr std::int64_t STARTS = 8;

// SSE of the path's stretches that begin at `first + lane` and hold k .. 2k-1 records, by Welford
// extension (sums of non-negative terms: no cancellation). costs[(size - k) * STARTS + lane].
// `columns`: attribute-major, `stride` values per attribute, readable up to first + STARTS + 2k.
// `means`: scratch of p * STARTS.
using StretchCosts = void (*)(const double* columns, std::int64_t stride, std::int64_t p,
                              std::int64_t first, std::int64_t k, double* means, double* costs);

// Shortest paths: where here + steps[i] is below there[i], it becomes there[i] and `node`
// before[i].
using Relax = void (*)(double here, double node, const double* steps, double* there, double* before,
                       std::int64_t count);

struct Kernels {
  const char* name;
  std::int64_t register_bytes;
  ScanBlocks<float> scan_float;
  ScanBlocks<double> scan_double;
  BlockDistances block_distances;
  BoxesInReach near_boxes;
  BoxesInReach far_boxes;
  Enclose enclose_records;
  Enclose enclose_boxes;
  StretchCosts stretch_costs;
  Relax relax;
};

// The best level this CPU offers. `force` (tests only) picks a level by name; returns false when
// that level was not built or the CPU lacks it.
const Kernels& kernels();
bool force(const char* name);

}  // namespace microagg::simd
