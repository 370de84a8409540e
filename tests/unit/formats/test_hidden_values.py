"""Nothing is released that no reader is shown: values under nulls, repeated, null and unused categories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import microagg
from microagg.formats.hidden_values import clear

N = 12
MASK = np.arange(N) % 3 == 0
SECRETS = 7_000_000 + np.arange(N)
SECRET_TEXTS = [f"secret{number}" for number in range(N)]


def bits(there: Any) -> Any:
    return pa.array(there).buffers()[1]


def under_nulls(values: Any) -> pa.Array[Any]:
    """The values, of which those at MASK are null but still in memory."""
    array = pa.array(values)
    return pa.Array.from_buffers(array.type, N, [bits(~MASK), *array.buffers()[1:]])


def memory_of(array: Any) -> bytes:
    return b"".join(bytes(buffer) for buffer in array.buffers() if buffer is not None)


def hidden(array: Any) -> list[bytes]:
    """What of the secrets that are null the memory of an array still has."""
    memory = memory_of(array)
    secrets = [SECRETS[at].tobytes() for at in np.flatnonzero(MASK)]
    secrets += [SECRET_TEXTS[at].encode() + b"secret" for at in np.flatnonzero(MASK)]
    return [secret for secret in secrets if secret in memory]


def nested() -> dict[str, pa.Array[Any]]:
    numbers, texts = pa.array(SECRETS), pa.array(SECRET_TEXTS)
    mask = pa.array(MASK)
    structures = pa.StructArray.from_arrays([numbers, texts], names=["amount", "text"], mask=mask)
    declared = [pa.field("amount", pa.int64(), nullable=False)]
    offsets = pa.array(range(N + 1), pa.int32())
    return {
        "numbers": under_nulls(SECRETS),
        "texts": under_nulls(SECRET_TEXTS),
        "structures": structures,
        "declared": pa.StructArray.from_arrays([numbers], fields=declared, mask=mask),
        "lists": pa.ListArray.from_arrays(offsets, numbers, mask=mask),
        "lists of structures": pa.ListArray.from_arrays(offsets, structures),
        "pairs": pa.FixedSizeListArray.from_arrays(numbers, 1, mask=mask),
        "maps": pa.MapArray.from_arrays(offsets, texts, numbers, mask=mask),
        "wide lists": pa.LargeListArray.from_arrays(offsets.cast(pa.int64()), numbers, mask=mask),
        "views": pa.ListViewArray.from_arrays(
            offsets[:-1], pa.array([1] * N, pa.int32()), numbers, mask=mask
        ),
        "in a structure": pa.StructArray.from_arrays([under_nulls(SECRETS)], names=["amount"]),
    }


@pytest.mark.parametrize("kind", list(nested()))
def test_values_under_nulls_are_cleared(kind: str) -> None:
    array = nested()[kind]
    assert hidden(array)
    for part in (array, array[1:], array[2:5], array[:0]):
        new = clear(part)
        new.validate(full=True)
        assert new.type == part.type
        assert new.to_pylist() == part.to_pylist()
        assert not hidden(new)


def table() -> pa.Table:
    """Two columns to mask, and columns that stay as they are and hide something."""
    return pa.table({"x": np.arange(N) * 1.5, "y": np.arange(N)[::-1] ** 2.0} | nested())


@pytest.mark.parametrize("ending", [".feather", ".parquet"])
def test_values_under_nulls_are_in_no_written_file(ending: str, tmp_path: Path) -> None:
    source = table() if ending == ".feather" else table().drop_columns(["views", "wide lists"])
    passed = source.column_names[2:]
    release = microagg.protect(
        source, 3, rest="pass", keys=["x", "y"], pass_=passed, effort="fast", keep_order=True
    )
    release.save(tmp_path / f"release{ending}")
    read = feather.read_table if ending == ".feather" else parquet.read_table
    written = read(tmp_path / f"release{ending}")
    for name in passed:
        assert written.column(name).to_pylist() == source.column(name).to_pylist()
        assert not hidden(written.column(name).combine_chunks())
        assert not hidden(release.data.column(name).combine_chunks())


def test_values_under_missing_ones_of_pandas_are_cleared() -> None:
    salary = pd.array(SECRETS.copy(), dtype="Int64")
    salary[MASK] = pd.NA
    assert salary._data[0] == SECRETS[0]
    ill = pd.array(np.ones(N, dtype=bool), dtype="boolean")
    ill[MASK] = pd.NA
    parts = nested()["lists of structures"]
    frame = pd.DataFrame(
        {
            "x": np.arange(N) * 1.5,
            "salary": salary,
            "ill": ill,
            "parts": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([parts]))),
            "text": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([nested()["texts"]]))),
        }
    )
    release = microagg.protect(
        frame, 3, rest="pass", keys=["x"], pass_=["salary", "ill", "parts", "text"], keep_order=True
    )
    pd.testing.assert_frame_equal(release.data.drop(columns="x"), frame.drop(columns="x"))
    assert not release.data["salary"].array._data[MASK].any()
    assert not release.data["ill"].array._data[MASK].any()
    for name in ("parts", "text"):
        assert not hidden(release.data[name].array.__arrow_array__().combine_chunks())


def test_values_under_nulls_of_polars_are_cleared() -> None:
    frame = pl.from_arrow(pa.table({"x": np.arange(N) * 1.5, "salary": under_nulls(SECRETS)}))
    release = microagg.protect(frame, 3, rest="pass", keys=["x"], pass_=["salary"], keep_order=True)
    assert release.data["salary"].equals(frame["salary"])  # type: ignore[call-overload]
    assert not hidden(release.data["salary"].to_arrow())


def as_upper(values: list[str | None]) -> pa.DictionaryArray:
    """A dictionary in which values repeat, as changing one in place makes it."""
    array: Any = pa.array(values).dictionary_encode()
    from pyarrow import compute

    return pa.DictionaryArray.from_arrays(array.indices, compute.utf8_upper(array.dictionary))


def test_a_value_twice_in_a_dictionary_has_one_code_in_the_file(tmp_path: Path) -> None:
    region = as_upper(["a", "A", "b"] * 4)
    assert len(region.dictionary) == 3
    source = pa.table({"x": np.arange(N) * 1.0, "region": region})
    release = microagg.protect(source, 3, rest="pass", keys=["x"], strata=["region"])
    release.save(tmp_path / "release.feather")
    for found in (release.data, feather.read_table(tmp_path / "release.feather")):
        column = found.column("region").combine_chunks()
        assert column.type == region.type
        assert column.to_pylist() == region.take(pa.array(release.rows)).to_pylist()
        assert column.dictionary.to_pylist() == ["A", "B"]
        codes = np.stack([column.indices.to_numpy(), found.column("x").to_numpy()])
        _, sizes = np.unique(codes, axis=1, return_counts=True)
        assert sizes.min() >= 3


def test_a_null_in_a_dictionary_is_a_null_like_others(tmp_path: Path) -> None:
    codes = pa.array([0, 1, None, 2] * 3, pa.int8())
    region = pa.DictionaryArray.from_arrays(codes, pa.array(["A", None, "B"]))
    source = pa.table({"x": np.arange(N) * 1.0, "region": region})
    release = microagg.protect(source, 3, rest="pass", keys=["x"], strata=["region"])
    release.save(tmp_path / "release.feather")
    for found in (release.data, feather.read_table(tmp_path / "release.feather")):
        column = found.column("region").combine_chunks()
        assert column.dictionary.to_pylist() == ["A", "B"]
        assert column.indices.null_count == 6


def test_categories_that_no_record_has_are_not_released(tmp_path: Path) -> None:
    regions = pd.Categorical(["a"] * 6 + ["b"] * 5 + ["lone"], categories=["unused", "a", "b", "lone"])
    frame = pd.DataFrame({"x": np.arange(N) * 1.0, "region": regions})
    release = microagg.protect(
        frame, 3, rest="pass", keys=["x"], strata=["region"], small_strata="suppress"
    )
    assert list(release.data["region"].cat.categories) == ["a", "b"]
    release.save(tmp_path / "release.feather")
    content = (tmp_path / "release.feather").read_bytes()
    assert b"lone" not in content
    assert b"unused" not in content


def test_a_file_in_which_a_value_has_two_codes_is_refused() -> None:
    from microagg.model import Claims
    from microagg.verify import check_written, verify

    region = as_upper(["a", "A", "b"] * 4)
    source = pa.table({"x": [1.0] * N, "region": region.cast(pa.string())})
    claims = Claims(k=3, subsets=(("x",),), strata=("region",))
    verdict = verify(source, source, np.arange(N), claims)
    check_written(source, source, verdict, claims)
    with pytest.raises(microagg.UnsafeRelease, match="categories of column 'region'"):
        check_written(source, source.set_column(1, "region", region), verdict, claims)
