"""What every release has, whichever engine has made it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Protocol

from microagg import wording
from microagg.aggregate.losses import Losses
from microagg.assessment import notebook
from microagg.methods.run import Watcher
from microagg.model import Claims
from microagg.plan.protection import Protection
from microagg.secret_key import SecretKey
from microagg.verdict import Verdict
from microagg.write.output_paths import OutputPaths
from microagg.write.run_record import RECORD_FORMAT, RECORD_VERSION, software_versions


class AnyRelease(Protocol):
    """Protected data that have passed their verdict: a `Release` in memory, or a `SparkRelease`."""

    @property
    def data(self) -> Any:
        """What is released, of the kind that was given."""
        ...

    @property
    def verdict(self) -> Verdict: ...

    @property
    def protection(self) -> Protection: ...

    @property
    def claims(self) -> Claims: ...

    @property
    def groups(self) -> int:
        """The number of groups of all subsets together."""
        ...

    @property
    def key(self) -> SecretKey:
        """From which all that is random was drawn."""
        ...

    @property
    def losses(self) -> Losses: ...

    @property
    def information_loss(self) -> float: ...

    @property
    def bound_loss(self) -> float | None: ...

    @property
    def seconds(self) -> float: ...

    @property
    def record(self) -> dict[str, Any]:
        """All that is needed to repeat the run and to account for it, as plain values; internal."""
        ...

    def with_earlier(self, places: OutputPaths) -> AnyRelease:
        """With a note on other releases of the same source whose records are where this one's will be."""
        ...

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
        ...


def record_of_run(release: AnyRelease) -> dict[str, Any]:
    """What the record of a run has in memory and on Spark alike."""
    return {
        "format": RECORD_FORMAT,
        "version": RECORD_VERSION,
        "engine": "local",
        "software": software_versions(),
        "plan": dict(release.protection.settings),
        "seed": release.protection.method.seed,
        "key": release.key.hex,
        "information_loss": release.information_loss,
        "losses": {name: each.as_dict() for name, each in release.losses.columns.items()},
        "bound_loss": release.bound_loss,
        "verdict": release.verdict.as_dict(),
        "seconds": release.seconds,
    }


def written_record(release: AnyRelease, name: str, digest: str) -> str:
    """The record of a release that is written to a file, as JSON."""
    output = {"name": name, "digest": digest, "written": datetime.now(UTC).isoformat()}
    return json.dumps({**release.record, "output": output}, allow_nan=False)


def shown_in_notebook(release: AnyRelease) -> str:
    """The lines above the verdict, and this, as HTML.

    Where some columns hold categories, a table has the kind and the loss of each.
    """
    in_table = release.losses.lines
    lines = str(release).removesuffix(f"\n{release.verdict}").split("\n")
    first = "".join(f"<p>{escape(each)}</p>" for each in lines if each not in in_table)
    return first + (_table_of_losses(release) if in_table else "") + release.verdict._repr_html_()


def _table_of_losses(release: AnyRelease) -> str:
    kinds = {**release.verdict.changes.kinds, **dict.fromkeys(release.protection.strata, "stratum")}
    rows = [
        (
            name,
            kinds.get(name, "number"),
            f"{each.percent:.4f} %",
            wording.change_of_column(each.changed_share, each.mean_level_change, each.mean_distance),
        )
        for name, each in release.losses.columns.items()
    ]
    return notebook.table(("key", "kind", "loss", ""), rows, left=(0, 1, 3))
