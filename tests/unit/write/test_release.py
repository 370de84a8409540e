"""Releases look like their source, are written whole or not at all, and never over another file."""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import platform
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import parquet

from microagg import read, write
from microagg.errors import DataError, OutputError, SettingsError
from microagg.formats import excel
from microagg.model import CsvFormat, Microdata, Origin, StatisticalLabels, Verified
from microagg.write import drafts
from microagg.write.run_record import software_versions
from tests.bad_files import leaks
from tests.campaigns import SAMPLE
from tests.refusals import refusal

FRAME = Origin("frame", "the data frame")


class Safe:
    safe = True


def verified(table: pa.Table, origin: Origin = FRAME) -> Verified:
    return Verified(Microdata(table, origin), Safe())


def release(table: pa.Table, path: Path, origin: Origin = FRAME, changed: tuple[str, ...] = ()) -> Path:
    with write.stage(verified(table, origin), path, changed) as staged:
        staged.commit()
    return path


def written(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- CSV ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "id,x\n007,1.50\n042,\n,NA\n",
        "a;b\n1,5;x\n2,5;y\n",
        "a\tb\n1.5\tx\n\t\n2\t y \n",
        'a,b\n"x, y","say ""no"""\n"two\nlines","\r\n"\n',
        "x\nü\n€\n",
        'only\n""\nx\n',
        "day,flag\n2020-01-31,true\n31.1.2020,0\n",
    ],
    ids=["zeros", "commas", "tabs", "quotes", "letters", "one column", "dates"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_what_is_not_masked_comes_out_as_it_was(tmp_path: Path, text: str, encoding: str) -> None:
    path = written(tmp_path, text.encode(encoding))
    microdata = read.microdata_from_file(path)
    out = release(microdata.table, tmp_path / "out.csv", microdata.origin)
    assert out.read_bytes().decode(encoding) == text
    if encoding.startswith("utf"):
        assert out.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([46.0, 8.0, -0.0], ["46", "8", "0"]),
        ([747.5, 756.67, 1 / 3], ["747.5", "756.67", "0.3333333333333333"]),
        ([1e15, 2.0**53 - 1, -123456789012.0], ["1000000000000000", "9007199254740991", "-123456789012"]),
        ([0.1 + 0.2, 1e-5, 1.0], ["0.30000000000000004", "0.00001", "1"]),
        ([None, float("nan"), 2.5], ["", "", "2.5"]),
    ],
)
@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_in_the_fewest_digits(
    tmp_path: Path, values: list[float | None], expected: list[str], decimal: str
) -> None:
    origin = replace(FRAME, csv=CsvFormat(";", "utf-8", decimal))
    table = pa.table({"x": pa.array(values, pa.float64()), "n": ["a", "b", "c"]})
    lines = release(table, tmp_path / "out.csv", origin).read_text().splitlines()
    assert lines == [
        "x;n",
        *(f"{number.replace('.', decimal)};{name}" for number, name in zip(expected, "abc", strict=True)),
    ]


def test_numbers_are_read_back_as_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**63, 200_000, dtype=np.uint64)
    values = np.concatenate(
        [bits.view(np.float64), rng.normal(size=1000), np.round(rng.normal(size=1000), 3)]
    )
    values = values[np.isfinite(values)]
    with write.stage(verified(pa.table({"x": values})), tmp_path / "out.csv") as staged:
        table = read.read_back(staged.readable, staged.origin)
        np.testing.assert_array_equal(read.numbers_of(Microdata(table, staged.origin), "x"), values)


def test_other_types_in_csv(tmp_path: Path) -> None:
    table = pa.table(
        {
            "day": pa.array([datetime.date(2020, 1, 31), None]),
            "moment": pa.array([datetime.datetime(2020, 1, 31, 1, 2, 3), None], pa.timestamp("s")),
            "flag": [True, None],
            "c": pa.array(["x,y", None]).dictionary_encode(),
            "n": pa.array([5, None], pa.int8()),
            "nothing": pa.nulls(2),
        }
    )
    out = release(table, tmp_path / "out.csv")
    assert out.read_text() == (
        'day,moment,flag,c,n,nothing\n2020-01-31,2020-01-31 01:02:03,true,"x,y",5,\n,,,,,\n'
    )


