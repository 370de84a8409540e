"""Rules that give a key from released columns, and in how many records each is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.arrow_values import scalar, to_numpy
from microagg.model import Doubles
from microagg.verify.classes import Classes, Codes
from microagg.verify.derived.readings import Reader
from microagg.verify.values import Mask, plain

Kind = Literal["equal", "affine", "monotone", "code", "dummies", "sum", "month", "year"]
KINDS: tuple[Kind, ...] = ("equal", "affine", "monotone", "code", "dummies", "sum")
"""The simplest first."""

EXACT = 1e-11
SINGLE = 1e-6
"""What rounding of doubles, or of numbers of single precision, may leave, relative to the terms."""


LEAST_SHARE = 0.95
"""A rule that is right in a smaller share of the records with a value of the key is none."""
LEAST_BEYOND_GUESSING = 0.5
"""A rule must give such a share of the values that are not the most frequent one.

Where nearly all have the same value, guessing it is right in nearly all records, and so is any column that
is rarely anything else.
"""
LEAST_A_CODE = 10
"""So many records must a code have on average: a column without repetitions gives any other."""


def is_right_often(right: int, of: int, most_frequent: float, least: float = LEAST_SHARE) -> bool:
    """Whether a rule that is right so often settles the key, whose most frequent value has this share."""
    wrong = of - right
    return (
        wrong <= (1.0 - least) * of and wrong <= (1.0 - LEAST_BEYOND_GUESSING) * (1.0 - most_frequent) * of
    )


@dataclass(frozen=True, slots=True)
class Linear:
    """key = constant + Σ weight · (column - origin), up to the slack that rounding needs.

    In a sum of several columns a missing value is taken for 0, as it is left blank in many tables.
    """

    kind: Kind
    key: str
    columns: tuple[str, ...]
    readings: tuple[str, ...]
    weights: tuple[float, ...] = (1.0,)
    constant: float = 0.0
    origins: tuple[float, ...] = (0.0,)
    slack: float = 0.0
    relative: float = EXACT

    def predicted(self, others: Reader) -> tuple[Doubles, Doubles]:
        """The key that the rule computes, and the size of its terms."""
        n = others.table.num_rows
        total, sizes = np.full(n, self.constant), np.full(n, abs(self.constant))
        terms = zip(self.columns, self.readings, self.weights, self.origins, strict=True)
        for name, reading, weight, origin in terms:
            values = others.numbers(name, reading)
            if len(self.columns) > 1:
                values = np.where(np.isnan(values), 0.0, values)
            total = total + weight * (values - origin)
            sizes = sizes + abs(weight) * np.abs(values)
        return total, sizes

    def is_computed(self, keys: Reader, others: Reader) -> Mask:
        """In which records the rule gives the key's value; in none that has no value."""
        key = keys.numbers(self.key, keys.readings(self.key)[0])
        with np.errstate(all="ignore"):
            total, sizes = self.predicted(others)
            off = np.abs(key - total)
            return np.asarray(off <= self.slack + self.relative * (np.abs(key) + sizes))


@dataclass(frozen=True, slots=True)
class SameText:
    """The key is the text of another column, but for capitals and blanks around it."""

    key: str
    columns: tuple[str, ...]
    kind: Kind = "equal"

    def is_computed(self, keys: Reader, others: Reader) -> Mask:
        one, other = (
            pc.utf8_lower(pc.utf8_trim_whitespace(plain(table.column(name))))
            for table, name in ((keys.table, self.key), (others.table, self.columns[0]))
        )
        return to_numpy(pc.equal(one, other).fill_null(scalar(False, pa.bool_()))).astype(bool)


@dataclass(frozen=True, slots=True)
class CodeCount:
    """How many codes there are, in how many records; how many of these have their code's value, and how
    many do so among those whose code occurs more than once.
    """

    codes: int
    records: int
    right: int
    repeated: int


@dataclass(frozen=True, slots=True)
class CodeToValue:
    """Each combination of codes in some columns stands for one value of the key; null is a code too."""

    kind: Kind
    key: str
    columns: tuple[str, ...]
    most_frequent: float
    """The share of the key's most frequent value."""

    def right(self, count: CodeCount) -> int:
        """In how many records the rule is right; 0 if the codes are no codes.

        Codes have some records on average. What occurs once gives any value of the key, and proves
        nothing: the rule must be right often enough without it.
        """
        are_codes = count.codes * LEAST_A_CODE <= count.records
        proved = is_right_often(count.repeated, count.records, self.most_frequent)
        return count.right if are_codes and proved else 0


@dataclass(frozen=True, slots=True, eq=False)
class Monotone:
    """The key rises with a column, or falls, and is the same where the column is.

    The rule is known from some records, the `knots`: others lie between them.
    """

    key: str
    columns: tuple[str, ...]
    reading: str
    knots: Doubles
    values: Doubles
    """Of the key at the knots, rising."""
    sign: float
    """-1 where the key falls."""
    kind: Kind = "monotone"

    def places(self, keys: Reader, others: Reader) -> tuple[NDArray[np.int64], Doubles, Doubles]:
        """Of each record that lies between the knots or on one: where, its value in the column, and the
        key's, with its sign changed if it falls.
        """
        key = self.sign * keys.numbers(self.key, keys.readings(self.key)[0])
        column = others.numbers(self.columns[0], self.reading)
        there = ~(np.isnan(key) | np.isnan(column))
        key, column = key[there], column[there]
        place = np.searchsorted(self.knots, column)
        on = self.knots[np.minimum(place, len(self.knots) - 1)] == column
        low = np.concatenate([[-np.inf], self.values])[place]
        high = np.concatenate([self.values, [np.inf]])[place]
        fits = (key <= high) & (key >= np.where(on, high, low))
        return (2 * place + on)[fits].astype(np.int64), column[fits], key[fits]


def in_order(column: Doubles, key: Doubles) -> int:
    """How many records are left when neighbours that contradict a rising key are taken out."""
    order = np.lexsort((key, column))
    column, key = column[order], key[order]
    while len(key) > 1:
        rise, same = np.diff(key), np.diff(column) == 0
        wrong = np.where(same, rise != 0, rise < 0)
        if not wrong.any():
            break
        kept = np.ones(len(key), dtype=bool)
        kept[:-1] &= ~wrong
        kept[1:] &= ~wrong
        column, key = column[kept], key[kept]
    return len(key)


Rule = Linear | SameText | CodeToValue | Monotone


def count_codes(columns: list[Codes], key: Codes) -> CodeCount:
    """Of codes that give the value of a key which is most frequent among their records."""
    n = len(key[0])
    classes = Classes.whole(n).refined(columns)
    finer = classes.refined([key])
    most = np.zeros(classes.count, dtype=np.int64)
    np.maximum.at(most, classes.labels[finer.some_record], finer.sizes)
    return CodeCount(classes.count, n, int(most.sum()), int(most[classes.sizes > 1].sum()))
