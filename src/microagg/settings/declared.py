"""All options. The command line, plan files, the browser and the reference page are made from these fields.

A field has the kind of the option, its meaning in one sentence, its heading, its default, and the commands
that take it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from microagg import wording
from microagg.settings import kinds
from microagg.settings.kinds import Code, Flag, Names, OneOf, Text
from microagg.settings.options import REQUIRED, Needs, Option, option, options_of

if TYPE_CHECKING:
    from microagg.model import Effort, ScaleName  # NumPy takes longer than the command's help

SmallStrata = Literal["refuse", "nearest", "suppress"]
Missing = Literal["refuse", "by-pattern"]
Categories = Literal["mode", "margins", "tables", "existing"]
Aggregate = Literal["mean", "median", "covariances"]
Zeros = Literal["together", "apart"]
Rest = Literal["refuse", "pass", "drop"]
ConfidentialAs = Literal["keep", "subset", "noise", "correlated-noise"]

# Headings of the help and of plan files.
COLUMNS = "Columns"
KINDS = "Kinds of keys"
POLICIES = "Policies"
CONFIDENTIAL = "Confidential columns"
METHOD = "Method"
FILES = "Files"
OUTPUT = "Output"

# Parts of the browser's form.
FIRST = "Groups"
MORE = "More settings"
ACCEPT = "Accept what would be refused"

# Commands that have options in common.
READING = ("plan", "protect", "compare", "partition", "bound", "verify-certificate")
PARTITIONING = ("protect", "compare", "partition", "bound")
JUDGING = ("protect", "assess", "compare")
TRYING = ("protect", "compare")
NO_COMMAND = ("",)
"""The command line has an argument for it."""

_column_option = partial(option, COLUMNS)
_role = partial(option, COLUMNS, commands=JUDGING)
_kind_option = partial(option, KINDS, commands=JUDGING)
_policy = partial(option, POLICIES)
_confidential_option = partial(option, CONFIDENTIAL, form=CONFIDENTIAL)
_method_option = partial(option, METHOD)
_search_option = partial(option, METHOD, form=MORE)
_file_option = partial(option, FILES)
_csv_option = partial(option, FILES, commands=(*READING, "assess"))
_output_option = partial(option, OUTPUT)
_output_file = partial(option, OUTPUT, kinds.File())
_output_flag = partial(option, OUTPUT, Flag())

COLUMN = Text("the name of one column", "COLUMN")

ACCEPTABLE = {
    "respondents": "groups of fewer than k respondents, where the respondent was only guessed",
    "derived": "a masked column that others give back in nearly all records",
    "predicted": "confidential columns that follow from the keys",
    "distinct": "groups with too few confidential values",
    "dominated": "groups in which one record has most of an amount or of the weight",
    "pairs": "k = 2, where each of a pair can compute the other's values",
    "real-values": "medians, or ends of a range, that are somebody's own value",
    "partial": "k for each subset of keys, not for all keys jointly",
}
"""Rules whose findings can be accepted, and what is accepted; `verify/rules.py` has all rules."""

RESOLUTIONS = ("second", "minute", "hour", "day", "month", "year")
"""To which dates and times can be released."""

NO_RESPONDENT = "none"
"""As the respondent: each record is a respondent of its own."""

SECONDS_OF_PROOF = 60.0
"""A proof that takes longer is rarely worth it."""

SECONDS_OF_CHECK = 3600.0
"""Enough for honest certificates; a forged one could take for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSettings:
    """Where the data are and how their file is written."""

    input: str | None = _file_option(
        Text(), "The file to protect.", commands=NO_COMMAND, example="data.csv"
    )
    output: str | None = _file_option(
        Text(),
        "The protected file; its ending names its format. By default NAME-protected beside the file.",
        commands=("protect",),
        flags=("-o", "--output"),
        example="protected.csv",
    )
    delimiter: str | None = _csv_option(
        kinds.Delimiter(),
        "Of a CSV file: the sign between fields; detected by default.",
        label="Sign between fields",
        example=";",
    )
    encoding: str | None = _csv_option(
        Text("the name of an encoding"),
        "Of a CSV file: its encoding, such as utf-8 or windows-1252; detected by default.",
        label="Encoding",
        example="utf-8",
    )
    decimal: str | None = _csv_option(
        OneOf({".": "point", ",": "comma"}),
        "Of a CSV file: its decimal sign, a point or a comma; detected by default.",
        default=None,
        label="Decimal sign",
        example=",",
    )
    header: str | None = _file_option(
        OneOf({"yes": "names of the columns", "no": "a record: there are no names"}),
        "Of a CSV or Excel file: whether its first row holds the names of the columns or is a record, so "
        "that columns are called column1, column2, …; detected by default.",
        default=None,
        label="First row",
        example="yes",
    )
    sheet: str | None = _file_option(
        Text("the name of a sheet"),
        "Of an Excel file: the sheet to read, with its hidden rows and columns.",
        label="Sheet",
        example="Data",
    )
    header_row: int | None = _file_option(
        kinds.Int(at_least=1),
        "Of a CSV or Excel file: the row that holds the names, counted from 1; rows above it are skipped.",
        label="Row with the names",
        example=3,
    )


