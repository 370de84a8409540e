"""Strata counted by Spark; what to do with small ones is decided as in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg import wording
from microagg.engines.spark.part_job import STRATUM
from microagg.engines.spark.source_checks import refuse_negative_zeros
from microagg.formats.spark_folders import FrameSource
from microagg.model import Whole
from microagg.plan.protection import Protection
from microagg.prepare.strata import strata_by_settings

MOST_STRATA = 2_000_000
"""Their list is kept by the driver and sent to every task."""


@dataclass(frozen=True, slots=True, eq=False)
class CountedStrata:
    """All strata.

    `table`: for each combination of codes (columns with a sign of equality before their name) the number of
    its stratum; None where there are no strata columns.
    """

    table: Any
    columns: list[str]
    sizes: Whole
    suppressed: int = 0


def count_strata(
    source: FrameSource, frame: DataFrame, protection: Protection, records: int
) -> CountedStrata:
    """Count the records of each combination of codes, and settle what small strata become; `records`: all
    of them together.
    """
    names = list(protection.strata)
    columns = [f"c{source.at(name)}" for name in names]
    if records == 0:
        raise wording.no_records()
    if not names:
        strata_by_settings(pa.table({}), protection, np.array([records]))
        return CountedStrata(None, [], np.array([records]))
    refuse_negative_zeros(source, frame, protection.strata)
    counted = frame.groupBy(*columns).agg(F.count("*").alias("n")).limit(MOST_STRATA + 1).toArrow()
    if counted.num_rows > MOST_STRATA:
        raise wording.too_many_strata(counted.num_rows, MOST_STRATA)
    counted = counted.sort_by([(name, "ascending") for name in columns])
    codes, counts = counted.select(columns).rename_columns(names), counted.column("n").to_numpy()
    found = strata_by_settings(codes, protection, counts)
    kept = counted.select(columns).rename_columns([f"={name}" for name in columns]).take(found.rows)
    kept = kept.append_column(STRATUM, pa.array(found.of))
    sizes = np.bincount(found.of, weights=counts[found.rows], minlength=found.count).astype(np.int64)
    return CountedStrata(kept, columns, sizes, found.suppressed)
