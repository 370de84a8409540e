"""Parts of `protect` broken on purpose: the release is refused, and no file is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg import protect
from microagg.aggregate import grouped, masking
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
        "rest": "pass",
        "method": "mdav",
        **words,
    }
    return protect(table(), 3, **words)


STRATA = {"strata": "region", "small_strata": "nearest"}
SUPPRESSED = {"strata": "region", "small_strata": "suppress"}
GAPS = {"keys": ["x", "gaps"], "missing": "by-pattern", "pass_": ["income", "y"]}
NOISE = {"confidential": "income", "confidential_as": "noise", "pass_": None}


def test_all_is_well_as_long_as_nothing_is_broken(tmp_path: Path) -> None:
    for at, words in enumerate(
        ({}, STRATA, SUPPRESSED, GAPS, NOISE, {"weight": "weight"}, {"keep_order": True})
    ):
        for ending in ("csv", "parquet", "xlsx", "dta"):
            protected(**words).save(tmp_path / f"{at}.{ending}")


# --- the release ----------------------------------------------------------------------------------------

Patch = Callable[..., Any]
Caught = Callable[..., None]


@pytest.fixture
def assert_caught(monkeypatch: pytest.MonkeyPatch) -> Caught:
    """A release is refused for a finding if `patched(function, ...)` takes the place of a function."""

    def check(module: Any, function: str, patched: Patch, finding: Finding, **words: Any) -> None:
        protected(**words)
        with monkeypatch.context() as patch:
            patch.setattr(module, function, partial(patched, getattr(module, function)))
            with unsafe(finding):
                protected(**words)

    return check


def test_wrong_mean_of_one_group(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        found = real(*args).copy()
        found[0, 0] += 1.0
        return found

    assert_caught(grouped, "values_by_group", patched, refuse("mean_not_kept", "x"))
    assert_caught(grouped, "values_by_group", patched, refuse("mean_not_kept", "x"), **STRATA)
    assert_caught(grouped, "values_by_group", patched, refuse("mean_not_kept", "x"), weight="weight")


def test_weights_forgotten(assert_caught: Caught) -> None:
    def patched(real: Patch, values: Any, labels: Any, how: Any, weights: Any) -> Any:
        return real(values, labels, how, None)

    assert_caught(grouped, "values_by_group", patched, refuse("mean_not_kept", "x"), weight="weight")


def test_medians_for_means(assert_caught: Caught) -> None:
    def patched(real: Patch, values: Any, labels: Any, how: Any, weights: Any) -> Any:
        return real(values, labels, "median", None)

    assert_caught(grouped, "values_by_group", patched, refuse("mean_not_kept"))


def off_by_one_member(real: Patch, *args: Any, **more: Any) -> Any:
    first, *others = real(*args, **more)
    labels = first.labels.copy()
    labels[np.flatnonzero(labels == 0)[0]] = 1
    return [replace(first, labels=labels), *others]


def test_a_member_in_another_group(assert_caught: Caught) -> None:
    assert_caught(local, "solve_all", off_by_one_member, refuse("combination_too_rare", k=3))


def test_a_member_gets_the_value_of_another_group(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        group, shares = real(*args)
        group[np.flatnonzero(group == 0)[0]] = 1
        return group, shares

    assert_caught(grouped, "_group_numbers", patched, refuse("combination_too_rare", k=3))


def test_rounding_that_differs_between_members(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        new = real(*args)
        new.columns["y"][0] += 1e-9
        return new

    assert_caught(local, "masked", patched, refuse("combination_too_rare", k=3))


def test_one_record_keeps_its_value(assert_caught: Caught) -> None:
    def patched(real: Patch, source: Any, protection: Any, prepared: Any, *args: Any) -> Any:
        new = real(source, protection, prepared, *args)
        new.columns["x"][5] = prepared.kept["x"][5]
        return new

    assert_caught(local, "masked", patched, refuse("combination_too_rare", k=3), decimals={"x": 0})


def test_all_rounded_up(assert_caught: Caught) -> None:
    def patched(real: Patch, values: Any, shares: Any, decimals: Any) -> Any:
        return np.ceil(values) + 1.0

    assert_caught(masking, "rounded", patched, refuse("mean_not_kept", "x"), decimals={"x": 0})


def test_a_missing_value_is_filled(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        new = real(*args)
        values = new.columns["gaps"]
        values[np.isnan(values)] = np.nanmean(values)
        return new

    assert_caught(local, "masked", patched, refuse("value_without_source"), **GAPS)


def test_an_infinite_value(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        new = real(*args)
        new.columns["x"][:] = np.inf
        return new

    assert_caught(local, "masked", patched, refuse("not_a_number"))


def test_noise_loses_a_value(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        new = real(*args)
        new.columns["income"][3] = np.nan
        return new

    assert_caught(local, "masked", patched, refuse("missing_moved"), **NOISE)


def test_a_record_that_joins_a_group_keeps_its_code(assert_caught: Caught) -> None:
    def patched(real: Patch, table: Any, order: Any, protection: Any, strata: Any, *args: Any) -> Any:
        released = real(table, order, protection, strata, *args)
        return released.set_column(
            released.column_names.index("region"), "region", table.column("region").take(order)
        )

    assert_caught(local, "released_table", patched, refuse("combination_too_rare", k=3), **STRATA)


def test_a_record_of_a_large_stratum_gets_another_code(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        grouped, partitions = real(*args)
        of = np.where(grouped.strata.of == 1, 0, grouped.strata.of)
        return replace(grouped, strata=replace(grouped.strata, of=of)), partitions

    assert_caught(local, "join_nearest", patched, refuse("stratum_left", k=3), **STRATA)


def test_a_record_with_the_code_of_another_group(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        grouped, partitions = real(*args)
        of = grouped.strata.of.copy()
        of[-1] = 1 - of[-1]
        return replace(grouped, strata=replace(grouped.strata, of=of)), partitions

    assert_caught(local, "join_nearest", patched, refuse("combination_too_rare", k=3), **STRATA)


def test_a_record_joins_a_group_without_changing_its_mean(assert_caught: Caught) -> None:
    def patched(real: Patch, source: Any, protection: Any, prepared: Any, *args: Any) -> Any:
        moved = {name: np.append(values[:-1], values[0] + 1e6) for name, values in prepared.kept.items()}
        return real(source, protection, replace(prepared, kept=moved), *args)

    assert_caught(local, "masked", patched, refuse("not_the_mean"), **STRATA)


def test_one_suppressed_record_is_kept(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        found = real(*args)
        rows, of = np.append(found.rows, N - 1), np.append(found.of, 0)
        return replace(found, rows=rows, of=of)

    assert_caught(
        prepared, "strata_by_settings", patched, refuse("combination_too_rare", k=3), **SUPPRESSED
    )


def test_a_record_twice(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        order = real(*args)
        order[0] = order[1]
        return order

    assert_caught(local, "released_order", patched, refuse("rows_repeated"))


def test_a_dropped_column_is_released(assert_caught: Caught) -> None:
    def patched(real: Patch, source: Any, rows: Any, protection: Any, *args: Any) -> Any:
        return real(source, rows, replace(protection, drop=()), *args)

    assert_caught(local, "released_table", patched, refuse("columns_differ", dropped=["name"]))


def test_another_column_is_changed(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        made = real(*args)
        values = made.column("income").to_pylist()
        values[7] += 0.01
        return made.set_column(made.column_names.index("income"), "income", pa.array(values))

    assert_caught(local, "released_table", patched, refuse("column_changed", "income", records=1))


def test_other_columns_are_in_another_order(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        made = real(*args)
        notes = made.column("note").to_pylist()
        return made.set_column(made.column_names.index("note"), "note", pa.array(notes[1:] + notes[:1]))

    assert_caught(local, "released_table", patched, refuse("column_changed", "note"))


def test_a_column_is_lost(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        return real(*args).drop_columns(["note"])

    assert_caught(
        local, "released_table", patched, refuse("columns_differ", missing=["note"], where="released table")
    )


def test_a_record_is_lost(assert_caught: Caught) -> None:
    def patched(real: Patch, *args: Any) -> Any:
        return real(*args).slice(1)

    assert_caught(local, "released_table", patched, refuse("rows_miscounted"))


def test_nothing_is_released_without_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Verdict, "raise_if_unsafe", lambda self, attempts=1: None)
    monkeypatch.setattr(local, "solve_all", partial(off_by_one_member, local.solve_all))
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
