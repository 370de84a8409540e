"""The sentence of each finding, by the name of its rule.

A sentence is given the finding's figures, its `columns`, and the first of them as `column`. Sentences of
findings that forbid a release end with what to do; those of notes follow "note:" and have no full stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microagg.wording.message import use
from microagg.wording.phrases import hidden_parts, quoted
from microagg.wording.template import LATER_CAUSES, PHRASES, fill_in, on_one_line


class Sentence:
    """A template that is given columns and figures."""

    def __init__(self, text: str) -> None:
        self.text = on_one_line(text)

    def __call__(self, columns: Sequence[str], **figures: Any) -> str:
        return fill_in(self.text, {"column": next(iter(columns), ""), "columns": columns, **figures})


class Decision:
    """What a rule has found that the user may accept, and what settles it otherwise.

    What was found has no full stop: it follows "accepted:" too. `by_column`: it can be accepted for one
    column. `retry`: other groups may settle it, unless they have been tried.
    """

    def __init__(self, found: str, remedy: str, *, by_column: bool = False, retry: bool = False) -> None:
        self.found, self.remedy = Sentence(found), Sentence(remedy)
        self.by_column, self.retry = by_column, retry

    def __call__(
        self,
        columns: Sequence[str],
        rule: str,
        action: str,
        retried: bool = False,
        cause: str | None = None,
        **figures: Any,
    ) -> str:
        found = self.found(columns, **figures)
        if action == "accepted":
            return found
        if cause is not None:
            return f"{found[:1].upper()}{found[1:]}. {LATER_CAUSES[cause]}"
        remedy = self.remedy(columns, **figures)
        if self.retry and not retried:
            remedy = f"Try other groups ({use('retry', True)}). {remedy}"
        if action == "decide":
            name = rule.replace("_", "-")
            accepted = f"{name}={columns[0]}" if self.by_column and columns else name
            remedy = f"{remedy} Or accept this: {use('accept', accepted)}."
        return f"{found[:1].upper()}{found[1:]}. {remedy}"


# --- rules --------------------------------------------------------------------------------------

combination_too_rare = Sentence("""
    {below:record} {below:is|are} in combinations of {columns:some} that fewer than {k} records share (there
    {classes:is|are} {classes:combination}; the rarest has {smallest:record}). {BUG}""")
partial = Decision(
    "the release is k-anonymous per subset, NOT jointly ({unique:record} unique): {below:record} "
    "{below:is|are} in combinations of the keys of all subsets that fewer than {k} records share",
    "Mask all keys together as one subset.",
)
pairs = Decision(
    "with k = 2, each member of a group can compute the other's values from the mean and its own",
    "Use a k of 3 or more.",
)
real_values = Decision(
    "{groups:group} {groups:publishes|publish} a value of {clipped:?a respondent: the end of a column's "
    "range, which fewer than k records have|one of {groups:its|their} members: the median of an odd number "
    "of values is one of them}",
    "{clipped:?Leave out {--clip true}.|Use {--aggregate mean}.}",
)


respondents = Decision(
    """
    {below:combination} of {keys:some} {below:is|are} shared by fewer than {k} respondents ({alone} by one
    alone), as '{column}' shows: what is published there is nearly their own value""",
    """
    Combine the records of a respondent, or use a larger k or fewer strata. If every record is a respondent
    of its own, use {--respondent none}.{by_shape:? '{column}' looks like the number of a respondent, but
    may be another code.|}""",
)
derived = Decision(
    """
    '{column}' was masked, but {kind:relation} {others:some}, which {others:is|are} released unchanged: in
    {records} of {of:record} its values can be computed""",
    "Leave out {others:some}, or mask {others:it|them} together with '{column}'.",
    by_column=True,
)
predicted = Decision(
    "confidential column '{column}' follows from the keys so closely that {share:percent} of the records "
    "can be told from the others of their group by it, instead of {chance:percent} by chance",
    "Use a larger k, mask the column ({--confidential_as subset}), or leave it out.",
    by_column=True,
)


distinct = Decision(
    """
    confidential column '{column}'{masked:?, as masked,|} has fewer than {least} different values in
    {groups:group} of {keys:some}, with {records:record}: whoever knows the group knows the value""",
    """
    A larger k helps.{least:>2? So does a smaller {--min_distinct}.|}{spellings:? Texts that differ only in
    {SPELLING} count as one value.|}""",
    by_column=True,
    retry=True,
)
spellings_counted_as_one = Sentence("""
    {texts:different text} of {column} count as {values:different value} for {--min_distinct}: some differ
    only in {SPELLING}""")
dominated = Decision(
    """
    in {groups:group} of {keys:some} one record{percent:?'s amount of '{column}' can be estimated within
    {percent:g} %| has more than half of the weight '{column}', and values differ}""",
    "Use a larger k{percent:?|, or leave out {--weight}}.",
    by_column=True,
    retry=True,
)
unchanged = Sentence("""
    values released unchanged, as their group publishes the same: {records:most counts} (of {of:,}
    records)""")
unchanged_categories = Sentence("""
    {records} of {of:cell} of {columns:some} {records:has|have} the category of {records:its|their} record
    in the source""")
new_combinations = Sentence("""
    {combinations:combination} of {columns:some} {combinations:is|are} released that no record of the source
    has, in {records} of {of:record}""")
tables = Sentence("""
    {far:?Tables|tables} of any two keys and confidential columns differ from those of the source by
    {moved:.2f} % on average (total variation; {of_middles:.2f} % if groups published their median levels
    and most frequent categories){far:?. Use {--categories mode}.|}""")
margins = Sentence("""
    shares of categories differ from those of the source (total variation): {moved:percentages}""")
unique = Sentence("""
    {records} of {of:record} {records:is|are} unique by the keys and the {others} columns released unchanged
    together""")

# --- weights ------------------------------------------------------------------------------------

weights_unusable = Sentence("""
    Weight '{column}' of {records:released record} is missing or not a finite number above zero. Correct or
    remove these records, or leave out {--weight}.""")

# --- values and means ---------------------------------------------------------------------------

mean_not_kept = Sentence("""
    The mean of '{column}' changes by {change:.6g}; a change of at most {tolerance:.6g} was promised.
    {BUG}""")
not_the_mean = Sentence("""
    {groups:group} {groups:publishes|publish} something other than the mean of {groups:its|their} records in
    '{column}'. {BUG}""")
not_a_number = Sentence("""
    Column '{column}' is released with NaN or infinity in {records:record}; a missing value must be empty.
    {BUG}""")
masked_not_numeric = Sentence("""
    Column '{column}' was masked, but has the type {kind} and holds no numbers. {BUG}""")
value_without_source = Sentence("""
    Column '{column}' is released with a value in {records:record} where the source has none. {BUG}""")
not_the_date = Sentence("""
    {groups:group} {groups:publishes|publish} another date than that of {groups:its|their} records in
    '{column}'. {BUG}""")
not_the_median_level = Sentence("""
    {groups:group} {groups:publishes|publish} another level than the median of {groups:its|their} records in
    '{column}'. {BUG}""")
not_the_mode = Sentence("""
    {groups:group} {groups:publishes|publish} another category than the most frequent one of
    {groups:its|their} records in '{column}'. {BUG}""")
not_the_nearest_code = Sentence("""
    {groups:group} {groups:publishes|publish} another code in '{column}' than that of {groups:its|their}
    records which is nearest to all in the taxonomy. {BUG}""")
not_in_the_group = Sentence("""
    {groups:group} {groups:publishes|publish} a category in '{column}' that none of {groups:its|their}
    records has. {BUG}""")
not_near_the_mean = Sentence("""
    {groups:group} {groups:publishes|publish} a number in '{column}' that is not near the mean of
    {groups:its|their} records. {BUG}""")
combination_not_in_source = Sentence("""
    {combinations:combination} of categories {combinations:is|are} released that no record of the source
    has. {BUG}""")
too_few_observed = Sentence("""
    Column '{column}': the released values of {records:record} are means of fewer than {k} values. {BUG}""")
values_vanished = Sentence("""
    Column '{column}' lacks a value in {records:record} where the source has one that was to stay. {BUG}""")
too_many_decimals = Sentence("""
    Column '{column}' is released with more than {decimals:decimal} in {records:record}. {BUG}""")
medians = Sentence("""
    medians are published: means and totals are not kept, and a median may be a respondent's value""")

