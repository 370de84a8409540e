"""What the verifier has found: counts, findings, the verdict. Names of columns and figures, no values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from html import escape
from itertools import islice
from typing import Any, Literal

from microagg import wording
from microagg.errors import UnsafeRelease

Action = Literal["refuse", "decide", "accepted", "note"]

SourceReading = Literal["other code", "same library", "in memory", "standard input", "trial"]
"""How the source was read a second time, to be compared with what was read at first: by other code; not by
other code, for there is none; not at all, for it was given in memory, cannot be read twice, or nothing is
to be released.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that users should know about a release or its source.

    `rule` is the name of a sentence in `wording/findings.py`, which shows columns and figures. `refuse`:
    nothing is released. `decide`: nothing is released unless the user accepts it by the rule's name;
    `accepted`: that was done. `cause`: what is behind it, in a release that was verified earlier.
    """

    rule: str
    action: Action
    columns: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    cause: Literal["first finding", "unknown"] | None = None

    @property
    def name(self) -> str:
        """As users name the rule when they accept it."""
        return self.rule.replace("_", "-")

    @property
    def message(self) -> wording.Message:
        return wording.sentence(self.rule, self.columns, self.figures, self.action, cause=self.cause)

    def __str__(self) -> str:
        return str(self.message)


def refuse(rule: str, *columns: str, **figures: Any) -> Finding:
    """A finding that forbids the release."""
    return Finding(rule, "refuse", columns, figures)


def decide(rule: str, *columns: str, **figures: Any) -> Finding:
    """A finding that forbids the release unless the user accepts it."""
    return Finding(rule, "decide", columns, figures)


def note(rule: str, *columns: str, **figures: Any) -> Finding:
    """A finding that users should know of."""
    return Finding(rule, "note", columns, figures)


def unsafe_release(
    findings: Sequence[Finding], attempts: int = 1, verdict: Verdict | None = None
) -> UnsafeRelease:
    """The exception for findings that forbid a release, after so many attempts to find other groups."""
    messages = [
        wording.sentence(each.rule, each.columns, each.figures, each.action, retried=attempts > 1)
        for each in findings
    ]
    undecided = all(each.action == "decide" for each in findings)
    error = wording.nothing_released_because(messages, attempts, undecided)
    error.findings, error.verdict = tuple(findings), verdict
    return error


def unsafe_file(findings: Sequence[Finding]) -> UnsafeRelease:
    """The exception for findings that forbid to release a file that was assessed."""
    error = wording.file_refused_because([each.message for each in findings])
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


@dataclass(frozen=True, slots=True)
class Respondents:
    """How many respondents share the combinations of keys and strata."""

    column: str
    """That says whose record it is."""
    smallest: int
    """Respondents of the combination that the fewest share."""
    classes: int
    """Combinations."""
    below: int
    """Combinations shared by fewer than k respondents."""
    alone: int
    """Combinations of one respondent."""
    by_shape: bool = False
    """The column was not named, and was recognised by its values alone."""


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
class CategoryChanges:
    """What masking did to the categories of keys, ordered ones included; missing is one of them."""

    columns: tuple[str, ...]
    combinations: int
    """Different ones of these columns in the release."""
    new: int
    """Those of them that no record of the source has."""
    new_records: int
    """Released records that have one of these."""
    margins: Mapping[str, float]
    """By column, how far its shares moved: half of the sum of their changes (total variation), from 0 to 1;
    weighted if there are weights.
    """
    unchanged: int
    """Released cells that have their own category."""
    cells: int
    two_way: float | None = None
    """The mean total variation distance of the tables of any two keys and confidential columns, where these
    are to be kept; from 0 to 1.
    """
    two_way_of_middles: float = 0.0
    """The same if each class published means, median levels and modes."""
    effective_records: float = 1.0
    """So many records of equal weight would give tables as exact as the weighted ones are."""
    not_in_source: int = 0
    """Combinations of a subset that no record of the source has, where groups publish existing ones."""


@dataclass(frozen=True, slots=True)
class NotCounted:
    """A released column for which nothing is claimed."""

    column: str
    unique: int
    """Records that are unique with it, but not by strata and keys alone."""
    confidential: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What a release has otherwise than its source."""

    masked: tuple[str, ...] = ()
    """Columns whose values are those of a group."""
    aggregate: str = "mean"
    """What a group publishes."""
    clipped: bool = False
    """Whether numbers were moved into the source's range after that."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Of columns that hold no numbers: date, ordinal, nominal, or taxonomy."""
    categories: str = "mode"
    """Which categories a group publishes."""
    near_means: tuple[str, ...] = ()
    """Columns whose numbers are near the means of groups, so that tables are kept."""
    noised: tuple[str, ...] = ()
    recoded: Mapping[str, int] = field(default_factory=dict)
    """By stratum column: records that have another code than in the source."""
    set_to_missing: Mapping[str, int] = field(default_factory=dict)
    """By column."""
    left_out: int = 0
    """Records of the source that are not released."""
    dropped: int = 0
    """Columns of the source that are not released."""
    shuffled: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a recount of a release has found. It holds counts and names of columns, no values."""

    k: int
    findings: tuple[Finding, ...] = ()
    """In the order of the rules."""
    records: int = 0
    subsets: tuple[Count, ...] = ()
    """By key subset, strata included. Empty if nothing could be counted."""
    joint: Count | None = None
    """Strata and the keys of all subsets, where there are several."""
    own_subsets: tuple[Count, ...] = ()
    respondents: Respondents | None = None
    """None: every record counts as a respondent of its own."""
    changes: Changes = field(default_factory=lambda: Changes())
    mean_changes: tuple[MeanChange, ...] = ()
    category_changes: CategoryChanges | None = None
    """None: no key holds categories."""
    not_counted: tuple[NotCounted, ...] = ()
    """Those that make most records unique first."""
    unique: int = 0
    """Records unique by keys, strata and all columns released unchanged, but for confidential ones."""
    unique_with_confidential: int = 0
    """The same with confidential columns that are released."""
    source_reading: SourceReading = "in memory"

    def by_action(self, *actions: Action) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.action in actions)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """What forbids the release."""
        return self.by_action("refuse")

    @property
    def to_decide(self) -> tuple[Finding, ...]:
        """What forbids the release until it is accepted."""
        return self.by_action("decide")

    @property
    def accepted(self) -> tuple[Finding, ...]:
        """What the user accepts."""
        return self.by_action("accepted")

    @property
    def notes(self) -> tuple[Finding, ...]:
        return self.by_action("note")

    @property
    def safe(self) -> bool:
        """Nothing forbids the release, and no decision is open."""
        return not self.failures and not self.to_decide

    @property
    def suppressed(self) -> int:
        """Records of the source that are not released."""
        return self.changes.left_out

    @property
    def sentence(self) -> str:
        """What is known about k."""
        if not self.subsets:
            return wording.not_recounted() if self.failures else wording.not_counted_yet()
        worst = min(self.subsets, key=lambda count: count.smallest)
        if worst.smallest < self.k:
            return wording.not_k_anonymous(worst.columns, self.k, worst.below, worst.smallest)
        if self.joint is not None and self.joint.smallest < self.k:
            return wording.partly_k_anonymous(self.joint.unique)
        together = self.joint or worst
        if self.respondents is not None and self.respondents.below == 0:
            return wording.k_respondents(together.columns, self.k, self.respondents.smallest)
        return wording.k_anonymous(together.columns, self.k, together.smallest)

    @property
    def not_protected(self) -> str:
        """For how many columns nothing is promised, and what they allow together."""
        if not self.subsets:
            return wording.not_counted_yet()
        others = [each for each in self.not_counted if not each.confidential]
        return wording.not_protected_columns(
            len(others),
            self.unique,
            len(self.not_counted) - len(others),
            self.unique_with_confidential,
            self.records,
        )

    @property
    def changed(self) -> str:
        """What the release has otherwise than its source."""
        if not self.subsets:
            return wording.not_counted_yet()
        return wording.what_changed(
            **{each.name: getattr(self.changes, each.name) for each in fields(self.changes)}
        )

    @property
    def summary(self) -> tuple[str, str, str]:
        """What holds, what does not, what was changed."""
        head = "verified" if self.safe else "decision needed" if not self.failures else "REFUSED"
        return (
            f"{head}: {self.sentence}",
            f"not protected: {self.not_protected}",
            f"changed: {self.changed}",
        )

    def raise_if_unsafe(self, attempts: int = 1) -> None:
        """`UnsafeRelease` with everything that forbids the release, if there is something."""
        if not self.safe:
            raise unsafe_release([*self.failures, *self.to_decide], attempts, self)

    def as_dict(self) -> dict[str, Any]:
        """For a record in JSON: names, numbers, sentences, lists."""
        counted = ("records", "subsets", "joint", "own_subsets", "respondents")
        changes = ("mean_changes", "category_changes")
        return {
            "safe": self.safe,
            "k": self.k,
            "summary": list(self.summary),
            "sentence": self.sentence,
            "counted": {name: _plain(getattr(self, name)) for name in (*counted, *changes)},
            "refused": _plain(self.failures),
            "to_decide": _plain(self.to_decide),
            "accepted": _plain(self.accepted),
            "not_protected": {
                "sentence": self.not_protected,
                "unique": self.unique,
                "unique_with_confidential": self.unique_with_confidential,
                "columns": _plain(self.not_counted),
            },
            "changed": {"sentence": self.changed, **_plain(self.changes)},
            "notes": _plain(self.notes),
            "source_reading": {
                "second": self.source_reading,
                "sentence": wording.second_reading(self.source_reading),
            },
        }

    def __str__(self) -> str:
        lines = [*self.summary, *(f"  - {each}" for each in (*self.failures, *self.to_decide))]
        lines += self._means()
        lines += lines_by_column(
            wording.not_counted(),
            {entry.column: f"{entry.unique:,} of {self.records:,} records" for entry in self.not_counted},
        )
        lines += [f"accepted: {each}" for each in self.accepted]
        # What is unique stands in the summary already.
        return "\n".join(lines + [f"note: {each}" for each in self.notes if each.rule != "unique"])

    def _repr_html_(self) -> str:
        """For notebooks: what holds, what does not, what was changed, then all findings."""
        lines = "".join(f"<p>{escape(each)}</p>" for each in self.summary)
        titles = {
            "Refused": self.failures,
            "To decide": self.to_decide,
            "Accepted": self.accepted,
            "Notes": self.notes,
        }
        for title, findings in titles.items():
            items = "".join(f"<li>{escape(wording.visible(str(each)))}</li>" for each in findings)
            lines += f"<p><b>{title}</b></p><ul>{items}</ul>" if items else ""
        return f"<div>{lines}</div>"

    def _means(self) -> list[str]:
        """What became of the means of masked columns."""
        same = [change.column for change in self.mean_changes if change.is_unchanged]
        changed = [change for change in self.mean_changes if not change.is_unchanged]
        lines = [f"means kept: {', '.join(map(wording.visible, same))}"] if same else []
        for title, promised in ("means kept but for rounding:", True), ("means changed:", False):
            by_column = {
                change.column: wording.mean_by(change.mean, change.relative)
                for change in changed
                if change.is_whole and (change.tolerance is not None) == promised
            }
            lines += lines_by_column(title, by_column)
        partly = {change.column: change.description for change in changed if not change.is_whole}
        return lines + lines_by_column(wording.means_without_some(), partly)


MOST_LINES = 8
"""Of a longer list, so many lines are shown, and how many more there are."""


def lines_by_column(title: str, by_column: Mapping[str, str]) -> list[str]:
    """A title and a line for each of the first columns; nothing if there is no column."""
    shown = dict(islice(by_column.items(), MOST_LINES))
    names = [wording.visible(column) for column in shown]
    wide = max(map(len, names), default=0)
    lines = [f"  {name:<{wide}}  {text}" for name, text in zip(names, shown.values(), strict=True)]
    if len(by_column) > len(shown):
        lines.append(f"  and {len(by_column) - len(shown):,} more")
    return [title, *lines] if lines else []


def _plain(value: Any) -> Any:
    if isinstance(value, Finding):
        return {"rule": value.name, "columns": list(value.columns), "sentence": str(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return None  # a total beyond the range of doubles
    return value
