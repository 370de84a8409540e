"""Dates as numbers, and back."""

import numpy as np
import pyarrow as pa
import pytest

from microagg.prepare.dates import SECONDS, DateFormat


@pytest.mark.parametrize("resolution", ["day", "month", "year"])
def test_a_mean_just_before_a_border_is_at_it(resolution: str) -> None:
    first = np.datetime64("2026-01-01", "s").astype(np.float64)
    border = first - SECONDS["day"] / 2 if resolution == "day" else first
    dates = DateFormat(pa.date32(), "", resolution)
    at, before = dates.rounded(np.array([border, border - SECONDS["minute"]]))
    assert dates.rounded(np.nextafter([border], 0.0))[0] == at == first > before
