"""Conversions between Arrow and NumPy give what PyArrow's own give, and import no pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from microagg.arrow_values import from_numbers, from_numpy, from_texts, scalar, to_numpy

NUMBERS = [pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("kind", [*NUMBERS, pa.float16()], ids=str)
@pytest.mark.parametrize("values", [[], [1, 2, 3], [1, None, 3], [None, None]], ids=str)
def test_numbers_as_numpy(kind, values):
    whole = pa.array([None if value is None else np.float16(value) for value in values], pa.float16())
    column = whole if kind == pa.float16() else pa.array(values, kind)
    for array in (column, column[1:], pa.chunked_array([column, column[:1]])):
        expected = np.asarray(array)
        assert to_numpy(array).dtype == expected.dtype
        np.testing.assert_array_equal(to_numpy(array), expected)


def test_bools_as_numpy_from_any_offset():
    array = pa.array(np.arange(40) % 3 == 0)
    for first in range(20):
        np.testing.assert_array_equal(to_numpy(array[first:]), np.arange(first, 40) % 3 == 0)
    assert to_numpy(pa.array([True, None])).tolist() == [True, None]


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8", "?"])
def test_arrow_from_numpy(dtype):
    values = np.arange(24).astype(dtype)[::2]
    mask = np.arange(12) % 4 == 1
    assert from_numpy(values).equals(pa.array(values))
    assert from_numpy(values, mask=mask).equals(pa.array(values, mask=mask))
    assert from_numpy(values, pa.int64()).equals(pa.array(values.astype(np.int64)))


def test_nan_becomes_null_only_where_asked_for():
    values = np.array([1.0, np.nan, -0.0])
    assert from_numbers(values).equals(pa.array(values, from_pandas=True))
    assert from_numpy(values).null_count == 0


@pytest.mark.parametrize("texts", [[], [""], ["a", None, "ü", "", "日本"], [None]], ids=str)
def test_texts(texts):
    assert from_texts(texts).equals(pa.array(texts, pa.large_string()))
    from_texts(texts).validate(full=True)


def test_unpaired_surrogates_are_refused():
    with pytest.raises(UnicodeEncodeError):
        from_texts(["\ud800"])


@pytest.mark.parametrize(
    ("value", "kind"),
    [(None, pa.float64()), ("x", pa.string()), ("", pa.binary()), (3, pa.int8()), (True, pa.bool_())],
    ids=str,
)
def test_scalars(value, kind):
    assert scalar(value, kind).equals(pa.scalar(value, kind))


WITHOUT_PANDAS = """
import sys
import microagg
from pyarrow import csv

settings = dict(keys=["age", "income"], strata="region", pass_="sector", missing="by-pattern")
settings["confidential"] = "illness"
release = microagg.protect("people.csv", 3, missing_codes={"age": [99, "."]}, **settings)
release.save("released.csv")
table = csv.read_csv("people.csv")
microagg.protect(table, 3, **settings).data
microagg.partition(table.select(["income"]), 3)
print("pandas" in sys.modules)
"""


def test_files_and_arrow_tables_are_protected_without_pandas(tmp_path):
    rows = (
        f"{'' if at == 5 else 20 + at % 37},{1000 + 3.5 * at},{'AB'[at % 2]},"
        f"{'pqrs'[at % 4]}{at % 3},{at % 5}"
        for at in range(60)
    )
    (tmp_path / "people.csv").write_text("age,income,region,illness,sector\n" + "\n".join(rows) + "\n")
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.stderr == ""
    assert run.stdout == "False\n"