# --- covariances --------------------------------------------------------------------------------

not_one_map = Sentence("""
    {groups:group} {groups:publishes|publish} something other than the one linear map of {columns:some} that
    fits all groups makes of {groups:its|their} mean. {BUG}""")
covariances_not_kept = Sentence("""
    {pairs} {pairs:variance or covariance|variances or covariances} of {columns:some} {pairs:is|are} not
    {pairs:that|those} of the source's released records, as was promised. {BUG}""")
moved_means_not_kept = Sentence("""
    Means of {columns:some}, of records that one linear map has moved, are not those of the source, as was
    promised. {BUG}""")
covariances_of_too_few = Sentence("""
    {statistics} variances and covariances of {columns:some} are kept, but only {records:record}
    {records:is|are} released: they tell too much of single respondents. Mask fewer columns together, or use
    {--aggregate mean}.""")
covariances_kept = Sentence("""
    {columns:mean and variance of {columns:some}|means, variances, correlations and linear regressions among
    {columns:some}} are those of the released records in the source, but for rounding (it moves a
    {columns:variance|covariance} by {moved:.1g} of the product of two
    standard deviations at most): analysts may rely on them for all records together, not for parts of
    them{maps:>1?. Records that lack the same columns have a map of their own, so that this holds for each
    of these {maps} sets, and for all records that have the columns of an analysis|}""")
