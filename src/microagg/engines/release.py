"""What `protect` returns: data that have passed the verdict, and all that is known about them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import __version__, errors, read, wording, write
from microagg.engines.any_release import AnyRelease
from microagg.engines.run_record import (
    RECORD_ENDING,
    RECORD_FORMAT,
    RECORD_VERSION,
    RunRecord,
    digest_of,
    digest_of_values,
    earlier_releases,
    reading_of,
)
from microagg.engines.solving import Watcher
from microagg.engines.steps import Steps
from microagg.model import Claims, Microdata, Origin, TaskPartition, Verified, gap_above, nearness
from microagg.plan.plan_file import used_plan
from microagg.plan.protection import Protection
from microagg.prepare.prepared import Prepared
from microagg.secret_key import SecretKey
from microagg.verdict import Verdict, refuse, unsafe_release
from microagg.verify import WrittenFile, check_file, check_written
from microagg.verify.promises import promises_of
from microagg.wording import Step

INTERNAL_FOLDER = "microagg-internal"
"""Folder beside the release for files that must not be released with it."""

SHOWN_RECIPES = 3
"""Of more recipes than these only the number is shown."""


def software_versions() -> dict[str, str]:
    """For the record of a run, without `importlib.metadata`, which is slow to import."""
    return {
        "microagg": __version__,
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "python": sys.version.split()[0],
    }


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
        "bound_loss": release.bound_loss,
        "verdict": release.verdict.as_dict(),
        "seconds": release.seconds,
    }


def shown_in_notebook(release: AnyRelease) -> str:
    """The lines above the verdict, and this, as HTML."""
    first = str(release).removesuffix(f"\n{release.verdict}").split("\n")
    return "".join(f"<p>{escape(each)}</p>" for each in first) + release.verdict._repr_html_()


def recipes_text(recipes: Collection[str]) -> str:
    return " and ".join(sorted(recipes)) if len(recipes) <= SHOWN_RECIPES else f"{len(recipes)} recipes"


def groups_text(groups: int, protection: Protection) -> str:
    """How many groups there are, over how many subsets of columns, and k."""
    subsets = len(protection.subsets) + len(protection.own_subsets)
    over = f" over {subsets} subsets" if subsets > 1 else ""
    return f"{groups} group{'' if groups == 1 else 's'}{over} (k = {protection.k})"


@dataclass(frozen=True, slots=True)
class OutputPaths:
    """Where a release and what is known about it are to be written."""

    release: Path
    folder: Path
    """For the internal files, which have these names."""
    record: str
    plan: str
    groups: str | None
    report: Path | None = None
    external_report: Path | None = None

    @classmethod
    def of(
        cls,
        path: str | Path,
        folder: str | Path | None,
        labels: bool,
        report: str | Path | None = None,
        external_report: str | Path | None = None,
    ) -> OutputPaths:
        """Beside the release, unless a folder is given."""
        path = Path(path)
        return cls(
            path,
            path.parent / INTERNAL_FOLDER if folder is None else Path(folder),
            f"{path.name}{RECORD_ENDING}",
            f"{path.name}.plan.toml",
            f"{path.name}.groups.csv" if labels else None,
            None if report is None else Path(report),
            None if external_report is None else Path(external_report),
        )

    @property
    def reports(self) -> list[Path]:
        return [path for path in (self.report, self.external_report) if path is not None]

    def check(self, source: Origin, force: bool) -> None:
        """Refuse what could not be written, or must not be written there."""
        write.check_output(self.release, force, source.path)
        write.output_format(self.release, source)
        if self.folder.resolve() == self.release.parent.resolve():
            raise wording.internal_beside_release(str(self.folder), INTERNAL_FOLDER)
        names = [name for name in (self.record, self.plan, self.groups) if name is not None]
        write.Internal(self.folder).check(*names, force=force)
        if not self.reports:
            return
        from microagg.report import check_installed

        check_installed()
        for path in self.reports:
            if path.suffix.lower() not in (".html", ".htm"):
                raise wording.report_not_html(str(path))
            write.check_output(path, force, source.path)
        write.check_apart([self.release, *(self.folder / name for name in names), *self.reports])


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A protected table that has passed its verdict.

    `data`: the table, of the kind that was given (an Arrow table for files); `verdict`: what was counted;
    `partitions`: one for each task; `information_loss`: 100 · SSE / SST over all tasks, in percent;
    `bound_loss`: the proven lower bound of the loss; `stopped`: the user stopped the run, and got the best
    groups so far; `record`: the internal record of the run. All but `data` is internal: groups and record
    show whose record is whose.
    """

    verified: Verified
    source: Microdata
    prepared: Prepared
    rows: NDArray[np.int64]
    protection: Protection
    key: SecretKey
    partitions: tuple[TaskPartition, ...]
    information_loss: float
    bound_loss: float | None
    seconds: float
    stopped: bool = False
    repeats: RunRecord | None = None
    """The record of the release that this one repeats."""

    @property
    def verdict(self) -> Verdict:
        """What was counted in the released table."""
        return self.verified.verdict

    @cached_property
    def claims(self) -> Claims:
        """What is promised, as the verifier derives it."""
        return promises_of(self.protection, self.source.table.column_names, {})

    @cached_property
    def data(self) -> Any:
        """The released table, of the kind that was given."""
        table = self.verified.microdata.table
        return (
            read.frame_like(self.source, table, self.rows)
            if self.source.origin.format == "frame"
            else table
        )

    @property
    def record(self) -> dict[str, Any]:
        """All that is needed to repeat the run and to account for it, as plain values."""
        origin = self.source.origin
        return {
            **record_of_run(self),
            "input": {
                "name": origin.name,
                "path": None if origin.path is None else str(origin.path.absolute()),
                "format": origin.format,
                "reading": reading_of(origin),
                "digest": digest_of(self.source),
                "records": self.source.table.num_rows,
                "columns": self.source.table.column_names,
            },
            "rows_left_out": np.setdiff1d(np.arange(self.source.table.num_rows), self.rows).tolist(),
            "released": digest_of_values(self.verified.microdata.table),
            "stopped": self.stopped,
            "tasks": [
                {
                    "columns": list(task.columns),
                    "stratum": task.stratum,
                    "records": len(task.rows),
                    "groups": task.groups,
                    "sse": task.sse,
                    "bound": task.bound,
                    "recipe": task.recipe,
                    "reason": task.reason,
                    "truncated": task.truncated,
                }
                for task in self.partitions
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
        """Write the release, read it back, count again, and only then give the file its name.

        path: its ending decides the format. force: overwrite. record: the folder for what is internal, the
        record of the run and its plan (default: microagg-internal beside the release); labels: also the
        group of each record. report: also an HTML page with all that is known, not to be released;
        external_report: one with what those who get the release may know. progress: called about twenty
        times a second with a `Progress`; what it returns has no effect. Returns the path of the record.
        """
        if self.verdict.source_reading == "trial":
            raise wording.contract_broken("save", "this was a trial, whose source was read only once")
        places = OutputPaths.of(path, record, labels, report, external_report)
        places.check(self.source.origin, force)
        noted = self.with_earlier(places)
        if noted is not self:
            return noted.save(
                path, force=force, record=record, labels=labels, report=report,
                external_report=external_report, progress=progress,
            )  # fmt: skip
        path = places.release
        changed = (*self.protection.changed, *self.claims.recoded)
        steps = Steps(progress)
        with ExitStack() as drafts:
            staged = steps.call(
                Step.WRITING,
                lambda: drafts.enter_context(write.stage(self.verified, path, changed)),
            )
            self._check_written(staged, steps)
            if self.repeats is not None:
                self.repeats.check_file(path.name, staged.digest)
            output = {"name": path.name, "digest": staged.digest, "written": datetime.now(UTC).isoformat()}
            settings = self._settings_with_paths(path, places.folder)
            contents = {
                places.record: json.dumps({**self.record, "output": output}, allow_nan=False),
                places.plan: used_plan(settings),
            }
            if places.groups is not None:
                contents[places.groups] = steps.call(Step.WRITING, self._groups)
            before = drafts.enter_context(write.Internal(places.folder).staged(contents))
            reports = steps.call(Step.REPORTING, lambda: list(self._reports(places, staged, settings)))
            before += [drafts.enter_context(write.text_draft(*report)) for report in reports]
            staged.commit(force, before=before)
        return places.folder / places.record

    def with_earlier(self, places: OutputPaths) -> Release:
        """With a note on other releases of the same source whose records are where this one's will be."""
        if any(each.rule == "earlier" for each in self.verdict.findings):
            return self
        released = digest_of_values(self.verified.microdata.table)
        found = tuple(
            earlier_releases(places.folder, places.release.name, digest_of(self.source), released)
        )
        if not found:
            return self
        verdict = replace(self.verdict, findings=(*self.verdict.findings, *found))
        return replace(self, verified=replace(self.verified, verdict=verdict))

    def _check_written(self, staged: write.Staged, steps: Steps) -> None:
        """Read the written file back, and count again in it."""
        try:
            written = steps.call(Step.READING_BACK, lambda: read.read_back(staged.readable, staged.origin))
        except errors.DataError:
            raise unsafe_release([refuse("written_unreadable")]) from None
        decimal = staged.origin.csv.decimal if staged.origin.csv else "."
        table, verdict, claims = self.verified.microdata.table, self.verdict, self.claims
        steps.call(
            Step.VERIFYING_FILE,
            lambda: check_written(table, written, verdict, claims, decimal=decimal or "."),
        )
        file = WrittenFile(
            staged.readable,
            staged.origin.name,
            staged.origin.format,
            table,
            self.source.table,
            self.source.origin,
            frozenset((*self.protection.changed, *claims.recoded)),
        )
        steps.call(Step.VERIFYING_FILE, lambda: check_file(file))

    def report(self) -> str:
        """All that is known about the release, as an HTML page; not to be released."""
        from microagg.engines.reporting import assessment_of, internal_report

        return internal_report(self, assessment_of(self))

    def external_report(self) -> str:
        """What those who get the release may know about it, as an HTML page.

        It follows from the released table and the settings alone, but for the information loss: one of four
        bands, and for fewer than 200 records not even that. Neither seed nor digests nor names of files.
        """
        from microagg.engines.reporting import external_report

        return external_report(self)

    def _reports(
        self, places: OutputPaths, staged: write.Staged, settings: Mapping[str, object]
    ) -> Iterator[tuple[Path, str, int]]:
        """Path, text and permissions of each report to be written."""
        if not places.reports:
            return
        from microagg.engines import reporting

        if places.report is not None:
            found = reporting.assessment_of(self)
            written = reporting.Written(places.release.name, staged.digest, settings)
            yield places.report, reporting.internal_report(self, found, written), write.OWNER_ONLY
        if places.external_report is not None:
            yield places.external_report, reporting.external_report(self), staged.mode

    def _settings_with_paths(self, path: Path, folder: Path) -> dict[str, Any]:
        """The plan's settings, with paths relative to the folder of the plan."""
        origin = self.source.origin
        settings = dict(self.protection.settings)
        if origin.path is not None:
            paths = {"input": origin.path, "output": path}
            seen_from = {option: os.path.relpath(each, folder) for option, each in paths.items()}
            # A plan is text, and has no way to name other bytes: then they are to be given with it.
            settings |= {option: each for option, each in seen_from.items() if wording.shown(each) == each}
            settings |= reading_of(origin)
        return settings

    def _groups(self) -> str:
        """The group of each record of the source (from 1) in each subset of columns."""
        lines = ["record,columns,group"]
        count = 0
        for task in self.partitions:
            columns = ";".join(task.columns).replace('"', '""')
            pairs = zip(task.rows.tolist(), task.labels.tolist(), strict=True)
            lines += [f'{row + 1},"{columns}",{label + count}' for row, label in pairs]
            count += task.groups
        return "\n".join(lines) + "\n"

    @property
    def groups(self) -> int:
        """The number of groups of all tasks together."""
        return sum(task.groups for task in self.partitions)

    def __str__(self) -> str:
        how = recipes_text({task.recipe for task in self.partitions if task.columns})
        cut = ", cut short" if any(task.truncated for task in self.partitions) else ""
        cut = ", stopped early" if self.stopped else cut
        return (
            f"{len(self.rows)} records in {groups_text(self.groups, self.protection)}\n"
            f"information loss {self.information_loss:.4f} %{self._proof()}, by {how} "
            f"in {self.seconds:.2f} s{cut}\n{self.verdict}"
        )

    def _proof(self) -> str:
        """How near to the optimum the groups are, where that is known."""
        if self.bound_loss is None:
            return ", no bound proven" if self.protection.method.certify else ""
        return f", {nearness(gap_above(self.bound_loss, self.information_loss))}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        return shown_in_notebook(self)
