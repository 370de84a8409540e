"""Columns that are not masked leave Stata and SPSS files as they came: types, formats, measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import microagg

N = 12
KEYS = {"age": np.arange(N) * 1.5 + 20, "income": np.arange(N)[::-1] * 100.25}
WHOLE: dict[str, Any] = {
    "of_byte": np.arange(N, dtype=np.int8) % 3,
    "of_int": (np.arange(N, dtype=np.int16) % 3) * 1000,
    "of_long": (np.arange(N, dtype=np.int32) % 3) * 1_000_000,
    "large": np.array([2_147_483_620, -2_147_483_647, 5] * 4, dtype=np.int32),
    "labelled": np.arange(N, dtype=np.int32) % 3 + 1,
    "gaps": pd.array([1, None, 3] * 4, dtype="Int32"),
    "labelled_gaps": pd.array([1, None, 2] * 4, dtype="Int32"),
}
LABELS = {"labelled": {1: "north", 2: "south", 3: "east"}, "labelled_gaps": {1: "yes", 2: "no"}}


def released(path: Path, **words: Any) -> Path:
    out = path.with_name(f"out{path.suffix}")
    microagg.protect(path, 3, rest="pass", keys=list(KEYS), effort="fast", keep_order=True, **words).save(
        out
    )
    return out


@pytest.mark.parametrize("writer", ["pandas", "pyreadstat"])
def test_untouched_stata_integers_stay_integers(writer: str, tmp_path: Path) -> None:
    path = tmp_path / "data.dta"
    frame = pd.DataFrame(KEYS | WHOLE)
    if writer == "pandas":
        frame.to_stata(path, write_index=False, value_labels=LABELS)
        stored = pyreadstat.read_dta(path)[1].readstat_variable_types
        assert [stored[name] for name in ("of_byte", "of_int", "of_long")] == ["int8", "int16", "int32"]
    else:
        formats = {"of_byte": "%3.0f", "of_int": "%9.0gc", "large": "%15.0f"}
        pyreadstat.write_dta(frame, path, variable_value_labels=LABELS, variable_format=formats)
    before, about = pyreadstat.read_dta(path)
    after, now = pyreadstat.read_dta(released(path))
    pd.testing.assert_frame_equal(after[list(WHOLE)], before[list(WHOLE)])
    for name in WHOLE:
        assert now.readstat_variable_types[name].startswith("int"), name
        assert now.original_variable_types[name] == about.original_variable_types[name]
    assert now.variable_value_labels == about.variable_value_labels
    assert now.readstat_variable_types["age"] == "double"


def test_other_integers_become_stata_integers(tmp_path: Path) -> None:
    frame = pd.DataFrame(KEYS | {"small": np.arange(N) % 3, "wide": np.arange(N) % 3 + 2**40})
    microagg.protect(frame, 3, rest="pass", keys=list(KEYS), effort="fast", keep_order=True).save(
        tmp_path / "out.dta"
    )
    after, now = pyreadstat.read_dta(tmp_path / "out.dta")
    assert now.readstat_variable_types["small"] == "int32"
    assert now.readstat_variable_types["wide"] == "double"
    assert list(after["wide"]) == list(frame["wide"])


def test_spss_formats_and_measures_are_kept(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        KEYS | {
            "region": (np.arange(N) % 3).astype(float),
            "score": np.arange(N) % 4 * 0.25,
            "grade": (np.arange(N) % 2).astype(float),
            "gaps": np.where(np.arange(N) % 4 == 0, np.nan, 1.0),
            "city": ["Bern", "Graz", "Lund"] * 4,
            "day": pd.to_datetime(["2024-02-29"] * N),
        }
    )  # fmt: skip
    formats = {"region": "F2.0", "score": "COMMA9.2", "grade": "N4", "gaps": "F5.1", "age": "F8.1"}
    measures: dict[str, Any] = {
        "region": "nominal", "score": "scale", "grade": "ordinal", "age": "scale", "city": "nominal",
        "income": "ordinal",
    }  # fmt: skip
    path = tmp_path / "data.sav"
    pyreadstat.write_sav(
        frame, path, variable_format=formats, variable_measure=measures,
        variable_value_labels={"region": {0.0: "a", 1.0: "b", 2.0: "c"}}, missing_ranges={"grade": [9]},
        variable_display_width={"region": 12},
    )  # fmt: skip
    before, about = pyreadstat.read_sav(path, user_missing=True)
    after, now = pyreadstat.read_sav(released(path), user_missing=True)
    untouched = [name for name in frame.columns if name not in KEYS]
    pd.testing.assert_frame_equal(after[untouched], before[untouched])
    for name in untouched:
        assert now.original_variable_types[name] == about.original_variable_types[name], name
        assert now.variable_measure[name] == about.variable_measure[name], name
        assert now.readstat_variable_types[name] == about.readstat_variable_types[name], name
    assert now.variable_display_width["region"] == 12
    assert now.variable_value_labels == about.variable_value_labels
    assert now.missing_ranges == about.missing_ranges
    assert {now.variable_measure[name] for name in KEYS} == {"scale"}
