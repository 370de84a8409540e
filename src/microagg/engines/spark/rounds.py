"""Records brought together by packet and solved: in blocks, and once more in blocks that lie elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.pandas.functions import arrow_udf  # needs Arrow only, in spite of its module's name
from pyspark.sql.types import BinaryType, DoubleType, LongType, StructType

from microagg import wording
from microagg.engines.spark.cells import Cells, Sizes
from microagg.engines.spark.packet_job import GROUP, HASH_A, NOTE, STRATUM, PacketJob, PacketResult
from microagg.engines.spark.packets import work
from microagg.engines.spark.planning import Keys, Planned, planned
from microagg.methods.auto import Auto
from microagg.methods.local_search import Descent
from microagg.model import Whole
from microagg.plan.method import MethodPlan
from microagg.plan.protection import Protection

MOST_PARTITIONS = 20_000

SHIFTED = 0.37
"""What a cut of the second round leaves on one side: its borders lie inside the blocks of the first."""


def jobs_of(
    protection: Protection, keys: Keys, plan: Planned, method: MethodPlan, decimals: dict[str, int | None]
) -> list[PacketJob]:
    """What each task needs to know, for each subset."""
    if isinstance(method.stage, Auto):
        method = replace(method, stage=Auto(plan.profile.records))
    method = replace(method, threads=1)
    jobs = []
    for number, (places, cells) in enumerate(zip(keys.subsets, plan.cells, strict=True)):
        columns = tuple(keys.columns[at] for at in places)
        jobs.append(
            PacketJob(
                columns,
                tuple(keys.names[at] for at in places),
                tuple(f"y{name[1:]}" for name in columns),
                f"{GROUP}{number}",
                f"{NOTE}{number}",
                cells,
                plan.units.of(places),
                method,
                protection,
                decimals,
            )
        )
    return jobs


def solved(frame: DataFrame, jobs: Sequence[PacketJob]) -> DataFrame:
    """The frame with masked columns: for each subset the records brought together by packet, and solved."""
    as_function: Any = arrow_udf
    for job in jobs:
        columns = [F.col(name) for name in (STRATUM, HASH_A, *(job.masked if job.again else job.subset))]
        packet = as_function(_packets(job.cells, len(job.subset)), "long")(*columns)
        many = min(job.cells.packets, MOST_PARTITIONS)
        schema = frame.schema
        if not job.again:
            schema = StructType(list(schema.fields))
            for name in job.masked:
                schema = schema.add(name, DoubleType())
            schema = schema.add(job.group, LongType()).add(job.note, BinaryType())
        at_once = frame.withColumn("packet", packet).repartition(many, "packet").groupBy("packet")
        frame = at_once.applyInArrow(_worker(job), schema)
    return frame


def _packets(cells: Cells, keys: int) -> Any:
    """A function of Spark's columns: the packet of each record."""

    def packet(stratum: Any, hashes: Any, *columns: Any) -> Any:
        values = np.stack([column.to_numpy(zero_copy_only=False) for column in columns], axis=1)
        own = stratum.to_numpy().astype(np.int64)
        return pa.array(cells.packet_of(own, values.reshape(-1, keys), hashes.to_numpy()))

    # Spark needs the types themselves to know the kind of function; it cannot resolve them from text.
    packet.__annotations__ = dict.fromkeys(("stratum", "hashes", "columns", "return"), pa.Array)
    return packet


def _worker(job: PacketJob) -> Any:

    def solve(key: Any, records: Any) -> Any:
        return work(job, key[0].as_py(), records.drop_columns(["packet"]))

    return solve


def notes_of(paired: DataFrame, jobs: Sequence[PacketJob]) -> list[list[PacketResult]]:
    """What the tasks have found, by subset; what one of them refuses is refused."""
    wanted = [F.col(job.note) for job in jobs]
    rows = paired.where(F.coalesce(*wanted).isNotNull()).select(*wanted).collect()
    notes = [
        sorted(
            (pickle.loads(row[job.note]) for row in rows if row[job.note] is not None),
            key=lambda found: found.packet,
        )
        for job in jobs
    ]
    refusals = [found.refusal for own in notes for found in own if found.refusal is not None]
    # One packet that is refused leaves others without some of their records.
    for refusal in sorted(refusals, key=lambda each: wording.kind_of(each) == "source_changed"):
        raise refusal
    return notes


def second_round(
    paired: DataFrame,
    notes: list[list[PacketResult]],
    jobs: Sequence[PacketJob],
    protection: Protection,
    strata: Whole,
    sizes: Sizes,
) -> tuple[DataFrame, list[list[PacketResult]]]:
    """What was solved in blocks, refined in others: each made of whole groups, by what these publish."""
    again = []
    for job in jobs:
        if job.cells.cuts:
            keys = Keys(job.masked, job.names, (tuple(range(len(job.masked))),))
            plan = planned(paired, protection, keys, strata, sizes, SHIFTED)
            method = replace(job.method, stage=Descent(), recipe=f"{job.method.recipe}+descent")
            again.append(replace(job, cells=plan.cells[0], method=method, again=True))
    frame = solved(paired, again).persist()
    try:
        found = dict(zip((job.note for job in again), notes_of(frame, again), strict=True))
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
