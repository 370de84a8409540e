"""The nouns: what is handed from one step to the next. Frozen, without algorithms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from microagg import wording
from microagg.verdict import Finding, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

Doubles = NDArray[np.float64]
"""Numbers; NaN where one is missing."""

Whole = NDArray[np.int64]
"""Integers, such as counts or rows of a source."""

Points = NDArray[np.float64]
"""(n, p) records, C order, finite, already scaled."""

Labels = NDArray[np.int32]
"""(n,) group of each record, 0..g-1, numbered by first appearance: equal partitions, equal arrays."""

Rows = NDArray[np.int32]
"""Records in some order."""

ScaleName = Literal["zscore", "range", "robust", "rank", "none"]
"""How attributes are brought to a common unit."""

Effort = Literal["fast", "balanced", "best"]
"""How much work a method that can always do more should do."""


def positions_of(wanted: Sequence[str], known: Sequence[str]) -> list[int]:
    """Where the wanted columns stand among the known ones, each once."""
    if not wanted:
        raise wording.no_columns()
    places: dict[str, int] = {}
    for at, name in enumerate(known):
        places.setdefault(name, at)
    unknown = [name for name in wanted if name not in places]
    if unknown:
        raise wording.unknown_columns(unknown, known)
    for name, times in Counter(wanted).items():
        if times > 1:
            raise wording.column_named_twice(name)
    return [places[name] for name in wanted]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Numeric columns in their own units: names and an (n, p) array, one row per record.

    NumPy takes it as the array `values`.
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def select(self, *columns: str) -> Table:
        """A table of these columns only, in this order, with values of its own."""
        where = positions_of(columns, self.columns)
        # NumPy keeps the column order in memory when it picks columns; kernels want rows.
        return Table(columns, np.ascontiguousarray(self.values[:, where]))


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How a CSV file is written: one character between fields, an encoding that Python knows, and the point
    or the comma as the decimal sign.
    """

    delimiter: str
    encoding: str
    decimal: str

    def __post_init__(self) -> None:
        if self.delimiter == self.decimal == ",":
            raise wording.comma_twice()


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is written and where in it the table is, as far as that is given; the rest is detected.

    The first three are those of `CsvFormat`. `header`: "yes" if its first row holds the names of the
    columns, "no" if that is a record. `sheet`: of a workbook. `header_row`: the row that holds the names,
    counted from 1; those above it are skipped.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: str | None = None
    sheet: str | None = None
    header_row: int | None = None

    def __post_init__(self) -> None:
        if self.delimiter == self.decimal == ",":
            raise wording.comma_twice()
        if self.header == "no" and self.header_row is not None:
            raise wording.header_row_without_header()

    def given(self) -> dict[str, Any]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


CSV_OPTIONS = tuple(each.name for each in fields(CsvFormat))


@dataclass(frozen=True, slots=True)
class CsvLook:
    """What else a CSV file looks like: nothing that its reader has to know, but a release keeps it."""

    line_end: str = "\n"
    quoted_columns: tuple[str, ...] = ()
    """Those whose values stand in quotes, whether they need them or not."""
    quoted_header: bool = False
    quoted_gaps: bool = False
    """Missing values of quoted columns are a pair of quotes."""


@dataclass(frozen=True, slots=True)
class StatisticalLabels:
    """What a Stata, SPSS or SAS file holds about its columns, by the names of pyreadstat's writers."""

    file_label: str = ""
    column_labels: Mapping[str, str] = field(default_factory=dict)
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    """By column: what each code means."""
    formats: Mapping[str, str] = field(default_factory=dict)
    missing_ranges: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    display_widths: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    table_name: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where microdata come from and how they are written there, so that a release can look the same."""

    format: str
    """As in `formats.ENDINGS_OF`; "frame" for data in memory."""
    name: str
    """What messages call it."""
    path: Path | None = None
    """None: standard input or a frame."""
    csv: CsvFormat | None = None
    """As given or detected."""
    labels: StatisticalLabels | None = None
    frame: object | None = None
    """What was given, in its own kind."""
    digest: str = ""
    """sha256: and the digest of the file's bytes."""
    mode: int | None = None
    """The file's permission bits."""
    layout: Layout = field(default_factory=Layout)
    """As given."""
    notes: tuple[Finding, ...] = ()
    """What was read otherwise than it stands there."""
    csv_look: CsvLook = field(default_factory=CsvLook)

    @property
    def decimal(self) -> str:
        """The decimal sign of numbers that are text."""
        return (self.csv.decimal if self.csv is not None else None) or "."


