"""`microagg protect` and all that can be wrong: exit codes, what to do, no values shown, nothing left."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.bad_files import BAD_FILES, BadFile, bad_file_id, csv_of, noise, write_good
from tests.e2e.protecting import (
    COMPANIES,
    column,
    listing,
    mode,
    protected,
    refused,
    run,
    run_without_privileges,
    survey,
    survey_rows,
    write_rows,
)

IS_ROOT = os.geteuid() == 0
KEYS = ("-k", 3, "--keys", "income,age")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_good(tmp_path / "good.csv")


def says(message: str, *parts: str) -> None:
    for part in parts:
        assert part in message


# --- files ------------------------------------------------------------------------------------

OTHER_COLUMNS = {
    "only text", "dates", "other dates", "text and dates", "numbers, text and dates", "truth values",
    "quoted decimal commas", "doubtful commas", "thousands", "thousands by points", "thousands by spaces",
    "thousands beside decimal commas", "points and commas", "points beside commas", "empty column",
}  # fmt: skip
"""They have other columns than `income` and `age`."""
FILES = [bad for bad in BAD_FILES if bad.name not in OTHER_COLUMNS | {"quote without end"}]


@pytest.mark.parametrize("bad", FILES, ids=bad_file_id)
def test_a_bad_file(tmp_path: Path, bad: BadFile) -> None:
    path = bad.write(tmp_path)
    message = refused(2, tmp_path, path, *KEYS, "-o", "out.csv")
    if "missing value" in bad.says[-1] or "missing value" in bad.says[1 % len(bad.says)]:
        says(message, "missing value", "--missing by-pattern")
    else:
        says(message, *bad.says)


def test_numbers_with_signs_are_no_keys(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"income,age\n" + b'"98,765,432",1\n' * 4)
    says(refused(2, tmp_path, "bad.csv", *KEYS), "'income'")


BAD_KINDS = {
    "an unknown level": ("age,job", "--ordinal", "job=a<b"),
    "a level twice": ("age,job", "--ordinal", "job=a<a<b<c"),
    "free text without levels": ("age,job", "--ordinal", "job"),
    "no importance": ("age", "--importance", "age=0"),
    "a column of two kinds": ("age,job", "--nominal", "job", "--ordinal", "job=a<b<c"),
    "resolution of a number": ("age", "--resolution", "age=month"),
    "an unknown resolution": ("born", "--resolution", "born=week"),
    "dates in some rows": ("mixed",),
    "as many categories as records": ("who",),
}


@pytest.mark.parametrize("given", BAD_KINDS.values(), ids=list(BAD_KINDS))
def test_bad_kinds_of_keys(tmp_path: Path, given: tuple[str, ...]) -> None:
    rows = [
        f"{20 + at},{'abc'[at % 3]},2001-02-{at + 10},w{at}x," + "2001-02-03" * (at > 0) for at in range(9)
    ]
    rows[0] += "text"
    (tmp_path / "kinds.csv").write_text("\n".join(["age,job,born,who,mixed", *rows]) + "\n")
    refused(2, tmp_path, "kinds.csv", "-k", 3, "--keys", *given, "--rest", "drop", "-o", "out.csv")


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".xlsx", ".dta", ".sav", ".xpt"])
def test_a_truncated_file(tmp_path: Path, ending: str) -> None:
    path = write_good(tmp_path / f"good{ending}")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    message = refused(2, tmp_path, path, *KEYS)
    says(message, "cannot be read", "Check that it is complete")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    says(refused(2, tmp_path, "nothing.csv", *KEYS), "There is no file nothing.csv", "Check the name")
    says(refused(2, tmp_path, tmp_path, *KEYS), "is a folder")
    says(refused(2, tmp_path, *KEYS), "FILE is not given", "microagg protect data.csv")
    says(refused(2, tmp_path, "-", *KEYS, "-o", "out.csv"), "no records")
    says(refused(2, tmp_path, "-", *KEYS, "-o", "out.csv", given=noise()), "not a CSV file")


def test_a_file_without_permission(tmp_path: Path, good: Path) -> None:
    good.chmod(0)
    done = run_without_privileges(good, *KEYS, folder=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    says(done.stderr, "good.csv cannot be opened: Permission denied", "Check its permissions")
    assert list(tmp_path.iterdir()) == [good]


# --- columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--keys", "incom,age"), ("'incom'", "did you mean income?")),
        (("--keys", "income", "--strata", "regoin"), ("'regoin'",)),
        (("--keys", "income,income"), ("'income' is named twice in keys", "once")),
        (("--keys", "income", "--each", "income"), ("named in keys and in each", "keep one")),
        (("--keys", ""), ("",)),
        (("--keys", "income\nage"), ("line break outside of quotes",)),
        (("--keys", "income", "--decimals", "income"), ("COLUMN=N",)),
        (("--keys", "income", "--decimals", "income=²"), ("COLUMN=N",)),
        (("--keys", "income", "--decimals", "income=1,income=2"), ("twice", "'income'")),
        (("--keys", "income", "--decimals", "age=1"), ("no effect on column 'age'",)),
        (("--keys", "income", "--missing-codes", "income="), ("COLUMN=CODES",)),
        (("--keys", "income", "--missing-codes", "income=9,,"), ("COLUMN=CODES",)),
        (("--keys", "income", "--missing-codes", "income=9", "--missing-codes", "income=8"), ("twice",)),
        ((), ("No column is named to be masked", "--keys (masked together)")),
    ],
    ids=lambda value: " ".join(value) or "none",
)
def test_bad_columns(tmp_path: Path, good: Path, options: tuple[str, ...], parts: tuple[str, ...]) -> None:
    says(refused(2, tmp_path, good, "-k", 3, *options), *parts)


def test_duplicate_columns(tmp_path: Path) -> None:
    (tmp_path / "twice.csv").write_bytes(csv_of(header="income,income"))
    says(
        refused(2, tmp_path, "twice.csv", "-k", 3, "--keys", "income"),
        "'income'",
        "more than once",
        "Rename",
    )


def test_a_likely_identifier_needs_a_role(tmp_path: Path) -> None:
    (tmp_path / "companies.csv").write_text(COMPANIES)
    message = refused(2, tmp_path, "companies.csv", "-k", 3, "--keys", "surface,employees")
    says(message, "'company' (nearly all of its values are distinct)", "drop", "pass")
    assert "A&A" not in message


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("-k", 1), ("k is 1", "at least 2")),
        (("-k", 13), ("k is 13", "12 records", "a k of at most 12")),
        (("-k", "many"), ()),
        ((), ("k is not given", "-k 3")),
        (("-k", 3, "--missing", "drop"), ("refuse, by-pattern",)),
        (("-k", 3, "--small-strata", "nearest"), ("only if strata are named",)),
        (("-k", 3, "--small-strata", "merge"), ("no choice 'merge' any more", "'nearest'")),
        (("-k", 3, "--noise", "0.5"), ("only if confidential_as is noise",)),
        (("-k", 3, "--aggregate", "mode"), ("mean, median",)),
        (("-k", 3, "--method", "mdva"), ("did you mean mdav",)),
        (("-k", 3, "--method", "mdav", "--effort", "best"), ("no effect",)),
        (("-k", 3, "--decimal", ";"), ("decimal",)),
    ],
    ids=lambda value: " ".join(map(str, value)) or "none",
)
def test_bad_settings(
    tmp_path: Path, good: Path, options: tuple[object, ...], parts: tuple[str, ...]
) -> None:
    before = listing(tmp_path)
    done = run(good, "--keys", "income,age", *options)
    assert done.returncode == 2
    says(done.stderr, *parts)
    assert listing(tmp_path) == before


# --- values ---------------------------------------------------------------------------------------


def test_a_constant_key_is_released_as_it_is(tmp_path: Path) -> None:
    rows = [[98765432, 98765432 + at * at % 7] for at in range(12)]
    source = write_rows(tmp_path / "constant.csv", ["always", "x"], rows)
    protected(source, "-k", 3, "--keys", "always,x")
    assert set(column(tmp_path / "constant-protected.csv", "always")) == {"98765432"}
    protected(source, "-k", 3, "--keys", "always", "--drop", "x", "-o", tmp_path / "alone.csv")
    assert column(tmp_path / "alone.csv", "always") == ["98765432"] * 12


def test_strata_that_are_all_too_small(tmp_path: Path) -> None:
    rows = [[f"secret-{at % 6}", 98765432 + at] for at in range(12)]
    source = write_rows(tmp_path / "strata.csv", ["s", "x"], rows)
    command = (source, "-k", 3, "--keys", "x", "--strata", "s")
    message = refused(2, tmp_path, *command)
    says(message, "6 of 6 strata (s) have fewer than k = 3 records", "the smallest has 2", "coarser strata")
    assert "secret" not in message
    message = refused(2, tmp_path, *command, "--small-strata", "suppress")
    says(message, "would leave nothing", "coarser strata")
    message = refused(2, tmp_path, *command, "--small-strata", "nearest")
    says(message, "no group that they could join", "coarser strata")
    assert "secret" not in message


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        ("-98765432.5", ("1 negative or zero weight;",)),
        ("0", ("1 negative or zero weight;",)),
        ("1e-300", ("1 too small weight;", "from 1e-100 to 1e100")),
        ("", ("1 missing weight;",)),
        ("inf", ("'weight'", "1 infinite value")),
        ("heavy", ("'weight'", "other than numbers")),
        ("1e200", ("1 too large weight;",)),
    ],
)
def test_bad_weights(tmp_path: Path, weight: str, parts: tuple[str, ...]) -> None:
    rows = [[98765432 + at, 2] for at in range(11)] + [[98765432, weight]]
    source = write_rows(tmp_path / "weights.csv", ["x", "weight"], rows)
    says(refused(2, tmp_path, source, "-k", 3, "--keys", "x", "--weight", "weight"), *parts)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--keys", "age", "--weight", "weight"), ("more than half of the weight 'weight'", "larger k")),
        (("--keys", "age", "--keys", "income"), ("NOT jointly", "--accept partial")),
        (
            ("--keys", "age", "--confidential", "note", "--min-distinct", "9"),
            ("'note'", "--retry", "--accept distinct=note"),
        ),
        (("--keys", "age", "--aggregate", "median"), ("publish a value", "--accept real-values")),
        (
            ("--keys", "age", "--confidential", "disease", "--min-distinct", "4", "--retry"),
            ("before this is decided, after 15 attempts", "A larger k"),
        ),
    ],
    ids=["dominated", "partial", "homogeneous", "median", "retried"],
)
def test_an_unsafe_release(tmp_path: Path, options: tuple[str, ...], parts: tuple[str, ...]) -> None:
    source = survey(tmp_path / "survey.csv")
    says(refused(3, tmp_path, source, "-k", 3, *options), *parts)


def test_a_million_strata_are_refused_soon(tmp_path: Path) -> None:
    n = 1_000_000
    table = pa.table({"s": np.arange(n), "x": np.random.default_rng(3).normal(size=n)})
    parquet.write_table(table, tmp_path / "many.parquet")
    command = ("many.parquet", "-k", 3, "--keys", "x", "--strata", "s")
    says(refused(2, tmp_path, *command), "1,000,000 of 1,000,000 strata (s)", "the smallest has 1")
    says(refused(2, tmp_path, *command, "--small-strata", "nearest"), "no group that they could join")


# --- plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "parts"),
    [
        ("kays = [['x']]", ("'kays'", "did you mean keys?", "`microagg plan` writes a plan")),
        ("k = '3'", ("plan.toml: k is of type str", "a whole number")),
        ("k = 3\nkeys = 5", ("keys must be a list of column names",)),
        ("k = 3\nkeys = [['income', 98765432]]", ("keys must be a list of column names",)),
        ("k = 3\nkeys = [['income']]\nkeep_order = 1", ("keep_order must be true or false",)),
        ("k = 3\nkeys = [['income']]\nseed = 2026-01-01", ("seed is datetime.date", "a whole number")),
        (
            "k = 3\nkeys = [['income']]\ndecimals = {income = 1.5}",
            ("decimals of income is 1.5", "a whole number"),
        ),
        ("k = 3\nkeys = [['income']]\naccept = ['pairs']", ("only if k is 2",)),
        ("k = 3\nk = 4", ("is not TOML", "each option once")),
        ("98765432", ("is not TOML: line 1",)),
    ],
)
def test_a_bad_plan(tmp_path: Path, good: Path, plan: str, parts: tuple[str, ...]) -> None:
    (tmp_path / "plan.toml").write_text(plan)
    says(refused(2, tmp_path, good, "--plan", "plan.toml"), *parts)


def test_a_missing_plan(tmp_path: Path, good: Path) -> None:
    says(refused(2, tmp_path, good, "--plan", "nothing.toml"), "There is no file nothing.toml")


# --- outputs --------------------------------------------------------------------------------------


def test_the_output_is_never_the_input(tmp_path: Path, good: Path) -> None:
    (tmp_path / "link.csv").symlink_to(good)
    (tmp_path / "hard.csv").hardlink_to(good)
    for name in ("good.csv", "link.csv", "hard.csv", "./good.csv"):
        for force in ((), ("--force",)):
            says(
                refused(2, tmp_path, good, *KEYS, "-o", name, *force), "is the file that is read", "another"
            )


def test_outputs_that_cannot_be(tmp_path: Path, good: Path) -> None:
    (tmp_path / "old.csv").write_text("old")
    os.mkfifo(tmp_path / "pipe.csv")
    for name, *parts in (
        ("old.csv", "exists already"),
        ("nowhere/out.csv", "There is no folder nowhere", "Create it first"),
        (".", "is a folder"),
        ("out.xyz", "cannot be recognised by its name", ".csv"),
        ("out.sas7bdat", "SAS files can only be read"),
        ("pipe.csv", "is not a file"),
        ("x" * 300 + ".csv", "too long"),
    ):
        says(refused(2, tmp_path, good, *KEYS, "-o", name), *parts)
    for name in ("pipe.csv", "/dev/null"):
        says(refused(2, tmp_path, good, *KEYS, "-o", name, "--force"), "is not a file")


def test_an_internal_file_that_exists(tmp_path: Path, good: Path) -> None:
    folder = tmp_path / "microagg-internal"
    folder.mkdir()
    (folder / "out.csv.plan.toml").write_text("mine")
    says(refused(2, tmp_path, good, *KEYS, "-o", "out.csv"), "out.csv.plan.toml exists already")
    (tmp_path / "secrets").write_text("no folder")
    message = refused(2, tmp_path, good, *KEYS, "-o", "new.csv", "--record", "secrets")
    says(message, "secrets is a file; give a folder")


def test_a_read_only_folder(tmp_path: Path, good: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    done = run_without_privileges(good, *KEYS, "-o", folder / "out.csv", folder=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    says(done.stderr, "out.csv was not written: Permission denied", "No partly written file is left")
    assert list(folder.iterdir()) == []


def test_a_read_only_source_is_no_hindrance(tmp_path: Path) -> None:
    """Its copy is read-only too, but must be written first, by libraries that open it by its name."""
    source = survey(tmp_path / "survey.csv")
    source.chmod(0o444)
    done = run_without_privileges(source, "-k", 3, "--keys", "age", "-o", "out.parquet", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert mode(tmp_path / "out.parquet") == 0o444


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = IS_ROOT and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True
    ).returncode == 0  # fmt: skip
    if not mounted:
        pytest.skip("needs root, to mount a file system that can be full: NOT TESTED")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather", ".xlsx", ".dta", ".sav", ".xpt"])
def test_a_full_disk(tmp_path: Path, small_disk: Path, ending: str) -> None:
    random = np.random.default_rng(5)
    rows = [[98765432 + int(number), text.hex()] for number, text in zip(
        random.integers(0, 99, 6000), (random.bytes(20) for _ in range(6000)), strict=True
    )]  # fmt: skip
    source = write_rows(tmp_path / "long.csv", ["x", "text"], rows)
    command = (source, "-k", 3, "--keys", "x", "--pass", "text", "-o", small_disk / f"out{ending}")
    message = refused(4, tmp_path, *command)
    says(message, f"out{ending} was not written", "No partly written file is left")
    (small_disk / f"out{ending}").write_text("precious")
    refused(4, tmp_path, *command, "--force")


def test_a_disk_that_is_full_when_the_record_is_written(tmp_path: Path, small_disk: Path) -> None:
    """There is room for the release, but not for its labels."""
    rows = [[98765432 + row[1] % 9, "north"] for row in survey_rows(3000)]
    source = write_rows(tmp_path / "survey.csv", ["x", "region"], rows)
    path = small_disk / "out.csv"
    message = refused(4, tmp_path, source, "-k", 3, "--keys", "x", "-o", path, "--labels")
    says(message, "No space left on device")
    protected(source, "-k", 3, "--keys", "x", "-o", path)
