"""Whether the numbers of a release are images of their classes' means under one affine map, and have the
means and covariances of the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles, Points
from microagg.verdict import NEGLIGIBLE, Finding, note, refuse
from microagg.verify.classes import Classes

FEWEST_RECORDS, FEW_RECORDS = 5, 20
"""For each variance and covariance: with fewer it is refused, or there is a note."""

NO_DIRECTION = 1e-9
"""A direction in which z-scores spread less, as a share of the largest spread, is none."""


def moved_numbers(
    columns: Mapping[str, tuple[Doubles, Doubles]],
    weights: Doubles | None,
    rounding: Sequence[float],
    classes: Classes,
    clip: bool,
) -> Iterator[Finding]:
    """What is found about numbers that keep covariances; what forbids the release first.

    `columns`: by name, values before and after, NaN where missing. Records that publish the same columns
    are moved by a map of their own.
    """
    if gaps := [name for name, (old, new) in columns.items() if (np.isnan(old) & ~np.isnan(new)).any()]:
        yield refuse("covariances_not_kept", *gaps, pairs=len(gaps))
        return
    maps = list(_maps_of_patterns(columns, weights, rounding, classes, clip))
    refused = [each for one in maps for each in one.refusals()]
    yield from refused
    if clip:
        shifts = [one.shifts for one in maps]
        ends = _added_up([one.at_ends() for one in maps])
        mean, covariance = (float(max((each[at].max() for each in shifts), default=0.0)) for at in range(2))
        yield note("clipped", *columns, records=ends, mean=mean, covariance=covariance)
    elif not refused:
        moved = float(max((one.shifts[1].max() for one in maps), default=0.0))
        yield note("covariances_kept", *columns, maps=len(maps), moved=moved)
        if outside := _added_up([one.outside() for one in maps]):
            yield note("outside_range", *outside, records=outside)
    few = min(maps, key=lambda one: one.records / one.statistics, default=None)
    if few is not None and FEWEST_RECORDS <= few.records / few.statistics < FEW_RECORDS:
        yield note("covariances_of_few", *few.names, records=few.records, statistics=few.statistics)
    if flat := [one for one in maps if one.directions < len(one.names)]:
        yield note("collinear", *flat[0].names, directions=flat[0].directions)


def _maps_of_patterns(
    columns: Mapping[str, tuple[Doubles, Doubles]],
    weights: Doubles | None,
    rounding: Sequence[float],
    classes: Classes,
    clip: bool,
) -> Iterator[MovedNumbers]:
    """The records that publish the same columns, in the unit of each column's range among them."""
    names = list(columns)
    before, after = (np.stack(side, axis=1) for side in zip(*columns.values(), strict=True))
    shown = ~np.isnan(after)
    weight = np.ones(len(shown)) if weights is None else weights
    patterns, of = np.unique(shown, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, at = np.flatnonzero(of.ravel() == number), np.flatnonzero(pattern)
        if not len(at):
            continue
        old, new = before[np.ix_(rows, at)], after[np.ix_(rows, at)]
        low, high = old.min(axis=0), old.max(axis=0)
        middle = low / 2.0 + high / 2.0
        unit = np.maximum(high - middle, middle - low)
        unit[unit == 0.0] = 1.0
        # A double has so many digits, however far its column is from zero; the smallest have fewer.
        least = np.finfo(np.float64).smallest_subnormal
        digits = 4.0 * (np.finfo(np.float64).eps * np.abs(new).max(axis=0) + least)
        ends = np.stack([np.nanmin(before[:, at], axis=0), np.nanmax(before[:, at], axis=0)], axis=1)
        with np.errstate(over="ignore"):
            ends = (ends - middle[:, np.newaxis]) / unit[:, np.newaxis]
        found, labels = np.unique(classes.labels[rows], return_inverse=True)
        yield MovedNumbers(
            tuple(names[each] for each in at),
            (old - middle) / unit,
            (new - middle) / unit,
            weight[rows] / weight[rows].sum(),
            (np.array(rounding)[at] + digits) / unit,
            ends,
            Classes(labels, len(found)),
            clip,
        )


def _added_up(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Those that are more than none."""
    total: Counter[str] = sum(map(Counter, counts), start=Counter())
    return dict(total)


@dataclass(frozen=True, slots=True, eq=False)
class MovedNumbers:
    """Numbers that one map has moved, before and after, in the unit of each column's range among them."""

    names: tuple[str, ...]
    before: Points
    after: Points
    weights: Doubles
    """They add up to 1."""
    rounding: Doubles
    ends: Points
    """(columns, 2) Of the columns' ranges among all records."""
    classes: Classes
    clip: bool

    @property
    def records(self) -> int:
        return len(self.before)

    @property
    def statistics(self) -> int:
        """Variances and covariances."""
        return len(self.names) * (len(self.names) + 1) // 2

    def refusals(self) -> Iterator[Finding]:
        """What forbids the release."""
        if self.records < FEWEST_RECORDS * self.statistics:
            yield refuse(
                "covariances_of_too_few", *self.names, records=self.records, statistics=self.statistics
            )
        if far := self._classes_off_the_map():
            yield refuse("not_one_map", *self.names, groups=far)
        if not self.clip and (wrong := self._not_kept()):
            columns = sorted({at for pair in wrong for at in pair})
            yield refuse("covariances_not_kept", *(self.names[at] for at in columns), pairs=len(wrong))
        means = self.weights @ (self.after - self.before)
        spread = np.sqrt(np.diag(self._covariances(self.before)))
        moved = np.flatnonzero(np.abs(means) > self.rounding + NEGLIGIBLE * spread)
        if len(moved) and not self.clip:
            yield refuse("moved_means_not_kept", *(self.names[at] for at in moved))

    def _covariances(self, values: Points) -> Points:
        centred = values - self.weights @ values
        found: Points = (centred * self.weights[:, np.newaxis]).T @ centred
        return found

    def _not_kept(self) -> list[tuple[int, int]]:
        """Pairs of columns whose covariance differs by more than rounding explains."""
        old, new = self._covariances(self.before), self._covariances(self.after)
        spread = np.sqrt(np.diag(old))
        one = np.multiply.outer(spread, self.rounding)
        with np.errstate(over="ignore"):  # decimals may be far too few for the numbers
            allowed = one + one.T + np.multiply.outer(self.rounding, self.rounding)
        allowed += NEGLIGIBLE * np.multiply.outer(spread, spread)
        wrong = ~(np.abs(new - old) <= allowed)
        return [(a, b) for a, b in zip(*np.nonzero(wrong), strict=True) if a <= b]

    @property
    def shifts(self) -> tuple[Doubles, Points]:
        """How far means and covariances differ, in units of standard deviations."""
        old, new = self._covariances(self.before), self._covariances(self.after)
        spread = np.sqrt(np.where(np.diag(old) > 0.0, np.diag(old), 1.0))
        means = np.abs(self.weights @ (self.after - self.before)) / spread
        return means, np.abs(new - old) / np.multiply.outer(spread, spread)

    def outside(self) -> dict[str, int]:
        """By column: values outside the range of the source."""
        low, high = self.ends.T
        wrong = (self.after < low - self.rounding) | (self.after > high + self.rounding)
        return dict(zip(self.names, wrong.sum(axis=0).tolist(), strict=True))

    def at_ends(self) -> dict[str, int]:
        """By column: values at an end of the range of the source."""
        low, high = self._ends(self.after)
        return dict(zip(self.names, (low | high).sum(axis=0).tolist(), strict=True))

    def _ends(self, after: Points) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which values are at the lower, and which at the upper end of the source's range."""
        low, high = self.ends.T
        return after <= low + self.rounding, after >= high - self.rounding

    @property
    def directions(self) -> int:
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
            line, leverage, lost = _fitted(design, new, fits)
            slack = self.rounding[at] * (1.0 + np.sqrt(max(fits.sum(), 1) * leverage))
            slack += lost + NEGLIGIBLE * (1.0 + np.abs(new).max())
            off = np.where(fits, np.abs(new - line), 0.0)
            if self.clip:
                off = np.where(low[:, at] & ~fits, line - new, off)
                off = np.where(high[:, at] & ~fits & ~low[:, at], new - line, off)
                wrong |= (new < self.ends[at, 0] - self.rounding[at]) | (
                    new > self.ends[at, 1] + self.rounding[at]
                )
            wrong |= ~(off <= slack)
        return int(wrong.sum())


def _fitted(design: Points, new: Doubles, fits: NDArray[np.bool_]) -> tuple[Doubles, Doubles, float]:
    """The plane of least squares through the chosen classes, at all of them, and their leverage; infinite
    where the chosen ones do not determine it. And what the digits of doubles leave open: much where the
    plane is steep, as it is where most values lie close together beside an outlier.
    """
    if not fits.any():
        return new, np.full(len(new), np.inf), 0.0
    basis, spread, directions = np.linalg.svd(design[fits], full_matrices=False)
    # Places of other classes along directions that hardly vary among these have no digits.
    varies = spread > 1e-8 * spread[0]
    places = design @ directions[varies].T / spread[varies]
    beyond = design - design @ directions[varies].T @ directions[varies]
    leverage = np.where(np.abs(beyond).max(axis=1) > NO_DIRECTION, np.inf, (places**2).sum(axis=1))
    along = basis[:, varies].T @ new[fits]
    line: Doubles = places @ along
    line[fits], leverage[fits] = basis @ (basis.T @ new[fits]), (basis**2).sum(axis=1)
    lost = 4.0 * np.finfo(np.float64).eps * float(spread[0] * np.linalg.norm(along / spread[varies]))
    return line, leverage, lost
