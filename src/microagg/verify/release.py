"""The recount of a released table. What follows from the counts is decided in `rules.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy
from microagg.model import Claims, Doubles
from microagg.settings.policy import ProtectionPolicy
from microagg.verdict import (
    NEGLIGIBLE,
    CategoryChanges,
    Changes,
    Count,
    Finding,
    MeanChange,
    Respondents,
    Verdict,
    note,
    refuse,
)
from microagg.verify.categories import (
    CATEGORIES,
    far_dates,
    far_from_nearest,
    far_levels,
    far_modes,
    medians,
    moved_shares,
    new_combinations,
)
from microagg.verify.classes import Classes, Codes, TableClasses, codes_of
from microagg.verify.derived import Derivation, derivations, derived_dates
from microagg.verify.key_readings import key_readings, released_numbers, with_columns
from microagg.verify.linking import indicators, linked_shares, some_classes
from microagg.verify.means import MeanFigures, mean_change
from microagg.verify.moved_numbers import MovedNumbers
from microagg.verify.promises import (
    decimals_in,
    most_decimals,
    promises_of,
    source_as_counted,
    with_mean_tolerance,
)
from microagg.verify.respondents import respondent_columns
from microagg.verify.rules import (
    SubsetResult,
    TooFewValues,
    confidential_sides,
    published_as,
    unmasked_confidential,
    value_failures,
    verdict_of,
)
from microagg.verify.second_reading import CheckedSource
from microagg.verify.shape import (
    codes_differ,
    key_columns,
    left_out_failures,
    masked_columns,
    recoded_failures,
    shape_failures,
    untouched_failures,
)
from microagg.verify.threads import in_threads
from microagg.verify.two_way import (
    far_from_means,
    middles_of,
    rows_of_tables,
    strangers,
    two_way_distance,
)
from microagg.verify.values import (
    Mask,
    as_understood,
    numbers,
    numbers_in,
    plain,
    rank_correlation,
    spellings,
)

UNIT_FOR_HUGE_VALUES = 2.0**-800
"""Columns with values beyond its inverse are summed in this unit, so that sums do not overflow."""

UNDONE_BY_CHANCE = 0.05
"""Up to this share of noisy values, rounding may give back the source's by chance."""

MOST_UNDONE = 0.5
"""If rounding gives back a larger share of the source's values, the noise protects nobody."""

SIZE_OF_NOISE = (0.5, 2.0)
"""The standard deviation of noise as it was drawn, as a share of what was to be drawn."""

ENOUGH_TO_JUDGE = 30
"""With fewer records, chance alone may leave their order, or make noise small."""

IN_ORDER = 0.9
"""A rank correlation of the order of release with another order, which chance does not give."""


def verify_protected(
    source: CheckedSource, released: pa.Table, rows: NDArray[np.int64], policy: ProtectionPolicy
) -> Verdict:
    """Count in `released` everything that these settings promise about a source.

    `source` is as it was read, `rows` is the source row of each released record.
    """
    readings = key_readings(source.table, policy, source.notation)
    counted = source_as_counted(source.table, policy, source.notation)
    decimals = decimals_in(counted, policy.changed)
    kinds = {name: reading.kind for name, reading in readings.items()}
    resolution = {name: reading.resolution for name, reading in readings.items() if reading.kind == "date"}
    claims = promises_of(policy, source.table.column_names, decimals, kinds, resolution)
    taxonomy = {name: reading.taxonomy for name, reading in readings.items() if reading.taxonomy}
    claims = replace(claims, taxonomy=taxonomy)
    numbered, failures = released_numbers(released, readings)
    if failures:
        verdict = Verdict(policy.k, tuple(failures), records=released.num_rows)
    else:
        counted = with_columns(counted, {name: each.source for name, each in readings.items()})
        verdict = verify(counted, numbered, rows, claims)
    findings = (*source.findings, *verdict.findings)
    return replace(verdict, findings=findings, source_reading=source.reading)


