"""Sentences of a verdict about k and about means, and how a refused release is reported."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from microagg.errors import UnsafeRelease
from microagg.wording import findings
from microagg.wording.message import Message
from microagg.wording.phrases import and_list, count, records_are


def sentence(
    rule: str, columns: Sequence[str], figures: Mapping[str, Any], retried: bool = False
) -> Message:
    """The sentence of a finding; `retried`: other groups have been tried already."""
    if retried and rule in findings.SETTLED_BY_RETRY:
        figures = {**figures, "retried": True}
    return Message(getattr(findings, rule)(columns, **figures), rule)


def unsafe_release(reasons: Sequence[Message], attempts: int = 1) -> UnsafeRelease:
    nothing = "Nothing is released"
    if attempts > 1:
        nothing += f", after {attempts} attempts with other seeds and methods"
    if len(reasons) == 1:
        return UnsafeRelease(f"{nothing}. {reasons[0].text}")
    return UnsafeRelease("\n- ".join([f"{nothing}:", *(reason.text for reason in reasons)]))


def unsafe_file(reasons: Sequence[Message]) -> UnsafeRelease:
    return UnsafeRelease(" ".join(reason.text for reason in reasons))


def k_anonymous(columns: Sequence[str], k: int, smallest: int) -> str:
    return (
        f"every released combination of {and_list(columns)} is shared by at least {k} records "
        f"(smallest {smallest})"
    )


def not_k_anonymous(columns: Sequence[str], k: int, below: int, smallest: int) -> str:
    return (
        f"NOT k-anonymous ({records_are(below)} in combinations of {and_list(columns)} "
        f"shared by fewer than {k}, smallest {smallest})"
    )


def partly_k_anonymous(unique: int) -> str:
    return f"k-anonymous per subset, NOT jointly ({count(unique, 'record')} unique)"


def not_recounted() -> str:
    return "NOT verified (the released table does not fit its source)"


def not_counted() -> str:
    return "not counted: nothing is claimed for these columns; each, added to the keys, would make unique:"


def mean_by(change: float, share: float) -> str:
    percent = f"{100 * share:+.2g} %" if abs(share) >= 1e-5 else "less than 0.001 %"
    return f"by {change:+.3g} ({percent})"


def mean_kept() -> str:
    return "kept"


def mean_kept_but_for_rounding() -> str:
    return "kept but for rounding"


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


def means_without_some() -> str:
    return "means of columns with values set to missing or left out:"


def mean_of_the_rest(of_cells: str, cells: int, set_to_missing: int, left_out: int, moved: str) -> str:
    lost = [f"the {set_to_missing:,} set to missing"] if set_to_missing else []
    lost += [f"the {left_out:,} of records left out"] if left_out else []
    if not cells:
        return f"no value is released, with {' and '.join(lost)}"
    released = f"{cells:,} released {'cell' if cells == 1 else 'cells'}"
    return f"{of_cells} over the {released}; with {' and '.join(lost)} the column's mean is {moved}"


def stopped_before_this() -> str:
    return "the run was stopped before it had groups for these records"


def finishing_quickly() -> str:
    return "quick groups for the rest"


def stratum_of(number: int, of: int) -> str:
    return f"stratum {number:,} of {of:,}"


def part_of(number: int, of: int) -> str:
    return f"part {number:,} of {of:,}"
