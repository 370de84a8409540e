"""The sentence of each finding. The name of a function is the rule of the finding.

A function is given the finding's columns and, by name, its figures. Sentences of findings that forbid a
release end with what to do; those of notes follow "note:" and have no full stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microagg.wording.message import use
from microagg.wording.phrases import (
    BUG,
    and_list,
    are,
    count,
    hidden_parts,
    quoted,
    records_are,
)

SETTLED_BY_RETRY = frozenset({"homogeneous_groups", "dominant_weights"})
"""Rules whose sentences propose other groups, unless these have been tried: they take `retried`."""

_SPELLING = "capitals, blanks, invisible characters or variants of the same letters"


# --- k ------------------------------------------------------------------------------------------


def combination_too_rare(columns: Sequence[str], k: int, classes: int, below: int, smallest: int) -> str:
    return (
        f"{records_are(below)} in combinations of {and_list(columns)} that fewer than {k} records share "
        f"(there {are(classes, 'combination')}; the rarest has {count(smallest, 'record')}). {BUG}"
    )


def partial_not_accepted(_: Sequence[str], k: int, unique: int, below: int) -> str:
    return (
        f"The release is k-anonymous per subset, NOT jointly ({count(unique, 'record')} unique): "
        f"{records_are(below)} in combinations of the keys of all subsets that fewer than {k} records "
        "share. Mask all keys together as one subset, or accept this with "
        f"{use('accept_partial', True)}."
    )


def partial_accepted(_: Sequence[str], k: int, below: int) -> str:
    return (
        f"accepted ({use('accept_partial', True)}): {records_are(below)} in combinations of the keys of "
        "all "
        f"subsets that fewer than {k} records share"
    )


def pairs_accepted(_: Sequence[str]) -> str:
    return (
        f"accepted ({use('allow_pairs', True)}): each member of a group of two can compute the other's "
        "values"
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
    alike = f" Texts that differ only in {_SPELLING} count as one value." if spellings else ""
    return (
        f"Confidential column '{columns[0]}'{', as masked,' if masked else ''} has fewer than {least} "
        f"different values in {count(groups, 'group')} of {and_list(keys)}, with "
        f"{count(records, 'record')}: whoever knows the group knows the value. "
        f"Try {', '.join(remedies)}, or accept this with {use('accept_homogeneous', True)}.{alike}"
    )


def homogeneous_accepted(columns: Sequence[str], keys: Sequence[str], groups: int, records: int) -> str:
    return (
        f"accepted ({use('accept_homogeneous', True)}): too few different values of {columns[0]} in "
        f"{count(groups, 'group')} of {and_list(keys)}, with {count(records, 'record')}"
    )


def spellings_counted_as_one(columns: Sequence[str], texts: int, values: int) -> str:
    return (
        f"{count(texts, 'different text')} of {columns[0]} count as "
        f"{count(values, 'different value')} for {use('min_distinct')}: some differ only in {_SPELLING}"
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


def weights_unusable(columns: Sequence[str], records: int) -> str:
    return (
        f"Weight '{columns[0]}' of {count(records, 'released record')} is missing or not a finite number "
        f"above zero. Correct or remove these records, or leave out {use('weight')}."
    )


# --- values and means ---------------------------------------------------------------------------


def mean_not_kept(columns: Sequence[str], change: float, tolerance: float) -> str:
    return (
        f"The mean of '{columns[0]}' changes by {change:.6g}; a change of at most {tolerance:.6g} was "
        f"promised. {BUG}"
    )


def not_the_mean(columns: Sequence[str], groups: int) -> str:
    publish, its = ("publishes", "its") if groups == 1 else ("publish", "their")
    return (
        f"{count(groups, 'group')} {publish} something other than the mean of {its} records in "
        f"'{columns[0]}'. {BUG}"
    )


def not_a_number(columns: Sequence[str], records: int) -> str:
    return (
        f"Column '{columns[0]}' is released with NaN or infinity in {count(records, 'record')}; a missing "
        f"value must be empty. {BUG}"
    )


def masked_not_numeric(columns: Sequence[str], kind: str) -> str:
    return f"Column '{columns[0]}' was masked, but has the type {kind} and holds no numbers. {BUG}"


def value_without_source(columns: Sequence[str], records: int) -> str:
    return (
        f"Column '{columns[0]}' is released with a value in {count(records, 'record')} where the source "
        f"has none. {BUG}"
    )


def too_few_observed(columns: Sequence[str], k: int, records: int) -> str:
    return (
        f"Column '{columns[0]}': the released values of {count(records, 'record')} are means of fewer than "
        f"{k} values. {BUG}"
    )


def own_values(columns: Sequence[str], records: int) -> str:
    return f"{records_are(records)} released with exactly the source's values in {and_list(columns)}"


def medians(_: Sequence[str]) -> str:
    return "medians are published: means and totals are not kept, and a median may be a respondent's value"


# --- noise --------------------------------------------------------------------------------------


def missing_moved(columns: Sequence[str], records: int) -> str:
    return (
        f"Noise was added to column '{columns[0]}', but in {count(records, 'record')} it is missing either "
        f"in the source or in the release, not in both. {BUG}"
    )


def noised(columns: Sequence[str]) -> str:
    return f"noise was added to {and_list(columns)}: it blurs values, but gives no k-anonymity"


def noise_partly_undone(columns: Sequence[str], values: int, of: int) -> str:
    return (
        f"rounding gives the source's value back in {values} of {count(of, 'record')} of {columns[0]}: the "
        f"noise is small compared with the decimals of the source (a larger {use('noise')} helps)"
    )


def noise_undone(columns: Sequence[str], values: int, of: int) -> str:
    return (
        f"Rounding gives the source's value back in {values} of {count(of, 'record')} of '{columns[0]}': "
        f"the noise is small compared with the decimals of the source. Use a larger {use('noise')}, or "
        f"mask the column by itself ({use('confidential_as', 'subset')})."
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
    return f"The promises of the release cannot be checked: {_UNUSABLE_CLAIMS[reason]}. {BUG}"


def columns_differ(
    _: Sequence[str], missing: Sequence[str], added: Sequence[str], dropped: Sequence[str], where: str
) -> str:
    found = [f"lacks {quoted(missing)}"] if missing else []
    found += [f"has {quoted(added)}, which the source does not have"] if added else []
    found += [f"still has {quoted(dropped)}, which should be dropped"] if dropped else []
    found = found or ["has its columns in another order, or one of them twice"]
    return f"The {where} {' and '.join(found)}. {BUG}"


def rows_unusable(_: Sequence[str]) -> str:
    return f"The released records do not fit the source: their row numbers are not integers. {BUG}"


def rows_miscounted(_: Sequence[str], released: int, named: int) -> str:
    return f"There are {released} released records, but {named} row numbers of the source. {BUG}"


def rows_unknown(_: Sequence[str]) -> str:
    return f"The released records do not fit the source: it does not have all of their row numbers. {BUG}"


def rows_repeated(_: Sequence[str], records: int) -> str:
    return f"{records_are(records)} released more than once. {BUG}"


def nothing_released(_: Sequence[str]) -> str:
    return (
        "No record is left to release. Use a smaller k or fewer strata, or merge small strata "
        f"({use('small_strata', 'merge')}) instead of leaving them out."
    )


def column_changed(columns: Sequence[str], records: int) -> str:
    return (
        f"Column '{columns[0]}' should be released unchanged, but differs in {count(records, 'record')}. "
        f"{BUG}"
    )


def column_retyped(columns: Sequence[str], kind: str, needed: str) -> str:
    return (
        f"Column '{columns[0]}' should be released unchanged, but has the type {kind} instead of {needed}. "
        f"{BUG}"
    )


def strata_split(columns: Sequence[str], strata: int) -> str:
    return f"Merging strata of {and_list(columns)} has split {count(strata, 'stratum', 'strata')}. {BUG}"


def suppressed(_: Sequence[str], records: int, of: int) -> str:
    return f"{records} of {of} records are not released"


def strata_merged(_: Sequence[str], records: int) -> str:
    return f"{records_are(records)} in merged strata"


def values_given_up(_: Sequence[str], k: int, lost: Mapping[str, int]) -> str:
    cells = ", ".join(f"{cells} of {column}" for column, cells in lost.items())
    return f"values set to missing, so that each pattern of missing values has {k} records: {cells}"


def zeros_mixed(_: Sequence[str], records: int) -> str:
    return (
        f"{count(records, 'record')} with rare patterns of zeros {'is' if records == 1 else 'are'} grouped "
        "with records of other patterns"
    )


def source_order(_: Sequence[str]) -> str:
    return (
        "records are in the order of the source, which may tell who is who "
        f"({use('shuffle', True)} changes it)"
    )


def hashed_order(_: Sequence[str]) -> str:
    return (
        "records are not in the order of the source; within each file they are ordered by a hash of what "
        f"is released ({use('shuffle', True)} draws another order, over all files)"
    )


def retried(_: Sequence[str], attempts: int) -> str:
    return (
        f"these groups were found in attempt {attempts}, after the groups of earlier attempts were refused"
    )


# --- what was masked and can be known nevertheless ----------------------------------------------


def recomputable(columns: Sequence[str], others: Sequence[str]) -> str:
    return (
        f"{columns[0]} can be computed from {and_list(others)}, which are released unchanged: their sum is "
        "the same in every record. Mask these columns together, or drop some of them"
    )


def copied(columns: Sequence[str], copy: str) -> str:
    return (
        f"{columns[0]} was masked, but {copy} has the same values in every record and is released unchanged"
    )


# --- the search ---------------------------------------------------------------------------------


def cut_short(_: Sequence[str]) -> str:
    return "the time limit ended the search: another run may find other groups"


def stopped(_: Sequence[str]) -> str:
    return "the run was stopped early and took the best groups so far: a complete run may find others"


def worse_than_mdav(_: Sequence[str], loss: float, mdav: float) -> str:
    return f"the method MDAV would lose less information: {mdav:.4g} % instead of {loss:.4g} %"


# --- reading ------------------------------------------------------------------------------------


def extended_missing(columns: Sequence[str]) -> str:
    return (
        "Extended missing values (.a to .z) are read, and written, as plain missing values in "
        f"{'column' if len(columns) == 1 else 'columns'} {quoted(columns)}."
    )


def mixed_cells(columns: Sequence[str]) -> str:
    return (
        "Cells of different types are read, and written, as text in "
        f"{'column' if len(columns) == 1 else 'columns'} {quoted(columns)}."
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


def written_differs(columns: Sequence[str]) -> str:
    return f"Column '{columns[0]}' has other values in the written file than were verified. {_OTHER_FORMAT}"


def written_categories(columns: Sequence[str]) -> str:
    return f"The categories of column '{columns[0]}' are repeated or null in the written file. {BUG}"


def written_unreadable(_: Sequence[str]) -> str:
    return f"The written file cannot be read again. {_OTHER_FORMAT}"


def written_rows_differ(_: Sequence[str], written: int, verified: int) -> str:
    return f"The written file has {count(written, 'record')}, but {verified} were verified. {BUG}"


def written_more_unique(_: Sequence[str], written: int, verified: int) -> str:
    return (
        f"In the written file {records_are(written)} unique by the keys of all subsets, but {verified} "
        f"when the release was verified. {BUG}"
    )


def written_by_spark_differs(_: Sequence[str]) -> str:
    return (
        "The written files hold other records than were verified. The source may have changed since then, "
        f"and Spark may have computed a part of it again; otherwise: {BUG}"
    )


def source_records_differ(_: Sequence[str], records: int, needed: int) -> str:
    return (
        f"The masked records are not those of the source ({records} instead of {needed} records, or other "
        "values in columns that are released unchanged). The source may have changed in the meantime; "
        f"otherwise: {BUG}"
    )


# --- assess -------------------------------------------------------------------------------------


def not_protected(columns: Sequence[str], records: int) -> str:
    return (
        f"THE PROTECTED FILE IS NOT PROTECTED: {and_list(columns)} "
        f"{'has' if len(columns) == 1 else 'have'} "
        f"the original's values in all {count(records, 'record')}. Do not release it."
    )


def k_not_reached(columns: Sequence[str], k: int, below: int, smallest: int) -> str:
    return (
        f"THE PROTECTED FILE DOES NOT HAVE k = {k}: {records_are(below)} in combinations of "
        f"{and_list(columns)} that fewer than {k} records share (the rarest has {smallest}). "
        "Do not release it."
    )


def k_not_joint(_: Sequence[str], k: int, below: int) -> str:
    return (
        f"k = {k} holds for each subset of keys, but not for all keys together: {records_are(below)} in "
        f"combinations of all keys that fewer than {k} share"
    )


def records_not_protected(_: Sequence[str], records: int, of: int) -> str:
    return (
        f"{records} of {count(of, 'record')} of the original {'is' if records == 1 else 'are'} not in the "
        "protected file; all measures are of the others"
    )


def key_unchanged(columns: Sequence[str]) -> str:
    return f"key {columns[0]} has the original's value in every record"


def other_column_differs(columns: Sequence[str], records: int) -> str:
    return f"column {columns[0]}, which is not among the keys, differs in {count(records, 'record')}"


def gaps_filled(columns: Sequence[str], records: int) -> str:
    return (
        f"{columns[0]} has a value in {count(records, 'record')} where the original has none; these cells "
        "are not compared"
    )


def far_apart(_: Sequence[str]) -> str:
    return (
        "records matched by their order differ more than records matched at random; if the files have "
        f"different orders, all of these figures are wrong: name a column that identifies records "
        f"({use('id')})"
    )


def weight_of_original(columns: Sequence[str]) -> str:
    return f"weight {columns[0]} is not in the protected file; the original's weights are used"


def id_released(columns: Sequence[str]) -> str:
    return f"the protected file has the id {columns[0]}: leave it out of what is released"
