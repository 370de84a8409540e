"""Every measure of utility against a plain computation of its own, and where the answer is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import erf, log2, sqrt
from typing import Any

import numpy as np
import pytest

import microagg
from microagg.measure import UTILITY, cross_tables, loss
from microagg.measure.moments import quantiles
from microagg.measure.pair import MeasureResult, Pair
from microagg.measure.propensity import RIDGE, propensity
from tests.oracles import cmp98_measures

NAMES = [
    *(
        "il",
        "changed_cells",
        "cell_error",
        "margins",
        "two_way_tables",
        "cramers_v",
        "entropy",
        "count_queries",
        "il_subsets",
        "il_strata",
        "il1s",
        "il1s_sum",
        "eigenvalues",
        "means",
        "variances",
        "quantiles",
    ),
    *(
        "covariances",
        "correlations",
        "largest_correlation_change",
        "regressions",
        "rank_correlations",
        "mean_deviation",
        "fpc_correlation",
        "fpc_weight",
    ),
    *("fpc_share", "correlation_change_deviation", "pil", "propensity"),
]
COUNTS_OF_CELLS = (
    "changed_cells",
    "cell_error",
    "margins",
    "two_way_tables",
    "cramers_v",
    "entropy",
    "count_queries",
)
"""Missing cells and constant columns count as any others."""
STATISTICS = [name for name in NAMES if name not in COUNTS_OF_CELLS]
NO_CHANGE = {"mean_deviation": 1.0}
"""What measures say of an unchanged table, where it is not 0; fpc_share says the original's share."""
OF_PAIRS = ("covariances", "largest_correlation_change", "regressions", "correlation_change_deviation")
SHARES = [step / 20 for step in range(1, 20)]


def pair_of(original: Any, masked: Any, **more: Any) -> Pair:
    original, masked = np.asarray(original, dtype=float), np.asarray(masked, dtype=float)
    n, p = original.shape
    settings = {
        "subsets": (tuple(range(p)),),
        "groups": np.zeros(n, dtype=np.int64),
        "strata": np.zeros(n, dtype=np.int64),
    }
    return Pair(tuple(f"c{at}" for at in range(p)), original, masked, **{**settings, **more})


def found(name: str, pair: Pair) -> MeasureResult:
    return UTILITY[name].compute(pair)


RNG = np.random.default_rng(11)
X = np.exp(RNG.normal(size=(240, 4)) @ RNG.normal(size=(4, 4)) * 0.4) * [1.0, 100.0, 0.01, 5.0] + 7.0
LABELS = microagg.partition(X, 4, "mdav").labels
Y = microagg.partition(X, 4, "mdav").aggregate(X)
STRATA = np.arange(240) % 3
PAIR = pair_of(X, Y, strata=STRATA, subsets=((0, 2), (1, 3)))
COUNTS = RNG.integers(1, 5, 240)
WEIGHTED = replace(PAIR, weights=COUNTS.astype(float))
REPEATED = pair_of(
    np.repeat(X, COUNTS, axis=0),
    np.repeat(Y, COUNTS, axis=0),
    strata=np.repeat(STRATA, COUNTS),
    subsets=PAIR.subsets,
)


def with_holes(pair: Pair, rate: float = 0.1) -> Pair:
    """Some cells are missing before, some after."""
    rng = np.random.default_rng(3)
    original, masked = pair.original.copy(), pair.masked.copy()
    original[rng.random(original.shape) < rate / 2] = np.nan
    masked[rng.random(masked.shape) < rate / 2] = np.nan
    return replace(pair, original=original, masked=masked)


HOLES = with_holes(PAIR)


# --- plain computations, column by column and record by record ------------------------------------


def known(x: Any, y: Any) -> list[tuple[float, float]]:
    return [(a, b) for a, b in zip(x, y, strict=True) if a == a and b == b]