@dataclass(frozen=True, slots=True, eq=False)
class Microdata:
    """All columns of a source, one row per record.

    What comes from a CSV file is text, as it stands there, so that what is not masked comes out the same;
    null is an empty field. Other sources keep their types.
    """

    table: pa.Table
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRoles:
    """What columns are in a release, and how it was made: the options whose names the fields have, and what
    follows from them.
    """

    subsets: tuple[tuple[str, ...], ...]
    """Key columns; those of one subset were masked together."""
    strata: tuple[str, ...] = ()
    """They count as keys of every subset."""
    own_subsets: tuple[tuple[str, ...], ...] = ()
    """Confidential columns masked as subsets of their own: counted each by itself, but no keys."""
    confidential: tuple[str, ...] = ()
    """However they are treated."""
    noised: tuple[str, ...] = ()
    """Those of them to which noise was added."""
    min_distinct: int = 2
    """At least this many values of a confidential column are in every group."""
    weight: str | None = None
    small_strata: str = "refuse"
    """What became of strata with fewer than k records."""
    aggregate: str = "mean"
    """What a group publishes."""
    categories: str = "mode"
    """Which categories it publishes."""
    clip: bool = False
    """Whether published numbers were moved into the source's range."""
    accept: tuple[str, ...] = ()
    """Rules that the user accepts, each by itself or with a column: `distinct=vote`."""

    @property
    def joins_nearest(self) -> bool:
        """Whether records of too small strata join the nearest group, if there are any."""
        return self.small_strata == "nearest"

    @property
    def leaves_out_strata(self) -> bool:
        """Whether too small ones are left out, if there are any."""
        return self.small_strata == "suppress"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims(ColumnRoles):
    """What a release promises: all that is counted. `verify` derives it from the settings and the source.

    Nothing is promised for columns that a mapping does not have.
    """

    k: int
    respondent: str | None = None
    """The column that says whose record it is; "none": each record is a respondent; None: not given."""
    amounts: tuple[str, ...] = ()
    p_percent: float = 10.0
    may_set_to_missing: bool = False
    noise: float | None = None
    """The least standard deviation of the noise, as a share of the column's."""
    keep_order: bool = True
    dropped: tuple[str, ...] = ()
    decimals: Mapping[str, int | None] = field(default_factory=dict)
    """Of published values; None: as many as they have."""
    rounding: Mapping[str, float] = field(default_factory=dict)
    """How far a published value may be from the mean or median of the records that publish it."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Of keys that hold no numbers: date, ordinal or nominal."""
    taxonomy: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """Of nominal keys that have one: by code, the number of what stands above it at each level."""
    resolution: Mapping[str, str | None] = field(default_factory=dict)
    """Of keys that hold dates: the unit to which they are published; None: as exactly as the type can."""
    mean_tolerance: Mapping[str, float] = field(default_factory=dict)
    """How much the mean of a column, weighted if there are weights, may change."""

    @property
    def recoded(self) -> tuple[str, ...]:
        """Strata columns in which records of small strata may have got other codes."""
        return self.strata if self.joins_nearest else ()

    def follows_tables(self, column: str) -> bool:
        """Whether the numbers of a column are chosen near means so that tables are kept."""
        if self.categories != "tables" or self.aggregate != "mean" or column in self.kinds:
            return False
        own = next((names for names in (*self.subsets, *self.own_subsets) if column in names), ())
        return any(self.kinds.get(name) in ("nominal", "ordinal") for name in own)

    def accepts(self, rule: str, column: str | None = None) -> bool:
        """Whether the user accepts what a rule finds, at least in this column."""
        return rule in self.accept or (column is not None and f"{rule}={column}" in self.accept)


