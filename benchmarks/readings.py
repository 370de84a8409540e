"""Experiments behind the reasons of docs/papers.md: other readings of the papers beside what they print.

    python -m benchmarks.readings [order] [path] [diameter] [optima] [large-census] [ties] [extremes]
        [cut] [blocks]

Without names, all of them: a few minutes. All is plain NumPy, but for the cut of a path, the optimum of
eleven records, the methods on random sets and the optima of blocks. Readings that turned out to give
printed figures have become settings of the methods; the others are here so that nobody need try them again.

    order          which of its two groups MDAV forms first, and how it keeps its records (VLDBJ06, Table 5)
    path           how the records of a group follow each other in MDAV-MHM and MD-MHM (the same table)
    diameter       Diameter at Census, k = 45 (TFRP07, section 4.3)
    optima         up to which ratio an optimum is counted, how sets are drawn (VLDBJ06, Tables 6 and 7)
    large-census   what 13 independent normal attributes lose (VLDBJ06, Table 5)
    ties           what becomes of losses when ties go to the highest row (CMP98, Table 1)
    extremes       which extreme comes first at each split of MDO_MD (CMP98, Tables 1, 3 and 4)
    cut            other costs of a group, and other sizes, for the cut of NPN-MHM (VLDBJ06, Table 5)
    blocks         the optimum of the blocks of `decomposition`, and others (CGS22, Tables 1 to 4)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from tests.papers import figures

import microagg
from microagg import _core, datasets
from microagg.methods.decomposition import Decomposition
from microagg.methods.exact import Exact
from microagg.methods.run import Run
from microagg.methods.stage import one_group
from microagg.model import Partition, Problem

Points = NDArray[np.float64]
Rows = NDArray[np.int64]


@cache
def standardised(name: str) -> Points:
    values = np.asarray(datasets.load(name).values, dtype=np.float64)
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def squared(points: Points, query: Points) -> Points:
    return np.asarray(((points - query) ** 2).sum(axis=-1))


def loss(points: Points, groups: list[Rows]) -> float:
    within = sum(float(squared(points[rows], points[rows].mean(axis=0)).sum()) for rows in groups)
    return 100 * within / float(squared(points, points.mean(axis=0)).sum())


def printed(data: str, method: str) -> dict[int, float]:
    """k and what VLDBJ06's Table 5 has for it."""
    tables = [
        table
        for table in figures.load()["table"]
        if (table["paper"], table["table"], table["data"]) == ("VLDBJ06", "5", data)
        and "measure" not in table
    ]
    return {
        figure["k"]: float(figure["published"])
        for table in tables
        for figure in table["figures"]
        if figure["method"] == method
    }


def marked(found: float, wanted: float) -> str:
    return f"{found:.4f}{'*' if abs(found - wanted) <= 5.1e-5 else ' '}"


# --- the order of MDAV's groups ---------------------------------------------------------------


def mdav(points: Points, k: int, first: str, leaving: str) -> list[Rows]:
    """MDAV by the 3k rule. `first`: whose group is formed first. `leaving`: what takes the place of a
    record that gets a group.
    """
    array = list(range(len(points)))
    groups: list[Rows] = []

    def form(seed: int, reserved: int | None) -> None:
        nonlocal array
        rows = np.array([row for row in array if row not in (seed, reserved)])
        near = rows[np.argsort(squared(points[rows], points[seed]), kind="stable")[: k - 1]]
        members = [seed, *near.tolist()]
        groups.append(np.array(members))
        if leaving == "those after it":
            array = [row for row in array if row not in set(members)]
            return
        for row in members:
            place = array.index(row)
            if leaving == "the first":
                array[place] = array[0]
                array.pop(0)
            else:
                array[place] = array[-1]
                array.pop()

    while len(array) >= 2 * k:
        rows = np.array(array)
        r = int(rows[np.argmax(squared(points[rows], points[rows].mean(axis=0)))])
        s = int(rows[np.argmax(squared(points[rows], points[r]))])
        pair = {
            "r": (r, s),
            "s": (s, r),
            "earlier": tuple(sorted((r, s), key=array.index)),
            "lower row": (min(r, s), max(r, s)),
        }[first]
        if len(array) < 3 * k:
            form(pair[0], None)
            break
        form(*pair)
        form(pair[1], None)
    return [*groups, np.array(array)]


