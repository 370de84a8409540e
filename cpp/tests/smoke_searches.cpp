// The kernels of the papers and the searches.
#include <algorithm>
#include <utility>
#include <vector>

#include "microagg/anneal.hpp"
#include "microagg/assignment.hpp"
#include "microagg/best_cycle.hpp"
#include "microagg/descent.hpp"
#include "microagg/dissolve.hpp"
#include "microagg/fixed_runs.hpp"
#include "microagg/genetic.hpp"
#include "microagg/genetic_groups.hpp"
#include "microagg/k_ward.hpp"
#include "microagg/kd_blocks.hpp"
#include "microagg/mst_cut.hpp"
#include "microagg/neighbour_lists.hpp"
#include "microagg/pool_pass.hpp"
#include "microagg/relocate.hpp"
#include "microagg/two_swap.hpp"
#include "microagg/v_mdav.hpp"
#include "smoke.hpp"

namespace microagg::smoke {

void add_paper_methods(Points points, const std::vector<double>& column, const Rows& path,
                       std::int64_t k, std::vector<Labels>& results) {
  Watch watch;
  results.push_back(fixed_runs(column, k, true));
  std::vector<std::int32_t> drawn(static_cast<std::size_t>(points.n));
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = static_cast<std::int32_t>(i % 3 / 2);
  for (const Extremes extremes :
       {Extremes::VALUES, Extremes::DISTANCE, Extremes::DISTANCE_SWAP, Extremes::DISTANCE_DRAWN}) {
    results.push_back(k_ward(points, column, extremes, drawn, k, watch));
  }
  results.push_back(v_mdav(points, k, 0.5, watch));
  check(v_mdav(points, k, 0.5, watch, Engine::TREE) == results.back(), "all engines agree");
  results.push_back(mst_cut(points, k, watch));
  results.push_back(Genetic(points, path, k, 5, 1, watch).run());
  results.push_back(GeneticGroups(points, k, 5, 1, watch).run());
  const Labels start = results.front();
  results.push_back(Dissolve(points, start, k, watch).run().labels);
  results.push_back(TwoSwap(points, start, watch).run().labels);
  const std::int64_t length = std::min<std::int64_t>(5, points.n - 1);
  const Rows near = NeighbourLists(points, length, 96, 2, watch).run();
  for (const Lists& lists : {Lists{{}, length}, Lists{near, length}}) {
    results.push_back(PoolPass(points, start, k, 100, lists, watch).run());
    results.push_back(BestCycle(points, start, k, 3, lists, watch).run());
  }
}

// From groups of k successive records, the last one taking what remains.
void add_searches(Points points, std::int64_t k, std::vector<Labels>& results) {
  Watch watch;
  const std::int64_t length = std::min<std::int64_t>(20, points.n - 1);
  const Rows near = NeighbourLists(points, length, 96, 1, watch).run();
  Rows rows;
  Labels start;
  for (Row row = 0; row < points.n; ++row) {
    rows.push_back(row);
    start.push_back(static_cast<Label>(std::min(row / k, points.n / k - 1)));
  }
  const Block block{points, rows, start, k, {near, length}, rows};
  const auto add = [&](Outcome found) {
    results.push_back(by_first_appearance(std::move(found.labels)));
  };
  add(Descent(block, watch).run());
  const std::vector<AnnealLevel> levels = {
      {1.0, points.n, 300}, {0.1, points.n, 300}, {0.01, std::min<std::int64_t>(points.n, 5), 300}};
  add(Anneal(block, 7, watch).run(levels, true));
  const std::vector<double> widths(rows.size(), 0.5);
  add(Relocate(block, widths, {4, 50, 0.01}, 7, watch).run(100 * points.n, true));
  add(AssignmentRounds(block, 6, 0.3, 7, watch).run(std::vector<double>{0.0, 0.1, 0.0}, true));
  const Array<std::int64_t> weights(static_cast<std::size_t>(points.n), 1);
  for (const bool jitter : {false, true}) {
    check(KdBlocks(points, weights, 4 * k, k, jitter, 3).run(2, watch).size() == rows.size(),
          "every record has a block");
  }
}

}  // namespace microagg::smoke
