"""Bytes that are no UTF-8 in a column of text are an error of the data, in every format and command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import microagg
from microagg.errors import DataError
from tests.e2e.fork_server import outcome
from tests.e2e.protecting import refused

N = 12


def bad_text(kind: Any) -> pa.Array[Any]:
    wide = pa.large_binary() if kind == pa.large_string() else pa.binary()
    return pa.Array.from_buffers(kind, N, pa.array([b"good", b"\xff\xfebad", None] * 4, wide).buffers())


def bad_columns() -> dict[str, pa.Array[Any]]:
    texts = bad_text(pa.string())
    return {
        "text": texts,
        "large text": bad_text(pa.large_string()),
        "categories": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 6), texts[:2]),
        "structures": pa.StructArray.from_arrays([texts], names=["inner"]),
        "lists": pa.ListArray.from_arrays(pa.array(range(N + 1), pa.int32()), texts),
    }


@pytest.mark.parametrize("kind", list(bad_columns()))
@pytest.mark.parametrize("role", ["strata", "pass_", "confidential", "keys"])
def test_invalid_utf_8_is_refused_from_python(kind: str, role: str) -> None:
    source = pa.table({"x": [float(number) for number in range(N)], "bad": bad_columns()[kind]})
    roles: dict[str, Any] = {"keys": ["x"]} if role != "keys" else {}
    with pytest.raises(DataError, match="Column 'bad' is declared as text, but some of its bytes are not"):
        microagg.protect(source, 3, **roles, **{role: ["bad"]})


def test_invalid_utf_8_in_pandas_is_refused() -> None:
    bad = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([bad_text(pa.string())])))
    frame = pd.DataFrame({"x": [float(number) for number in range(N)], "bad": bad})
    with pytest.raises(DataError, match=r"'bad'.*not valid UTF-8"):
        microagg.protect(frame, 3, rest="pass", keys="x", pass_="bad")


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_invalid_utf_8_in_a_file_is_refused(ending: str, tmp_path: Path) -> None:
    table = pa.table({"x": [float(number) for number in range(N)], "bad": bad_text(pa.string())})
    path = tmp_path / f"data.{ending}"
    (parquet.write_table if ending == "parquet" else feather.write_feather)(table, str(path))
    for output in ("csv", "parquet", "xlsx", "dta", "sav"):
        message = refused(2, tmp_path, path, "-k", 3, "--keys", "x", "--pass", "bad", "-o", f"out.{output}")
        assert "Column 'bad'" in message
        assert "convert" in message


@pytest.mark.parametrize(
    "words", [["plan", "FILE"], ["partition", "FILE", "-k", "3"], ["compare", "FILE", "--keys", "x"]]
)
def test_invalid_utf_8_is_refused_by_every_command(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    table = pa.table({"x": [float(number) for number in range(N)], "bad": bad_text(pa.string())})
    parquet.write_table(table, path)
    done = outcome(*(path if word == "FILE" else word for word in words), folder=tmp_path)
    assert done.returncode == 2
    assert "Column 'bad'" in done.stderr
