"""Whether the numbers of a release are images of their classes' means under one affine map, and have the
means and covariances of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles, Points
from microagg.verdict import NEGLIGIBLE, Finding, note, refuse
from microagg.verify.classes import Classes

FEWEST_RECORDS, FEW_RECORDS = 5, 20
"""For each variance and covariance: with fewer it is refused, or told."""

NO_DIRECTION = 1e-9
"""A direction in which z-scores spread less, as a share of the largest spread, is none."""


@dataclass(frozen=True, slots=True, eq=False)
class MovedNumbers:
    """The numbers of a subset before and after, in the unit of each column's range; `rounding` likewise."""

    names: tuple[str, ...]
    before: Points
    after: Points
    weights: Doubles
    """They add up to 1."""
    rounding: Doubles
    classes: Classes
    clip: bool

    @classmethod
    def of(
        cls,
        columns: dict[str, tuple[Doubles, Doubles]],
        weights: Doubles | None,
        rounding: Sequence[float],
        classes: Classes,
        clip: bool,
    ) -> MovedNumbers:
        """`columns`: by name, values before and after."""
        before, after, units = [], [], []
        for old, new in columns.values():
            middle = old.min() / 2.0 + old.max() / 2.0
            unit = max(old.max() - middle, middle - old.min()) or 1.0
            before.append((old - middle) / unit)
            after.append((new - middle) / unit)
            units.append((unit, np.abs(new).max()))
        share = (
            np.full(len(before[0]), 1.0 / len(before[0])) if weights is None else weights / weights.sum()
        )
        # A double has so many digits, however far its column is from zero.
        slack = [
            (own + 4.0 * np.finfo(np.float64).eps * size) / unit
            for own, (unit, size) in zip(rounding, units, strict=True)
        ]
        table = tuple(columns), np.stack(before, axis=1), np.stack(after, axis=1)
        return cls(*table, share, np.array(slack), classes, clip)

    def findings(self) -> Iterator[Finding]:
        """What forbids the release first."""
        records, statistics = len(self.before), len(self.names) * (len(self.names) + 1) // 2
        if records < FEWEST_RECORDS * statistics:
            yield refuse("covariances_of_too_few", *self.names, records=records, statistics=statistics)
        if far := self._classes_off_the_map():
            yield refuse("not_one_map", *self.names, groups=far)
        if self.clip:
            yield from self._what_clipping_costs()
        else:
            yield from self._what_is_kept()
        if FEWEST_RECORDS * statistics <= records < FEW_RECORDS * statistics:
            yield note("covariances_of_few", *self.names, records=records, statistics=statistics)
        directions = self._directions()
        if directions < len(self.names):
            yield note("collinear", *self.names, directions=directions)

    def _covariances(self, values: Points) -> Points:
        centred = values - self.weights @ values
        found: Points = (centred * self.weights[:, np.newaxis]).T @ centred
        return found

    def _what_is_kept(self) -> Iterator[Finding]:
        old, new = self._covariances(self.before), self._covariances(self.after)
        spread = np.sqrt(np.diag(old))
        one = np.multiply.outer(spread, self.rounding)
        allowed = one + one.T + np.multiply.outer(self.rounding, self.rounding)
        allowed += NEGLIGIBLE * np.multiply.outer(spread, spread)
        kept = np.abs(new - old) <= allowed
        if not kept.all():
            pairs = [(a, b) for a, b in zip(*np.nonzero(~kept), strict=True) if a <= b]
            columns = sorted({at for pair in pairs for at in pair})
            yield refuse("covariances_not_kept", *(self.names[at] for at in columns), pairs=len(pairs))
        else:
            yield note("covariances_kept", *self.names)
        low, high = self.before.min(axis=0), self.before.max(axis=0)
        outside = (self.after < low - self.rounding) | (self.after > high + self.rounding)
        counts = dict(zip(self.names, outside.sum(axis=0).tolist(), strict=True))
        if found := {name: number for name, number in counts.items() if number}:
            yield note("outside_range", *found, records=found)

    def _what_clipping_costs(self) -> Iterator[Finding]:
        low, high = self._ends(self.after)
        counts = dict(zip(self.names, (low | high).sum(axis=0).tolist(), strict=True))
        old, new = self._covariances(self.before), self._covariances(self.after)
        spread = np.sqrt(np.where(np.diag(old) > 0.0, np.diag(old), 1.0))
        mean = np.abs(self.weights @ (self.after - self.before)) / spread
        moved = np.abs(new - old) / np.multiply.outer(spread, spread)
        yield note(
            "clipped",
            *self.names,
            records={name: number for name, number in counts.items() if number},
            mean=float(mean.max()),
            covariance=float(moved.max()),
        )

    def _ends(self, after: Points) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which values are at the lower, and which at the upper end of the source's range."""
        low, high = self.before.min(axis=0), self.before.max(axis=0)
        return after <= low + self.rounding, after >= high - self.rounding

    def _directions(self) -> int:
        """In how many the source's numbers vary."""
        spread = np.sqrt(np.diag(self._covariances(self.before)))
        scores = (self.before - self.weights @ self.before)[:, spread > 0.0] / spread[spread > 0.0]
        found = np.linalg.svd(np.sqrt(self.weights)[:, np.newaxis] * scores, compute_uv=False)
        return int((found > NO_DIRECTION * found.max(initial=0.0)).sum())

    def _classes_off_the_map(self) -> int:
        """Classes that publish something else than the affine map that fits all of them best gives, by more
        than rounding can explain.

        Rounding moves each value by r at most; a fit by least squares to c values then differs from the map
        itself by r · √(c·h) at most at a class of leverage h.
        """
        labels, count = self.classes.labels, self.classes.count
        total = np.bincount(labels, self.weights, count)
        means = np.stack(
            [np.bincount(labels, self.weights * each, count) for each in self.before.T], axis=1
        )
        design = np.column_stack([np.ones(count), means / total[:, np.newaxis]])
        published = np.empty((count, len(self.names)))
        published[labels] = self.after
        low, high = self._ends(published)
        wrong = np.zeros(count, dtype=bool)
        for at, new in enumerate(published.T):
            fits = ~(low | high)[:, at] if self.clip else np.ones(count, dtype=bool)
            line, leverage = _fitted(design, new, fits)
            slack = self.rounding[at] * (1.0 + np.sqrt(fits.sum() * leverage))
            slack += NEGLIGIBLE * (1.0 + np.abs(new).max())
            off = np.where(fits, np.abs(new - line), 0.0)
            if self.clip:
                off = np.where(low[:, at] & ~fits, line - new, off)
                off = np.where(high[:, at] & ~fits & ~low[:, at], new - line, off)
                wrong |= np.abs(new) > np.abs(self.before[:, at]).max() + self.rounding[at]
            wrong |= ~(off <= slack)
        return int(wrong.sum())


def _fitted(design: Points, new: Doubles, fits: NDArray[np.bool_]) -> tuple[Doubles, Doubles]:
    """The plane of least squares through the chosen classes, at all of them, and their leverage; infinite
    where the chosen ones do not determine it.
    """
    if not fits.any():
        return new, np.full(len(new), np.inf)
    _, spread, directions = np.linalg.svd(design[fits], full_matrices=False)
    varies = spread > 1e-12 * spread[0]
    places = design @ directions[varies].T / spread[varies]
    beyond = design - design @ directions[varies].T @ directions[varies]
    leverage = np.where(np.abs(beyond).max(axis=1) > NO_DIRECTION, np.inf, (places**2).sum(axis=1))
    line: Doubles = places @ (places[fits].T @ new[fits])
    return line, leverage
