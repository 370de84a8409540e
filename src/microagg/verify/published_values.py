"""A masked column before and after, and whether its classes publish what they have to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.model import Claims, Doubles
from microagg.verdict import NEGLIGIBLE, Finding, refuse
from microagg.verify.categories import (
    CATEGORIES,
    medians,
    wrong_dates,
    wrong_median_levels,
    wrong_modes,
    wrong_nearest_codes,
)
from microagg.verify.classes import Classes
from microagg.verify.two_way import codes_of_no_member, far_from_means
from microagg.verify.values import Mask


@dataclass(frozen=True, slots=True, eq=False)
class MaskedColumn:
    """A column of numbers before and after, NaN where missing; `both`: the records that have both values,
    None if all have.
    """

    before: Doubles
    after: Doubles
    both: Mask | None

    @classmethod
    def of(cls, before: Doubles, after: Doubles) -> MaskedColumn:
        gaps = np.isnan(before) | np.isnan(after)
        return cls(before, after, ~gaps if gaps.any() else None)

    def of_both(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.both is None else values[self.both]


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells that source and release both have."""

    before: Doubles
    after: Doubles
    classes: Classes
    weights: Doubles | None

    @classmethod
    def of(cls, column: MaskedColumn, classes: Classes, weights: Doubles | None) -> _Cells:
        return cls(
            column.of_both(column.before),
            column.of_both(column.after),
            Classes(column.of_both(classes.labels), classes.count),
            None if weights is None else column.of_both(weights / weights.max()),
        )

    def by_class(self, values: Any) -> Doubles:
        """Weighted sums."""
        weight = 1.0 if self.weights is None else self.weights
        return np.bincount(self.classes.labels, weight * values, self.classes.count).astype(np.float64)

    def wrong_means(self, rounding: float) -> int:
        """The number of classes that publish something other than the mean of their records."""
        with np.errstate(all="ignore"):
            off, size = self.by_class(self.before - self.after), self.by_class(np.abs(self.before))
            total = self.by_class(np.ones(len(self.before)))
            slack = np.finfo(np.float64).tiny + NEGLIGIBLE * size / total  # tiny: of denormal numbers
            is_far = np.abs(off) > (rounding * (1.0 + NEGLIGIBLE) + slack) * total
        return int(is_far[total > 0.0].sum())

    def wrong_medians(self, rounding: float) -> int:
        """The number of classes that publish something other than the median of their records."""
        if not len(self.before):
            return 0
        median = medians(self.before, self.classes)
        published = np.full(self.classes.count, np.nan)
        published[self.classes.labels] = self.after
        slack = rounding * (1.0 + NEGLIGIBLE) + NEGLIGIBLE * np.abs(median)
        return int((np.abs(published[~np.isnan(published)] - median) > slack).sum())


def published_failures(
    name: str,
    column: MaskedColumn,
    classes: Classes,
    weights: Doubles | None,
    claims: Claims,
) -> list[Finding]:
    """Every released value rests on k observed ones of its class, its own record's among them, is what it
    has to be but for rounding, and has no more decimals than it may have.
    """
    observed = shown = classes.sizes
    invented = vanished = 0
    if column.both is not None:
        has, shows = ~np.isnan(column.before), ~np.isnan(column.after)
        invented, vanished = int((shows & ~has).sum()), int((has & ~shows).sum())
        observed, shown = (
            np.bincount(classes.labels[there], minlength=classes.count) for there in (has, shows)
        )
    few = int(shown[observed < claims.k].sum())
    what = published_as(claims, name)
    wrong = 0
    if name in claims.rounding and what not in ("moved", "existing"):  # these are looked at jointly
        wrong = _wrong_classes(name, what, _Cells.of(column, classes, weights), claims, column.before)
    vanished = 0 if claims.may_set_to_missing else vanished
    failures = value_failures(name, claims.k, invented, few, wrong, vanished, what)
    return failures + _decimal_failures(name, column.after, claims.decimals)


def _wrong_classes(name: str, what: str, cells: _Cells, claims: Claims, everything: Doubles) -> int:
    """The number of classes that publish something other than they have to. `everything`: the column of all
    released records in the source.
    """
    rounding = claims.rounding[name]
    before, after, classes, weights = cells.before, cells.after, cells.classes, cells.weights
    match what:
        case "mean":
            return cells.wrong_means(rounding)
        case "median":
            return cells.wrong_medians(rounding)
        case "near mean":
            return far_from_means(before, after, classes, weights, everything, rounding)
        case "own category":
            return codes_of_no_member(before, after, classes)
        case "date":
            return wrong_dates(before, after, classes, weights, claims.resolution[name], claims.aggregate)
        case "taxonomy":
            return wrong_nearest_codes(before, after, classes, weights, claims.taxonomy[name])
    return (wrong_modes if what == "nominal" else wrong_median_levels)(before, after, classes, weights)


def _decimal_failures(name: str, after: Doubles, decimals: Mapping[str, int | None]) -> list[Finding]:
    allowed = decimals.get(name)
    if allowed is None:
        return []
    shown = after[~np.isnan(after)]
    some = shown[np.abs(shown) < 2.0**53 / 10.0**allowed]  # larger ones have no such decimals
    wrong = int((np.round(some, allowed) != some).sum())
    return [refuse("too_many_decimals", name, records=wrong, decimals=allowed)] if wrong else []


# --- shared with frames --------------------------------------------------------------------------


def value_failures(
    name: str, k: int, invented: int, few: int, wrong: int, vanished: int, what: str
) -> list[Finding]:
    """What is wrong with the values that classes publish in one column: how many records have one though
    the source has none, how many rest on too few, how many classes publish another than what they have to
    (`published_as`), and how many records lack one that had to stay.
    """
    failures = [refuse("value_without_source", name, records=invented)] if invented else []
    failures += [refuse("too_few_observed", name, k=k, records=few)] if few else []
    publish_another = {
        "mean": refuse("not_the_mean", name, groups=wrong),
        "median": refuse("not_the_mean", name, groups=wrong),
        "date": refuse("not_the_date", name, groups=wrong),
        "ordinal": refuse("not_the_median_level", name, groups=wrong),
        "nominal": refuse("not_the_mode", name, groups=wrong),
        "taxonomy": refuse("not_the_nearest_code", name, groups=wrong),
        "own category": refuse("not_in_the_group", name, groups=wrong),
        "near mean": refuse("not_near_the_mean", name, groups=wrong),
    }
    failures += [publish_another[what]] if wrong else []
    return failures + ([refuse("values_vanished", name, records=vanished)] if vanished else [])


def published_as(claims: Claims, name: str) -> str:
    """What classes publish in a column, as `value_failures` calls it. Combinations that exist in the source
    need not be a member's, and numbers that were moved are looked at together.
    """
    kind = claims.kinds.get(name)
    if claims.categories != "mode" and kind in CATEGORIES:
        return "existing" if claims.categories == "existing" else "own category"
    if claims.follows_tables(name):
        return "near mean"
    by_numbers = {"mean": "mean", "median": "median", "covariances": "moved"}
    return "taxonomy" if name in claims.taxonomy else kind or by_numbers[claims.aggregate]
