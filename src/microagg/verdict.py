"""What the verifier has found: counts, findings, the verdict. Names of columns and figures, no values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

from microagg import wording
from microagg.errors import UnsafeRelease


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that users should know about a release or its source.

    `rule` is the name of a sentence in `wording/findings.py`, which shows columns and figures. `refuse`:
    nothing is released. `accepted`: it would be refused, but an option accepts it.
    """

    rule: str
    action: Literal["refuse", "accepted", "note"]
    columns: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def message(self) -> wording.Message:
        return wording.sentence(self.rule, self.columns, self.figures)

    def __str__(self) -> str:
        return str(self.message)


def refuse(rule: str, *columns: str, **figures: Any) -> Finding:
    """A finding that forbids the release."""
    return Finding(rule, "refuse", columns, figures)


def accepted(rule: str, *columns: str, **figures: Any) -> Finding:
    """A finding that an option of the user's accepts."""
    return Finding(rule, "accepted", columns, figures)


def note(rule: str, *columns: str, **figures: Any) -> Finding:
    """A finding that users should know of."""
    return Finding(rule, "note", columns, figures)


def unsafe_release(findings: Sequence[Finding], attempts: int = 1) -> UnsafeRelease:
    """The exception for findings that forbid a release, after so many attempts to find other groups."""
    messages = [
        wording.sentence(each.rule, each.columns, each.figures, retried=attempts > 1) for each in findings
    ]
    error = wording.unsafe_release(messages, attempts)
    error.findings = tuple(findings)
    return error


def unsafe_file(findings: Sequence[Finding]) -> UnsafeRelease:
    """The exception for findings that forbid to release a file that was assessed."""
    error = wording.unsafe_file([each.message for each in findings])
    error.findings = tuple(findings)
    return error


NEGLIGIBLE = 1e-9
"""A change of a mean, as a share of the mean absolute value, that sums of doubles may make."""


@dataclass(frozen=True, slots=True)
class Count:
    """How the records of a release share the combinations of some columns."""

    columns: tuple[str, ...]
    """Strata first."""
    classes: int
    """Different combinations; null is a value like any other."""
    smallest: int
    """Records of the rarest combination."""
    below: int
    """Records whose combination occurs fewer than k times."""
    unique: int
    """Records whose combination occurs once."""
    own_values: int = 0
    """Records released with their own values in all columns that were masked."""


@dataclass(frozen=True, slots=True)
class Homogeneous:
    """Classes in which a confidential column has fewer values than it must have."""

    column: str
    keys: tuple[str, ...]
    """The columns that make the classes."""
    groups: int
    records: int
    released: bool = False
    """Counted in the values as released, not in those of the source."""
    spellings: bool = False
    """Some of the column's texts differ in spelling alone, and count as one value."""


@dataclass(frozen=True, slots=True)
class MeanChange:
    """What masking did to a column's mean and total, weighted if there are weights.

    `mean`, `total`, `relative`, `kept` speak of the cells that are released, which is what is promised;
    `column_mean` and `column_relative` of the whole column, with the values that were set to missing or
    left out with their records.
    """

    column: str
    mean: float
    """Released less source."""
    total: float
    relative: float
    """`mean` as a share of the source's mean absolute value."""
    tolerance: float | None
    """What was promised; None: nothing."""
    kept: bool
    cells: int = 0
    """Released values."""
    set_to_missing: int = 0
    """Values of the source that their released records lack."""
    left_out: int = 0
    """Values of the source whose records are not released."""
    column_mean: float = 0.0
    """The mean of all released values less that of all values of the source; NaN if none is released."""
    column_relative: float | None = 0.0
    """`column_mean` as a share of the size of the source's mean; None if there is no such share."""

    @property
    def is_whole(self) -> bool:
        """Every value of the source has its released one."""
        return not self.set_to_missing and not self.left_out

    @property
    def is_unchanged(self) -> bool:
        """The whole column has the source's mean, but for what sums of doubles do."""
        if self.is_whole:
            return abs(self.relative) <= NEGLIGIBLE
        if self.column_relative is None:
            return self.column_mean == 0.0
        return abs(self.column_relative) <= NEGLIGIBLE

    @property
    def description(self) -> str:
        """What became of the mean of a column that is not whole."""
        if abs(self.relative) <= NEGLIGIBLE:
            cells = wording.mean_kept()
        elif self.tolerance is not None and self.kept:
            cells = wording.mean_kept_but_for_rounding()
        else:
            cells = wording.mean_changed(self.mean, self.relative)
        return wording.mean_of_the_rest(
            cells,
            self.cells,
            self.set_to_missing,
            self.left_out,
            wording.moved_by(self.column_mean, self.column_relative),
        )


