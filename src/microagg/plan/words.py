"""The words of a plan: keys of plan.toml, keywords in Python, and options on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WordKind = Literal[
    "text",
    "whole number",
    "number",
    "truth value",
    "names",
    "subsets",
    "codes by column",
    "decimals by column",
]


@dataclass(frozen=True, slots=True)
class Word:
    """One word: of which kind its value is, what it means, and a value to show where none is given."""

    name: str
    kind: WordKind
    meaning: str
    shown: str
    """As TOML: the default, or an example if nothing is the default."""
    is_default: bool = False


def _with_default(name: str, kind: WordKind, default: str, meaning: str) -> Word:
    return Word(name, kind, meaning, default, is_default=True)


SECTIONS: dict[str, tuple[Word, ...]] = {
    "files": (
        Word("input", "text", "The source, relative to this file's folder.", '"data.csv"'),
        Word("output", "text", "The release; its ending names its format.", '"protected.csv"'),
        Word("delimiter", "text", "Of a CSV file: the sign between fields; found if not given.", '";"'),
        Word("encoding", "text", "Of a CSV file; found if not given.", '"utf-8"'),
        Word("decimal", "text", "Of a CSV file: the decimal sign; found if not given.", '","'),
        Word(
            "header",
            "text",
            'Of a CSV or Excel file: whether its first row holds the names of the columns, "yes", or is a\n'
            'record, "no" (columns are called column1, column2, …); judged if not given.',
            '"yes"',
        ),
        Word("sheet", "text", "Of an Excel file: the sheet to read, with what is hidden in it.", '"Data"'),
        Word(
            "header_row",
            "whole number",
            "Of a CSV or Excel file: the row with the names, from 1; rows above it are skipped.",
            "3",
        ),
    ),
    "columns": (
        Word("k", "whole number", "At least so many records share each released combination.", "3"),
        Word(
            "keys",
            "subsets",
            "Numeric columns by which somebody may be recognised: they are masked, those of one inner\n"
            "array jointly. k holds for each inner array by itself.",
            '[["turnover", "employees"]]',
        ),
        Word(
            "each",
            "names",
            "Numeric columns masked one by one (individual ranking): k holds for each alone, not jointly.",
            '["surface"]',
        ),
        Word(
            "strata",
            "names",
            "Columns of few values, unchanged; no group crosses them, and they count as keys.",
            '["region"]',
        ),
        Word(
            "confidential",
            "names",
            "What others must not learn about a respondent, such as an income or an illness: that is for\n"
            "you to decide. Every group must have different values of it, see min_distinct.",
            '["profit"]',
        ),
        Word("drop", "names", "Columns that are not released: names, numbers of persons.", '["name"]'),
        Word("pass", "names", "Columns released as they are; nothing is claimed for them.", '["year"]'),
        Word(
            "weight",
            "text",
            "The column of sampling weights, all above zero: means are weighted.",
            '"weight"',
        ),
    ),
    "policies": (
        _with_default(
            "small_strata",
            "text",
            '"refuse"',
            'Strata of fewer than k records: "refuse", "merge" or "suppress".',
        ),
        _with_default("missing", "text", '"refuse"', 'Missing values in keys: "refuse" or "by-pattern".'),
        Word(
            "missing_codes",
            "codes by column",
            "Numbers and texts that stand for a missing answer.",
            '{ age = [99, 999], wages = ["."] }',
        ),
        _with_default("aggregate", "text", '"mean"', 'What a group is replaced by: "mean" or "median".'),
        Word(
            "decimals",
            "decimals by column",
            "Released decimals of masked columns; by default two more than the source has.",
            "{ employees = 0 }",
        ),
        _with_default(
            "zeros", "text", '"together"', 'Whether zeros in keys are grouped "apart" from other values.'
        ),
        _with_default("shuffle", "truth value", "false", "Release the records in random order."),
        _with_default(
            "allow_pairs",
            "truth value",
            "false",
            "Permit k = 2, where each of a pair can compute the other's values.",
        ),
        _with_default(
            "accept_real_values",
            "truth value",
            "false",
            "Permit medians that are somebody's own value.",
        ),
        _with_default(
            "accept_partial",
            "truth value",
            "false",
            "Permit a release that has k for each subset of keys, but not for all keys jointly.",
        ),
    ),
    "confidential columns": (
        _with_default(
            "confidential_as",
            "text",
            '"keep"',
            'Released by "keep", "subset" (masked by themselves), "noise" or "correlated-noise".',
        ),
        Word(
            "noise",
            "number",
            "Standard deviation of the noise as a share of the column's, 0.01 or more.",
            "0.1",
        ),
        _with_default("min_distinct", "whole number", "2", "So many values at least in every group."),
        _with_default(
            "retry", "truth value", "false", "Try other groups until every one has so many values."
        ),
        _with_default("accept_homogeneous", "truth value", "false", "Permit groups with fewer values."),
    ),
    "groups": (
        _with_default("method", "text", '"auto"', "A name or recipe, see `microagg methods`."),
        _with_default(
            "scale", "text", '"zscore"', 'Common unit: "zscore", "range", "robust", "rank" or "none".'
        ),
        _with_default("effort", "text", '"balanced"', '"fast", "balanced" or "best".'),
        Word("seconds", "number", "Limit of the search for groups, after MDAV; none by default.", "60"),
        _with_default("seed", "whole number", "0", "Fixes the random choices of the search."),
        Word("threads", "whole number", "At most so many; all by default. Never changes the result.", "2"),
        _with_default(
            "certify", "truth value", "false", "Prove how far from the optimum the groups are at most."
        ),
    ),
}
"""In the order in which a plan file has them."""

WORDS: dict[str, Word] = {word.name: word for section in SECTIONS.values() for word in section}
