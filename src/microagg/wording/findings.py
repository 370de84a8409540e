"""The sentence of each finding, by the name of its rule.

A sentence is given the finding's figures, its `columns`, and the first of them as `column`. Sentences of
findings that forbid a release end with what to do; those of notes follow "note:" and have no full stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from microagg.wording.message import use
from microagg.wording.phrases import and_list, count, hidden_parts, quoted
from microagg.wording.template import PHRASES, fill_in

SETTLED_BY_RETRY = frozenset({"homogeneous_groups", "dominant_weights"})
"""Rules whose sentences propose other groups, unless these have been tried: they take `retried`."""


class Sentence:
    """A template that is given columns and figures."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, columns: Sequence[str], **figures: Any) -> str:
        return fill_in(self.text, {"column": next(iter(columns), ""), "columns": columns, **figures})


# --- k ------------------------------------------------------------------------------------------

combination_too_rare = Sentence(
    "{below:record} {below:is|are} in combinations of {columns:and} that fewer than {k} records share "
    "(there {classes:is|are} {classes:combination}; the rarest has {smallest:record}). {BUG}"
)
partial_not_accepted = Sentence(
    "The release is k-anonymous per subset, NOT jointly ({unique:record} unique): {below:record} "
    "{below:is|are} in combinations of the keys of all subsets that fewer than {k} records share. Mask all "
    "keys together as one subset, or accept this with {--accept_partial true}."
)
partial_accepted = Sentence(
    "accepted ({--accept_partial true}): {below:record} {below:is|are} in combinations of the keys of all "
    "subsets that fewer than {k} records share"
)
pairs_accepted = Sentence(
    "accepted ({--allow_pairs true}): each member of a group of two can compute the other's values"
)


# --- confidential columns -----------------------------------------------------------------------


def homogeneous_groups(
    columns: Sequence[str],
    keys: Sequence[str],
    groups: int,
    records: int,
    least: int,
    masked: bool,
    spellings: bool,
    retried: bool = False,
) -> str:
    remedies = [] if retried else [f"other groups ({use('retry', True)})"]
    remedies += ["a larger k"]
    remedies += [f"a smaller {use('min_distinct')}"] if least > 2 else []
    alike = f" Texts that differ only in {PHRASES['SPELLING']} count as one value." if spellings else ""
    return (
        f"Confidential column '{columns[0]}'{', as masked,' if masked else ''} has fewer than {least} "
        f"different values in {count(groups, 'group')} of {and_list(keys)}, with "
        f"{count(records, 'record')}: whoever knows the group knows the value. "
        f"Try {', '.join(remedies)}, or accept this with {use('accept_homogeneous', True)}.{alike}"
    )


homogeneous_accepted = Sentence(
    "accepted ({--accept_homogeneous true}): too few different values of {column} in {groups:group} of "
    "{keys:and}, with {records:record}"
)
spellings_counted_as_one = Sentence(
    "{texts:different text} of {column} count as {values:different value} for {--min_distinct}: some "
    "differ only in {SPELLING}"
)


# --- weights ------------------------------------------------------------------------------------


def dominant_weights(
    columns: Sequence[str], keys: Sequence[str], groups: int, retried: bool = False
) -> str:
    other_groups = "" if retried else f"other groups ({use('retry', True)}), "
    return (
        f"In {count(groups, 'group')} of {and_list(keys)} one record has more than half of the weight "
        f"'{columns[0]}', so that the weighted mean is nearly that record's own value. Try {other_groups}"
        f"a larger k, or leave out {use('weight')}."
    )


weights_unusable = Sentence(
    "Weight '{column}' of {records:released record} is missing or not a finite number above zero. Correct "
    "or remove these records, or leave out {--weight}."
)

# --- values and means ---------------------------------------------------------------------------

