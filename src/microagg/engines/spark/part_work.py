"""The work of one task: the records of a part, each of whose blocks is a problem of its own, masked.

Everything here follows from the records and the plan alone: records are put into an order of their own
content first, and seeds derive from it. Whoever does the work again gets the same.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from microagg import errors, wording
from microagg.aggregate.grouped import Grouped
from microagg.aggregate.losses import ColumnLoss, add_task, in_coordinates
from microagg.aggregate.masking import masked_subset
from microagg.aggregate.rounding import with_decimals
from microagg.aggregate.tables import TableColumn, column_of_tables
from microagg.arrow_types import in_utc, is_text
from microagg.engines.spark.part_job import HASH_A, HASH_B, NOTE, STRATUM, WEIGHT, PartJob, PartResult
from microagg.methods.published import Published
from microagg.methods.run import derived_seed
from microagg.methods.solving import run_of
from microagg.methods.stage import evaluate, one_group, solve
from microagg.model import Doubles, Labels, Partition, Points, Problem, Whole
from microagg.prepare.coordinates import Coordinates
from microagg.prepare.large_strata import pattern_codes
from microagg.prepare.tasks import Task, tasks_of_stratum
from microagg.process import forbid_core_dumps

_NONE = np.empty(0, dtype=np.int64)
_STEPS = re.compile(r":steps=\d+")


def solve_part(job: PartJob, part: int, records: pa.Table) -> pa.Table:
    """The records with masked columns and, in the first row, what was found; one row if it is a refusal."""
    forbid_core_dumps()
    try:
        _raise_refusals(records)
        values = doubles_in(records, job.subset)
        order = _canonical(records)
        records, values = records.take(order), values[order]
        weights = doubles_in(records, [WEIGHT])[:, 0] if job.protection.weight is not None else None
        stratum = records.column(STRATUM).to_numpy().astype(np.int64)
        old = doubles_in(records, job.masked) if job.again else values
        start = records.column(job.group).to_numpy() if job.again else None
        coordinates = job.space.coordinates(job.subset, values)
        blocks = _Blocks(job, values, coordinates, stratum, old, start)
        own, mixed = blocks.solved()
        others = [
            column_of_tables(records.column(name), everywhere, everywhere)
            for everywhere in [np.arange(len(values))]
            for name in job.others
            if not pa.types.is_nested(records.schema.field(name).type)
        ]
        masked, found = _masked(job, part, blocks, weights, own, mixed, others)
    except (errors.DataError, errors.SettingsError, errors.UnsafeRelease, errors.ContractError) as refusal:
        nothing = np.full((1, len(job.subset)), np.nan)
        return _with(
            job, records.slice(0, 1), nothing, np.zeros(1, np.int64), PartResult(part, refusal=refusal)
        )
    groups, count = np.empty(len(values), dtype=np.int64), part << 32
    for task, partition in own:
        groups[task.rows] = count + partition.labels.astype(np.int64)
        count += partition.groups
    return _with(job, records, masked, groups, found)


def _with(job: PartJob, records: pa.Table, masked: Points, groups: Whole, found: PartResult) -> pa.Table:
    """The records with what was found, in the place of what was there."""
    names = records.column_names
    if not job.again:
        names = [*names, *job.masked, *job.published.values(), job.group, job.note]
    new: dict[str, Any] = {
        name: pa.array(values, mask=np.isnan(values))
        for name, values in zip(job.masked, masked.T, strict=True)
    }
    for name, kind in job.kinds.items():
        values, own = (
            kind.published(masked[:, job.subset.index(name)]),
            records.schema.field(f"c{name[1:]}"),
        )
        new[job.published[name]] = in_utc(values.cast(own.type) if is_text(values.type) else values)
    new[job.group] = pa.array(groups)
    new[job.note] = pa.array([pickle.dumps(found), *[None] * (len(groups) - 1)], pa.binary())
    # Spark gives times in the zone of its session, and takes them in UTC; the instants are the same.
    return pa.table({name: new[name] if name in new else in_utc(records.column(name)) for name in names})


def _raise_refusals(records: pa.Table) -> None:
    """What was refused for an earlier subset is refused here too, or its row might be lost."""
    for name in records.column_names:
        if name.startswith(NOTE):
            notes: list[Any] = records.column(name).drop_null().to_pylist()
            for found in map(pickle.loads, notes):
                if found.refusal is not None:
                    raise found.refusal


def doubles_in(records: Any, columns: Any) -> Points:
    """Columns of doubles as an array, NaN where null."""
    return np.stack([records.column(name).to_numpy(zero_copy_only=False) for name in columns], axis=1)


def _canonical(records: pa.Table) -> Whole:
    """The records by their content, of which they have two hashes: quicker than by the keys themselves."""
    return np.lexsort([records.column(name).to_numpy() for name in (HASH_B, HASH_A)])


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """The records of a part, in their canonical order."""

    job: PartJob
    values: Points
    coordinates: Coordinates
    stratum: Whole
    old: Points
    """What groups publish, where there are groups; the values, where there are none."""
    start: Whole | None

    def solved(self) -> tuple[list[tuple[Task, Partition]], int]:
        """The groups of each block, and how many records are grouped with others' zeros."""
        plan, job = self.job.blocks, self.job
        blocks = plan.block[plan.places(self.stratum, self.old)]
        own: list[tuple[Task, Partition]] = []
        mixed = 0
        order = np.argsort(blocks, kind="stable")
        numbers, starts = np.unique(blocks[order], return_index=True)
        for block, rows in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            if block in plan.spread:
                if self.start is not None or _are_the_same(self.values[rows]):
                    own.append(self._as_it_is(rows))
                    continue
            elif len(rows) != plan.sizes[block]:
                raise wording.source_changed()
            if self.start is not None:
                own += self._refined(rows, self.start)
                continue
            number = int(self.stratum[rows[0]])
            apart = self._zeros_apart and bool(plan.of_stratum[number] >= 0)
            tasks, rare = tasks_of_stratum(self.coordinates, rows, job.protection.k, apart, 0, number)
            mixed += rare
            own += [(task, self._solved(task.problem, one_group(task.problem))) for task in tasks]
        return own, mixed

    def _as_it_is(self, rows: Whole) -> tuple[Task, Partition]:
        """Records with the same values in more than one part: they stay as they are."""
        task = self._task(rows)
        space = self.job.space
        off = space.points(self.old[rows]) - space.points(self.values[rows])
        return task, Partition(np.zeros(len(rows), dtype=np.int32), float(np.nansum(off * off)))

    @property
    def _zeros_apart(self) -> bool:
        return self.job.protection.zeros == "apart"

    def _task(self, rows: Whole) -> Task:
        """In the columns that the records publish, or have."""
        places = np.flatnonzero(~np.isnan(self.old[rows[0]])).tolist()
        problem = self.coordinates.problem(rows, places, self.job.protection.k)
        columns = tuple(self.job.subset[at] for at in places)
        return Task(0, 0, rows, columns, problem, self.coordinates.categorical)

    def _refined(self, rows: Whole, groups: Whole) -> list[tuple[Task, Partition]]:
        """Groups that publish the same columns, and zeros in the same ones if these are kept apart."""
        codes = pattern_codes(self.old[rows], True, self._zeros_apart, self.job.space.numbers)
        found = []
        for code in np.unique(codes):
            task = self._task(rows[codes == code])
            labels = _by_first_appearance(groups[task.rows])
            start = evaluate(task.problem, labels) if task.columns else Partition(labels, 0.0)
            found.append((task, self._solved(task.problem, start)))
        return found

    def _solved(self, problem: Problem, start: Partition) -> Partition:
        """By the plan's method, with a seed that follows from the points; without columns there is no work.
        Groups that are refined are so by what they really cost when they are published.
        """
        if not problem.points.shape[1]:
            return replace(start, sse=0.0)
        digest = hashlib.blake2b(problem.points.tobytes(), digest_size=6).digest()
        plan = self.job.method
        own = replace(plan, seed=derived_seed(plan.seed, int.from_bytes(digest, "little")))
        run = run_of(own, None, None, start.sse)
        refines = self.start is not None and problem.categories is not None
        return solve(Published() if refines else own.stage, problem, start, run)

    def unchanged(self) -> Whole:
        """The records that stay as they are: in a second round, and where a part would choose what those
        of others publish otherwise.
        """
        if self.start is None and self.job.protection.categories == "mode":
            return _NONE
        plan = self.job.blocks
        blocks = plan.block[plan.places(self.stratum, self.old)]
        own = [np.flatnonzero(blocks == block) for block in plan.spread]
        same = [rows for rows in own if self.start is not None or _are_the_same(self.values[rows])]
        return np.concatenate([_NONE, *same])


