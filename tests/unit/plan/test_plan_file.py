"""Plan files: written, read back, refused."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import DataError, SettingsError
from microagg.model import Microdata, Origin
from microagg.plan.plan_file import MOST_BYTES, parsed_plan, read_plan, used_plan, write_plan
from microagg.plan.profile import profile
from microagg.plan.suggestions import settings_of_plan, suggest
from microagg.settings import kinds
from microagg.settings.declared import PLAN_OPTIONS

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


def values_of(kind: kinds.Kind) -> st.SearchStrategy[object]:
    by_kind: dict[type[kinds.Kind], st.SearchStrategy[object]] = {
        kinds.Delimiter: st.sampled_from(";|~"),
        kinds.Int: st.integers(2, 2**64 - 1),
        kinds.GroupSize: st.integers(2, 2**64 - 1),
        kinds.Number: st.floats(0.01, 1e9),
        kinds.Flag: st.booleans(),
        kinds.NameList: st.lists(NAMES, min_size=1),
        kinds.Acceptances: st.lists(st.sampled_from(["distinct", "derived=a", "pairs"]), min_size=1),
        kinds.Subsets: st.lists(st.lists(NAMES, min_size=1), min_size=1),
        kinds.CodesByColumn: st.dictionaries(NAMES, st.lists(NUMBERS, min_size=1)),
        kinds.DecimalsByColumn: st.dictionaries(NAMES, st.integers(0, 15)),
        kinds.LevelsByColumn: st.dictionaries(NAMES, st.lists(NAMES.filter(bool), min_size=2, unique=True)),
        kinds.ChoiceByColumn: st.dictionaries(NAMES, st.sampled_from(["day", "month", "year"])),
        kinds.TaxonomyByColumn: st.dictionaries(
            NAMES, st.dictionaries(st.text("abc", min_size=1), st.just(""), min_size=1)
        ),
        kinds.NumberByColumn: st.dictionaries(NAMES, st.floats(1e-6, 1e6)),
    }
    if isinstance(kind, kinds.Number) and not kind.fits(1e9):
        return st.floats(1.0, 99.0)
    return (
        st.sampled_from(list(kind.choices)) if kind.choices else by_kind.get(type(kind), NAMES.filter(bool))
    )


PLANS = st.fixed_dictionaries(
    {}, optional={name: values_of(option.kind) for name, option in PLAN_OPTIONS.items()}
)


# --- round trips ------------------------------------------------------------------------------


@given(PLANS)
def test_what_is_written_is_read(words: dict[str, object]) -> None:
    assert parsed_plan(write_plan(words), "plan") == words
    assert parsed_plan(used_plan(words), "plan") == words


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
        ("[keys]\nsecond = 1", "plan.toml: keys must be a list of column names"),
        ("k = 3.0", "plan.toml: k is of type float; it must be a whole number"),
        ("k = true", "k is of type bool; it must be a whole number"),
        ("k = '3'", "k is of type str; it must be a whole number"),
        ("k = 1", "k is 1; it must be at least 2"),
        ("keys = [['a'], 'b']", "keys must be either a list of column names or a list of such lists"),
        ("strata = [1]", "strata must be a list of column names"),
        ("strata = []", "strata must be at least one column name"),
        ("keep_order = 1", "keep_order must be true or false"),
        ("noise = nan", "noise is nan; it must be a number"),
        ("noise = 'much'", "noise is 'much', of type str; it must be a number of at least 0.01"),
        ("missing_codes = [99]", "missing_codes must be a table with names of columns and a list of codes"),
        (
            "decimals = 2",
            "decimals must be a table with names of columns and a number of decimals for each",
        ),
        ("missing_codes = { a = [true] }", "missing_codes of a must be a list of finite numbers or texts"),
        ("missing_codes = { a = [inf] }", "missing_codes of a must be a list of finite numbers or texts"),
        ("decimals = { a = 1.5 }", "decimals of a is 1.5; it must be a whole number"),
        ("weight = ['w']", "weight must be the name of one column"),
        ("output = 3", "output must be text"),
        ("delimiter = 'ab'", "The delimiter is 'ab'"),
        ("seed = 2020-01-01", "seed is datetime.date"),
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


def test_one_thing_needs_no_brackets(tmp_path: Path) -> None:
    text = "keys = 'a'\nstrata = 'region'\nmissing_codes = { a = 99 }"
    assert read_plan(written(tmp_path, text)) == {
        "keys": [["a"]],
        "strata": ["region"],
        "missing_codes": {"a": [99]},
    }


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
