"""Records as an intruder compares them: in standard deviations of the original, missing values included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.measure.pair import Codes, Pair, Values
from microagg.model import Whole

SAME = 1e-9
"""Squared distances that differ by a smaller share are equal: rounding must not break ties."""


MOST_CORNERS = 64
"""Coordinates of a nominal column at most."""


def mean_and_deviation(values: Values, ddof: int = 0) -> tuple[Values, Values]:
    """Mean and standard deviation of each column without missing values; 0 where there are too few."""
    present = ~np.isnan(values)
    count = present.sum(axis=0)
    filled = np.where(present, values, 0.0)
    # In units of a power of two, which cost no digits: squares of large numbers could overflow.
    unit = np.ldexp(1.0, np.frexp(np.abs(filled).max(axis=0, initial=0.0))[1] - 1)
    filled = filled / unit
    # About the first value: sums of squares of large numbers that differ little would lose all digits.
    shift = np.where(count > 0, filled[np.argmax(present, axis=0), np.arange(values.shape[1])], 0.0)
    centred = np.where(present, filled - shift, 0.0)
    mean = centred.sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(present, centred - mean, 0.0) ** 2).sum(axis=0)
    deviation = np.sqrt(squares / np.maximum(count - ddof, 1))
    constant = (np.where(present, centred, 0.0) == 0.0).all(axis=0) | (count <= ddof)
    return (shift + mean) * unit, np.where(constant, 0.0, deviation * unit)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The coordinates of one column, before and after: one row for each record, or for each code.

    Codes keep it small: a category has as many coordinates as there are others.
    """

    sides: tuple[Values, Values]
    codes: tuple[Codes, Codes] | None = None

    def rows(self, side: int, rows: Whole) -> Values:
        values = self.sides[side]
        return np.asarray(values[rows] if self.codes is None else values[self.codes[side][rows]])


def known(pair: Pair, rows: Whole, columns: Sequence[int] | None = None) -> Values:
    """What somebody knows of these records: the coordinates of all columns, or of some."""
    return _side_by_side(pair, 0, rows, columns)


def released(pair: Pair, rows: Whole, columns: Sequence[int] | None = None) -> Values:
    """The coordinates of what is released of these records."""
    return _side_by_side(pair, 1, rows, columns)


def _side_by_side(pair: Pair, side: int, rows: Whole, columns: Sequence[int] | None) -> Values:
    chosen = range(pair.p) if columns is None else columns
    return np.hstack([blocks(pair)[at].rows(side, rows) for at in chosen])


def blocks(pair: Pair) -> list[Block]:
    """Column by column; computed once for a pair.

    Numbers, dates and places of levels are in the original's standard deviations from its means. A missing
    one stands at the mean, and one more coordinate is 1 where it is missing: a missing and a present value
    z are z² + 1 apart, which is what z and the value of a random record differ by on average; two missing
    values do not differ. Columns that are constant in the original distinguish records only by what is
    missing. Categories are corners that are equally far apart, around the original's mean, so that random
    records differ as much as in a number.
    """
    return pair.remember("blocks", lambda: [_block(pair, at) for at in range(pair.p)])


def _block(pair: Pair, at: int) -> Block:
    sides = pair.original[:, at], pair.masked[:, at]
    if pair.kind(at) == "nominal":
        before, after = (side.astype(np.int64) for side in sides)
        count = int(max(before.max(), after.max())) + 1
        corners = _corners(before, count, pair.paths.get(pair.columns[at]))
        return Block((corners, corners), (before, after))
    mean, deviation = mean_and_deviation(sides[0][:, np.newaxis])
    scale = 1.0 / deviation[0] if deviation[0] > 0 else 0.0
    gone = [np.isnan(side) for side in sides]
    width = 2 if gone[0].any() or gone[1].any() else 1
    first, second = (
        np.column_stack([np.where(missing, 0.0, (side - mean[0]) * scale), missing])[:, :width]
        for side, missing in zip(sides, gone, strict=True)
    )
    return Block((first, second))


def _corners(codes: Codes, count: int, paths: NDArray[np.int32] | None) -> Values:
    """A corner for each code, in a taxonomy one for each of its levels; those of many codes are only about
    equally far apart.
    """
    levels = np.arange(count)[np.newaxis] if paths is None else paths[:count].T.astype(np.int64)
    starts = np.cumsum([0, *(nodes.max() + 1 for nodes in levels)])
    shares = np.bincount(codes, minlength=count) / codes.size
    spread = sum(1.0 - float((np.bincount(nodes, shares) ** 2).sum()) for nodes in levels)
    if spread <= 1e-12:
        return np.zeros((count, 1))
    if starts[-1] <= MOST_CORNERS:
        corners = np.eye(starts[-1])
    else:
        signs = np.random.default_rng(0).integers(0, 2, (starts[-1], MOST_CORNERS)) * 2.0 - 1.0
        corners = signs / np.sqrt(MOST_CORNERS)
    placed = sum(corners[start + nodes] for start, nodes in zip(starts, levels, strict=False))
    return np.asarray((placed - shares @ placed) / np.sqrt(spread))


def scaled_places(pair: Pair) -> dict[int, int]:
    """By column that varies and has an order: where its value is among all coordinates."""
    starts = np.cumsum([0, *(block.sides[0].shape[1] for block in blocks(pair))])
    return {
        at: int(starts[at])
        for at, block in enumerate(blocks(pair))
        if pair.kind(at) != "nominal" and block.sides[0][:, 0].any()
    }


def extremes(pair: Pair, share: float) -> NDArray[np.int64]:
    """Rows of the records farthest from the mean: this share of them, at least one (ties: lowest row)."""
    everyone = np.arange(pair.n)
    squares = sum((block.rows(0, everyone) ** 2).sum(axis=1) for block in blocks(pair))
    count = max(1, int(np.ceil(round(share * pair.n, 9))))
    return np.sort(np.argsort(-np.asarray(squares), kind="stable")[:count])
