"""Keys of any kind as coordinates of one space, in which squared distances are what the search lowers.

A number is one coordinate, and so is a date, or the place of an ordered level. The codes of a nominal
column are the corners of a simplex: the SSE of a group of m records in which code c occurs n_c times is
then proportional to m − Σ n_c²/m. In a taxonomy, each level is such a column. Every categorical attribute
has the sum of squares that a standardised number has, times its importance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.model import Categories, Doubles, Points, Problem, ScaleName, Table, Whole
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.units import to_points

MOST_COORDINATES = 32
"""Of a nominal column, a power of two; more corners of a simplex are only nearly equally far apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A column of a subset: the coordinates of each record, NaN where the value is missing."""

    points: Points
    kind: KeyColumn | None
    """None: a number."""
    importance: float = 1.0
    counts: Whole | None = None
    """Of a category: by level or code, the number of all records that have it."""

    @property
    def is_category(self) -> bool:
        return self.kind is not None and self.kind.is_category

    @property
    def is_ordered(self) -> bool:
        return self.kind is not None and self.kind.kind == "ordinal"

    @property
    def paths(self) -> NDArray[np.int32] | None:
        """Of a taxonomy."""
        return None if self.kind is None else self.kind.paths

    @property
    def unit_cost(self) -> float:
        """What a changed cell of a category, or a change by one level or by the largest distance, costs:
        publishing one value for all costs as much as the sum of squares of a standardised number.
        """
        if self.counts is None:
            return 0.0
        one_for_all = self._change_by_one_value(self.counts)
        return self.importance * int(self.counts.sum()) / one_for_all if one_for_all > 0 else 0.0

    def total(self, counts: Whole) -> float:
        """What one published value would cost for records with these counts of levels."""
        return self.unit_cost * self._change_by_one_value(counts)

    def _change_by_one_value(self, counts: Whole) -> float:
        """How many cells, or levels, change if all records publish their mode, or median level; in a
        taxonomy the sum of distances to the nearest of their codes.
        """
        records = int(counts.sum())
        if not records:
            return 0
        if self.paths is not None:
            paths = self.paths[: len(counts)]
            shared: Doubles = sum(np.bincount(nodes, counts)[nodes] for nodes in paths.T)[counts > 0]
            return float(records - shared.max() / paths.shape[1])
        if not self.is_ordered:
            return records - int(counts.max())
        median = int(np.searchsorted(np.cumsum(counts), (records - 1) // 2, side="right"))
        return int((counts * np.abs(np.arange(len(counts)) - median)).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """All columns of a subset."""

    columns: tuple[str, ...]
    values: Doubles
    """(n, columns) numbers, moments and codes, NaN where missing."""
    attributes: tuple[Attribute, ...]
    whole: Points | None = None
    """All coordinates side by side, if they are numbers and none is missing."""

    @classmethod
    def of_numbers(cls, table: Table, points: Points) -> Coordinates:
        """Numbers, and the same in common units."""
        attributes = tuple(Attribute(points[:, at : at + 1], None) for at in range(points.shape[1]))
        return cls(table.columns, table.values, attributes, points)

    @property
    def categorical(self) -> frozenset[str]:
        pairs = zip(self.columns, self.attributes, strict=True)
        return frozenset(name for name, attribute in pairs if attribute.is_category)

    def missing(self) -> Points:
        """One coordinate for each column, NaN where it is missing: what patterns are made from."""
        if self.whole is not None:
            return self.whole
        return np.concatenate([each.points[:, :1] for each in self.attributes], axis=1)

    def problem(self, rows: Whole, columns: Sequence[int], k: int) -> Problem:
        """These rows in these columns: the coordinates of numbers, then those of categories."""
        if self.whole is not None:
            if len(rows) == len(self.whole) and len(columns) == len(self.columns):
                return Problem(self.whole, k)  # rows of a single stratum are in order
            return Problem(np.ascontiguousarray(self.whole[rows][:, list(columns)]), k)
        numbers = [at for at in columns if not self.attributes[at].is_category]
        others = [at for at in columns if self.attributes[at].is_category]
        blocks = [self.attributes[at].points for at in (*numbers, *others)]
        chosen = [block[rows] for block in blocks] or [np.empty((len(rows), 0))]
        points = np.ascontiguousarray(np.concatenate(chosen, axis=1))
        if not others:
            return Problem(points, k)
        widths = [self.attributes[at].points.shape[1] for at in others]
        return Problem(
            points,
            k,
            Categories(
                codes=np.ascontiguousarray(self.values[rows][:, others].astype(np.int32)),
                ordered=np.array([self.attributes[at].is_ordered for at in others]),
                cost=np.array([self.attributes[at].unit_cost for at in others]),
                starts=len(numbers) + np.concatenate([[0], np.cumsum(widths)]),
                paths=tuple(self.attributes[at].paths for at in others),
            ),
        )

    def totals(self, kept: Sequence[Whole]) -> dict[str, float]:
        """By column, what one published value for all of its cells that are kept would cost.

        `kept`: their rows.
        """
        found = {}
        for at, (name, rows) in enumerate(zip(self.columns, kept, strict=True)):
            attribute = self.attributes[at]
            if attribute.is_category:
                found[name] = attribute.total(np.bincount(self.values[rows, at].astype(np.int64)))
            else:
                own = attribute.points[rows]
                found[name] = float(((own - own.mean(axis=0)) ** 2).sum()) if len(own) else 0.0
        return found


def coordinates_of(
    subset: Table,
    kinds: Mapping[str, KeyColumn],
    importance: Mapping[str, float],
    scale: ScaleName,
    by_pattern: bool,
) -> Coordinates:
    """The columns in common units. `DataError` for missing values unless they go by pattern."""
    if not kinds and not importance and not np.isnan(subset.values).any():
        return Coordinates.of_numbers(subset, to_points(subset, scale))
    attributes = []
    for at, name in enumerate(subset.columns):
        values, kind = subset.values[:, at], kinds.get(name)
        gone = np.isnan(values)
        if gone.any() and not by_pattern:
            raise wording.missing_keys(name, int(gone.sum()), len(gone))
        weight = importance.get(name, 1.0)
        present = np.flatnonzero(~gone)
        own = _points(values[present], kind, name, scale) if len(present) else np.empty((0, 1))
        points = np.full((len(values), own.shape[1]), np.nan)
        points[present] = own * np.sqrt(weight)
        is_category = kind is not None and kind.is_category
        counts = np.bincount(values[present].astype(np.int64)) if is_category else None
        attributes.append(Attribute(points, kind, weight, counts))
    return Coordinates(subset.columns, subset.values, tuple(attributes))


def _points(values: Doubles, kind: KeyColumn | None, name: str, scale: ScaleName) -> Points:
    if kind is not None and kind.kind == "nominal":
        codes = values.astype(np.int64)
        corner: Points = corners_of(np.bincount(codes), kind.paths)[codes]
        return corner
    own = scale if kind is None or kind.kind == "date" else "zscore"
    return to_points(Table((name,), np.ascontiguousarray(values[:, np.newaxis])), own)


def corners_of(counts: Whole, paths: NDArray[np.int32] | None = None) -> Points:
    """By code, a corner of a simplex, or in a taxonomy one of a simplex for each of its levels; all
    records, so many of each code, then have the sum of squares of a standardised number.
    """
    if paths is not None:
        return _corners_in_taxonomy(counts, paths[: len(counts)])
    n, corners = int(counts.sum()), int((counts > 0).sum())
    if corners < 2:
        return np.zeros((len(counts), 1))
    spread = n - float((counts.astype(np.float64) ** 2).sum()) / n
    scaled: Points = _simplex(corners) * np.sqrt(n / spread)
    place = np.cumsum(counts > 0) - 1
    corner: Points = scaled[place]
    return corner


def _corners_in_taxonomy(counts: Whole, paths: NDArray[np.int32]) -> Points:
    """Squared distances are as the shares of levels that differ: exactly, or about, where the levels have
    more nodes than there are coordinates for.
    """
    n = int(counts.sum())
    levels = [np.unique(nodes, return_inverse=True)[1].ravel() for nodes in paths.T]
    of_nodes = [np.bincount(nodes, counts) for nodes in levels]
    spread = sum(n - float((each**2).sum()) / n for each in of_nodes)
    if spread <= 0.0:
        return np.zeros((len(counts), 1))
    sizes = [len(each) for each in of_nodes]
    if sum(sizes) - len(sizes) <= MOST_COORDINATES:
        blocks = [_simplex(size)[nodes] for size, nodes in zip(sizes, levels, strict=True) if size > 1]
        return np.ascontiguousarray(np.concatenate(blocks, axis=1) * np.sqrt(n / spread))
    corners = _simplex(sum(sizes))
    starts = np.cumsum([0, *sizes])
    placed = sum(corners[start + nodes] for start, nodes in zip(starts, levels, strict=False))
    return np.ascontiguousarray(placed * np.sqrt(n / spread))


def _simplex(corners: int) -> Points:
    """Corners whose squared distance is 2: exactly, or nearly, where they are more than there are
    coordinates for. From exactly rounded operations only: the same on every machine.
    """
    if corners <= MOST_COORDINATES + 1:
        # Each coordinate sets one corner apart from the mean of those before it.
        coordinate = np.arange(1, corners, dtype=np.float64)
        away = 1.0 / np.sqrt(coordinate * (coordinate + 1.0))
        made = np.where(np.arange(corners)[:, np.newaxis] < coordinate, -away, 0.0)
        made[np.arange(1, corners), np.arange(corners - 1)] = coordinate * away
        return made
    # Signs that are orthogonal to one another, and those of opposite sign, then others by chance.
    signs = np.ones((1, 1))
    while len(signs) < MOST_COORDINATES:
        signs = np.block([[signs, signs], [signs, -signs]])
    more = np.random.default_rng(0).integers(0, 2, (corners, MOST_COORDINATES)) * 2.0 - 1.0
    nearly: Points = np.concatenate([signs, -signs, more])[:corners] / np.sqrt(MOST_COORDINATES)
    return nearly