FILE_OPTIONS = {
    name: each for name, each in options_of(FileSettings).items() if name not in ("input", "output")
}
"""On how a file is written, see `model.Layout`."""

_CONFIDENTIAL_NAMED = Needs("confidential columns are named", lambda given: bool(given.confidential))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionSettings:
    """What shall be done to which columns."""

    k: int = _column_option(
        kinds.GroupSize(),
        "At least this many records share each released combination of the keys; 3 or more.",
        default=REQUIRED,
        label="Smallest group, k",
        form=FIRST,
        example=3,
    )
    keys: tuple[Names, ...] = _role(
        kinds.Subsets(),
        "Columns by which somebody could be recognised: numbers, dates or categories. Those of one subset "
        "are masked jointly, and k holds for each subset by itself.",
        label="key: masked jointly",
        example=[["turnover", "employees"]],
    )
    each: Names = _column_option(
        kinds.NameList(),
        "Columns that are masked one by one: k holds for each alone, not jointly.",
        commands=("protect", "assess"),
        label="key, masked by itself",
        example=["surface"],
    )
    strata: Names = _role(
        kinds.NameList(),
        "Columns of few values that stay unchanged; no group has records of two combinations of them, and "
        "they count as keys.",
        label="stratum: never crossed",
        example=["region"],
    )
    confidential: Names = _role(
        kinds.NameList(),
        "Columns that others must not learn about a respondent, such as an income or an illness: every "
        "group has several values of each.",
        label="confidential",
        example=["profit"],
    )
    drop: Names = _column_option(
        kinds.NameList(),
        "Columns that are left out, such as names and numbers of persons.",
        label="drop: not released",
        example=["name"],
    )
    pass_: Names = _column_option(
        kinds.NameList(),
        "Columns that are released unchanged and are no keys.",
        label="pass: released as is",
        example=["year"],
    )
    weight: str | None = _role(
        COLUMN,
        "The column of survey weights, all above zero: means are weighted.",
        label="survey weight",
        example="weight",
    )
    respondent: str | None = _column_option(
        COLUMN,
        "The column that says whose record it is, where respondents have several: k counts respondents, "
        "and the column is left out. none: every record is a respondent of its own.",
        label="Column of the respondents",
        form=MORE,
        example="company_id",
    )
    amounts: Names = _column_option(
        kinds.NameList(),
        "Masked columns that hold amounts, such as a turnover: no record may have nearly all of a group's.",
        label="Masked columns that hold amounts",
        form=MORE,
        example=["turnover"],
    )
    nominal: Names = _kind_option(
        kinds.NameList(),
        "Keys that hold categories, whatever their type, such as codes of regions: a group publishes one "
        "for all its records. Columns of text, of true and false, and of 0 and 1 need not be named.",
        label="categories",
        example=["region"],
    )
    ordinal: Mapping[str, Names] = _kind_option(
        kinds.LevelsByColumn(),
        "Keys with ordered levels, from the lowest to the highest, or in the order of the file's own "
        "categories or labels: by default a group publishes its median level.",
        label="ordered levels",
        example={"education": ["primary", "secondary", "tertiary"]},
    )
    resolution: Mapping[str, str] = _kind_option(
        kinds.ChoiceByColumn(RESOLUTIONS, "birth=month"),
        "How exactly dates of a key are released: to the second, minute, hour, day, month or year; by "
        "default as in the source.",
        commands=("protect",),
        label="Resolution of dates",
        form=MORE,
        example={"birth": "month"},
    )
    taxonomy: Mapping[str, str | Mapping[str, str]] = _kind_option(
        kinds.TaxonomyByColumn(),
        "Taxonomies of keys that hold codes, such as occupations: CSV files with the columns code and "
        "parent, which is empty at the top. The more levels two codes share, the nearer they are; a group "
        "publishes that of its codes which is nearest to all.",
        example={"occupation": "isco.csv"},
    )
    importance: Mapping[str, float] = _kind_option(
        kinds.NumberByColumn(),
        "How much a key counts in the search and in the information loss; 1 by default.",
        label="Importance of keys",
        form=MORE,
        example={"income": 2},
    )
    rest: Rest = _policy(
        OneOf(
            {
                "refuse": "refuse",
                "pass": "pass: release them unchanged",
                "drop": "drop: leave them out",
            }
        ),
        "What happens to columns without a role.",
        label="Columns without a role",
        form=MORE,
    )
    small_strata: SmallStrata = _policy(
        OneOf(
            {
                "refuse": "refuse",
                "nearest": "their records join the nearest group",
                "suppress": "suppress: leave their records out",
            },
            replaced={"merge": "nearest"},
        ),
        "What happens to strata of fewer than k records: nothing is released, or each of their records "
        "joins the nearest group and takes its codes, or they are left out.",
        commands=TRYING,
        label="Strata with fewer than k records",
        form=FIRST,
        needs=Needs("strata are named", lambda given: bool(given.strata)),
    )
    missing: Missing = _policy(
        OneOf({"refuse": "refuse", "by-pattern": "by-pattern: group records that miss the same"}),
        "What happens to records with missing values in keys.",
        commands=TRYING,
        label="Missing values in keys",
        form=FIRST,
    )
    missing_codes: Mapping[str, tuple[Code, ...]] = _policy(
        kinds.CodesByColumn(),
        "Numbers and texts of a column that stand for a missing answer, such as age=9,99 or pay=-.",
        commands=JUDGING,
        label="codes for missing",
        example={"age": [99, 999], "wages": ["."]},
    )
    aggregate: Aggregate = _policy(
        OneOf(
            {
                "mean": "mean",
                "median": "median",
                "covariances": "mean, moved so that covariances are kept",
            }
        ),
        "What replaces the values of a group. With covariances, the means of numbers are moved by one "
        "linear map so that all variances, correlations and linear regressions among them are those of "
        "the source.",
        label="A group publishes its",
        form=MORE,
    )
    categories: Categories = _policy(
        OneOf(
            {
                "mode": "mode: the most frequent of each key, or the median level",
                "margins": "margins: such that categories stay as frequent as they are",
                "tables": "tables: such that tables of any two columns stay as they are",
                "existing": "existing: the nearest combination that the source has",
            }
        ),
        "Which of the categories of its records a group publishes; with tables, its numbers follow too.",
        label="Categories that a group publishes",
        form=MORE,
    )
    clip: bool = _policy(
        Flag(),
        "Move published numbers that are outside the source's range to its ends; covariances are then kept "
        "only nearly.",
        label="Clip numbers to the source's range",
        form=MORE,
        needs=Needs("aggregate is covariances", lambda given: given.aggregate == "covariances"),
    )
    decimals: Mapping[str, int] = _policy(
        kinds.DecimalsByColumn(),
        "Decimals of a masked column as it is released; by default two more than the source has.",
        label="decimals",
        example={"employees": 0},
    )
    zeros: Zeros = _policy(
        OneOf({"together": "together with other values", "apart": "apart: records with the same zeros"}),
        "Whether records with zeros in keys are grouped with others, or only with those of the same zeros.",
        commands=TRYING,
        label="Zeros in keys",
        form=MORE,
        needs=Needs("aggregate is mean or median", lambda given: given.aggregate != "covariances"),
    )
    keep_order: bool = _policy(
        Flag(),
        "Keep the records in the order of the source, which may tell whose record is whose; by default "
        "they are shuffled.",
        label="Keep the order of the records",
        form=MORE,
    )
    p_percent: float = _policy(
        kinds.Number("a percentage above 0 and below 100", lambda percent: 0 < percent < 100),
        "Nobody can estimate another's amount more closely than by this percentage from what a group "
        "publishes.",
        default=10.0,
        label="Estimates of amounts, at most so close, in percent",
        form=MORE,
        needs=Needs("amounts are named", lambda given: bool(given.amounts)),
    )
    accept: Names = _policy(
        kinds.Acceptances(ACCEPTABLE),
        "What would be refused and is accepted nevertheless: a rule, or a rule for one column, such as "
        "distinct=vote.",
        commands=("plan", *TRYING),
        label="Accept",
        form=ACCEPT,
        example=["distinct"],
    )
    confidential_as: ConfidentialAs = _confidential_option(
        OneOf(
            {
                "keep": "keep: as they are",
                "subset": "subset: masked by themselves",
                "noise": "noise: with noise",
                "correlated-noise": "correlated-noise: with noise that keeps correlations",
            }
        ),
        "How confidential columns are released: unchanged, masked as a subset of their own, or with noise.",
        label="Confidential columns are released",
        needs=_CONFIDENTIAL_NAMED,
    )
    noise: float = _confidential_option(
        kinds.Number(
            "a number of at least 0.01, such as 0.1: with less, values hardly change",
            lambda noise: noise >= 0.01,
        ),
        "Standard deviation of the noise as a share of the column's, at least 0.01.",
        default=0.1,
        label="Noise",
        needs=Needs("confidential_as is noise or correlated-noise", lambda given: bool(given.noised)),
    )
    min_distinct: int = _confidential_option(
        kinds.Int(at_least=2),
        "Every group has at least this many values of each confidential column.",
        default=2,
        label="Confidential values in a group, at least",
        needs=_CONFIDENTIAL_NAMED,
    )
    retry: bool = _confidential_option(
        Flag(),
        "Try other groups if some have too few confidential values, or one record with most of the weight.",
        label="Try other groups until they have enough",
        needs=Needs(
            "confidential columns or a weight are named",
            lambda given: bool(given.confidential or given.weight),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSettings:
    """How groups are looked for."""

    method: Any = _method_option(
        kinds.Recipe(),
        "A method or recipe, see `microagg methods`.",
        default="auto",
        commands=("protect", "partition"),
        label="Method",
        form=FIRST,
    )
    scale: ScaleName = _search_option(
        OneOf(
            {
                "zscore": "zscore: standard deviations",
                "range": "range: from smallest to largest",
                "robust": "robust: median deviations",
                "rank": "rank: places in the order",
                "none": "none: as they are",
            }
        ),
        "The common unit to which columns are brought.",
        label="Common unit",
    )
    effort: Effort = _method_option(
        OneOf(
            {
                "fast": "fast: a glance",
                "balanced": "balanced",
                "best": "best: minutes rather than seconds",
            }
        ),
        "How much work is done by methods that can always do more.",
        default="balanced",
        commands=("protect", "compare", "partition"),
        label="Effort",
        form=FIRST,
    )
    seconds: float | None = _search_option(
        kinds.Number(),
        "Time limit of the search for groups, MDAV at its beginning included if the method is `auto`. "
        "Reading, verifying and writing are not covered; `compare` has it for each strategy.",
        commands=("protect", "compare", "partition"),
        label="Limit of time, in seconds",
        example=60,
    )
    seed: int | None = _search_option(
        kinds.Int(at_least=0, bits=64),
        "Fixes the random choices of the search, never noise or the order of records. By default `protect` "
        "draws one, which the internal record keeps; otherwise it is 0.",
        default=None,
        label="Seed",
        example=7,
    )
    threads: int | None = _method_option(
        kinds.Int(at_least=1),
        "Most threads to use, all by default; they never change the result.",
        example=2,
    )
    certify: bool = _search_option(
        Flag(),
        "Also prove how far from the optimum the groups are at most.",
        commands=("protect", "partition"),
        label="Also prove how near to the optimum the groups are",
    )


PLAN_OPTIONS: Mapping[str, Option] = options_of(FileSettings, ProtectionSettings, MethodSettings)
"""What a plan file may have, in its order."""


# --- single commands --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    json: bool = _output_flag("Print one JSON object and nothing else.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectRun:
    """What `microagg protect` has beside the options of a plan."""

    plan: Path | None = _file_option(
        kinds.File(),
        "A plan file, as `microagg plan` writes it; an option given beside it replaces the plan's.",
        commands=JUDGING,
    )
    repeat: Path | None = _file_option(
        kinds.File("RECORD"),
        "The internal record of a release that is to be made again, byte by byte: settings, seed and key "
        "are taken from it.",
        commands=("protect",),
    )
    record: Path | None = _output_option(
        kinds.File("FOLDER"),
        "Folder for the internal record; by default microagg-internal beside the output.",
    )
    labels: bool = _output_flag("Also write the group of each record, into the folder of the record.")
    report: Path | None = _output_file(
        "Also write an HTML page with all that is known about the release, which is not to be released."
    )
    external_report: Path | None = _output_file(
        "Also write an HTML page with what users of the output may know."
    )
    force: bool = _output_flag("Overwrite the output.")
    engine: str = _method_option(
        OneOf({"local": "this machine", "spark": "Spark, for data beyond one machine"}),
        "Where the work is done.",
    )
    master: str | None = _method_option(
        Text(), "Of Spark: local[4], yarn, k8s://…; by default as configured, or local[*]."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRun:
    """What `microagg verify` has beside the release."""

    record: Path | None = _file_option(
        kinds.File("RECORD"),
        "The internal record of the release, or its folder; by default microagg-internal beside it.",
        commands=("verify",),
    )
    source: Path | None = _file_option(
        kinds.File(),
        "The file that was protected, if it is no longer where the record says.",
        commands=("verify",),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRun:
    output: Path = _output_file(
        "Where the plan is written; - prints it instead of the table.",
        default=Path("plan.toml"),
        flags=("-o", "--output"),
    )
    k: int = _column_option(
        kinds.GroupSize(),
        "At least this many records will share each released combination of the keys.",
        default=3,
    )
    force: bool = _output_flag("Replace an existing plan.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRun:
    k: int = _column_option(
        kinds.GroupSize(), "Smallest allowed group size, at least 2.", default=REQUIRED, example=3
    )
    columns: Names = _column_option(
        kinds.NameList(),
        "The columns to use; by default all.",
        commands=("partition", "bound", "verify-certificate"),
    )
    labels: Path | None = _output_file("Write the group of each record to this new CSV file.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundRun:
    seconds: float = _method_option(kinds.Number(), "Time limit of the proof.", default=SECONDS_OF_PROOF)
    gap: float = _method_option(
        kinds.Number("a number of percent from 0 to below 100", lambda gap: 0 <= gap < 100),
        "Stop when the groups are proven to be at most this many percent above the optimum.",
        default=0.0,
    )
    certificate: Path | None = _output_file(
        "Write the proof to this new JSON file, for verify-certificate; it is internal, like the data."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    seconds: float = _method_option(
        kinds.Number(), "Time limit, after which nothing counts as proven.", default=SECONDS_OF_CHECK
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessSettings:
    """What `assess` has beside roles of columns."""

    id: str | None = _column_option(
        COLUMN,
        "A column by which records of both files are matched; by default they are matched by their order.",
    )
    k: int | None = _column_option(
        kinds.GroupSize(),
        "How many records should share each combination of the keys: it is counted whether they do.",
    )
    model: Names = _method_option(
        kinds.Texts("model"), 'A regression to compare, such as "income ~ age + size".'
    )
    indicator: Names = _method_option(
        kinds.Texts("indicator"), 'A figure to compare, such as "mean income by region".'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings:
    measures: Names = _method_option(
        kinds.NameList("measure"),
        "Measures to compute, see `microagg explain`; by default all, or the usual ones of `compare`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessRun:
    record: Path | None = _file_option(
        kinds.File("RECORD"),
        "The internal record of the protected file, if protect made it: it has the roles, and says which "
        "record is whose, also after shuffling and suppression.",
    )
    all_: bool = _output_flag("Print every measure, not only the most important ones.")
    details: bool = _output_flag("Also print the parts of each measure, such as those by column.")
    report: Path | None = _output_file("Also write an HTML page, which is not to be released.")


def _several_of(name: str) -> Any:
    """An option of `protect` of which `compare` tries several values."""
    one = PLAN_OPTIONS[name]
    assert isinstance(one.kind, OneOf)
    several = f"{one.help} All that are given are tried."
    return option(one.group, kinds.SeveralOf(one.kind), several)


REPRESENTATIVES = ("categories", "aggregate")
"""Options about what a group publishes, in which strategies can differ."""
VARIED = ("subsets", *REPRESENTATIVES)
"""Columns of a comparison that are shown where strategies differ in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """What `compare` has beside options of `protect`."""

    k: Any = _column_option(kinds.GroupSizes(), "Smallest group sizes to try.", default=(3, 5, 10))
    methods: Names = _method_option(
        kinds.NameList("method"),
        "Methods or recipes to try, see `microagg methods`.",
        default=("mdav", "auto"),
    )
    subsets: Any = _column_option(
        kinds.Splits(), "A way to split the keys: joint, each, or subsets such as a,b/c,d."
    )
    categories: Names = _several_of("categories")
    aggregate: Names = _several_of("aggregate")
    max_risk: float = _method_option(
        kinds.Number("a share from 0 to 1, such as 0.1", lambda share: 0.0 <= share <= 1.0),
        "Largest share of records that may be linked; recommended is the least loss within it.",
        default=0.1,
    )
    record: Path | None = _output_option(
        kinds.File("FOLDER"),
        "Folder for finished strategies; by default microagg-internal beside the file.",
    )
    again: bool = _output_flag(
        "Compute everything anew, also what was finished earlier.",
        needs=Needs("there is a record", lambda given: given.record is not None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRun:
    output: Path | None = _output_file("Write the table to this CSV file.", flags=("-o", "--output"))
    map_: Path | None = _output_file("Draw the risk-utility map into this SVG file.")
    force: bool = _output_flag("Overwrite the table and the map.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodsRun:
    all_: bool = _output_flag("List every method, not only those that most users need.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRun:
    port: int = _file_option(kinds.Int(bits=16), "Port to serve on; 0: any that is free.", default=0)
    host: str = _file_option(
        Text(), "Address to serve on; any but the default can be reached by others.", default="127.0.0.1"
    )
    open: bool = _output_flag("Open a browser, too.", default=True, flags=("--open/--no-open",))
    allow_paths: bool = _file_option(Flag(), "Let the pages open any file that you can read, by its path.")
    keep: Path | None = _file_option(
        kinds.File("FOLDER"),
        "Keep data and releases in this folder, for the next time; by default they are removed at the end.",
    )
    memory: float | None = _method_option(
        kinds.Number(), "Most memory of a job, in GiB; by default a quarter of the machine's."
    )
    minutes: float = _method_option(kinds.Number(), "Most minutes of a job.", default=60.0)


_SETTINGS: Mapping[type, tuple[str, ...]] = {
    ProtectionSettings: ("protect",),
    AssessSettings: ("assess",),
    MeasureSettings: ("assess", "compare"),
    CompareSettings: ("compare",),
    PlanRun: ("plan",),
    PartitionRun: ("partition", "bound"),
    MethodSettings: PARTITIONING,
    BoundRun: ("bound",),
    CheckRun: ("verify-certificate",),
    ServeRun: ("serve",),
    FileSettings: READING,
    AssessRun: ("assess",),
    ProtectRun: ("protect",),
    VerifyRun: ("verify",),
    CompareRun: ("compare",),
    MethodsRun: ("methods",),
    Printing: (*READING, "verify", "assess", "explain", "methods"),
}
"""With the commands that take their options, unless an option names others."""

LAYOUT_OF_TWO_FILES = {
    name: replace(PLAN_OPTIONS[name], kind=kinds.OfTwoFiles(PLAN_OPTIONS[name].kind), commands=("assess",))
    for name in ("header", "sheet", "header_row")
}

_OPTIONS_OF_COMMANDS = [
    (each, each.commands or commands)
    for settings, commands in _SETTINGS.items()
    for each in options_of(settings).values()
] + [(each, each.commands) for each in LAYOUT_OF_TWO_FILES.values()]


def options_of_command(command: str) -> dict[str, Option]:
    return {each.name: each for each, commands in _OPTIONS_OF_COMMANDS if command in commands}


def label_of(name: str, value: str | None = None) -> str | None:
    """What the browser calls an option of a plan, or one of its choices; None if it has no control."""
    if name not in PLAN_OPTIONS:
        return None
    each = PLAN_OPTIONS[name]
    return each.label or None if value is None else each.kind.choices.get(value)


_CONTROLS_OF_COMMANDS = {"methods": PLAN_OPTIONS["method"].label, "plan": "Save the settings as a plan"}
"""What the browser calls that which does the same as a command."""


def control_of(option: str, value: object) -> str | None:
    """How the browser names an option, with one of its values if one is given; None without a control."""
    if option == wording.COMMAND:
        return _CONTROLS_OF_COMMANDS.get(str(value))
    own = label_of(option)
    if own is None or value in (None, True) or isinstance(value, dict):
        return own
    return f"{own}: {label_of(option, str(value)) or value}"


ON_PAGES = wording.on_pages(control_of)
"""Messages that name options as the browser does."""
