"""Sentences of a verdict about k and about means, and how a refused release is reported."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any

from microagg.errors import DecisionNeeded, UnsafeRelease
from microagg.wording import findings
from microagg.wording.message import Message
from microagg.wording.phrases import count, some_names
from microagg.wording.template import error, text


def sentence(
    rule: str,
    columns: Sequence[str],
    figures: Mapping[str, Any],
    action: str,
    retried: bool = False,
    cause: str | None = None,
) -> Message:
    """The sentence of a finding; `retried`: other groups have been tried already; `cause`: what is behind
    it, where the release was verified earlier.
    """
    made = getattr(findings, rule)
    figures = figures if cause is None else {**figures, "cause": cause}
    if isinstance(made, findings.Decision):
        figures = {**figures, "rule": rule, "action": action, "retried": retried}
    return Message(made(columns, **figures), rule)


def nothing_released_because(reasons: Sequence[Message], attempts: int, undecided: bool) -> UnsafeRelease:
    """`undecided`: each reason can be accepted."""
    kind = DecisionNeeded if undecided else UnsafeRelease
    nothing = "Nothing is released before this is decided" if undecided else "Nothing is released"
    if attempts > 1:
        nothing += f", after {attempts} attempts with other seeds and methods"
    if len(reasons) == 1:
        return kind(Message(f"{nothing}. {reasons[0].text}"))
    return kind(Message("\n- ".join([f"{nothing}:", *(reason.text for reason in reasons)])))


def file_refused_because(reasons: Sequence[Message]) -> UnsafeRelease:
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


_PUBLISHED_CATEGORIES = {
    "ordinal": "median level",
    "nominal": "most frequent category",
    "taxonomy": "category nearest to all",
}
_PLURAL = {
    "most frequent category": "the most frequent categories",
    "category nearest to all": "the categories nearest to all",
}
_KEPT = {
    "margins": "chosen so that categories stay as frequent as they are",
    "tables": "chosen so that tables of two columns are kept",
}
_MOVED = ", moved by one linear map so that means, variances and correlations are kept"
_MOVED_AND_CLIPPED = ", moved by one linear map towards the source's covariances and clipped to its range"


def what_changed(
    masked: Sequence[str],
    aggregate: str,
    clipped: bool,
    kinds: Mapping[str, str],
    categories: str,
    near_means: Sequence[str],
    noised: Sequence[str],
    recoded: Mapping[str, int],
    set_to_missing: Mapping[str, int],
    left_out: int,
    dropped: int,
    shuffled: bool,
) -> str:
    """What a release has otherwise than its source; the fields are those of `Changes`."""
    middle = "median" if aggregate == "median" else "mean"
    published = {"number": middle, "date": f"{middle} date"}
    if categories == "mode":
        published |= _PUBLISHED_CATEGORIES
    parts = []
    for kind, what in published.items():
        columns = [name for name in masked if kinds.get(name, "number") == kind and name not in near_means]
        if columns:
            verb = (
                f"is the {what} of its group"
                if len(columns) == 1
                else f"are {_PLURAL.get(what, f'{what}s')} of groups"
            )
            parts.append(f"{some_names(columns)} {verb}")
            if kind == "number" and aggregate == "covariances":
                parts[-1] += _MOVED_AND_CLIPPED if clipped else _MOVED
    chosen = [name for name in masked if kinds.get(name) in _PUBLISHED_CATEGORIES]
    if chosen and categories != "mode":
        others = [name for name in masked if name not in (*chosen, *near_means)]
        parts.append(_chosen(chosen, near_means, others, categories))
    if noised:
        parts.append(f"noise was added to {some_names(noised)}")
    if missing := sum(set_to_missing.values()):
        parts.append(f"{count(missing, 'value')} set to missing")
    if changed := sum(recoded.values()):
        parts.append(f"{count(changed, 'code')} of strata changed")
    if left_out:
        parts.append(f"{count(left_out, 'record')} left out")
    if dropped:
        parts.append(f"{count(dropped, 'column')} left out")
    if shuffled:
        parts.append("records are in random order")
    return "; ".join(parts) or "nothing"


def _chosen(
    columns: Sequence[str], near_means: Sequence[str], others: Sequence[str], categories: str
) -> str:
    """What groups publish instead of their most frequent categories, the numbers that follow, and others
    that do not.
    """
    one = len(columns) == 1
    if categories == "existing":
        what = "is the nearest category" if one else "are the nearest combinations"
        return f"{some_names(columns)} {what} that the source has"
    chosen = f"{some_names(columns)} {'is a category of its group' if one else 'are categories of groups'}"
    if near_means:
        what = "is near the mean of its group" if len(near_means) == 1 else "are near the means of groups"
        chosen = f"{some_names(near_means)} {what}, and {chosen}"
    left = f", but for those of {some_names(others)}" if others and categories == "tables" else ""
    return f"{chosen}, {_KEPT[categories]}{left}"


def mean_by(change: float, share: float) -> str:
    percent = f"{100 * share:+.2g} %" if abs(share) >= 1e-5 else "less than 0.001 %"
    return f"by {change:+.3g} ({percent})"


losses_of_columns = text()("loss by column:")
SHOWN_RECIPES = 3
"""Of more recipes than these only the number is shown."""


def groups_of_subsets(groups: int, subsets: int, k: int) -> str:
    """How many groups there are, over how many subsets of columns, and k."""
    return f"{count(groups, 'group')}{f' over {subsets} subsets' if subsets > 1 else ''} (k = {k})"


def recipes_used(recipes: Collection[str]) -> str:
    return " and ".join(sorted(recipes)) if len(recipes) <= SHOWN_RECIPES else f"{len(recipes)} recipes"


of_what_is_published = text()(" for what is published")


def loss_of_column(
    percent: float, changed: float | None, levels: float | None, distance: float | None
) -> str:
    change = change_of_column(changed, levels, distance)
    return f"{percent:.4f} %, {change}" if change else f"{percent:.4f} %"


def change_of_column(changed: float | None, levels: float | None, distance: float | None) -> str:
    """`changed`: the share of cells with another category; `levels`: the mean change of level; `distance`:
    the mean distance in a taxonomy.
    """
    if distance is not None:
        return f"{100.0 * distance:.2f} % of the taxonomy's levels changed"
    if changed is not None:
        return f"{100.0 * changed:.2f} % of the cells changed"
    return "" if levels is None else f"changed by {levels:.3g} levels on average"


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


verified_again = text()("file and record agree: verified again")
not_verified_again = error(UnsafeRelease, "file")("""
    {file} does not hold what was verified. Do not release it.""")


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
