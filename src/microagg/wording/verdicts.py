"""What a verdict says: failures, and notes on a release that is safe."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from microagg.errors import UnsafeRelease
from microagg.wording.phrases import counted, joined, quoted, records_are


def unsafe_release(failures: Sequence[str]) -> UnsafeRelease:
    """All that a recount has found."""
    if len(failures) == 1:
        return UnsafeRelease(f"Nothing is released. {failures[0]}")
    return UnsafeRelease("\n- ".join(["Nothing is released:", *failures]))


RETRY = "other groups (--retry), "
"""A remedy that is not named again when it has been tried."""

_BUG = "This is a bug in microagg; please report it with the settings."


def k_anonymous(columns: Sequence[str], k: int, smallest: int) -> str:
    """What is promised holds."""
    return (
        f"every released combination of {joined(columns)} is shared by at least {k} records "
        f"(smallest {smallest})"
    )


def not_k_anonymous(columns: Sequence[str], k: int, below: int, smallest: int) -> str:
    """Not even subset by subset."""
    return (
        f"NOT k-anonymous ({records_are(below)} in combinations of {joined(columns)} "
        f"shared by fewer than {k}, smallest {smallest})"
    )


def partly_k_anonymous(unique: int) -> str:
    """By each subset alone, but not by all of them together."""
    return f"k-anonymous per subset, NOT jointly ({unique} records unique)"


def not_counted() -> str:
    """The title of the columns that are no keys."""
    return "not counted: nothing is claimed for these columns; each, added to the keys, would make unique:"


def not_recounted() -> str:
    """Rows or columns are such that there is nothing to count."""
    return "NOT verified (the released table does not fit its source)"


def combination_too_rare(columns: Sequence[str], k: int, classes: int, below: int, smallest: int) -> str:
    """A subset is not k-anonymous."""
    return (
        f"{records_are(below)} in combinations of {joined(columns)} that fewer than {k} records share "
        f"(of {counted(classes, 'combination')} the rarest has {smallest}). {_BUG}"
    )


def partial_not_accepted(k: int, unique: int, below: int) -> str:
    """Several subsets link records that none of them gives away."""
    return (
        f"The release is {partly_k_anonymous(unique)}: {records_are(below)} in joint combinations of "
        f"all subsets that fewer than {k} records share. Mask the keys as one subset (--keys once), or "
        "accept this with --accept-partial."
    )


def homogeneous_groups(
    column: str,
    keys: Sequence[str],
    groups: int,
    records: int,
    least: int,
    masked: bool = False,
    spellings: bool = False,
) -> str:
    """Who knows the keys knows the confidential value, or the mean in its place."""
    alike = f" Texts that differ only in {_SPELLING} count as one value." if spellings else ""
    has = ", as masked, has" if masked else " has"
    return (
        f"Confidential column '{column}'{has} fewer than {least} different values in "
        f"{counted(groups, 'group')} of {joined(keys)}, with {counted(records, 'record')}: the group gives "
        f"the value away. Try {RETRY}a larger k{', a smaller --min-distinct' if least > 2 else ''}, or "
        f"accept this with --accept-homogeneous.{alike}"
    )


_SPELLING = "capitals, blanks, signs without width or the form of their letters"


def note_spellings(column: str, texts: int, values: int) -> str:
    """What is written differently need not be different."""
    return (
        f"{texts} different texts of {column} are {counted(values, 'different value')}: those that differ "
        f"only in {_SPELLING} count as one (--min-distinct)"
    )


def dominant_weights(column: str, keys: Sequence[str], groups: int) -> str:
    """One record is nearly all of its group's weighted mean."""
    return (
        f"In {counted(groups, 'group')} of {joined(keys)} one record carries more than half of the weight "
        f"'{column}', so that the weighted mean is nearly its own value. Try {RETRY}a larger k, or leave "
        "--weight out."
    )


def weights_unusable(column: str, count: int) -> str:
    """Missing, not finite, zero or negative."""
    return (
        f"Weight '{column}' of {counted(count, 'released record')} is missing or not a finite number above "
        "zero. Correct or remove these records, or leave --weight out."
    )


def mean_not_kept(column: str, change: float, tolerance: float) -> str:
    """The mean moved further than promised."""
    return (
        f"The mean of '{column}' changes by {change:.6g}, but at most {tolerance:.6g} was promised. {_BUG}"
    )


def mean_by(change: float, share: float) -> str:
    """How far a mean moved."""
    percent = f"{100 * share:+.2g} %" if abs(share) >= 1e-5 else "less than 0.001 %"
    return f"by {change:+.3g} ({percent})"


def mean_kept() -> str:
    """Of the released cells."""
    return "kept"


