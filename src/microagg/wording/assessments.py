"""Messages of `assess` and `compare`, and of the measures that they compute."""

from __future__ import annotations

from microagg.wording.template import data_error, settings_error, text

# --- files to compare -----------------------------------------------------------------------------

unknown_measure = settings_error("name", "known")("""
    There is no measure '{name}'{name:nearest in known}. `microagg explain` lists all of them.""")
no_keys_to_assess = settings_error()("""
    No masked column is named. Name the columns that were masked, with {--keys} (masked together;
    once for each subset) or {--each} (every column by itself).""")
only_for_keys = settings_error("option", "column")("""
    {option:option} would have no effect on column '{column}', which is not a key. Leave it out.""")
no_csv_at_all = settings_error("options")("""
    {options:options} would have no effect: neither of the two files is a CSV file. Leave out what has no
    effect.""")
no_effect_on_either = settings_error("option", "kinds")("""
    {option:option} would have no effect: neither of the two files is {kinds:an|a} {kinds:or} file. Leave it
    out.""")
one_standard_input = settings_error()("""
    Only one of the two files can be - (standard input). Give a file for the other one.""")
keys_split_twice = settings_error()("""
    The keys are given in several subsets, and ways to split them are given as well. Give all keys as one
    list, and each way to split them with {--subsets}.""")
not_a_split = settings_error("named", "keys")("""
    The subsets {named:long list} do not split the keys {keys:long list}: each key must be in exactly one
    subset.""")


def rule_of_choice(loss: str, risk: str, most: float, fit: int, of: int) -> str:
    if fit:
        return f"least {loss} among the {fit} of {of} with {risk} at most {most:g}"
    return f"least {risk}, since none of {of} has {risk} at most {most:g}"


note_needs = text("rules")("note: to release this, protect would have to accept {rules}")
kept_for_later = text("path")("""
    Interrupted. What is finished is kept in {path}; the same command continues from there.""")
only_csv = settings_error("path")("The results are written as CSV: the name {path} must end in .csv.")
only_svg = settings_error("path")("The map is drawn as SVG: the name {path} must end in .svg.")
note_hidden_groups = text("groups", "fewest")("  {groups:group} of fewer than {fewest} records not shown")
no_details_in_json = settings_error("option")("""
    --{option} has no effect with --json, which has every measure in all details. Leave it out.""")
all_and_some = settings_error()("""
    --all prints every measure, and --measures chooses some. Leave out one of them.""")
more_measures = text("measures")("{measures:more measure}: table(every=True)")
more_measures_by_option = text()("all measures: --all; what one means: microagg explain NAME")
in_file = data_error("which", "name", "error")("In the {which} file ({name}): {error}")
not_in_protected = data_error("columns", "known", "role")("""
    The protected file has no column {columns:hinted in known}, named in {role}. Leave it out there, or
    rename it as in the original. The file has: {known:long list}.""")
different_records = data_error("original", "protected")("""
    The original file has {original:record}, the protected file {protected}. To match records by their
    order, both files must have the same records. Otherwise name a column that identifies records in both
    files ({--id}); then the protected file may lack some of them. For a release of protect, give its
    internal record ({--record}).""")
missing_ids = data_error("column", "which", "records")("""
    Column '{column}' of the {which} file is missing in {records:record}; every record needs an id. Use
    another column, or match records by their order.""")
repeated_ids = data_error("column", "which", "records")("""
    Column '{column}' of the {which} file repeats an id in {records:record}; every record needs an id of its
    own. Use another column, or match records by their order.""")
unknown_ids = data_error("column", "records", "of")("""
    {records} of {of:record} of the protected file {records:has|have} an id in column '{column}' that no
    record of the original has. Give the original from which the protected file was made, with the same
    ids.""")
other_order = data_error("column", "records", "of")("""
    The files seem to have their records in different orders: column '{column}', which is not a key, has the
    same values in both files, but in {records} of {of:record} not at the same place. Name a column that
    identifies records in both files ({--id}), or bring the files into the same order; for a release of
    protect, give its internal record ({--record}); if the values were
    swapped on purpose, name the column as a key.""")
one_record = data_error()("There is only one record; measures of risk and utility need at least 2.")
all_missing = data_error("column", "which")("""
    Column '{column}' has no value at all in the {which} file, so nothing can be measured on it. Leave it
    out of the keys.""")
no_common_values = data_error("column")("""
    Column '{column}' has no record with a value in both files, so nothing can be measured on it. Leave it
    out of the keys, or check that the files belong together.""")

