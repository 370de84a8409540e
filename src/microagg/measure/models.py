"""Analyses that a user names, done before and after masking: a linear model, or a mean or total by group.

What they return holds exact statistics of the source, for those who may see the source. Groups are
numbered, for a group's label is a value; labels are shown only if the caller hands them over, which it may
do for columns that are released as they are. Groups of few records show no numbers: their mean would be
somebody's value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import atan, exp, lgamma, pi, sqrt
from typing import Literal

import numpy as np

from microagg import wording
from microagg.measure.pair import Codes, Pair, Values

INTERCEPT = "(intercept)"
CONFIDENCE = 0.95
COLLINEAR = 1e-7
"""A standardised column of which the columns before it leave less than this share of the length."""

PERFECT_FIT_WIDTH = 1e-12
"""Confidence intervals narrower than this share of the coefficient are those of a perfect fit."""

FEWEST = 3
"""Groups of fewer records show no numbers, unless k is larger."""


# --- what is named ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Model:
    """A column explained by others and a constant."""

    response: str
    terms: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.response} ~ {' + '.join(self.terms)}"


@dataclass(frozen=True, slots=True)
class Indicator:
    """The mean or total of a column, of all records or by the values of another column."""

    statistic: Literal["mean", "total"]
    column: str
    by: str | None = None

    def __str__(self) -> str:
        return f"{self.statistic} {self.column}" + (f" by {self.by}" if self.by is not None else "")


def parse_model(text: str) -> Model:
    """'y ~ a + b'. Names with ~ or + in them stand in backticks."""
    tokens = [token.strip() for token in re.findall(r"`[^`]+`|[~+]|[^`~+]+", text)]
    tokens = [token for token in tokens if token]
    names, signs = tokens[::2], tokens[1::2]
    well_formed = len(tokens) >= 3 and len(tokens) % 2 == 1 and text.count("`") % 2 == 0
    if not well_formed or signs[0] != "~" or set(signs[1:]) - {"+"} or set(names) & {"~", "+"}:
        raise wording.bad_model(text)
    response, *terms = (_unquoted(name) for name in names)
    seen = {response}
    for term in terms:
        if term in seen:
            raise wording.model_names_twice(term)
        seen.add(term)
    return Model(response, tuple(terms))


def parse_indicator(text: str) -> Indicator:
    """'mean income', 'total turnover by region'. Names with ' by ' in them stand in backticks."""
    name = r"(`[^`]+`|[^`]+?)"
    found = re.fullmatch(rf"\s*(mean|total)\s+{name}(?:\s+by\s+{name})?\s*", text)
    if not found or any(
        quoted and re.search(r"\sby\s", quoted) and quoted[0] != "`" for quoted in found.groups()
    ):
        raise wording.bad_indicator(text)
    by = None if found[3] is None else _unquoted(found[3])
    return Indicator("mean" if found[1] == "mean" else "total", _unquoted(found[2]), by)


def _unquoted(name: str) -> str:
    name = name.strip()
    return name[1:-1] if name.startswith("`") else name


def columns_of(pair: Pair) -> tuple[dict[str, Values], dict[str, Values]]:
    """All numeric columns of a pair, before and after masking; those that are not masked are the same."""
    before, after = dict(pair.numbers), dict(pair.numbers)
    for at, name in enumerate(pair.columns):
        if pair.kind(at) == "number":
            before[name], after[name] = pair.original[:, at], pair.masked[:, at]
        elif name in pair.yes_no:  # a third code is a missing answer
            codes = pair.original[:, at], pair.masked[:, at]
            before[name], after[name] = (np.where(side <= 1.0, side, np.nan) for side in codes)
    return before, after


# --- linear models ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient before and after masking, with its standard error.

    `overlap`: of the two 95 % confidence intervals, the mean of the shares of each that both have in
    common: 1 if they are the same, 0 if they have nothing in common (Karr, Kohnen, Oganian, Reiter and
    Sanil 2006).
    """

    name: str
    before: float
    after: float
    error_before: float
    error_after: float
    overlap: float


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """A model fitted to the same records before and after masking.

    `overlap`: mean over the coefficients, the constant among them; `explained_*`: R²; `left_out`: records
    with a missing value, before or after, in a column of the model.
    """

    model: Model
    records: int
    left_out: int
    coefficients: tuple[Coefficient, ...]
    overlap: float
    explained_before: float
    explained_after: float


