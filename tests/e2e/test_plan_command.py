"""`microagg plan` as a process: the table, the plan, refusals, and silence about values."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import parquet

from microagg.plan.plan_file import read_plan
from tests.bad_files import leaks, write_good
from tests.e2e.fork_server import outcome
from tests.e2e.test_docs import COMPANIES

N = 300


def run(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    done = outcome("plan", *arguments, **more)
    printed = done.stdout + done.stderr
    assert not leaks(printed)
    assert "Traceback" not in printed
    assert "Internal error" not in printed
    return done


def refused(code: int, *arguments: object, folder: Path | None = None) -> str:
    done = run(*arguments, folder=folder)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    return done.stderr


def survey() -> pd.DataFrame:
    random = np.random.default_rng(5)
    wages, rents = (np.round(random.lognormal(8, 1, N), 2) for _ in range(2))
    return pd.DataFrame(
        {
            "PersonID": np.arange(N) + 40_000,
            "region": [f"zone-{at % 4}" for at in range(N)],
            "wages": wages,
            "rents": rents,
            "income": np.round(wages + rents, 2),
            "age": np.where(np.arange(N) % 50 == 0, 999, random.integers(18, 90, N)),
            "e-mail": [f"resp{at}@example.org" for at in range(N)],
            "weight": np.round(random.uniform(1, 9, N), 3),
        }
    )


WORDS = {
    "k": 3,
    "keys": [["region", "wages", "rents", "income", "age"]],
    "nominal": ["region"],
    "drop": ["PersonID", "e-mail", "weight"],  # in groups of three one weight may be more than half
    "missing": "by-pattern",
    "missing_codes": {"age": [999]},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    survey().to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path


# --- results ----------------------------------------------------------------------------------


def test_table_and_plan(folder: Path) -> None:
    done = run("survey.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert set(survey().columns) <= set(lines)
    assert "whole numbers" in lines["age"]
    assert "keys" in lines["age"]
    assert "keys" in lines["region"]
    assert "drop" in lines["e-mail"]
    assert "in every record: income = wages + rents" in done.stdout
    assert "likely codes for a missing answer in age: 999" in done.stdout
    assert "plan written to plan.toml" in done.stdout
    assert read_plan(folder / "plan.toml") == {"input": str(folder / "survey.csv"), **WORDS}


def test_no_value_is_shown(folder: Path) -> None:
    shown = run("survey.csv", folder=folder).stdout + (folder / "plan.toml").read_text("utf-8")
    frame = survey()
    for value in (
        "zone-",
        "resp1",
        "example.org",
        "40000",
        *frame["wages"].map(str),
        *frame["weight"].map(str),
    ):
        assert value not in shown


def test_plan_on_standard_output(folder: Path) -> None:
    run("survey.csv", folder=folder)
    done = run("survey.csv", "-o", "-", folder=folder)
    assert done.stdout == (folder / "plan.toml").read_text("utf-8")


def test_json(folder: Path) -> None:
    done = run("survey.csv", "--json", "-o", "my.toml", folder=folder)
    found = json.loads(done.stdout)
    assert found["records"] == N
    assert found["plan"] == "my.toml"
    assert (folder / "my.toml").is_file()
    assert found["identities"] == [{"total": "income", "parts": ["wages", "rents"]}]
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["age"]["missing_codes"] == [999]
    assert columns["wages"]["decimals"] == 2
    assert columns["PersonID"]["role"] == "drop"
    printed = json.loads(run("survey.csv", "--json", "-o", "-", folder=folder).stdout)
    assert printed["plan"] is None
    assert "keys = " in printed["text"]


def test_standard_input(folder: Path) -> None:
    text = (folder / "survey.csv").read_text("utf-8")
    assert run("-", folder=folder, given=text).returncode == 0
    assert read_plan(folder / "plan.toml") == {"input": "-", **WORDS}


def test_other_formats(tmp_path: Path) -> None:
    parquet.write_table(pa.Table.from_pandas(survey(), preserve_index=False), tmp_path / "survey.parquet")
    assert run("survey.parquet", folder=tmp_path).returncode == 0
    assert read_plan(tmp_path / "plan.toml") == {"input": str(tmp_path / "survey.parquet"), **WORDS}
    frame = survey().rename(columns={"e-mail": "email"})
    labels = {"region": {"zone-1": "one"}}
    pyreadstat.write_sav(frame, str(tmp_path / "survey.sav"), variable_value_labels=labels)
    assert run("survey.sav", "--force", folder=tmp_path).returncode == 0
    assert read_plan(tmp_path / "plan.toml")["keys"] == WORDS["keys"]


def test_missing_codes_that_the_file_declares(tmp_path: Path) -> None:
    frame = survey()[["wages", "age"]]
    pyreadstat.write_sav(frame, str(tmp_path / "s.sav"), missing_ranges={"age": [{"lo": 999, "hi": 999}]})
    found = json.loads(run("s.sav", "--json", folder=tmp_path).stdout)
    age = found["columns"][1]
    assert (age["missing"], age["missing_codes"]) == (6, [])
    assert read_plan(tmp_path / "plan.toml")["missing"] == "by-pattern"


def test_what_is_said_of_a_csv_file_stands_in_the_plan(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a|b\n" + "\n".join(f"{at},5|{at * 7 % 20},25" for at in range(20)))
    done = run("data.csv", "--delimiter", "|", "--decimal", ",", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    plan = read_plan(tmp_path / "plan.toml")
    assert (plan["delimiter"], plan["decimal"], plan["keys"]) == ("|", ",", [["a", "b"]])


def test_plan_in_another_folder(folder: Path) -> None:
    (folder / "plans").mkdir()
    assert run("survey.csv", "-o", "plans/p.toml", folder=folder).returncode == 0
    assert 'input = "../survey.csv"' in (folder / "plans" / "p.toml").read_text("utf-8")


def test_companies(tmp_path: Path) -> None:
    (tmp_path / "companies.csv").write_text(COMPANIES)
    assert run("companies.csv", folder=tmp_path).returncode == 0
    assert read_plan(tmp_path / "plan.toml")["keys"] == [["surface", "employees", "turnover", "profit"]]


def test_odd_names(tmp_path: Path) -> None:
    rows = "\n".join(f"{at}.5,{at % 2}" for at in range(10))
    (tmp_path / "odd.csv").write_text(f'"[bold]a ""b""\nc",ü.é\n{rows}\n')
    done = run("odd.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[bold]a" in done.stdout
    plan = read_plan(tmp_path / "plan.toml")
    assert plan["keys"] == [['[bold]a "b"\nc']]
    assert plan["strata"] == ["ü.é"]


# --- refusals ---------------------------------------------------------------------------------


def test_existing_plan_is_kept(folder: Path) -> None:
    plan = folder / "plan.toml"
    plan.write_text("# mine\n")
    message = refused(2, "survey.csv", folder=folder)
    assert "plan.toml exists already" in message
    assert "--force" in message
    assert plan.read_text() == "# mine\n"
    assert run("survey.csv", "--force", folder=folder).returncode == 0
    assert "keys" in read_plan(plan)


def test_source_is_kept(folder: Path) -> None:
    before = (folder / "survey.csv").read_bytes()
    refused(2, "survey.csv", "-o", "survey.csv", "--force", folder=folder)
    assert (folder / "survey.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "There is no file"),
        (["survey.csv", "-k", 1], "k is 1"),
        (["survey.csv", "-k", N + 1], f"only {N} records"),
        (["survey.csv", "-o", "nowhere/plan.toml"], "no folder"),
        (["survey.csv", "-o", "."], "folder"),
        (["survey.csv", "--delimiter", "ab"], "delimiter"),
        (["survey.txt.zip"], "no file"),
    ],
)
def test_refusals(folder: Path, arguments: list[object], message: str) -> None:
    assert message in refused(2, *arguments, folder=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["survey.csv"]


def test_bad_content(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    assert "no records" in refused(2, "empty.csv", folder=tmp_path)
    (tmp_path / "header.csv").write_text("a,b\n")
    assert "no records" in refused(2, "header.csv", folder=tmp_path)
    (tmp_path / "wrong.parquet").write_bytes(b"no parquet")
    refused(2, "wrong.parquet", folder=tmp_path)
    assert not (tmp_path / "plan.toml").exists()


def test_good_file(tmp_path: Path) -> None:
    assert run(write_good(tmp_path / "good.csv"), folder=tmp_path).returncode == 0


# --- the plan that is written runs, or plan says at once why nothing can be protected ---------


def protected_by(folder: Path) -> subprocess.CompletedProcess[str]:
    return outcome("protect", "--plan", "plan.toml", "-o", "out.csv", "--effort", "fast", folder=folder)


def test_the_plan_that_is_written_runs(folder: Path) -> None:
    assert run("survey.csv", folder=folder).returncode == 0
    done = protected_by(folder)
    assert done.returncode == 0, done.stderr
    released = pd.read_csv(folder / "out.csv")
    assert released["age"].max() < 100
    assert not {"PersonID", "e-mail", "weight"} & set(released.columns)


def test_a_plan_may_choose_categories_by_tables(folder: Path) -> None:
    plan = folder / "plan.toml"
    assert run("survey.csv", folder=folder).returncode == 0
    text = plan.read_text("utf-8")
    assert '#categories = "mode"' in text
    plan.write_text(text.replace('#categories = "mode"', 'categories = "tables"'), "utf-8")
    done = protected_by(folder)
    assert done.returncode == 0, done.stderr
    record = json.loads((folder / "microagg-internal" / "out.csv.microagg.json").read_text("utf-8"))
    assert record["plan"]["categories"] == "tables"


def test_a_plan_that_chooses_categories_needs_some(tmp_path: Path) -> None:
    (tmp_path / "companies.csv").write_text(COMPANIES, "utf-8")
    plan = 'k = 3\nkeys = ["surface", "employees"]\nrest = "drop"\ncategories = "tables"\n'
    (tmp_path / "plan.toml").write_text(plan, "utf-8")
    done = outcome("protect", "companies.csv", "--plan", "plan.toml", folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["companies.csv", "plan.toml"]


def test_a_file_that_cannot_be_masked_gets_no_plan_but_the_reason(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": [f"name {at}" for at in range(100)]})
    frame.to_csv(tmp_path / "text.csv", index=False)
    done = run("text.csv", folder=tmp_path)
    assert done.returncode == 2
    assert "drop" in done.stdout
    assert "No plan is written" in done.stderr
    assert not (tmp_path / "plan.toml").exists()
    assert run("text.csv", "--json", folder=tmp_path).stdout == ""
    assert run("text.csv", "-o", "-", folder=tmp_path).stdout == ""


def test_pairs_are_planned_only_if_they_are_accepted(folder: Path) -> None:
    assert "--accept pairs" in refused(3, "survey.csv", "-k", 2, folder=folder)
    assert run("survey.csv", "-k", 2, "--accept=pairs", folder=folder).returncode == 0
    assert read_plan(folder / "plan.toml")["accept"] == ["pairs"]
    assert protected_by(folder).returncode == 0
