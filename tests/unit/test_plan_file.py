"""Plan files: written, read back, refused."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.errors import DataError, SettingsError
from microagg.model import Microdata, Origin
from microagg.plan.plan_file import MOST_BYTES, parsed_plan, read_plan, used_plan, write_plan
from microagg.plan.profile import profile
from microagg.plan.settings import PLAN_OPTIONS
from microagg.plan.suggestions import settings_of_plan, suggest

NAMES = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    [
        "a.b",
        'quo"te',
        "back\\slash",
        "line\nbreak",
        "\r\n",
        "#",
        "]",
        "=",
        "tab\t",
        "\x00",
        "\x7f",
        "\u2028",
        "'''",
    ]
)
NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = {
    "text in quotes": NAMES,
    "a whole number": st.integers(0, 2**64 - 1),
    "a number": NUMBERS,
    "true or false": st.booleans(),
    "an array of column names": st.lists(NAMES),
    "an array of arrays of column names": st.lists(st.lists(NAMES)),
    "a table with an array of numbers and texts for each column": st.dictionaries(NAMES, st.lists(NUMBERS)),
    "a table with a whole number for each column": st.dictionaries(NAMES, st.integers(0, 20)),
}
PLANS = st.fixed_dictionaries(
    {}, optional={name: VALUES[option.kind.toml] for name, option in PLAN_OPTIONS.items()}
)


# --- round trips ------------------------------------------------------------------------------


@settings(deadline=None)
@given(PLANS)
def test_what_is_written_is_read(words: dict[str, object]) -> None:
    assert parsed_plan(write_plan(words), "plan") == words
    assert parsed_plan(used_plan(words), "plan") == words


@settings(deadline=None)
@given(st.dictionaries(NAMES.filter(bool), st.lists(st.integers(0, 9), min_size=5, max_size=5), max_size=4))
def test_odd_names_stay_in_their_comments(columns: dict[str, list[int]]) -> None:
    microdata = Microdata(pa.table(columns), Origin("frame", "the\ndata"))
    found = profile(microdata)
    suggestions = suggest(microdata, found, 3)
    words = settings_of_plan(suggestions, found, 3)
    assert parsed_plan(write_plan(words, found, suggestions), "plan") == words


def test_long_lists_are_broken_into_lines(tmp_path: Path) -> None:
    names = [f"column number {at}" for at in range(50)]
    words: dict[str, object] = {"keys": [names, ["a", "b"]], "drop": names}
    text = write_plan(words)
    assert max(map(len, text.splitlines())) <= 108
    assert parsed_plan(text, "plan") == words


def test_tuples_paths_and_nothing() -> None:
    words = {"keys": (("a", "b"),), "input": Path("x.csv"), "seconds": None, "k": np.int64(3)}
    assert parsed_plan(write_plan(words), "plan") == {"keys": [["a", "b"]], "input": "x.csv", "k": 3}


def test_every_option_is_explained() -> None:
    lines = write_plan({}).splitlines()
    for name, option in PLAN_OPTIONS.items():
        at = next(at for at, line in enumerate(lines) if line.startswith(f"#{name} = "))
        assert lines[at - 1].startswith("# ")
        shown = tomllib.loads(lines[at][1:])[name]
        assert parsed_plan(lines[at][1:], "plan") == {name: shown}, option


def test_one_subset_needs_no_brackets_of_its_own() -> None:
    assert parsed_plan('keys = ["a", "b"]', "plan") == {"keys": [["a", "b"]]}


# --- profiles in plans ------------------------------------------------------------------------


def test_profile_is_a_comment_without_values() -> None:
    n = 400
    random = np.random.default_rng(1)
    a, b = np.round(random.lognormal(8, 1, n), 2), np.round(random.lognormal(8, 1, n), 2)
    columns = {
        "secret name": [f"Miller {at}" for at in range(n)],
        "a": a,
        "b": b,
        "total": a + b,
        "again": b,
        "region": ["north", "south"] * (n // 2),
        "age": [999, 999, *random.integers(18, 80, n - 2)],
    }
    microdata = Microdata(pa.table(columns), Origin("CSV", "data.csv"))
    found = profile(microdata)
    suggestions = suggest(microdata, found, 3)
    text = write_plan(settings_of_plan(suggestions, found, 3), found, suggestions)
    assert '"total" = "a" + "b"' in text
    assert '"b" = "again"' in text
    assert "\nmissing_codes = { age = [999] }" in text
    assert '\nmissing = "by-pattern"' in text
    assert '# "age": 999 in 2 records: they look like codes' in text
    assert "400 records" in text
    for suggestion in suggestions:
        assert suggestion.reason in text
    for value in ("Miller", "north", "south", *map(str, a[:50]), *map(str, b[:50])):
        assert value not in text


# --- files ------------------------------------------------------------------------------------


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "plan.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_paths_are_relative_to_the_plan(tmp_path: Path) -> None:
    path = written(tmp_path, 'input = "data/in.csv"\noutput = "/elsewhere/out.csv"')
    assert read_plan(path) == {"input": str(tmp_path / "data" / "in.csv"), "output": "/elsewhere/out.csv"}
    assert read_plan(written(tmp_path, 'input = "-"')) == {"input": "-"}


def test_paths_are_written_relative_to_the_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    words = {"input": tmp_path / "in.csv", "output": inner / "out.csv"}
    path = written(inner, used_plan(words, inner))
    assert 'input = "../in.csv"' in path.read_text()
    assert {name: Path(str(value)).resolve() for name, value in read_plan(path).items()} == words
    assert parsed_plan(used_plan({"input": "-"}, inner), "plan") == {"input": "-"}


@pytest.mark.parametrize("content", ["\ufeffk = 3\n", "k = 3\r\n# a comment\r\n"])
def test_what_editors_do(tmp_path: Path, content: str) -> None:
    assert read_plan(written(tmp_path, content)) == {"k": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("kays = [['a']]", r"'kays' \(did you mean keys\?\)"),
        ("[keys]\nsecond = 1", "keys is a table; it must be an array of arrays of column names, such as"),
        ("k = 3.0", "k is a number; it must be a whole number, such as 3"),
        ("k = true", "k is a truth value; it must be a whole number"),
        ("k = '3'", "k is text; it must be a whole number"),
        ("keys = 'a'", "keys is text; it must be an array of arrays"),
        ("keys = [['a'], 'b']", "keys is an array; it must be an array of arrays"),
        ("strata = 'region'", r'strata is text; it must be an array of column names, such as \["region"\]'),
        ("strata = [1]", "strata is an array; it must be an array of column names"),
        ("shuffle = 1", "shuffle is a whole number; it must be true or false"),
        ("noise = nan", "noise is a number; it must be a number"),
        ("noise = 'much'", "noise is text; it must be a number, such as 0.1"),
        ("missing_codes = [99]", "missing_codes is an array; it must be a table with an array of numbers"),
        ("missing_codes = { a = 99 }", "missing_codes is a table; it must be a table with an array"),
        ("missing_codes = { a = [true] }", "a table with an array of numbers and texts for each column"),
        ("decimals = { a = 1.5 }", "must be a table with a whole number for each column"),
        ("weight = ['w']", "weight is an array; it must be text in quotes"),
        ("seed = 2020-01-01", "seed is a date or time; it must be a whole number"),
        ("k = 3\nmethod = mdav", "is not TOML: line 2 cannot be read"),
        ("k = 3\n\nk = 4", "is not TOML: line 3 cannot be read"),
        ("k = 3\nkeys = [\n", "is not TOML: line 3 cannot be read"),
        ("k = " + "9" * 5000, "is not TOML: line 1 cannot be read"),
        ("k = " + "[" * 100_000, "is not TOML"),
        (b"k = 3\n# \xff", "is not text in UTF-8: see line 2"),
        (b"#" * (MOST_BYTES + 1), "too many for a plan"),
    ],
)
def test_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_plan(written(tmp_path, content))


def test_no_plan_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read_plan(tmp_path / "plan.toml")
    with pytest.raises(DataError, match="is a folder"):
        read_plan(tmp_path)
    with pytest.raises(OSError, match="cannot be opened"):
        read_plan(tmp_path / "nul\0")
    with pytest.raises(OSError, match="cannot be opened"):
        read_plan(tmp_path / ("long" * 100))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = written(tmp_path, "k = 3")
    path.chmod(0)
    with pytest.raises(OSError, match="cannot be opened"):
        read_plan(path)


def test_unknown_words_are_not_written() -> None:
    with pytest.raises(SettingsError, match="'kays'"):
        write_plan({"kays": 3})


def test_names_that_are_no_text_are_not_written() -> None:
    with pytest.raises(SettingsError, match="not text in UTF-8"):
        write_plan({"input": b"\xff.csv".decode("utf-8", "surrogateescape")})
