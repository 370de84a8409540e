"""All commands: what each does, what it works on, and an example that can be run."""

from __future__ import annotations

import click

from microagg import __version__
from microagg.cli.command import Argument, Commands, Description

_FORMATS = (
    "CSV, Parquet, Feather, Excel (.xlsx), Stata, SPSS or SAS, by its ending; - is CSV from standard input"
)
_FILE = Argument("file", f"A file of numbers: {_FORMATS}.")
_PROTECT = (
    "microagg protect companies.csv -k 3 --keys surface,employees --pass turnover,profit -o protected.csv"
)

DESCRIPTIONS = (
    Description(
        name="plan",
        summary="Look at the columns of a file and write a plan with a suggested role for each.",
        details="Shows counts, never a value. The plan is a text file to read and change. It is tried on "
        "quick groups, so that `protect` takes it as it is; where nothing can be protected, the reason is "
        "shown instead.",
        arguments=(Argument("file", f"{_FORMATS}."),),
        example="microagg plan companies.csv -o plan.toml",
    ),
    Description(
        name="protect",
        summary="Write a copy of a file in which at least k records share each combination of the keys.",
        details="The copy is read back and counted before it gets its name. Lists of columns are separated "
        "by commas; one that is given again adds up.",
        arguments=(
            Argument(
                "file",
                f"The file to protect: {_FORMATS}. With --engine spark: a folder of Parquet or CSV files, "
                "or a table.",
                is_required=False,
            ),
        ),
        example=_PROTECT,
    ),
    Description(
        name="verify",
        summary="Verify a release that was written earlier, from its internal record.",
        details="For a second person: all that `protect` has counted is counted again, from the settings "
        "in the record, the source, which is read twice, and the file itself. Ends with exit code 3 if the "
        "file or its source is another one, or if anything else differs.",
        arguments=(Argument("file", "The release; of Spark, its folder."),),
        example=f"{_PROTECT}\nmicroagg verify protected.csv --record microagg-internal",
    ),
    Description(
        name="assess",
        summary="Measure what a protected file loses and risks, or how unique the records of a file are.",
        details="Files are only read. Without PROTECTED it counts the records of ORIGINAL that its keys, "
        "of any type, make unique. Ends with exit code 3, after the table, if PROTECTED must not be "
        "released: if its keys are the original's own values, or if it does not have the k that is given.",
        arguments=(
            Argument("original", "The file before protection; - is standard input.", is_required=False),
            Argument("protected", "The protected file, by microagg or any other tool.", is_required=False),
        ),
        example="microagg assess companies.csv --keys surface,employees\n"
        f"{_PROTECT} --keep-order\n"
        "microagg assess companies.csv protected.csv --keys surface,employees -k 3",
    ),
    Description(
        name="compare",
        summary="Try every k with every method on a file, and compare what each loses and risks.",
        details="Nothing is released. Marked are the strategies that no other beats in both loss and risk, "
        "and the one to take: the least loss among those within --max-risk, or else the least risk. The "
        "loss is the information loss (il), or, where strategies differ in what groups publish, how far "
        "tables of two columns moved (two_way_tables). What was finished before an interruption is not "
        "computed again.",
        arguments=(Argument("file", "The file to protect; - is standard input.", is_required=False),),
        example="microagg compare companies.csv -k 3,4 --methods mdav,auto --keys surface,employees",
    ),
    Description(
        name="serve",
        summary="Serve pages to a browser on this machine that lead from a file to a protected one.",
        details="Prints a link that lets one browser in, once. Nothing leaves the machine. Uploaded files "
        "and releases are kept in a private folder until their session or the server ends.",
        arguments=(Argument("file", "A file to begin with.", is_required=False),),
        example="microagg serve companies.csv",
    ),
    Description(
        name="explain",
        module="assess",
        summary="Explain a measure: definition, formula, range, what higher values mean, reference.",
        arguments=(Argument("name", "A measure; without a name, all are listed.", is_required=False),),
        example="microagg explain linkage_distance",
    ),
    Description(
        name="methods",
        summary="List methods: what each does, its paper, cost, guarantee and for how many records.",
        details="The eight that most users need, or every one with --all; --json lists every one.",
        example="microagg methods",
    ),
    Description(
        name="partition",
        summary="Partition the records of a file into groups of at least k and print the information loss.",
        details="Nothing is masked and no record is printed; --labels writes the groups.",
        arguments=(_FILE,),
        example="microagg partition companies.csv -k 3 --columns surface,employees",
    ),
    Description(
        name="bound",
        module="partition",
        summary="Prove what no partition of a file can lose less than, and find a partition near that.",
        arguments=(_FILE,),
        example="microagg bound companies.csv -k 3 --columns surface,employees",
    ),
    Description(
        name="verify-certificate",
        module="partition",
        summary="Check a certificate against the data, without the solver that wrote it.",
        details="Ends with exit code 0 if the bound is proven, 2 if not, or not within the time limit.",
        arguments=(
            Argument("certificate", "What `microagg bound --certificate` wrote."),
            Argument("file", "The data it was written for."),
        ),
        example="microagg bound companies.csv -k 3 --certificate proof.json\n"
        "microagg verify-certificate proof.json companies.csv",
    ),
)

app = click.version_option(__version__, message="microagg %(version)s", help="Print the version and exit.")(
    Commands(
        "Protect files about people or companies by microaggregation: groups of at least k similar records "
        "publish one combination of the keys.",
        DESCRIPTIONS,
    )
)
