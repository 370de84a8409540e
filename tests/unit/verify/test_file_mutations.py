"""Written files broken on purpose, each in one way: what can be seen or found in them beside values."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyreadstat
import pytest
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill
from openpyxl.workbook.defined_name import DefinedName
from pyarrow import feather, parquet

from microagg import protect
from microagg.errors import UnsafeRelease
from microagg.formats import FORMAT_OF
from microagg.methods.steps import Steps
from microagg.model import CsvFormat, Origin, StatisticalLabels

N = 24


def table() -> pa.Table:
    random = np.random.default_rng(5)
    return pa.table(
        {
            "region": pa.array(["N", "S"] * 12).dictionary_encode(),
            "x": random.integers(0, 1000, N),
            "y": random.normal(size=N).round(3),
            "count": [None if at % 5 == 0 else at % 3 for at in range(N)],
            "note": [None if at % 7 == 0 else f"note {at % 5}" for at in range(N)],
            "open": [at % 2 == 0 for at in range(N)],
        }
    )


@pytest.fixture(scope="module")
def release() -> Any:
    return protect(table(), 3, keys=["x", "y"], rest="pass", method="mdav", decimals={"x": 0})


def kind_of(path: Path) -> str:
    return FORMAT_OF[path.suffix]


def is_caught(release: Any, path: Path) -> bool:
    """Whether a file in the place of the one that was written would be refused."""
    kind = kind_of(path)
    csv = CsvFormat(",", "utf-8", ".") if kind == "CSV" else None
    staged: Any = SimpleNamespace(readable=path, origin=Origin(kind, str(path), path, csv))
    try:
        release._check_written(staged, Steps(None))
    except UnsafeRelease:
        return True
    return False


def saved(release: Any, folder: Path, ending: str) -> Path:
    path = folder / f"release{ending}"
    release.save(path, force=True)
    assert not is_caught(release, path)
    return path


# --- bytes of CSV files --------------------------------------------------------------------------------

Damage = Callable[[bytes], bytes]


def in_line(at: int, change: Damage) -> Damage:
    def damaged(content: bytes) -> bytes:
        lines = content.split(b"\n")
        lines[at] = change(lines[at])
        return b"\n".join(lines)

    return damaged


def in_field(line: int, at: int, change: Damage) -> Damage:
    def damaged(row: bytes) -> bytes:
        fields = row.split(b",")
        fields[at] = change(fields[at])
        return b",".join(fields)

    return in_line(line, damaged)


CSV_BYTES: dict[str, Damage] = {
    "a masked cell in quotes": in_field(3, 1, lambda field: b'"' + field + b'"'),
    "a text in quotes": in_field(3, 0, lambda field: b'"' + field + b'"'),
    "a gap in quotes": lambda content: content.replace(b",,", b',"",', 1),
    "another line end after one record": in_line(4, lambda row: row + b"\r"),
    "other line ends": lambda content: content.replace(b"\n", b"\r\n"),
    "a blank line": lambda content: content.replace(b"\n", b"\n\n", 1),
    "a blank line at the end": lambda content: content + b"\n",
    "no last line end": lambda content: content[:-1],
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "a blank after a cell": in_field(5, 0, lambda field: field + b" "),
    "a blank before a number": in_field(5, 1, lambda field: b" " + field),
    "a zero at the end of a number": in_field(5, 2, lambda field: field + b"0"),
    "a zero before a number": in_field(5, 1, lambda field: b"0" + field),
    "a decimal point after a whole number": in_field(5, 1, lambda field: field + b".0"),
    "a sign before a number": in_field(5, 1, lambda field: b"+" + field),
    "an exponent": in_field(5, 1, lambda field: field + b"e0"),
    "one more digit": in_field(5, 2, lambda field: field + b"1"),
    "another decimal sign": in_field(5, 2, lambda field: b'"' + field.replace(b".", b",") + b'"'),
    "names in quotes": in_line(0, lambda row: b'"' + row.replace(b",", b'","') + b'"'),
    "another name": in_line(0, lambda row: row.replace(b"note", b"Note")),
    "a blank in a name": in_line(0, lambda row: row.replace(b"note", b" note")),
    "a field too many": in_line(6, lambda row: row + b","),
    "a field too few": in_line(6, lambda row: row[: row.rindex(b",")]),
    "a record lost": lambda content: re.sub(rb"\n[^\n]*\n", b"\n", content, count=1),
    "a record twice": in_line(7, lambda row: row + b"\n" + row),
    "two records exchanged": lambda content: b"\n".join(
        [*(lines := content.split(b"\n"))[:1], lines[2], lines[1], *lines[3:]]
    ),
    "another text": lambda content: content.replace(b"note 1", b"note 2", 1),
    "another letter that looks the same": lambda content: content.replace(b"note", "n\u043ete".encode(), 6),
    "a letter without a width": lambda content: content.replace(b"note 1", b"note\xe2\x80\x8b 1", 1),
    "another truth value": lambda content: content.replace(b"true", b"True", 1),
    "a zero byte": lambda content: content + b"\0",
    "a comment": lambda content: b"# made of companies.csv\n" + content,
    "another sign between fields": lambda content: content.replace(b",", b";"),
    "cut in half": lambda content: content[: len(content) // 2],
    "nothing": lambda content: b"",
    "not text": lambda content: content.replace(b"note 1", b"note\xff1", 1),
}


def test_bytes_of_csv_files(release: Any, tmp_path: Path) -> None:
    path = saved(release, tmp_path, ".csv")
    content = path.read_bytes()
    for name, damage in CSV_BYTES.items():
        damaged = damage(content)
        assert damaged != content, name
        path.write_bytes(damaged)
        assert is_caught(release, path), name


# --- Parquet and Arrow ---------------------------------------------------------------------------------


def put(made: pa.Table, name: str, values: Any) -> pa.Table:
    return made.set_column(made.column_names.index(name), name, values)


def with_field_metadata(made: pa.Table) -> pa.Table:
    field = made.schema.field("x").with_metadata({"originals": "12, 17, 400"})
    return made.cast(made.schema.set(made.schema.get_field_index("x"), field))


def with_category(made: pa.Table, more: list[str | None]) -> pa.Table:
    column = made.column("region").combine_chunks()
    dictionary = pa.array([*column.dictionary.to_pylist(), *more], column.dictionary.type)
    return put(made, "region", pa.DictionaryArray.from_arrays(column.indices, dictionary))


def with_value_under_null(made: pa.Table) -> pa.Table:
    column = made.column("count").combine_chunks()
    values = np.where(np.asarray(column.is_null()), 77, np.nan_to_num(column.to_numpy(False))).astype(int)
    buffers = [column.is_valid().buffers()[1], pa.py_buffer(values)]
    return put(made, "count", pa.Array.from_buffers(pa.int64(), len(values), buffers))


ARROW_TABLES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "metadata": lambda made: made.replace_schema_metadata({"originals": "12, 17, 400"}),
    "metadata of pandas": lambda made: made.replace_schema_metadata({"pandas": '{"columns": []}'}),
    "metadata of a column": with_field_metadata,
    "a category that no record has": lambda made: with_category(made, ["W"]),
    "a category twice": lambda made: with_category(made, ["N"]),
    "no text in place of none": lambda made: put(made, "note", made.column("note").fill_null("")),
    "zero in place of none": lambda made: put(made, "count", made.column("count").fill_null(0)),
    "text in place of numbers": lambda made: put(made, "x", made.column("x").cast(pa.string())),
    "doubles in place of whole numbers": lambda made: put(
        made, "count", made.column("count").cast("double")
    ),
    "narrow whole numbers": lambda made: put(made, "count", made.column("count").cast("int8")),
    "numbers in place of truth values": lambda made: put(made, "open", made.column("open").cast("int8")),
    "text in place of categories": lambda made: put(made, "region", made.column("region").cast("string")),
    "the records in parts": lambda made: pa.concat_tables([made.slice(0, 10), made.slice(10)]),
    "a value changed": lambda made: put(
        made, "count", pa.array([9, *made.column("count").to_pylist()[1:]])
    ),
    "records exchanged": lambda made: made.take([1, 0, *range(2, N)]),
    "a record lost": lambda made: made.slice(1),
    "a column more": lambda made: made.append_column("x2", made.column("x")),
    "a column less": lambda made: made.drop_columns(["open"]),
}
HARMLESS = {(".parquet", "the records in parts")}
"""What does not change a byte of the file: it is not counted."""


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_tables_in_arrow_files(release: Any, tmp_path: Path, ending: str) -> None:
    path = saved(release, tmp_path, ending)
    made = release.verified.microdata.table
    write: Any = parquet.write_table if ending == ".parquet" else feather.write_feather
    before = path.read_bytes()
    for name, change in ARROW_TABLES.items():
        write(change(made), path)
        is_same = path.read_bytes() == before
        assert is_same == ((ending, name) in HARMLESS), name
        assert is_same != is_caught(release, path), name


def with_parquet_metadata(made: pa.Table, path: Path) -> None:
    with parquet.ParquetWriter(path, made.schema) as writer:
        writer.write_table(made)
        writer.add_key_value_metadata({"originals": "12, 17, 400"})


def with_two_row_groups(made: pa.Table, path: Path) -> None:
    parquet.write_table(made, path, row_group_size=7)


def without_compression(made: pa.Table, path: Path) -> None:
    parquet.write_table(made, path, compression="none")


def with_bytes_inside(made: pa.Table, path: Path) -> None:
    """Bytes that belong to no column, behind the first four."""
    content = path.read_bytes()
    path.write_bytes(content[:-8] + b"12, 17, 400" + content[-8:])


def with_metadata_of_a_part(made: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(str(path), made.schema) as writer:
        for batch in made.to_batches():
            writer.write_batch(batch, custom_metadata={"originals": "12, 17, 400"})


def with_values_under_nulls(made: pa.Table, path: Path) -> None:
    feather.write_feather(with_value_under_null(made), path)


def with_bytes_behind(made: pa.Table, path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"12, 17, 400")


ARROW_FILES: dict[str, dict[str, Callable[[pa.Table, Path], None]]] = {
    ".parquet": {
        "metadata at the end": with_parquet_metadata,
        "two groups of rows": with_two_row_groups,
        "another compression": without_compression,
        "bytes inside": with_bytes_inside,
        "bytes behind": with_bytes_behind,
    },
    ".feather": {
        "metadata of a part": with_metadata_of_a_part,
        "values under nulls": with_values_under_nulls,
        "bytes behind": with_bytes_behind,
    },
}


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_bytes_of_arrow_files(release: Any, tmp_path: Path, ending: str) -> None:
    for name, change in ARROW_FILES[ending].items():
        path = saved(release, tmp_path, ending)
        change(release.verified.microdata.table, path)
        assert is_caught(release, path), name


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_gaps_in_a_column_of_mostly_one_value(tmp_path: Path, ending: str) -> None:
    """Arrow's reader of Parquet files puts the value of a long run under the nulls within."""
    paid = [1.0, 2.0, 3.0, *(None if at == 12 else 6.0 for at in range(3, N))]
    made = table().append_column("paid", [paid]).append_column("kind", pa.array(paid).dictionary_encode())
    saved(protect(made, 3, keys=["x", "y"], rest="pass", method="mdav", keep_order=True), tmp_path, ending)


