"""The recount of a released table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy
from microagg.columns import decimals_of
from microagg.model import Claims
from microagg.verdict import (
    NEGLIGIBLE,
    Count,
    Finding,
    Homogeneous,
    MeanChange,
    NotCounted,
    Verdict,
    note,
    refuse,
)
from microagg.verify.classes import Classes, Codes, codes_of, count_of
from microagg.verify.rules import (
    change_with_share,
    confidential_columns,
    confidential_failures,
    confidential_sides,
    k_failures,
    mean_failures,
    notes_of,
)
from microagg.verify.shape import (
    key_columns,
    masked_columns,
    recoded_failures,
    shape_failures,
    untouched_failures,
)
from microagg.verify.values import (
    as_understood,
    is_numeric,
    missing,
    numbers,
    numbers_in,
    plain,
    spellings,
)

UNIT_FOR_HUGE_VALUES = 2.0**-800
"""Columns with values beyond its inverse are summed in this unit, so that sums do not overflow."""

UNDONE_BY_CHANCE = 0.05
"""Up to this share of noisy values, rounding may give back the source's by chance."""

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

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
    failures += _number_failures(source, released, claims)
    release = Release(source, released, claims, everything)
    return release.verdict(failures, suppressed)


def _number_failures(source: pa.Table, released: pa.Table, claims: Claims) -> list[Finding]:
    """Masked columns hold finite numbers or null; no stratum is NaN."""
    masked = masked_columns(claims)
    failures = []
    for name in dict.fromkeys([*masked, *claims.mean_tolerance]):
        for table in (source, released):
            kind = plain(table.column(name)).type
            if not is_numeric(kind):
                failures.append(refuse("masked_not_numeric", name, kind=str(kind)))
    for name in (*masked, *claims.strata):
        array = plain(released.column(name))
        values = numbers(array)
        if values is not None:
            finite = np.isfinite(values) if name in masked else ~np.isnan(values)
            if wrong := int((~finite & ~missing(array)).sum()):
                failures.append(refuse("not_a_number", name, records=wrong))
    return failures


def _is_huge(values: NDArray[np.float64]) -> bool:
    return bool(np.abs(values).max() > 1.0 / UNIT_FOR_HUGE_VALUES)


