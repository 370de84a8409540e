"""What `protect` returns on Spark: a frame that has passed the verdict, and all that is known about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg import wording
from microagg.engines.any_release import AnyRelease
from microagg.engines.spark import writing
from microagg.engines.spark.limits import refuse_files
from microagg.engines.spark.part_job import PartResult
from microagg.formats.spark_folders import FrameSource
from microagg.methods.run import Watcher
from microagg.methods.steps import Steps
from microagg.verdict import Verdict
from microagg.verify.frame_columns import BeforeAfterColumns, quoted
from microagg.verify.frame_release import Fingerprint, released_columns
from microagg.write.output_paths import OutputPaths
from microagg.write.run_record import SPARK_FRAME, reading_of, software_versions


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease(AnyRelease):
    """A protected frame that has passed its verdict.

    `data`: the frame; `verdict`: what was counted; `information_loss`: in percent, 100 · SSE / SST over all
    blocks if keys are numbers; `losses`: the same by column; `record`: the internal record of the run. All
    but `data` is internal. What was computed is kept by Spark's executors until `close()`, or the end of
    the session.
    """

    paired: DataFrame
    sides: BeforeAfterColumns
    source: FrameSource
    verdict: Verdict
    found: tuple[list[PartResult], ...]
    fingerprint: Fingerprint
    """The fingerprint of the source's records."""
    released: Fingerprint
    """The fingerprint of the records that the verdict has counted."""

    def __post_init__(self) -> None:
        if self.verdict.safe is not True or self.released.records != self.verdict.records:
            raise wording.not_verified()

    @property
    def source_columns(self) -> list[str]:
        return self.source.columns

    @property
    def data(self) -> DataFrame:
        """The released frame, its records ordered by a hash of what is released, which nobody can compute
        without a key: it shows nothing of the order of the source.
        """
        if not self.paired.is_cached:
            raise wording.closed()
        return self._data

    @cached_property
    def _data(self) -> DataFrame:
        frame = self.paired.select(*released_columns(self.paired, self.sides))
        place = F.xxhash64(F.lit(self.key.text("order of the records")), *map(quoted, frame.columns))
        return frame.repartitionByRange(place).sortWithinPartitions(place)

    def with_earlier(self, places: OutputPaths) -> SparkRelease:
        """With a note on other releases of the same source whose records are where this one's will be."""
        verdict = places.with_earlier(self.verdict, str(self.fingerprint), str(self.released))
        return replace(self, verdict=verdict)

    @property
    def numbers(self) -> frozenset[str]:
        """Masked columns that hold numbers."""
        return frozenset(self.protection.changed) - set(self.sides.keys)

    @property
    def groups(self) -> int:
        """The number of groups of all subsets together."""
        return sum(found.groups for own in self.found for found in own)

    def close(self) -> None:
        """Let Spark's executors forget what was computed; `data` and `save` are refused from now on."""
        self.paired.unpersist()

    @property
    def record(self) -> dict[str, Any]:
        """All that is needed to repeat the run and to account for it, as plain values."""
        origin = self.source.origin
        return {
            **super().record,
            "engine": "spark",
            "software": {**software_versions(), "pyspark": pyspark.__version__},
            "input": {
                "name": origin.name,
                "path": None if origin.format == SPARK_FRAME else origin.name,
                "format": origin.format,
                "reading": reading_of(origin),
                "digest": str(self.fingerprint),
                "records": self.fingerprint.records + self.verdict.suppressed,
                "columns": self.source_columns,
            },
            "released": str(self.released),
            "stopped": False,
            "tasks": [
                {
                    "columns": list(subset),
                    "part": found.part,
                    "records": found.records,
                    "groups": found.groups,
                    "sse": found.sse,
                    "recipe": " and ".join(sorted(found.recipes)),
                    "truncated": found.truncated,
                }
                for subset, own in zip(self.protection.all_subsets, self.found, strict=True)
                for found in own
            ],
        }

    def save(
        self,
        path: str | Path,
        *,
        force: bool = False,
        record: str | Path | None = None,
        labels: bool = False,
        report: str | Path | None = None,
        external_report: str | Path | None = None,
        progress: Watcher | None = None,
    ) -> Path:
        """Write the release as a folder of files, read them back, count again, and only then give the
        folder its name.

        path: its ending, .parquet or .csv, decides the format (default: as the source). force: overwrite.
        record: the folder for what is internal, on this machine (default: microagg-internal beside the
        release). progress: called with a `Progress` when each step begins; nothing is written if it returns
        True. Returns the path of the record.
        """
        refuse_files(labels, report, external_report)
        return writing.save(self, str(path), force, record, Steps(progress))

    def __str__(self) -> str:
        how = wording.recipes_used(
            {recipe for own in self.found for found in own for recipe in found.recipes}
        )
        parts = sum(len(own) for own in self.found)
        subsets, k = len(self.protection.all_subsets), self.protection.k
        groups = wording.groups_of_subsets(self.groups, subsets, k)
        return (
            f"{self.verdict.records:,} records in {groups}\n"
            f"information loss {self.information_loss:.4f} %, by {how} in {self.seconds:.2f} s\n"
            f"on Spark in {parts:,} parts of at most "
            f"{max(f.records for own in self.found for f in own):,} "
            "records\n" + "".join(f"{line}\n" for line in self.losses.lines) + f"{self.verdict}"
        )
