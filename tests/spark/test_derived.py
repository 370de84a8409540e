"""What gives a masked key is found on Spark as in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg.verify.derived import Derivation, derivations
from tests.unit.verify import test_derived as cases

MAKERS = (
    cases.number_inside_text,
    cases.birth_year_with_exceptions,
    cases.other_rounded_unit,
    cases.reciprocal_with_exceptions,
    cases.size_class,
    cases.municipality,
    cases.one_for_each_level,
    cases.total,
    cases.part_with_exceptions,
)

pytest.importorskip("pyspark", reason="SPARK IS NOT TESTED: PySpark is missing")


def found_on_spark(session: Any, keys: pa.Table, others: pa.Table) -> list[Derivation]:
    from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

    from microagg.verify.frame_counting import derivations_in_frame

    table = pa.table(
        {f"b_{name}": keys[name] for name in keys.column_names}
        | {f"a_{name}": others[name] for name in others.column_names}
    )
    return derivations_in_frame(
        session.createDataFrame(table).repartition(3),
        {name: F.col(f"b_{name}") for name in keys.column_names},
        {name: F.col(f"a_{name}") for name in others.column_names},
        table.num_rows,
    )


def by_columns(found: list[Derivation]) -> list[Derivation]:
    """In whatever order."""
    return sorted(
        (
            Derivation(each.key, tuple(sorted(each.columns)), each.kind, each.records, each.of)
            for each in found
        ),
        key=repr,
    )


def test_all_kinds(session: Any) -> None:
    random, n = np.random.default_rng(5), 12_500
    keys, others = {"none": random.normal(size=n)}, cases.unrelated(random, n, 8)
    for make in MAKERS:
        key, columns = make(random, n)
        keys[make.__name__] = np.where(random.random(n) < 0.1, np.nan, key) if len(keys) % 4 == 0 else key
        others |= {f"{make.__name__} {name}": column for name, column in columns.items()}
    tables = (
        pa.table({name: pa.array(values, from_pandas=True) for name, values in keys.items()}),
        pa.table({name: pa.array(values, from_pandas=True) for name, values in others.items()}),
    )
    found = found_on_spark(session, *tables)
    assert {each.key: each.kind for each in found} == {make.__name__: cases.CASES[make] for make in MAKERS}
    for each in found:
        assert all(name.startswith(f"{each.key} ") for name in each.columns)
        assert (each.records == each.of) == ("exceptions" not in each.key), each
        assert each.of == n - np.isnan(keys[each.key]).sum()


def test_few_records_give_the_same_as_in_memory(session: Any) -> None:
    random, n = np.random.default_rng(6), 400
    age = random.integers(16, 95, n).astype(float)
    amount = random.lognormal(9, 1, n).round(2)
    level = random.integers(1, 5, n)
    keys = pa.table({"age": age, "amount": amount, "level": level.astype(float)})
    wrong = np.where(np.arange(n) % 50 == 7, 3.0, np.log(amount))
    others = pa.table(
        {
            "year": 2000 - age,
            "text": [f"level {value}" for value in level],
            "log": wrong,
            **cases.unrelated(random, n, 6),
        }
    )
    found = found_on_spark(session, keys, others)
    assert by_columns(found) == by_columns(derivations(keys, others))
    assert {each.kind for each in found} == {"affine", "equal", "monotone"}


def test_a_term_that_is_rarely_there(session: Any) -> None:
    random, n = np.random.default_rng(0), 20_000
    a, b = (random.lognormal(8, 1, n).round(2) for _ in range(2))
    rare = np.zeros(n)
    rare[[4321, 17_777]] = 5.0, 7.0
    found = found_on_spark(
        session, pa.table({"total": a + b + rare}), pa.table({"a": a, "rare": rare, "b": b})
    )
    assert by_columns(found) == [Derivation("total", ("a", "b", "rare"), "sum", n, n)]


def test_nothing_to_look_at(session: Any) -> None:
    keys = pa.table({"key": pa.array([None] * 30, pa.float64())})
    assert found_on_spark(session, keys, pa.table({"a": np.arange(30.0)})) == []
