"""Faults made on purpose, in what the verifier of frames is given and in the folder that is written: each
is noticed, and leaves nothing behind.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyarrow import parquet

import microagg
from microagg import errors
from microagg.engines.spark import writing
from microagg.engines.spark.release import SparkRelease
from microagg.formats import spark_folders
from microagg.formats.spark_folders import Folder
from microagg.verify.frame_release import Fingerprint, verify_frame
from tests.refusals import open_in, rules
from tests.spark.conftest import rows_of
from tests.spark.test_protect import KEYS, people
from tests.spark.test_verdict import with_value


@pytest.fixture(scope="module")
def release(session: Any) -> SparkRelease:
    made: Any = microagg.protect(
        session.createDataFrame(people(45)), k=3, rest="pass", keys=KEYS, strata=["region"],
        drop=["illness"], method="mdav",
    )  # fmt: skip
    return made


# --- what the verifier is given ------------------------------------------------------------------


def of_group(table: pa.Table, name: str, change: Callable[[float], float]) -> pa.Table:
    """A published value changed in all records of the first one's group."""
    own = table[name].to_numpy()
    changed = np.where(own == own[0], change(float(own[0])), own)
    return table.set_column(table.column_names.index(name), name, pa.array(changed))


def exchanged(table: pa.Table, names: list[str]) -> pa.Table:
    """The published values of two records of different groups and one stratum."""
    regions, own = table["c3"].to_pylist(), table[names[0]].to_pylist()
    other = next(at for at in range(len(own)) if regions[at] == regions[0] and own[at] != own[0])
    for name in names:
        first, second = table[name][0].as_py(), table[name][other].as_py()
        table = with_value(with_value(table, name, 0, second), name, other, first)
    return table


def copied(table: pa.Table, sides: Any, names: list[str]) -> pa.Table:
    """The source's values in place of the published ones."""
    for name in names:
        at = table.column_names.index(sides.after[name])
        table = table.set_column(at, sides.after[name], table[sides.before[name]])
    return table


GIVEN: dict[str, Callable[[pa.Table, Any], pa.Table]] = {
    "a group's value moved": lambda table, _: of_group(table, "y0", lambda value: value + 1.0),
    "a group's value with another sign": lambda table, _: of_group(table, "y1", lambda value: -value),
    "a group's value infinite": lambda table, _: of_group(table, "y2", lambda _: float("inf")),
    "a value missing": lambda table, _: with_value(table, "y0", 0, None),
    "two records exchanged": lambda table, _: exchanged(table, ["y0", "y1", "y2"]),
    "one key of two records exchanged": lambda table, _: exchanged(table, ["y1"]),
    "a key as in the source": lambda table, sides: copied(table, sides, ["b"]),
    "all keys as in the source": lambda table, sides: copied(table, sides, KEYS),
    "a source's value missing": lambda table, sides: with_value(table, sides.before["a"], 2, None),
    "a source's value moved": lambda table, sides: with_value(table, sides.before["a"], 2, 7.25),
    "a stratum renamed": lambda table, _: with_value(table, "c3", 0, "X"),
    "all records twice": lambda table, _: pa.concat_tables([table, table]),
    "no record": lambda table, _: table.slice(0, 0),
}


@pytest.mark.parametrize("fault", GIVEN)
def test_a_frame_with_a_fault(session: Any, release: SparkRelease, fault: str) -> None:
    table = GIVEN[fault](release.paired.toArrow(), release.sides)
    frame = session.createDataFrame(table, release.paired.schema)
    columns = release.source.columns
    verdict, _ = verify_frame(frame, release.sides, release.protection, columns, release.fingerprint, 0)
    assert not verdict.safe


OTHER: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a larger k": ({"k": 16}, {}, "combination_too_rare"),
    "records left out": ({}, {"suppressed": 3}, "records_left_out"),
    "another source": ({}, {"source": Fingerprint(45, (1, 2))}, "source_records_differ"),
    "fewer records in the source": ({}, {"source": Fingerprint(44, (1, 2))}, "source_records_differ"),
}


@pytest.mark.parametrize("fault", OTHER)
def test_other_settings_than_those_of_the_frame(release: SparkRelease, fault: str) -> None:
    settings, more, rule = OTHER[fault]
    given = {"source": release.fingerprint, "suppressed": 0, **more}
    policy = replace(release.protection, **settings)
    verdict, _ = verify_frame(release.paired, release.sides, policy, release.source.columns, **given)
    assert rule in rules(open_in(verdict))


