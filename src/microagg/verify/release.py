"""The recount of a released table. What follows from the counts is decided in `rules.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy
from microagg.columns import decimals_of
from microagg.model import Claims, Doubles
from microagg.verdict import NEGLIGIBLE, Count, Finding, Homogeneous, MeanChange, Verdict, note, refuse
from microagg.verify.classes import Classes, Codes, TableClasses, codes_of
from microagg.verify.rules import (
    MeanFigures,
    SubsetResult,
    confidential_sides,
    mean_change,
    too_few_values,
    value_failures,
    verdict_of,
)
from microagg.verify.shape import (
    masked_columns,
    recoded_failures,
    shape_failures,
    untouched_failures,
)
from microagg.verify.values import Mask, as_understood, numbers, numbers_in, plain, spellings

UNIT_FOR_HUGE_VALUES = 2.0**-800
"""Columns with values beyond its inverse are summed in this unit, so that sums do not overflow."""

UNDONE_BY_CHANCE = 0.05
"""Up to this share of noisy values, rounding may give back the source's by chance."""

MOST_UNDONE = 0.5
"""If rounding gives back a larger share of the source's values, the noise protects nobody."""


def verify(source: pa.Table, released: pa.Table, rows: NDArray[np.int64], claims: Claims) -> Verdict:
    """Recount from `released` what `claims` promise about it.

    `source` has key and masked columns as doubles, null where missing, all else as read; `rows` is the
    source row of each released record. A million records with 15 columns take a second or two.
    """
    if failures := shape_failures(source, released, rows, claims):
        return Verdict(claims.k, tuple(failures), records=released.num_rows)
    suppressed = source.num_rows - released.num_rows
    source = source.drop_columns([name for name in source.column_names if name in claims.dropped])
    everything = source
    if not np.array_equal(rows, np.arange(source.num_rows)):
        source = source.take(from_numpy(rows))
    failures = untouched_failures(source, released, claims) + recoded_failures(source, released, claims)
    counting = _TableCounting(claims, source, released, everything)
    failures += counting.number_failures()
    return verdict_of(counting, failures, released.num_rows, suppressed)


