"""`microagg assess`, `explain` and `compare` as commands: results, refusals, exit codes, silence."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from microagg.measure import MEASURES, MOST_IMPORTANT
from tests.e2e.protecting import COMMAND, mode, refused, rows_of, run, survey, write_rows

KEYS = ("--keys", "age,income")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file, its release, one of another tool's in another format, and one with an id."""
    folder = tmp_path_factory.mktemp("assess")
    path = survey(folder / "survey.csv", 30)
    done = run(
        path, "-k", 3, *KEYS, "--strata", "region", "--pass", "zeros,weight,disease,note",
        "--keep-order", "-o", folder / "safe.csv",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(folder / "safe.csv")
    table.to_csv(folder / "other.csv", sep=";", decimal=",", index=False)
    table[["income", "age"]].to_parquet(folder / "keys.parquet")
    rows = rows_of(path)
    named = [{"id": f"r{at}", **row} for at, row in enumerate(rows)]
    write_rows(folder / "named.csv", list(named[0]), [list(row.values()) for row in named])
    safe = [{"id": f"r{at}", **row} for at, row in enumerate(rows_of(folder / "safe.csv"))]
    order = [7, 3, *(at for at in range(29, -1, -1) if at not in (7, 3, 11))]
    write_rows(folder / "shuffled.csv", list(safe[0]), [list(safe[at].values()) for at in order])
    return folder


def assess(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run(*arguments, folder=folder, command="assess")


def measures(folder: Path, *arguments: object) -> dict[str, Any]:
    done = assess(folder, *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert list(found) == ["measures"]
    return found["measures"]


def test_every_measure_in_the_order_of_the_catalogue(made: Path) -> None:
    found = measures(made, "survey.csv", "safe.csv", *KEYS, "-k", 3, "--confidential", "disease")
    assert list(found) == list(MEASURES)
    for name, entry in found.items():
        assert entry["unit"] == MEASURES[name].unit
        assert set(entry) <= {"value", "unit", "sentence", "parts", "note"}
    assert found["k_anonymity"]["value"] >= 3
    assert 0.0 < found["il"]["value"] < 100.0


def test_the_table(made: Path) -> None:
    done = assess(made, "survey.csv", "safe.csv", *KEYS, "-k", 3)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("30 records, keys: age, income\n\n  ")
    for name in MOST_IMPORTANT:
        assert f"({name})" in done.stdout
    assert "interval_sd" not in done.stdout
    assert done.stdout.endswith("all measures: --all; what one means: microagg explain NAME\n")
    every = assess(made, "survey.csv", "safe.csv", *KEYS, "-k", 3, "--all").stdout
    for name in MEASURES:
        assert f"({name})" in every if name in MOST_IMPORTANT else re.search(rf"^{name}: ", every, re.M)
    assert "--all;" not in every
    detailed = assess(made, "survey.csv", "safe.csv", *KEYS, "--details", "--measures", "il,means").stdout
    assert re.search(r"^ +age +[\d.]+ %$", detailed, re.M)


@pytest.mark.parametrize("other", ["other.csv", "keys.parquet"])
def test_files_of_other_tools(made: Path, other: str) -> None:
    """Other delimiters, decimal signs, formats, orders of columns, and columns that are not there."""
    ours = measures(made, "survey.csv", "safe.csv", *KEYS, "--measures", "il,linkage_distance")
    assert measures(made, "survey.csv", other, *KEYS, "--measures", "il,linkage_distance") == ours


def test_by_id_in_another_order_and_with_a_record_suppressed(made: Path) -> None:
    words = ("named.csv", "shuffled.csv", *KEYS, "--id", "id", "--measures", "il")
    done = assess(made, *words)
    assert done.returncode == 0
    assert "29 records" in done.stdout
    assert "1 of 30 records of the original is not in the protected file" in done.stdout
    assert "leave it out of what is released" in done.stdout


def test_standard_input(made: Path) -> None:
    text = (made / "safe.csv").read_text()
    done = run("survey.csv", "-", *KEYS, "--measures", "il", folder=made, given=text, command="assess")
    assert done.returncode == 0
    assert done.stdout == assess(made, "survey.csv", "safe.csv", *KEYS, "--measures", "il").stdout


@pytest.mark.parametrize("how", [[], ["--json"], ["--details"]])
def test_a_file_that_was_not_protected(made: Path, how: list[str]) -> None:
    done = assess(made, "survey.csv", "survey.csv", *KEYS, *how)
    assert done.returncode == 3
    assert "NOT PROTECTED" in done.stderr
    if how == ["--json"]:
        assert list(json.loads(done.stdout)["measures"]) == list(MEASURES)
    else:
        assert done.stdout.startswith("THE PROTECTED FILE IS NOT PROTECTED")


def test_a_promise_that_does_not_hold(made: Path) -> None:
    done = assess(made, "survey.csv", "safe.csv", *KEYS, "-k", 9, "--measures", "k_anonymity")
    assert done.returncode == 3
    assert "DOES NOT HAVE k = 9" in done.stderr
    assert "k_anonymity" in done.stdout


def write(folder: Path, name: str, **columns: Any) -> Path:
    path = folder / name
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_models_and_indicators(tmp_path: Path) -> None:
    age = np.arange(12.0)
    write(tmp_path, "a.csv", age=age, income=2 * age + age**2 % 5, region=["N", "S"] * 6)
    write(
        tmp_path,
        "b.csv",
        age=np.repeat([1.0, 4.0, 7.0, 10.0], 3),
        income=2 * age + 1,
        region=["N", "S"] * 6,
    )
    words = ("a.csv", "b.csv", *KEYS, "--measures", "il", "--model", "income ~ age")
    found = measures(tmp_path, *words, "--indicator", "mean income by region")
    assert list(found) == ["il", "model: income ~ age", "indicator: mean income by region"]
    assert [each["label"] for each in found["indicator: mean income by region"]["groups"]] == ["N", "S"]
    assert "overlap" in assess(tmp_path, *words).stdout


BAD = [
    ({}, {"age": [1, 2, 3, 4, 5]}, (), 2, "has 6 records, the protected file 5"),
    ({}, {"income": [1, 2, 3, 4, 5, 6]}, (), 2, "protected file has no column 'age'"),
    ({}, {"age": ["1-3"] * 6}, (), 2, "In the protected file"),
    ({"age": ["x", "y"] * 3}, {}, (), 2, "no category in common"),
    ({"age": list("uvwxyz")}, {}, (), 2, "In the original file"),
    ({}, {}, ("--keys", "agee"), 2, "did you mean age"),
    ({}, {}, ("--keys", "age", "--strata", "age"), 2, "named in keys and in strata"),
    ({}, {}, ("--keys", "age", "--id", "nothing"), 2, "No such column"),
    ({}, {}, ("--keys", "age", "--weight", "w"), 2, "No such column"),
    ({}, {}, ("--keys", "age", "--measures", "il2"), 2, "did you mean il"),
    ({}, {}, ("--keys", "age", "-k", "1"), 2, "k is 1"),
    ({}, {}, ("--keys", "age", "--details", "--json"), 2, "--details has no effect"),
    ({}, {}, ("--keys", "age", "--all", "--json"), 2, "--all has no effect"),
    ({}, {}, ("--keys", "age", "--all", "--measures", "il"), 2, "Leave out one of them"),
    ({}, {}, ("--keys", "age", "--model", "age"), 2, "is not a model"),
    ({}, {}, ("--keys", "age", "--indicator", "median age"), 2, "is not an indicator"),
    ({}, {}, (), 2, "No masked column is named"),
    ({}, {}, ("--keys", "age", "--missing-codes", "age"), 2, "COLUMN=CODES"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "words", "code", "says"), BAD)
def test_refused(
    tmp_path: Path,
    before: dict[str, Any],
    after: dict[str, Any],
    words: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    write(tmp_path, "a.csv", **({"age": [1, 2, 3, 4, 5, 6]} | before))
    write(tmp_path, "b.csv", **(after or {"age": [2, 2, 2, 5, 5, 5]}))
    given = words or (() if says.startswith("No masked column") else ("--keys", "age"))
    message = refused(code, tmp_path, "a.csv", "b.csv", *given, command="assess")
    assert says in message


def test_another_order_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", age=[1, 2, 3, 4, 5, 6], job=list("abcdef"))
    write(tmp_path, "b.csv", age=[5, 5, 5, 2, 2, 2], job=list("fedcba"))
    message = refused(2, tmp_path, "a.csv", "b.csv", "--keys", "age", command="assess")
    assert "different orders" in message


def test_no_such_file(tmp_path: Path) -> None:
    assert "no file" in refused(2, tmp_path, "a.csv", "b.csv", "--keys", "age", command="assess").lower()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1, 2, None, 4, 5, 6], [2, 2, None, 5, 5, 5]),  # missing in both
        ([1, 2, None, 4, 5, 6], [2, 2, 2, 5, 5, 5]),  # filled
        ([1, 2, 3, 4, 5, 6], [2, 2, None, 5, 5, 5]),  # given up
        ([7, 7, 7, 7, 7, 7], [6, 6, 6, 7, 7, 7]),  # constant in the original
        ([1, 2, 3, 4, 5, 6], [3, 3, 3, 3, 3, 3]),  # constant in the release
        ([1, None, None, None, None, 6], [2, None, None, None, None, 5]),
    ],
)
@pytest.mark.parametrize("others", [{}, {"x": [3, 1, 4, 1, 5, 9]}])
def test_missing_values_and_constants_have_defined_results(
    tmp_path: Path, before: list[Any], after: list[Any], others: dict[str, Any]
) -> None:
    write(tmp_path, "a.csv", age=before, income=[1, 2, 4, 8, 9, 7], c=list("uvuvuv"), **others)
    write(tmp_path, "b.csv", age=after, income=[2, 2, 2, 8, 8, 8], c=list("uvuvuv"), **others)
    found = measures(tmp_path, "a.csv", "b.csv", *KEYS, "--confidential", "c")
    assert list(found) == list(MEASURES)
    alone = measures(tmp_path, "a.csv", "b.csv", "--keys", "age")
    assert list(alone) == list(MEASURES)


