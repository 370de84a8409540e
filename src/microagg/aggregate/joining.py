"""Records of strata with fewer than k join the nearest group, take its codes, and are published with it.

Nearest is a group in a stratum that differs in the fewest columns; of those, one that costs the record the
fewest of its values, as its members miss other keys; of those, the one whose centre is nearest by the keys;
and of equally near ones the first. With several subsets of keys, a record joins a group of each in the same
stratum: that to which the distances are smallest in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.methods.objective import sse
from microagg.model import Doubles, Labels, Partition, Points, Whole
from microagg.plan.protection import Protection
from microagg.prepare.coordinates import Coordinates
from microagg.prepare.prepared import Prepared
from microagg.prepare.strata import UNPLACED, Strata
from microagg.prepare.tasks import RecodedStrata, Task, summed_up

DISTANCES_AT_ONCE = 4_000_000

ROUNDING = 1e-9
"""Distances that differ by a smaller share are equal."""


def join_nearest(
    prepared: Prepared, partitions: Sequence[Partition], protection: Protection
) -> tuple[Prepared, list[Partition]]:
    """The same with all records in groups. A group that grew is as good as it is: what was proven of its
    task holds no more.
    """
    strata, tasks = prepared.strata, prepared.tasks
    waiting = np.flatnonzero(strata.of == UNPLACED)
    if not len(waiting):
        return prepared, list(partitions)
    subsets = [
        _SubsetGroups.of(number, coordinates, tasks.tasks, partitions)
        for number, coordinates in enumerate(tasks.coordinates)
    ]
    found = _nearest_groups(strata, waiting, subsets, len(protection.subsets), protection.k)
    of = strata.of.copy()
    of[waiting] = subsets[0].stratum[found[0]]
    mixed_zeros = tasks.mixed_zeros
    grown: list[Task] = list(tasks.tasks)
    improved = list(partitions)
    for subset, groups in zip(subsets, found, strict=True):
        if protection.zeros == "apart":
            mixed_zeros += subset.with_other_zeros(waiting, groups)
        for at in np.unique(subset.task[groups]).tolist():
            joins = subset.task[groups] == at
            rows = np.concatenate([grown[at].rows, waiting[joins]])
            labels = np.concatenate([improved[at].labels, subset.label[groups[joins]]])
            grown[at], improved[at] = _grown(grown[at], improved[at], rows, labels, subset.coordinates)
    placed = replace(strata, of=of)
    summed = replace(summed_up(grown, tasks.coordinates, mixed_zeros), recoded=_recoded(placed, protection))
    return replace(prepared, strata=placed, tasks=summed), improved


def _grown(
    task: Task, found: Partition, rows: Whole, labels: Labels, coordinates: Coordinates
) -> tuple[Task, Partition]:
    columns = [coordinates.columns.index(column) for column in task.columns]
    problem = coordinates.problem(rows, columns, task.problem.k)
    cost = sse(problem.points, labels) if columns else 0.0
    return replace(task, rows=rows, problem=problem), replace(found, labels=labels, sse=cost, bound=0.0)


def _recoded(strata: Strata, protection: Protection) -> dict[str, RecodedStrata]:
    assert strata.codes is not None and strata.examples is not None  # noqa: PT018
    after = strata.codes[strata.examples[strata.of]]
    found = {}
    for name, old, new in zip(protection.strata, strata.codes.T, after.T, strict=True):
        if changed := int((old != new).sum()):
            found[name] = RecodedStrata(changed, len(old) - int(np.bincount(old).max()))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _SubsetGroups:
    """All groups of a subset of columns, in the order of their strata.

    `task`, `label`, `stratum`: of each group; `keeps`: the columns that it has; `centre`: the mean of all
    coordinates, 0 in columns that it lacks; `example`: one of its members.
    """

    coordinates: Coordinates
    points: Points
    """Of all records: 0 where a value is missing."""
    present: NDArray[np.bool_]
    """(records, columns) where values are not missing."""
    task: Whole
    label: Labels
    stratum: Whole
    keeps: NDArray[np.bool_]
    centre: Points
    example: Whole

    @classmethod
    def of(
        cls,
        number: int,
        coordinates: Coordinates,
        tasks: Sequence[Task],
        partitions: Sequence[Partition],
    ) -> _SubsetGroups:
        points = np.concatenate([each.points for each in coordinates.attributes], axis=1)
        points = np.where(np.isnan(points), 0.0, points)
        columns = np.array(coordinates.columns)
        widths = [each.points.shape[1] for each in coordinates.attributes]
        parts = []
        for at, (task, found) in enumerate(zip(tasks, partitions, strict=True)):
            if task.subset != number:
                continue
            kept, count = np.isin(columns, task.columns), found.groups
            sizes = np.bincount(found.labels)
            sums = [np.bincount(found.labels, values) for values in points[task.rows].T]
            centres = np.stack(sums, axis=1) / sizes[:, np.newaxis] * np.repeat(kept, widths)
            example = np.zeros(count, dtype=np.int64)
            example[found.labels[::-1]] = task.rows[::-1]
            of_task = (np.full(count, at), np.arange(count, dtype=np.int32), np.full(count, task.stratum))
            parts.append((*of_task, np.tile(kept, (count, 1)), centres, example))
        joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
        return cls(coordinates, points, ~np.isnan(coordinates.missing()), *joined)

    def distances(self, rows: Whole, groups: Whole, strata: _GroupsByStratum) -> Doubles:
        """Squared, of these records to the centres of groups whose columns they have; infinite, unless a
        group is the nearest of its stratum, or nearly so.
        """
        widths = [each.points.shape[1] for each in self.coordinates.attributes]
        points, centres = self.points[rows], self.centre[groups]
        counts = np.repeat(self.keeps[groups], widths, axis=1).astype(np.float64)
        found = np.full((len(rows), len(groups)), np.inf)
        with np.errstate(all="ignore"):
            squares, of_centres = points**2, (centres**2).sum(axis=1)
            # Products of matrices are quick, but only nearly exact, and other machines round otherwise.
            about = squares @ counts.T + of_centres - 2.0 * (points @ centres.T)
            slack = ROUNDING * (squares.sum(axis=1, keepdims=True) + of_centres.max())
            near = about <= strata.least(about)[:, strata.of] + slack
            row, group = np.nonzero(near)
            found[row, group] = (((points[row] - centres[group]) * counts[group]) ** 2).sum(axis=1)
        return found

    def with_other_zeros(self, rows: Whole, groups: Whole) -> int:
        """How many of these records have their zeros elsewhere than their groups."""
        attributes = self.coordinates.attributes
        numbers = [at for at, attribute in enumerate(attributes) if attribute.kind is None]
        own, others = (
            self.coordinates.values[chosen][:, numbers] == 0.0 for chosen in (rows, self.example[groups])
        )
        return int((own != others).any(axis=1).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _GroupsByStratum:
    """Groups in the order of their strata: where those of each stratum start, and the stratum of each."""

    starts: Whole
    of: Whole

    @classmethod
    def in_order(cls, stratum: Whole) -> _GroupsByStratum:
        _, starts, of = np.unique(stratum, return_index=True, return_inverse=True)
        return cls(starts, of.ravel())

    def least(self, distances: Doubles) -> Doubles:
        """By row and stratum."""
        least: Doubles = np.minimum.reduceat(distances, self.starts, axis=1)
        return least


def _nearest_groups(
    strata: Strata, waiting: Whole, subsets: Sequence[_SubsetGroups], key_subsets: int, k: int
) -> list[Whole]:
    """By subset: the group that each waiting record joins."""
    found = [np.full(len(waiting), -1, dtype=np.int64) for _ in subsets]
    alone = 0
    for members, chosen, lost in _by_candidates(strata, waiting, subsets):
        if not chosen.any():
            alone += len(members)
            continue
        candidates = [
            np.flatnonzero(chosen[subset.stratum] & (each.of_groups == each.least[subset.stratum]))
            for subset, each in zip(subsets, lost, strict=True)
        ]
        most = max(1, DISTANCES_AT_ONCE // max(map(len, candidates)))
        for part in np.array_split(members, -(-len(members) // most)):
            nearest = _nearest_of(waiting[part], subsets, candidates, key_subsets)
            for own, groups in zip(found, nearest, strict=True):
                own[part] = groups
    if alone:
        raise wording.no_group_with_these_keys(alone, k)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _LostValues:
    """How many values a record with certain keys would lose in each group, and at least in each stratum;
    infinite where it lacks a key that the group has.
    """

    of_groups: Doubles
    least: Doubles

    @classmethod
    def of(cls, subset: _SubsetGroups, present: NDArray[np.bool_], strata: int) -> _LostValues:
        lacks = (subset.keeps & ~present).any(axis=1)
        lost = np.where(lacks, np.inf, present.sum() - subset.keeps.sum(axis=1))
        least = np.full(strata, np.inf)
        np.minimum.at(least, subset.stratum, lost)
        return cls(lost, least)


def _by_candidates(
    strata: Strata, waiting: Whole, subsets: Sequence[_SubsetGroups]
) -> Iterator[tuple[Whole, NDArray[np.bool_], list[_LostValues]]]:
    """Waiting records for which the same groups are candidates; in which strata, those that differ in the
    fewest columns and cost the fewest values; and what each group costs.
    """
    assert strata.codes is not None and strata.examples is not None  # noqa: PT018
    of_strata, codes = strata.codes[strata.examples], strata.codes[waiting]
    alike: dict[tuple[bytes, bytes], list[int]] = {}
    known: dict[bytes, list[_LostValues]] = {}
    present = np.concatenate([each.present[waiting] for each in subsets], axis=1)
    for at, keys in enumerate(map(bytes, present)):
        record = waiting[at]
        if keys not in known:
            known[keys] = [_LostValues.of(each, each.present[record], strata.count) for each in subsets]
        total = np.sum([each.least for each in known[keys]], axis=0)
        differing = np.where(np.isfinite(total), (of_strata != codes[at]).sum(axis=1), np.inf)
        chosen = np.isfinite(total) & (differing == differing.min())
        chosen &= total == np.where(chosen, total, np.inf).min()
        alike.setdefault((keys, chosen.tobytes()), []).append(at)
    for (keys, chosen_strata), members in alike.items():
        yield np.array(members), np.frombuffer(chosen_strata, dtype=bool), known[keys]


def _nearest_of(
    rows: Whole, subsets: Sequence[_SubsetGroups], candidates: Sequence[Whole], key_subsets: int
) -> list[Whole]:
    """By subset: the nearest of the candidates for each of these records, all in one stratum."""
    by_stratum = [
        _GroupsByStratum.in_order(subset.stratum[groups])
        for subset, groups in zip(subsets, candidates, strict=True)
    ]
    distances = [
        subset.distances(rows, groups, own)
        for subset, groups, own in zip(subsets, candidates, by_stratum, strict=True)
    ]
    total: Doubles = np.zeros((len(rows), 1))
    for each, own in zip(distances[:key_subsets], by_stratum, strict=False):
        total = total + own.least(each)
    chosen = _first_of_least(total)[:, np.newaxis]
    return [
        groups[_first_of_least(np.where(own.of == chosen, each, np.inf))]
        for each, groups, own in zip(distances, candidates, by_stratum, strict=True)
    ]


def _first_of_least(distances: Doubles) -> Whole:
    """By row, the first of those that are least but for rounding."""
    least = distances.min(axis=1, keepdims=True)
    found: Whole = np.argmax(distances <= least * (1.0 + ROUNDING) + ROUNDING**2, axis=1)
    return found