# --- what is written -----------------------------------------------------------------------------


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*"))


def without_checksum(part: Path) -> Path:
    (part.parent / f".{part.name}.crc").unlink(missing_ok=True)
    return part


def rewritten(part: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """A part with other content, as if Spark had written it."""
    parquet.write_table(change(parquet.read_table(without_checksum(part))), part)


def with_other_byte(part: Path, at: int) -> None:
    content = bytearray(part.read_bytes())
    content[at] ^= 1
    part.write_bytes(bytes(content))


def first_value_moved(table: pa.Table) -> pa.Table:
    return with_value(table, "weight", 0, table["weight"][0].as_py() + 1.0)


def copy_of(part: Path) -> None:
    shutil.copyfile(part, part.with_name(part.name.replace("part-0", "part-9")))


IN_FOLDER: dict[str, Callable[[Path], object]] = {
    "a part missing": lambda folder: without_checksum(parts(folder)[0]).unlink(),
    "a part twice": lambda folder: copy_of(parts(folder)[0]),
    "a record lost": lambda folder: rewritten(parts(folder)[0], lambda table: table.slice(1)),
    "a value changed": lambda folder: rewritten(parts(folder)[0], first_value_moved),
    "a column lost": lambda folder: rewritten(
        parts(folder)[0], lambda table: table.drop_columns(["weight"])
    ),
    "a byte of a part changed": lambda folder: with_other_byte(parts(folder)[0], 40),
    "a part cut short": lambda folder: without_checksum(parts(folder)[0]).write_bytes(b"PAR1"),
    "a hidden file": lambda folder: (folder / "_notes").write_text("note"),
    "a file of another kind": lambda folder: (folder / "notes.txt").write_text("note"),
}
"""Noticed at any time."""

AFTER_THE_CHECK: dict[str, Callable[[Path], object]] = {
    **IN_FOLDER,
    "a byte changed with its checksum": lambda folder: with_other_byte(
        without_checksum(parts(folder)[0]), 40
    ),
    "metadata in a part": lambda folder: rewritten(
        parts(folder)[0], lambda table: table.replace_schema_metadata({"who": "me"})
    ),
    "the same values in another order": lambda folder: rewritten(
        parts(folder)[0], lambda table: table.take(list(range(table.num_rows))[::-1])
    ),
    "the mark of success gone": lambda folder: (folder / "_SUCCESS").unlink(),
    "a folder in the folder": lambda folder: (
        (folder / "more").mkdir(),
        (folder / "more" / "part-1").write_text("note"),
    ),
}
"""What holds the same values is another file all the same."""


def saved_in_vain(release: SparkRelease, target: Path, force: bool = False) -> list[str]:
    """The rules by which saving is refused; none if Spark cannot even read what was written."""
    before = {path.name for path in target.parent.iterdir()}
    with pytest.raises((errors.UnsafeRelease, errors.OutputError)) as caught:
        release.save(target, force=force)
    left = {path.name for path in target.parent.iterdir()} - {"microagg-internal"}
    assert left == before - {"microagg-internal"}
    assert not [*target.parent.glob("microagg-internal/*")] or force
    return rules(caught.value.findings) if isinstance(caught.value, errors.UnsafeRelease) else []


@pytest.mark.parametrize("fault", IN_FOLDER)
def test_a_folder_with_a_fault_before_it_is_checked(
    release: SparkRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    write = spark_folders.write

    def wrong(frame: Any, folder: Folder, csv: Any) -> None:
        write(frame, folder, csv)
        assert folder.local is not None
        IN_FOLDER[fault](folder.local)

    monkeypatch.setattr(spark_folders, "write", wrong)
    saved_in_vain(release, tmp_path / "out.parquet")


def meddling(target: Path, change: Callable[[Path], object]) -> Callable[[Folder, Folder], None]:
    """A way to rename folders after which the target is changed."""
    rename = Folder.rename

    def renamed(folder: Folder, to: Folder) -> None:
        rename(folder, to)
        if to.local == target:
            change(target)

    return renamed


@pytest.mark.parametrize("fault", ["a value changed", "a folder in the folder"])
def test_a_folder_that_is_changed_after_the_check(
    release: SparkRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    target = tmp_path / "out.parquet"
    monkeypatch.setattr(Folder, "rename", meddling(target, AFTER_THE_CHECK[fault]))
    assert saved_in_vain(release, target) == ["changed_after_check"]


@pytest.fixture(scope="module")
def written(release: SparkRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as it is when it was checked."""
    folder = tmp_path_factory.mktemp("written") / "out.parquet"
    release.save(folder)
    return folder


@pytest.mark.parametrize("fault", AFTER_THE_CHECK)
def test_a_folder_that_changes_while_it_gets_its_name(
    session: Any, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    target, hidden = tmp_path / "out.parquet", tmp_path / ".hidden"
    shutil.copytree(written, hidden)
    staged = Folder(session, str(hidden))
    digests = staged.digests()
    monkeypatch.setattr(Folder, "rename", meddling(target, AFTER_THE_CHECK[fault]))
    with pytest.raises((errors.UnsafeRelease, Py4JError)) as caught:
        writing._give_name(staged, Folder(session, str(target)), False, digests)
    if fault != "a byte of a part changed":  # which Hadoop notices by its own checksum
        assert isinstance(caught.value, errors.UnsafeRelease), caught.value
        assert rules(caught.value.findings) == ["changed_after_check"]
    assert list(tmp_path.iterdir()) == []


def frame_faults() -> dict[str, Callable[[Any], Any]]:
    from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

    return {
        "values moved": lambda frame: frame.withColumn("weight", F.col("weight") + 1.0),
        "a column rounded": lambda frame: frame.withColumn("weight", F.round("weight", 1)),
        "a column of another type": lambda frame: frame.withColumn("weight", F.col("weight").cast("float")),
        "a column lost": lambda frame: frame.drop("weight"),
        "a column more": lambda frame: frame.withColumn("more", F.lit(1)),
        "columns in another order": lambda frame: frame.select(*reversed(frame.columns)),
        "two columns exchanged": lambda frame: frame.withColumns({"a": F.col("b"), "b": F.col("a")}),
        "a record lost": lambda frame: frame.limit(44),
        "records twice": lambda frame: frame.union(frame),
        "missing text as empty text": lambda frame: frame.withColumn(
            "region", F.when(F.col("region") == "N", "").otherwise(F.col("region"))
        ),
        "what the source says about a column": lambda frame: frame.withColumn(
            "weight", F.col("weight").alias("weight", metadata={"comment": "of respondent 7"})
        ),
    }


@pytest.mark.parametrize(
    "fault",
    [
        "values moved", "a column rounded", "a column of another type", "a column lost", "a column more",
        "columns in another order", "two columns exchanged", "a record lost", "records twice",
        "missing text as empty text", "what the source says about a column",
    ],
)  # fmt: skip
def test_another_frame_is_written_than_was_verified(
    release: SparkRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    write, change = spark_folders.write, frame_faults()[fault]
    monkeypatch.setattr(
        spark_folders, "write", lambda frame, folder, csv: write(change(frame), folder, csv)
    )
    assert saved_in_vain(release, tmp_path / "out.parquet")


@pytest.mark.parametrize("output", ["out.parquet", "out.csv"])
def test_an_older_release_is_put_back(
    session: Any, release: SparkRelease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    target, rename = tmp_path / output, Folder.rename
    record = release.save(target)
    kept, older = record.read_bytes(), {path.name: path.read_bytes() for path in target.iterdir()}

    def meddling(folder: Folder, to: Folder) -> None:
        rename(folder, to)
        if to.local == target and (target / "_SUCCESS").exists():
            monkeypatch.undo()
            (target / "_notes").write_text("note")

    monkeypatch.setattr(Folder, "rename", meddling)
    assert saved_in_vain(release, target, force=True) == ["changed_after_check"]
    assert {path.name: path.read_bytes() for path in target.iterdir()} == older
    assert record.read_bytes() == kept
    release.save(target, force=True)
    if output == "out.parquet":
        assert rows_of(session.read.parquet(str(target))) == rows_of(release.data)


# --- how it is shown -----------------------------------------------------------------------------


def test_the_verdict_says_who_has_read_the_source(release: SparkRelease) -> None:
    assert release.verdict.source_reading == "same library"
    assert release.record["verdict"]["source_reading"]["second"] == "same library"


def test_a_release_in_a_notebook(release: SparkRelease) -> None:
    shown = release._repr_html_()
    assert shown.startswith(f"<p>45 records in {release.groups} groups")
    assert "on Spark in" in shown
    assert shown.endswith(release.verdict._repr_html_())