not_the_kind_of_original = data_error("column", "what")("""
    Column '{column}' holds {what} in the original file and something else here. Write it in the same way in
    both files, or leave it out of the keys.""")
new_levels = data_error("column", "records")("""
    Column '{column}' has levels that the original does not have, in {records:record}. If another tool has
    put levels together, name the column with {--nominal}; otherwise check that the files belong
    together.""")
no_common_categories = data_error("column")("""
    Column '{column}' has no category in common with the original, so nothing can be measured on it. Write
    it in the same way in both files, or leave it out of the keys.""")

# --- the risk of a file as it is ------------------------------------------------------------------

nothing_to_count = settings_error()("""
    No column is named by which somebody could be recognised. Name such columns, of any type, with {--keys}
    or {--strata}.""")
needs_protected = settings_error("option")("""
    {option:option} has an effect only where a protected file is given beside the original. Leave it out, or
    give both files.""")
keys_and_strata = text("columns")("Keys and strata: {columns:list}.")
more_pairs = text("pairs")("and {pairs:more pair}")
pairs_left_out = text("columns", "most")("""
    {columns:column} {columns:is|are} in no pair: only the {most} keys with the most values are paired""")
unique_now = text("columns", "unique", "records")("""
    {columns:This column makes|These {columns} columns make} {unique:share in records} unique now.""")
below_k_now = text("below", "records", "k")("""
    {below:share in records} have a combination that fewer than {k} records share.""")
unique_by_all = text("columns", "dropped", "unique", "records")("""
    Together, the {columns} columns {dropped:?that are not dropped|of the file} make {unique:share in
    records} unique.""")


# --- measures, models and indicators --------------------------------------------------------------

note_cells_left_out = text("cells", "of")(
    "{cells:,} of {of:,} cells are missing before or after masking and left out"
)
note_records_left_out = text("records", "of")(
    "{records:,} of {of:,} records have missing cells and are left out"
)
note_constant_columns = text("same", "changed")("""
    {same:?left out, as all original values are equal: {same:and}|}{same:?{changed:?; |}|}{changed:?left out
    although changed, as all original values are equal: {changed:and}|}""")
note_empty_columns = text("columns")(
    "left out, as no record has a value before and after masking: {columns:and}"
)
note_nothing_to_compare = text()("nothing to compare: no column with two different values is left")
note_dependent_columns = text("columns")("left out, as the columns before them give them: {columns:and}")
note_no_numbers = text()("no key holds numbers or dates")
note_categories_left_out = text("columns")("left out, as they hold categories: {columns:and}")
note_one_attribute = text()("there is one key only and no confidential column: no pair")
note_sample = text("records", "of")("estimated from a fixed random sample of {records:,} of {of:,} records")
note_one_column = text()("there is no pair of columns")
note_null_components = text("components")(
    "{components:component} without any variance in the original left out"
)
note_flat_parts = text("what", "number")("{number} {what} without different original values left out")
note_propensity = text("terms")("""
    {terms} terms; near 1, the table differs no more than records drawn at random from the original""")
bad_model = settings_error("text")("""
    '{text}' is not a model; write the column to be explained, a tilde and the columns that explain it, such
    as 'y ~ a + b'. Put names with ~, + or spaces at their ends in backticks: `a+b`.""")
model_names_twice = settings_error("column")(
    "The model names column '{column}' twice; name each column once."
)
bad_indicator = settings_error("text")("""
    '{text}' is not an indicator; write 'mean income', 'total turnover by region' or the like. Put names
    that contain ' by ' in backticks.""")
not_in_model = settings_error("what", "column", "exists", "numeric")("""
    {what} names column '{column}'{exists:?, which holds no numbers. Use numeric columns that are in both
    tables: {numeric:list}|{column:nearest in numeric}, which is not a numeric column of both tables. They
    have {numeric:list}}.""")
no_such_groups = settings_error("column", "known")("""
    An indicator cannot be computed by column '{column}'{column:nearest in known}: its groups must be the
    same before and after masking. {known:?Columns with the same groups are {known:list}.|No column
    has.}""")
model_too_few = data_error("model", "records", "needed")("""
    The model {model} needs at least {needed} records with values in all of its columns, before and after
    masking; there {records:is|are} {records:such record}. Use fewer columns, or more records.""")
model_constant = data_error("model", "column", "when")("""
    The model {model} cannot be fitted: all values of column '{column}' are equal {when} masking. Leave it
    out.""")
model_collinear = data_error("model", "column", "when")("""
    The model {model} cannot be fitted: column '{column}' is a linear combination of the other explaining
    columns {when} masking. Leave one of them out.""")
