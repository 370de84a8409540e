"""Where a release is written, and beside it what is known about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from microagg import errors, wording
from microagg.model import Origin
from microagg.verdict import Verdict, note
from microagg.write.checks import check_apart, check_output, output_format
from microagg.write.internal import Internal
from microagg.write.run_record import RECORD_ENDING, read_record

INTERNAL_FOLDER = "microagg-internal"
"""Folder beside the release for files that must not be released with it."""


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
        check_output(self.release, force, source.path)
        output_format(self.release, source)
        if self.folder.resolve() == self.release.parent.resolve():
            raise wording.internal_beside_release(str(self.folder), INTERNAL_FOLDER)
        names = [name for name in (self.record, self.plan, self.groups) if name is not None]
        Internal(self.folder).check(*names, force=force)
        for path in self.reports:
            if path.suffix.lower() not in (".html", ".htm"):
                raise wording.report_not_html(str(path))
            check_output(path, force, source.path)
        if self.reports:
            check_apart([self.release, *(self.folder / name for name in names), *self.reports])

    def with_earlier(self, verdict: Verdict, source: str, released: str) -> Verdict:
        """With a note on other releases of the same source whose records are in the folder.

        source: its digest; released: that of the new release's values. What it replaces does not count, nor
        does what has the same values.
        """
        if any(each.rule == "earlier" for each in verdict.findings):
            return verdict
        others = []
        for path in sorted(self.folder.glob(f"*{RECORD_ENDING}")):
            try:
                record = read_record(path)
            except errors.DataError:  # it is not a record, or that of another version
                continue
            is_other = record.output_name not in (None, self.release.name)
            if is_other and record.content["released"] != released and record.digest == source:
                others.append(str(record.output_name))
        if not others:
            return verdict
        found = note("earlier", releases=len(others), names=others)
        return replace(verdict, findings=(*verdict.findings, found))
