"""CMP98's measures against the oracle, and where they are easy to know."""

from __future__ import annotations

import numpy as np
import pytest

import microagg
from microagg.measure import loss
from tests.oracles import cmp98_measures

RNG = np.random.default_rng(5)
ORIGINAL = RNG.normal(size=(200, 4)) @ RNG.normal(size=(4, 4)) * [1.0, 10.0, 0.1, 5.0] + 3.0
MASKED = microagg.partition(ORIGINAL, 5, "mdav").aggregate(ORIGINAL)
MEASURES = {
    "average_sd": loss.mean_deviation,
    "delta_r": loss.fpc_correlation_change,
    "delta_w": loss.fpc_weight_change,
    "fpc": loss.fpc_share,
    "mean_dr": loss.mean_correlation_change,
    "sd_dr": loss.correlation_change_deviation,
}


@pytest.mark.parametrize("name", MEASURES)
def test_against_the_oracle(name: str) -> None:
    expected = getattr(cmp98_measures.measures(ORIGINAL, MASKED), name)
    assert MEASURES[name](ORIGINAL, MASKED) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_units_do_not_matter(name: str) -> None:
    scaled = ORIGINAL * 1000.0 - 7.0, MASKED * 1000.0 - 7.0
    assert MEASURES[name](*scaled) == pytest.approx(MEASURES[name](ORIGINAL, MASKED), rel=1e-6)


def test_no_masking_no_loss() -> None:
    assert loss.mean_deviation(ORIGINAL, ORIGINAL) == pytest.approx(1.0)
    for measure in ("delta_r", "delta_w", "mean_dr", "sd_dr"):
        assert MEASURES[measure](ORIGINAL, ORIGINAL) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_constant_columns_and_one_column(name: str) -> None:
    constant = ORIGINAL.copy()
    constant[:, 1] = 4.0
    assert np.isfinite(MEASURES[name](constant, np.full_like(constant, 4.0)))
    assert np.isfinite(MEASURES[name](ORIGINAL[:, :1], MASKED[:, :1]))
