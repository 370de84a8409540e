"""Options, plans and settings of methods that cannot be used, or not with these data."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import NotEnoughMemory, SettingsError
from microagg.wording.message import mention, use
from microagg.wording.phrases import count
from microagg.wording.template import contract_error, data_error, error, settings_error, text

# --- methods --------------------------------------------------------------------------------------

k_not_integer = settings_error("kind")(
    "k is of type {kind}; it must be a whole number of at least 2, such as 3."
)
k_too_small = settings_error("k")("""
    k is {k}; it must be at least 2, so that several records share their released values. Use 3 or more.""")
k_above_n = settings_error("k", "n")("""
    k is {k}, but the data have only {n:record}; a group needs at least k records. {n:>2?Use a k of at most
    {n}, or more records|Give at least {k} records}.""")
unknown_method = settings_error("name", "known")("""
    There is no method '{name}'{name:nearest in known}. {--microagg methods} lists all of them.""")
empty_method = settings_error("method")("""
    The method '{method}' has an empty part; write names separated by +, such as cbfs+mhm.""")
not_a_method = settings_error("kind")("""
    method is of type {kind}; give a name such as 'mdav', a recipe such as 'cbfs+mhm', or a Stage.""")
setting_without_value = settings_error("method", "part")("""
    '{part}' in {method}:{part} is not a setting; write name=value, such as mdav:stop=2k.""")
unknown_setting = settings_error("method", "key", "known")("""
    {method} has no setting '{key}'{key:nearest in known} ({known:?its settings are {known:list}|it has no
    settings}).""")
setting_given_twice = settings_error("method", "key")("{method} has the setting '{key}' twice; keep one.")
bad_setting = settings_error("method", "key", "value", "needed")(
    "{method}:{key}={value} is not possible; {key} must be {needed}."
)
initial_after_start = settings_error("stage", "before")("""
    {stage} after {before} would throw away the result of {before}. Put {stage} first, or leave {before}
    out.""")
nothing_to_combine = settings_error("what")("{what} needs at least one stage.")
univariate_only = settings_error("method", "p")("""
    {method} works on one column; these data have {p}. Choose one column, or a method for several columns,
    such as mdav-mhm.""")
too_many_records = settings_error("method", "n", "most", "instead")("""
    {method} looks at every partition and is limited to {most} records; these data have {n}. Use
    {instead}.""")
no_such_choice = settings_error("setting", "value", "choices")("""
    {setting:option} is {value!r}{value:nearest in choices}. It must be one of {choices:list}.""")
choice_replaced = settings_error("setting", "value", "instead")("""
    {setting:option} has no choice {value!r} any more. Use '{instead}'.""")
option_given_twice = settings_error("option")("""
    {option} is given more than once, but takes only one value. Keep the one that you want.""")
bad_number = settings_error("setting", "found", "needed")("""
    {setting:option} is {found!r}{found:unless a number}; it must be {needed}.""")
text_codes_of_numbers = settings_error("column", "texts")("""
    {--missing_codes <name>} of '{column}' has the text {texts:quoted}, but the column holds numbers and can
    hold no text: its missing values are marked as missing already. Leave the text out.""")
not_callable = settings_error("setting", "kind")(
    "{setting} is of type {kind}; it must be a function, or None."
)
no_effect = settings_error("setting", "method", "why")(
    "{setting:option} would have no effect on {method}: {why} Leave it out."
)
out_of_memory = text()("""
    There is not enough memory for these data and this method. Use fewer records or columns at a time, raise
    the limit if there is one (ulimit -v, or -u for threads), or use a machine with more memory.""")
not_enough_memory = error(NotEnoughMemory, "needs", "there")("""
    This method needs about {needs:GB} of memory for these data, but only {there:GB} are available. Use
    fewer records or columns at a time, such as one stratum after the other, {--method blocks}, or a machine
    with more memory.""")
not_verified = contract_error()("""
    A table that has not passed verification was about to be released; it was not. {BUG}""")
contract_broken = contract_error("stage", "what")("""
    {stage} broke its contract: {what}. This is a bug in microagg; please report it with the method and the
    size of the data.""")

# --- options of protect ---------------------------------------------------------------------------

unknown_option = settings_error("option", "known")(
    "There is no option '{option}'{option:nearest in known}."
)
shuffle_replaced = settings_error()("""
    {--shuffle <name>} is no longer an option: records are shuffled by default. Leave it out, or keep the
    order of the source by {--keep_order true}.""")
not_given = settings_error("what", "example")("{what} is not given. Give, for example, {example}.")


def option_missing(option: str, example: object) -> SettingsError:
    return SettingsError(f"{mention(option)} is not given. Give, for example, {use(option, example)}.")


bad_value = settings_error("option", "needed")("{option:option} must be {needed}.")
bad_list = settings_error()("""
    A list of columns has a line break outside of quotes. Separate names by commas, and put names with a
    comma or a line break in double quotes: "a name, with a comma",another.""")
given_twice = settings_error("option", "column")(
    "{option:option} is given twice for column '{column}'; give it once."
)
no_keys = settings_error()("""
    No column is named to be masked. Name the columns by which somebody could be recognised, with
    {--keys} (masked together) or {--each} (every column by itself).""")


def two_roles(column: str, first: str, second: str) -> SettingsError:
    if first == second:
        return SettingsError(f"Column '{column}' is named twice in {mention(first)}; name it once.")
    return SettingsError(
        f"Column '{column}' is named in {mention(first)} and in {mention(second)}; keep one of them."
    )


level_twice = settings_error("option", "level")(
    "{option:option} has the level '{level}' twice; give it once."
)
two_kinds = settings_error("column")("""
    Column '{column}' is named in {--nominal <name>} and in {--ordinal <name>}; keep one of them.""")
taxonomy_of_levels = settings_error("column")("""
    Column '{column}' is named in {--ordinal <name>} and in {--taxonomy <name>}: ordered levels have no
    taxonomy. Keep one of them.""")
taxonomy_empty = settings_error("column")("""
    The taxonomy of column '{column}' has no code. It needs one row for each code, with its parent.""")
taxonomy_unknown_parent = settings_error("column", "parents", "code")("""
    The taxonomy of column '{column}' names {parents:parent} that {parents:is none|are none} of its codes,
    such as '{code}'. Give each of them a row of its own; the parent of a top code is empty.""")
taxonomy_cycle = settings_error("column", "code")("""
    In the taxonomy of column '{column}', the code '{code}' stands above itself. Correct its parents: they
    must lead to a top code, whose parent is empty.""")
taxonomy_code_twice = settings_error("where", "code")("""
    {where} has the code '{code}' twice. Keep the row with its one parent.""")
taxonomy_not_csv = settings_error("path")("""
    {path} cannot be read as a taxonomy. It must be a CSV file in UTF-8 with the columns code and parent.
    Write it anew.""")
taxonomy_without_header = settings_error("path")("""
    {path} does not begin with a header that has the columns code and parent, once each. Add the header; the
    parent of a top code is empty.""")
taxonomy_bad_row = settings_error("path", "row")("""
    Row {row} of {path} has no code, or not as many fields as the header. Correct the row.""")
taxonomy_lacks_codes = settings_error("column", "unknown", "of")("""
    The taxonomy of column '{column}' lacks {unknown} of the {of:code} that the column has. Add a row for
    each of them, with its parent, or name codes that mean missing ({--missing_codes}).""")
taxonomy_not_on_pages = settings_error()("""
    The plan has a taxonomy ({--taxonomy <name>}), which the pages cannot use. Use the plan on the command
    line, or leave the taxonomy out.""")
only_for_masked = settings_error("option", "column", "role")("""
    {option:option} would have no effect on column '{column}', which {role:?has the role {role:option}|has
    no role}: it is for columns that are masked (keys, each, or confidential columns that are changed).
    Leave the option out, or mask the column.""")
amounts_not_masked = settings_error("column", "role")("""
    Column '{column}' {role:?has the role {role:option}|has no role}, and cannot be one of the {--amounts
    <name>}: these are masked columns, of which a group's total can be computed. Leave it out there, or make
    it a key.""")
acceptance_replaced = settings_error("option", "rule")("""
    There is no option {option:option} any more. To accept this, use {--accept=rule}.""")
acceptance_without_effect = settings_error("acceptance", "condition")("""
    {--accept=acceptance} has an effect only if {condition}. Leave it out.""")
weighted_median = settings_error()("""
    A weight would have no effect on {--aggregate median}. Use {--aggregate mean}, or give the column of
    weights another role, such as pass.""")
covariances_without_numbers = settings_error()("""
    None of the masked columns holds numbers, so that {--aggregate covariances} would have no effect. Leave
    it out.""")
too_few_for_covariances = settings_error("columns", "records", "statistics", "needed", "lacking")("""
    {records:record}{lacking:? that {records:lacks|lack} {lacking:and}|} {records:is|are} too few for
    {--aggregate covariances}: {statistics} {statistics:variance|variances and covariances} of
    {columns:some} would be kept, which tells too much of single respondents with fewer than {needed}
    records (5 for each). {lacking:?Leave out these records, mask|Mask} fewer columns together, or use
    {--aggregate mean}.""")
too_few_groups_for_covariances = settings_error("columns", "groups", "needed")("""
    {--aggregate covariances} of {columns:some} needs at least {needed:group}, whose means vary in as many
    directions as the records do; there {groups:is|are} {groups:group}. Use a smaller k, mask fewer columns
    together, or use {--aggregate mean}.""")
too_large_for_covariances = data_error("column")("""
    Column '{column}' has values so large that they overflow when means are moved outside its range, as
    {--aggregate covariances} does. Use a larger unit, {--clip true}, or {--aggregate mean}.""")
retry_and_accept = settings_error()("""
    {--retry true} looks for groups with several confidential values, {--accept distinct} accepts groups
    without them. Keep one of the two.""")
option_without_effect = settings_error("option", "condition")(
    "{option:option} has an effect only if {condition}. Leave it out."
)
needs_role = settings_error("columns", "identifying")("""
    {columns:A column|Columns} without a role may identify single respondents: {identifying:explained}. Give
    {columns:it|each} a role: drop (not released), keys or each (masked), confidential, or pass (released
    unchanged).""")
columns_without_role = settings_error("columns", "identifying")("""
    {columns:A column has|{columns:column} have} no role: {columns:quoted}.{identifying:? Single respondents
    may be identified by {identifying:explained}.|} Give {columns:it|each} one: keys (masked), strata,
    confidential, pass (released unchanged) or drop (left out); or release the rest unchanged ({--rest
    pass}), or leave it out ({--rest drop}).""")


# The codes of strata are values of respondents and are not named.
strata_too_small = settings_error("small", "strata", "smallest", "k", "columns")("""
    {small} of {strata} {strata:stratum|strata} ({columns:all}) {small:has|have} fewer than k = {k} records;
    the smallest has {smallest}. Let their records join the nearest group ({--small_strata nearest}), leave
    them out ({--small_strata suppress}), or use coarser strata or a smaller k.""")
all_suppressed = settings_error("k")("""
    Every stratum has fewer than k = {k} records: leaving them out would leave nothing. Use coarser strata,
    make the columns keys, or use a smaller k.""")
no_group_to_join = settings_error("k")("""
    Every stratum has fewer than k = {k} records, so that there is no group that they could join. Use
    coarser strata, make the columns keys, or use a smaller k.""")
no_group_with_these_keys = settings_error("records", "k")("""
    {records:record} of strata with fewer than k = {k} records {records:misses|miss} keys that all groups
    have, and can join none of them. Leave small strata out ({--small_strata suppress}), use coarser strata,
    or a smaller k.""")
no_codes = data_error("column", "kind")("""
    Column '{column}' holds values of type {kind}, which cannot be strata. Give it another role, or use a
    column of codes or numbers.""")
unusable_type = data_error("column", "kind")("""
    Column '{column}' holds values of type {kind}, which cannot be used. Convert it, or remove it from the
    data.""")
invalid_unicode = data_error("column")("""
    Column '{column}' holds text that is not valid Unicode (lone surrogates). It was probably read in a
    wrong encoding: read it again, or remove the column.""")
nan_as_code = data_error("column", "records")("""
    Column '{column}' is NaN in {records:record}; strata must be values or missing. Replace NaN by null, or
    give the column another role.""")
missing_keys = data_error("column", "missing", "n")("""
    Column '{column}' has {missing:missing value} in {n:record}. Group records that miss the same values
    ({--missing by-pattern}), fill in or remove these records, or do not use the column as a key.""")
too_few_without_keys = data_error("records", "k")("""
    All keys of a subset would be missing in {records:record}, fewer than k = {k}. Remove such records, mask
    these columns together with others that are less often missing, drop the columns, or use a smaller
    k.""")
bad_weights = data_error("column", "what", "weights")("""
    Column '{column}' has {weights} {what} {weights:weight|weights}; every weight must be a number from
    1e-100 to 1e100. Correct or remove these records, or use no weight.""")
noise_needs_spread = data_error("column")("""
    Column '{column}' has fewer than two different values: its standard deviation is zero, and so would be
    the noise. Release it unchanged, or drop it.""")
too_large_for_noise = data_error("column", "limit")("""
    Column '{column}' has values beyond {limit:.0e}, too large to add noise to. Use another unit, or mask
    the column by itself ({--confidential_as subset}).""")
nothing_to_mask = text()("""
    Nothing in this file can be masked: no column holds numbers, dates or few enough categories. Recode
    columns of many categories to fewer, and plan again. If a column was taken for an identifier by mistake,
    name it as a key.""")
two_weights = settings_error("columns")("""
    There {columns:is|are} {columns:column} with the role weight ({columns:and}); keep one.""")

# --- plan files -----------------------------------------------------------------------------------

unknown_plan_options = settings_error("source", "names", "known")("""
    {source} has {names:an option|options} that no plan has: {names:hinted in known}. {--microagg plan}
    writes a plan that can be used.""")
in_plan = settings_error("source", "error")("In {source}: {error}")
plan_not_toml = settings_error("source", "line")("""
    {source} is not TOML: line {line} cannot be read. Write each option once, as name = value, with text in
    quotes, such as missing = "refuse".""")
plan_not_utf_8 = settings_error("source", "line")(
    "{source} is not text in UTF-8: see line {line}. Save it as UTF-8."
)
plan_too_large = settings_error("source", "most")("""
    {source} has more than {most} bytes, too many for a plan. Give a plan file.""")
not_unicode = settings_error()("""
    A path or a name has bytes that are not text in UTF-8, so that no plan can name it. Rename it.""")
plan_exists = settings_error("path")("""
    {path} exists already. Choose another name (-o), or replace it with {--force true}; -o - prints the
    plan.""")
no_plan = settings_error("reason")("No plan is written, as protect would refuse it. {reason}")
singles_out = text("what", "unique", "of")("""
    {what}; released unchanged, it would make {unique:,} of {of:,} records unique in their groups""")
function_of_a_key = text("key")("""
    a function of {key}, which is masked: the means of both together could give values away""")
same_in_groups = text("what", "groups", "of")("""
    {what}, but all records of {groups:,} of {of:,} groups would share its value, which gives it away""")
dominates_groups = text("groups", "of")("""
    survey weights, but in {groups:,} of {of:,} groups one record would have more than half of the weight:
    try a larger k""")
note_jointly_unique = text("columns", "unique", "of")("""
    Released unchanged, {columns:list} together make {unique:,} of {of:,} records unique in their groups.
    Drop or recode those that others may know.""")
note_confidential_suggested = text("columns", "unique", "of")("""
    Confidential columns ({columns:list}) are released unchanged, with different values in every group; by
    them, {unique:,} of {of:,} records are unique in their groups. Make those that others may know keys:
    then they are masked.""")


def note_missing_codes(column: str, codes: Sequence[int | str], records: int, labelled: bool) -> str:
    """`records` have a code that is a number; `labelled`: the file's own labels call them missing."""
    texts = [f'"{code}"' for code in codes if isinstance(code, str)]
    numbers = [str(code) for code in codes if not isinstance(code, str)]
    reasons = [f"{', '.join(texts)}: all other values of the column are numbers"] if texts else []
    if numbers:
        why = "their labels say that there is no answer"
        if not labelled:
            why = (
                "they look like codes, are repeated, and are the smallest or largest values, far from the "
                "others"
            )
        reasons.append(f"{', '.join(numbers)} in {count(records, 'record')}: {why}")
    return f"{column}: {'; '.join(reasons)}."


note_codes_are_a_judgement = text()("""
    They are read as missing. If they are answers, such as the largest amount that could be recorded, remove
    them here.""")
note_nominal_suggested = text()("""
    Each group publishes the most frequent category. Numbers are here because they are codes, or have only
    two values. Remove a column whose mean makes sense; columns of 0 and 1 are categories in any case.""")
note_ordinal_suggested = text()("""
    From the lowest level to the highest; an empty list: in the order of the file. Each group publishes its
    median level. Move a column whose categories have no order to nominal.""")
note_retry_suggested = text()("""
    This plan was tried with the groups of a quick method, and these are safe. If the groups of a longer
    search are not, other methods are tried, the quick one among them.""")