mean_not_kept = Sentence(
    "The mean of '{column}' changes by {change:.6g}; a change of at most {tolerance:.6g} was promised. "
    "{BUG}"
)
not_the_mean = Sentence(
    "{groups:group} {groups:publishes|publish} something other than the mean of {groups:its|their} records "
    "in '{column}'. {BUG}"
)
not_a_number = Sentence(
    "Column '{column}' is released with NaN or infinity in {records:record}; a missing value must be "
    "empty. {BUG}"
)
masked_not_numeric = Sentence(
    "Column '{column}' was masked, but has the type {kind} and holds no numbers. {BUG}"
)
value_without_source = Sentence(
    "Column '{column}' is released with a value in {records:record} where the source has none. {BUG}"
)
too_few_observed = Sentence(
    "Column '{column}': the released values of {records:record} are means of fewer than {k} values. {BUG}"
)
own_values = Sentence(
    "{records:record} {records:is|are} released with exactly the source's values in {columns:and}"
)
medians = Sentence(
    "medians are published: means and totals are not kept, and a median may be a respondent's value"
)

# --- noise --------------------------------------------------------------------------------------

missing_moved = Sentence(
    "Noise was added to column '{column}', but in {records:record} it is missing either in the source or "
    "in the release, not in both. {BUG}"
)
noised = Sentence("noise was added to {columns:and}: it blurs values, but gives no k-anonymity")
noise_partly_undone = Sentence(
    "rounding gives the source's value back in {values} of {of:record} of {column}: the noise is small "
    "compared with the decimals of the source (a larger {--noise} helps)"
)
noise_undone = Sentence(
    "Rounding gives the source's value back in {values} of {of:record} of '{column}': the noise is small "
    "compared with the decimals of the source. Use a larger {--noise}, or mask the column by itself "
    "({--confidential_as subset})."
)


# --- columns and records ------------------------------------------------------------------------


_UNUSABLE_CLAIMS = {
    "k_below_2": "k is below 2",
    "equal_names": "two columns of the source have the same name",
    "no_keys": "no keys and no strata are named",
    "empty_subset": "a subset has no columns",
    "unknown_column": "a column is named that the source does not have",
    "two_roles": "a column has two roles",
    "recoded_no_stratum": "a recoded column is not a stratum",
    "not_confidential": "a column masked by itself is not confidential",
    "mean_of_dropped": "a mean is promised for a dropped column",
}


def claims_unusable(_: Sequence[str], reason: str) -> str:
    return f"The promises of the release cannot be checked: {_UNUSABLE_CLAIMS[reason]}. {PHRASES['BUG']}"


def columns_differ(
    _: Sequence[str], missing: Sequence[str], added: Sequence[str], dropped: Sequence[str], where: str
) -> str:
    found = [f"lacks {quoted(missing)}"] if missing else []
    found += [f"has {quoted(added)}, which the source does not have"] if added else []
    found += [f"still has {quoted(dropped)}, which should be dropped"] if dropped else []
    found = found or ["has its columns in another order, or one of them twice"]
    return f"The {where} {' and '.join(found)}. {PHRASES['BUG']}"


rows_unusable = Sentence(
    "The released records do not fit the source: their row numbers are not integers. {BUG}"
)
rows_miscounted = Sentence(
    "There are {released} released records, but {named} row numbers of the source. {BUG}"
)
rows_unknown = Sentence(
    "The released records do not fit the source: it does not have all of their row numbers. {BUG}"
)
rows_repeated = Sentence("{records:record} {records:is|are} released more than once. {BUG}")
nothing_released = Sentence(
    "No record is left to release. Use a smaller k or fewer strata, or merge small strata ({--small_strata "
    "merge}) instead of leaving them out."
)
column_changed = Sentence(
    "Column '{column}' should be released unchanged, but differs in {records:record}. {BUG}"
)
column_retyped = Sentence(
    "Column '{column}' should be released unchanged, but has the type {kind} instead of {needed}. {BUG}"
)
strata_split = Sentence("Merging strata of {columns:and} has split {strata} {strata:stratum|strata}. {BUG}")
suppressed = Sentence("{records} of {of} records are not released")
strata_merged = Sentence("{records:record} {records:is|are} in merged strata")


def values_given_up(_: Sequence[str], k: int, lost: Mapping[str, int]) -> str:
    cells = ", ".join(f"{cells} of {column}" for column, cells in lost.items())
    return f"values set to missing, so that each pattern of missing values has {k} records: {cells}"


zeros_mixed = Sentence(
    "{records:record} with rare patterns of zeros {records:is|are} grouped with records of other patterns"
)
source_order = Sentence(
    "records are in the order of the source, which may tell whose record is whose (they are shuffled "
    "without {--keep_order true})"
)
retried = Sentence(
    "these groups were found in attempt {attempts}, after the groups of earlier attempts were refused"
)