PROVED = 1e-6
"""Percent: a smaller gap to a proven bound is what rounding and the solver's tolerances leave."""


def gap_above(bound: float, cost: float) -> float | None:
    """By how many percent a cost is above the optimum at most: 100 · (cost − bound) / bound, where no
    partition costs less than `bound`. SSEs or losses in percent, both alike.

    None if there is no such percentage: the bound is 0 and the cost is not.
    """
    if cost <= bound:
        return 0.0
    gap = 100.0 * (cost - bound) / bound if bound > 0.0 else math.inf
    return gap if math.isfinite(gap) else None


def is_optimal(gap: float | None) -> bool:
    """Whether a gap proves the optimum."""
    return gap is not None and gap < PROVED


def nearness(gap: float | None) -> str:
    """How near to the optimum, as text."""
    return wording.proven_optimal() if is_optimal(gap) else wording.above_the_optimum(gap)


@dataclass(frozen=True, slots=True, eq=False)
class Verified:
    """A released table and the verdict that lets it pass: all that is ever written as a release."""

    microdata: Microdata
    verdict: Verdict

    def __post_init__(self) -> None:
        if self.verdict.safe is not True:
            raise wording.not_verified()


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The attributes of a problem that publish one of their values instead of a mean.

    The first `starts[0]` coordinates of the points are numbers. Those from `starts[j]` to `starts[j + 1]`
    stand for attribute j: one for the place of an ordered level; for other codes corners of a simplex, so
    that equal codes are at one place and different ones equally far apart (in a taxonomy: by the share of
    its levels in which they differ). The search lowers the SSE of all coordinates; what a group really
    costs when it is published is counted from the codes.
    """

    codes: NDArray[np.int32]
    """(n, q) the level or code of each record, from 0 on."""
    ordered: NDArray[np.bool_]
    """(q,) whether a group publishes its median level; otherwise its most frequent code."""
    cost: Doubles
    """(q,) of a changed cell, or of a change by one level, in the unit of squared distances."""
    starts: Whole
    """(q + 1,) coordinates."""
    paths: tuple[NDArray[np.int32] | None, ...]
    """(q,) of a taxonomy: by code, what stands above it at each level, itself at last; None without one.
    A group then publishes that of its codes which is nearest to all, and a cell costs its distance.
    """

    def part(self, rows: NDArray[Any]) -> Categories:
        return replace(self, codes=np.ascontiguousarray(self.codes[rows]))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What a stage sees: scaled points and the smallest allowed group size.

    With `categories`, some coordinates of the points stand for codes.
    """

    points: Points
    k: int
    categories: Categories | None = None

    def part(self, rows: NDArray[Any]) -> Problem:
        """The problem of these records alone."""
        categories = None if self.categories is None else self.categories.part(rows)
        return Problem(np.ascontiguousarray(self.points[rows]), self.k, categories)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """What a stage returns; `stage.evaluated` makes one from labels.

    `sse` is the cost of the labels, so that nobody computes it twice.
    `bound` is proven: no feasible partition of the problem has a smaller SSE.
    `recipe` and `reason`: what a stage that chooses a method chose, and why.
    `truncated`: the deadline struck, so that the labels may depend on the clock.
    """

    labels: Labels
    sse: float
    bound: float = 0.0
    recipe: str = ""
    reason: str = ""
    truncated: bool = False

    @property
    def groups(self) -> int:
        return int(self.labels.max()) + 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TaskPartition(Partition):
    """The groups of one task: records of one stratum, masked in these columns.

    `rows` are rows of the source; `stratum` counts from 0 in the order of the codes.
    """

    columns: tuple[str, ...]
    stratum: int
    rows: NDArray[np.int64]