def verify(source: pa.Table, released: pa.Table, rows: NDArray[np.int64], claims: Claims) -> Verdict:
    """Recount from `released` what `claims` promise about it.

    `source` has masked columns as doubles, null where missing, all else as read. A million records with 15
    columns take a few seconds.
    """
    if failures := shape_failures(source, released, rows, claims):
        return Verdict(claims.k, tuple(failures), records=released.num_rows)
    failures = left_out_failures(source, rows, claims)
    everything = source
    if not np.array_equal(rows, np.arange(source.num_rows)):
        taken = from_numpy(rows)
        columns = in_threads(lambda column: column.take(taken), source.columns, len(rows))
        source = pa.table(columns, schema=source.schema)
    failures += untouched_failures(source, released, claims) + recoded_failures(source, released, claims)
    counting = _TableCounting(claims, source, released, everything, np.asarray(rows))
    failures += counting.number_failures()
    if not claims.mean_tolerance:
        largest = {name: counting.largest_share(name) for name in claims.rounding}
        counting = replace(counting, claims=with_mean_tolerance(claims, largest))
    return verdict_of(counting, failures)


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
        decimals = most_decimals(before)
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
    rows: NDArray[np.int64]
    _meanings: dict[tuple[str, bool], Codes] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return self.released.num_rows

    @cached_property
    def changes(self) -> Changes:
        claims = self.claims
        lost = {}
        for name, column in self.columns.items():
            if gone := int((~np.isnan(column.before) & np.isnan(column.after)).sum()):
                lost[name] = gone
        recoded = {}
        for name in claims.recoded:
            if other := int(codes_differ(self.source.column(name), self.released.column(name)).sum()):
                recoded[name] = other
        return Changes(
            masked=tuple(name for names in (*claims.subsets, *claims.own_subsets) for name in names),
            aggregate=claims.aggregate,
            clipped=claims.clip,
            kinds={**claims.kinds, **dict.fromkeys(claims.taxonomy, "taxonomy")},
            categories=claims.categories,
            near_means=tuple(filter(claims.follows_tables, masked_columns(claims))),
            noised=claims.noised,
            recoded=recoded,
            set_to_missing=lost,
            left_out=self.everything.num_rows - self.records,
            dropped=len(claims.dropped),
            shuffled=not claims.keep_order,
        )

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
        by_column = in_threads(lambda name: self._value_failures(name, classes), names, self.records)
        failures = [each for found in by_column for each in found]
        is_key = names not in self.claims.own_subsets
        amounts = [name for name in names if name in self.claims.amounts and name in self.columns]
        own_values = 0
        if any(map(self._holds_numbers, names)) and self.claims.aggregate == "median":
            own_values = self._classes_with_own_values(names, classes)
        elif self.claims.clip:
            own_values = self._classes_with_rare_ends(names, classes)
        return SubsetResult(
            classes.counted(keys, self.claims.k),
            failures,
            self.too_few_values(keys) if is_key else (),
            real_values=own_values,
            dominated_weights=self._dominated_weights(names, classes),
            dominated_amounts={name: self._dominated_amounts(name, classes) for name in amounts},
            moved_numbers=self._moved_numbers(names, classes),
        )

    def _moved_numbers(self, names: tuple[str, ...], classes: Classes) -> list[Finding]:
        """What is found about numbers that keep covariances."""
        claims = self.claims
        own = [name for name in names if self._holds_numbers(name) and name in claims.rounding]
        if claims.aggregate != "covariances" or not own or self.unusable_weights:
            return []
        if gaps := [name for name in own if self.columns[name].both is not None]:
            return [refuse("covariances_not_kept", *gaps, pairs=len(gaps))]
        columns = {name: (self.columns[name].before, self.columns[name].after) for name in own}
        rounding = [claims.rounding[name] for name in own]
        return list(MovedNumbers.of(columns, self.weights, rounding, classes, claims.clip).findings())

    def _classes_with_rare_ends(self, names: tuple[str, ...], classes: Classes) -> int:
        """Classes that publish an end of the source's range that fewer than k records have."""
        found = np.zeros(self.records, dtype=bool)
        for column in (self.columns[name] for name in names if self._holds_numbers(name)):
            for end in (np.nanmin(column.before), np.nanmax(column.before)):
                if (column.before == end).sum() < self.claims.k:
                    found |= column.after == end
        return len(classes.with_any(found))

    def _classes_with_own_values(self, names: tuple[str, ...], classes: Classes) -> int:
        """Classes that publish a value of one of their records."""
        own = np.zeros(self.records, dtype=bool)
        for column in (self.columns[name] for name in names if self._holds_numbers(name)):
            own |= column.before == column.after
        return len(classes.with_any(own))

    def _holds_numbers(self, name: str) -> bool:
        return name in self.columns and name not in self.claims.kinds

    def unchanged(self) -> dict[str, int]:
        grouped = [name for names in (*self.claims.subsets, *self.claims.own_subsets) for name in names]
        columns = {
            name: self.columns[name]
            for name in grouped
            if name in self.columns and self.claims.kinds.get(name) not in CATEGORIES
        }
        return {name: int((column.before == column.after).sum()) for name, column in columns.items()}

    def largest_share(self, name: str) -> float:
        """The largest share of records, or of weight, that publish one value of a masked column."""
        subsets = [(self.claims.strata, names) for names in self.claims.subsets]
        subsets += [((), names) for names in self.claims.own_subsets]
        column = self.columns.get(name)
        if column is None:
            return 1.0
        strata, names = next(each for each in subsets if name in each[1])
        labels = column.of_both(self.classes.by(strata + names).labels)
        weights = None if self.weights is None else column.of_both(self.weights)
        if not len(labels):
            return 1.0
        shares = np.bincount(labels, weights)
        return float(shares.max() / shares.sum())

    def _value_failures(self, name: str, classes: Classes) -> list[Finding]:
        """Every released value rests on k observed ones of its class, its own record's among them, is the
        mean or median of its members but for rounding, and has no more decimals than it may have.
        """
        column = self.columns.get(name)
        if column is None:
            return []  # refused already
        observed = shown = classes.sizes
        invented = vanished = 0
        if column.both is not None:
            has, shows = ~np.isnan(column.before), ~np.isnan(column.after)
            invented, vanished = int((shows & ~has).sum()), int((has & ~shows).sum())
            observed, shown = (
                np.bincount(classes.labels[there], minlength=classes.count) for there in (has, shows)
            )
        few = int(shown[observed < self.claims.k].sum())
        far = 0
        if name in self.claims.rounding:
            far = self._far(name, classes)
        vanished = 0 if self.claims.may_set_to_missing else vanished
        kind = published_as(self.claims, name)
        failures = value_failures(name, self.claims.k, invented, few, far, vanished, kind)
        return failures + self._decimal_failures(name, column)

    def _far(self, name: str, classes: Classes) -> int:
        """The number of classes that publish something other than they have to."""
        claims, column = self.claims, self.columns[name]
        kind = claims.kinds.get(name)
        if kind is None and claims.aggregate == "covariances":
            return 0  # its numbers are looked at together
        if kind is None and not claims.follows_tables(name):
            means = claims.aggregate == "mean"
            return self._far_means(name, classes) if means else self._far_medians(name, classes)
        before, after = column.of_both(column.before), column.of_both(column.after)
        own = Classes(column.of_both(classes.labels), classes.count)
        weights = None if self.weights is None else column.of_both(self.weights)
        if kind is None:
            everything = np.asarray(numbers(self.everything.column(name)))
            return far_from_means(before, after, own, weights, everything, claims.rounding[name])
        if kind in CATEGORIES and claims.categories != "mode":
            # One that exists in the source need not be a member's; whether it does is counted jointly.
            return 0 if claims.categories == "existing" else strangers(before, after, own)
        if kind == "date":
            return far_dates(before, after, own, weights, claims.resolution[name], claims.aggregate)
        if name in claims.taxonomy:
            return far_from_nearest(before, after, own, weights, claims.taxonomy[name])
        return (far_modes if kind == "nominal" else far_levels)(before, after, own, weights)

    def _decimal_failures(self, name: str, column: _MaskedColumn) -> list[Finding]:
        allowed = self.claims.decimals.get(name)
        if allowed is None:
            return []
        after = column.after[~np.isnan(column.after)]
        some = after[np.abs(after) < 2.0**53 / 10.0**allowed]  # larger ones have no such decimals
        wrong = int((np.round(some, allowed) != some).sum())
        return [refuse("too_many_decimals", name, records=wrong, decimals=allowed)] if wrong else []

    def _far_means(self, name: str, classes: Classes) -> int:
        """The number of classes that publish something other than the mean of their records."""
        column, rounding = self.columns[name], self.claims.rounding[name]
        before, after = column.of_both(column.before), column.of_both(column.after)
        labels = column.of_both(classes.labels)
        weight = 1.0 if self.weights is None else column.of_both(self.weights)
        with np.errstate(all="ignore"):
            off, size = (
                np.bincount(labels, weight * values, minlength=classes.count)
                for values in (before - after, np.abs(before))
            )
            weights = None if self.weights is None else weight
            total = np.bincount(labels, weights, classes.count)
            slack = np.finfo(np.float64).tiny + NEGLIGIBLE * size / total  # tiny: of denormal numbers
            is_far = np.abs(off) > (rounding * (1.0 + NEGLIGIBLE) + slack) * total
        return int(is_far[total > 0.0].sum())

    def _far_medians(self, name: str, classes: Classes) -> int:
        """The number of classes that publish something other than the median of their records."""
        column, rounding = self.columns[name], self.claims.rounding[name]
        own = Classes(column.of_both(classes.labels), classes.count)
        if not len(own.labels):
            return 0
        median = medians(column.of_both(column.before), own)
        published = np.full(classes.count, np.nan)
        published[own.labels] = column.of_both(column.after)
        slack = rounding * (1.0 + NEGLIGIBLE) + NEGLIGIBLE * np.abs(median)
        return int((np.abs(published[~np.isnan(published)] - median) > slack).sum())

    def _dominated_weights(self, names: tuple[str, ...], classes: Classes) -> int:
        """Classes in which one weight is more than half, and values differ, so that the mean is nearly one
        record's value.
        """
        if self.weights is None or self.unusable_weights:
            return 0
        differ = np.zeros(classes.count, dtype=bool)
        for column in (self.columns[name] for name in names if name in self.columns):
            differ[classes.with_any(classes.differs((column.before.view(np.int64),)))] = True
        return int((classes.dominated(self.weights / self.weights.max()) & differ).sum())

    def _dominated_amounts(self, name: str, classes: Classes) -> int:
        column = self.columns[name]
        amounts, labels = column.of_both(np.abs(column.before)), column.of_both(classes.labels)
        if not len(amounts):
            return 0
        return Classes(labels, classes.count).estimated_within(amounts, self.claims.p_percent)

    def noise_findings(self) -> list[Finding]:
        """Noise leaves missing values missing, and others not; rounding undoes that of half at most."""
        found = [note("noised", *self.claims.noised)] if self.claims.noised else []
        for name in self.claims.noised:
            if (column := self.columns.get(name)) is None:
                continue
            if moved := int((np.isnan(column.before) != np.isnan(column.after)).sum()):
                found.append(refuse("missing_moved", name, records=moved))
            size = self._size_of_noise(name)
            if size is not None and self.claims.noise is not None:
                low, high = (limit * self.claims.noise for limit in SIZE_OF_NOISE)
                if not low <= size <= high:
                    found.append(refuse("noise_of_other_size", name, share=size, wanted=self.claims.noise))
            undone, of = column.undone()
            if undone > MOST_UNDONE * of:
                found.append(refuse("noise_undone", name, values=undone, of=of))
            elif undone > UNDONE_BY_CHANCE * of:
                found.append(note("noise_partly_undone", name, values=undone, of=of))
        return found

    def _size_of_noise(self, name: str) -> float | None:
        """The standard deviation of the noise as drawn, as a share of the column's; None if few have it."""
        column = self.columns[name]
        before, after = column.of_both(column.before), column.of_both(column.after)
        if len(before) < ENOUGH_TO_JUDGE:
            return None
        unit = UNIT_FOR_HUGE_VALUES if _are_huge(before) or _are_huge(after) else 1.0
        spread = float(np.std(before * unit))
        return float(np.std((after - before) * unit)) / spread if spread > 0.0 else None

    def order_findings(self) -> list[Finding]:
        """Kept on purpose; or shuffled, and then neither the source's order nor that of a masked column."""
        if self.claims.keep_order:
            return [note("source_order")]
        if self.records < ENOUGH_TO_JUDGE:
            return []
        place = np.arange(self.records, dtype=np.float64)
        behind = {"": self.rows.astype(np.float64)} | {
            name: column.before for name, column in self.columns.items()
        }
        found = in_threads(lambda values: rank_correlation(values, place), behind.values(), self.records)
        for name, correlation in zip(behind, found, strict=True):
            if abs(correlation) > IN_ORDER:
                return [refuse("not_shuffled", *filter(None, [name]))]
        return []

    def too_few_values(self, keys: tuple[str, ...]) -> list[TooFewValues]:
        """Classes that give a confidential value away, by the source's values and by masked ones."""
        classes, found = self.classes.by(keys), []
        for name, released in confidential_sides(self.claims):
            poor = classes.poor(self._codes_of_meanings(name, released), self.claims)
            if poor.any():
                records = int(classes.sizes[poor].sum())
                merged = name in self.spellings
                found.append(TooFewValues(name, keys, int(poor.sum()), records, released, merged))
        return found

    def respondents(self, keys: tuple[str, ...]) -> list[Respondents]:
        classes, found = self.classes.by(keys), []
        for name, by_shape in respondent_columns(self.source, self.claims):
            finer = classes.refined([codes_of(as_understood(self.source.column(name)))])
            each = np.bincount(classes.labels[finer.some_record], minlength=classes.count)
            below, alone = int((each < self.claims.k).sum()), int((each == 1).sum())
            found.append(Respondents(name, int(each.min()), classes.count, below, alone, by_shape))
        return found

    def derivations(self) -> list[Derivation]:
        masked = masked_columns(self.claims)
        others = self.released.select([name for name in self.released.column_names if name not in masked])
        dates = [name for name in self.columns if self.claims.kinds.get(name) == "date"]
        keys = self.source.select([name for name in self.columns if name not in dates])
        return [*derivations(keys, others), *derived_dates(self.source, others, dates)]

    def linked_by(self) -> dict[str, float]:
        names = unmasked_confidential(self.claims)
        if not names:
            return {}
        key_names = key_columns(self.claims)
        classes = self.classes.by(key_names)
        chosen = some_classes(classes.labels, classes.count)
        masked = key_names[len(self.claims.strata) :]
        keys = []
        for name in (name for name in masked if name in self.columns):
            values = self.columns[name].before
            keys += indicators(values) if self.claims.kinds.get(name) == "nominal" else [values]
        labels, table = classes.labels, self.source.select(names)
        if chosen is not None:
            keys, labels = [key[chosen] for key in keys], labels[chosen]
            table = table.filter(from_numpy(chosen))
        return linked_shares(keys, labels, {name: table.column(name) for name in names})

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

    def category_changes(self) -> CategoryChanges | None:
        names = [name for name, kind in self.claims.kinds.items() if kind in CATEGORIES]
        names = [name for name in names if name in key_columns(self.claims) and name in self.columns]
        if not names:
            return None
        before = [np.asarray(numbers(self.everything.column(name))) for name in names]
        after = [self.columns[name].after for name in names]
        own = [self.columns[name].before for name in names]
        combinations, new_ones, new_records = new_combinations(before, after)
        weights = (self._weights_in(self.everything), self.weights)
        same = (
            (one == other) | (np.isnan(one) & np.isnan(other))
            for one, other in zip(own, after, strict=True)
        )
        moved = {
            name: moved_shares(old, new, *weights)
            for name, old, new in zip(names, before, after, strict=True)
        }
        unchanged, cells = sum(int(each.sum()) for each in same), len(names) * self.records
        found = CategoryChanges(
            tuple(names), combinations, new_ones, new_records, moved, unchanged=unchanged, cells=cells
        )
        if self.claims.categories == "existing":
            subsets = (*self.claims.subsets, *self.claims.own_subsets)
            return replace(found, not_in_source=sum(map(self._not_in_source, subsets)))
        if self.claims.categories == "tables":
            released, of_middles = self._two_way()
            return replace(found, two_way=released, two_way_of_middles=of_middles)
        return found

    def _not_in_source(self, names: tuple[str, ...]) -> int:
        """Combinations of the categories of a subset that no record of the source has; of records that
        publish all of them.
        """
        names = tuple(name for name in names if self.claims.kinds.get(name) in CATEGORIES)
        if not names:
            return 0
        before = [np.asarray(numbers(self.everything.column(name))) for name in names]
        after = [self.columns[name].after for name in names]
        whole = ~np.isnan(np.stack(after)).any(axis=0)
        return new_combinations(before, [each[whole] for each in after])[1]

    def _two_way(self) -> tuple[float, float]:
        """How far tables of two columns moved, and how far they would have with modes and median levels."""
        sides: list[tuple[list[NDArray[np.int64]], int]] = []
        for names in (*self.claims.subsets, *self.claims.own_subsets):
            is_key = names not in self.claims.own_subsets
            classes = self.classes.by((*self.claims.strata, *names) if is_key else names)
            for name in names:
                column, kind = self.columns[name], self.claims.kinds.get(name)
                middles = column.after
                if kind in CATEGORIES:
                    middles = middles_of(column.before, classes, kind == "ordinal", self.weights)
                three = (column.before, column.after, middles)
                sides.append(rows_of_tables(column.before, three, kind not in CATEGORIES))
        strata = () if self.claims.recoded else self.claims.strata
        for name in (*strata, *unmasked_confidential(self.claims)):
            own = numbers(self.released.column(name))
            is_number = own is not None
            if own is None:
                codes = codes_of(as_understood(self.released.column(name)))
                own = Classes.whole(self.records).refined([codes]).labels.astype(np.float64)
            sides.append(rows_of_tables(own, (own,) * 3, is_number))
        widths = [width for _, width in sides]
        before, after, middle = ([own[at] for own, _ in sides] for at in range(3))
        return (
            two_way_distance(before, after, widths, self.weights),
            two_way_distance(before, middle, widths, self.weights),
        )

    def _mean_figures(self) -> Iterator[tuple[str, MeanFigures]]:
        all_weights = self._weights_in(self.everything)
        for name, column in self.columns.items():
            if not self._holds_numbers(name):
                continue
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
        masked = masked_columns(self.claims)
        others = [name for name in self.released.column_names if name not in (*keys, *masked)]
        counts = in_threads(
            lambda name: joint.unique_with([self.classes.codes(name)]), others, self.records
        )
        return dict(zip(others, counts, strict=True))

    def unique_by(self, names: tuple[str, ...]) -> int:
        return self.classes.unique_by(names)


def _are_huge(values: Doubles) -> bool:
    return bool(max(values.max(), -values.min()) > 1.0 / UNIT_FOR_HUGE_VALUES)


def _sum_and_weight(values: Doubles, weights: Doubles | None) -> tuple[np.float64, np.float64]:
    if weights is None:
        return np.sum(values), np.float64(len(values))
    return np.sum(weights * values), np.sum(weights)
