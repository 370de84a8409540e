"""A frame of Spark with each record before and after, and what is promised about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

from microagg.model import Claims
from microagg.verdict import Changes
from microagg.verify.means import MeanFigures
from microagg.verify.values import MISSING_TEXTS, as_read

NUMERIC = ("byte", "short", "integer", "long", "float", "double", "decimal")
"""Types of columns that hold numbers."""

NUMBER = r"^[-+]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]+)?$"


@dataclass(frozen=True, slots=True)
class BeforeAfterColumns:
    """What the columns of the frame are called, by the user's names."""

    before: Mapping[str, str]
    """Masked columns and strata in the source; masked ones as doubles, but for `keys`."""
    after: Mapping[str, str]
    """Every released column."""
    content: tuple[str, ...]
    """What the source's fingerprint was taken of."""
    weight: str | None = None
    whole: frozenset[str] = frozenset()
    """Masked columns that are released as whole numbers."""
    respondents: tuple[RespondentColumn, ...] = ()
    keys: tuple[str, ...] = ()
    """Masked columns that hold no numbers, as they are in the source and in the release."""


@dataclass(frozen=True, slots=True)
class RespondentColumn:
    """A column of the source that may say whose a record is."""

    name: str
    own: str
    """Its name in the frame, where it is a hash."""
    by_shape: bool
    """Recognised by its values alone."""


def escaped(name: str) -> str:
    """The name of a column as Spark's expressions have it, whatever signs it has."""
    return "`" + name.replace("`", "``") + "`"


def quoted(name: str) -> Any:
    """A column by its name, whatever signs that has."""
    return F.col(escaped(name))


@dataclass(frozen=True, eq=False)
class PairedFrame:
    """What is counted in a frame, and what is promised about it."""

    frame: DataFrame
    sides: BeforeAfterColumns
    claims: Claims
    figures: Mapping[str, MeanFigures] = field(default_factory=dict)
    """Of masked columns as a whole."""
    complete: frozenset[str] = frozenset()
    """Masked columns without a gap, before and after: their cells need not be counted by class."""
    changes: Changes = field(default_factory=Changes)
    records: int = 0
    own_values: Mapping[str, int] = field(default_factory=dict)
    """By masked column: records with their own value."""
    parts: int = 1
    """Rounding keeps the total of each part that was masked by itself."""
    everything: DataFrame | None = None
    """The source with the records that are left out, if there are some."""

    @cached_property
    def column_kinds(self) -> dict[str, str]:
        """The types of the frame's columns."""
        return {field.name: field.dataType.typeName() for field in self.frame.schema.fields}

    def after(self, name: str) -> Column:
        found: Column = quoted(self.sides.after[name])
        return found

    def before(self, name: str) -> Column:
        found: Column = quoted(self.sides.before[name])
        return found

    def weight(self) -> Column:
        found: Column = quoted(self.sides.weight) if self.sides.weight is not None else F.lit(1.0)
        return found


def read_as(side: Column) -> Column:
    """Text as a reader takes it: what `as_read` makes of it.

    Plain text is handled by Spark itself; only what has other letters or signs goes to Python.
    """
    plain = F.lower(F.trim(F.regexp_replace(side, " +", " ")))
    is_plain = side.rlike("^[ -~]*$")
    other = F.udf(_read_in_python, "string", useArrow=True)(F.when(~is_plain, side))
    return F.when(is_plain, plain).otherwise(other)


def _read_in_python(text: str | None) -> str | None:
    return None if text is None else as_read(text)


def understood(side: Column) -> Column:
    """Text by what it means: its spelling does not count, 5 is 5.0."""
    text = read_as(side)
    number = F.when(text.rlike(NUMBER), F.replace(text, F.lit(","), F.lit("."))).cast("double")
    plain = F.when(F.abs(number) < 2.0**53, (number + F.lit(0.0)).cast("string")).otherwise(text)
    return F.when((text != "") & ~F.trim(side).isin(list(MISSING_TEXTS)), plain)