def order() -> None:
    """Six printed values; a star marks those that come out."""
    cells = [
        (data, k, value) for data in ("tarragona", "census") for k, value in printed(data, "mdav").items()
    ]
    print("MDAV, printed:".ljust(40), " ".join(f"{value:.4f} " for _, _, value in cells))
    for first in ("r", "s", "earlier", "lower row"):
        for leaving in ("those after it", "the last", "the first"):
            if first != "earlier" and leaving != "those after it":
                continue
            found = [
                marked(loss(standardised(data), mdav(standardised(data), k, first, leaving)), value)
                for data, k, value in cells
            ]
            print(f"{first} first, {leaving} moves up".ljust(40), " ".join(found))


# --- the path through groups ------------------------------------------------------------------


def tour(points: Points, groups: list[Rows], first: int, inside: str) -> NDArray[np.int32]:
    centroids = np.array([points[rows].mean(axis=0) for rows in groups])
    left = list(range(len(groups)))
    at = next(number for number, rows in enumerate(groups) if first in rows)
    path: list[int] = []
    before: int | None = None
    while True:
        rows = groups[at]
        anchor = points[first] if before is None else centroids[before]
        start = first if before is None else int(rows[np.argmin(squared(points[rows], anchor))])
        if inside == "by distance to its first":
            follow = rows[np.argsort(squared(points[rows], points[start]), kind="stable")].tolist()
            follow = [start, *(row for row in follow if row != start)]
        elif inside == "always the nearest next":
            follow, rest = [start], [row for row in rows.tolist() if row != start]
            while rest:
                follow.append(rest.pop(int(np.argmin(squared(points[rest], points[follow[-1]])))))
        elif inside == "by distance to the centroid before":
            follow = rows[np.argsort(squared(points[rows], anchor), kind="stable")].tolist()
        elif inside == "as the group was formed":
            follow = rows.tolist()
        else:  # by row
            follow = sorted(rows.tolist())
        path += follow
        before = at
        left.remove(at)
        if not left:
            return np.array(path, dtype=np.int32)
        at = left[int(np.argmin(squared(centroids[left], centroids[at])))]


def cut_loss(points: Points, path: NDArray[np.int32], k: int) -> float:
    labels = _core.path_cut(points, path, k, False, _core.Deadline.IGNORE, _core.Watch())
    return loss(points, [np.flatnonzero(labels == group) for group in range(int(labels.max()) + 1)])


def path() -> None:
    for data in ("tarragona", "census", "eia"):
        points = standardised(data)
        farthest = int(np.argmax(squared(points, points.mean(axis=0))))
        opposite = int(np.argmax(squared(points, points[farthest])))
        pair = _core.farthest_pair(points, _core.Deadline.IGNORE, _core.Watch())
        for method, starts in (("mdav", (farthest, opposite)), ("md", pair)):
            wanted = printed(data, f"{method}-mhm")
            print(
                f"{method}-mhm on {data}, printed:".ljust(60),
                " ".join(f"{value:.4f} " for value in wanted.values()),
            )
            recipe = "mdav:first=earlier" if method == "mdav" else "md:shared=in-turns:leftovers=record"
            for inside in (
                "by distance to its first",
                "always the nearest next",
                "by distance to the centroid before",
                "as the group was formed",
                "by row",
            ):
                for name, start in zip(("first", "second"), starts, strict=True):
                    found = []
                    for k, value in wanted.items():
                        groups = seeds_first(points, run_labels(data, recipe, k))
                        found.append(
                            marked(cut_loss(points, tour(points, groups, start, inside), k), value)
                        )
                    print(f"  from the {name} extreme, {inside}".ljust(60), " ".join(found))


@cache
def run_labels(data: str, recipe: str, k: int) -> tuple[int, ...]:
    return tuple(microagg.partition(datasets.load(data), k, recipe).labels.tolist())


