"""Taxonomies on the command line: releases, their records, and files that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.fork_server import outcome
from tests.e2e.protecting import column, protected, refused, rows_of, smallest_class, write_rows

CODES = ["111", "112", "121", "211", "22"]
TREE = [["1", ""], ["2", ""], ["11", "1"], ["12", "1"], ["21", "2"], ["22", "2"]]
TREE += [["111", "11"], ["112", "11"], ["121", "12"], ["211", "21"]]
RECORDS = 60


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    rows = [[CODES[at * at % 7 % 5], at * 37 % 23] for at in range(RECORDS)]
    write_rows(tmp_path / "isco.csv", ["code", "parent"], TREE)
    return write_rows(tmp_path / "jobs.csv", ["job", "pay"], rows)


def says(shown: str, *parts: str) -> None:
    text = " ".join(shown.split())
    assert all(part in text for part in parts), text


OPTIONS = ("-k", 3, "--keys", "job,pay", "--taxonomy", "job=isco.csv")


def test_a_release_is_verified_and_repeated(tmp_path: Path, jobs: Path) -> None:
    shown = protected(jobs, *OPTIONS, "-o", "out.csv", folder=tmp_path)
    says(shown, "job is the category nearest to all of its group", "% of the taxonomy's levels changed")
    released = rows_of(tmp_path / "out.csv")
    assert smallest_class(released, "job", "pay") >= 3
    assert set(column(tmp_path / "out.csv", "job")) <= set(CODES)
    record = tmp_path / "microagg-internal" / "out.csv.microagg.json"
    assert json.loads(record.read_text())["plan"]["taxonomy"] == {"job": dict(TREE)}
    # The record has the taxonomy itself.
    (tmp_path / "isco.csv").unlink()
    done = outcome("verify", "out.csv", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    again = outcome("protect", "--repeat", record, "-o", tmp_path / "again.csv")
    assert (again.returncode, again.stderr) == (0, "")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    plan = next((tmp_path / "microagg-internal").glob("*.toml"))
    protected("--plan", plan, "-o", tmp_path / "planned.csv")


def test_a_plan_names_a_file_beside_it(tmp_path: Path, jobs: Path) -> None:
    (tmp_path / "plans").mkdir()
    plan = tmp_path / "plans" / "plan.toml"
    plan.write_text(
        'input = "../jobs.csv"\nk = 3\nkeys = [["job", "pay"]]\nnominal = ["job"]\n'
        'taxonomy = { job = "../isco.csv" }\n'
    )
    says(protected("--plan", plan, "-o", tmp_path / "out.csv"), "taxonomy's levels")


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ([*TREE, ["2", "211"]], ("isco.csv has the code '2' twice", "Keep")),
        ([["1", "111"], *TREE[1:]], ("stands above itself", "top code")),
        (TREE[1:], ("such as '1'", "a row of its own")),
        ([row for row in TREE if row[0] != "22"], ("lacks 1 of the 4 codes", "Add a row")),
        ([*TREE, ["", "2"]], ("Row 12 of isco.csv has no code",)),
        ([], ("has no code",)),
    ],
    ids=["twice", "cycle", "unknown parent", "missing code", "no code", "empty"],
)
def test_files_that_cannot_be_used(
    tmp_path: Path, jobs: Path, rows: list[list[str]], parts: tuple[str, ...]
) -> None:
    write_rows(tmp_path / "isco.csv", ["code", "parent"], rows)
    message = refused(2, tmp_path, jobs, *OPTIONS)
    says(message, *parts)


@pytest.mark.parametrize(
    ("options", "code", "parts"),
    [
        (("--keys", "pay", "--taxonomy", "job=isco.csv"), 2, ("no effect on column 'job'",)),
        (
            ("--keys", "job", "--ordinal", "job", "--taxonomy", "job=isco.csv"),
            2,
            ("in ordinal and in taxonomy", "Keep one"),
        ),
        (("--keys", "job", "--taxonomy", "job"), 2, ("COLUMN=FILE", "occupation=isco.csv")),
        (("--keys", "job", "--taxonomy", "job=no.csv"), 2, ("no.csv",)),
        (("--keys", "job", "--taxonomy", "job=jobs.csv"), 2, ("jobs.csv", "code and parent")),
    ],
    ids=["no key", "ordinal", "no file", "no such file", "another file"],
)
def test_options_that_do_not_fit(
    tmp_path: Path, jobs: Path, options: tuple[str, ...], code: int, parts: tuple[str, ...]
) -> None:
    says(refused(code, tmp_path, jobs, "-k", 3, *options), *parts)