# --- Excel ---------------------------------------------------------------------------------------------


def a_second_sheet(state: str) -> Callable[[Any, Any], None]:
    def change(book: Any, sheet: Any) -> None:
        other = book.create_sheet("originals")
        other["A1"] = 400
        other.sheet_state = state

    return change


def set_cell(place: str, **what: Any) -> Callable[[Any, Any], None]:
    def change(book: Any, sheet: Any) -> None:
        for name, value in what.items():
            setattr(sheet[place], name, value)

    return change


def set_property(name: str) -> Callable[[Any, Any], None]:
    return lambda book, sheet: setattr(book.properties, name, "12, 17, 400")


def add_name(book: Any, sheet: Any) -> None:
    book.defined_names["originals"] = DefinedName("originals", attr_text='"12, 17, 400"')


def add_custom_property(book: Any, sheet: Any) -> None:
    from openpyxl.packaging.custom import StringProperty

    book.custom_doc_props.append(StringProperty(name="originals", value="12, 17, 400"))


def add_validation(book: Any, sheet: Any) -> None:
    from openpyxl.worksheet.datavalidation import DataValidation

    rule = DataValidation(type="list", formula1='"12,17,400"')
    sheet.add_data_validation(rule)
    rule.add("B2")


def add_condition(book: Any, sheet: Any) -> None:
    from openpyxl.formatting.rule import CellIsRule

    rule = CellIsRule(operator="equal", formula=["400"], font=Font(bold=True))
    sheet.conditional_formatting.add("B2:B9", rule)


