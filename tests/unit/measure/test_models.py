"""Models and indicators before and after masking, against plain computations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from microagg.errors import DataError, SettingsError
from microagg.measure.models import (
    INTERCEPT,
    Indicator,
    Model,
    compare_indicator,
    compare_models,
    parse_indicator,
    parse_model,
    t_quantile,
)
from microagg.measure.pair import Pair

RNG = np.random.default_rng(4)
N = 300
A, B = RNG.normal(50.0, 10.0, N), RNG.exponential(3.0, N)
Y = 4.0 + 0.5 * A - 2.0 * B + RNG.normal(size=N)
NOISY = A + RNG.normal(0.0, 3.0, N)
REGION = np.arange(N) % 4
PAIR = Pair(
    columns=("a", "net+gross", "y"),
    original=np.column_stack((A, B, Y)),
    masked=np.column_stack((NOISY, B, Y)),
    subsets=((0, 1, 2),),
    groups=np.zeros(N, dtype=np.int64),
    strata=np.zeros(N, dtype=np.int64),
    numbers={"age": RNG.integers(18, 90, N).astype(float)},
    confidential={"illness": np.arange(N) % 2},
)
FORMULA = "y ~ a + `net+gross` + age"
COUNTS = RNG.integers(1, 6, N)


def plain_fit(y: Any, terms: list[Any], weights: Any) -> tuple[Any, Any]:
    """Normal equations."""
    design = np.column_stack([np.ones(len(y)), *terms])
    inverse = np.linalg.inv(design.T * weights @ design)
    beta = inverse @ (design.T * weights @ y)
    variance = np.sum(weights * (y - design @ beta) ** 2) / (len(y) - design.shape[1])
    return beta, np.sqrt(variance * np.diag(inverse))


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "response", "terms"),
    [
        ("y ~ a", "y", ("a",)),
        ("y~a+b", "y", ("a", "b")),
        ("  net income ~ hours worked + `a+b` + `c~d`  ", "net income", ("hours worked", "a+b", "c~d")),
        ("`y` ~ net-of-tax", "y", ("net-of-tax",)),
        ("`+` ~ `~`", "+", ("~",)),
    ],
)
def test_models_are_read(text: str, response: str, terms: tuple[str, ...]) -> None:
    assert parse_model(text) == Model(response, terms)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "y",
        "y ~",
        "~ a",
        "y ~ a +",
        "y ~ + a",
        "y ~ a ~ b",
        "y + a ~ b",
        "y ~ a ++ b",
        "`y ~ a",
        "a`b` ~ c",
    ],
)
def test_what_is_no_model_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is not a model"):
        parse_model(text)


@pytest.mark.parametrize("text", ["y ~ a + a", "y ~ y", "y ~ a + `y`"])
def test_names_given_twice_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="twice"):
        parse_model(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean income by region", Indicator("mean", "income", "region")),
        ("total turnover", Indicator("total", "turnover")),
        ("mean net income by `way by sea`", Indicator("mean", "net income", "way by sea")),
        ("  total `stand by` by region ", Indicator("total", "stand by", "region")),
        ("mean bye by by", Indicator("mean", "bye", "by")),
    ],
)
def test_indicators_are_read(text: str, expected: Indicator) -> None:
    assert parse_indicator(text) == expected


@pytest.mark.parametrize(
    "text", ["", "mean", "median income", "income by region", "mean a by b by c", "mean `a"]
)
def test_what_is_no_indicator_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is not an indicator"):
        parse_indicator(text)


def test_they_print_as_they_are_read() -> None:
    assert str(parse_model("y~a+b")) == "y ~ a + b"
    assert str(parse_indicator("mean income by region")) == "mean income by region"


# --- models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, COUNTS.astype(float), COUNTS / 7000.0])
def test_against_the_normal_equations(weights: Any) -> None:
    found = compare_models(replace(PAIR, weights=weights), FORMULA)
    w = np.ones(N) if weights is None else weights
    age = PAIR.numbers["age"]
    assert [c.name for c in found.coefficients] == [INTERCEPT, "a", "net+gross", "age"]
    for a, value, error in ((A, "before", "error_before"), (NOISY, "after", "error_after")):
        beta, errors = plain_fit(Y, [a, B, age], w)
        assert [getattr(c, value) for c in found.coefficients] == pytest.approx(beta.tolist())
        assert [getattr(c, error) for c in found.coefficients] == pytest.approx(errors.tolist())
    assert found.overlap == pytest.approx(np.mean([c.overlap for c in found.coefficients]))
    assert (found.records, found.left_out) == (N, 0)


def test_r_squared_is_the_squared_correlation_of_one_term() -> None:
    found = compare_models(PAIR, "y ~ a")
    assert found.explained_before == pytest.approx(np.corrcoef(A, Y)[0, 1] ** 2)
    assert found.explained_after == pytest.approx(np.corrcoef(NOISY, Y)[0, 1] ** 2)


def test_weights_are_repetitions_for_coefficients() -> None:
    weighted = compare_models(replace(PAIR, weights=COUNTS.astype(float)), FORMULA)
    rows = np.repeat(np.arange(N), COUNTS)
    repeated = replace(
        PAIR,
        original=PAIR.original[rows],
        masked=PAIR.masked[rows],
        numbers={"age": PAIR.numbers["age"][rows]},
    )
    for one, other in zip(
        weighted.coefficients, compare_models(repeated, FORMULA).coefficients, strict=True
    ):
        assert (one.before, one.after) == pytest.approx((other.before, other.after))


def test_overlap_by_its_definition() -> None:
    found = compare_models(PAIR, "y ~ a")
    t = t_quantile(N - 2)
    for c in found.coefficients:
        low, high = c.before - t * c.error_before, c.before + t * c.error_before
        masked_low, masked_high = c.after - t * c.error_after, c.after + t * c.error_after
        common = max(min(high, masked_high) - max(low, masked_low), 0.0)
        assert c.overlap == pytest.approx((common / (high - low) + common / (masked_high - masked_low)) / 2)


def test_nothing_changed_overlaps_wholly() -> None:
    assert compare_models(replace(PAIR, masked=PAIR.original), FORMULA).overlap == pytest.approx(1.0)


def test_far_coefficients_do_not_overlap() -> None:
    masked = PAIR.original.copy()
    masked[:, 0] = -masked[:, 0]
    slope = compare_models(replace(PAIR, masked=masked), "y ~ a").coefficients[1]
    assert slope.overlap == 0.0
    assert slope.after == pytest.approx(-slope.before)


def test_records_with_missing_values_are_left_out() -> None:
    original, masked = PAIR.original.copy(), PAIR.masked.copy()
    original[:5, 0] = np.nan
    masked[3:8, 2] = np.nan
    found = compare_models(replace(PAIR, original=original, masked=masked), "y ~ a")
    assert (found.records, found.left_out) == (N - 8, 8)
    beta, _ = plain_fit(Y[8:], [A[8:]], np.ones(N - 8))
    assert [c.before for c in found.coefficients] == pytest.approx(beta.tolist())


def test_offsets_cost_no_digits() -> None:
    moved = replace(PAIR, original=PAIR.original + 1e9, masked=PAIR.masked + 1e9)
    slopes = [c.before for c in compare_models(moved, "y ~ a + `net+gross`").coefficients[1:]]
    expected = [c.before for c in compare_models(PAIR, "y ~ a + `net+gross`").coefficients[1:]]
    assert slopes == pytest.approx(expected, rel=1e-6)


def test_a_perfect_fit() -> None:
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    both = np.column_stack((x, 2 * x + 1))
    pair = Pair(("x", "z"), both, both, ((0, 1),), np.zeros(4, np.int64), np.zeros(4, np.int64))
    found = compare_models(pair, "z ~ x")
    assert [c.before for c in found.coefficients] == pytest.approx([1.0, 2.0])
    assert found.overlap == pytest.approx(1.0)


def test_a_fit_that_is_perfect_only_before() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    before, after = np.column_stack((x, 2 * x + 1)), np.column_stack((x, [1.0, 3.5, 5.0, 6.5]))
    pair = Pair(("x", "z"), before, after, ((0, 1),), np.zeros(4, np.int64), np.zeros(4, np.int64))
    overlaps = [c.overlap for c in compare_models(pair, "z ~ x").coefficients]
    # The point lies in the interval: all of the one, nothing of the other.
    assert overlaps == pytest.approx([0.5, 0.5], abs=1e-6)


def test_columns_that_are_not_there_or_hold_no_numbers() -> None:
    with pytest.raises(SettingsError, match="did you mean age"):
        compare_models(PAIR, "y ~ agee")
    with pytest.raises(SettingsError, match="'name', which holds no numbers"):
        compare_models(PAIR, "y ~ name", not_numeric=["name"])
    with pytest.raises(SettingsError, match="'name', which holds no numbers"):
        compare_indicator(PAIR, "mean name", not_numeric=["name"])


def test_models_that_cannot_be_fitted() -> None:
    original = PAIR.original.copy()
    original[:, 1] = 3 * original[:, 0] - 1
    with pytest.raises(DataError, match=r"'net\+gross' is a linear combination .* before masking"):
        compare_models(replace(PAIR, original=original), "y ~ a + `net+gross`")
    with pytest.raises(DataError, match="after masking"):
        compare_models(replace(PAIR, masked=original), "y ~ a + `net+gross`")
    flat = PAIR.masked.copy()
    flat[:, 0] = 0.1
    with pytest.raises(DataError, match="all values of column 'a' are equal after masking"):
        compare_models(replace(PAIR, masked=flat), "y ~ a")
    few = Pair(("a", "y"), PAIR.original[:2, :2], PAIR.masked[:2, :2], ((0, 1),), REGION[:2], REGION[:2])
    with pytest.raises(DataError, match="at least 3 records"):
        compare_models(few, "y ~ a")


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706205), (2, 4.302653), (5, 2.570582), (30, 2.042272), (1000, 1.962339), (10**6, 1.959966)],
)
def test_quantiles_of_student(freedom: int, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, abs=2e-6)


# --- indicators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, COUNTS.astype(float)])
def test_means_and_totals_by_group(weights: Any) -> None:
    w = np.ones(N) if weights is None else weights
    pair = replace(PAIR, weights=weights)
    mean = compare_indicator(pair, "mean a by region", {"region": REGION})
    total = compare_indicator(pair, "total a by region", {"region": REGION})
    assert [group.label for group in mean.groups] == ["0", "1", "2", "3"]
    changes = []
    for number, group in enumerate(mean.groups):
        own = np.equal(REGION, number)
        assert group.records == own.sum()
        assert group.before == pytest.approx(np.average(A[own], weights=w[own]))
        assert group.after == pytest.approx(np.average(NOISY[own], weights=w[own]))
        assert total.groups[number].before == pytest.approx(sum(A[own] * w[own]))
        assert group.before is not None
        assert group.after is not None
        assert group.change == pytest.approx(group.after - group.before)
        assert group.relative == pytest.approx(100 * (group.after / group.before - 1))
        changes.append(abs(group.relative or 0.0))
    assert mean.mean_change == pytest.approx(np.mean(changes))


def test_without_groups() -> None:
    found = compare_indicator(PAIR, "mean a")
    assert [group.label for group in found.groups] == ["all"]
    assert found.groups[0].before == pytest.approx(A.mean())
    unmasked = compare_indicator(PAIR, "total age")
    assert unmasked.groups[0].change == 0.0


def test_labels_only_if_they_are_handed_over() -> None:
    labels = {"region": ["north", "east", "south", "west"]}
    found = compare_indicator(PAIR, "mean a by region", {"region": REGION}, labels=labels)
    assert [group.label for group in found.groups] == labels["region"]
    found = compare_indicator(PAIR, "mean a by illness", {"region": REGION}, labels=labels)
    assert [group.label for group in found.groups] == ["0", "1"]


def test_small_groups_show_no_numbers() -> None:
    region = REGION.copy()
    region[:2] = 7
    found = compare_indicator(PAIR, "mean a by region", {"region": region})
    assert [group.label for group in found.groups] == ["0", "1", "2", "3", "7"]
    last = found.groups[-1]
    assert (last.records, last.before, last.after, last.change, last.relative) == (2, *[None] * 4)
    assert (found.hidden, found.fewest) == (1, 3)
    assert compare_indicator(replace(PAIR, k=80), "mean a by region", {"region": REGION}).hidden == 4


def test_missing_values_and_zeros() -> None:
    masked = PAIR.masked.copy()
    masked[:10, 0] = np.nan
    found = compare_indicator(replace(PAIR, masked=masked), "mean a")
    assert found.left_out == 10
    assert found.groups[0].before == pytest.approx(A[10:].mean())
    zero = replace(PAIR, original=PAIR.original * 0.0)
    group = compare_indicator(zero, "total a").groups[0]
    assert group.relative is None
    assert compare_indicator(zero, "total a").mean_change is None


def test_groups_that_are_not_known() -> None:
    with pytest.raises(SettingsError, match="did you mean region"):
        compare_indicator(PAIR, "mean a by regoin", {"region": REGION})
    with pytest.raises(SettingsError, match="the same before and after"):
        compare_indicator(PAIR, "mean y by a", {"a": REGION})
