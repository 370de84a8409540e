// Components of the minimum spanning tree after cutting its long edges (Laszlo and Mukherjee's
// method, as TFRP07, section 2.3, and VLDBJ06, section 5, describe it). O(n^2 p) time, O(n) memory.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "microagg/objective.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

struct Edge {
  double length;
  Row from;
  Row to;
};

// Prim's algorithm from row 0; ties: the lowest row joins first.
[[nodiscard]] inline std::vector<Edge> minimum_spanning_tree(Points points, Watch& watch) {
  Poll poll(watch, 300'000);
  std::vector<Edge> tree;
  std::vector<Edge> nearest;  // cheapest edge from the tree to each record outside it
  for (Row row = 1; row < points.n; ++row) {
    nearest.push_back({std::numeric_limits<double>::infinity(), 0, row});
  }
  Row joined = 0;
  while (!nearest.empty()) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < nearest.size(); ++i) {
      Edge& edge = nearest[i];
      const double length = squared_distance(points.row(joined), points.row(edge.to), points.p);
      if (length < edge.length) edge = {length, joined, edge.to};
      if (edge.length < nearest[best].length ||
          (edge.length == nearest[best].length && edge.to < nearest[best].to)) {
        best = i;
      }
    }
    tree.push_back(nearest[best]);
    joined = nearest[best].to;
    nearest[best] = nearest.back();
    nearest.pop_back();
    poll.tick(static_cast<std::int64_t>(nearest.size() + 1) * points.p);
    poll.report_done(1.0 - static_cast<double>(nearest.size()) / static_cast<double>(points.n));
  }
  return tree;
}

// Edges are cut in order of decreasing length (ties: as they joined the tree) when both parts keep
// k.
[[nodiscard]] inline Labels mst_cut(Points points, std::int64_t k, Watch& watch) {
  MICROAGG_ASSERT(k >= 1 && points.n >= 1);
  std::vector<Edge> edges = minimum_spanning_tree(points, watch);
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.length > b.length; });
  std::vector<std::vector<Row>> adjacent(static_cast<std::size_t>(points.n));
  for (const Edge& edge : edges) {
    adjacent[edge.from].push_back(edge.to);
    adjacent[edge.to].push_back(edge.from);
  }
  // Whether at least k records are reached from `start` without passing `barrier`; stops at k.
  const auto keeps_k = [&](Row start, Row barrier) {
    std::vector<std::pair<Row, Row>> reached{{start, barrier}};
    for (std::size_t i = 0; i < reached.size() && static_cast<std::int64_t>(reached.size()) < k;
         ++i) {
      const auto [row, before] = reached[i];
      for (const Row next : adjacent[row]) {
        if (next != before) reached.push_back({next, row});
      }
    }
    return static_cast<std::int64_t>(reached.size()) >= k;
  };
  const auto cut = [&](Row row, Row neighbour) {
    auto& list = adjacent[row];
    list.erase(std::find(list.begin(), list.end(), neighbour));
  };
  for (const Edge& edge : edges) {
    if (!keeps_k(edge.from, edge.to) || !keeps_k(edge.to, edge.from)) continue;
    cut(edge.from, edge.to);
    cut(edge.to, edge.from);
  }
  Labels labels(static_cast<std::size_t>(points.n), -1);
  Label component = 0;
  std::vector<Row> stack;
  for (Row row = 0; row < points.n; ++row) {
    if (labels[row] >= 0) continue;
    stack.assign(1, row);
    labels[row] = component;
    while (!stack.empty()) {
      const Row at = stack.back();
      stack.pop_back();
      for (const Row next : adjacent[at]) {
        if (labels[next] >= 0) continue;
        labels[next] = component;
        stack.push_back(next);
      }
    }
    ++component;
  }
  return labels;
}

}  // namespace microagg
