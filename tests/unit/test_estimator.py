"""The scikit-learn face: scikit-learn's own checks, and what it promises beyond them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import microagg
from microagg import Microaggregator, SettingsError

X = np.random.default_rng(6).normal(size=(60, 3)) * [1.0, 50.0, 0.01] + [0.0, 1000.0, 3.0]
KEEPS_ITS_GROUP = "a fitted record keeps the mean of its own group, which need not be the nearest"


def expected_failures(estimator: Microaggregator) -> dict[str, str]:
    return {
        "check_transformer_general": KEEPS_ITS_GROUP,
        "check_transformer_data_not_an_array": KEEPS_ITS_GROUP,
    }


@parametrize_with_checks([Microaggregator()], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator: Microaggregator, check: Any) -> None:
    check(estimator)


def test_fit_transform_is_the_release() -> None:
    estimator = Microaggregator(k=4, method="mdav")
    released = estimator.fit_transform(X)
    expected = microagg.partition(X, 4, "mdav")
    assert np.array_equal(released, expected.aggregate(X))
    assert np.array_equal(estimator.labels_, expected.labels)
    assert np.array_equal(estimator.fit_predict(X), expected.labels)
    assert estimator.information_loss_ == expected.information_loss
    assert estimator.recipe_ == "mdav"
    assert np.unique(released, axis=0, return_counts=True)[1].min() >= 4
    assert released.mean(axis=0) == pytest.approx(X.mean(axis=0), rel=1e-12)


@pytest.mark.parametrize("scale", ["zscore", "range", "robust", "rank", "none"])
def test_other_records_take_the_nearest_mean_in_the_units_of_the_fit(scale: Any) -> None:
    estimator = Microaggregator(k=3, scale=scale, method="mdav").fit(X)
    masked = estimator.transform(X)
    centres = {tuple(row) for row in estimator.cluster_centers_}
    assert {tuple(row) for row in masked} <= centres
    assert {tuple(row) for row in estimator.transform(X * 3.0 + 1.0)} <= centres
    if scale != "zscore":
        return
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    points, means = (X - mean) / deviation, (estimator.cluster_centers_ - mean) / deviation
    gaps = ((points[:, None, :] - means[None, :, :]) ** 2).sum(axis=2)
    assert np.array_equal(masked, estimator.cluster_centers_[gaps.argmin(axis=1)])


def test_a_constant_attribute_and_ranks_beyond_the_fit() -> None:
    values = np.column_stack([X, np.full(len(X), 7.0)])
    for scale in ("zscore", "rank"):
        estimator = Microaggregator(k=3, scale=scale, method="mdav").fit(values)
        assert (estimator.transform(values + 1e6)[:, 3] == 7.0).all()


def test_values_whose_range_overflows() -> None:
    values = np.column_stack([np.linspace(-1.0, 1.0, 30) * 1e308, np.arange(30.0)])
    estimator = Microaggregator(k=3, method="mdav").fit(values)
    assert len(np.unique(estimator.transform(values)[:, 0])) == len(estimator.cluster_centers_)


def test_frames_keep_their_names() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    estimator = Microaggregator(method="mdav").set_output(transform="pandas")
    released = estimator.fit_transform(frame)
    assert list(released.columns) == ["a", "b", "c"]
    assert list(estimator.get_feature_names_out()) == ["a", "b", "c"]


def test_pipeline_grid_clone_and_pickle() -> None:
    y = X[:, 1] * 2.0
    pipeline = make_pipeline(Microaggregator(method="mdav"), LinearRegression())
    search = GridSearchCV(pipeline, {"microaggregator__k": [2, 5]}, cv=3).fit(X, y)
    assert search.best_params_["microaggregator__k"] in (2, 5)
    fitted = Microaggregator(k=5, method="mdav").fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform(X), fitted.transform(X))
    assert clone(fitted).get_params() == fitted.get_params()


def test_a_pickle_holds_no_fitted_value() -> None:
    """But for ranks, which need them."""
    kept = pickle.dumps(Microaggregator(method="mdav").fit(X))
    assert not any(value.tobytes() in kept for value in X.ravel())


@pytest.mark.parametrize("settings", [{"k": 1}, {"k": 61}, {"method": "mdva"}, {"effort": "much"}])
def test_what_partition_refuses_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Microaggregator(**settings).fit(X)