def _by_first_appearance(groups: Whole) -> Labels:
    _, first, of = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[of].astype(np.int32)


def _masked(
    job: PartJob,
    part: int,
    blocks: _Blocks,
    weights: Doubles | None,
    own: list[tuple[Task, Partition]],
    mixed: int,
    others: Sequence[TableColumn],
) -> tuple[Points, PartResult]:
    """What the groups publish, and the result of the part."""
    values = blocks.values
    numbers = {name: values[:, at] for at, name in enumerate(job.subset)}
    grouped = Grouped.of(job.subset, numbers, job.kinds, weights, own, job.whole)
    published, representatives = masked_subset(grouped, job.protection, job.decimals, others, job.overall)
    new = np.stack([published[name] for name in job.subset], axis=1)
    stay = blocks.unchanged()
    new[stay] = np.stack(
        [
            column if (places := job.decimals[name]) is None else with_decimals(column, places)
            for name, column in zip(job.subset, blocks.old[stay].T, strict=True)
        ],
        axis=1,
    )
    if job.protection.categories != "mode" and len(stay):
        representatives = {name: new[:, at] for at, name in enumerate(job.subset)}
    kept = ~np.isnan(new)
    cleared = np.where(kept, blocks.coordinates.missing(), 0.0)
    losses = {name: ColumnLoss() for name in job.subset if blocks.coordinates.categorical}
    placed = in_coordinates(representatives, numbers, [task for task, _ in own])
    for task, partition in own if losses else ():
        add_task(losses, task, partition, placed)
    return new, PartResult(
        part,
        len(values),
        sum(found.groups for _, found in own),
        sum(found.sse for _, found in own),
        mixed,
        tuple(kept.sum(axis=0).tolist()),
        tuple((~np.isnan(values)).sum(axis=0).tolist()),
        tuple(cleared.sum(axis=0).tolist()),
        tuple((cleared**2).sum(axis=0).tolist()),
        tuple(
            np.bincount(column[there].astype(np.int64)) if name in blocks.coordinates.categorical else _NONE
            for name, column, there in zip(job.subset, values.T, kept.T, strict=True)
        ),
        losses,
        # The number of steps follows from a block's size: there would be a recipe for each.
        frozenset(_STEPS.sub("", found.recipe or job.method.recipe) for task, found in own if task.columns),
        any(found.truncated for _, found in own),
    )


def _are_the_same(values: Points) -> bool:
    return not len(values) or bool(((values == values[0]) | (np.isnan(values) & np.isnan(values[0]))).all())