covariances_of_few = Sentence("""
    the variances and covariances of {columns:some} are {statistics} figures of the source, with
    {records:record} fewer than 20 for each: they may tell something of single respondents""")
collinear = Sentence("""
    {columns:some} vary in {directions:direction} only, as some are constant or follow from others: what
    follows in the source follows in the release""")
outside_range = Sentence("""
    values outside the source's range, so that variances are kept: {records:most counts} ({--clip true}
    moves them to its ends)""")
clipped = Sentence("""
    values moved to the ends of the source's range: {records:?{records:most counts}|none}. Means of
    {columns:some} differ from the source's by up to {mean:.2g} standard deviations, variances and
    covariances by up to {covariance:.2g} in these units, because of this and of rounding""")

# --- noise --------------------------------------------------------------------------------------

missing_moved = Sentence("""
    Noise was added to column '{column}', but in {records:record} it is missing either in the source or in
    the release, not in both. {BUG}""")
noised = Sentence("noise was added to {columns:and}: it blurs values, but gives no k-anonymity")
noise_partly_undone = Sentence("""
    rounding gives the source's value back in {values} of {of:record} of {column}: the noise is small
    compared with the decimals of the source (a larger {--noise} helps)""")
noise_of_other_size = Sentence("""
    The noise of '{column}' has a standard deviation of {share:.2g} of the column's, where {wanted:.2g} was
    asked for. {BUG}""")
noise_undone = Sentence("""
    Rounding gives the source's value back in {values} of {of:record} of '{column}': the noise is small
    compared with the decimals of the source. Use a larger {--noise}, or mask the column by itself
    ({--confidential_as subset}).""")


# --- columns and records ------------------------------------------------------------------------

claims_unusable = Sentence("The promises of the release cannot be checked: {reason:unusable}. {BUG}")


def columns_differ(
    _: Sequence[str],
    missing: Sequence[str],
    added: Sequence[str],
    dropped: Sequence[str],
    where: str,
    cause: str | None = None,
) -> str:
    found = [f"lacks {quoted(missing)}"] if missing else []
    found += [f"has {quoted(added)}, which the source does not have"] if added else []
    found += [f"still has {quoted(dropped)}, which should be dropped"] if dropped else []
    found = found or ["has its columns in another order, or one of them twice"]
    because = PHRASES["BUG"] if cause is None else LATER_CAUSES[cause]
    return f"The {where} {' and '.join(found)}. {because}"


