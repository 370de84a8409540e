"""Texts that mean missing (. - : and others), and numbers that cannot be read as such ($1,234, 12 %)."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import microagg
from microagg.errors import DataError, SettingsError
from microagg.plan.command_text import command_of
from microagg.plan.profile import profile
from microagg.plan.suggestions import settings_of_plan, suggest
from microagg.read import microdata_from_file
from microagg.settings.kinds import CodesByColumn
from microagg.web.choices import Choices
from tests.e2e.fork_server import outcome
from tests.e2e.protecting import refused

N = 24


def wages(marks: tuple[str, ...] = (".", "-")) -> list[str]:
    return [marks[at % 4] if at % 4 < len(marks) else f"{100 + at * 7}.5" for at in range(N)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    rows = [f"{at % 5 + 20 + at},{text}" for at, text in enumerate(wages())]
    path.write_text("\n".join(["age,wages", *rows]) + "\n")
    return path


def is_missing() -> list[bool]:
    return [text in (".", "-") for text in wages()]


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return outcome(*words, folder=folder)


@pytest.mark.parametrize(
    ("typed", "codes"),
    [
        ("wages=.", ["."]),
        ("wages=.,-,99", [".", "-", 99]),
        ("wages= : , n/a", [":", "n/a"]),
        ('wages="a,b",-9.5', ["a,b", -9.5]),
    ],
)
def test_texts_that_mean_missing_on_the_command_line(typed: str, codes: list[Any]) -> None:
    assert CodesByColumn().parse("missing_codes", [typed]) == {"wages": codes}
    line = command_of({"k": 3, "missing_codes": {"wages": codes}}, "a.csv", "b.csv")
    import shlex

    option = next(word for word in shlex.split(line) if word.startswith("--missing-codes="))
    assert CodesByColumn().parse("missing_codes", [option.removeprefix("--missing-codes=")]) == {
        "wages": codes
    }


def test_texts_that_mean_missing_in_a_csv_file(file: Path) -> None:
    assert "--missing-codes wages=TEXT" in refused(
        2, file.parent, file, "-k", 3, "--keys", "age,wages", "-o", "out.csv"
    )
    ran = run(
        file.parent, "protect", file, "-k", "3", "--keys", "age,wages", "--missing", "by-pattern",
        "--missing-codes", "wages=.,-", "--keep-order", "-o", "out.csv",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert list(pd.read_csv(file.parent / "out.csv")["wages"].isna()) == is_missing()


@pytest.mark.parametrize("kind", ["pandas", "arrow", "parquet", "xlsx", "categories"])
def test_texts_that_mean_missing_in_other_sources(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": np.arange(N) * 1.0, "wages": wages()})
    source: Any = frame
    if kind == "arrow":
        source = pa.Table.from_pandas(frame, preserve_index=False)
    elif kind == "categories":
        source = frame.astype({"wages": "category"})
    elif kind == "parquet":
        parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "data.parquet")
        source = tmp_path / "data.parquet"
    elif kind == "xlsx":
        mixed = [text if text in (".", "-") else float(text) for text in wages()]
        frame.assign(wages=mixed).to_excel(tmp_path / "data.xlsx", index=False)
        source = tmp_path / "data.xlsx"
    release = microagg.protect(
        source,
        3,
        rest="pass",
        keys=["age", "wages"],
        missing="by-pattern",
        keep_order=True,
        missing_codes={"wages": [".", "-", 99]},
    )
    released = release.data["wages"]
    found = released.to_pylist() if hasattr(released, "to_pylist") else list(released)
    assert [value is None or value != value for value in found] == is_missing()


def test_texts_that_mean_missing_are_refused_where_they_cannot_act() -> None:
    frame = pd.DataFrame({"age": np.arange(N) * 1.0})
    with pytest.raises(SettingsError, match=r"text '\.', but the column holds numbers"):
        microagg.protect(
            frame, 3, rest="pass", keys="age", missing="by-pattern", missing_codes={"age": ["."]}
        )
    with pytest.raises(SettingsError, match="numbers or texts"):
        microagg.protect(frame, 3, rest="pass", keys="age", missing_codes={"age": [" "]})
    with pytest.raises(SettingsError, match="numbers or texts"):
        microagg.protect(frame, 3, rest="pass", keys="age", missing_codes={"age": [None]})  # type: ignore[dict-item]


def test_other_texts_stay_refused(file: Path) -> None:
    with pytest.raises(DataError, match="12 numbers and 6 texts"):
        microagg.protect(
            file,
            3,
            rest="pass",
            keys="wages",
            pass_="age",
            missing="by-pattern",
            missing_codes={"wages": ["."]},
        )


@pytest.mark.parametrize("marks", [(".",), ("-", ":"), ("..", "n.a."), ("*", "x"), (": c", ":")])
def test_plan_detects_texts_that_mean_missing(marks: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = [f"{at % 3},{text}" for at, text in enumerate(wages(marks))]
    path.write_text("\n".join(["region,hours", *rows]) + "\n")
    source = microdata_from_file(path)
    found = profile(source)
    assert found["hours"].numeric
    assert found["hours"].missing_codes == tuple(sorted(marks))
    assert found["hours"].missing == sum(text in marks for text in wages(marks))
    words = settings_of_plan(suggest(source, found, 3), found, 3)
    assert words["missing_codes"] == {"hours": sorted(marks)}
    assert words["missing"] == "by-pattern"
    assert microagg.protect(path, **words).verdict.safe  # type: ignore[arg-type]


def test_a_plan_with_texts_that_mean_missing_is_in_force(file: Path) -> None:
    file.write_text(file.read_text().replace("wages", "hours"))  # by that name they would be confidential
    assert run(file.parent, "plan", file).returncode == 0
    text = (file.parent / "plan.toml").read_text()
    assert tomllib.loads(text)["missing_codes"] == {"hours": ["-", "."]}
    assert "all other values of the column are numbers" in text
    ran = run(file.parent, "protect", "--plan", "plan.toml", "-o", "out.csv")
    assert ran.returncode == 0, ran.stderr
    said = run(file.parent, "plan", file, "--force", "--json")
    columns = {column["name"]: column for column in json.loads(said.stdout)["columns"]}
    assert columns["hours"]["missing_codes"] == ["-", "."]


def test_the_pages_suggest_and_take_texts_that_mean_missing() -> None:
    columns = [{"name": "wages", "suggested": "keys", "missing": 12, "missing_codes": ["-", "."]}]
    choices = Choices.suggested(columns)
    assert choices.plan()["missing_codes"] == {"wages": ["-", "."]}
    choices.set("missing_codes", "., -, 99", "wages")
    assert choices.plan()["missing_codes"] == {"wages": [".", "-", 99]}


@pytest.mark.parametrize("odd", ["yes", "90+", "A1", "north"])
def test_other_texts_are_no_codes_for_missing(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = [f"{odd if at % 4 == 0 else 100 + at}" for at in range(N)]
    path.write_text("\n".join(["wages", *rows]) + "\n")
    found = profile(microdata_from_file(path))["wages"]
    assert found.kind == "text"
    assert not found.missing_codes
    assert "18 of 24 values are numbers" in found.disguise


def test_codes_with_needless_zeros_stay_codes(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["plz", *(f"0{at}123" if at % 4 else "-" for at in range(N))]) + "\n")
    assert profile(microdata_from_file(path))["plz"].kind == "text"


SIGNED = {
    "dollars": (["$1,234", "$56", "$7.50"], 0, 3),
    "thousands": (["1,234", "5,678.9", "56"], 2, 0),
    "euros": (["€ 12", "1.234,50 €", "EUR 5"], 0, 3),
    "percent": (["12 %", "7.5%", "3 %"], 0, 3),
    "spaces": (["1 234", "5\u202f678", "9\u00a0876"], 3, 0),
    "both": (["$1,234", "1,234", "56"], 1, 1),
    "negative": (["-$12", "($1,234)", "$-5"], 0, 3),
}


@pytest.mark.parametrize("kind", list(SIGNED))
def test_numbers_with_signs_are_reported_as_numbers_stored_as_text(kind: str, tmp_path: Path) -> None:
    texts, thousands, signs = SIGNED[kind]
    path = tmp_path / "data.csv"
    rows = [f'{at * 1.5},"{texts[at % 3]}"' for at in range(N)]
    path.write_text("\n".join(["age,pay", *rows]) + "\n", encoding="utf-8")
    message = refused(2, tmp_path, path, "-k", 3, "--keys", "age,pay", "-o", "out.csv")
    assert "Column 'pay' holds numbers stored as text" in message
    assert "Save the file with plain numbers" in message
    for count, what in ((thousands, "thousands separators"), (signs, "currency or percent sign")):
        assert (what in message) == bool(count)
        assert not count or f"in {8 * count} of 24 rows" in message
    source = microdata_from_file(path)
    found = profile(source)
    reason = {each.column: each.reason for each in suggest(source, found, 3)}["pay"]
    assert reason.startswith("numbers stored as text (")
    for count, what in ((thousands, "thousands separators"), (signs, "a currency or percent sign")):
        assert not count or f"{8 * count} of 24 with {what}" in reason


def test_names_with_numbers_are_no_numbers_with_signs(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["code", *(f"ABC {at % 4}" for at in range(N))]) + "\n")
    assert not profile(microdata_from_file(path))["code"].disguise