WORKBOOKS: dict[str, Callable[[Any, Any], None]] = {
    "a second sheet": a_second_sheet("visible"),
    "a hidden sheet": a_second_sheet("hidden"),
    "a sheet hidden from menus": a_second_sheet("veryHidden"),
    "the only sheet hidden": lambda book, sheet: (
        book.create_sheet("empty"),
        setattr(sheet, "sheet_state", "hidden"),
    ),
    "a comment": set_cell("B2", comment=Comment("was 400", "author")),
    "a name": add_name,
    "a title": set_property("title"),
    "a creator": set_property("creator"),
    "keywords": set_property("keywords"),
    "a description": set_property("description"),
    "a property": add_custom_property,
    "bold face": set_cell("B3", font=Font(bold=True)),
    "bold face of a name": set_cell("B1", font=Font(bold=True)),
    "a colour": set_cell("B3", fill=PatternFill("solid", fgColor="FFFF00")),
    "a format of numbers": set_cell("B3", number_format="0.00"),
    "a format with text": set_cell("B3", number_format='0"was 400"'),
    "a number as text": set_cell("B3", value="400"),
    "text as a number": set_cell("E3", value=1),
    "a truth value as a number": set_cell("F3", value=1),
    "a gap filled": set_cell("D8", value=5),
    "a name as a number": set_cell("B1", value=7),
    "a formula": set_cell("B3", value="=1+1"),
    "a cell beside the table": set_cell("Z1", value=400),
    "a cell below the table": set_cell("A90", value=400),
    "a hidden row": lambda book, sheet: setattr(sheet.row_dimensions[3], "hidden", True),
    "a high row": lambda book, sheet: setattr(sheet.row_dimensions[3], "height", 30),
    "a hidden column": lambda book, sheet: setattr(sheet.column_dimensions["B"], "hidden", True),
    "a wide column": lambda book, sheet: setattr(sheet.column_dimensions["B"], "width", 40),
    "merged cells": lambda book, sheet: sheet.merge_cells("X1:Y2"),
    "a fixed row": lambda book, sheet: setattr(sheet, "freeze_panes", "A2"),
    "a filter": lambda book, sheet: setattr(sheet.auto_filter, "ref", "A1:B9"),
    "a list of allowed values": add_validation,
    "a conditional format": add_condition,
    "a link": set_cell("B3", hyperlink="https://example.org/400"),
    "a header on paper": lambda book, sheet: setattr(sheet.oddHeader.center, "text", "12, 17, 400"),
    "a password": lambda book, sheet: setattr(sheet.protection, "sheet", True),
    "another title": lambda book, sheet: setattr(sheet, "title", "12, 17, 400"),
    "a colour of the sheet": lambda book, sheet: setattr(sheet.sheet_properties, "tabColor", "FF0000"),
}