def compare_models(
    pair: Pair, formula: str | Model, *, not_numeric: Collection[str] = ()
) -> ModelComparison:
    """Least squares before and after masking, on the records that have all of the model's columns.

    Weighted, the squares are; standard errors then are those of weighted least squares, for which only the
    weights' proportions matter. `not_numeric` are columns that exist but hold no numbers.
    Refuses constant and linearly dependent columns, and fewer records than one more than coefficients.
    """
    model = parse_model(formula) if isinstance(formula, str) else formula
    before, after = columns_of(pair)
    used = (model.response, *model.terms)
    for name in used:
        if name not in before:
            raise wording.not_in_model("The model", name, name in not_numeric, list(before))
    tables = [np.stack([table[name] for name in used], axis=1) for table in (before, after)]
    rows = ~(np.isnan(tables[0]).any(axis=1) | np.isnan(tables[1]).any(axis=1))
    records = int(rows.sum())
    if records < len(used) + 1:
        raise wording.model_too_few(str(model), records, len(used) + 1)
    weights = np.ones(records) if pair.weights is None else pair.weights[rows] / pair.weights[rows].mean()
    fits = [
        _fitted_model(model, table[rows], weights, when)
        for table, when in zip(tables, ("before", "after"), strict=True)
    ]
    width = t_quantile(records - len(used))
    coefficients = tuple(
        Coefficient(name, b, a, b_error, a_error, _overlap(b, a, width * b_error, width * a_error))
        for name, b, a, b_error, a_error in zip(
            (INTERCEPT, *model.terms),
            *(fit.coefficients for fit in fits),
            *(fit.errors for fit in fits),
            strict=True,
        )
    )
    return ModelComparison(
        model=model,
        records=records,
        left_out=pair.n - records,
        coefficients=coefficients,
        overlap=sum(found.overlap for found in coefficients) / len(coefficients),
        explained_before=fits[0].explained,
        explained_after=fits[1].explained,
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    """Coefficients, the constant first, their standard errors, and R²."""

    coefficients: tuple[float, ...]
    errors: tuple[float, ...]
    explained: float


def _fitted_model(model: Model, values: Values, weights: Values, when: str) -> _Fit:
    """By QR of standardised columns, so that units and offsets cost no digits."""
    means = np.average(values, axis=0, weights=weights)
    centred = values - means
    scales = np.sqrt(np.average(centred**2, axis=0, weights=weights))
    flat = values.min(axis=0) == values.max(axis=0)
    for name, constant in zip((model.response, *model.terms), flat.tolist(), strict=True):
        if constant:
            raise wording.model_constant(str(model), name, when)
    root = np.sqrt(weights)[:, np.newaxis]
    standardised = centred / scales * root
    y, design = standardised[:, 0], standardised[:, 1:]
    n, terms = design.shape
    q, r = np.linalg.qr(design)
    for name, left in zip(model.terms, np.abs(np.diag(r)).tolist(), strict=True):
        if left < COLLINEAR * sqrt(n):
            raise wording.model_collinear(str(model), name, when)
    slopes = np.linalg.solve(r, q.T @ y)
    residuals = y - design @ slopes
    rss = float(residuals @ residuals)
    variance = rss / (n - terms - 1)
    inverse = np.linalg.inv(r)
    covariance = variance * inverse @ inverse.T * scales[0] ** 2 / np.outer(scales[1:], scales[1:])
    slopes = slopes * scales[0] / scales[1:]
    constant = means[0] - slopes @ means[1:]
    # The mean of the response is independent of the slopes.
    spread = variance * scales[0] ** 2 / n + means[1:] @ covariance @ means[1:]
    return _Fit(
        (float(constant), *slopes.tolist()),
        (sqrt(spread), *np.sqrt(np.diag(covariance)).tolist()),
        1.0 - rss / float(y @ y),
    )


def _overlap(before: float, after: float, half_before: float, half_after: float) -> float:
    """Mean of the shares of two intervals, given by middle and half width, that both have in common."""
    if max(half_before, half_after) <= PERFECT_FIT_WIDTH * max(abs(before), abs(after)):
        # Models that fit perfectly: intervals without any width are the same or have nothing in common.
        return float(abs(after - before) <= PERFECT_FIT_WIDTH * max(abs(before), abs(after)))
    moved = after - before
    common = min(half_before, moved + half_after) - max(-half_before, moved - half_after)
    if common < 0.0:
        return 0.0
    # A point inside the other interval is common to both as a whole.
    return 0.5 * sum(common / (2 * half) if half > 0.0 else 1.0 for half in (half_before, half_after))


@lru_cache
def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """t with P(|T| ≤ t) = `confidence` for Student's distribution, by bisection.

    With x = √ν tan(a), P is proportional to the integral of cos^(ν−1) from 0 to a: smooth, and done to all
    digits by Gauss's rule.
    """
    nodes, shares = np.polynomial.legendre.leggauss(64)
    factor = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)

    def probability(t: float) -> float:
        end = atan(t / sqrt(freedom))
        return float(factor * end * (shares @ np.cos(end * (nodes + 1) / 2) ** (freedom - 1)))

    low, high = 0.0, 1.0
    while probability(high) < confidence:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if probability(middle) < confidence else (low, middle)
    return (low + high) / 2


