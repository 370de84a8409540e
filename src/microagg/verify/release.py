"""The recount of a released table. What follows from the counts is decided in `rules.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy
from microagg.model import Claims, Doubles
from microagg.settings.policy import ProtectionPolicy
from microagg.verdict import (
    CategoryChanges,
    Changes,
    Count,
    Finding,
    MeanChange,
    Respondents,
    Verdict,
    refuse,
)
from microagg.verify.categories import (
    CATEGORIES,
    moved_shares,
    new_combinations,
    not_in_source,
    same_codes,
)
from microagg.verify.chance import noise_findings, order_findings
from microagg.verify.classes import Classes, Codes, TableClasses, codes_of
from microagg.verify.derived import Derivation, derivations, derived_dates
from microagg.verify.key_readings import key_readings, released_numbers, with_columns
from microagg.verify.linking import linked_in
from microagg.verify.means import mean_change, mean_figures
from microagg.verify.moved_numbers import moved_numbers
from microagg.verify.promises import (
    decimals_in,
    promises_of,
    source_as_counted,
    with_mean_tolerance,
)
from microagg.verify.published_values import MaskedColumn, published_failures
from microagg.verify.respondents import respondent_columns
from microagg.verify.rules import SubsetResult, too_few_values, verdict_of
from microagg.verify.second_reading import CheckedSource
from microagg.verify.shape import (
    categories_of,
    class_columns,
    codes_differ,
    confidential_sides,
    key_columns,
    left_out_failures,
    masked_columns,
    recoded_failures,
    shape_failures,
    unmasked_confidential,
    untouched_failures,
)
from microagg.verify.threads import in_threads
from microagg.verify.two_way import MaskedAttribute, two_way_of
from microagg.verify.values import as_understood, numbers, numbers_in, plain, spellings


def verify_protected(
    source: CheckedSource, released: pa.Table, rows: NDArray[np.int64], policy: ProtectionPolicy
) -> Verdict:
    """Count in `released` everything that these settings promise about a source.

    `source` is as it was read, `rows` is the source row of each released record.
    """
    readings = key_readings(source.table, policy, source.notation)
    counted = source_as_counted(source.table, policy, source.notation)
    decimals = decimals_in(counted, policy.changed)
    claims = promises_of(policy, source.table.column_names, decimals, readings)
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
    def columns(self) -> Mapping[str, MaskedColumn]:
        """Every masked column, and those for which something is promised, unless it holds no numbers."""
        found = {}
        for name in dict.fromkeys([*masked_columns(self.claims), *self.claims.mean_tolerance]):
            before, after = (numbers(table.column(name)) for table in (self.source, self.released))
            if before is not None and after is not None:
                found[name] = MaskedColumn.of(before, after)
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
        return SubsetResult(
            classes.counted(keys, self.claims.k),
            failures,
            self.too_few_values(keys) if is_key else (),
            real_values=self._real_values(names, classes),
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
        columns = {name: (self.columns[name].before, self.columns[name].after) for name in own}
        rounding = [claims.rounding[name] for name in own]
        return list(moved_numbers(columns, self.weights, rounding, classes, claims.clip))

    def _real_values(self, names: tuple[str, ...], classes: Classes) -> int:
        """Classes that publish the median if it is a value of one of their records; or, if numbers are
        clipped, an end of the source's range that fewer than k records have.
        """
        if self.claims.aggregate != "median" and not self.claims.clip:
            return 0
        found = np.zeros(self.records, dtype=bool)
        for column in (self.columns[name] for name in names if self._holds_numbers(name)):
            if self.claims.aggregate == "median":
                found |= column.before == column.after
                continue
            for end in (np.nanmin(column.before), np.nanmax(column.before)):
                if (column.before == end).sum() < self.claims.k:
                    found |= column.after == end
        return len(classes.with_any(found))

    def _holds_numbers(self, name: str) -> bool:
        return name in self.columns and name not in self.claims.kinds

    def unchanged(self) -> dict[str, int]:
        columns = {
            name: self.columns[name]
            for name in self.changes.masked
            if name in self.columns and self.claims.kinds.get(name) not in CATEGORIES
        }
        return {name: int((column.before == column.after).sum()) for name, column in columns.items()}

    def largest_share(self, name: str) -> float:
        """The largest share of records, or of weight, that publish one value of a masked column."""
        column = self.columns.get(name)
        if column is None:
            return 1.0
        labels = column.of_both(self.classes.by(class_columns(self.claims, name)).labels)
        weights = None if self.weights is None else column.of_both(self.weights)
        if not len(labels):
            return 1.0
        shares = np.bincount(labels, weights)
        return float(shares.max() / shares.sum())

    def _value_failures(self, name: str, classes: Classes) -> list[Finding]:
        column = self.columns.get(name)
        if column is None:
            return []  # refused already
        return published_failures(name, column, classes, self.weights, self.claims)

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
        return list(noise_findings(self.claims, self.columns))

    def order_findings(self) -> list[Finding]:
        return list(order_findings(self.claims, self.columns, self.rows))

    def too_few_values(self, keys: tuple[str, ...]) -> list[Finding]:
        """Classes that give a confidential value away, by the source's values and by masked ones."""
        classes, found = self.classes.by(keys), []
        for name, released in confidential_sides(self.claims):
            poor = classes.poor(self._codes_of_meanings(name, released), self.claims)
            if poor.any():
                many = int(poor.sum()), int(classes.sizes[poor].sum())
                merged = name in self.spellings
                found.append(too_few_values(self.claims, name, keys, *many, released, merged))
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
        names = key_columns(self.claims)[len(self.claims.strata) :]
        keys = {name: self.columns[name].before for name in names if name in self.columns}
        nominal = [name for name in keys if self.claims.kinds.get(name) == "nominal"]
        confidential = self.source.select(unmasked_confidential(self.claims))
        return linked_in(keys, nominal, self.classes.by(key_columns(self.claims)), confidential)

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
        all_weights = self._weights_in(self.everything)
        found = []
        with np.errstate(all="ignore"):
            for name, column in self.columns.items():
                if self._holds_numbers(name):
                    everything = self._everything_of(name)
                    sides = column.before, column.after, everything, self.weights, all_weights
                    found.append(mean_change(name, self.claims, mean_figures(*sides)))
        return tuple(found)

    def _everything_of(self, name: str) -> Doubles:
        """A masked column of the source, with the records that are left out."""
        if self.everything is self.source:
            return self.columns[name].before
        return np.asarray(numbers(self.everything.column(name)))

    def category_changes(self) -> CategoryChanges | None:
        keys = key_columns(self.claims)
        by_subset = [
            tuple(filter(self.columns.__contains__, names)) for names in categories_of(self.claims)
        ]
        names = [name for each in by_subset for name in each if name in keys]
        if not names:
            return None
        before = {name: self._everything_of(name) for each in by_subset for name in each}
        after = {name: self.columns[name].after for name in before}
        weights = self._weights_in(self.everything), self.weights
        same = (same_codes(self.columns[name].before, after[name]) for name in names)
        missing = 0
        two_way: tuple[float | None, float, float] = None, 0.0, 1.0
        if self.claims.categories == "existing":
            missing = sum(
                not_in_source([before[name] for name in each], [after[name] for name in each])
                for each in filter(None, by_subset)
            )
        elif self.claims.categories == "tables":
            two_way = self._two_way()
        return CategoryChanges(
            tuple(names),
            *new_combinations([before[name] for name in names], [after[name] for name in names]),
            {name: moved_shares(before[name], after[name], *weights) for name in names},
            unchanged=sum(int(each.sum()) for each in same),
            cells=len(names) * self.records,
            two_way=two_way[0],
            two_way_of_middles=two_way[1],
            effective_records=two_way[2],
            not_in_source=missing,
        )

    def _two_way(self) -> tuple[float, float, float]:
        claims = self.claims
        columns = [
            MaskedAttribute(
                self.columns[name].before,
                self.columns[name].after,
                claims.kinds.get(name),
                self.classes.by(class_columns(claims, name)),
            )
            for names in (*claims.subsets, *claims.own_subsets)
            for name in names
        ]
        others = (*(() if claims.recoded else claims.strata), *unmasked_confidential(claims))
        weights = np.ones(self.records) if self.weights is None else self.weights
        effective = float(weights.sum() ** 2 / (weights**2).sum())
        return *two_way_of(columns, [self.released.column(name) for name in others], weights), effective

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
