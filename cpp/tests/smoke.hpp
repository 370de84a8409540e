// What all parts of the smoke test use; the parts are compiled side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "microagg/groups.hpp"
#include "microagg/points.hpp"

namespace microagg::smoke {

void check(bool holds, const char* what);
void check_partition(const Labels& labels, std::int64_t n, std::int64_t k);

// smoke_searches.cpp: partitions by the kernels of the papers, and by searches.
void add_paper_methods(Points points, const std::vector<double>& column, const Rows& path,
                       std::int64_t k, std::vector<Labels>& results);
void add_searches(Points points, std::int64_t k, std::vector<Labels>& results);

// smoke_published.cpp
void check_published(Points points, std::int64_t k);

}  // namespace microagg::smoke