def test_workbooks(release: Any, tmp_path: Path) -> None:
    path = saved(release, tmp_path, ".xlsx")
    content = path.read_bytes()
    for name, change in WORKBOOKS.items():
        book = openpyxl.load_workbook(io.BytesIO(content))
        change(book, book.worksheets[0])
        book.save(path)
        assert is_caught(release, path), name


def in_part(part: str, change: Damage, comment: bytes = b"") -> Damage:
    def damaged(content: bytes) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
            new.comment = comment
            for entry in old.infolist():
                text = old.read(entry)
                new.writestr(entry, change(text) if entry.filename == part else text)
            if part not in old.namelist() and part:
                new.writestr(part, change(b""))
        return made.getvalue()

    return damaged


SHEET = "xl/worksheets/sheet1.xml"
WORKBOOK_BYTES: dict[str, Damage] = {
    "a comment of the archive": in_part("", bytes, b"12, 17, 400"),
    "another part": in_part("xl/media/original.csv", lambda _: b"12, 17, 400"),
    "bytes before the archive": lambda content: b"12, 17, 400" + content,
    "bytes between parts": lambda content: content.replace(b"PK\x03\x04", b"12PK\x03\x04", 2),
    "a comment in the sheet": in_part(
        SHEET, lambda text: text.replace(b"<sheetData>", b"<!-- was 400 --><sheetData>")
    ),
    "an attribute of a cell": in_part(SHEET, lambda text: text.replace(b'r="B3"', b'r="B3" cm="1"')),
    "text between cells": in_part(SHEET, lambda text: text.replace(b"</row>", b"400</row>", 1)),
    "an instruction": in_part(SHEET, lambda text: text.replace(b"<sheetData>", b"<?was 400?><sheetData>")),
    "a theme": in_part("xl/theme/theme1.xml", lambda text: text.replace(b"Office", b"was400")),
    "a relation": in_part("_rels/.rels", lambda text: text.replace(b"rId1", b"was400")),
    "a colour of styles": in_part("xl/styles.xml", lambda text: text.replace(b"00FF0000", b"00000400")),
    "cut in half": lambda content: content[: len(content) // 2],
    "no zip at all": lambda content: b"12, 17, 400",
}


def test_bytes_of_workbooks(release: Any, tmp_path: Path) -> None:
    path = saved(release, tmp_path, ".xlsx")
    content = path.read_bytes()
    for name, damage in WORKBOOK_BYTES.items():
        path.write_bytes(damage(content))
        assert is_caught(release, path), name


# --- Stata, SPSS, SAS ----------------------------------------------------------------------------------


def labelled_release(left_out: bool = False) -> Any:
    """A release of a source whose labels may be kept, but for those of `x`, which was masked."""
    from microagg.engines import local
    from microagg.model import Microdata
    from microagg.plan.protection import Protection

    made = table().drop_columns(["region", "open"])
    made = put(made, "count", pa.array([at % 3 for at in range(N)]))
    labels = StatisticalLabels(
        file_label="survey",
        column_labels={"x": "surface", "count": "how many"},
        value_labels={"count": {0: "none", 1: "one", 2: "more"}, "x": {1: "small"}},
        notes=("collected by hand",),
    )
    words = {"k": 3, "keys": [["x", "y"]], "rest": "pass", "method": "mdav"}
    source = Microdata(made, replace(Origin("frame", "frame"), labels=labels))
    return local.protect(source, Protection.of(words))


LABELS: dict[str, dict[str, Any]] = {
    "another label of the file": {"file_label": "12, 17, 400"},
    "another label of a column": {"column_labels": {"x": "was 400"}},
    "a label of a column without one": {"column_labels": {"note": "was 400"}},
    "a label of a masked value": {"variable_value_labels": {"x": {1: "small"}}},
    "another label of a value": {"variable_value_labels": {"count": {0: "was 400"}}},
    "a label of another value": {"variable_value_labels": {"count": {9: "was 400"}}},
    "a note": {"note": "12, 17, 400"},
    "a code for missing values": {"missing_ranges": {"count": [1]}},
}
PLAIN: dict[str, Any] = {"file_label": "survey", "column_labels": {"x": "surface"}}
TAKES = {
    ".dta": (pyreadstat.write_dta, ("note", "missing_ranges")),
    ".sav": (pyreadstat.write_sav, ()),
    ".xpt": (pyreadstat.write_xport, ("note", "missing_ranges", "variable_value_labels")),
}


@pytest.mark.parametrize("ending", TAKES)
def test_labels(tmp_path: Path, ending: str) -> None:
    release = labelled_release()
    path = saved(release, tmp_path, ending)
    frame, _ = getattr(pyreadstat, f"read_{'xport' if ending == '.xpt' else ending[1:]}")(str(path))
    whole = {name: "int32" for name in ("x", "count") if (frame[name] == frame[name].round()).all()}
    frame = frame.astype(whole)
    write, unknown = TAKES[ending]
    write(frame, str(path), **PLAIN)
    assert not is_caught(release, path)
    for name, words in LABELS.items():
        if not set(unknown) & set(words):
            write(frame, str(path), **{**PLAIN, **words})
            assert is_caught(release, path), name
    for name in ("count", "x"):
        write(frame.assign(**{name: frame[name].astype(str)}), str(path), **PLAIN)
        assert is_caught(release, path), name


def test_notes_of_stata(tmp_path: Path) -> None:
    release = labelled_release()
    path = saved(release, tmp_path, ".dta")
    content = path.read_bytes()
    assert b"<characteristics></characteristics>" in content
    note = b"<characteristics><ch>was 400</ch></characteristics>"
    path.write_bytes(content.replace(b"<characteristics></characteristics>", note))
    assert is_caught(release, path)


def test_notes_of_the_source_are_not_released(tmp_path: Path) -> None:
    path = saved(labelled_release(), tmp_path, ".sav")
    assert not pyreadstat.read_sav(str(path))[1].notes


def test_there_are_enough() -> None:
    statistical = sum(len([words for words in LABELS.values() if not set(unknown) & set(words)]) + 2
                      for _, unknown in TAKES.values()) + 1  # fmt: skip
    arrow = 2 * len(ARROW_TABLES) - len(HARMLESS) + sum(map(len, ARROW_FILES.values()))
    assert len(CSV_BYTES) + arrow + len(WORKBOOKS) + len(WORKBOOK_BYTES) + statistical >= 130
