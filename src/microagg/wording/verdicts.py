"""Sentences of a verdict about k and about means, and how a refused release is reported."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from microagg.errors import DecisionNeeded, UnsafeRelease
from microagg.wording import findings
from microagg.wording.message import Message
from microagg.wording.phrases import count, some_names
from microagg.wording.template import text


def sentence(
    rule: str, columns: Sequence[str], figures: Mapping[str, Any], action: str, retried: bool = False
) -> Message:
    """The sentence of a finding; `retried`: other groups have been tried already."""
    made = getattr(findings, rule)
    if isinstance(made, findings.Decision):
        figures = {**figures, "rule": rule, "action": action, "retried": retried}
    return Message(made(columns, **figures), rule)


def unsafe_release(reasons: Sequence[Message], attempts: int, undecided: bool) -> UnsafeRelease:
    """`undecided`: each reason can be accepted."""
    kind = DecisionNeeded if undecided else UnsafeRelease
    nothing = "Nothing is released before this is decided" if undecided else "Nothing is released"
    if attempts > 1:
        nothing += f", after {attempts} attempts with other seeds and methods"
    if len(reasons) == 1:
        return kind(Message(f"{nothing}. {reasons[0].text}"))
    return kind(Message("\n- ".join([f"{nothing}:", *(reason.text for reason in reasons)])))


def unsafe_file(reasons: Sequence[Message]) -> UnsafeRelease:
    return UnsafeRelease(" ".join(reason.text for reason in reasons))


k_anonymous = text("columns", "k", "smallest")(
    "at least {k} records share every combination of {columns:some} (smallest {smallest})"
)
k_respondents = text("columns", "k", "smallest")("""
    at least {k} respondents share every combination of {columns:some} (smallest {smallest})""")
not_k_anonymous = text("columns", "k", "below", "smallest")("""
    NOT k-anonymous ({below:record} {below:is|are} in combinations of {columns:some} shared by fewer than
    {k}, smallest {smallest})""")
partly_k_anonymous = text("unique")("k-anonymous per subset, NOT jointly ({unique:record} unique)")
not_counted_yet = text()("nothing was counted yet")
not_recounted = text()("NOT verified (the released table does not fit its source)")
not_counted = text()("released without protection; each, added to the keys, makes unique:")


def not_protected_columns(
    others: int, unique: int, confidential: int, unique_with_confidential: int, of: int
) -> str:
    """`others` columns are released unchanged, and `confidential` ones; so many records are unique with
    the first, and with both.
    """
    if not others and not confidential:
        return "nothing; all released columns are counted"
    parts = []
    if others:
        parts.append(
            f"nothing is promised for {count(others, 'other column')}; with "
            f"{'it' if others == 1 else 'them'} {unique:,} of {of:,} records "
            f"{'is' if unique == 1 else 'are'} unique"
        )
    if confidential:
        parts.append(
            f"{count(confidential, 'confidential column')} {'is' if confidential == 1 else 'are'} released "
            f"unchanged; who knows {'its' if confidential == 1 else 'their'} values finds "
            f"{unique_with_confidential:,} of {of:,} records"
        )
    return "; ".join(parts)


def what_changed(
    masked: Sequence[str],
    aggregate: str,
    noised: Sequence[str],
    merged: int,
    set_to_missing: Mapping[str, int],
    left_out: int,
    dropped: int,
    shuffled: bool,
) -> str:
    """What a release has otherwise than its source; the fields are those of `Changes`."""
    published = "median" if aggregate == "median" else "mean"
    verb = f"is the {published} of its group" if len(masked) == 1 else f"are {published}s of groups"
    parts = [f"{some_names(masked)} {verb}"] if masked else []
    if noised:
        parts.append(f"noise was added to {some_names(noised)}")
    if missing := sum(set_to_missing.values()):
        parts.append(f"{count(missing, 'value')} set to missing")
    if merged:
        parts.append(f"{count(merged, 'record')} in merged strata")
    if left_out:
        parts.append(f"{count(left_out, 'record')} left out")
    if dropped:
        parts.append(f"{count(dropped, 'column')} left out")
    if shuffled:
        parts.append("records are in random order")
    return "; ".join(parts) or "nothing"


def mean_by(change: float, share: float) -> str:
    percent = f"{100 * share:+.2g} %" if abs(share) >= 1e-5 else "less than 0.001 %"
    return f"by {change:+.3g} ({percent})"


mean_kept = text()("kept")
mean_kept_but_for_rounding = text()("kept but for rounding")


def mean_changed(change: float, share: float) -> str:
    return f"changed {mean_by(change, share)}"


def moved_by(change: float, share: float | None) -> str:
    if not math.isfinite(change):
        return "not known"
    if change == 0.0:
        return "the same"
    way = "higher" if change > 0.0 else "lower"
    if share is None or not math.isfinite(share):
        return f"{way} by {abs(change):.3g}"
    percent = 100.0 * abs(share)
    if percent < 1e-3:
        return f"less than 0.001 % {way}"
    return f"{percent:,.0f} % {way}" if percent >= 100.0 else f"{percent:.2g} % {way}"


means_without_some = text()("means of columns with values set to missing or left out:")


def mean_of_the_rest(of_cells: str, cells: int, set_to_missing: int, left_out: int, moved: str) -> str:
    lost = [f"the {set_to_missing:,} set to missing"] if set_to_missing else []
    lost += [f"the {left_out:,} of records left out"] if left_out else []
    if not cells:
        return f"no value is released, with {' and '.join(lost)}"
    released = f"{cells:,} released {'cell' if cells == 1 else 'cells'}"
    return f"{of_cells} over the {released}; with {' and '.join(lost)} the column's mean is {moved}"


stopped_before_this = text()("the run was stopped before it had groups for these records")
finishing_quickly = text()("quick groups for the rest")
stratum_of = text("number", "of")("stratum {number:,} of {of:,}")
part_of = text("number", "of")("part {number:,} of {of:,}")


_SECOND_READINGS = {
    "other code": "the source was read twice, the second time by other code, with the same result",
    "same library": "the source was read by the same library that the verdict relies on",
    "in memory": "the source was given in memory: there is nothing to read a second time",
    "standard input": "the source came from standard input, which can be read only once",
    "trial": "the source was read once: this was a trial, of which nothing is released",
}


def verified_again() -> str:
    return "file and record agree: verified again"


def not_verified_again(file: str) -> UnsafeRelease:
    return UnsafeRelease(f"{file} does not hold what was verified. Do not release it.")


def second_reading(how: str) -> str:
    return _SECOND_READINGS[how]


class Step(StrEnum):
    """What a run does beside its search, as progress shows it."""

    READING = "reading the file"
    PREPARING = "preparing the records"
    READING_AGAIN = "reading the source a second time"
    MASKING = "computing what is published"
    VERIFYING = "verifying"
    WRITING = "writing the file"
    READING_BACK = "reading the written file"
    VERIFYING_FILE = "verifying the written file"
    REPORTING = "writing the reports"
