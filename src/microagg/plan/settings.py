"""All options. The command line, plan files, the browser and the reference page are made from these fields.

A field says of which kind the option is, what it means in one sentence, below which heading it stands, its
default, and which commands take it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from microagg.plan.kinds import (
    AnyNumber,
    Code,
    CodesByColumn,
    DecimalsByColumn,
    File,
    Flag,
    GroupSize,
    GroupSizes,
    Int,
    Name,
    NameList,
    Names,
    Noise,
    Number,
    OfTwoFiles,
    OneOf,
    Recipe,
    Share,
    Splits,
    Subsets,
    Text,
    Texts,
)
from microagg.plan.options import REQUIRED, Needs, Option, option, options_of

if TYPE_CHECKING:
    from microagg.model import Effort, ScaleName  # NumPy takes longer than the command's help

SmallStrata = Literal["refuse", "merge", "suppress"]
Missing = Literal["refuse", "by-pattern"]
Aggregate = Literal["mean", "median"]
Zeros = Literal["together", "apart"]
ConfidentialAs = Literal["keep", "subset", "noise", "correlated-noise"]

# Headings of the help and of plan files.
COLUMNS = "Columns"
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

HEADER = OneOf({"yes": "names of the columns", "no": "a record: there are no names"})

SECONDS_OF_PROOF = 60.0
"""A proof that takes longer is rarely worth it."""

SECONDS_OF_CHECK = 3600.0
"""Enough for honest certificates; a forged one could take for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSettings:
    """Where the data are and how their file is written."""

    input: str | None = option(
        Text(), "The file to protect.", FILES, commands=NO_COMMAND, example="data.csv"
    )
    output: str | None = option(
        Text(),
        "The protected file; its ending names its format. By default NAME-protected beside the file.",
        FILES,
        commands=("protect",),
        flags=("-o", "--output"),
        example="protected.csv",
    )
    delimiter: str | None = option(
        Text(),
        "Of a CSV file: the sign between fields; detected by default.",
        FILES,
        commands=(*READING, "assess"),
        label="Sign between fields",
        example=";",
    )
    encoding: str | None = option(
        Text(),
        "Of a CSV file: its encoding, such as utf-8 or windows-1252; detected by default.",
        FILES,
        commands=(*READING, "assess"),
        label="Encoding",
        example="utf-8",
    )
    decimal: str | None = option(
        Text(),
        "Of a CSV file: its decimal sign, a point or a comma; detected by default.",
        FILES,
        commands=(*READING, "assess"),
        label="Decimal sign",
        example=",",
    )
    header: str | None = option(
        HEADER,
        "Of a CSV or Excel file: whether its first row holds the names of the columns or is a record, so "
        "that columns are called column1, column2, …; detected by default.",
        FILES,
        label="First row",
        example="yes",
    )
    sheet: str | None = option(
        Text(),
        "Of an Excel file: the sheet to read, with its hidden rows and columns.",
        FILES,
        label="Sheet",
        example="Data",
    )
    header_row: int | None = option(
        Int(at_least=1),
        "Of a CSV or Excel file: the row that holds the names, counted from 1; rows above it are skipped.",
        FILES,
        label="Row with the names",
        example=3,
    )


