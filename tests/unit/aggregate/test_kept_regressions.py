"""Linear regressions by statsmodels are the same of a release that keeps covariances as of its source."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import datasets
from tests.unit.aggregate.test_covariances import independent

api = pytest.importorskip("statsmodels.api", reason="statsmodels is missing: REGRESSIONS ARE NOT TESTED")

Array = np.ndarray[Any, Any]

DIGITS = {"tarragona": 1e-6, "census": 1e-5, "eia": 1e-3}
"""To which standardised coefficients agree with the decimals that are published by default."""


def source_of(name: str) -> pd.DataFrame:
    path = Path(os.environ.get("MICROAGG_DATA", ""), f"{name}.csv")
    if not path.is_file():
        pytest.skip(f"reference data {path.name} not found (set MICROAGG_DATA to its folder)")
    table = datasets.load(name)
    return pd.DataFrame(table.values, columns=list(table.columns))


def regressions(values: Array, unit: Array) -> list[Any]:
    """Of each column on all others, in standard deviations of the source."""
    scores = values / unit
    return [
        api.OLS(scores[:, at], api.add_constant(np.delete(scores, at, axis=1))).fit()
        for at in range(scores.shape[1])
    ]


@pytest.mark.parametrize("name", DIGITS)
@pytest.mark.parametrize("decimals", [None, 9])
def test_regressions_agree(name: str, decimals: int | None) -> None:
    source = source_of(name)
    release = microagg.protect(
        source,
        k=3,
        keys=list(source),
        aggregate="covariances",
        method="mdav",
        respondent="none",
        keep_order=True,
        decimals=None if decimals is None else dict.fromkeys(source, decimals),
    )
    chosen = independent(source.to_numpy())
    assert len(chosen) >= len(source.columns) - 1
    before, after = (each.to_numpy(dtype=float)[:, chosen] for each in (source, release.data[list(source)]))
    assert not np.array_equal(before, after)
    digits = DIGITS[name] if decimals is None else 1e-9
    unit = before.std(axis=0)
    for old, new in zip(regressions(before, unit), regressions(after, unit), strict=True):
        np.testing.assert_allclose(new.params[1:], old.params[1:], rtol=0.0, atol=digits)
        np.testing.assert_allclose(new.rsquared, old.rsquared, rtol=0.0, atol=digits)
        np.testing.assert_allclose(new.bse[1:], old.bse[1:], rtol=10.0 * digits)
