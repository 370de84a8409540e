#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"
#include "microagg/anneal.hpp"
#include "microagg/descent.hpp"
#include "microagg/kd_blocks.hpp"
#include "microagg/neighbour_lists.hpp"

void microagg::bind::register_anneal(nb::module_& m) {
  m.def(
      "neighbour_lists",
      [](Matrix points, std::int64_t length, std::int64_t most_leaves, std::int64_t threads,
         Watch& watch) {
        return array_of(
            released([&] {
              return NeighbourLists(points_of(points), length, most_leaves, threads, watch).run();
            }),
            {points.shape(0), static_cast<std::size_t>(length)});
      },
      nb::arg("points").noconvert(), nb::arg("length"), nb::arg("most_leaves"), nb::arg("threads"),
      nb::arg("watch"));
  m.def(
      "kd_blocks",
      [](Matrix items, Counts weights, std::int64_t largest, std::int64_t multiple, bool jitter,
         std::uint64_t seed, std::int64_t threads, Watch& watch) {
        return array_of(released([&] {
          return KdBlocks(points_of(items), span_of(weights), largest, multiple, jitter, seed)
              .run(threads, watch);
        }));
      },
      nb::arg("items").noconvert(), nb::arg("weights").noconvert(), nb::arg("largest"),
      nb::arg("multiple"), nb::arg("jitter"), nb::arg("seed"), nb::arg("threads"),
      nb::arg("watch"));
  // Squared distance from each record to the one at `place` of its list.
  m.def(
      "list_distances",
      [](Matrix points, Lists lists, std::int64_t place) {
        const Points x = points_of(points);
        Array<double> distances(static_cast<std::size_t>(x.n));
        for (std::int64_t i = 0; i < x.n; ++i) {
          const Row other = lists.data()[i * length_of(lists) + place];
          distances[i] = squared_distance(x.row(i), x.row(other), x.p);
        }
        return array_of(std::move(distances));
      },
      nb::arg("points").noconvert(), nb::arg("lists").noconvert(), nb::arg("place"));
  // The next two work on a block: some rows whose groups, of k to 2k-1 records each, lie wholly
  // inside it; `place` is where every record stands among the rows of its block. A descent that
  // begins at some places does not prove in the end that nothing was missed.
  m.def(
      "descent",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, Lists lists, Integers place,
         std::optional<Integers> begin, Watch& watch) {
        bool truncated = false;
        Labels found = released([&] {
          Descent descent(points_of(points), span_of(rows), span_of(labels), k, all_of(lists),
                          length_of(lists), span_of(place), watch);
          return begin ? descent.run(span_of(*begin), truncated) : descent.run(truncated);
        });
        return nb::make_tuple(array_of(std::move(found)), truncated);
      },
      nb::arg("points").noconvert(), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(),
      nb::arg("k"), nb::arg("lists").noconvert(), nb::arg("place").noconvert(),
      nb::arg("begin").noconvert().none(), nb::arg("watch"));
  m.def(
      "anneal",
      [](Matrix points, Integers rows, Integers labels, std::int64_t k, Lists lists, Integers place,
         Vector temperatures, Counts active, Counts steps, std::uint64_t seed, bool report,
         Watch& watch) {
        std::vector<AnnealLevel> levels;
        for (std::size_t level = 0; level < temperatures.shape(0); ++level) {
          levels.push_back({temperatures.data()[level], active.data()[level], steps.data()[level]});
        }
        bool truncated = false;
        Labels found = released([&] {
          return Anneal(points_of(points), span_of(rows), span_of(labels), k, all_of(lists),
                        length_of(lists), span_of(place), seed, watch)
              .run(levels, report, truncated);
        });
        return nb::make_tuple(array_of(std::move(found)), truncated);
      },
      nb::arg("points").noconvert(), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(),
      nb::arg("k"), nb::arg("lists").noconvert(), nb::arg("place").noconvert(),
      nb::arg("temperatures").noconvert(), nb::arg("active").noconvert(),
      nb::arg("steps").noconvert(), nb::arg("seed"), nb::arg("report"), nb::arg("watch"));
}