def seeds_first(points: Points, labels: tuple[int, ...]) -> list[Rows]:
    """The groups, each from its record farthest from the mean of all, the others by distance to that."""
    groups = []
    for group in range(max(labels) + 1):
        rows = np.flatnonzero(np.array(labels) == group)
        seed = rows[np.argmax(squared(points[rows], points.mean(axis=0)))]
        groups.append(rows[np.argsort(squared(points[rows], points[seed]), kind="stable")])
    return groups


# --- Diameter ---------------------------------------------------------------------------------


def diameter_groups(points: Points, k: int, shared: str) -> list[Rows]:
    matrix = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=-1)
    left = np.arange(len(points))
    groups: list[Rows] = []
    while len(left) >= 2 * k:
        r, s = sorted(left[list(np.unravel_index(np.argmax(matrix[np.ix_(left, left)]), (len(left),) * 2))])
        if shared == "the higher row first":
            r, s = s, r
        left = left[(left != r) & (left != s)]
        pair: list[list[int]] = [[r], [s]]
        turns = [0] * (k - 1) + [1] * (k - 1) if shared != "in turns" else [0, 1] * (k - 1)
        for turn in turns:
            centroid = points[pair[turn]].mean(axis=0)
            chosen = int(left[np.argmin(squared(points[left], centroid))])
            pair[turn].append(chosen)
            left = left[left != chosen]
        groups += [np.array(pair[0]), np.array(pair[1])]
    if len(left) >= k:
        return [*groups, left]
    centroids = np.array([points[rows].mean(axis=0) for rows in groups])
    for row in left:
        nearest = int(np.argmin(squared(centroids, points[row])))
        groups[nearest] = np.append(groups[nearest], row)
    return groups


def diameter() -> None:
    points = standardised("census")
    tfrp = microagg.partition(datasets.load("census"), 45, "tfrp").information_loss
    print("Diameter beyond TFRP, Census k = 45, printed: 6.94")
    for shared in ("the lower row first", "the higher row first", "in turns"):
        print(f"  {shared}: {loss(points, diameter_groups(points, 45, shared)) - tfrp:.4f}")


# --- counts of optima -------------------------------------------------------------------------

SETS = 300


def counted() -> Iterator[tuple[int, int, str, int]]:
    """p, k, method and the printed number of optima among 100 sets."""
    for table in figures.load()["table"]:
        if table["paper"] == "VLDBJ06" and table.get("measure") == "optima":
            for figure in table["figures"]:
                yield (
                    int(table["data"].removeprefix("normal-")),
                    figure["k"],
                    figure["method"],
                    figure["published"],
                )


DRAWS: dict[str, Callable[[np.random.Generator, int], Points]] = {
    "normal": lambda rng, p: rng.normal(0.0, 5000.0, (11, p)),
    "uniform": lambda rng, p: rng.uniform(-10_000.0, 10_000.0, (11, p)),
}


@cache
def ratios(draw: str, p: int, k: int, method: str) -> Points:
    found = []
    for number in range(SETS):
        points = DRAWS[draw](np.random.default_rng((p, number, 7)), p)
        best = optimum(draw, p, k, number)
        found.append(microagg.partition(points, k, method).sse / best)
    return np.array(found)


@cache
def optimum(draw: str, p: int, k: int, number: int) -> float:
    points = DRAWS[draw](np.random.default_rng((p, number, 7)), p)
    return microagg.partition(points, k, "exhaustive").sse


def optima() -> None:
    cells = list(counted())
    print(f"Counts of optima: chi-squared of the {len(cells)} printed ones against {SETS} sets each")
    for draw in DRAWS:
        for rule in ("3k", "2k"):
            for threshold in (1.0, 1.02, 1.05, 1.08, 1.1):
                total = 0.0
                for p, k, method, count in cells:
                    recipe = method.replace("mdav-mhm", "mdav:stop=2k+mhm") if rule == "2k" else method
                    recipe = "mdav:stop=2k" if (rule, recipe) == ("2k", "mdav") else recipe
                    share = float(np.mean(ratios(draw, p, k, recipe) <= threshold + 1e-9))
                    share = min(max(share, 0.5 / SETS), 1 - 0.5 / SETS)
                    variance = 100 * share * (1 - share) * (1 + 100 / SETS)
                    total += (count - 100 * share) ** 2 / variance
                print(f"  {draw} attributes, {rule} rule, ratios up to {threshold}: {total:.0f}")


