"""Parts of `protect` broken on purpose: the release is refused, and no file is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg import protect
from microagg.aggregate import masking
from microagg.engines import local
from microagg.errors import ContractError, UnsafeRelease
from microagg.prepare import prepared
from microagg.verdict import Finding, Verdict, refuse
from microagg.write import staging
from tests.refusals import refusal, unsafe

N = 36


def table() -> pa.Table:
    random = np.random.default_rng(11)
    return pa.table(
        {
            "name": [f"person {at}" for at in range(N)],
            "region": [["A", "B", "C", "C"][at % 4] if at < 33 else "DDE"[at - 33] for at in range(N)],
            "x": random.integers(0, 1000, N),
            "y": random.normal(size=N).round(3),
            "gaps": [None if at % 3 == 0 else float(at % 7) for at in range(N)],
            "weight": [1.0 + at % 2 for at in range(N)],
            "income": random.normal(1000, 100, N).round(2),
            "note": [f"note {at % 5}" for at in range(N)],
        }
    )


def protected(**words: Any) -> Any:
    words = {
        "keys": ["x", "y"],
        "drop": ["name"],
        "pass_": ["income"],
        "method": "mdav",
        **words,
    }
    return protect(table(), 3, **words)


STRATA = {"strata": "region", "small_strata": "merge"}
SUPPRESSED = {"strata": "region", "small_strata": "suppress"}
GAPS = {"keys": ["x", "gaps"], "missing": "by-pattern", "pass_": ["income", "y"]}
NOISE = {"confidential": "income", "confidential_as": "noise", "pass_": None}


def test_all_is_well_as_long_as_nothing_is_broken(tmp_path: Path) -> None:
    for at, words in enumerate(
        ({}, STRATA, SUPPRESSED, GAPS, NOISE, {"weight": "weight"}, {"shuffle": True})
    ):
        for ending in ("csv", "parquet", "xlsx", "dta"):
            protected(**words).save(tmp_path / f"{at}.{ending}")


# --- the release ----------------------------------------------------------------------------------------

Patch = Callable[..., Any]
BROKEN: dict[str, tuple[Any, str, Callable[[Patch], Patch], dict[str, Any], Finding]] = {}
"""By name: the module and function, what to put in its place, the options, and what is found."""


def broken(
    module: Any, function: str, finding: Finding, **words: Any
) -> Callable[[Callable[[Patch], Patch]], Callable[[Patch], Patch]]:
    def remember(make: Callable[[Patch], Patch]) -> Callable[[Patch], Patch]:
        name = make.__name__.replace("_", " ")
        while name in BROKEN:
            name += "'"
        BROKEN[name] = (module, function, make, words, finding)
        return make

    return remember


@broken(masking, "values_by_group", refuse("mean_not_kept", "x"), weight="weight")
@broken(masking, "values_by_group", refuse("mean_not_kept", "x"), **STRATA)
@broken(masking, "values_by_group", refuse("mean_not_kept", "x"))
def wrong_mean_of_one_group(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        found = real(*args).copy()
        found[0, 0] += 1.0
        return found

    return patched


@broken(masking, "values_by_group", refuse("mean_not_kept", "x"), weight="weight")
def weights_forgotten(real: Patch) -> Patch:
    return lambda values, labels, how, weights: real(values, labels, how, None)


@broken(masking, "values_by_group", refuse("mean_not_kept"))
def medians_for_means(real: Patch) -> Patch:
    return lambda values, labels, how, weights: real(values, labels, "median", None)


@broken(local, "solve_all", refuse("combination_too_rare", k=3))
def off_by_one_member(real: Patch) -> Patch:
    def patched(*args: Any, **more: Any) -> Any:
        first, *others = real(*args, **more)
        labels = first.labels.copy()
        labels[np.flatnonzero(labels == 0)[0]] = 1
        return [replace(first, labels=labels), *others]

    return patched


@broken(masking, "_numbered", refuse("combination_too_rare", k=3))
def a_member_gets_the_value_of_another_group(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        group, shares = real(*args)
        group[np.flatnonzero(group == 0)[0]] = 1
        return group, shares

    return patched


@broken(local, "masked", refuse("combination_too_rare", k=3))
def rounding_that_differs_between_members(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        new = real(*args)
        new.columns["y"][0] += 1e-9
        return new

    return patched


@broken(local, "masked", refuse("combination_too_rare", k=3), decimals={"x": 0})
def one_record_keeps_its_value(real: Patch) -> Patch:
    def patched(protection: Any, numbers: Any, *args: Any) -> Any:
        new = real(protection, numbers, *args)
        new.columns["x"][5] = numbers["x"][5]
        return new

    return patched


@broken(masking, "rounded", refuse("mean_not_kept", "x"), decimals={"x": 0})
def all_rounded_up(real: Patch) -> Patch:
    return lambda values, shares, decimals: np.ceil(values) + 1.0


@broken(local, "masked", refuse("value_without_source"), **GAPS)
def a_missing_value_is_filled(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        new = real(*args)
        values = new.columns["gaps"]
        values[np.isnan(values)] = np.nanmean(values)
        return new

    return patched


@broken(local, "masked", refuse("not_a_number"))
def an_infinite_value(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        new = real(*args)
        new.columns["x"][:] = np.inf
        return new

    return patched


@broken(local, "masked", refuse("missing_moved"), **NOISE)
def noise_loses_a_value(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        new = real(*args)
        new.columns["income"][3] = np.nan
        return new

    return patched


@broken(prepared, "strata_of", refuse("strata_split"), **STRATA)
def a_record_with_a_wrong_merged_code(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        found = real(*args)
        codes = found.recoded["region"].to_pylist()
        codes[0] = codes[1]
        return replace(found, recoded={"region": pa.array(codes, pa.large_string())})

    return patched


@broken(prepared, "strata_of", refuse("column_changed"), **STRATA)
def strata_that_were_not_merged_are_renamed(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        found = real(*args)
        codes = ["Z" if code == "A" else code for code in found.recoded["region"].to_pylist()]
        return replace(found, recoded={"region": pa.array(codes, pa.large_string())})

    return patched


@broken(prepared, "strata_of", refuse("combination_too_rare", k=3), **STRATA)
def strata_merged_but_not_recoded(real: Patch) -> Patch:
    return lambda *args: replace(real(*args), recoded={})


@broken(prepared, "strata_of", refuse("combination_too_rare", k=3), **SUPPRESSED)
def one_suppressed_record_is_kept(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        found = real(*args)
        rows, of = np.append(found.rows, N - 1), np.append(found.of, 0)
        return replace(found, rows=rows, of=of)

    return patched


@broken(local, "_order", refuse("rows_repeated"), shuffle=True)
def a_record_twice(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        order = real(*args)
        order[0] = order[1]
        return order

    return patched


@broken(local, "released_table", refuse("columns_differ", dropped=["name"]))
def a_dropped_column_is_released(real: Patch) -> Patch:
    return lambda source, rows, protection, *args: real(source, rows, replace(protection, drop=()), *args)


@broken(local, "released_table", refuse("column_changed", "income", records=1))
def another_column_is_changed(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        made = real(*args)
        values = made.column("income").to_pylist()
        values[7] += 0.01
        return made.set_column(made.column_names.index("income"), "income", pa.array(values))

    return patched


@broken(local, "released_table", refuse("column_changed", "note"))
def other_columns_are_in_another_order(real: Patch) -> Patch:
    def patched(*args: Any) -> Any:
        made = real(*args)
        notes = made.column("note").to_pylist()
        return made.set_column(made.column_names.index("note"), "note", pa.array(notes[1:] + notes[:1]))

    return patched


@broken(local, "released_table", refuse("columns_differ", missing=["note"], where="released table"))
def a_column_is_lost(real: Patch) -> Patch:
    return lambda *args: real(*args).drop_columns(["note"])


@broken(local, "released_table", refuse("rows_miscounted"))
def a_record_is_lost(real: Patch) -> Patch:
    return lambda *args: real(*args).slice(1)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_part_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, function, make, words, finding = BROKEN[name]
    protected(**words)
    monkeypatch.setattr(module, function, make(getattr(module, function)))
    with unsafe(finding):
        protected(**words)


def test_nothing_is_released_without_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Verdict, "raise_if_unsafe", lambda self: None)
    monkeypatch.setattr(local, "solve_all", off_by_one_member(local.solve_all))
    with refusal(ContractError, "not_verified"):
        protected()


# --- the file -------------------------------------------------------------------------------------------


def put(made: pa.Table, column: str, values: Any) -> pa.Table:
    return made.set_column(made.column_names.index(column), column, pa.array(values))


def with_cell(made: pa.Table, column: str, row: int, value: object) -> pa.Table:
    values = made.column(column).to_pylist()
    values[row] = value
    return put(made, column, values)


FAULTS: dict[str, tuple[Callable[[pa.Table], pa.Table], Finding]] = {
    "the last record is lost": (
        lambda made: made.slice(0, made.num_rows - 1),
        refuse("written_rows_differ", written=35, verified=36),
    ),
    "a record is written twice": (
        lambda made: made.take([*range(made.num_rows), 0]),
        refuse("written_rows_differ", written=37, verified=36),
    ),
    "records change places": (
        lambda made: made.take([1, 0, *range(2, made.num_rows)]),
        refuse("written_differs"),
    ),
    "a key is changed": (lambda made: with_cell(made, "x", 3, 12345), refuse("written_differs", "x")),
    "a key is lost": (lambda made: with_cell(made, "x", 3, None), refuse("written_differs", "x")),
    "another cell is changed": (
        lambda made: with_cell(made, "note", 3, "note 99"),
        refuse("written_differs", "note"),
    ),
    "another cell is lost": (
        lambda made: with_cell(made, "income", 3, None),
        refuse("written_differs", "income"),
    ),
    "decimals are cut off": (
        lambda made: put(made, "y", np.trunc(made.column("y").to_numpy() * 10) / 10),
        refuse("written_differs", "y"),
    ),
    "the last bit is changed": (
        lambda made: put(made, "y", np.nextafter(made.column("y").to_numpy(), np.inf)),
        refuse("written_differs", "y"),
    ),
    "a column is lost": (
        lambda made: made.drop_columns(["note"]),
        refuse("columns_differ", missing=["note"], where="written file"),
    ),
    "a column has another name": (
        lambda made: made.rename_columns(["place", *made.column_names[1:]]),
        refuse("columns_differ", missing=["region"], added=["place"]),
    ),
    "columns change places": (
        lambda made: made.select([*made.column_names[1:], made.column_names[0]]),
        refuse("columns_differ", missing=[], added=[], dropped=[]),
    ),
}


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "sav"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_writer_is_caught(
    fault: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, finding = FAULTS[fault]
    release = protected()
    real = staging.remove_source_traces
    monkeypatch.setattr(staging, "remove_source_traces", lambda made, changed: change(real(made, changed)))
    with unsafe(finding):
        release.save(tmp_path / f"out.{ending}", labels=True)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / f"out.{ending}").write_text("old")
    with pytest.raises(UnsafeRelease):
        release.save(tmp_path / f"out.{ending}", force=True)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (lambda text: text[: len(text) // 2], "cut off"),
        (lambda text: text.replace(b"A", b"B", 1), "one letter"),
        (lambda text: text.replace(b".", b"", 1), "one decimal point"),
        (lambda text: text + b"A,1,2,,1,1,note 1\n", "one more line"),
        (lambda text: b"", "nothing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_file_is_caught(
    damage: Callable[[bytes], bytes], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a faulty disk or library might leave."""
    release = protected()
    real = staging._write

    def patched(microdata: Any, new: Any, *args: Any) -> None:
        real(microdata, new, *args)
        content = damage(new.path.read_bytes())
        with new.opened() as file:
            file.truncate(0)
            file.write(content)

    monkeypatch.setattr(staging, "_write", patched)
    with pytest.raises(UnsafeRelease, match="Nothing is released"):
        release.save(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