def _undone(before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[int, int]:
    """How many values, of how many, are the source's again when rounded to the source's decimals."""
    there = ~np.isnan(before)
    before, after = before[there], after[there]
    decimals = decimals_of(before)
    rounded = after if decimals is None else np.round(after, decimals)
    return int((rounded == before).sum()), len(before)


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """Source and released table with the same records in the same order, columns as codes where needed."""

    source: pa.Table
    released: pa.Table
    claims: Claims
    everything: pa.Table
    """The source with the records that are not released."""
    _codes: dict[tuple[bool, str], Codes] = field(default_factory=dict)
    _meanings: dict[tuple[bool, str], Codes] = field(default_factory=dict)
    _numbers: dict[str, Pair | None] = field(default_factory=dict)
    _spellings: dict[str, tuple[int, int]] = field(default_factory=dict)

    def codes(self, name: str, released: bool = True) -> Codes:
        if (released, name) not in self._codes:
            table = self.released if released else self.source
            self._codes[released, name] = codes_of(table.column(name))
        return self._codes[released, name]

    def meanings(self, name: str, released: bool) -> Codes:
        """Codes of what the values of a column mean: 5 and 5.0 in a file are no two different values."""
        if (released, name) not in self._meanings:
            table = self.released if released else self.source
            self._meanings[released, name] = codes_of(as_understood(table.column(name)))
        return self._meanings[released, name]

    def numbers(self, name: str) -> Pair | None:
        """A column's source and released values, NaN where missing; None if they are no numbers."""
        if name not in self._numbers:
            before, after = numbers(self.source.column(name)), numbers(self.released.column(name))
            self._numbers[name] = None if before is None or after is None else (before, after)
        return self._numbers[name]

    def verdict(self, failures: list[Finding], suppressed: int) -> Verdict:
        """All that is counted, after what was found before."""
        claims, keys = self.claims, key_columns(self.claims)
        whole = Classes.whole(self.released.num_rows)
        strata = whole.refined(map(self.codes, claims.strata))
        key_subsets = claims.subsets or ((),)  # strata alone are keys too
        subsets = [strata.refined(map(self.codes, subset)) for subset in key_subsets]
        joint = subsets[0].refined(map(self.codes, keys)) if len(subsets) > 1 else subsets[0]
        own = [whole.refined(map(self.codes, subset)) for subset in claims.own_subsets]

        counts = self.counts(key_subsets, subsets, claims.strata)
        own_counts = self.counts(claims.own_subsets, own)
        together = count_of(keys, joint, claims.k) if len(subsets) > 1 else None
        grouped = [(count.columns, classes) for count, classes in zip(counts, subsets, strict=True)]
        failures += k_failures(claims, counts + own_counts, together)
        for names, classes in zip(key_subsets + claims.own_subsets, subsets + own, strict=True):
            failures += self.observed_failures(names, classes)
            failures += self.value_failures(names, classes)
        failures += self.noise_failures()
        failures += self.weight_failures(grouped + list(zip(claims.own_subsets, own, strict=True)))
        jointly = [(keys, joint)] if together is not None and not together.below else []
        homogeneous, changes = self.homogeneous(grouped + jointly), self.mean_changes()
        failures += confidential_failures(claims, homogeneous) + mean_failures(changes)
        return Verdict(
            claims.k,
            tuple(failures),
            records=self.released.num_rows,
            suppressed=suppressed,
            subsets=counts,
            joint=together,
            own_subsets=own_counts,
            homogeneous=homogeneous,
            mean_changes=changes,
            not_counted=self.not_counted(joint, keys),
            notes=self.notes(counts + own_counts, together, homogeneous, suppressed),
        )

    def counts(
        self, subsets: tuple[tuple[str, ...], ...], classes: list[Classes], strata: tuple[str, ...] = ()
    ) -> tuple[Count, ...]:
        return tuple(
            count_of(strata + names, found, self.claims.k, self.own_values(names))
            for names, found in zip(subsets, classes, strict=True)
        )

    def own_values(self, names: tuple[str, ...]) -> int:
        """Records whose released values in all these columns, one at least, are their own."""
        same = np.ones(self.released.num_rows, dtype=bool)
        some = np.zeros_like(same)
        for name in names:
            if (pair := self.numbers(name)) is None:
                return 0
            before, after = pair
            gone = np.isnan(after)
            same &= (before == after) | (gone & np.isnan(before))
            some |= ~gone
        return int((same & some).sum())

    def observed_failures(self, names: tuple[str, ...], classes: Classes) -> list[Finding]:
        """Every released value rests on k observed ones of its class, its own record's among them."""
        failures = []
        for name in names:
            if (pair := self.numbers(name)) is None:
                continue  # refused already
            observed, shown = ~np.isnan(pair[0]), ~np.isnan(pair[1])
            if invented := int((shown & ~observed).sum()):
                failures.append(refuse("value_without_source", name, records=invented))
            rests_on = np.bincount(classes.labels[observed], minlength=classes.count)
            if few := int((shown & (rests_on < self.claims.k)[classes.labels]).sum()):
                failures.append(refuse("too_few_observed", name, k=self.claims.k, records=few))
        return failures

    def value_failures(self, names: tuple[str, ...], classes: Classes) -> list[Finding]:
        """What a class publishes is the mean of its members, but for rounding."""
        failures = []
        weights = self.weights()
        for name in names:
            pair, tolerance = self.numbers(name), self.claims.rounding.get(name)
            if pair is None or tolerance is None:
                continue
            before, after = pair
            cells = ~(np.isnan(before) | np.isnan(after))
            labels = classes.labels[cells]
            with np.errstate(all="ignore"):
                weight = np.ones(len(labels)) if weights is None else weights[cells]
                total = np.bincount(labels, weight, minlength=classes.count)
                off = np.bincount(labels, weight * (before[cells] - after[cells]), minlength=classes.count)
                size = np.bincount(labels, weight * np.abs(before[cells]), minlength=classes.count)
                slack = np.finfo(np.float64).tiny + NEGLIGIBLE * size / total  # tiny: of denormal numbers
                far = np.abs(off) > (tolerance * (1.0 + NEGLIGIBLE) + slack) * total
            if wrong := int(far[total > 0.0].sum()):
                failures.append(refuse("not_the_mean", name, groups=wrong))
        return failures

    def noise_failures(self) -> list[Finding]:
        """Noise leaves missing values missing, and others not; rounding undoes that of half at most."""
        failures = []
        for name in self.claims.noised:
            if (pair := self.numbers(name)) is not None:
                moved = int((np.isnan(pair[0]) != np.isnan(pair[1])).sum())
                if moved:
                    failures.append(refuse("missing_moved", name, records=moved))
                undone, of = _undone(*pair)
                if undone > MOST_UNDONE * of:
                    failures.append(refuse("noise_undone", name, values=undone, of=of))
        return failures

    def noise_notes(self) -> list[Finding]:
        """Where rounding undoes the noise of some values."""
        notes = []
        for name in self.claims.noised:
            if (pair := self.numbers(name)) is not None:
                undone, of = _undone(*pair)
                if UNDONE_BY_CHANCE * of < undone <= MOST_UNDONE * of:
                    notes.append(note("noise_partly_undone", name, values=undone, of=of))
        return notes

    def weights(self) -> NDArray[np.float64] | None:
        """Of the released records, in the source; None without weights. NaN for what is none."""
        return self.weights_in(self.source)

    def weights_in(self, table: pa.Table) -> NDArray[np.float64] | None:
        """Of a table's records; None without weights. NaN for what is none."""
        if self.claims.weight is None:
            return None
        found = numbers_in(table.column(self.claims.weight))
        return np.full(table.num_rows, np.nan) if found is None else found

    def weight_failures(self, grouped: list[tuple[tuple[str, ...], Classes]]) -> list[Finding]:
        """Weights are positive, and none is more than half of its class's."""
        weights, name = self.weights(), self.claims.weight
        if weights is None or name is None:
            return []
        usable = np.isfinite(weights) & (weights > 0)
        if not usable.all():
            return [refuse("weights_unusable", name, records=int((~usable).sum()))]
        shares = weights / weights.max()
        failures = []
        for keys, classes in grouped:
            total = np.bincount(classes.labels, shares, classes.count)
            largest = np.zeros(classes.count)
            np.maximum.at(largest, classes.labels, shares)
            # A half exactly is allowed, and its sum may be off in the last digits.
            if dominated := int((2 * largest > total * (1 + 1e-12)).sum()):
                failures.append(refuse("dominant_weights", name, keys=keys, groups=dominated))
        return failures

    def homogeneous(self, grouped: list[tuple[tuple[str, ...], Classes]]) -> tuple[Homogeneous, ...]:
        """Classes that give a confidential value away, by the source's values and by masked ones."""
        claims, found = self.claims, []
        sides = confidential_sides(claims)
        for columns, classes in grouped:
            for name, released in sides:
                poor = classes.poor(self.meanings(name, released), claims.min_distinct)
                if poor.any():
                    records = int(classes.sizes()[poor].sum())
                    many, read = self.spellings(name)
                    found.append(
                        Homogeneous(name, columns, int(poor.sum()), records, released, read < many)
                    )
        return tuple(found)

    def spellings(self, name: str) -> tuple[int, int]:
        """Different texts of a column of the source, and different ones as they are read."""
        if name not in self._spellings:
            self._spellings[name] = spellings(self.source.column(name))
        return self._spellings[name]

    def spelling_notes(self) -> list[Finding]:
        """Confidential columns in which some texts differ by their spelling alone."""
        counts = {name: self.spellings(name) for name in confidential_columns(self.claims)}
        return [
            note("spellings_counted_as_one", name, texts=many, values=read)
            for name, (many, read) in counts.items()
            if read < many
        ]

    def mean_changes(self) -> tuple[MeanChange, ...]:
        """Of every masked column, and of those for which something is promised."""
        weights = self.weights()
        columns = dict.fromkeys([*masked_columns(self.claims), *self.claims.mean_tolerance])
        pairs = ((name, self.numbers(name)) for name in columns)
        return tuple(self.mean_change(name, *pair, weights) for name, pair in pairs if pair is not None)

    def mean_change(self, name: str, before: Any, after: Any, weights: Any) -> MeanChange:
        """Over the cells that both have, and of the whole column."""
        tolerance = self.claims.mean_tolerance.get(name)
        cells = ~(np.isnan(before) | np.isnan(after))
        everything = before
        if self.everything is not self.source:
            everything = np.asarray(numbers(self.everything.column(name)))
        observed = ~np.isnan(everything)
        counts = (
            int(cells.sum()),
            int((~np.isnan(before) & np.isnan(after)).sum()),
            int(observed.sum() - (~np.isnan(before)).sum()),
        )
        if not cells.any():
            nothing = change_with_share(math.nan, 0.0, 0.0)
            return MeanChange(name, 0.0, 0.0, 0.0, tolerance, True, *counts, *nothing)
        with np.errstate(all="ignore"):
            weight = np.ones(cells.sum()) if weights is None else weights[cells]
            old, new = before[cells], after[cells]
            unit = UNIT_FOR_HUGE_VALUES if _is_huge(old) or _is_huge(new) else 1.0
            total = np.sum(weight * (new * unit - old * unit))
            mean = total / np.sum(weight) / unit
            size = np.sum(weight * np.abs(old * unit)) / np.sum(weight) / unit
            total /= unit
            relative = mean / size if size > 0 else mean
            kept = tolerance is None or bool(abs(mean) <= tolerance + NEGLIGIBLE * size)
            unit = UNIT_FOR_HUGE_VALUES if _is_huge(everything[observed]) else unit
            all_weights = self.weights_in(self.everything)
            whole = np.ones(observed.sum()) if all_weights is None else all_weights[observed]
            source = np.sum(whole * (everything[observed] * unit)) / np.sum(whole)
            released = np.sum(weight * (new * unit)) / np.sum(weight)
            column = (released - source) / unit if any(counts[1:]) else mean
            of_column = change_with_share(float(column), float(source / unit), float(size))
        return MeanChange(
            name, float(mean), float(total), float(relative), tolerance, kept, *counts, *of_column
        )

    def not_counted(self, joint: Classes, keys: tuple[str, ...]) -> tuple[NotCounted, ...]:
        """What each other column would do to strata and keys."""
        unique = int((joint.sizes() == 1).sum())
        found = []
        for name in self.released.column_names:
            if name not in keys:
                with_it = joint.refined([self.codes(name)]).sizes()
                found.append(NotCounted(name, int((with_it == 1).sum()) - unique))
        return tuple(sorted(found, key=lambda entry: -entry.unique))

    def notes(
        self,
        counts: tuple[Count, ...],
        joint: Count | None,
        homogeneous: tuple[Homogeneous, ...],
        suppressed: int,
    ) -> tuple[Finding, ...]:
        """What was accepted, and what else is worth knowing."""
        about_noise = (
            [note("noised", *self.claims.noised), *self.noise_notes()] if self.claims.noised else []
        )
        further = [*about_noise, *self.spelling_notes()]
        return notes_of(
            self.claims, counts, joint, homogeneous, suppressed, self.released.num_rows, further
        )
