"""`Microaggregator`: microaggregation as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg import wording
from microagg.api.partition import partition
from microagg.methods.stage import Stage
from microagg.model import Doubles, Effort, ScaleName, Table
from microagg.prepare.units import to_points

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.neighbors import KDTree
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise wording.needs_extra("Microaggregator", "scikit-learn 1.6 or newer", "sklearn") from None


class Microaggregator(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Microaggregation as a transformer: each record becomes the mean of its group of at least k.

    The settings are those of `microagg.partition`. `fit_transform(X)` is the release of X: each combination
    of values in it is shared by at least k records.

    `transform(X)` gives other records the nearest of the means found in `fit`, so that no new value
    appears. These are k-anonymous only together with the fitted records, and what is released later can be
    compared with what was released before: for a file of its own, fit again. A fitted record, too, gets the
    nearest mean from `transform`, not always that of its own group: `fit(X).transform(X)` is not
    `fit_transform(X)`.

    A fitted estimator is internal: it knows who is in which group (`labels_`) and the units of the fit,
    from which the extremes (scale="range"), the median ("robust") or all values ("rank") can be had.

    labels_: the group of each fitted record; cluster_centers_: the groups' means, in the units of X;
    information_loss_: in percent; recipe_: the method that ran.
    """

    def __init__(
        self,
        k: int = 3,
        *,
        method: str | Stage = "auto",
        scale: ScaleName = "zscore",
        effort: Effort = "balanced",
        seconds: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.scale = scale
        self.effort = effort
        self.seconds = seconds
        self.seed = seed
        self.threads = threads

    def fit(self, X: ArrayLike, y: object = None) -> Microaggregator:  # noqa: N803 (scikit-learn's name)
        """Find the groups of X; y is not used."""
        values = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        columns = tuple(str(number) for number in range(1, values.shape[1] + 1))
        table = Table(columns, values)
        found = partition(
            table, self.k, self.method, scale=self.scale, effort=self.effort, seconds=self.seconds,
            seed=self.seed, threads=self.threads,
        )  # fmt: skip
        self.labels_ = found.labels
        self.information_loss_ = found.information_loss
        self.recipe_ = found.recipe
        first = np.unique(found.labels, return_index=True)[1]  # a member of each group
        self.cluster_centers_ = found.aggregate(table)[first]
        points = to_points(table, self.scale)
        unit = _Ranks if self.scale == "rank" else _Line
        self._units = [unit(x, u) for x, u in zip(values.T, points.T, strict=True)]
        sizes = np.bincount(found.labels)
        self._centroids = np.column_stack(
            [np.bincount(found.labels, weights=column) / sizes for column in points.T]
        )
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> Doubles:  # noqa: N803
        """The release of X: each record replaced by the mean of its group."""
        self.fit(X, y)
        released: Doubles = self.cluster_centers_[self.labels_]
        return released

    def fit_predict(self, X: ArrayLike, y: object = None) -> NDArray[np.int32]:  # noqa: N803
        """The group of each record of X."""
        return self.fit(X, y).labels_

    def transform(self, X: ArrayLike) -> Doubles:  # noqa: N803
        """The nearest group's mean for each record of X; read the class's warning."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        points = np.column_stack([unit(column) for unit, column in zip(self._units, values.T, strict=True)])
        nearest = KDTree(self._centroids).query(points, return_distance=False)[:, 0]
        masked: Doubles = self.cluster_centers_[nearest]
        return masked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class _Line:
    """The linear scale of one attribute, for values that were not there when it was fitted."""

    def __init__(self, values: Doubles, points: Doubles) -> None:
        low, high = values.argmin(), values.argmax()
        half = values[high] / 2.0 - values[low] / 2.0  # the whole might overflow
        self._slope = (points[high] - points[low]) / half / 2.0 if half > 0.0 else 0.0
        self._offset = points[low] - self._slope * values[low]

    def __call__(self, values: Doubles) -> Doubles:
        points: Doubles = self._offset + self._slope * values
        return points


class _Ranks:
    """Rank of a value among the fitted ones; interpolated between two of them."""

    def __init__(self, values: Doubles, points: Doubles) -> None:
        self._values, where = np.unique(values, return_index=True)
        self._points = points[where]

    def __call__(self, values: Doubles) -> Doubles:
        return np.interp(values, self._values, self._points)
