"""`microagg protect` with keys of every kind: what is refused, and odd files that are not.

Categories begin with `MARK`, so that no message can show one unnoticed.
"""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bad_files import MARK
from tests.e2e.fork_server import outcome
from tests.e2e.protecting import listing, protected, refused, rows_of, run, smallest_class, write_rows

N = 48
RANDOM = np.random.default_rng(28)
DAYS = [date(1961, 3, 1) + timedelta(days=431 * at % 9000) for at in range(N)]
AGES = [18 + 7 * at % 61 for at in range(N)]


def drawn(*values: Any) -> list[Any]:
    return [values[at] for at in RANDOM.integers(0, len(values), N)]


LEVELS = [f"{MARK}{level}" for level in ("low", "middle", "high")]
SCHOOL, REGION = drawn(*LEVELS), drawn(*(f"{MARK}{name}" for name in ("north", "south", "east")))
KEYS = ("-k", 3, "--effort", "fast", "--keys", "x,age", "-o", "out.csv")


def write(folder: Path, x: list[Any]) -> Path:
    return write_rows(folder / "data.csv", ("x", "age"), list(zip(x, AGES, strict=True)))


GIVEN = "<".join(LEVELS)
BAD: dict[str, tuple[list[Any], tuple[str, ...], tuple[str, ...]]] = {
    "an unknown level": (SCHOOL, ("--ordinal", f"x={MARK}low<{MARK}high"), ("--ordinal", "'x'")),
    "free text as levels": (
        [f"{MARK} said {at} words" for at in range(N)],
        ("--ordinal", "x"),
        ("--ordinal", "--nominal x", "--drop x"),
    ),
    "levels without an order": (SCHOOL, ("--ordinal", "x"), ("--ordinal", "--nominal x")),
    "as many categories as records": ([f"{MARK}{at}t" for at in range(N)], (), ("--drop x",)),
    "two dates that cannot be read": (
        [day if at % 9 else "1999-02-30" for at, day in enumerate(DAYS)],
        (),
        ("2020-12-31", "--nominal x"),
    ),
    "text among dates": (
        [day if at % 9 else f"{MARK}soon" for at, day in enumerate(DAYS)],
        (),
        ("--nominal x",),
    ),
    "dates in two forms": (
        [day if at % 2 else day.strftime("%d.%m.%Y") for at, day in enumerate(DAYS)],
        (),
        ("2020-12-31",),
    ),
    "the day or the month first": (
        [f"{1 + at % 12:02}/{1 + at % 11:02}/1999" for at in range(N)],
        (),
        ("2020-12-31",),
    ),
    "a resolution that the source lacks": (DAYS, ("--resolution", "x=hour"), ("resolution", "'x'")),
    "a resolution that is none": (DAYS, ("--resolution", "x=week"), ("month", "year")),
    "a resolution of categories": (REGION, ("--resolution", "x=day"), ("resolution", "'x'")),
    "decimals of categories": (REGION, ("--decimals", "x=1"), ("decimals", "'x'")),
    "importance zero": (REGION, ("--importance", "x=0"), ("above 0",)),
    "importance below zero": (REGION, ("--importance", "x=-2"), ("above 0",)),
    "importance beyond all numbers": (AGES, ("--importance", "x=1e308"), ("1000000",)),
    "importance that is no number": (REGION, ("--importance", "x=much"), ("importance",)),
    "importance of a column that is no key": (REGION, ("--importance", "y=2"), ("'y'",)),
    "two kinds": (SCHOOL, ("--nominal", "x", "--ordinal", f"x={GIVEN}"), ("nominal", "ordinal", "'x'")),
    "a kind of a column that is no key": (REGION, ("--nominal", "y"), ("'y'",)),
    "numbers among text": ([f"{MARK}" if at % 2 else "north" for at in range(N)], (), ("--nominal x",)),
    "missing levels": (
        [each if at % 7 else "" for at, each in enumerate(SCHOOL)],
        ("--ordinal", f"x={GIVEN}"),
        ("--missing by-pattern",),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(tmp_path: Path, name: str) -> None:
    column, options, says = BAD[name]
    message = refused(2, tmp_path, write(tmp_path, column), *KEYS, *options)
    for part in says:
        assert part in message, message


def test_fewer_records_than_k(tmp_path: Path) -> None:
    given = ("-k", N + 1, "--keys", "x,age", "-o", "out.csv")
    assert str(N) in refused(2, tmp_path, write(tmp_path, REGION), *given)


def test_levels_given_twice(tmp_path: Path) -> None:
    """The message shows the level as it was given, which is no respondent's value."""
    path = write(tmp_path, ["low", "high"] * (N // 2))
    assert "twice" in refused(2, tmp_path, path, *KEYS, "--ordinal", "x=low<high<low")


def test_categories_without_an_order_are_no_levels(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(SCHOOL).dictionary_encode(), "age": AGES})
    pq.write_table(table, tmp_path / "data.parquet")
    message = refused(2, tmp_path, "data.parquet", *KEYS, "--ordinal", "x")
    assert "--nominal x" in message


def test_types_that_are_no_keys(tmp_path: Path) -> None:
    columns = {
        "x": pa.array([[1], [2]] * (N // 2)),
        "y": pa.array([datetime(2000, 1, 1, at % 24).time() for at in range(N)]),
        "age": AGES,
    }
    pq.write_table(pa.table(columns), tmp_path / "data.parquet")
    for key, options in (("x", ("--nominal", "x")), ("x", ()), ("y", ())):
        other = "y" if key == "x" else "x"
        given = ("-k", 3, "--keys", f"{key},age", "--drop", other, "-o", "out.parquet", *options)
        assert f"--drop {key}" in refused(2, tmp_path, "data.parquet", *given)


ODD: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "one category": ([f"{MARK}all"] * N, ()),
    "one record for all but one category": ([f"{MARK}c{max(at, 1)}" for at in range(N)], ()),
    "commas, quotes, blanks": (drawn(f"{MARK},a", f'{MARK}"b"', f" {MARK}z", f"{MARK}z ", "\n", " "), ()),
    "leading zeros": (drawn("007", "07", "7"), ("--nominal", "x")),
    "long texts and other scripts": (drawn("x" * 5000, "😀", "é", "e\u0301", "名"), ()),
    "no value at all": ([""] * N, ("--nominal", "x")),
    "some values missing": (drawn("", f"{MARK}a", f"{MARK}b"), ()),
    "yes and no": (drawn(0, 1), ()),
    "yes, no and missing": (drawn(0, 1, ""), ()),
    "yes and no as numbers with a point": (drawn("0.0", "1"), ()),
    "whole numbers beyond doubles": (drawn(2**53 + 1, 2**53 + 2, 2**53 + 3), ("--nominal", "x")),
    "dates to the year": (DAYS, ("--resolution", "x=year")),
    "dates with gaps": (["" if at % 5 else day for at, day in enumerate(DAYS)], ("--missing=by-pattern",)),
    "dates of another form": ([day.strftime("%d.%m.%Y") for day in DAYS], ()),
    "levels": (SCHOOL, ("--ordinal", f"x={GIVEN}")),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_categories(tmp_path: Path, name: str) -> None:
    column, options = ODD[name]
    protected(write(tmp_path, column), *KEYS, *options, folder=tmp_path)
    source, released = rows_of(tmp_path / "data.csv"), rows_of(tmp_path / "out.csv")
    assert smallest_class(released, "x", "age") >= 3
    if not name.startswith("dates") and "point" not in name:
        assert {row["x"] for row in released} <= {row["x"] for row in source}
    assert run("out.csv", folder=tmp_path, command="verify").returncode == 0
    record = tmp_path / "microagg-internal" / "out.csv.microagg.json"
    again = outcome("protect", "--repeat", record, "-o", tmp_path / "again.csv")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def typed() -> pa.Table:
    levels = pa.DictionaryArray.from_arrays(
        pa.array(drawn(0, 1, 2), pa.int8()), pa.array(LEVELS), ordered=True
    )
    moments = [datetime(2001, 1, 1) + timedelta(minutes=977 * at % 400_000) for at in range(N)]
    return pa.table(
        {
            "region": pa.array(drawn(f"{MARK}a", "007", "", None)).dictionary_encode(),
            "school": levels,
            "married": pa.array(drawn(True, False, None)),
            "retired": pa.array(drawn(0, 1), pa.uint8()),
            "born": pa.array(DAYS, pa.date32()),
            "seen": pa.array(moments, pa.timestamp("us")),
            "moved": pa.array([day.strftime("%d.%m.%Y") for day in DAYS]),
            "age": AGES,
        }
    )


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv", "xlsx", "dta", "sav"])
def test_types_are_kept_and_verified_again(tmp_path: Path, ending: str) -> None:
    table = typed()
    pq.write_table(table, tmp_path / "data.parquet")
    keys = ",".join(table.column_names)
    given = ("-k", 3, "--effort", "fast", "--keys", keys, "-o", f"out.{ending}", "--json")
    printed = json.loads(protected("data.parquet", *given, folder=tmp_path))
    assert printed["verdict"]["safe"]
    assert printed["verdict"]["counted"]["category_changes"]["cells"] == 4 * N
    before = listing(tmp_path)
    assert run(f"out.{ending}", folder=tmp_path, command="verify").returncode == 0
    assert listing(tmp_path) == before
    if ending == "parquet":
        released = pq.read_table(tmp_path / "out.parquet")
        for name in ("married", "retired", "born", "seen", "moved"):
            assert released.schema.field(name).type == table.schema.field(name).type
        assert released.schema.field("school").type.ordered


def test_quarters_have_medians_and_no_means(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"x": pd.to_datetime(DAYS), "age": AGES})
    frame.to_stata(tmp_path / "data.dta", write_index=False, convert_dates={"x": "tq"})
    keys = [*KEYS[:-1], "out.dta"]
    assert "--ordinal x" in refused(2, tmp_path, "data.dta", *keys)
    protected("data.dta", *keys, "--ordinal", "x", folder=tmp_path)
    _, about = pyreadstat.read_dta(str(tmp_path / "out.dta"))
    assert about.original_variable_types["x"] == "%tq"


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_value_labels_survive(tmp_path: Path, ending: str) -> None:
    pyreadstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    sex, school = drawn(1.0, 2.0), drawn(1.0, 2.0, 3.0)
    frame = pd.DataFrame({"sex": sex, "school": school, "age": AGES})
    labels = {"sex": {1: "man", 2: "woman"}, "school": {1: "low", 2: "middle", 3: "high"}}
    writer, reader = (getattr(pyreadstat, f"{verb}_{ending}") for verb in ("write", "read"))
    writer(frame, str(tmp_path / f"data.{ending}"), variable_value_labels=labels)
    given = ("-k", 3, "--keys", "sex,school,age", "--ordinal", "school=low<middle<high", "--effort", "fast")
    protected(f"data.{ending}", *given, "-o", f"out.{ending}", folder=tmp_path)
    released, about = reader(str(tmp_path / f"out.{ending}"))
    assert about.variable_value_labels == labels
    assert set(released["school"]) <= {1, 2, 3}
    assert run(f"out.{ending}", folder=tmp_path, command="verify").returncode == 0