# --- what was masked and can be known nevertheless ----------------------------------------------

recomputable = Sentence(
    "{column} can be computed from {others:and}, which are released unchanged: their sum is the same in "
    "every record. Mask these columns together, or drop some of them"
)
copied = Sentence(
    "{column} was masked, but {copy} has the same values in every record and is released unchanged"
)

# --- the search ---------------------------------------------------------------------------------

cut_short = Sentence("the time limit ended the search: another run may find other groups")
stopped = Sentence(
    "the run was stopped early and took the best groups so far: a complete run may find others"
)
worse_than_mdav = Sentence(
    "the method MDAV would lose less information: {mdav:.4g} % instead of {loss:.4g} %"
)

# --- reading ------------------------------------------------------------------------------------

extended_missing = Sentence(
    "Extended missing values (.a to .z) are read, and written, as plain missing values in "
    "{columns:column|columns} {columns:quoted}."
)
mixed_cells = Sentence(
    "Cells of different types are read, and written, as text in {columns:column|columns} {columns:quoted}."
)


def hidden_cells_read(columns: Sequence[str], sheet: str, rows: int) -> str:
    verb = "is" if len(columns) + rows == 1 else "are"
    return f"Sheet '{sheet}' has {hidden_parts(columns, rows)}, which {verb} read like the others."


def plan_replaced(_: Sequence[str], source: str, options: Sequence[str]) -> str:
    given = ", ".join(use(option) for option in options)
    return f"{given} {'replaces' if len(options) == 1 else 'replace'} what the plan {source} has there."


# --- the written file ---------------------------------------------------------------------------


_OTHER_FORMAT = (
    "Choose another format, such as Parquet or CSV; if it is one of these already, please report it as a "
    "bug in microagg."
)


written_differs = Sentence(
    "Column '{column}' has other values in the written file than were verified. {OTHER_FORMAT}"
)
written_categories = Sentence(
    "The categories of column '{column}' are repeated or null in the written file. {BUG}"
)
written_unreadable = Sentence("The written file cannot be read again. {OTHER_FORMAT}")
written_rows_differ = Sentence("The written file has {written:record}, but {verified} were verified. {BUG}")
written_more_unique = Sentence(
    "In the written file {written:record} {written:is|are} unique by the keys of all subsets, but "
    "{verified} when the release was verified. {BUG}"
)
written_by_spark_differs = Sentence(
    "The written files hold other records than were verified. The source may have changed since then, and "
    "Spark may have computed a part of it again; otherwise: {BUG}"
)
source_records_differ = Sentence(
    "The masked records are not those of the source ({records} instead of {needed} records, or other "
    "values in columns that are released unchanged). The source may have changed in the meantime; "
    "otherwise: {BUG}"
)

# --- assess -------------------------------------------------------------------------------------

not_protected = Sentence(
    "THE PROTECTED FILE IS NOT PROTECTED: {columns:and} {columns:has|have} the original's values in all "
    "{records:record}. Do not release it."
)
k_not_reached = Sentence(
    "THE PROTECTED FILE DOES NOT HAVE k = {k}: {below:record} {below:is|are} in combinations of "
    "{columns:and} that fewer than {k} records share (the rarest has {smallest}). Do not release it."
)
k_not_joint = Sentence(
    "k = {k} holds for each subset of keys, but not for all keys together: {below:record} {below:is|are} "
    "in combinations of all keys that fewer than {k} share"
)
records_not_protected = Sentence(
    "{records} of {of:record} of the original {records:is|are} not in the protected file; all measures are "
    "of the others"
)
key_unchanged = Sentence("key {column} has the original's value in every record")
other_column_differs = Sentence("column {column}, which is not among the keys, differs in {records:record}")
gaps_filled = Sentence(
    "{column} has a value in {records:record} where the original has none; these cells are not compared"
)
far_apart = Sentence(
    "records matched by their order differ more than records matched at random; if the files have "
    "different orders, all of these figures are wrong: name a column that identifies records ({--id})"
)
weight_of_original = Sentence(
    "weight {column} is not in the protected file; the original's weights are used"
)
id_released = Sentence("the protected file has the id {column}: leave it out of what is released")