# --- LargeCensus ------------------------------------------------------------------------------


def large_census() -> None:
    points = np.random.default_rng(1).normal(size=(10_000, 13))
    wanted = printed("large-census", "mdav")
    print("MDAV on 10,000 records of 13 independent normal attributes, and as printed for LargeCensus")
    for k, value in wanted.items():
        print(f"  k = {k}: {microagg.partition(points, k, 'mdav').information_loss:.2f}, printed {value}")


# --- ties -------------------------------------------------------------------------------------


def ties() -> None:
    """The rows in reverse, so that ties go the other way."""
    values = np.asarray(datasets.load("tarragona").values, dtype=np.float64)
    print("Tarragona, printed; ours with ties to the lowest row, to the highest")
    for table in figures.load()["table"]:
        if (table["paper"], table["table"]) != ("CMP98", "1"):
            continue
        for figure in table["figures"]:
            if not figure.get("why", "").startswith(("ties", "open")):
                continue
            best = max if figure.get("pick") == "worst" else min
            methods = figures.variants("tarragona", figure["method"])
            found = [
                best(microagg.partition(rows, figure["k"], method).information_loss for method in methods)
                for rows in (values, np.ascontiguousarray(values[::-1]))
            ]
            label = f"  {figure['method']} {figure.get('pick', '')} k = {figure['k']}".ljust(40)
            print(f"{label} {figure['published']}: {found[0]:.4f}, {found[1]:.4f}")


# --- MDO_MD -----------------------------------------------------------------------------------


def extremes() -> None:
    """Seeds of `swap=drawn` that give the printed lower end of the losses, and what else they give."""
    measures = {
        "loss": 0.005,
        "fpc correlation change": 0.05,
        "fpc weight change": 0.05,
        "fpc share": 0.05,
        "mean correlation change": 0.005,
        "correlation change deviation": 0.005,
    }
    wanted = {
        (table.get("measure", "loss"), figure["k"]): float(figure["published"])
        for table in figures.load()["table"]
        if table["paper"] == "CMP98" and table.get("measure", "loss") in measures
        for figure in table["figures"]
        if (figure["method"], figure.get("pick")) == ("mdo-md:swap=*", "best")
    }
    for k in (3, 4, 5):
        print(f"MDO_MD, k = {k}, printed:", *(wanted[measure, k] for measure in measures))
        for seed in range(300):
            method = f"mdo-md:swap=drawn@{seed}"
            found = [figures.MEASURES["loss"]("tarragona", method, k)]
            if abs(found[0] - wanted["loss", k]) > measures["loss"]:
                continue
            found += [figures.MEASURES[one]("tarragona", method, k) for one in list(measures)[1:]]
            same = sum(
                abs(value - wanted[one, k]) <= half
                for value, (one, half) in zip(found, measures.items(), strict=True)
            )
            print(f"  seed {seed}:", *(f"{value:.3f}" for value in found), f"({same} of 6 as printed)")


# --- the cut of NPN-MHM -----------------------------------------------------------------------


def _sse(rows: Points) -> float:
    return float(squared(rows, rows.mean(axis=0)).sum())


COSTS: dict[str, Callable[[Points], float]] = {
    "SSE, as in the text": _sse,
    "SSE times size": lambda rows: _sse(rows) * len(rows),
    "SSE by size": lambda rows: _sse(rows) / len(rows),
    "sum of distances to the centroid": lambda rows: float(np.sqrt(squared(rows, rows.mean(axis=0))).sum()),
    "squares between neighbours": lambda rows: float(squared(rows[1:], rows[:-1]).sum()),
    "squares to the first record": lambda rows: float(squared(rows, rows[0]).sum()),
    "squares to the median": lambda rows: float(squared(rows, np.median(rows, axis=0)).sum()),
    "squares to the mean of the first three": lambda rows: float(
        squared(rows, rows[:3].mean(axis=0)).sum()
    ),
    "squares to the mean of the last three": lambda rows: float(
        squared(rows, rows[-3:].mean(axis=0)).sum()
    ),
    "SSE rounded": lambda rows: float(np.round(_sse(rows))),
}