@dataclass(frozen=True, slots=True, eq=False)
class _MaskedColumn:
    """A column of numbers before and after, NaN where missing; `both`: the records that have both values,
    None if all have.
    """

    before: Doubles
    after: Doubles
    both: Mask | None

    @classmethod
    def of(cls, before: Doubles, after: Doubles) -> _MaskedColumn:
        gaps = np.isnan(before) | np.isnan(after)
        return cls(before, after, ~gaps if gaps.any() else None)

    def of_both(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.both is None else values[self.both]

    def undone(self) -> tuple[int, int]:
        """How many values, of how many, are the source's again when rounded to the source's decimals."""
        there = ~np.isnan(self.before)
        before, after = self.before[there], self.after[there]
        decimals = decimals_of(before)
        rounded = after if decimals is None else np.round(after, decimals)
        return int((rounded == before).sum()), len(before)


@dataclass(frozen=True, eq=False)
class _TableCounting:
    """Source and released table with the same records in the same order."""

    claims: Claims
    source: pa.Table
    released: pa.Table
    everything: pa.Table
    """The source with the records that are not released."""
    _meanings: dict[tuple[str, bool], Codes] = field(default_factory=dict)

    @cached_property
    def classes(self) -> TableClasses:
        return TableClasses(self.released)

    @cached_property
    def columns(self) -> Mapping[str, _MaskedColumn]:
        """Every masked column, and those for which something is promised, unless it holds no numbers."""
        found = {}
        for name in dict.fromkeys([*masked_columns(self.claims), *self.claims.mean_tolerance]):
            before, after = (numbers(table.column(name)) for table in (self.source, self.released))
            if before is not None and after is not None:
                found[name] = _MaskedColumn.of(before, after)
        return found

    @cached_property
    def weights(self) -> Doubles | None:
        """Of the released records, in the source; None without weights. NaN for what is none."""
        return self._weights_in(self.source)

    @cached_property
    def unusable_weights(self) -> int:
        """The number of weights that are not positive numbers."""
        weights = self.weights
        return 0 if weights is None else int((~(np.isfinite(weights) & (weights > 0))).sum())

    def _weights_in(self, table: pa.Table) -> Doubles | None:
        if self.claims.weight is None:
            return None
        found = numbers_in(table.column(self.claims.weight))
        return np.full(table.num_rows, np.nan) if found is None else found

    def number_failures(self) -> list[Finding]:
        """Masked columns hold finite numbers or null; no stratum is NaN."""
        masked = masked_columns(self.claims)
        failures = []
        for name in dict.fromkeys([*masked, *self.claims.mean_tolerance]):
            for table in (self.source, self.released) if name not in self.columns else ():
                if numbers(table.column(name)) is None:
                    kind = str(plain(table.column(name)).type)
                    failures.append(refuse("masked_not_numeric", name, kind=kind))
        for name in (*masked, *self.claims.strata):
            column = plain(self.released.column(name))
            values = self.columns[name].after if name in self.columns else numbers(column)
            if values is not None:
                wrong = int((~np.isfinite(values) if name in masked else np.isnan(values)).sum())
                if wrong > column.null_count:
                    failures.append(refuse("not_a_number", name, records=wrong - column.null_count))
        if self.claims.weight is not None and self.unusable_weights:
            records = self.unusable_weights
            failures.append(refuse("weights_unusable", self.claims.weight, records=records))
        return failures

    def count(self, names: tuple[str, ...]) -> Count:
        return self.classes.by(names).counted(names, self.claims.k)

    def subset(self, strata: tuple[str, ...], names: tuple[str, ...]) -> SubsetResult:
        keys = strata + names
        classes = self.classes.by(keys)
        failures = [each for name in names for each in self._value_failures(name, classes)]
        failures += self._weight_failures(keys, classes)
        count = classes.counted(keys, self.claims.k, self._own_values(names))
        is_key = names not in self.claims.own_subsets
        return SubsetResult(count, failures, self.homogeneous(keys) if is_key else ())

    def _own_values(self, names: tuple[str, ...]) -> int:
        """Records whose released values in all these columns, one at least, are their own."""
        same = np.ones(self.released.num_rows, dtype=bool)
        some = np.zeros_like(same)
        for name in names:
            column = self.columns.get(name)
            if column is None or not same.any():
                return 0
            gone = np.isnan(column.after)
            same &= (column.before == column.after) | (gone & np.isnan(column.before))
            some |= ~gone
        return int((same & some).sum())

    def _value_failures(self, name: str, classes: Classes) -> list[Finding]:
        """Every released value rests on k observed ones of its class, its own record's among them, and is
        the mean of its members, but for rounding.
        """
        column, rounding = self.columns.get(name), self.claims.rounding.get(name)
        if column is None:
            return []  # refused already
        observed = shown = both = classes.sizes
        invented = far = 0
        if column.both is not None:
            has, shows = ~np.isnan(column.before), ~np.isnan(column.after)
            invented = int((shows & ~has).sum())
            observed, shown, both = (
                np.bincount(classes.labels[there], minlength=classes.count)
                for there in (has, shows, column.both)
            )
        few = int(shown[observed < self.claims.k].sum())
        if rounding is not None:
            before, after = column.of_both(column.before), column.of_both(column.after)
            labels = column.of_both(classes.labels)
            weight = 1.0 if self.weights is None else column.of_both(self.weights)
            with np.errstate(all="ignore"):
                off, size = (
                    np.bincount(labels, weight * values, minlength=classes.count)
                    for values in (before - after, np.abs(before))
                )
                total = both if self.weights is None else np.bincount(labels, weight, classes.count)
                slack = np.finfo(np.float64).tiny + NEGLIGIBLE * size / total  # tiny: of denormal numbers
                is_far = np.abs(off) > (rounding * (1.0 + NEGLIGIBLE) + slack) * total
            far = int(is_far[total > 0.0].sum())
        return value_failures(name, self.claims.k, invented, few, far)

    def _weight_failures(self, keys: tuple[str, ...], classes: Classes) -> list[Finding]:
        """No weight is more than half of its class's."""
        weights, name = self.weights, self.claims.weight
        if weights is None or name is None or self.unusable_weights:
            return []
        dominated = classes.dominated(weights / weights.max())
        return [refuse("dominant_weights", name, keys=keys, groups=dominated)] if dominated else []

    def noise_findings(self) -> list[Finding]:
        """Noise leaves missing values missing, and others not; rounding undoes that of half at most."""
        found = [note("noised", *self.claims.noised)] if self.claims.noised else []
        for name in self.claims.noised:
            if (column := self.columns.get(name)) is None:
                continue
            if moved := int((np.isnan(column.before) != np.isnan(column.after)).sum()):
                found.append(refuse("missing_moved", name, records=moved))
            undone, of = column.undone()
            if undone > MOST_UNDONE * of:
                found.append(refuse("noise_undone", name, values=undone, of=of))
            elif undone > UNDONE_BY_CHANCE * of:
                found.append(note("noise_partly_undone", name, values=undone, of=of))
        return found

    def homogeneous(self, keys: tuple[str, ...]) -> list[Homogeneous]:
        """Classes that give a confidential value away, by the source's values and by masked ones."""
        classes, found = self.classes.by(keys), []
        for name, released in confidential_sides(self.claims):
            poor = too_few_values(self.claims, classes, self._codes_of_meanings(name, released))
            if poor.any():
                records = int(classes.sizes[poor].sum())
                merged = name in self.spellings
                found.append(Homogeneous(name, keys, int(poor.sum()), records, released, merged))
        return found

    def _codes_of_meanings(self, name: str, released: bool) -> Codes:
        """Codes of what the values of a column mean: 5 and 5.0 in a file are no two different values."""
        if (name, released) not in self._meanings:
            table = self.released if released else self.source
            self._meanings[name, released] = codes_of(as_understood(table.column(name)))
        return self._meanings[name, released]

    @cached_property
    def spellings(self) -> Mapping[str, tuple[int, int]]:
        names = dict.fromkeys(name for name, _ in confidential_sides(self.claims))
        counts = {name: spellings(self.source.column(name)) for name in names}
        return {name: (texts, read) for name, (texts, read) in counts.items() if read < texts}

    def mean_changes(self) -> tuple[MeanChange, ...]:
        with np.errstate(all="ignore"):
            return tuple(mean_change(name, self.claims, found) for name, found in self._mean_figures())

    def _mean_figures(self) -> Iterator[tuple[str, MeanFigures]]:
        all_weights = self._weights_in(self.everything)
        for name, column in self.columns.items():
            everything = column.before
            if self.everything is not self.source:
                everything = np.asarray(numbers(self.everything.column(name)))
            old, new = column.of_both(column.before), column.of_both(column.after)
            weights = None if self.weights is None else column.of_both(self.weights)
            whole_weights = all_weights
            before, values = len(old), len(everything)
            if column.both is not None or everything is not column.before:
                observed = ~np.isnan(everything)
                before, values = int((~np.isnan(column.before)).sum()), int(observed.sum())
                everything = everything[observed]
                whole_weights = None if all_weights is None else all_weights[observed]
            counts = len(old), before - len(old), values - before
            if not len(old):
                yield name, MeanFigures(*counts)
                continue
            different = (old, new) if everything is old else (old, new, everything)
            unit = UNIT_FOR_HUGE_VALUES if any(map(_are_huge, different)) else 1.0
            old, new = old * unit, new * unit
            total, weight = _sum_and_weight(new - old, weights)
            size, _ = _sum_and_weight(np.abs(old), weights)
            released = _sum_and_weight(new, weights)[0] if any(counts[1:]) else np.nan
            source, whole_weight = _sum_and_weight(everything * unit, whole_weights)
            yield (
                name,
                MeanFigures(
                    *counts,
                    change=float(total / weight / unit),
                    total=float(total / unit),
                    size=float(size / weight / unit),
                    released_mean=float(released / weight / unit),
                    source_mean=float(source / whole_weight / unit),
                ),
            )

    def unique_with(self, keys: tuple[str, ...]) -> dict[str, int]:
        joint = self.classes.by(keys)
        others = [name for name in self.released.column_names if name not in keys]
        return {name: joint.refined([self.classes.codes(name)]).unique for name in others}


def _are_huge(values: Doubles) -> bool:
    return bool(max(values.max(), -values.min()) > 1.0 / UNIT_FOR_HUGE_VALUES)


def _sum_and_weight(values: Doubles, weights: Doubles | None) -> tuple[np.float64, np.float64]:
    if weights is None:
        return np.sum(values), np.float64(len(values))
    return np.sum(weights * values), np.sum(weights)