def mean_kept_but_for_rounding() -> str:
    """Of the released cells."""
    return "kept but for rounding"


def mean_changed(change: float, share: float) -> str:
    """Of the released cells."""
    return f"changed {mean_by(change, share)}"


def moved_by(change: float, share: float | None) -> str:
    """How far a column's mean moved, for people."""
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
    """The title of what became of means where values are missing that the source has."""
    return "means of columns with values set to missing or left out:"


def mean_of_the_rest(of_cells: str, cells: int, set_to_missing: int, left_out: int, moved: str) -> str:
    """The mean over what is released, and what the values that are not released did to the column's."""
    lost = [f"the {set_to_missing:,} set to missing"] if set_to_missing else []
    lost += [f"the {left_out:,} of records left out"] if left_out else []
    if not cells:
        return f"no value is released, with {' and '.join(lost)}"
    released = f"{cells:,} released {'cell' if cells == 1 else 'cells'}"
    return f"{of_cells} over the {released}; with {' and '.join(lost)} the column's mean is {moved}"


def not_the_mean(column: str, groups: int) -> str:
    """A group publishes something else than was promised."""
    publish = "publishes" if groups == 1 else "publish"
    return (
        f"{counted(groups, 'group')} {publish} in '{column}' something other than the mean of its records. "
        f"{_BUG}"
    )


def claims_unusable(what: str) -> str:
    """The promise itself makes no sense."""
    return f"What the release promises cannot be checked: {what}. {_BUG}"


def released_columns_differ(
    missing: Sequence[str], added: Sequence[str], dropped: Sequence[str], where: str
) -> str:
    """Not the source's columns less the dropped ones, in their order."""
    found = [f"lacks {quoted(missing)}"] if missing else []
    found += [f"has {quoted(added)} besides"] if added else []
    found += [f"still has {quoted(dropped)}, to be dropped"] if dropped else []
    found = found or ["has the columns in another order, or one of them twice"]
    return f"The {where} {' and '.join(found)}. {_BUG}"


def released_rows_differ(what: str) -> str:
    """The records are not those of the source, each once at most."""
    return f"The released records do not fit the source: {what}. {_BUG}"


def nothing_released() -> str:
    """Every record was suppressed."""
    return (
        "No record is left to release. Use a smaller k, fewer strata, or merge small strata "
        "(--small-strata merge) instead of suppressing them."
    )


def column_changed(column: str, count: int) -> str:
    """Something that was to stay as it is did not."""
    return f"Column '{column}' was to stay as it is, but {records_are(count)} changed. {_BUG}"


def column_retyped(column: str, found: str, needed: str) -> str:
    """The values may be the same, but not their type."""
    return f"Column '{column}' was to stay as it is, but is released as {found}, not {needed}. {_BUG}"


def strata_split(columns: Sequence[str], count: int) -> str:
    """Records of one stratum have different codes."""
    strata = f"{count} {'stratum' if count == 1 else 'strata'}"
    return f"Merging strata of {joined(columns)} has split {strata}. {_BUG}"


def not_a_number(column: str, count: int) -> str:
    """NaN or infinity, which no two records share."""
    return (
        f"Column '{column}' is released with NaN or infinity in {counted(count, 'record')}; "
        f"a missing value must be empty. {_BUG}"
    )


def masked_not_numeric(column: str, kind: str) -> str:
    """A masked column of another type."""
    return f"Column '{column}' was masked, but is {kind} and holds no numbers. {_BUG}"


def value_without_source(column: str, count: int) -> str:
    """A value where there was none."""
    return (
        f"Column '{column}' is released with a value where the source has none, in "
        f"{counted(count, 'record')}. {_BUG}"
    )


def missing_moved(column: str, count: int) -> str:
    """Noise changes values, not which of them are missing."""
    return (
        f"Noise was added to column '{column}', but {records_are(count)} missing in only one of source and "
        f"release. {_BUG}"
    )


def too_few_observed(column: str, k: int, count: int) -> str:
    """A mean over fewer than k values."""
    return (
        f"Column '{column}': the values of {counted(count, 'record')} rest on fewer than {k} observed "
        f"values. {_BUG}"
    )


def note_partial(below: int, k: int) -> str:
    """Accepted: records may be linked by several subsets."""
    return (
        f"accepted (--accept-partial): {records_are(below)} in joint combinations that fewer than {k} share"
    )


def note_homogeneous(column: str, keys: Sequence[str], groups: int, records: int) -> str:
    """Accepted: the keys give the value away."""
    return (
        f"accepted (--accept-homogeneous): too few different values of {column} in "
        f"{counted(groups, 'group')} of {joined(keys)}, with {counted(records, 'record')}"
    )


