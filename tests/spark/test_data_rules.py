"""Rules about values that hold on Spark as in memory: spellings, invalid text, codes for missing ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import microagg
from microagg.engines.spark.protecting import protect as protect_frame
from microagg.errors import DataError, SettingsError, UnsafeRelease
from microagg.formats.spark_folders import source_of
from microagg.model import Layout
from microagg.plan.protection import Protection
from microagg.verdict import refuse
from microagg.verify.frame_columns import understood
from microagg.verify.values import as_understood
from tests.refusals import refusal, unsafe
from tests.unit.read.test_invalid_text import bad_text
from tests.unit.verify.test_spellings import VARIANTS

N = 12


def column(name: str) -> Any:
    from pyspark.sql import functions

    return functions.col(name)


def people(values: tuple[str, ...]) -> pa.Table:
    illness = [values[at % len(values)] for at in range(N)]
    return pa.table({"x": np.repeat([1.0, 5.0, 9.0, 13.0], 3), "illness": illness})


def protected(session: Any, table: pa.Table, **words: Any) -> Any:
    return microagg.protect(
        session.createDataFrame(table), 3, rest="pass", keys="x", confidential="illness", **words
    )


def test_spellings_of_one_value_are_read_as_in_memory(session: Any) -> None:
    texts = [text for pair in VARIANTS.values() for text in pair]
    texts += ["a b", "ab", "A  B ", "5", "5,0", "05", "NA", "", "Größe", "\t"]
    frame = session.createDataFrame(pa.table({"text": texts}))
    there = frame.select(understood(column("text"))).toArrow().column(0).to_pylist()
    here = as_understood(pa.array(texts)).to_pylist()
    assert there == here


def test_spellings_of_one_value_are_not_distinct(session: Any) -> None:
    for kind in ("capitals", "zero width"):
        with pytest.raises(UnsafeRelease, match="'illness' has fewer than 2 different values in 4 groups"):
            protected(session, people(VARIANTS[kind]))


def test_spellings_are_noted_as_in_memory(session: Any) -> None:
    for values, words in (
        (("HIV", "hiv ", "ﬂu", "Flu", "5", "5.0"), {}),
        (("H\u200bIV", "hiv"), {"accept": ["distinct"]}),
    ):
        table = people(values)
        here = microagg.protect(
            table, 3, rest="pass", keys="x", confidential="illness", **words
        ).verdict.notes  # type: ignore[arg-type]
        there = protected(session, table, **words).verdict.notes
        told = [
            [note for note in notes if note.rule == "spellings_counted_as_one"] for notes in (here, there)
        ]
        assert told[0] == told[1] != []
    with pytest.raises(UnsafeRelease, match="fewer than 3"):
        protected(session, people(("HIV", "hiv", "flu")), min_distinct=3)


def test_invalid_utf_8_is_refused(session: Any, tmp_path: Path) -> None:
    table = pa.table({"x": [float(number) for number in range(N)], "bad": bad_text(pa.string())})
    parquet.write_table(table, tmp_path / "data.parquet")
    frame = session.read.parquet(str(tmp_path))
    for role in ("strata", "pass_"):
        with pytest.raises(DataError, match=r"'bad'.*not valid UTF-8"):
            microagg.protect(frame, 3, rest="pass", keys="x", **{role: "bad"})  # type: ignore[arg-type]


def test_nothing_is_hidden_under_nulls(session: Any, tmp_path: Path) -> None:
    mask = np.arange(N) % 3 == 0
    amounts = pa.array(7_000_000 + np.arange(N))
    parts = pa.StructArray.from_arrays([amounts], names=["amount"], mask=pa.array(mask))
    frame = session.createDataFrame(pa.table({"x": np.repeat([1.0, 5.0, 9.0, 13.0], 3), "parts": parts}))
    release = microagg.protect(frame, 3, rest="pass", keys="x", pass_="parts")
    release.save(tmp_path / "out.parquet")
    for found in (release.data.toArrow(), parquet.read_table(tmp_path / "out.parquet")):
        inner = found.column("parts").combine_chunks()
        assert sorted(inner.field(0).drop_null().to_pylist()) == amounts.filter(pa.array(~mask)).to_pylist()


def test_sources_that_give_other_values_when_read_again(session: Any) -> None:
    """New categories, and other numbers."""
    from pyspark.sql import functions

    drawn = functions.udf(lambda _: random.random(), "double").asNondeterministic()(column("x"))
    frame = session.createDataFrame(pa.concat_tables([people(("flu", "none"))] * 4))
    words: dict[str, Any] = {"k": 3, "keys": ["x", "illness"], "method": "mdav"}
    name = functions.concat(functions.lit("a"), drawn).substr(1, 5)
    with refusal(DataError, "source_changed"):
        microagg.protect(frame.withColumn("illness", name), **words)
    with unsafe(refuse("source_records_differ")):
        microagg.protect(frame.withColumn("x", drawn), **words)


def test_texts_that_mean_missing(session: Any, tmp_path: Path) -> None:
    rows = [f"{at},{'.' if at % 4 == 0 else '-' if at % 4 == 1 else 100 + at * 7 % 24}" for at in range(24)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "data.csv").write_text("\n".join(["age,wages", *rows]) + "\n")
    source = source_of(session, str(tmp_path / "in"), Layout())
    words = {"k": 3, "keys": ["wages"], "pass": ["age"], "missing": "by-pattern"}
    with pytest.raises(DataError, match="something other than numbers in 12 of 24 rows"):
        protect_frame(source, Protection.of(words))
    release = protect_frame(source, Protection.of({**words, "missing_codes": {"wages": [".", "-"]}}))
    here = microagg.protect(
        tmp_path / "in" / "data.csv", 3, rest="pass",
        keys="wages", pass_="age", missing="by-pattern", keep_order=True,
        missing_codes={"wages": [".", "-"]},
    )  # fmt: skip
    assert [row["wages"] for row in release.data.orderBy(release.data["age"].cast("int")).collect()] == (
        here.data["wages"].to_pylist()
    )
    typed = session.createDataFrame(pa.table({"x": np.arange(12.0)}))
    with pytest.raises(SettingsError, match="holds numbers and can hold no text"):
        microagg.protect(typed, 3, rest="pass", keys="x", missing="by-pattern", missing_codes={"x": ["."]})


def test_numbers_with_signs_are_reported_as_numbers_stored_as_text(session: Any, tmp_path: Path) -> None:
    texts = ["$1,234", "1,234", "€ 12", "12 %", "56", "1\u202f234"]
    rows = [f'{at},"{texts[at % 6]}"' for at in range(24)]
    (tmp_path / "data.csv").write_text("\n".join(["age,pay", *rows]) + "\n", encoding="utf-8")
    source = source_of(session, str(tmp_path / "data.csv"), Layout())
    with pytest.raises(DataError, match="'pay' holds numbers stored as text") as refused:
        protect_frame(source, Protection.of({"k": 3, "keys": ["pay"], "pass": ["age"]}))
    for count, what in ((8, "thousands separators"), (12, "currency or percent sign")):
        assert what in str(refused.value)
        assert f"in {count} of 24 rows" in str(refused.value)
