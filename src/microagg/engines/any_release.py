"""What every release has, whichever engine has made it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from microagg import wording
from microagg.aggregate.losses import Losses
from microagg.assessment import notebook
from microagg.methods.run import Watcher
from microagg.model import Claims
from microagg.plan.protection import Protection
from microagg.secret_key import SecretKey
from microagg.verdict import Verdict
from microagg.verify.promises import promises_of
from microagg.write.output_paths import OutputPaths
from microagg.write.run_record import RECORD_FORMAT, RECORD_VERSION, RunRecord, software_versions


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnyRelease(ABC):
    """Protected data that have passed their verdict: a `Release` in memory, or a `SparkRelease`."""

    protection: Protection
    key: SecretKey
    """From which all that is random was drawn."""
    losses: Losses
    seconds: float
    repeats: RunRecord | None = None
    """The record of the release that this one repeats."""

    if TYPE_CHECKING:  # a property of one kind of release, and a field of the other

        @property
        def verdict(self) -> Verdict: ...

    @property
    @abstractmethod
    def data(self) -> Any:
        """What is released, of the kind that was given."""

    @property
    @abstractmethod
    def groups(self) -> int:
        """The number of groups of all subsets together."""

    @property
    @abstractmethod
    def source_columns(self) -> list[str]: ...

    @abstractmethod
    def with_earlier(self, places: OutputPaths) -> Self:
        """With a note on other releases of the same source whose records are where this one's will be."""

    @abstractmethod
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
        """Write, read back, count again, and only then give the files their names; the record's path."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return str(self)

    @property
    def information_loss(self) -> float:
        return self.losses.information_loss

    @property
    def bound_loss(self) -> float | None:
        """None if no bound is proven, as on Spark."""
        return self.losses.bound

    @cached_property
    def claims(self) -> Claims:
        """What is promised, as the verifier derives it."""
        return promises_of(self.protection, self.source_columns, {})

    @property
    def record(self) -> dict[str, Any]:
        """All that is needed to repeat the run and to account for it, as plain values; internal."""
        return {
            "format": RECORD_FORMAT,
            "version": RECORD_VERSION,
            "engine": "local",
            "software": software_versions(),
            "plan": dict(self.protection.settings),
            "seed": self.protection.method.seed,
            "key": self.key.hex,
            "information_loss": self.information_loss,
            "losses": {name: each.as_dict() for name, each in self.losses.columns.items()},
            "bound_loss": self.bound_loss,
            "verdict": self.verdict.as_dict(),
            "seconds": self.seconds,
        }

    def written_record(self, name: str, digest: str) -> str:
        """The record of a release that is written to a file, as JSON."""
        output = {"name": name, "digest": digest, "written": datetime.now(UTC).isoformat()}
        return json.dumps({**self.record, "output": output}, allow_nan=False)

    def _repr_html_(self) -> str:
        """For notebooks: the lines above the verdict, and this.

        Where some columns hold categories, a table has the kind and the loss of each.
        """
        in_table = self.losses.lines
        lines = str(self).removesuffix(f"\n{self.verdict}").split("\n")
        first = "".join(f"<p>{escape(each)}</p>" for each in lines if each not in in_table)
        return first + (self._table_of_losses() if in_table else "") + self.verdict._repr_html_()

    def _table_of_losses(self) -> str:
        kinds = {**self.verdict.changes.kinds, **dict.fromkeys(self.protection.strata, "stratum")}
        rows = [
            (
                name,
                kinds.get(name, "number"),
                f"{each.percent:.4f} %",
                wording.change_of_column(each.changed_share, each.mean_level_change, each.mean_distance),
            )
            for name, each in self.losses.columns.items()
        ]
        return notebook.table(("key", "kind", "loss", ""), rows, left=(0, 1, 3))