def loss_of_cut(points: Points, path: Rows, sizes: range, cost: Callable[[Points], float]) -> float:
    """The loss of the best cut of the path by `cost`."""
    ordered, n = points[path], len(path)
    best, before = [0.0] + [np.inf] * n, [0] * (n + 1)
    for end in range(1, n + 1):
        for begin in (end - size for size in sizes if end >= size):
            if np.isfinite(best[begin]):
                total = best[begin] + cost(ordered[begin:end])
                if total < best[end]:
                    best[end], before[end] = total, begin
    groups, end = [], n
    while end:
        groups.append(path[before[end] : end])
        end = before[end]
    return loss(points, groups)


def cut() -> None:
    """k = 3, from the first of the two most distant records."""
    for data in ("tarragona", "census"):
        points = standardised(data)
        start, _ = _core.farthest_pair(points, _core.Deadline.IGNORE, _core.Watch())
        left, follow = np.ones(len(points), dtype=bool), [int(start)]
        left[start] = False
        while left.any():
            rows = np.flatnonzero(left)
            follow.append(int(rows[np.argmin(squared(points[rows], points[follow[-1]]))]))
            left[follow[-1]] = False
        wanted = printed(data, "npn-mhm")[3]
        print(f"NPN-MHM on {data}, k = 3, printed: {wanted}")
        for name, cost in COSTS.items():
            found = loss_of_cut(points, np.array(follow), range(3, 6), cost)
            print(f"  {name}:".ljust(50), marked(found, wanted))
        for sizes in (range(3, 5), range(3, 7), range(4, 6)):
            found = loss_of_cut(points, np.array(follow), sizes, _sse)
            print(f"  groups of {sizes[0]} to {sizes[-1]}:".ljust(50), marked(found, wanted))


# --- the blocks of CGS22 ----------------------------------------------------------------------


@dataclass
class Optimum:
    """Column generation with branching in a block, which keeps the costs and bounds it finds."""

    needs_start: ClassVar[bool] = True
    uses_effort: ClassVar[bool] = False
    found: list[Partition] = field(default_factory=list)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        self.found.append(Exact(nodes=50, work=60_000_000)(problem, start, run))
        return self.found[-1]


def decomposed(data: str) -> Iterator[tuple[str, list[str], figures.Entry]]:
    """CGS22's figures of k = 3 with 40 and with 10 blocks: method, its settings, and the figure."""
    for table in figures.load()["table"]:
        if (table["paper"], table["data"]) != ("CGS22", data) or table["table"] == "5":
            continue
        for figure in table["figures"]:
            name, *settings = figure["method"].split(":")
            if name == "decomposition" and figure["k"] == 3 and settings[0] in ("s=40", "s=10"):
                yield figure["method"], settings, figure


def blocks() -> None:
    """After step 5: what is printed, ours, the optimum of the same blocks. After step 7: other blocks."""
    for data in ("tarragona", "census"):
        problem = Problem(standardised(data), 3)
        whole = one_group(problem)
        for method, settings, figure in decomposed(data):
            shown = f"{data}, {method}: printed {figure['published']}, ours {figure['ours']:.4f}"
            if "last_swap=no" in settings:
                inside = Optimum()
                number = int(settings[0].removeprefix("s="))
                stage = Decomposition(inside, number, "first_swap=no" not in settings)
                best = 100 * stage(problem, whole, Run(threads=1)).sse / whole.sse
                bound = 100 * sum(part.bound for part in inside.found) / whole.sse
                print(f"{shown}, best of these blocks {best:.4f}, proven {bound:.4f}", flush=True)
            else:
                inwards = microagg.partition(datasets.load(data), 3, f"{method}:order=inwards")
                print(f"{shown}, order=inwards {inwards.information_loss:.4f}", flush=True)


EXPERIMENTS = {
    "order": order,
    "path": path,
    "diameter": diameter,
    "optima": optima,
    "large-census": large_census,
    "ties": ties,
    "extremes": extremes,
    "cut": cut,
    "blocks": blocks,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}")
    for name in names or EXPERIMENTS:
        EXPERIMENTS[name]()


if __name__ == "__main__":
    main()
