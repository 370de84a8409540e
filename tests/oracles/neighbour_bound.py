"""The plain bound from nearest neighbours, and what shares of a bound have to satisfy, in exact numbers."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .basics import Floats, as_points, pairwise_distances


def plain_shares(points: Floats, k: int) -> Floats:
    """Of each record: the sum of its k-1 smallest squared distances, over 2k."""
    distances = pairwise_distances(as_points(points))
    np.fill_diagonal(distances, np.inf)
    return np.sort(distances, axis=1)[:, : k - 1].sum(axis=1) / (2 * k)


def whole_numbers(values: ArrayLike) -> tuple[list[int], int]:
    """Integers and what to divide them by: the very values, which are binary fractions."""
    ratios = [float(value).as_integer_ratio() for value in np.ravel(np.asarray(values))]
    unit = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (unit // denominator) for numerator, denominator in ratios], unit


def shares_and_costs(points: Floats, shares: Floats, k: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Of every group of at least k of a handful of records: the sum of its shares, and its cost.

    The cost of a group of m is the sum of its pairs' squared distances over m.
    """
    table = as_points(points)
    n, p = table.shape
    flat, unit = whole_numbers(table)
    rows = [flat[i * p : (i + 1) * p] for i in range(n)]
    own, share_unit = whole_numbers(shares)
    between = [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
    pairs = [0] * 2**n
    sums = [0] * 2**n
    for group in range(1, 2**n):
        first = (group & -group).bit_length() - 1
        rest = group & (group - 1)
        pairs[group] = pairs[rest] + sum(between[first][j] for j in range(first + 1, n) if rest >> j & 1)
        sums[group] = sums[rest] + own[first]
        size = group.bit_count()
        if size >= k:
            yield Fraction(sums[group], share_unit), Fraction(pairs[group], unit * unit * size)