_CONFIDENTIAL_NAMED = Needs("confidential columns are named", lambda given: bool(given.confidential))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionSettings:
    """What shall be done to which columns."""

    k: int = option(
        GroupSize(),
        "At least this many records share each released combination of the keys; 3 or more.",
        COLUMNS,
        flags=("-k",),
        default=REQUIRED,
        label="Smallest group, k",
        form=FIRST,
        example=3,
    )
    keys: tuple[Names, ...] = option(
        Subsets(),
        "Numeric columns by which somebody could be recognised. Those of one subset are masked jointly, "
        "and k holds for each subset by itself.",
        COLUMNS,
        commands=JUDGING,
        label="key: masked jointly",
        example=[["turnover", "employees"]],
    )
    each: Names = option(
        NameList(),
        "Numeric columns that are masked one by one: k holds for each alone, not jointly.",
        COLUMNS,
        commands=("protect", "assess"),
        label="key, masked by itself",
        example=["surface"],
    )
    strata: Names = option(
        NameList(),
        "Columns of few values that stay unchanged; no group has records of two combinations of them, and "
        "they count as keys.",
        COLUMNS,
        commands=JUDGING,
        label="stratum: never crossed",
        example=["region"],
    )
    confidential: Names = option(
        NameList(),
        "Columns that others must not learn about a respondent, such as an income or an illness: every "
        "group has several values of each.",
        COLUMNS,
        commands=JUDGING,
        label="confidential",
        example=["profit"],
    )
    drop: Names = option(
        NameList(),
        "Columns that are left out, such as names and numbers of persons.",
        COLUMNS,
        label="drop: not released",
        example=["name"],
    )
    pass_: Names = option(
        NameList(),
        "Columns that are released unchanged and are no keys.",
        COLUMNS,
        label="pass: released as is",
        example=["year"],
    )
    weight: str | None = option(
        Name(),
        "The column of survey weights, all above zero: means are weighted.",
        COLUMNS,
        commands=JUDGING,
        label="survey weight",
        example="weight",
    )
    small_strata: SmallStrata = option(
        OneOf(
            {
                "refuse": "refuse",
                "merge": "merge with other small ones",
                "suppress": "suppress: leave their records out",
            }
        ),
        "What happens to strata of fewer than k records.",
        POLICIES,
        default="refuse",
        commands=TRYING,
        label="Strata with fewer than k records",
        form=FIRST,
        needs=Needs("strata are named", lambda given: bool(given.strata)),
    )
    missing: Missing = option(
        OneOf({"refuse": "refuse", "by-pattern": "by-pattern: group records that miss the same"}),
        "What happens to records with missing values in keys.",
        POLICIES,
        default="refuse",
        commands=TRYING,
        label="Missing values in keys",
        form=FIRST,
    )
    missing_codes: Mapping[str, tuple[Code, ...]] = option(
        CodesByColumn(),
        "Numbers and texts of a column that stand for a missing answer, such as age=9,99 or pay=-.",
        POLICIES,
        commands=JUDGING,
        label="codes for missing",
        example={"age": [99, 999], "wages": ["."]},
    )
    aggregate: Aggregate = option(
        OneOf({"mean": "mean", "median": "median"}),
        "What replaces the values of a group.",
        POLICIES,
        default="mean",
        label="A group publishes its",
        form=MORE,
    )
    decimals: Mapping[str, int] = option(
        DecimalsByColumn(),
        "Decimals of a masked column as it is released; by default two more than the source has.",
        POLICIES,
        label="decimals",
        example={"employees": 0},
    )
    zeros: Zeros = option(
        OneOf({"together": "together with other values", "apart": "apart: records with the same zeros"}),
        "Whether records with zeros in keys are grouped with others, or only with those of the same zeros.",
        POLICIES,
        default="together",
        commands=TRYING,
        label="Zeros in keys",
        form=MORE,
    )
    shuffle: bool = option(
        Flag(),
        "Release the records in random order.",
        POLICIES,
        label="Change the order of the records",
        form=MORE,
    )
    allow_pairs: bool = option(
        Flag(),
        "Accept k = 2, where each of a pair can compute the other's values.",
        POLICIES,
        commands=("plan", *TRYING),
        label="Accept k = 2",
        form=ACCEPT,
        needs=Needs("k is 2", lambda given: given.k == 2),
    )
    accept_real_values: bool = option(
        Flag(),
        "Accept medians that are a respondent's own value.",
        POLICIES,
        label="Accept medians that are somebody's own value",
        form=ACCEPT,
        needs=Needs("aggregate is median", lambda given: given.aggregate == "median"),
    )
    accept_partial: bool = option(
        Flag(),
        "Accept that k holds for each subset of keys, but not for all keys jointly.",
        POLICIES,
        label="Accept k for each subset, not for all keys jointly",
        form=ACCEPT,
        needs=Needs("there are several subsets of keys", lambda given: len(given.subsets) > 1),
    )
    confidential_as: ConfidentialAs = option(
        OneOf(
            {
                "keep": "keep: as they are",
                "subset": "subset: masked by themselves",
                "noise": "noise: with noise",
                "correlated-noise": "correlated-noise: with noise that keeps correlations",
            }
        ),
        "How confidential columns are released: unchanged, masked as a subset of their own, or with noise.",
        CONFIDENTIAL,
        default="keep",
        label="Confidential columns are released",
        form=CONFIDENTIAL,
        needs=_CONFIDENTIAL_NAMED,
    )
    noise: float = option(
        Noise(at_least=0.01),
        "Standard deviation of the noise as a share of the column's, at least 0.01.",
        CONFIDENTIAL,
        default=0.1,
        label="Noise",
        form=CONFIDENTIAL,
        needs=Needs("confidential_as is noise or correlated-noise", lambda given: bool(given.noised)),
    )
    min_distinct: int = option(
        Int(at_least=2),
        "Every group has at least this many values of each confidential column.",
        CONFIDENTIAL,
        default=2,
        label="Confidential values in a group, at least",
        form=CONFIDENTIAL,
        needs=_CONFIDENTIAL_NAMED,
    )
    retry: bool = option(
        Flag(),
        "Try other groups if some have too few confidential values, or one record with most of the weight.",
        CONFIDENTIAL,
        label="Try other groups until they have so many",
        form=CONFIDENTIAL,
        needs=Needs(
            "confidential columns or a weight are named",
            lambda given: bool(given.confidential or given.weight),
        ),
    )
    accept_homogeneous: bool = option(
        Flag(),
        "Accept groups with fewer confidential values.",
        CONFIDENTIAL,
        label="Accept groups with fewer",
        form=CONFIDENTIAL,
        needs=_CONFIDENTIAL_NAMED,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSettings:
    """How groups are looked for."""

    method: Any = option(
        Recipe(),
        "A method or recipe, see `microagg methods`.",
        METHOD,
        default="auto",
        commands=("protect", "partition"),
        label="Method",
        form=FIRST,
    )
    scale: ScaleName = option(
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
        METHOD,
        default="zscore",
        label="Common unit",
        form=MORE,
    )
    effort: Effort = option(
        OneOf(
            {
                "fast": "fast: a glance",
                "balanced": "balanced",
                "best": "best: minutes rather than seconds",
            }
        ),
        "How much work is done by methods that can always do more.",
        METHOD,
        default="balanced",
        commands=("protect", "compare", "partition"),
        label="Effort",
        form=FIRST,
    )
    seconds: float | None = option(
        Number(),
        "Time limit of the search for groups. Reading, MDAV to start from, verifying and writing are not "
        "covered; `compare` has it for each strategy.",
        METHOD,
        commands=("protect", "compare", "partition"),
        label="Limit of time, in seconds",
        form=MORE,
        example=60,
    )
    seed: int = option(
        Int(at_least=0, bits=64),
        "Fixes the random choices of the search.",
        METHOD,
        default=0,
        label="Seed",
        form=MORE,
    )
    threads: int | None = option(
        Int(at_least=1),
        "Most threads to use, all by default; they never change the result.",
        METHOD,
        example=2,
    )
    certify: bool = option(
        Flag(),
        "Also prove how far from the optimum the groups are at most.",
        METHOD,
        commands=("protect", "partition"),
        label="Also prove how near to the optimum the groups are",
        form=MORE,
    )


PLAN_OPTIONS: Mapping[str, Option] = options_of(FileSettings, ProtectionSettings, MethodSettings)
"""What a plan file may have, in its order."""


# --- single commands --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Printing:
    json: bool = option(
        Flag(),
        "Print one JSON object and nothing else.",
        OUTPUT,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectRun:
    """What `microagg protect` has beside the options of a plan."""

    plan: Path | None = option(
        File(),
        "A plan file, as `microagg plan` writes it; an option given beside it replaces the plan's.",
        FILES,
    )
    record: Path | None = option(
        File("FOLDER"),
        "Folder for the internal record; by default microagg-internal beside the output.",
        OUTPUT,
    )
    labels: bool = option(
        Flag(), "Also write the group of each record, into the folder of the record.", OUTPUT
    )
    report: Path | None = option(
        File(),
        "Also write an HTML page with all that is known about the release, which is not to be released.",
        OUTPUT,
    )
    external_report: Path | None = option(
        File(), "Also write an HTML page with what users of the output may know.", OUTPUT
    )
    force: bool = option(Flag(), "Overwrite the output.", OUTPUT)
    engine: str = option(
        OneOf({"local": "this machine", "spark": "Spark, for data beyond one machine"}),
        "Where the work is done.",
        METHOD,
        default="local",
    )
    master: str | None = option(
        Text(), "Of Spark: local[4], yarn, k8s://…; by default as configured, or local[*].", METHOD
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRun:
    output: Path = option(
        File(),
        "Where the plan is written; - prints it instead of the table.",
        OUTPUT,
        default=Path("plan.toml"),
        flags=("-o", "--output"),
    )
    k: int = option(
        GroupSize(),
        "At least this many records will share each released combination of the keys.",
        COLUMNS,
        default=3,
        flags=("-k",),
    )
    force: bool = option(Flag(), "Replace an existing plan.", OUTPUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRun:
    k: int = option(
        GroupSize(),
        "Smallest allowed group size, at least 2.",
        COLUMNS,
        flags=("-k",),
        default=REQUIRED,
        example=3,
    )
    columns: Names = option(
        NameList(),
        "The columns to use; by default all.",
        COLUMNS,
        commands=("partition", "bound", "verify-certificate"),
    )
    labels: Path | None = option(File(), "Write the group of each record to this new CSV file.", OUTPUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundRun:
    seconds: float = option(Number(), "Time limit of the proof.", METHOD, default=SECONDS_OF_PROOF)
    gap: float = option(
        AnyNumber(),
        "Stop when the groups are proven to be at most this many percent above the optimum.",
        METHOD,
        default=0.0,
    )
    certificate: Path | None = option(
        File(),
        "Write the proof to this new JSON file, for verify-certificate; it is internal, like the data.",
        OUTPUT,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    seconds: float = option(
        AnyNumber(), "Time limit, after which nothing counts as proven.", METHOD, default=SECONDS_OF_CHECK
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessSettings:
    """What `assess` has beside roles of columns."""

    id: str | None = option(
        Name(),
        "A column by which records of both files are matched; by default they are matched by their order.",
        COLUMNS,
    )
    k: int | None = option(GroupSize(), "What was promised; it is counted again.", COLUMNS, flags=("-k",))
    model: Names = option(Texts("model"), 'A regression to compare, such as "income ~ age + size".', METHOD)
    indicator: Names = option(
        Texts("indicator"), 'A figure to compare, such as "mean income by region".', METHOD
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings:
    measures: Names = option(
        NameList("measure"),
        "Measures to compute, see `microagg explain`; by default all, or the usual ones of `compare`.",
        METHOD,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessFiles:
    header: Any = option(
        OfTwoFiles(HEADER),
        "Of CSV or Excel files: whether the first row holds the names of the columns or is a record.",
        FILES,
    )
    sheet: Any = option(
        OfTwoFiles(Text()), "Of Excel files: the sheet to read, with its hidden rows and columns.", FILES
    )
    header_row: Any = option(
        OfTwoFiles(Int(at_least=1)),
        "Of CSV or Excel files: the row that holds the names; rows above it are skipped.",
        FILES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessRun:
    details: bool = option(Flag(), "Also print the parts of each measure, such as those by column.", OUTPUT)
    report: Path | None = option(File(), "Also write an HTML page, which is not to be released.", OUTPUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """What `compare` has beside options of `protect`."""

    k: Any = option(
        GroupSizes(), "Smallest group sizes to try.", COLUMNS, default=(3, 5, 10), flags=("-k",)
    )
    methods: Names = option(
        NameList("method"),
        "Methods or recipes to try, see `microagg methods`.",
        METHOD,
        default=("mdav", "auto"),
    )
    subsets: Any = option(
        Splits(), "A way to split the keys: joint, each, or subsets such as a,b/c,d.", COLUMNS
    )
    max_risk: float = option(
        Share(),
        "Largest share of records that may be linked; recommended is the least loss within it.",
        METHOD,
        default=0.1,
    )
    record: Path | None = option(
        File("FOLDER"),
        "Folder for finished strategies; by default microagg-internal beside the file.",
        OUTPUT,
    )
    again: bool = option(
        Flag(),
        "Compute everything anew, also what was finished earlier.",
        OUTPUT,
        needs=Needs("there is a record", lambda given: given.record is not None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRun:
    output: Path | None = option(
        File(), "Write the table to this CSV file.", OUTPUT, flags=("-o", "--output")
    )
    map_: Path | None = option(File(), "Draw the risk-utility map into this SVG file.", OUTPUT)
    force: bool = option(Flag(), "Overwrite the table and the map.", OUTPUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodsRun:
    all_: bool = option(Flag(), "List every method, not only those that most users need.", OUTPUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRun:
    port: int = option(Int(bits=16), "Port to serve on; 0: any that is free.", FILES, default=0)
    host: str = option(
        Text(),
        "Address to serve on; any but the default can be reached by others.",
        FILES,
        default="127.0.0.1",
    )
    open: bool = option(Flag(), "Open a browser, too.", OUTPUT, default=True, flags=("--open/--no-open",))
    allow_paths: bool = option(Flag(), "Let the pages open any file that you can read, by its path.", FILES)
    memory: float | None = option(
        Number(), "Most memory of a job, in GiB; by default a quarter of the machine's.", METHOD
    )
    minutes: float = option(Number(), "Most minutes of a job.", METHOD, default=60.0)


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
    AssessFiles: ("assess",),
    AssessRun: ("assess",),
    ProtectRun: ("protect",),
    CompareRun: ("compare",),
    MethodsRun: ("methods",),
    Printing: (*READING, "assess", "explain", "methods"),
}
"""With the commands that take their options, unless an option names others."""

_OPTIONS_OF_COMMANDS = [
    (each, each.commands or commands)
    for settings, commands in _SETTINGS.items()
    for each in options_of(settings).values()
]


def options_of_command(command: str) -> dict[str, Option]:
    return {each.name: each for each, commands in _OPTIONS_OF_COMMANDS if command in commands}


def label_of(name: str, value: str | None = None) -> str | None:
    """What the browser calls an option of a plan, or one of its choices; None if it has no control."""
    if name not in PLAN_OPTIONS:
        return None
    each = PLAN_OPTIONS[name]
    return each.label or None if value is None else each.kind.choices.get(value)