# --- indicators ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupIndicator:
    """An indicator of one group; `label` is its number, or what the caller calls it.

    All numbers are None if fewer records are behind them than may be shown; `relative` (in percent of
    `before`) also if `before` is 0.
    """

    label: str
    records: int
    before: float | None
    after: float | None
    change: float | None
    relative: float | None


@dataclass(frozen=True, slots=True)
class IndicatorComparison:
    """An indicator before and after masking, group by group; one group without `by`.

    `left_out`: records whose value is missing before or after; `hidden`: groups of fewer than `fewest`
    records; `mean_change`: mean absolute relative change of the groups shown, None if there is none.
    """

    indicator: Indicator
    groups: tuple[GroupIndicator, ...]
    left_out: int
    hidden: int
    fewest: int
    mean_change: float | None


def compare_indicator(
    pair: Pair,
    text: str | Indicator,
    groups: Mapping[str, Codes] | None = None,
    *,
    labels: Mapping[str, Sequence[str]] | None = None,
    not_numeric: Collection[str] = (),
) -> IndicatorComparison:
    """A weighted mean or total before and after masking, by the codes of a column that was not masked.

    `groups`: the codes, from 0, of columns by which indicators may be split; the pair's confidential
    columns are among them anyway. `labels`: what the codes of some of these columns are called. Hand over
    labels only of columns whose values may be seen by whoever sees the result, such as strata that are
    released; other groups are called by their numbers. Groups of fewer than max(k, 3) records are counted,
    not shown.
    """
    indicator = parse_indicator(text) if isinstance(text, str) else text
    before, after = columns_of(pair)
    if indicator.column not in before:
        is_other = indicator.column in not_numeric
        raise wording.not_in_model("The indicator", indicator.column, is_other, list(before))
    known = {**pair.confidential, **(groups or {})}
    names: Sequence[str] = ("all",)
    codes = np.zeros(pair.n, dtype=np.int64)
    if indicator.by is not None:
        if indicator.by not in known or indicator.by in pair.columns:
            raise wording.no_such_groups(indicator.by, [name for name in known if name not in pair.columns])
        codes = known[indicator.by]
        numbers = [str(number) for number in range(int(codes.max(initial=0)) + 1)]
        names = (labels or {}).get(indicator.by, numbers)
    x, y = before[indicator.column], after[indicator.column]
    rows = ~(np.isnan(x) | np.isnan(y))
    weights = np.ones(pair.n) if pair.weights is None else pair.weights
    codes, x, y, weights = codes[rows], x[rows], y[rows], weights[rows]
    count = len(names)
    sizes = np.bincount(codes, minlength=count)
    divisor = np.bincount(codes, weights, count) if indicator.statistic == "mean" else np.ones(count)
    divisor[divisor == 0] = 1.0
    values = [np.bincount(codes, weights * table, count) / divisor for table in (x, y)]
    fewest = max(pair.k or 0, FEWEST)
    found = tuple(
        _group(name, size, old, new, size >= fewest)
        for name, size, old, new in zip(names, sizes.tolist(), *(v.tolist() for v in values), strict=True)
        if size
    )
    changes = [abs(group.relative) for group in found if group.relative is not None]
    return IndicatorComparison(
        indicator=indicator,
        groups=found,
        left_out=int(pair.n - rows.sum()),
        hidden=sum(group.before is None for group in found),
        fewest=fewest,
        mean_change=sum(changes) / len(changes) if changes else None,
    )


def _group(label: str, size: int, before: float, after: float, shown: bool) -> GroupIndicator:
    if not shown:
        return GroupIndicator(label, size, None, None, None, None)
    relative = 100.0 * (after - before) / abs(before) if before else None
    return GroupIndicator(label, size, before, after, after - before, relative)