def note_noised(columns: Sequence[str]) -> str:
    """Noise is no k-anonymity."""
    return f"noise was added to {joined(columns)}: it blurs values, but gives no k-anonymity"


def note_noise_undone(column: str, count: int, of: int) -> str:
    """The noise is small beside the steps in which the source's values are written."""
    return (
        f"the noise of {column} is undone by rounding in {count} of {counted(of, 'record')}: the source's "
        "values have fewer decimals than it takes (more --noise helps)"
    )


def noise_undone(column: str, count: int, of: int) -> str:
    """The noise is so small that it hides hardly anything."""
    return (
        f"The noise of '{column}' is undone by rounding in {count} of {counted(of, 'record')}: the "
        "source's values have fewer decimals than it takes. Use more --noise, or mask the column as a "
        "subset of its own (--confidential-as subset)."
    )


def note_own_values(columns: Sequence[str], count: int) -> str:
    """A group of equal records, or a mean that is one of its values."""
    return f"{records_are(count)} released with exactly the source's values in {joined(columns)}"


def note_suppressed(count: int, of: int) -> str:
    """Records left out."""
    return f"{count} of {of} records are not released"


def note_merged(count: int) -> str:
    """Strata with fewer than k records share a code."""
    return f"{records_are(count)} in merged strata"


def note_given_up(k: int, lost: Mapping[str, int]) -> str:
    """Cells that are released as missing although the source has them, by column."""
    cells = ", ".join(f"{count} of {column}" for column, count in lost.items())
    return f"values given up, so that each pattern of missing values has {k} records: {cells}"


def note_mixed_zeros(count: int) -> str:
    """Zeros that could not be kept apart."""
    return f"{counted(count, 'record')} with rare patterns of zeros are grouped with other patterns"


def note_medians() -> str:
    """What medians do not do."""
    return "medians are published: means and totals are not kept, and values may be respondents' own"


def note_order() -> str:
    """The place of a record is information too."""
    return "records are in the order of the source, which may tell who is who (--shuffle changes it)"


def note_pairs() -> str:
    """Accepted: k is 2."""
    return "accepted (--allow-pairs): each member of a group of two can compute the other's values"


def note_retried(attempts: int) -> str:
    """Not the first groups, which had the lowest loss."""
    return f"these groups were found in attempt {attempts} of retry"


def note_recomputable(column: str, others: Sequence[str]) -> str:
    """A sum that holds in every record gives back what was masked."""
    return (
        f"{column} can be computed again from {joined(others)}, which are released as they are: a sum of "
        "these columns holds in every record. Mask them together, or drop some"
    )


def note_copy(column: str, copy: str) -> str:
    """A column that was masked, and one with the same values that was not."""
    return f"{column} was masked, but {copy} has the same values in every record and is released as it is"


def note_cut_short() -> str:
    """The clock decided."""
    return "the search was cut short by the clock: the groups may differ when the run is repeated"


def note_stopped() -> str:
    """The user decided."""
    return "the run was stopped early, with the best groups so far: a whole run may find others"


def stopped_before_this() -> str:
    """Why a stratum has the groups of a quick method."""
    return "the run was stopped before it had groups for these records"


def finishing_quickly() -> str:
    """What a stopped run does for the records that it had no groups for."""
    return "quick groups for the rest"


def stratum_of(number: int, of: int) -> str:
    """Where a run is."""
    return f"stratum {number:,} of {of:,}"


def part_of(number: int, of: int) -> str:
    """Where a run is that has subsets or patterns of missing values."""
    return f"part {number:,} of {of:,}"


def note_worse_than_mdav(loss: float, mdav: float) -> str:
    """A plain method would have done better."""
    return f"MDAV would lose less: {mdav:.4g} % instead of {loss:.4g} %"


def written_differs(column: str) -> str:
    """The file does not say what was verified."""
    return (
        f"Column '{column}' reads differently from the written file than it was verified. Choose another "
        "format, such as Parquet or CSV; if it is one of these, please report it."
    )


def written_categories(column: str) -> str:
    """The codes tell records apart that have the same value."""
    return f"The categories of column '{column}' repeat or are null in the written file. {_BUG}"


def written_unreadable() -> str:
    """Not even the reader of the same format takes it."""
    return (
        "The written file cannot be read again. Choose another format, such as Parquet or CSV; if it is "
        "one of these, please report it."
    )


def written_rows_differ(found: int, needed: int) -> str:
    """Records were lost or added in writing."""
    return f"The written file has {counted(found, 'record')}, the release {needed}. {_BUG}"


def written_more_unique(found: int, verified: int) -> str:
    """Equal values were written differently."""
    return (
        f"In the written file {records_are(found)} unique by the keys of all subsets, but {verified} as "
        f"verified. {_BUG}"
    )
