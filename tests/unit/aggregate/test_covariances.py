"""Numbers that keep the means and covariances of the source."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import datasets
from microagg.aggregate.covariances import keeping_covariances
from microagg.aggregate.groups import values_by_group
from microagg.errors import DataError, SettingsError, UnsafeRelease
from microagg.wording import message_of
from tests.oracles.covariances import moved

Array = np.ndarray[Any, Any]


def published(values: Array, labels: Array, weights: Array | None = None) -> Array:
    values = np.ascontiguousarray(values)
    means = values_by_group(values, labels.astype(np.int32), "mean", weights)
    shares = np.bincount(labels, weights).astype(float)
    return np.asarray(keeping_covariances(values, weights, means, shares)[labels])


def relative_error(before: Array, after: Array, weights: Array | None = None) -> float:
    """The largest error of a covariance in units of standard deviations."""
    old, new = (np.atleast_2d(np.cov(each.T, aweights=weights, ddof=0)) for each in (before, after))
    spread = np.sqrt(np.diag(old))
    spread[spread == 0.0] = 1.0
    return float((np.abs(new - old) / np.multiply.outer(spread, spread)).max())


def records(seed: int, n: int = 60, columns: int = 3) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    values = random.lognormal(size=(n, columns)) @ random.normal(size=(columns, columns)) + 50.0
    return values, np.argsort(np.argsort(values[:, 0])) // 5


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_as_the_formula(columns: int) -> None:
    for seed in range(10):
        values, labels = records(seed, columns=columns)
        weights = (
            None if seed % 2 else np.random.default_rng(seed).integers(1, 9, len(values)).astype(float)
        )
        found = published(values, labels, weights)
        np.testing.assert_allclose(found, moved(values, labels, weights), rtol=1e-7, atol=1e-8)
        assert relative_error(values, found, weights) < 1e-12
        np.testing.assert_allclose(
            np.average(found, axis=0, weights=weights), np.average(values, axis=0, weights=weights)
        )


def test_offsets_and_sizes_cost_no_digits() -> None:
    values, labels = records(1)
    plain = published(values, labels)
    for factor, offset in ((1e300, 0.0), (1e-290, 0.0), (1.0, 1e9)):
        found = published(values * factor + offset, labels)
        np.testing.assert_allclose((found - offset) / factor, plain, rtol=1e-6)


def test_constant_and_collinear_columns_stay_so() -> None:
    values, labels = records(2)
    values = np.column_stack([values, values[:, 0] - 2.0 * values[:, 1], np.full(len(values), 7.0)])
    found = published(values, labels)
    assert (found[:, 4] == 7.0).all()
    np.testing.assert_allclose(found[:, 3], found[:, 0] - 2.0 * found[:, 1], rtol=1e-9)
    assert relative_error(values, found) < 1e-12
    np.testing.assert_allclose(found[:, :3], published(values[:, :3], labels), rtol=0.5)
    assert np.array_equal(published(values[:, 4:], labels), values[:, 4:])


def test_too_few_groups_are_refused() -> None:
    values, _ = records(3)
    with pytest.raises(SettingsError) as caught:
        published(values, np.arange(60) // 20)
    assert message_of(caught.value).kind == "too_few_groups_for_covariances"
    # Groups along a line, though the records lie in a plane.
    line = np.column_stack([np.repeat(np.arange(12.0), 5), np.tile([-2.0, -1.0, 0.0, 1.0, 2.0], 12)])
    with pytest.raises(SettingsError) as caught:
        published(line, np.arange(60) // 5)
    assert message_of(caught.value).kind == "too_few_groups_for_covariances"


# --- releases -----------------------------------------------------------------------------------


def frame(n: int = 400, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    size = random.lognormal(size=n)
    return pd.DataFrame(
        {
            "pay": (1000.0 * size + 100.0 * random.normal(size=n)).round(2),
            "hours": (30.0 + 4.0 * random.normal(size=n) + size).round(1),
            "staff": random.poisson(5.0 * size),
            "trade": random.choice(list("abc"), n),
            "region": random.choice(list("NS"), n),
            "weight": random.integers(1, 6, n).astype(float),
        }
    )


def protected(data: pd.DataFrame, **given: Any) -> Any:
    settings = {"k": 4, "keys": ["pay", "hours", "staff"], "respondent": "none", "rest": "pass"}
    settings |= {"aggregate": "covariances", "method": "mdav", "keep_order": True, "seed": 1}
    return microagg.protect(data, **(settings | given))


NUMBERS = ["pay", "hours", "staff"]


def test_a_release_keeps_covariances_but_for_rounding() -> None:
    data = frame()
    for given in ({}, {"keys": ["trade", *NUMBERS]}, {"strata": "region"}, {"decimals": {"pay": 9}}):
        release = protected(data, **given)
        assert relative_error(data[NUMBERS].to_numpy(), release.data[NUMBERS].to_numpy()) < 1e-4
        assert {"covariances_kept", "outside_range"} <= {each.rule for each in release.verdict.notes}
    plain = protected(data, aggregate="mean")
    assert release.information_loss > plain.information_loss
    assert set(release.losses.columns) == set(NUMBERS)


def test_a_release_with_weights() -> None:
    data = frame()
    release = protected(data, weight="weight", accept="dominated")
    before, after = data[NUMBERS].to_numpy(), release.data[NUMBERS].to_numpy()
    assert relative_error(before, after, data["weight"].to_numpy()) < 1e-4
    assert relative_error(before, after) > 1e-3


def test_each_subset_has_its_own_map() -> None:
    data = frame()
    release = protected(data, keys=[["pay", "hours"], ["staff"]], accept="partial")
    before, after = data[NUMBERS].to_numpy(), release.data[NUMBERS].to_numpy()
    assert relative_error(before[:, :2], after[:, :2]) < 1e-4
    assert relative_error(before[:, 2:], after[:, 2:]) < 1e-3
    assert relative_error(before, after) > 1e-3


def test_the_loss_is_that_of_what_is_published() -> None:
    data = frame()
    release = protected(data, decimals=dict.fromkeys(NUMBERS, 9))
    before, after = data[NUMBERS].to_numpy(dtype=float), release.data[NUMBERS].to_numpy()
    expected = 100.0 * (((after - before) / before.std(axis=0)) ** 2).mean()
    assert release.information_loss == pytest.approx(expected, rel=1e-6)


def test_whole_numbers_keep_covariances_as_nearly_as_rounding_allows() -> None:
    data = frame()
    release = protected(data, decimals={"staff": 0, "pay": 0})
    before, after = data[NUMBERS].to_numpy(dtype=float), release.data[NUMBERS].to_numpy()
    assert (after[:, 2] == after[:, 2].round()).all()
    assert relative_error(before, after) < 0.05


def test_clipped_values_stay_in_the_range_and_what_that_costs_is_told() -> None:
    data = frame()
    release = protected(data, clip=True)
    for name in NUMBERS:
        assert release.data[name].between(data[name].min(), data[name].max()).all()
    (found,) = [each for each in release.verdict.notes if each.rule == "clipped"]
    counts = {each.rule: each for each in protected(data).verdict.notes}["outside_range"]
    assert found.figures["records"]["staff"] >= counts.figures["records"]["staff"] > 0
    assert 0.0 < found.figures["mean"] < 0.1
    assert "covariances_kept" not in {each.rule for each in release.verdict.notes}


def test_clipping_to_an_end_that_few_have_is_to_be_decided() -> None:
    data = frame()
    data["staff"] += np.random.default_rng(0).uniform(0.0, 0.1, len(data)).round(6)
    with pytest.raises(UnsafeRelease) as caught:
        protected(data, clip=True)
    assert [each.rule for each in caught.value.findings] == ["real_values"]
    release = protected(data, clip=True, accept="real-values")
    assert [each.rule for each in release.verdict.accepted] == ["real_values"]


@pytest.mark.parametrize(
    ("changed", "error", "kind"),
    [
        ({"data": frame(29)}, SettingsError, "too_few_for_covariances"),
        ({"data": frame(30), "k": 12}, SettingsError, "too_few_groups_for_covariances"),
        ({"keys": ["trade", "region"]}, SettingsError, "covariances_without_numbers"),
        ({"aggregate": "mean", "clip": True}, SettingsError, "option_without_effect"),
    ],
)
def test_refusals(changed: dict[str, Any], error: type[Exception], kind: str) -> None:
    given = dict(changed)
    with pytest.raises(error) as caught:
        protected(given.pop("data", frame()), **given)
    assert message_of(caught.value).kind == kind


def test_missing_numbers_are_refused_with_the_reason() -> None:
    data = frame()
    data.loc[[3, 5, 7, 9, 11], "hours"] = np.nan
    with pytest.raises(DataError) as caught:
        protected(data, missing="by-pattern")
    assert message_of(caught.value).kind == "covariances_with_gaps"
    data["trade"] = data["trade"].where(data["trade"] != "a")
    protected(data, keys=["pay", "staff", "trade"], missing="by-pattern", drop="hours")


def test_few_records_for_each_statistic_are_told() -> None:
    def rules(n: int) -> set[str]:
        return {each.rule for each in protected(frame(n)).verdict.notes}

    assert "covariances_of_few" in rules(119)
    assert "covariances_of_few" not in rules(120)


# --- the reference sets -------------------------------------------------------------------------


LOSSES = {
    ("tarragona", 3): 16.81,
    ("tarragona", 5): 24.08,
    ("tarragona", 10): 38.66,
    ("census", 3): 4.91,
    ("census", 5): 7.71,
    ("census", 10): 12.35,
    ("eia", 3): 0.352,
    ("eia", 5): 0.740,
    ("eia", 10): 1.982,
}
"""In percent, rounded: what a prototype of the same map lost."""

LONG = [("census", 5), ("eia", 3), ("eia", 5)]
"""Those that the search reaches with effort="best"."""

DIGITS = {"tarragona": 1e-6, "census": 1e-6, "eia": 1e-3}
"""To which standardised coefficients of regressions agree."""


def reference(name: str, k: int, effort: Any) -> tuple[Array, Array, float]:
    """Values, what is published, and the loss in percent."""
    path = Path(os.environ.get("MICROAGG_DATA", ""), f"{name}.csv")
    if not path.is_file():
        pytest.skip(f"reference data {path.name} not found (set MICROAGG_DATA to its folder)")
    table = datasets.load(name)
    values = table.values
    new = published(values, microagg.partition(table, k=k, seed=0, effort=effort).labels)
    return values, new, 100.0 * float((((new - values) / values.std(axis=0)) ** 2).mean())


@pytest.mark.parametrize(("name", "k"), LOSSES)
def test_reference_sets(name: str, k: int) -> None:
    values, new, loss = reference(name, k, "balanced")
    assert relative_error(values, new) < 1e-9
    if (name, k) not in LONG:
        assert rounded(name, loss) <= LOSSES[name, k]
    independent = _independent(values)
    for target in independent[:3]:
        others = [at for at in independent if at != target]
        before, after = (_coefficients(each[:, others], each[:, target]) for each in (values, new))
        np.testing.assert_allclose(after, before, rtol=0.0, atol=DIGITS[name])


@pytest.mark.long
@pytest.mark.parametrize(("name", "k"), LONG)
def test_reference_sets_with_more_effort(name: str, k: int) -> None:
    assert rounded(name, reference(name, k, "best")[2]) <= LOSSES[name, k]


def rounded(name: str, loss: float) -> float:
    """To the digits of `LOSSES`."""
    return round(loss, 3 if name == "eia" else 2)


def _independent(values: Array) -> list[int]:
    """Columns none of which follows from those before it."""
    scores = (values - values.mean(axis=0)) / values.std(axis=0)
    chosen: list[int] = []
    for at in range(values.shape[1]):
        if np.linalg.matrix_rank(scores[:, [*chosen, at]], tol=1e-6 * len(scores) ** 0.5) > len(chosen):
            chosen.append(at)
    return chosen


def _coefficients(given: Array, target: Array) -> Array:
    """Standardised coefficients of least squares with an intercept."""
    spread = given.std(axis=0)
    scores = (given - given.mean(axis=0)) / spread
    design = np.column_stack([np.ones(len(given)), scores])
    return np.asarray(np.linalg.lstsq(design, (target - target.mean()) / target.std(), rcond=None)[0][1:])
