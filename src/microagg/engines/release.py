"""What `protect` returns: data that have passed the verdict, and all that is known about them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import errors, read, wording, write
from microagg.engines.any_release import AnyRelease
from microagg.engines.mdav_comparison import mdav_loss
from microagg.methods.run import Watcher
from microagg.methods.steps import Steps
from microagg.model import Microdata, TaskPartition, Verified, gap_above, nearness
from microagg.plan.plan_file import used_plan
from microagg.prepare.prepared import Prepared
from microagg.report import check_installed
from microagg.verdict import Verdict, refuse, unsafe_release
from microagg.verify import WrittenFile, check_file, check_written
from microagg.wording import Step
from microagg.write.output_paths import OutputPaths
from microagg.write.run_record import digest_of, digest_of_values, reading_of


def _reporting() -> ModuleType:
    """It takes a while to import; `MissingExtra` if a library that it needs is not installed."""
    check_installed()
    from microagg.report import reporting

    return reporting


@dataclass(frozen=True, eq=False, repr=False)
class Release(AnyRelease):
    """A protected table that has passed its verdict.

    `data`: the table, of the kind that was given (an Arrow table for files); `verdict`: what was counted;
    `partitions`: one for each task; `information_loss`: in percent, 100 · SSE / SST over all tasks if keys
    are numbers; `losses`: the same by column; `bound_loss`: its proven lower bound; `stopped`: the user
    stopped the run, and got the best groups so far; `record`: the internal record of the run. All but
    `data` is internal: groups and record show whose record is whose.
    """

    verified: Verified
    source: Microdata
    prepared: Prepared
    rows: NDArray[np.int64]
    partitions: tuple[TaskPartition, ...]
    stopped: bool = False

    @property
    def verdict(self) -> Verdict:
        """What was counted in the released table."""
        return self.verified.verdict

    @property
    def source_columns(self) -> list[str]:
        return self.source.table.column_names

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
            **super().record,
            "input": {
                "name": origin.name,
                "path": None if origin.path is None else str(origin.path.absolute()),
                "format": origin.format,
                "reading": reading_of(origin),
                "digest": digest_of(self.source),
                "records": self.source.table.num_rows,
                "columns": self.source_columns,
            },
            "rows_left_out": np.setdiff1d(np.arange(self.source.table.num_rows), self.rows).tolist(),
            "released": self._digest,
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
        if places.reports:
            check_installed()
        return self.with_earlier(places)._save(places, force, Steps(progress))

    def _save(self, places: OutputPaths, force: bool, steps: Steps) -> Path:
        path = places.release
        changed = self._rewritten
        with ExitStack() as drafts:
            staged = steps.call(
                Step.WRITING,
                lambda: drafts.enter_context(write.stage(self.verified, path, changed)),
            )
            self._check_written(staged, steps)
            if self.repeats is not None:
                self.repeats.check_file(path.name, staged.digest)
            settings = self._settings_with_paths(path, places.folder)
            contents = {
                places.record: self.written_record(path.name, staged.digest),
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
        verdict = places.with_earlier(self.verdict, digest_of(self.source), self._digest)
        return replace(self, verified=replace(self.verified, verdict=verdict))

    @cached_property
    def _digest(self) -> str:
        return digest_of_values(self.verified.microdata.table)

    @property
    def _rewritten(self) -> frozenset[str]:
        """Columns whose numbers are new: to categories and dates, labels and forms of the source apply."""
        return frozenset(self.protection.changed) - frozenset(self.prepared.kinds)

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
            self._rewritten,
        )
        steps.call(Step.VERIFYING_FILE, lambda: check_file(file))

    def report(self) -> str:
        """All that is known about the release, as an HTML page; not to be released."""
        found = _reporting()
        page: str = found.internal_report(self, found.assessment_of(self))
        return page

    def external_report(self) -> str:
        """What those who get the release may know about it, as an HTML page.

        It follows from the released table and the settings alone, but for the information loss: one of four
        bands, and for fewer than 200 records not even that. Neither seed nor digests nor names of files.
        """
        page: str = _reporting().external_report(self)
        return page

    def mdav_loss(self) -> float | None:
        """MDAV's information loss on the same data, to compare with; None if that would take long."""
        return mdav_loss(self.source, self.protection, prepared=self.prepared)

    def _reports(
        self, places: OutputPaths, staged: write.Staged, settings: Mapping[str, object]
    ) -> Iterator[tuple[Path, str, int]]:
        """Path, text and permissions of each report to be written."""
        if places.report is not None:
            found = _reporting()
            written = found.Written(places.release.name, staged.digest, settings)
            page = found.internal_report(self, found.assessment_of(self), written)
            yield places.report, page, write.OWNER_ONLY
        if places.external_report is not None:
            yield places.external_report, self.external_report(), staged.mode

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
        how = wording.recipes_used({task.recipe for task in self.partitions if task.columns})
        cut = ", cut short" if any(task.truncated for task in self.partitions) else ""
        cut = ", stopped early" if self.stopped else cut
        subsets, k = len(self.protection.all_subsets), self.protection.k
        groups = wording.groups_of_subsets(self.groups, subsets, k)
        return (
            f"{len(self.rows):,} records in {groups}\n"
            f"information loss {self.information_loss:.4f} %{self._proof()}, by {how} "
            f"in {self.seconds:.2f} s{cut}\n"
            + "".join(f"{line}\n" for line in self.losses.lines)
            + f"{self.verdict}"
        )

    def _proof(self) -> str:
        """How near to the optimum the groups are, where that is known."""
        if self.bound_loss is None:
            return ", no bound proven" if self.protection.method.certify else ""
        of = wording.of_what_is_published() if self.losses.columns else ""
        return f", {nearness(gap_above(self.bound_loss, self.information_loss))}{of}"
