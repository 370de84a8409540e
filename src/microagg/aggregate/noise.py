"""Noise added to confidential numbers. It hides values, but gives no k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microagg import wording
from microagg.model import Doubles
from microagg.secret_key import SecretKey

LARGEST_WITH_NOISE = 1e300
"""Beyond this size, noise might make values infinite."""


def with_noise(
    values: Doubles, columns: Sequence[str], share: float, correlated: bool, key: SecretKey
) -> Doubles:
    """Normal noise, whose standard deviation is this share of each column's, added to every number that is
    not missing (NaN).

    Uncorrelated: independent for each column; variances grow by the factor 1 + share². Correlated: with the
    columns' own covariances, then drawn together towards the means by √(1 + share²), so that means and
    covariances are kept in expectation.

    The noise comes from the key alone: who could compute it from a seed could subtract it.
    """
    for column, of_column in zip(columns, values.T, strict=True):
        if len(np.unique(of_column[~np.isnan(of_column)])) < 2:
            raise wording.noise_needs_spread(column)
        if np.nanmax(np.abs(of_column)) > LARGEST_WITH_NOISE:
            raise wording.too_large_for_noise(column, LARGEST_WITH_NOISE)
    size = np.nanmax(np.abs(values), axis=0)  # squares of large values could overflow
    means: Doubles = np.nanmean(values / size, axis=0) * size
    spread: Doubles = np.nanstd(values / size, axis=0) * size
    drawn = key.standard_normal("noise", values.shape)
    if not correlated:
        return values + share * spread * drawn
    centred = (values - means) / spread
    # The symmetric root exists where columns are linear functions of each other, too.
    eigenvalues, vectors = np.linalg.eigh(_correlations_of(centred))
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
    moved: Doubles = means + spread * (centred + share * (drawn @ root)) / np.sqrt(1.0 + share**2)
    return moved


def _correlations_of(values: Doubles) -> Doubles:
    """Of the records that have all values; a column that is constant there is correlated with none."""
    complete = values[~np.isnan(values).any(axis=1)]
    found: Doubles = np.eye(values.shape[1])
    varying = np.flatnonzero((complete != complete[:1]).any(axis=0))
    if len(varying) > 1:
        found[np.ix_(varying, varying)] = np.corrcoef(complete[:, varying], rowvar=False)
    return found
