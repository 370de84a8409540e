"""Coordinates of keys that no single machine holds: each record's follow from its own values.

What they depend on is counted over all records beforehand: units of numbers, dates and ordered levels, and
how many records have each category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microagg.model import Doubles, Points, Table, Whole
from microagg.prepare.coordinates import Attribute, Coordinates, corners_of
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.units import Units


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """How the values of some columns (numbers, moments and codes, NaN where missing) become coordinates."""

    units: Units
    kinds: tuple[KeyColumn | None, ...]
    importance: tuple[float, ...]
    counts: tuple[Whole | None, ...]
    """Of categories: by level or code, the number of all records that have it."""
    corners: tuple[Points | None, ...]
    """Of nominal columns: by code."""

    @classmethod
    def of(
        cls,
        units: Units,
        kinds: Sequence[KeyColumn | None],
        importance: Sequence[float],
        counts: Sequence[Whole | None],
    ) -> Space:
        corners = tuple(
            corners_of(own, kind.paths)
            if own is not None and kind is not None and kind.kind == "nominal"
            else None
            for kind, own in zip(kinds, counts, strict=True)
        )
        return cls(units, tuple(kinds), tuple(importance), tuple(counts), corners)

    def part(self, columns: Sequence[int]) -> Space:
        """Of these columns alone."""
        chosen: Mapping[str, Any] = {
            name: tuple(getattr(self, name)[at] for at in columns)
            for name in ("kinds", "importance", "counts", "corners")
        }
        return replace(self, units=self.units.of(columns), **chosen)

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers of the same importance."""
        return all(kind is None for kind in self.kinds) and set(self.importance) <= {1.0}

    @property
    def numbers(self) -> tuple[bool, ...]:
        return tuple(kind is None for kind in self.kinds)

    def points(self, values: Doubles) -> Points:
        """All coordinates side by side."""
        if self.is_plain:
            return self.units.points(values)
        return np.ascontiguousarray(np.concatenate(self._each(values), axis=1))

    def coordinates(self, columns: tuple[str, ...], values: Doubles) -> Coordinates:
        if self.is_plain:
            return Coordinates.of_numbers(Table(columns, values), self.units.points(values))
        pieces = zip(self._each(values), self.kinds, self.importance, self.counts, strict=True)
        return Coordinates(columns, values, tuple(Attribute(*piece) for piece in pieces))

    def total(self, at: int, counts: Whole) -> float:
        """What one published value of a category would cost for records with these counts of levels."""
        own = Attribute(np.empty((0, 1)), self.kinds[at], self.importance[at], self.counts[at])
        return own.total(counts)

    def _each(self, values: Doubles) -> list[Points]:
        """The coordinates of each column."""
        scaled = self.units.points(values)
        found = []
        for at, (corners, importance) in enumerate(zip(self.corners, self.importance, strict=True)):
            own = scaled[:, at : at + 1]
            if corners is not None:
                gone = np.isnan(values[:, at])
                codes = np.where(gone, 0, values[:, at]).astype(np.int64)
                own = np.where(gone[:, np.newaxis], np.nan, corners[codes])
            found.append(own * np.sqrt(importance))
        return found