rows_unusable = Sentence("""
    The released records do not fit the source: their row numbers are not integers. {BUG}""")
rows_miscounted = Sentence("""
    There are {released} released records, but {named} row numbers of the source. {BUG}""")
rows_unknown = Sentence("""
    The released records do not fit the source: it does not have all of their row numbers. {BUG}""")
rows_repeated = Sentence("{records:record} {records:is|are} released more than once. {BUG}")
nothing_released = Sentence("""
    No record is left to release. Use a smaller k or fewer strata, or let the records of small strata join
    the nearest group ({--small_strata nearest}) instead of leaving them out.""")
records_left_out = Sentence("""
    {records:record} of the source {records:is|are} left out, though {records:it|they} had to be released.
    {BUG}""")
stratum_unknown = Sentence("""
    {records:record} {records:has|have} a combination of {columns:and} that fewer than {k} records of the
    source have. {BUG}""")
stratum_left = Sentence("""
    {records:record} of strata with at least {k} records {records:has|have} other codes of {columns:and}
    than in the source. {BUG}""")
not_shuffled = Sentence("""
    The records should be in random order, but have the order of {column:?'{column}'|the source}. {BUG}""")
new_category = Sentence("""
    Key '{column}' has {is_date:?no date that can be read|a value that the source does not have} in
    {records:record}. {BUG}""")
date_too_exact = Sentence("""
    Key '{column}' has {records:date} that {records:is|are} more exact than the {resolution}. {BUG}""")
column_changed = Sentence("""
    Column '{column}' should be released unchanged, but differs in {records:record}. {BUG}""")
column_retyped = Sentence("""
    Column '{column}' should be released unchanged, but has the type {kind} instead of {needed}. {BUG}""")
earlier = Sentence("""
    the folder of the record has {releases:earlier release} of the same source ({names:list}), with other
    values: whoever gets several can compare them, and may compute original values. Hand out one""")
recoded = Sentence("""
    records of strata with fewer than {k} records have joined the nearest group and have its codes:
    {cells:most counts} have changed""")
values_given_up = Sentence("""
    values set to missing, so that each pattern of missing values has {k} records: {lost:counts}""")
zeros_mixed = Sentence("""
    {records:record} with rare patterns of zeros {records:is|are} grouped with records of other patterns""")
source_order = Sentence("""
    records are in the order of the source, which may tell whose record is whose (they are shuffled without
    {--keep_order true})""")
retried = Sentence("""
    these groups were found in attempt {attempts}, after the groups of earlier attempts were refused""")

# --- the search ---------------------------------------------------------------------------------

cut_short = Sentence("the time limit ended the search: another run may find other groups")
stopped = Sentence("""
    the run was stopped early and took the best groups so far: a complete run may find others""")
worse_than_mdav = Sentence("""
    the method MDAV would lose less information: {mdav:.4g} % instead of {loss:.4g} %""")

# --- reading ------------------------------------------------------------------------------------

extended_missing = Sentence("""
    Extended missing values (.a to .z) are read, and written, as plain missing values in
    {columns:column|columns} {columns:quoted}.""")
mixed_cells = Sentence("""
    Cells of different types are read, and written, as text in {columns:column|columns}
    {columns:quoted}.""")


def hidden_cells_read(columns: Sequence[str], sheet: str, rows: int) -> str:
    verb = "is" if len(columns) + rows == 1 else "are"
    return f"Sheet '{sheet}' has {hidden_parts(columns, rows)}, which {verb} read like the others."


plan_replaced = Sentence("""
    {options:proposed} {options:replaces|replace} what the plan {source} has there.""")

# --- the written file ---------------------------------------------------------------------------


written_differs = Sentence("""
    Column '{column}' has other values in the written file than were verified. {OTHER_FORMAT}""")
written_categories = Sentence("""
    The categories of column '{column}' are repeated or null in the written file. {BUG}""")