@pytest.mark.parametrize(
    ("source", "text", "output", "delimiter"),
    [
        ("in.csv", "a;b\n1,5;x\n", "out.csv", ";"),
        ("in.csv", "a;b\n1,5;x\n", "out.tsv", "\t"),
        ("in.tsv", "a\tb\n1.5\tx\n", "out.csv", ","),
        ("in.tsv", "a\tb\n1,5\tx\n", "out.csv", ";"),
        ("in.txt", "a\tb\n1.5\tx\n", "out.csv", "\t"),
    ],
)
def test_delimiters_of_other_endings(
    tmp_path: Path, source: str, text: str, output: str, delimiter: str
) -> None:
    microdata = read.microdata_from_file(written(tmp_path, text, source))
    out = release(microdata.table, tmp_path / output, microdata.origin)
    assert out.read_text().startswith(f"a{delimiter}b\n")
    assert read.microdata_from_file(out).table.equals(microdata.table)


def test_letters_that_the_encoding_lacks(tmp_path: Path) -> None:
    origin = replace(FRAME, csv=CsvFormat(",", "cp1252", "."))
    with refusal(DataError, "not_encodable", column="b", encoding="cp1252") as caught:
        release(pa.table({"a": ["x"], "b": ["Жанна"]}), tmp_path / "out.csv", origin)
    assert "Жанна" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_lists_cannot_be_written_to_csv(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Column 'a' holds values of type list"):
        release(pa.table({"a": [[1, 2]]}), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


# --- Parquet, Arrow, Excel ---------------------------------------------------------------------

TYPED = pa.table(
    {
        "id": pa.array(["007", None, "=1+1", "#N/A"], pa.large_string()),
        "income": [1.5, None, 3.25, 4.0],
        "flag": [True, None, False, True],
        "moment": pa.array([datetime.datetime(2020, 1, 31, 1, 2, 3)] * 3 + [None], pa.timestamp("us")),
    }
)


@pytest.mark.parametrize("name", ["out.parquet", "out.feather", "out.arrow", "out.xlsx", "OUT.PARQUET"])
def test_typed_files(tmp_path: Path, name: str) -> None:
    with write.stage(verified(TYPED), tmp_path / name) as staged:
        assert read.read_back(staged.readable, staged.origin, TYPED.schema).equals(TYPED)
        assert not list(tmp_path.iterdir())
        staged.commit()
    assert read.microdata_from_file(tmp_path / name).origin.digest == staged.digest


def test_categories_that_no_record_has_are_not_written(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays([2, 0, None, 2], ["low", "secret", "high"], ordered=True)
    out = release(pa.table({"c": column}), tmp_path / "out.arrow")
    read_column = read.microdata_from_file(out).table.column("c")
    assert read_column.to_pylist() == ["high", "low", None, "high"]
    assert read_column.chunk(0).dictionary.to_pylist() == ["low", "high"]
    assert b"secret" not in out.read_bytes()


def test_what_pandas_says_about_a_file_is_true_of_the_release(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"n": pd.array([1, 2, None], "Int64"), "m": pd.array([1, 2, 3], "Int64"), "d": [1, 2, 3]}
    )
    frame.index = pd.Index(["p", "q", "r"], name="who")
    frame.to_parquet(tmp_path / "in.parquet")
    microdata = read.microdata_from_file(tmp_path / "in.parquet")
    table = microdata.table.set_column(0, "n", pa.array([1.5, 1.5, None])).drop_columns(["d"])
    back = pd.read_parquet(release(table, tmp_path / "out.parquet", microdata.origin, ("n",)))
    assert back["n"].dtype == np.float64
    assert back["m"].dtype == "Int64"
    assert list(back.index) == ["p", "q", "r"]


def test_limits_of_excel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="more than 32,767 bytes"):
        release(pa.table({"a": ["x" * 40_000]}), tmp_path / "out.xlsx")
    with pytest.raises(DataError, match="do not fit"):
        release(pa.table({"a": ["\x00"]}), tmp_path / "out.xlsx")
    with pytest.raises(DataError, match="infinite"):
        release(pa.table({"a": [float("inf")]}), tmp_path / "out.xlsx")
    with pytest.raises(DataError, match="at most 16,384 columns; there are 17,000"):
        release(pa.table({f"c{at}": [1] for at in range(17_000)}), tmp_path / "out.xlsx")
    with pytest.raises(DataError, match="1 record has no value in any column"):
        release(pa.table({"a": [1.5, None, 2.5], "b": ["x", None, "y"]}), tmp_path / "out.xlsx")
    monkeypatch.setattr(excel, "MOST_ROWS", 4)
    with pytest.raises(DataError, match="at most 3 records; there are 4"):
        release(TYPED, tmp_path / "out.xlsx")
    assert not list(tmp_path.iterdir())


# --- statistical files -------------------------------------------------------------------------

SURVEY = pd.DataFrame(
    {
        "region": [1, 2, 9, 1],
        "income": [10, 20, 30, 40],
        "name": ["x", "", "yé", "z"],
        "day": [datetime.date(2020, 1, 31), None, datetime.date(1899, 1, 1), datetime.date(2020, 2, 29)],
        "clock": [datetime.time(1, 2, 3), None, datetime.time(0), datetime.time(23, 59, 59)],
        "weight": [1.5, np.nan, 99.0, 0.1],
    }
)
COLUMN_LABELS = {"region": "Where", "income": "How much", "day": "When"}


def write_survey(path: Path) -> Path:
    values = {"region": {1: "north", 2: "south"}, "income": {10: "ten"}}
    if path.suffix == ".dta":
        pyreadstat.write_dta(
            SURVEY,
            path,
            file_label="A survey",
            column_labels=COLUMN_LABELS,
            variable_value_labels=values,
            variable_format={"income": "%8.0f", "weight": "%9.2f"},
        )
    elif path.suffix == ".xpt":
        pyreadstat.write_xport(
            SURVEY,
            path,
            file_label="A survey",
            column_labels=COLUMN_LABELS,
            table_name="SURVEY",
            file_format_version=5,
            variable_format={"income": "F8"},
        )
    else:
        pyreadstat.write_sav(
            SURVEY,
            path,
            file_label="A survey",
            column_labels=COLUMN_LABELS,
            compress=path.suffix == ".zsav",
            note="Handle with care",
            variable_value_labels={**values, "name": {"x": "ex"}},
            missing_ranges={"region": [9], "weight": [{"lo": 90, "hi": 99}], "income": [25]},
            variable_measure={"region": "nominal", "income": "ordinal"},
            variable_display_width={"region": 12},
            variable_format={"income": "F8.0"},
        )
    return path


def test_excel_has_every_digit(tmp_path: Path) -> None:
    numbers = [0.1 + 0.2, 1 / 3, 0.10000000149011612, -1.7976931348623157e308, 5e-324, 1e22, 2.0**53, 0.5]
    path = release(pa.table({"a": numbers}), tmp_path / "out.xlsx")
    assert read.microdata_from_file(path).table["a"].to_pylist() == numbers


@pytest.mark.parametrize("ending", [".dta", ".sav", ".zsav", ".xpt"])
def test_statistical_files_that_nothing_was_done_to(tmp_path: Path, ending: str) -> None:
    source = read.microdata_from_file(write_survey(tmp_path / f"in{ending}"))
    out = read.microdata_from_file(release(source.table, tmp_path / f"out{ending}", source.origin))
    assert out.table.equals(source.table)
    assert source.origin.labels is not None
    assert out.origin.labels == replace(source.origin.labels, notes=())  # they may tell of respondents
    first_bytes = [(tmp_path / f"{name}{ending}").read_bytes()[:80] for name in ("in", "out")]
    assert first_bytes[0][:8] == first_bytes[1][:8]


@pytest.mark.parametrize("ending", [".dta", ".sav", ".zsav", ".xpt"])
def test_labels_of_masked_columns(tmp_path: Path, ending: str) -> None:
    source = read.microdata_from_file(write_survey(tmp_path / f"in{ending}"))
    masked = pa.array([25.0, 25.0, 35.125, 35.125])  # one of them is a code for missing values
    table = source.table.set_column(1, "income", masked)
    path = release(table, tmp_path / f"out{ending}", source.origin, ("income",))
    out = read.microdata_from_file(path)
    assert read.numbers_of(out, "income").tolist() == masked.to_pylist()
    assert out.table.drop_columns(["income"]).equals(source.table.drop_columns(["income"]))
    before, after = source.origin.labels, out.origin.labels
    assert before is not None
    assert after is not None
    assert after.column_labels == before.column_labels == COLUMN_LABELS
    assert "income" not in after.value_labels
    assert "income" not in after.missing_ranges
    assert after.formats["income"] == {".dta": "%12.0g", ".xpt": "BEST12"}.get(ending, "F8.3")
    for name in ("region", "name", "day", "clock", "weight"):
        assert after.value_labels.get(name) == before.value_labels.get(name)
        assert after.formats.get(name) == before.formats.get(name)
        assert after.missing_ranges.get(name) == before.missing_ranges.get(name)


def test_a_recoded_column_of_codes_becomes_text(tmp_path: Path) -> None:
    source = read.microdata_from_file(write_survey(tmp_path / "in.sav"))
    table = source.table.set_column(0, "region", pa.array(["1", "2+9", "2+9", "1"]))
    out = read.microdata_from_file(release(table, tmp_path / "out.sav", source.origin, ("region",)))
    assert out.table.column("region").to_pylist() == ["1", "2+9", "2+9", "1"]


@pytest.mark.parametrize("source", [".dta", ".sav", ".xpt"])
@pytest.mark.parametrize("ending", [".dta", ".sav", ".zsav", ".xpt", ".csv", ".parquet", ".xlsx"])
def test_from_one_format_to_another(tmp_path: Path, source: str, ending: str) -> None:
    microdata = read.microdata_from_file(write_survey(tmp_path / f"in{source}"))
    with write.stage(verified(microdata.table, microdata.origin), tmp_path / f"out{ending}") as staged:
        back = read.read_back(staged.readable, staged.origin, microdata.table.schema)
    assert back.column_names == microdata.table.column_names
    for name in back.column_names:
        if name == "clock" and ending == ".csv":
            continue  # Arrow reads no times of the day from text
        found, wanted = (table.column(name).to_pylist() for table in (back, microdata.table))
        assert [value or None for value in found] == [value or None for value in wanted], name


def test_the_extended_missing_values_of_stata_are_written_as_plain_ones(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, "c", 3], "b": [1.5, 2.5, np.nan]})
    labels = {"a": {1: "one", "c": "refused"}}
    path = tmp_path / "a.dta"
    pyreadstat.write_dta(frame, path, missing_user_values={"a": ["c"]}, variable_value_labels=labels)
    source = read.microdata_from_file(path)
    out = read.microdata_from_file(release(source.table, tmp_path / "out.dta", source.origin))
    assert out.table.to_pydict() == {"a": [1, None, 3], "b": [1.5, 2.5, None]}
    assert out.origin.labels is not None
    assert out.origin.labels.value_labels == {"a": {1: "one"}}


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        (".dta", "two words"),
        (".dta", "1st"),
        (".dta", "x" * 33),
        (".dta", "a-b"),
        (".sav", "two words"),
        (".sav", "_x"),
        (".sav", "x" * 65),
        (".xpt", "größe"),
        (".xpt", "x" * 33),
    ],
)
def test_names_that_a_format_does_not_take(tmp_path: Path, ending: str, name: str) -> None:
    with pytest.raises(DataError, match=f"cannot have the column name '{name}'; they take at most"):
        release(pa.table({"a": [1], name: [2]}), tmp_path / f"out{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("ending", "name"), [(".dta", "_all"), (".sav", "ALL")])
def test_reserved_names_are_refused_in_our_words(tmp_path: Path, ending: str, name: str) -> None:
    with pytest.raises(DataError, match="cannot be written as"):
        release(pa.table({name: [1.0]}), tmp_path / f"out{ending}")
    assert not list(tmp_path.iterdir())


def test_long_text(tmp_path: Path) -> None:
    table = pa.table({"a": ["x" * 40_000, "y"]})
    out = release(table, tmp_path / "out.dta")
    assert read.microdata_from_file(out).table.column("a").to_pylist() == table.column("a").to_pylist()
    for ending in (".sav", ".xpt"):
        with pytest.raises(DataError, match="Column 'a' has text of more than 32,767 bytes"):
            release(table, tmp_path / f"other{ending}")
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("ending", [".dta", ".sav", ".xpt"])
def test_whole_numbers_beyond_32_bits(tmp_path: Path, ending: str) -> None:
    values = [2**31 - 1, -(2**40), 2**53]
    out = release(pa.table({"a": values}), tmp_path / f"out{ending}")
    assert read.numbers_of(read.microdata_from_file(out), "a").tolist() == values


# --- outputs that are refused ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.sas7bdat", "out.por"])
def test_formats_that_are_only_read(tmp_path: Path, name: str) -> None:
    with refusal(SettingsError, "not_written") as caught:
        write.output_format(tmp_path / name, FRAME)
    assert ".sas7bdat," not in str(caught.value)


def test_output_formats() -> None:
    source = Origin("Stata", "in.dta")
    assert write.output_format(Path("out.CSV"), source) == "CSV"
    assert write.output_format(Path("out"), source) == "Stata"
    for name, origin in (("out.xyz", source), ("out", FRAME), ("out", Origin("SAS", "in.sas7bdat"))):
        with pytest.raises(SettingsError, match=r"\.csv"):
            write.output_format(Path(name), origin)


@pytest.mark.parametrize("link", ["same", "symbolic", "hard", "dots", "of the source"])
def test_the_source_is_no_output(tmp_path: Path, link: str) -> None:
    source = written(tmp_path, "a\n1\n")
    other = tmp_path / "other.csv"
    output = other
    if link == "same":
        output = source
    elif link == "dots":
        output = tmp_path / ".." / tmp_path.name / source.name
    elif link == "hard":
        os.link(source, other)
    elif link == "symbolic":
        other.symlink_to(source)
    else:
        other.symlink_to(source)
        source, output = other, source
    with pytest.raises(SettingsError, match="must not replace its source"):
        write.check_output(output, force=True, source=source)


def test_an_existing_output_needs_force(tmp_path: Path) -> None:
    path = written(tmp_path, "old", "out.csv")
    with pytest.raises(SettingsError, match="exists already"):
        write.check_output(path)
    write.check_output(path, force=True)
    dangling = tmp_path / "link.csv"
    dangling.symlink_to(tmp_path / "nothing")
    with pytest.raises(SettingsError, match="exists already"):
        write.check_output(dangling)


def test_a_folder_is_no_output_even_by_force(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(SettingsError, match="is a folder"):
        write.check_output(tmp_path / "out.csv", force=True)
    with write.stage(verified(TYPED), tmp_path / "out.csv") as staged, pytest.raises(SettingsError):
        staged.commit(force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    written(tmp_path, "x", "file")
    with pytest.raises(SettingsError, match="no folder"):
        write.check_output(tmp_path / "file" / "out.csv")


# --- whole or not at all -----------------------------------------------------------------------

ENDINGS = (".csv", ".parquet", ".arrow", ".xlsx", ".dta", ".sav", ".zsav", ".xpt")


@pytest.fixture(params=[True, False], ids=["unnamed", "named"])
def _drafts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts without a name, and those of file systems that have none."""
    if not request.param:
        monkeypatch.setattr(drafts, "_OPEN_FILES", Path("nowhere"))


@pytest.mark.usefixtures("_drafts")
@pytest.mark.parametrize("ending", ENDINGS)
class TestStaging:
    TABLE = pa.table({"a": [1.5, 2.5], "s": ["x", "y"]})

    def test_commit(self, tmp_path: Path, ending: str) -> None:
        path = tmp_path / f"out{ending}"
        with write.stage(verified(self.TABLE), path) as staged:
            assert not path.exists()
            back = read.read_back(staged.readable, staged.origin, self.TABLE.schema)
            assert back.column("a").to_pylist() == [1.5, 2.5]
            staged.commit()
            assert list(tmp_path.iterdir()) == [path] or staged.readable.exists()
        assert list(tmp_path.iterdir()) == [path]
        assert read.microdata_from_file(path).table.num_rows == 2

    @pytest.mark.parametrize("error", [None, KeyboardInterrupt, SystemExit, ZeroDivisionError])
    def test_without_commit_nothing_is_left(
        self, tmp_path: Path, ending: str, error: type[BaseException] | None
    ) -> None:
        with (
            contextlib.suppress(*([error] if error else [])),
            write.stage(verified(self.TABLE), tmp_path / f"out{ending}"),
        ):
            if error is not None:
                raise error
        assert not list(tmp_path.iterdir())

    def test_force_replaces_at_once(self, tmp_path: Path, ending: str) -> None:
        path = written(tmp_path, "old", f"out{ending}")
        with write.stage(verified(self.TABLE), path) as staged:
            with pytest.raises(SettingsError, match="exists already"):
                staged.commit()
            assert path.read_text() == "old"
            staged.commit(force=True)
        assert list(tmp_path.iterdir()) == [path]
        assert read.microdata_from_file(path).table.num_rows == 2

    def test_a_full_disk_at_the_last_moment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
    ) -> None:
        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with (
            pytest.raises(OutputError, match=r"was not written: No space left.*No partly written file"),
            write.stage(verified(self.TABLE), tmp_path / f"out{ending}"),
        ):
            pytest.fail("staged")
        assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_drafts")
@pytest.mark.parametrize(
    ("source", "mask", "expected"),
    [
        (0o600, 0o022, 0o600),
        (0o664, 0o022, 0o644),
        (0o640, 0o000, 0o640),
        (0o755, 0o022, 0o644),
        (None, 0o000, 0o644),
        (None, 0o077, 0o600),
    ],
)
def test_modes(tmp_path: Path, source: int | None, mask: int, expected: int) -> None:
    before = os.umask(mask)
    try:
        path = release(TYPED, tmp_path / "out.csv", replace(FRAME, mode=source))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == expected


def test_a_folder_that_cannot_be_synced_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def files_only(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", files_only)
    assert release(TYPED, tmp_path / "out.csv").exists()


def test_links_to_the_output_are_replaced_not_followed(tmp_path: Path) -> None:
    precious = written(tmp_path, "precious", "precious.csv")
    link = tmp_path / "out.csv"
    link.symlink_to(precious)
    with write.stage(verified(TYPED), link) as staged:
        staged.commit(force=True)
    assert precious.read_text() == "precious"
    assert not link.is_symlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(["mount", *options], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount, so no small disk to fill")
    if done.returncode:
        pytest.skip("only the administrator can mount a small disk to fill")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk(small_disk: Path, ending: str) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({f"c{at}": rng.normal(size=5_000) for at in range(5)})
    with (
        pytest.raises(OutputError, match=r"was not written: .*(No space left|disk may be full)"),
        write.stage(verified(table), small_disk / f"out{ending}"),
    ):
        pytest.fail("staged")
    assert not list(small_disk.iterdir())


def test_a_full_disk_keeps_what_was_there(small_disk: Path) -> None:
    path = written(small_disk, "old", "out.csv")
    table = pa.table({"x": np.random.default_rng(1).normal(size=20_000)})
    with pytest.raises(OutputError), write.stage(verified(table), path):
        pytest.fail("staged")
    assert path.read_text() == "old"
    assert list(small_disk.iterdir()) == [path]


def test_a_read_only_folder_is_refused_before_any_work(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(OutputError, match=r"was not written: Read-only file system"):
        write.check_output(small_disk / "out.csv")


KILLED = """
import sys
from pathlib import Path
import numpy as np
import pyarrow as pa
from microagg import write
from microagg.model import Microdata, Origin, Verified
class Safe:
    safe = True
path = Path(sys.argv[1])
for number in range(1_000_000):
    table = pa.table({"a": np.full(20_000, float(number)), "b": np.arange(20_000)})
    with write.stage(Verified(Microdata(table, Origin("frame", "frame")), Safe()), path) as staged:
        staged.commit(force=True)
    if number == 0:
        print("started", flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".sav"])
def test_killed_at_any_moment(tmp_path: Path, end: signal.Signals, ending: str) -> None:
    """The old file or the new one, and both are whole."""
    path = tmp_path / f"out{ending}"
    pause = np.random.default_rng(int(end))
    for _ in range(4 if SAMPLE else 20):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(pause.uniform(0, 0.3))
            child.send_signal(end)
        microdata = read.microdata_from_file(path)
        assert microdata.table.num_rows == 20_000
        assert len(set(read.numbers_of(microdata, "a"))) == 1
        # Killed between getting a name and taking the old one's place, a whole release may have another.
        for other in set(tmp_path.iterdir()) - {path}:
            assert other.name.startswith(".microagg-")
            assert other.stat().st_size > 0
            other.unlink()


def test_no_message_quotes_what_a_writer_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("value 987654321.125 does not fit")

    monkeypatch.setattr(pyreadstat, "write_sav", fail)
    with pytest.raises(DataError, match="cannot be written as SPSS") as caught:
        release(TYPED, tmp_path / "out.sav")
    assert not leaks(str(caught.value))

    def refuse(*_: object, **__: object) -> None:
        raise pa.ArrowInvalid("value 987654321.125 does not fit")

    monkeypatch.setattr(parquet, "write_table", refuse)
    with pytest.raises(DataError, match="cannot be written as Parquet") as caught:
        release(TYPED, tmp_path / "out.parquet")
    assert not leaks(str(caught.value))


# --- internal files ----------------------------------------------------------------------------


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def save_internally(internal: write.Internal, contents: dict[str, str], force: bool = False) -> None:
    with internal.staged(contents) as drafts:
        for each in drafts:
            each.commit(force)


def test_internal_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    internal = write.Internal(tmp_path / "microagg-internal")
    internal.check("a.json")
    assert not internal.folder.exists()
    contents = {"a.json": '{"a": 1}', "a.toml": "k = 3\n", "groups.csv": "record,group\n1,0\n"}
    before = os.umask(0)
    try:
        save_internally(internal, contents)
    finally:
        os.umask(before)
    assert mode_of(internal.folder) == 0o700
    for name, content in contents.items():
        assert mode_of(internal.folder / name) == 0o600
        assert (internal.folder / name).read_text() == content
    with pytest.raises(SettingsError, match="exists already"):
        internal.check("a.json")
    with pytest.raises(SettingsError, match="exists already"):
        save_internally(internal, {"a.json": "{}"})
    save_internally(internal, {"a.json": "{}"}, force=True)
    assert (internal.folder / "a.json").read_text() == "{}"
    assert len(list(internal.folder.iterdir())) == 3


def test_an_internal_folder_that_cannot_be(tmp_path: Path) -> None:
    written(tmp_path, "x", "file")
    with pytest.raises(SettingsError):
        write.Internal(tmp_path / "file").check("a.json")
    with pytest.raises(SettingsError, match="no folder"):
        write.Internal(tmp_path / "nowhere" / "internal").check("a.json")


def test_labels_need_not_come_from_the_format_that_is_written(tmp_path: Path) -> None:
    labels = StatisticalLabels(value_labels={"a": {1.5: "x"}, "b": {"x": "ex"}}, formats={"a": "F8.2"})
    table = pa.table({"a": [1.5, 2.0], "b": ["x", "y"]})
    out = release(table, tmp_path / "out.dta", replace(FRAME, labels=labels))
    assert read.microdata_from_file(out).table.column("a").to_pylist() == [1.5, 2.0]


def test_the_record_names_the_installed_versions() -> None:
    software = software_versions()
    assert software.pop("python") == platform.python_version()
    assert software == {name: version(name) for name in ("microagg", "numpy", "pyarrow")}
