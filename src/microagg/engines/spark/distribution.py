"""Records brought together by part and solved: in blocks, and once more in blocks that lie elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import BinaryType, DoubleType, LongType, StringType, StructType

from microagg import wording
from microagg.engines.spark.block_plan import BlockPlan, Keys, plan_blocks
from microagg.engines.spark.part_job import HASH_A, STRATUM, PartJob, PartResult
from microagg.engines.spark.part_work import solve_part
from microagg.methods.auto import Auto
from microagg.methods.local_search import Descent
from microagg.methods.recipe import MethodPlan
from microagg.model import Doubles, Whole
from microagg.plan.protection import Protection
from microagg.prepare.large_strata import Blocks, Sizes
from microagg.spark_functions import of_columns

MOST_PARTITIONS = 20_000

SHIFTED = 0.37
"""What a cut of the second round leaves on one side: its borders lie inside the blocks of the first."""


def make_jobs(
    protection: Protection,
    keys: Keys,
    plan: BlockPlan,
    method: MethodPlan,
    decimals: dict[str, int | None],
    others: tuple[str, ...] = (),
    whole: Mapping[str, Doubles] = MappingProxyType({}),
) -> list[PartJob]:
    """What each task needs to know, for each subset. `others`, `whole`: where tables are to be kept."""
    if isinstance(method.stage, Auto):
        method = replace(method, stage=Auto(plan.profile.source.records))
    method = replace(method, threads=1)
    return [
        PartJob(
            number,
            tuple(keys.columns[at] for at in places),
            tuple(keys.names[at] for at in places),
            blocks,
            plan.space.part(places),
            method,
            protection,
            decimals,
            {keys.columns[at]: plan.overall[at] for at in places if keys.is_nominal(at)},
            others,
            {keys.columns[at]: whole[keys.columns[at]] for at in places if keys.columns[at] in whole},
        )
        for number, (places, blocks) in enumerate(zip(keys.subsets, plan.blocks, strict=True))
    ]


def solve_parts(frame: DataFrame, jobs: Sequence[PartJob]) -> DataFrame:
    """The frame with masked columns: for each subset the records brought together by part, and solved."""
    for job in jobs:
        columns = [F.col(name) for name in (STRATUM, HASH_A, *(job.masked if job.again else job.subset))]
        part = of_columns(_part_of_records(job.blocks, len(job.subset)), "long")(*columns)
        many = min(job.blocks.parts, MOST_PARTITIONS)
        schema = frame.schema
        if not job.again:
            schema = StructType(list(schema.fields))
            for name in job.masked:
                schema = schema.add(name, DoubleType())
            for name, own in job.published.items():
                kind = schema[f"c{name[1:]}"].dataType
                levels = job.kinds[name].levels
                # 0 and 1 of text files are published as numbers.
                are_numbers = levels is not None and pa.types.is_integer(levels.type)
                schema = schema.add(own, LongType() if are_numbers and kind == StringType() else kind)
            schema = schema.add(job.group, LongType()).add(job.note, BinaryType())
        at_once = frame.withColumn("part", part).repartition(many, "part").groupBy("part")
        frame = at_once.applyInArrow(_worker(job), schema)
    return frame


def _part_of_records(blocks: Blocks, keys: int) -> Any:
    """A function of Spark's columns: the part of each record."""

    def part(stratum: Any, hashes: Any, *columns: Any) -> Any:
        values = np.stack([column.to_numpy(zero_copy_only=False) for column in columns], axis=1)
        own = stratum.to_numpy().astype(np.int64)
        return pa.array(blocks.part_of(own, values.reshape(-1, keys), hashes.to_numpy()))

    return part


def _worker(job: PartJob) -> Any:

    def solve(key: Any, records: Any) -> Any:
        return solve_part(job, key[0].as_py(), records.drop_columns(["part"]))

    return solve


def collect_results(paired: DataFrame, jobs: Sequence[PartJob]) -> list[list[PartResult]]:
    """What the tasks have found, by subset; what one of them refuses is refused."""
    wanted = [F.col(job.note) for job in jobs]
    rows = paired.where(F.coalesce(*wanted).isNotNull()).select(*wanted).collect()
    notes = [
        sorted(
            (pickle.loads(row[job.note]) for row in rows if row[job.note] is not None),
            key=lambda found: found.part,
        )
        for job in jobs
    ]
    refusals = [found.refusal for own in notes for found in own if found.refusal is not None]
    # One part that is refused leaves others without some of their records.
    for refusal in sorted(refusals, key=lambda each: wording.kind_of(each) == "source_changed"):
        raise refusal
    return notes


def solve_across_borders(
    paired: DataFrame,
    notes: list[list[PartResult]],
    jobs: Sequence[PartJob],
    strata: Whole,
    sizes: Sizes,
) -> tuple[DataFrame, list[list[PartResult]]]:
    """What was solved in blocks, refined in others: each made of whole groups, by what these publish."""
    again = []
    for job in jobs:
        if job.blocks.cuts:
            places = (tuple(range(len(job.masked))),)
            keys = Keys(job.masked, job.names, places, job.space.kinds, job.space.importance)
            plan = plan_blocks(paired, job.protection, keys, strata, sizes, SHIFTED)
            method = replace(job.method, stage=Descent(), recipe=f"{job.method.recipe}+descent")
            again.append(replace(job, blocks=plan.blocks[0], method=method, again=True))
    frame = solve_parts(paired, again).persist()
    try:
        found = dict(zip((job.note for job in again), collect_results(frame, again), strict=True))
    except BaseException:
        frame.unpersist()
        raise
    paired.unpersist()
    for job, own in zip(jobs, notes, strict=True):
        if job.note in found:
            found[job.note][0] = replace(
                found[job.note][0], mixed_zeros=sum(each.mixed_zeros for each in own)
            )
    return frame, [found.get(job.note, own) for job, own in zip(jobs, notes, strict=True)]
