"""Whether a rule may hold by chance, in columns that have nothing to do with each other.

If a key has nothing to do with the released columns, its values stand in the records in any order, each as
likely as another. A rule that computes the key from released columns fits one of these orders; allowing
for exceptions, it fits as many as there are ways to choose them. So no rule of a family fits with a larger
probability than

    rules · ways to choose the exceptions / orders.

The logarithm of this number is the `chance` of a rule. Nothing is assumed about the values: a 0/1 column of
twelve records has few orders, so that a copy of it proves nothing, and a column with a single 1 among many
zeros has few as well.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles

CHANCE = 1e-4
"""So improbable must it be that any rule at all holds in a table of unrelated columns."""


def may_be_chance(chance: float, comparisons: int) -> bool:
    """Whether one of so many comparisons may well show a rule with this logarithm of a probability."""
    return chance > math.log(CHANCE / max(comparisons, 1))


def log_choices(n: float, k: float) -> float:
    """Of the ways to choose k of n."""
    if k <= 0 or k >= n:
        return 0.0
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_orders(counts: NDArray[np.int64]) -> float:
    """Of the orders in which values can stand that occur so often each."""
    sizes, times = np.unique(counts, return_counts=True)
    alike = sum(int(many) * math.lgamma(int(size) + 1) for size, many in zip(sizes, times, strict=True))
    return math.lgamma(int(counts.sum()) + 1) - alike


def chance_of_rule(log_rules: float, counts: NDArray[np.int64], exceptions: int) -> float:
    """That one of these rules gives all values of a key, which occur so often each, but the exceptions."""
    choices = log_choices(int(counts.sum()), exceptions) + exceptions * math.log(len(counts))
    return log_rules + choices - log_orders(counts)


def chance_of_codes(codes: int, counts: NDArray[np.int64], exceptions: int) -> float:
    """That so many codes have a value of the key each, but for the exceptions: the better of two bounds.

    There are as many rules as ways to give each code a value. And of values that are drawn independently,
    those of a code agree with the first with at most the probability of the most frequent value.
    """
    n = int(counts.sum())
    by_rules = chance_of_rule(codes * math.log(len(counts)), counts, exceptions)
    repeats = max(n - exceptions - codes, 0)
    by_repeats = log_choices(n, exceptions) + repeats * math.log(int(counts.max()) / n)
    return min(by_rules, by_repeats)


def chance_of_values(values: Doubles, known: int) -> float:
    """That another column has just these distinct values, if it may have any that lie as densely.

    Equal salaries are no chance even in a handful of records, unlike equal ranks. `known` of the values
    are needed to know the rule, and prove nothing.
    """
    if len(values) < 3:
        return 0.0
    steps = np.diff(values)
    with np.errstate(over="ignore"):
        places = min(float((values[-1] - values[0]) / steps.min()) + 1.0, 1e15)
    return -log_choices(places - known, len(values) - known)
