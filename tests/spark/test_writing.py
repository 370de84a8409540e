"""Folders: read, written, counted again, renamed; and nothing left where that fails."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from pyarrow import csv, parquet

import microagg
from microagg import errors, wording
from microagg.cli import app
from microagg.formats import spark_folders
from microagg.formats.spark_folders import Folder
from tests.spark.conftest import rows_of
from tests.spark.test_protect import KEYS, people

WORDS = "-k 3 --keys a,b,c --strata region --drop illness --rest pass --method mdav"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of two Parquet files, and one of CSV."""
    table = people(200)
    (tmp_path / "in").mkdir()
    parquet.write_table(table.slice(0, 120), tmp_path / "in" / "1.parquet")
    parquet.write_table(table.slice(120), tmp_path / "in" / "2.parquet")
    (tmp_path / "text").mkdir()
    csv.write_csv(table, tmp_path / "text" / "1.csv")
    return tmp_path


@pytest.fixture(scope="module")
def releases(session: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    """Of the same records with k = 3 and k = 4, to be saved again and again."""
    place = tmp_path_factory.mktemp("register")
    parquet.write_table(people(200), place / "1.parquet")
    frame = session.read.parquet(str(place))
    return {
        k: microagg.protect(frame, k=k, rest="pass", keys=KEYS, drop=["illness"], method="mdav")
        for k in (3, 4)
    }


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def run(line: str) -> Any:
    return CliRunner().invoke(app, shlex.split(line), catch_exceptions=True)


def test_from_folder_to_folder(session: Any, source: Path) -> None:
    """Two files of text have a header each, which must not count as a value."""
    header, *rows = (source / "text" / "1.csv").read_text().splitlines()
    for name, own in (("1.csv", rows[:90]), ("2.csv", rows[90:])):
        (source / "text" / name).write_text("\n".join([header, *own]) + "\n")
    done = run(f"protect {source}/in {WORDS} --engine spark -o {source}/out.parquet --json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["verdict"]["safe"] is True
    done = run(f"protect {source}/text {WORDS} --engine spark -o {source}/out.csv")
    assert done.exit_code == 0, done.output
    assert "every combination of region, a, b and c" in done.output
    as_parquet = session.read.parquet(str(source / "out.parquet"))
    as_text = session.read.csv(str(source / "out.csv"), header=True, inferSchema=True)
    assert rows_of(as_parquet) == rows_of(as_text)
    assert as_text.count() == 200
    session.read.parquet(str(source / "in")).createOrReplaceTempView("people_of_the_register")
    table = run(f"protect people_of_the_register {WORDS} --engine spark -o {source}/table.parquet")
    assert table.exit_code == 0, str(table.exception)
    assert rows_of(session.read.parquet(str(source / "table.parquet"))) == rows_of(as_parquet)
    record = json.loads((source / "microagg-internal" / "out.parquet.microagg.json").read_text())
    assert record["engine"] == "spark"
    assert record["input"]["records"] == 200
    assert sum(task["records"] for task in record["tasks"]) == 200
    outputs = {"out.parquet", "out.csv", "table.parquet"}
    assert names_in(source) == {"in", "text", *outputs, "microagg-internal"}

    again = run(f"protect {source}/in {WORDS} --engine spark -o {source}/out.parquet")
    assert "exists already" in str(again.exception)
    onto_itself = run(f"protect {source}/in {WORDS} --engine spark -o {source}/in --force")
    assert "the file that is read" in str(onto_itself.exception)
    nothing = run(f"protect {source}/nothing {WORDS} --engine spark -o {source}/out2.parquet")
    assert "no folder or file" in str(nothing.exception)
    assert 'only with engine="spark"' in str(run(f"protect {source}/x.csv --master yarn").exception)
    report = run(f"protect {source}/in {WORDS} --engine spark -o {source}/o.csv --report r.html")
    assert "report is not possible on Spark" in str(report.exception)


def test_what_was_written_wrongly_is_not_released(
    session: Any, releases: dict[int, Any], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = releases[3]
    as_it_is = spark_folders.write
    before = names_in(source)
    # One record is written once more, and one not at all.
    monkeypatch.setattr(
        spark_folders, "write", lambda frame, *rest: as_it_is(frame.limit(199).union(frame.limit(1)), *rest)
    )
    with pytest.raises(errors.UnsafeRelease, match="other records than were verified"):
        release.save(source / "out.parquet")
    assert names_in(source) == before
    monkeypatch.setattr(spark_folders, "write", as_it_is)

    def no_room(*_: object) -> None:
        raise wording.cannot_write("out", "renaming failed")

    monkeypatch.setattr(Folder, "rename", no_room)
    with pytest.raises(errors.OutputError):
        release.save(source / "out.parquet")
    assert names_in(source) - {"microagg-internal"} == before
    monkeypatch.undo()
    release.save(source / "out.parquet")
    written = session.read.parquet(str(source / "out.parquet"))
    assert rows_of(written) == rows_of(release.data)
    release.save(source / "out.parquet", force=True)
    assert names_in(source) == before | {"out.parquet", "microagg-internal"}


def test_an_older_release_goes_last(
    releases: dict[int, Any], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = releases[4]
    target = source / "out.parquet"
    target.mkdir()
    (target / "older").touch()
    as_it_is = Folder.rename

    def by_half(self: Folder, to: Folder) -> None:
        if not to.path.endswith("out.parquet") or not (Path(self.local or "") / "_SUCCESS").exists():
            return as_it_is(self, to)
        target.mkdir()
        (target / "half").touch()
        raise wording.cannot_write(to.path, "renaming failed")

    monkeypatch.setattr(Folder, "rename", by_half)
    with pytest.raises(errors.OutputError):
        release.save(target, force=True)
    assert names_in(target) == {"older"}
    monkeypatch.undo()

    def kept(self: Folder) -> None:
        raise wording.cannot_write(self.path, "no permission")

    monkeypatch.setattr(Folder, "remove", kept)
    record = release.save(target, force=True)
    assert record.exists()
    assert "_SUCCESS" in names_in(target)
    assert [names_in(path) for path in source.glob(".microagg-*")] == [{"older"}]


def test_types_and_names_survive(session: Any, tmp_path: Path) -> None:
    frame = session.createDataFrame(people(40).select(["a", "region"]))
    frame = frame.selectExpr(
        "a as `a.b, ``c``;`",
        "if(region = 'N', null, cast(region as binary)) as bytes",
        "cast(a * 100 as decimal(20,3)) as exact",
        "timestamp_millis(cast(hash(a) as bigint)) as seen",
        "date_add(date'2020-01-01', pmod(hash(a, 2), 9000)) as born",
        "array(region, 'x') as many",
        "struct(a as inside, timestamp_millis(cast(a * 1e9 as bigint)) as time) as both",
        "cast(hash(a, 1) as float) as single",
        "a > 0 as flag",
        "cast(null as string) as nothing",
    )
    passed = [name for name in frame.columns if name not in ("a.b, `c`;", "exact", "flag")]
    release = microagg.protect(
        frame,
        k=3,
        rest="pass",
        keys=["a.b, `c`;", "exact"],
        strata=["flag"],
        pass_=passed,
        decimals={"exact": 0},
    )
    assert [field.dataType.typeName() for field in release.data.schema][:3] == ["double", "binary", "long"]
    release.save(tmp_path / "out.parquet")
    again = session.read.parquet(str(tmp_path / "out.parquet"))
    assert again.columns == frame.columns
    for name in ("bytes", "seen", "born", "many", "both", "single", "flag", "nothing"):
        assert rows_of(again.select(name)) == rows_of(frame.select(name))


def test_what_the_source_says_about_columns_stays(session: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

    secret = {"comment": "secret"}
    frame = session.createDataFrame(people(40).select(["a", "region"]))
    named = F.col("region").alias("region", metadata=secret)
    inside = frame.select("a", named, F.lit(1).alias("one", metadata=secret)).select(
        F.col("a").alias("a", metadata=secret),
        "region",
        F.struct("region", "one").alias("both"),
        F.array(F.struct("region", "one")).alias("many"),
    )
    release = microagg.protect(
        inside, k=3, rest="pass", keys=["a"], strata=["region"], pass_=["both", "many"]
    )
    release.save(tmp_path / "out.parquet")
    assert rows_of(release.data.select("both", "many")) == rows_of(inside.select("both", "many"))
    files = list((tmp_path / "out.parquet").glob("*.parquet"))
    assert files
    assert not [file for file in files if b"secret" in file.read_bytes()]


ODD = {
    "map(1, 2)": "'odd' holds values of type map",
    "array(map(1, 2))": "'odd' holds values of type map",
    "interval 1 day": "'odd' holds values of type daytimeinterval",
    "interval 1 month": "'odd' holds values of type yearmonthinterval",
    "region collate UTF8_LCASE": "'odd' holds text with the collation UTF8_LCASE",
    "array(named_struct('r', region collate UTF8_LCASE))": "the collation UTF8_LCASE",
}


def test_types_that_are_refused_unless_dropped(session: Any) -> None:
    plain = session.createDataFrame(people(40).select(["a", "region"]))
    for odd, message in ODD.items():
        with pytest.raises(errors.DataError, match=message):
            microagg.protect(plain.selectExpr("*", f"{odd} as odd"), k=3, rest="pass", keys=["a"])
    all_odd = plain.selectExpr("*", *(f"{odd} as odd{at}" for at, odd in enumerate(ODD)))
    with pytest.raises(errors.SettingsError, match="fewer than k = 40 records"):  # which comes later
        microagg.protect(
            all_odd,
            k=40,
            rest="pass",
            keys=["a"],
            strata=["region"],
            drop=[f"odd{at}" for at in range(len(ODD))],
        )


def test_damaged_files(session: Any, source: Path) -> None:
    (source / "text" / "2.csv").write_text("a,b,c,region,illness,weight\n1,2,3,N,secret\n")
    done = run(f"protect {source}/text {WORDS} --engine spark -o {source}/out.csv")
    assert "could not finish reading the source" in str(done.exception)
    assert "secret" not in str(done.exception)
    (source / "in" / "3.parquet").write_bytes(b"PAR1 secret PAR1")
    done = run(f"protect {source}/in {WORDS} --engine spark -o {source}/out.parquet")
    assert "could not finish reading the source (a file could not be read)" in str(done.exception)
    assert names_in(source) == {"in", "text"}


def test_text_that_is_no_number(session: Any, source: Path) -> None:
    (source / "text" / "2.csv").write_text("a,b,c,region,illness,weight\n1,two,3,N,x,1\n1;5,2,3,N,x,1\n")
    done = run(f"protect {source}/text {WORDS} --engine spark -o {source}/out.csv")
    assert "Column 'a' holds something other than numbers in 1 of 202 rows" in str(done.exception)


def test_points_beside_decimal_commas(session: Any, source: Path) -> None:
    words = f"{WORDS} --delimiter ';' --decimal , --engine spark"
    text = (source / "text" / "1.csv").read_text().replace(",", ";").replace(".", ",")
    (source / "text" / "1.csv").write_text(text)
    done = run(f"protect {source}/text {words} -o {source}/out.csv")
    assert done.exit_code == 0, done.output
    (source / "text" / "2.csv").write_text('a;b;c;region;illness;weight\n1.234;2;3;"N";"x";1\n')
    done = run(f"protect {source}/text {words} -o {source}/out2.csv")
    assert "Column 'a' holds something other than numbers in 1 of 201 rows" in str(done.exception)


def test_keys_of_any_kind_in_text_files(session: Any, tmp_path: Path) -> None:
    """Written as in the source, and the same as in memory."""
    random = np.random.default_rng(4)
    lines = ["amount;code;day;owner;level"]
    for _ in range(60):
        amount, day = f"{random.normal():.6f}".replace(".", ","), random.integers(1, 29)
        code, level = random.choice(["A.1", "B.2", "", "C.3"]), random.choice(["low", "mid", "high"])
        lines.append(f"{amount};{code};{day:02}.05.19{day + 50};{random.integers(0, 2)};{level}")
    (tmp_path / "in.csv").write_text("\n".join([*lines, ""]))
    words = "-k 3 --keys amount,code,day,owner,level --ordinal 'level=low<mid<high' --method mdav"
    words += " --delimiter ';' --decimal ,"
    for engine, output in (("local", "one.csv"), ("spark", "many.csv")):
        done = run(f"protect {tmp_path}/in.csv {words} --engine {engine} -o {tmp_path}/{output}")
        assert done.exit_code == 0, done.output + str(done.exception)
    written = [
        line
        for part in (tmp_path / "many.csv").glob("part-*")
        for line in part.read_text().splitlines()[1:]
    ]
    assert sorted(written) == sorted((tmp_path / "one.csv").read_text().splitlines()[1:])
    assert {line.split(";")[1] for line in written} <= {"A.1", "B.2", "", "C.3"}


@pytest.mark.parametrize("name", ["a#b", "a?b;c d%20"])
def test_the_input_is_not_overwritten_whatever_its_name(session: Any, source: Path, name: str) -> None:
    (source / "in").rename(source / name)
    done = run(f"protect '{source}/{name}' {WORDS} --engine spark -o '{source}/{name}' --force")
    assert "the file that is read" in str(done.exception)
    assert names_in(source / name) == {"1.parquet", "2.parquet"}


@pytest.mark.parametrize(
    "record", ["1.5,22,secret", "secret,F,3", "secret,secret,secret"], ids=["numbers", "mixed", "equal"]
)
def test_records_are_no_names_of_columns(session: Any, source: Path, record: str) -> None:
    for name in ("1.csv", "2.csv"):
        (source / "text" / name).write_text(f"{record}\n1.5,F,7\n{record}\nM,M,secret\n")
    done = run(f"protect {source}/text {WORDS} --engine spark -o {source}/out.csv")
    assert "looks like a record instead of column names" in str(done.exception)
    assert "secret" not in str(done.exception)


def test_a_folder_of_files_without_header(session: Any, source: Path) -> None:
    """A record of every file would be lost, or be names, if the first rows were not judged."""
    rows = (source / "text" / "1.csv").read_text().splitlines()[1:]
    (source / "text" / "1.csv").write_text("\n".join(rows[:120]) + "\n")
    (source / "text" / "2.csv").write_text("\n".join(rows[120:]) + "\n")
    words = (
        "-k 3 --keys column1,column2,column3 --strata column4 --drop column5 --rest pass --method "
        "mdav --engine spark"
    )
    done = run(f"protect {source}/text {words} -o {source}/out.csv")
    assert "looks like a record" in str(done.exception)
    done = run(f"protect {source}/text {words} -o {source}/out.csv --header no --json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["verdict"]["counted"]["records"] == 200
    written = session.read.csv(str(source / "out.csv"), header=True)
    assert written.columns == ["column1", "column2", "column3", "column4", "column6"]
    assert written.count() == 200


@pytest.mark.parametrize(
    ("place", "option", "says"),
    [
        ("text", "--header-row 2", "header_row is not possible on Spark"),
        ("text", "--sheet Data", "sheet would have no effect"),
        ("in", "--header yes", "header would have no effect"),
    ],
)
def test_where_the_table_is_cannot_be_said_of_every_folder(
    session: Any, source: Path, place: str, option: str, says: str
) -> None:
    done = run(f"protect {source}/{place} {WORDS} --engine spark -o {source}/out.csv {option}")
    assert says in str(done.exception)


def test_a_table_by_its_name(session: Any, source: Path) -> None:
    session.read.parquet(str(source / "in")).createOrReplaceTempView("people_in_files")
    onto_itself = run(f"protect people_in_files {WORDS} --engine spark -o {source}/in --force")
    assert "the file that is read" in str(onto_itself.exception)
    of_csv = run(f"protect people_in_files {WORDS} --engine spark -o {source}/o.csv --decimal ,")
    assert "decimal" in str(of_csv.exception)


def test_what_needs_no_spark_to_be_refused(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("microagg.cli.spark_session.session_of", pytest.fail)
    done = run(f"protect {source}/in {WORDS} --engine spark -o {source}/out.dta")
    assert "must end in one of .parquet, .csv" in str(done.exception)


@pytest.mark.long
def test_only_microagg_speaks(session: Any, source: Path) -> None:
    """Java's and Spark's warnings at the start would come first, with the names of this machine."""
    line = f"protect {source}/nothing {WORDS} --engine spark --master local[1] -o {source}/o.csv"
    done = subprocess.run(
        [Path(sys.executable).with_name("microagg"), *shlex.split(line)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("microagg: There is no folder or file"), done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_folder_is_replaced_waits_until_all_is_new(
    releases: dict[int, Any], source: Path, monkeypatch: pytest.MonkeyPatch, sent: signal.Signals
) -> None:
    target = str(source / "out.parquet")
    releases[3].save(target)
    rename, renamed, arrived = Folder.rename, [], []

    def interrupted(folder: Folder, to: Folder) -> None:
        os.kill(os.getpid(), sent)
        renamed.append(to)
        rename(folder, to)

    monkeypatch.setattr(Folder, "rename", interrupted)
    handler = signal.signal(sent, lambda *_: arrived.append(len(renamed)))
    try:
        releases[4].save(target, force=True)
    finally:
        signal.signal(sent, handler)
    assert arrived == [2], "after the old folder and the new one were renamed"
    record = json.loads((source / "microagg-internal" / "out.parquet.microagg.json").read_text())
    assert record["plan"]["k"] == 4
    assert names_in(source) == {"in", "text", "out.parquet", "microagg-internal"}


def test_a_folder_that_cannot_be_renamed_leaves_all_old(
    session: Any, releases: dict[int, Any], source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = str(source / "out.parquet")
    releases[3].save(target)
    internal = {path.name: path.read_bytes() for path in (source / "microagg-internal").iterdir()}
    before = rows_of(session.read.parquet(target))
    rename, count = Folder.rename, [0]

    def refusing(folder: Folder, to: Folder) -> None:
        count[0] += 1
        if count[0] == 2:
            raise wording.cannot_write(to.path, "renaming failed")
        rename(folder, to)

    monkeypatch.setattr(Folder, "rename", refusing)
    with pytest.raises(errors.OutputError, match="renaming failed"):
        releases[4].save(target, force=True)
    assert {path.name: path.read_bytes() for path in (source / "microagg-internal").iterdir()} == internal
    assert rows_of(session.read.parquet(target)) == before
    assert names_in(source) == {"in", "text", "out.parquet", "microagg-internal"}


def test_hidden_folders_of_a_killed_run_are_swept(releases: dict[int, Any], source: Path) -> None:
    (source / ".microagg-0123456789abcdef").mkdir()
    (source / ".microagg-0123456789abcdef" / "part-0").write_text("left over")
    releases[3].save(str(source / "o.parquet"))
    assert names_in(source) == {"in", "text", "o.parquet", "microagg-internal"}


def test_a_source_that_changes_before_saving(session: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

    said = tmp_path / "said"
    said.write_text("1")
    moved = F.udf(lambda value: value + float(said.read_text()), "double")
    frame = session.createDataFrame(people(60)).withColumn("weight", moved("weight"))
    release: Any = microagg.protect(
        frame, k=3, rest="pass", keys=KEYS, drop=["illness"], pass_=["weight"], method="mdav"
    )
    outputs = ("out.parquet", "out.csv")
    said.write_text("2")
    # As if executors were lost: other releases too have to be computed anew from now on.
    session.catalog.clearCache()
    for output in outputs:
        with pytest.raises(errors.UnsafeRelease, match="other records than were verified"):
            release.save(tmp_path / output)
    assert names_in(tmp_path) <= {"said", "microagg-internal"}
    said.write_text("1")
    for output in outputs:
        release.save(tmp_path / output)
    release.close()
    with pytest.raises(errors.SettingsError, match="is closed"):
        release.save(tmp_path / outputs[0], force=True)
    assert names_in(tmp_path) == {"said", *outputs, "microagg-internal"}