def plain_il(pair: Pair) -> float:
    sse = sst = 0.0
    for x, y in zip(pair.original.T, pair.masked.T, strict=True):
        cells = known(x, y)
        before = [a for a, _ in cells]
        mean = sum(before) / len(before)
        variance = sum((a - mean) ** 2 for a in before) / len(before)
        sse += sum((a - b) ** 2 for a, b in cells) / variance
        sst += sum((a - mean) ** 2 for a in before) / variance
    return 100 * sse / sst


def plain_cell_error(pair: Pair) -> float:
    by_column = []
    for x, y in zip(pair.original.T, pair.masked.T, strict=True):
        width = np.nanmax(x) - np.nanmin(x)
        cells = [(a, b) for a, b in zip(x, y, strict=True) if a == a or b == b]
        by_column.append(np.mean([abs(a - b) / width if a == a and b == b else 1.0 for a, b in cells]))
    return float(100 * np.mean(by_column))


def in_bands(pair: Pair) -> list[tuple[list[str], list[str]]]:
    """Column by column the band of each record before and after; these columns have many values."""
    bands = []
    for x, y in zip(pair.original.T, pair.masked.T, strict=True):
        values = sorted(value for value in x if value == value)
        limits = {values[-(-place * len(values) // 20) - 1] for place in range(1, 20)}
        bands.append(
            tuple(
                ["missing" if v != v else str(sum(limit < v for limit in limits)) for v in side]
                for side in (x, y)
            )
        )
    return bands


def moved(before: list[Any], after: list[Any]) -> float:
    old, new = Counter(before), Counter(after)
    return 50 * sum(abs(old[value] - new[value]) for value in old | new) / len(before)


def joint(one: list[str], other: list[str]) -> list[tuple[str, str]]:
    return list(zip(one, other, strict=True))


def bits(values: list[str]) -> float:
    return -sum(count / len(values) * log2(count / len(values)) for count in Counter(values).values())


def cramer(one: list[str], other: list[str]) -> float:
    rows, columns, cells = Counter(one), Counter(other), Counter(joint(one, other))
    n, square = len(one), 0.0
    for row in rows:
        for column in columns:
            expected = rows[row] * columns[column] / n
            square += (cells[row, column] - expected) ** 2 / expected
    return sqrt(square / n / (min(len(rows), len(columns)) - 1))


def plain_count_queries(pair: Pair) -> float:
    """The same queries, each counted record by record."""
    attributes = cross_tables._attributes(pair)
    errors = []
    for query in cross_tables._queries(attributes, np.random.default_rng(20_261_117), 2000, 2, 3):
        before, after = (
            sum(all(wanted[codes[at][row]] for at, wanted in query.items()) for row in range(pair.n))
            for codes in ([each.before for each in attributes], [each.after for each in attributes])
        )
        errors.append(abs(after - before) / max(before, 10))
    return float(100 * np.mean(errors))


def over_pairs(statistic: Callable[[Any, Any], float]) -> Callable[[Pair], float]:
    return lambda pair: float(np.mean([statistic(*two) for two in combinations(in_bands(pair), 2)]))


def plain_il_subsets(pair: Pair) -> float:
    def only(subset: tuple[int, ...]) -> Pair:
        at = list(subset)
        names = tuple(pair.columns[place] for place in at)
        return replace(pair, columns=names, original=pair.original[:, at], masked=pair.masked[:, at])

    return max(plain_il(only(subset)) for subset in pair.subsets)


def plain_il_strata(pair: Pair) -> float:
    usable = ~np.isnan(pair.original + pair.masked)
    x = np.where(usable, pair.original, np.nan)
    deviations = np.nanstd(x, axis=0)
    losses = []
    for stratum in np.unique(pair.strata):
        own = pair.strata == stratum
        sse = np.nansum(((x - pair.masked)[own] / deviations) ** 2)
        losses.append(100 * sse / np.nansum(((x[own] - np.nanmean(x[own], axis=0)) / deviations) ** 2))
    return max(losses)


def plain_il1s_sum(pair: Pair) -> float:
    total = 0.0
    for x, y in zip(pair.original.T, pair.masked.T, strict=True):
        cells = known(x, y)
        deviation = np.std([a for a, _ in cells], ddof=1)
        total += sum(abs(a - b) / (sqrt(2) * deviation) for a, b in cells)
    return total


def plain_il1s(pair: Pair) -> float:
    return plain_il1s_sum(pair) / int((~np.isnan(pair.original + pair.masked)).sum())


def complete(pair: Pair) -> tuple[Any, Any]:
    rows = ~np.isnan(pair.original + pair.masked).any(axis=1)
    return pair.original[rows], pair.masked[rows]


def plain_eigenvalues(pair: Pair) -> float:
    x, y = (np.corrcoef(values, rowvar=False) for values in complete(pair))
    before, after = (np.sort(np.linalg.svd(matrix, compute_uv=False)) for matrix in (x, y))
    return float(sum(abs(a - b) / a for a, b in zip(before, after, strict=True)))


def by_column(of: Callable[[Any, Any], float]) -> Callable[[Pair], float]:
    def mean(pair: Pair) -> float:
        columns = zip(pair.original.T, pair.masked.T, strict=True)
        return float(np.mean([of(*np.array(known(x, y)).T) for x, y in columns]))

    return mean


def by_pair(of: Callable[..., float], total: Callable[..., Any] = np.mean) -> Callable[[Pair], float]:
    """Of records that have both columns, before and after."""

    def over_all(pair: Pair) -> float:
        changes = []
        for i in range(pair.p):
            for j in range(i):
                both = ~np.isnan((pair.original + pair.masked)[:, [i, j]]).any(axis=1)
                x, y = pair.original[both], pair.masked[both]
                scale = []
                for at in (i, j):
                    cells = ~np.isnan(pair.original[:, at] + pair.masked[:, at])
                    scale.append(pair.original[cells, at].std())
                changes.append(abs(of(y[:, i], y[:, j], scale) - of(x[:, i], x[:, j], scale)))
        return float(total(changes))

    return over_all


def plain_regressions(pair: Pair) -> float:
    """Fitted by NumPy with a constant, in units of the original's standard deviations."""
    x, y = complete(pair)
    largest = 0.0
    for at in range(pair.p):
        others = [other for other in range(pair.p) if other != at]
        slopes = []
        for values in (x / x.std(axis=0), y / x.std(axis=0)):
            design = np.column_stack((np.ones(len(values)), values[:, others]))
            slopes.append(np.linalg.lstsq(design, values[:, at], rcond=None)[0][1:])
        largest = max(largest, float(np.abs(slopes[1] - slopes[0]).max()))
    return largest


def quantile(values: Any, q: float) -> float:
    """The smallest value that at least the share q does not exceed."""
    return next(v for v in sorted(values) if np.mean(np.asarray(values) <= v) >= q - 1e-12)


def spearman(a: Any, b: Any) -> float:
    def rank(values: Any) -> list[float]:
        return [float(np.sum(values < v) + (np.sum(values == v) + 1) / 2) for v in values]

    return float(np.corrcoef(rank(a), rank(b))[0, 1])


def plain_rank_correlations(pair: Pair) -> float:
    """Ranks are those of all cells of the column."""
    x, y = np.full(pair.original.shape, np.nan), np.full(pair.original.shape, np.nan)
    for at in range(pair.p):
        cells = ~np.isnan(pair.original[:, at] + pair.masked[:, at])
        for table, values in ((x, pair.original[cells, at]), (y, pair.masked[cells, at])):
            table[cells, at] = [np.sum(values < v) + (np.sum(values == v) + 1) / 2 for v in values]
    correlation = by_pair(lambda a, b, _: float(np.corrcoef(a, b)[0, 1]))
    return correlation(replace(pair, original=x, masked=y))


def chance(change: float, variance: float, n: float) -> float:
    return 100 * erf(abs(change) / sqrt(variance / n) / sqrt(2))


def plain_pil(pair: Pair) -> float:
    losses: dict[str, list[float]] = {name: [] for name in ("quantile", "mean", "variance", "cov", "r")}
    for x, y in zip(pair.original.T, pair.masked.T, strict=True):
        a, b = np.array(known(x, y)).T
        n = len(a)
        losses["mean"].append(chance(b.mean() - a.mean(), a.var(), n))
        fourth = np.mean((a - a.mean()) ** 4)
        losses["variance"].append(chance(b.var() - a.var(), fourth - a.var() ** 2, n))
        for q in SHARES:
            moved = quantile(b, q)
            low, high = np.mean(a < moved), np.mean(a <= moved)
            losses["quantile"].append(chance(max(low - q, q - high, 0), q * (1 - q), n))
    for i in range(pair.p):
        for j in range(i):
            both = ~np.isnan((pair.original + pair.masked)[:, [i, j]]).any(axis=1)
            a, b = pair.original[both, i], pair.original[both, j]
            n = len(a)
            after = pair.masked[both, i], pair.masked[both, j]
            u, v = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
            covariance, r = np.cov(a, b, ddof=0)[0, 1], np.corrcoef(a, b)[0, 1]
            spread = np.var((a - a.mean()) * (b - b.mean()))
            losses["cov"].append(chance(np.cov(*after, ddof=0)[0, 1] - covariance, spread, n))
            # The influence of a record on r.
            spread = np.var(u * v - r * (u**2 + v**2) / 2)
            losses["r"].append(chance(np.corrcoef(*after)[0, 1] - r, spread, n))
    return float(np.mean([np.mean(values) for values in losses.values()]))


def plain_changed_cells(pair: Pair) -> float:
    cells = zip(pair.original.ravel().tolist(), pair.masked.ravel().tolist(), strict=True)
    counted = [(before, after) for before, after in cells if before == before or after == after]
    return 100 * sum(before != after for before, after in counted) / len(counted)


def plain_propensity(pair: Pair) -> float:
    """Iteratively reweighted least squares on all terms at once, then the definition."""
    x, y = complete(pair)
    stacked = np.concatenate((x, y))
    usable = np.where(np.isnan(pair.masked), np.nan, pair.original)
    stacked = (stacked - np.nanmean(usable, axis=0)) / np.nanstd(usable, axis=0)
    p = pair.p
    terms = [stacked[:, i] for i in range(p)]
    terms += [stacked[:, i] * stacked[:, j] for i in range(p) for j in range(i, p) if i == j or p <= 6]
    design = np.column_stack([(t - t.mean()) / t.std() for t in terms])
    design = np.column_stack((np.ones(len(design)), design))
    masked = np.repeat([0.0, 1.0], len(x))
    penalty = np.diag([0.0] + [RIDGE] * len(terms))
    beta = np.zeros(design.shape[1])
    for _ in range(200):
        p_i = 1 / (1 + np.exp(-design @ beta))
        w = np.maximum(p_i * (1 - p_i), 1e-12)
        working = design @ beta + (masked - p_i) / w
        new = np.linalg.solve(design.T * w @ design + penalty, design.T * w @ working)
        beta += 0.5 * (new - beta)
    p_i = 1 / (1 + np.exp(-design @ beta))
    return float(np.mean((p_i - 0.5) ** 2) / (len(terms) * 0.25 * 0.5 / len(design)))


def of_oracle(field: str) -> Callable[[Pair], float]:
    return lambda pair: float(getattr(cmp98_measures.measures(*complete(pair)), field))


PLAIN: dict[str, Callable[[Pair], float]] = {
    "il": plain_il,
    "changed_cells": plain_changed_cells,
    "cell_error": plain_cell_error,
    "margins": lambda pair: float(np.mean([moved(*sides) for sides in in_bands(pair)])),
    "two_way_tables": over_pairs(lambda a, b: moved(joint(a[0], b[0]), joint(a[1], b[1]))),
    "cramers_v": over_pairs(lambda a, b: abs(cramer(a[0], b[0]) - cramer(a[1], b[1]))),
    "entropy": lambda pair: float(np.mean([abs(bits(y) - bits(x)) for x, y in in_bands(pair)])),
    "count_queries": plain_count_queries,
    "il_subsets": plain_il_subsets,
    "il_strata": plain_il_strata,
    "il1s": plain_il1s,
    "il1s_sum": plain_il1s_sum,
    "eigenvalues": plain_eigenvalues,
    "means": by_column(lambda a, b: 100 * abs(b.mean() - a.mean()) / a.std()),
    "variances": by_column(lambda a, b: 100 * abs(b.var(ddof=1) / a.var(ddof=1) - 1)),
    "quantiles": by_column(
        lambda a, b: 100 * np.mean([abs(quantile(b, q) - quantile(a, q)) for q in SHARES]) / a.std()
    ),
    "covariances": by_pair(lambda a, b, scale: 100 * np.cov(a, b, ddof=0)[0, 1] / (scale[0] * scale[1])),
    "correlations": by_pair(lambda a, b, _: float(np.corrcoef(a, b)[0, 1])),
    "largest_correlation_change": by_pair(lambda a, b, _: float(np.corrcoef(a, b)[0, 1]), max),
    "regressions": plain_regressions,
    "rank_correlations": plain_rank_correlations,
    "mean_deviation": by_column(lambda a, b: b.std() / a.std()),
    "fpc_correlation": of_oracle("delta_r"),
    "fpc_weight": of_oracle("delta_w"),
    "fpc_share": of_oracle("fpc"),
    "correlation_change_deviation": of_oracle("sd_dr"),
    "pil": plain_pil,
    "propensity": plain_propensity,
}


def test_the_catalogue_has_every_name() -> None:
    assert list(UTILITY) == NAMES
    assert set(PLAIN) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_descriptions_are_complete(name: str) -> None:
    measure = UTILITY[name]
    assert measure.kind == "utility"
    assert measure.definition.endswith(".")
    assert measure.definition.count(".") == 1
    assert all((measure.title, measure.formula, measure.range, measure.higher, measure.reference))
    assert "best" in measure.range or "expected" in measure.range


@pytest.mark.parametrize("pair", [PAIR, HOLES], ids=["complete", "holes"])
@pytest.mark.parametrize("name", NAMES)
def test_against_a_plain_computation(name: str, pair: Pair) -> None:
    tolerance = 1e-5 if name == "propensity" else 1e-9
    assert found(name, pair).value == pytest.approx(PLAIN[name](pair), rel=tolerance, abs=1e-9)


def test_spearman_is_the_usual_one_without_holes() -> None:
    expected = by_pair(lambda a, b, _: spearman(a, b))(PAIR)
    assert found("rank_correlations", PAIR).value == pytest.approx(expected)


def test_correlations_are_those_of_cmp98() -> None:
    assert found("correlations", PAIR).value == pytest.approx(loss.mean_correlation_change(X, Y))


def test_changed_cells_count_what_is_set_to_missing_or_filled() -> None:
    original = [[1.0, 5.0, np.nan], [2.0, 5.0, np.nan], [3.0, np.nan, np.nan]]
    masked = [[1.0, np.nan, np.nan], [2.5, 5.0, np.nan], [3.0, 4.0, np.nan]]
    result = found("changed_cells", pair_of(original, masked))
    assert result.value == pytest.approx(100 * 3 / 6)
    assert result.parts == pytest.approx({"c0": 100 / 3, "c1": 200 / 3})


# --- where the answer is known --------------------------------------------------------------------


@pytest.mark.parametrize("pair", [PAIR, HOLES, WEIGHTED], ids=["complete", "holes", "weighted"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_changed(name: str, pair: Pair) -> None:
    result = found(name, replace(pair, masked=pair.original))
    expected = result.parts["original"] if name == "fpc_share" else NO_CHANGE.get(name, 0.0)
    assert result.value == pytest.approx(expected, abs=1e-9)


def test_one_group_loses_everything() -> None:
    pair = replace(PAIR, masked=np.broadcast_to(X.mean(axis=0), X.shape).copy())
    assert found("il", pair).value == pytest.approx(100.0)
    assert found("il_subsets", pair).value == pytest.approx(100.0)
    assert found("means", pair).value == pytest.approx(0.0, abs=1e-9)
    assert found("variances", pair).value == pytest.approx(100.0)
    assert found("mean_deviation", pair).value == pytest.approx(0.0, abs=1e-9)
    r = np.corrcoef(X, rowvar=False)[np.triu_indices(4, 1)]
    assert found("correlations", pair).value == pytest.approx(np.abs(r).mean())
    assert found("covariances", pair).value == pytest.approx(100 * np.abs(r).mean())
    assert found("propensity", pair).value > 10
    assert all(np.isfinite(found(name, pair).value) for name in NAMES)


def test_group_means_lose_as_much_variance_as_information() -> None:
    il, variances = found("il", PAIR), found("variances", PAIR)
    assert il.value == pytest.approx(microagg.partition(X, 4, "mdav").information_loss)
    assert list(il.parts.values()) == pytest.approx([-change for change in variances.parts.values()])


def test_two_points_by_hand() -> None:
    pair = pair_of([[0.0], [2.0]], [[1.0], [1.0]])
    assert found("il", pair).value == pytest.approx(100.0)
    # Sample sd √2, each cell moved by 1.
    assert found("il1s", pair).value == pytest.approx(0.5)
    assert found("il1s_sum", pair).value == pytest.approx(1.0)
    assert quantiles(pair, at=[0.5]).value == pytest.approx(100.0)


def test_a_shift_by_one_standard_error() -> None:
    """The mean moves by s/√n: probability 0.6827; all else but quantiles stays."""
    pair = pair_of(X, X + X.std(axis=0) / sqrt(len(X)))
    result = found("pil", pair)
    assert result.parts["means"] == pytest.approx(68.268949, abs=1e-5)
    assert [result.parts[name] for name in ("variances", "covariances", "correlations")] == [0.0] * 3
    assert found("means", pair).value == pytest.approx(100 / sqrt(len(X)))


def test_records_drawn_from_the_original_have_a_ratio_near_one() -> None:
    """With replacement. Two independent samples of one population differ by twice as much."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(1000, 3))
    drawn = [found("propensity", pair_of(x, x[rng.integers(1000, size=1000)])).value for _ in range(40)]
    assert 0.8 < np.mean(drawn) < 1.2
    sampled = [found("propensity", pair_of(x, rng.normal(size=(1000, 3)))).value for _ in range(40)]
    assert np.mean(sampled) > 1.3


def test_tables_that_can_be_told_apart_perfectly() -> None:
    pair = pair_of(X, X + 1e6)
    result = found("propensity", pair)
    assert result.parts["pMSE"] == pytest.approx(0.25, rel=1e-2)
    assert result.value == pytest.approx(result.parts["pMSE"] / result.parts["expected"])


def test_logistic_regression_of_one_binary_column() -> None:
    """The column's share of ones is 0.3 before and 0.5 after; its square is the column itself."""
    x = np.repeat([0.0, 1.0], [700, 300])[:, np.newaxis]
    y = np.repeat([0.0, 1.0], [500, 500])[:, np.newaxis]
    result = found("propensity", pair_of(x, y))
    p0, p1 = 500 / 1200, 500 / 800
    expected = (1200 * (p0 - 0.5) ** 2 + 800 * (p1 - 0.5) ** 2) / 2000
    assert result.parts["pMSE"] == pytest.approx(expected, rel=1e-4)
    assert result.parts["expected"] == pytest.approx(1 / (8 * 2000))


# --- weights --------------------------------------------------------------------------------------

DEPENDS_ON_SIZE = {"il1s", "il1s_sum", "pil", "propensity", "count_queries"}
IN_BANDS = {"margins", "two_way_tables", "cramers_v", "entropy"}
"""Bands hold equal counts of records, whatever these weigh."""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DEPENDS_ON_SIZE])
def test_weights_are_repetitions(name: str) -> None:
    few = {"original": np.round(X % 7), "masked": np.round(Y % 7)} if name in IN_BANDS else {}
    again = {side: np.repeat(values, COUNTS, axis=0) for side, values in few.items()}
    weighted, repeated = found(name, replace(WEIGHTED, **few)), found(name, replace(REPEATED, **again))
    assert weighted.value == pytest.approx(repeated.value, abs=1e-9)
    assert dict(weighted.parts) == pytest.approx(dict(repeated.parts), abs=1e-9)


def test_weights_are_repetitions_but_for_the_number_of_records() -> None:
    n, total = len(X), int(COUNTS.sum())
    divisor = sqrt((n - 1) / n / ((total - 1) / total))
    weighted, repeated = found("il1s", WEIGHTED), found("il1s", REPEATED)
    assert weighted.value == pytest.approx(repeated.value * divisor)
    assert found("il1s_sum", WEIGHTED).value == pytest.approx(weighted.value * X.size)
    weighted, repeated = propensity(WEIGHTED, ridge=1e-6), propensity(REPEATED, ridge=1e-6)
    assert weighted.parts["pMSE"] == pytest.approx(repeated.parts["pMSE"], rel=1e-4)
    effective = COUNTS.sum() ** 2 / (COUNTS**2).sum()
    assert weighted.parts["expected"] == pytest.approx(repeated.parts["expected"] * total / effective)


def test_weighted_pil_has_the_effective_size() -> None:
    mean = np.average(X, axis=0, weights=COUNTS)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=COUNTS))
    effective = COUNTS.sum() ** 2 / (COUNTS**2).sum()
    pair = pair_of(X, X + deviation / sqrt(effective), weights=COUNTS.astype(float))
    assert found("pil", pair).parts["means"] == pytest.approx(68.268949, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_only_the_proportions_of_weights_matter(name: str) -> None:
    scaled = replace(WEIGHTED, weights=COUNTS / 1000.0)
    equal = replace(PAIR, weights=np.full(len(X), 3.5))
    assert found(name, scaled).value == pytest.approx(found(name, WEIGHTED).value, rel=1e-9, abs=1e-9)
    assert found(name, equal).value == pytest.approx(found(name, PAIR).value, rel=1e-9, abs=1e-9)


# --- holes, constant columns, few records and columns ----------------------------------------------


@pytest.mark.parametrize("name", STATISTICS)
def test_what_is_missing_is_said(name: str) -> None:
    missing = int(np.isnan(HOLES.original + HOLES.masked).sum())
    assert f"{missing} of 960 cells are missing" in found(name, HOLES).note


@pytest.mark.parametrize("name", STATISTICS)
def test_a_constant_column_is_left_out(name: str) -> None:
    more = {"strata": STRATA, "subsets": ((0, 2), (1, 3), (4,))}
    constant = pair_of(
        np.column_stack((X, np.full(240, 4.0))), np.column_stack((Y, np.full(240, 4.0))), **more
    )
    result = found(name, constant)
    assert result.value == pytest.approx(found(name, PAIR).value)
    assert "all original values are equal: c4" in result.note
    changed = replace(constant, masked=np.column_stack((Y, np.full(240, 5.0))))
    assert found(name, changed).value == pytest.approx(found(name, PAIR).value)
    assert "though changed" in found(name, changed).note


@pytest.mark.parametrize("name", STATISTICS)
def test_an_empty_column_is_left_out(name: str) -> None:
    more = {"strata": STRATA, "subsets": ((0, 2), (1, 3), (4,))}
    nothing = np.full(240, np.nan)
    pair = pair_of(np.column_stack((X, np.arange(240.0))), np.column_stack((Y, nothing)), **more)
    result = found(name, pair)
    assert result.value == pytest.approx(found(name, PAIR).value)
    assert "no record has a value before and after masking: c4" in result.note


@pytest.mark.parametrize("name", NAMES)
def test_one_column(name: str) -> None:
    result = found(name, pair_of(X[:, :1], Y[:, :1]))
    if name in (
        "two_way_tables",
        "cramers_v",
        "count_queries",
        "largest_correlation_change",
        "regressions",
    ):
        assert np.isnan(result.value)
        assert "no pair" in result.note
        return
    assert np.isfinite(result.value)
    if name.endswith("correlations") or name in OF_PAIRS:
        assert result.value == 0.0
        assert "no pair" in result.note


@pytest.mark.parametrize("name", STATISTICS)
def test_one_record(name: str) -> None:
    same = found(name, pair_of([[1.0, 2.0]], [[1.0, 2.0]]))
    assert np.isnan(same.value) if name == "fpc_share" else same.value == NO_CHANGE.get(name, 0.0)
    changed = found(name, pair_of([[1.0, 2.0]], [[1.5, 2.0]]))
    assert np.isnan(changed.value)
    assert "nothing to compare" in changed.note


@pytest.mark.parametrize("name", STATISTICS)
def test_no_complete_record(name: str) -> None:
    x, y = X[:, :2].copy(), Y[:, :2].copy()
    x[::2, 0] = np.nan
    y[1::2, 1] = np.nan
    result = found(name, pair_of(x, y))
    together = {"eigenvalues", "rank_correlations", "propensity", *OF_PAIRS}
    together |= {name for name in NAMES if name.startswith(("fpc", "correlation"))}
    assert np.isnan(result.value) == (name in together)
    assert result.note


@pytest.mark.parametrize("name", NAMES)
def test_units_and_offsets_do_not_matter(name: str) -> None:
    scale, offset = np.array([1e-150, 1e150, 3.0, 1.0]), np.array([0.0, 0.0, 1e7, -1e3])
    moved = replace(PAIR, original=X * scale + offset, masked=Y * scale + offset)
    assert found(name, moved).value == pytest.approx(found(name, PAIR).value, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_follow_from_others(name: str) -> None:
    more = {"strata": STRATA, "subsets": ((0, 1, 2, 3, 4),)}
    pair = pair_of(np.column_stack((X, X[:, 0] * 2)), np.column_stack((Y, Y[:, 0] * 2)), **more)
    assert np.isfinite(found(name, pair).value)
    if name == "eigenvalues":
        assert "1 component without any variance" in found(name, pair).note


def test_long_names_of_subsets_are_cut_and_told_apart() -> None:
    columns = tuple(f"a_rather_long_name_of_a_column_number_{at}" for at in range(4))
    pair = replace(PAIR, columns=columns, subsets=((0, 1), (0, 2), (3,)))
    names = list(found("il_subsets", pair).parts)
    assert len(set(names)) == 3
    assert all(len(name) < 46 for name in names)
    assert list(found("il_subsets", PAIR).parts) == ["c0+c2", "c1+c3"]


def test_strata_are_numbered_and_flat_ones_left_out() -> None:
    strata = STRATA.copy()
    strata[0] = 3
    result = found("il_strata", replace(PAIR, strata=strata))
    assert list(result.parts) == ["stratum 0", "stratum 1", "stratum 2"]
    assert "1 stratum without different original values left out" in result.note