written_unreadable = Sentence("The written file cannot be read again. {OTHER_FORMAT}")
written_rows_differ = Sentence("The written file has {written:record}, but {verified} were verified. {BUG}")
written_bytes = Sentence("""
    The bytes of the written file are not those that its values give when they are written a second time.
    {BUG}""")
written_metadata = Sentence("The written file has metadata that the release does not need. {BUG}")
written_type = Sentence("Column '{column}' has another type in the written file. {BUG}")
written_gaps = Sentence("Column '{column}' has other missing values in the written file. {BUG}")
written_parts = Sentence("The written workbook has more than one sheet of cells. {BUG}")
written_parts_unknown = Sentence("The written folder has other files than Spark writes. {BUG}")
written_look = Sentence("Some cells of the written workbook look different from others. {BUG}")
written_labels = Sentence("The written file has labels or notes that the release does not need. {BUG}")
changed_after_check = Sentence("""
    The file was changed, replaced or opened to others after it had been verified. It was withdrawn; a file
    of its name that is still there is none of ours. Look at who else can write to that folder, and run
    again.""")
source_not_recorded = Sentence("""
    The source is not the file that was protected: its bytes differ from those in the record. Name the right
    one ({--source}).""")
file_not_recorded = Sentence("""
    The file is not the one that the record describes: it was changed after it was verified, which explains
    whatever else is listed here. Do not release it.""")
columns_not_recorded = Sentence("The release has other columns than its record says. Do not release it.")
counted_alone = Sentence("""
    the record of a release by Spark does not say whose record is whose; the files were counted by
    themselves, without the source""")
source_changed = Sentence("The source is another file than when it was read. Run again.")
source_gone = Sentence("""
    The source cannot be read a second time, by other code, to be compared with what was read at first.
    Leave it in its place until the release is made.""")
source_names_differ = Sentence("A second reading of the source gives other names of columns. {BUG}")
source_rows_differ = Sentence("""
    The source has {first:record}, but {second} when it is read a second time by other code. {BUG}""")
source_cells_differ = Sentence("""
    Column '{column}' of the source has other values in {records:record} when it is read a second time by
    other code. {BUG}""")
written_more_unique = Sentence("""
    In the written file {written:record} {written:is|are} unique by the keys of all subsets, but {verified}
    when the release was verified. {BUG}""")
written_by_spark_differs = Sentence("""
    The written files hold other records than were verified. The source may have changed since then, and
    Spark may have computed a part of it again; otherwise: {BUG}""")
source_records_differ = Sentence("""
    The masked records are not those of the source ({records} instead of {needed} records, or other values
    in columns that are released unchanged). The source may have changed in the meantime; otherwise:
    {BUG}""")

# --- assess -------------------------------------------------------------------------------------

not_protected = Sentence("""
    THE PROTECTED FILE IS NOT PROTECTED: {columns:and} {columns:has|have} the original's values in all
    {records:record}. Do not release it.""")
k_not_reached = Sentence("""
    THE PROTECTED FILE DOES NOT HAVE k = {k}: {below:record} {below:is|are} in combinations of {columns:and}
    that fewer than {k} records share (the rarest has {smallest}). Do not release it.""")
k_not_joint = Sentence("""
    k = {k} holds for each subset of keys, but not for all keys together: {below:record} {below:is|are} in
    combinations of all keys that fewer than {k} share""")
records_not_protected = Sentence("""
    {records} of {of:record} of the original {records:is|are} not in the protected file; all measures are of
    the others""")
key_unchanged = Sentence("key {column} has the original's value in every record")
other_column_differs = Sentence("column {column}, which is not among the keys, differs in {records:record}")
gaps_filled = Sentence("""
    {column} has a value in {records:record} where the original has none; these cells are not compared""")
far_apart = Sentence("""
    records matched by their order differ more than records matched at random; if the files have different
    orders, all of these figures are wrong: name a column that identifies records ({--id})""")
weight_of_original = Sentence("""
    weight {column} is not in the protected file; the original's weights are used""")
id_released = Sentence("the protected file has the id {column}: leave it out of what is released")