def test_two_records(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", age=[1, 2], income=[3, 4])
    write(tmp_path, "b.csv", age=[1.5, 1.5], income=[3.5, 3.5])
    assert list(measures(tmp_path, "a.csv", "b.csv", *KEYS)) == list(MEASURES)


def test_one_record(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", age=[1])
    write(tmp_path, "b.csv", age=[2])
    assert "only one record" in refused(2, tmp_path, "a.csv", "b.csv", "--keys", "age", command="assess")


def test_weights_in_one_file_only(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", age=[1, 2, 3, 4], w=[1, 2, 1, 2])
    write(tmp_path, "b.csv", age=[1.5, 1.5, 3.5, 3.5])
    done = assess(tmp_path, "a.csv", "b.csv", "--keys", "age", "--weight", "w", "--measures", "il")
    assert done.returncode == 0
    assert "the original's weights are used" in done.stdout
    assert "No such column" in refused(
        2, tmp_path, "b.csv", "a.csv", "--keys", "age", "--weight", "w", command="assess"
    )


# --- the risk of one file -------------------------------------------------------------------------------


def test_the_risk_before(tmp_path: Path) -> None:
    path = survey(tmp_path / "survey.csv", 30)
    frame = pd.read_csv(path)
    words = ("survey.csv", "--keys", "age,disease", "--strata", "region", "-k", 3)
    done = assess(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    unique = int(frame.groupby(["region", "age", "disease"], dropna=False).size().eq(1).sum())
    assert f"These 3 columns make {unique} of 30 records" in done.stdout
    found = json.loads(assess(tmp_path, *words, "--json").stdout)
    assert (found["by_keys"]["unique"], found["k"]) == (unique, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


def test_a_plan_of_one_file_and_of_two(made: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'input = "{made}/survey.csv"\nk = 3\nkeys = [["age", "income"]]\nstrata = ["region"]\n'
    )
    assert "These 3 columns make " in assess(tmp_path, "--plan", "plan.toml").stdout
    both = assess(tmp_path, made / "survey.csv", made / "safe.csv", "--plan", "plan.toml")
    assert (
        both.stdout == assess(made, "survey.csv", "safe.csv", *KEYS, "--strata", "region", "-k", 3).stdout
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "ORIGINAL is not given"),
        (("a.csv",), "No column is named by which somebody could be recognised"),
        (("a.csv", "--keys", "x"), "No such column"),
        (("a.csv", "--keys", "age", "--details"), "details has an effect only where"),
        (("a.csv", "--keys", "age", "--all"), "all has an effect only where"),
        (("a.csv", "--keys", "age", "--report", "r.html"), "report has an effect only where"),
        (("a.csv", "--keys", "age", "--id", "age"), "id has an effect only where"),
        (("a.csv", "--keys", "age", "--measures", "il"), "measures has an effect only where"),
        (("--plan", "nothing.toml"), "no file"),
    ],
)
def test_one_file_is_refused(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    write(tmp_path, "a.csv", age=[1, 2, 3, 4, 5, 6])
    assert says in refused(2, tmp_path, *words, command="assess")


# --- explain -------------------------------------------------------------------------------------------


def test_explain(tmp_path: Path) -> None:
    listed = run(folder=tmp_path, command="explain").stdout
    for name in MEASURES:
        assert re.search(rf"^  {name} +\S", listed, re.M)
    one = run("il1s", folder=tmp_path, command="explain").stdout
    assert "higher means  " in one
    found = json.loads(run("il1s", "--json", folder=tmp_path, command="explain").stdout)
    assert list(found) == ["il1s"]
    assert list(json.loads(run("--json", folder=tmp_path, command="explain").stdout)) == list(MEASURES)
    assert "did you mean il1s" in refused(2, tmp_path, "il1z", command="explain")


# --- compare -------------------------------------------------------------------------------------------


def compare(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run("survey.csv", *arguments, folder=folder, command="compare")


def test_compare(tmp_path: Path) -> None:
    survey(tmp_path / "survey.csv", 30)
    words = (*KEYS, "-k", "3,5", "--methods", "mdav,auto", "--strata", "region")
    done = compare(tmp_path, *words, "-o", "out.csv", "--map", "map.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("recommended") == 2
    assert done.stdout.endswith("table written to out.csv\nmap written to map.svg\n")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["k"], row["method"]) for row in rows] == [
        ("3", "mdav"), ("5", "mdav"), ("3", "auto"), ("5", "auto")
    ]  # fmt: skip
    assert mode(tmp_path / "microagg-internal" / "compare.jsonl") == 0o600
    assert (tmp_path / "map.svg").read_text().startswith("<?xml")
    again = json.loads(compare(tmp_path, *words, "--json").stdout)
    assert [f"{row['il']:.9f}" for row in again["strategies"]] == [
        f"{float(row['il']):.9f}" for row in rows
    ]
    assert sum(row["recommended"] for row in again["strategies"]) == 1
    assert again["rule"]


def test_compare_by_a_plan(tmp_path: Path) -> None:
    survey(tmp_path / "survey.csv", 30)
    (tmp_path / "plan.toml").write_text('input = "survey.csv"\nk = 4\nkeys = [["age", "income"]]\n')
    done = run("--plan", "plan.toml", "--methods", "mdav", "--json", folder=tmp_path, command="compare")
    assert [row["k"] for row in json.loads(done.stdout)["strategies"]] == [3, 5, 10]
    assert (tmp_path / "microagg-internal" / "compare.jsonl").exists()
    assert "FILE is not given" in refused(2, tmp_path, "--keys", "age", command="compare")


def test_ways_to_split_by_slashes(tmp_path: Path) -> None:
    survey(tmp_path / "survey.csv", 30)
    words = ("--keys", "age,income,zeros", "-k", 3, "--methods", "mdav")
    ways = ("--subsets", "age,income/zeros", "--subsets", "joint", "--subsets", "each")
    found = json.loads(compare(tmp_path, *words, *ways, "--json").stdout)
    assert [row["subsets"] for row in found["strategies"]] == [
        "age, income | zeros", "age, income, zeros", "age | income | zeros"
    ]  # fmt: skip


def test_compare_what_groups_publish(tmp_path: Path) -> None:
    survey(tmp_path / "survey.csv", 30)
    words = (*KEYS, "-k", 3, "--methods", "mdav", "--aggregate", "mean,median")
    found = json.loads(compare(tmp_path, *words, "--json").stdout)
    assert [row["aggregate"] for row in found["strategies"]] == ["mean", "median"]
    assert found["loss"] == "two_way_tables"
    for measure in ("two_way_tables", "count_queries", "largest_correlation_change"):
        assert all(row[measure] >= 0 for row in found["strategies"])
    assert "aggregate" in compare(tmp_path, *words).stdout.splitlines()[1].split()
    words = ("--keys", "age,region", "-k", 3, "--methods", "mdav-generic", "--categories", "mode,tables")
    found = json.loads(compare(tmp_path, *words, "--json").stdout)
    assert [row["categories"] for row in found["strategies"]] == ["mode", "tables"]
    assert {row["largest_correlation_change"] for row in found["strategies"]} == {None}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-k", "3,x"), "k must be whole numbers"),
        (("-k", "3,99"), None),
        (("-k", "99"), "k is 99"),
        (("--methods", "mdaw"), "did you mean mdav"),
        (("--keys", "age,incom"), "did you mean income"),
        (("--nominal", "disease"), "nominal"),
        (("--subsets", "age"), "do not split"),
        (("--aggregate", "mean,mode"), "aggregate is 'mode'"),
        (("--max-risk", "2"), "max_risk is 2.0"),
        (("-o", "out.parquet"), "must end in .csv"),
        (("--map", "map.png"), "must end in .svg"),
        (("-o", "survey.csv"), "survey.csv"),
        (("-o", "no/out.csv"), "no folder"),
        (("--record", "no/where"), "no folder"),
        (("--measures", "x"), "There is no measure"),
    ],
)
def test_compare_refuses(tmp_path: Path, words: tuple[str, ...], says: str | None) -> None:
    survey(tmp_path / "survey.csv", 30)
    given = dict(zip(("--keys", "-k", "--methods"), ("age,income", "3", "mdav"), strict=True))
    given |= dict(zip(words[::2], words[1::2], strict=True))
    done = compare(tmp_path, *(word for pair in given.items() for word in pair))
    if says is None:
        assert "failed: k = 99, mdav: k is 99, but the data have only 30" in done.stdout
        return
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


def test_an_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    """Ctrl-C in a terminal: exit code 130, and what was finished is known to the next run."""
    rng = np.random.default_rng(3)
    write(tmp_path, "survey.csv", age=rng.normal(size=3000), income=rng.normal(size=3000))
    words = [COMMAND, "compare", "survey.csv", *KEYS, "-k", "3,4", "--threads", "1"]
    slow = [*words, "--methods", "mdav,mdav+anneal:steps=2000000000"]
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        slow, cwd=tmp_path, stdin=follower, stdout=subprocess.PIPE, stderr=follower, start_new_session=True
    )
    os.close(follower)
    journal = tmp_path / "microagg-internal" / "compare.jsonl"
    try:
        while process.poll() is None and (not journal.exists() or journal.read_text().count("key") < 2):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=300)
    finally:
        process.kill()
        process.wait()
        told = b""
        try:
            while piece := os.read(leader, 65536):
                told += piece
        except OSError:  # the other side is closed
            pass
        os.close(leader)
        if process.stdout is not None:
            process.stdout.close()
    assert process.returncode == 130
    assert b"the same command continues from there" in told.replace(b"\r\n", b" ")
    done = run("survey.csv", *KEYS, "-k", "3,4", "--methods", "mdav", folder=tmp_path, command="compare")
    assert "2 strategies in" in done.stdout
    assert "2 of them in an earlier run" in done.stdout


def test_a_file_of_categories_alone(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    columns = {"sex": "mf", "region": "NSEW", "school": "abc"}
    pd.DataFrame({name: random.choice(list(of), 60) for name, of in columns.items()}).to_csv(
        tmp_path / "people.csv", index=False
    )
    given = ("--keys", "sex,region,school", "--ordinal", "school=a<b<c", "--importance", "sex=2")
    done = run("people.csv", "-k", 3, *given, "--respondent", "none", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = measures(tmp_path, "people.csv", "people-protected.csv")  # its record has the kinds
    assert set(found["il"]["parts"]) == {"sex", "region", "school"}
    assert found["two_way_tables"]["value"] >= found["margins"]["value"]
    assert found["means"]["value"] is None
    assert assess(tmp_path, "people.csv", *given[:2], "-k", 3).returncode == 0
    compared = run("people.csv", "-k", "3,4", *given, folder=tmp_path, command="compare")
    assert (compared.returncode, compared.stderr) == (0, "")
