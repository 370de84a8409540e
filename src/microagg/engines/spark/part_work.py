"""The work of one task: the records of a part, each of whose blocks is a problem of its own, masked.

Everything here follows from the records and the plan alone: records are put into an order of their own
content first, and seeds derive from it. Whoever does the work again gets the same.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from microagg import errors, wording
from microagg.aggregate.masking import masked_subset
from microagg.arrow_types import in_utc
from microagg.engines.solving import run_of
from microagg.engines.spark.part_job import HASH_A, HASH_B, NOTE, STRATUM, WEIGHT, PartJob, PartResult
from microagg.methods.run import derived_seed
from microagg.methods.stage import evaluate, one_group, solve
from microagg.model import Doubles, Labels, Partition, Points, Problem, Table, Whole
from microagg.plan.method import MethodPlan
from microagg.prepare.blocks import pattern_codes
from microagg.prepare.tasks import Task, tasks_of_stratum
from microagg.process import forbid_core_dumps

_STEPS = re.compile(r":steps=\d+")


def solve_part(job: PartJob, part: int, records: pa.Table) -> pa.Table:
    """The records with masked columns and, in the first row, what was found; one row if it is a refusal."""
    forbid_core_dumps()
    try:
        _raise_refusals(records)
        values = numbers_in(records, job.subset)
        order = _canonical(records)
        records, values = records.take(order), values[order]
        weights = numbers_in(records, [WEIGHT])[:, 0] if job.protection.weight is not None else None
        stratum = records.column(STRATUM).to_numpy().astype(np.int64)
        old = numbers_in(records, job.masked) if job.again else values
        start = records.column(job.group).to_numpy() if job.again else None
        blocks = _Blocks(job, values, job.units.points(values), stratum, old, start)
        own, mixed = blocks.solved()
        masked, found = _masked(job, part, blocks, weights, own, mixed)
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
    names = records.column_names if job.again else [*records.column_names, *job.masked, job.group, job.note]
    new: dict[str, Any] = {
        name: pa.array(values, mask=np.isnan(values))
        for name, values in zip(job.masked, masked.T, strict=True)
    }
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


def numbers_in(records: Any, columns: Any) -> Points:
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
    points: Points
    stratum: Whole
    old: Points
    """What groups publish, where there are groups; the values, where there are none."""
    start: Whole | None

    def solved(self) -> tuple[list[tuple[Task, Partition]], int]:
        """The groups of each block, and how many records are grouped with others' zeros."""
        plan, job = self.job.blocks, self.job
        blocks = plan.block[plan.places(self.stratum, self.old)]
        table = Table(job.subset, self.values)
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
            tasks, rare = tasks_of_stratum(self.points, table, rows, job.protection.k, apart, 0, number)
            mixed += rare
            own += [(task, _solved(task.problem, job.method, one_group(task.problem))) for task in tasks]
        return own, mixed

    def _as_it_is(self, rows: Whole) -> tuple[Task, Partition]:
        """Records with the same values in more than one part: they stay as they are."""
        task = Task(0, 0, rows, self._columns(rows), Problem(self.points[rows], self.job.protection.k))
        off = self.job.units.points(self.old[rows]) - self.points[rows]
        return task, Partition(np.zeros(len(rows), dtype=np.int32), float(np.nansum(off * off)))

    @property
    def _zeros_apart(self) -> bool:
        return self.job.protection.zeros == "apart"

    def _columns(self, rows: Whole) -> tuple[str, ...]:
        """Those that the records publish, or have."""
        return tuple(name for at, name in enumerate(self.job.subset) if not np.isnan(self.old[rows[0], at]))

    def _refined(self, rows: Whole, groups: Whole) -> list[tuple[Task, Partition]]:
        """Groups that publish the same columns, and zeros in the same ones if these are kept apart."""
        codes = pattern_codes(self.old[rows], True, self._zeros_apart)
        found = []
        for code in np.unique(codes):
            own = rows[codes == code]
            columns = self._columns(own)
            places = [self.job.subset.index(name) for name in columns]
            problem = Problem(np.ascontiguousarray(self.points[own][:, places]), self.job.protection.k)
            labels = _by_first_appearance(groups[own])
            start = evaluate(problem, labels) if columns else Partition(labels, 0.0)
            task = Task(0, 0, own, columns, problem)
            found.append((task, _solved(problem, self.job.method, start)))
        return found

    def unchanged(self) -> Whole:
        """In a second round, the records that stay as they are."""
        if self.start is None:
            return np.empty(0, dtype=np.int64)
        blocks = self.job.blocks.block[self.job.blocks.places(self.stratum, self.old)]
        return np.flatnonzero(np.isin(blocks, list(self.job.blocks.spread)))


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
) -> tuple[Points, PartResult]:
    """What the groups publish, and the result of the part."""
    values, points = blocks.values, blocks.points
    numbers = {name: values[:, at] for at, name in enumerate(job.subset)}
    published = masked_subset(job.subset, numbers, weights, own, job.protection.aggregate, job.decimals)
    new = np.stack([published[name][0] for name in job.subset], axis=1)
    stay = blocks.unchanged()
    new[stay] = blocks.old[stay]
    kept = ~np.isnan(new)
    cleared = np.where(kept, points, 0.0)
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
        # The number of steps follows from a block's size: there would be a recipe for each.
        frozenset(_STEPS.sub("", found.recipe or job.method.recipe) for task, found in own if task.columns),
        any(found.truncated for _, found in own),
    )


def _are_the_same(values: Points) -> bool:
    return bool(((values == values[0]) | (np.isnan(values) & np.isnan(values[0]))).all())


def _solved(problem: Problem, plan: MethodPlan, start: Partition) -> Partition:
    """By the plan's method, with a seed that follows from the points; without columns there is no work."""
    if not problem.points.shape[1]:
        return replace(start, sse=0.0)
    digest = hashlib.blake2b(problem.points.tobytes(), digest_size=6).digest()
    own = replace(plan, seed=derived_seed(plan.seed, int.from_bytes(digest, "little")))
    return solve(plan.stage, problem, start, run_of(own, None, None, start.sse))
