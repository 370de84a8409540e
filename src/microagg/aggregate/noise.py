"""Noise added to confidential numbers. It hides values, but gives no k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microagg import errors

Doubles = NDArray[np.float64]


def with_noise(values: Doubles, columns: Sequence[str], share: float, correlated: bool) -> Doubles:
    """Normal noise, whose standard deviation is this share of each column's, added to every number that is
    not missing (NaN).

    Uncorrelated: independent for each column; variances grow by the factor 1 + share². Correlated: with the
    columns' own covariances, then drawn together towards the means by √(1 + share²), so that means and
    covariances are kept in expectation.

    The noise comes from the operating system's entropy and from nothing that is recorded: who knew a seed
    could subtract it.
    """
    random = np.random.default_rng()  # seeded by the operating system
    means: Doubles = np.nanmean(values, axis=0)
    spread: Doubles = np.nanstd(values, axis=0)
    for column, deviation in zip(columns, spread, strict=True):
        if not deviation > 0.0:
            raise errors.noise_needs_spread(column)
    drawn = random.standard_normal(values.shape)
    if not correlated:
        return values + share * spread * drawn
    centred = (values - means) / spread
    complete = centred[~np.isnan(centred).any(axis=1)]
    correlations = complete.T @ complete / max(len(complete), 1)
    # The symmetric root exists where columns are linear functions of each other, too.
    eigenvalues, vectors = np.linalg.eigh(correlations)
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
    moved: Doubles = means + spread * (centred + share * (drawn @ root)) / np.sqrt(1.0 + share**2)
    return moved