@dataclass(frozen=True, slots=True)
class NotCounted:
    """A released column for which nothing is claimed."""

    column: str
    unique: int
    """Records that are unique with it, but not by strata and keys alone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a recount of a release has found. It holds counts and names of columns, no values."""

    k: int
    failures: tuple[Finding, ...] = ()
    """What forbids the release."""
    records: int = 0
    suppressed: int = 0
    """Records of the source that are not released."""
    subsets: tuple[Count, ...] = ()
    """By key subset, strata included. Empty if nothing could be counted."""
    joint: Count | None = None
    """Strata and the keys of all subsets, where there are several."""
    own_subsets: tuple[Count, ...] = ()
    homogeneous: tuple[Homogeneous, ...] = ()
    mean_changes: tuple[MeanChange, ...] = ()
    not_counted: tuple[NotCounted, ...] = ()
    """Those that make most records unique first."""
    notes: tuple[Finding, ...] = ()

    @property
    def safe(self) -> bool:
        """Nothing forbids the release."""
        return not self.failures

    @property
    def sentence(self) -> str:
        """What is known about k."""
        if not self.subsets:
            return wording.not_recounted()
        worst = min(self.subsets, key=lambda count: count.smallest)
        if worst.smallest < self.k:
            return wording.not_k_anonymous(worst.columns, self.k, worst.below, worst.smallest)
        if self.joint is not None and self.joint.smallest < self.k:
            return wording.partly_k_anonymous(self.joint.unique)
        together = self.joint or worst
        return wording.k_anonymous(together.columns, self.k, together.smallest)

    def raise_if_unsafe(self) -> None:
        """`UnsafeRelease` with all failures, if there are any."""
        if self.failures:
            raise unsafe_release(self.failures)

    def as_dict(self) -> dict[str, Any]:
        """For a record in JSON: names, numbers, sentences, lists."""
        return {"safe": self.safe, "k": self.k, "sentence": self.sentence, **_plain(self)}

    def __str__(self) -> str:
        lines = [f"{'verified' if self.safe else 'REFUSED'}: {self.sentence}"]
        lines += [f"  - {failure}" for failure in self.failures]
        if same := [change.column for change in self.mean_changes if change.is_unchanged]:
            lines.append(f"means kept: {', '.join(map(wording.visible, same))}")
        changed = [change for change in self.mean_changes if not change.is_unchanged]
        lines += _table(
            "means kept but for rounding:",
            {
                change.column: wording.mean_by(change.mean, change.relative)
                for change in changed
                if change.is_whole and change.tolerance is not None
            },
        )
        lines += _table(
            "means changed:",
            {
                change.column: wording.mean_by(change.mean, change.relative)
                for change in changed
                if change.is_whole and change.tolerance is None
            },
        )
        lines += _table(
            wording.means_without_some(),
            {change.column: change.description for change in changed if not change.is_whole},
        )
        lines += _table(
            wording.not_counted(),
            {entry.column: f"{entry.unique} of {self.records} records" for entry in self.not_counted},
        )
        return "\n".join(lines + [f"note: {note}" for note in self.notes])


def _table(title: str, by_column: Mapping[str, str]) -> list[str]:
    """A title and a line for each column; nothing if there is no column."""
    names = [wording.visible(column) for column in by_column]
    wide = max(map(len, names), default=0)
    lines = [f"  {name:<{wide}}  {text}" for name, text in zip(names, by_column.values(), strict=True)]
    return [title, *lines] if lines else []


def _plain(value: Any) -> Any:
    if isinstance(value, Finding):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return None  # a total beyond the range of doubles
    return value
