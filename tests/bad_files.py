"""Files that must be refused, for the reader's own tests and for the command line's.

Every record holds a recognisable number; no message may ever show it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
from pyarrow import feather, parquet

SECRET = 987654321.125
MARK = "98765432"  # the beginning of every secret below, and of SECRET
N = 12

HEADER = "income,age"
ROWS = tuple(f"{SECRET + i},{98765432 + (i * i) % 7}" for i in range(N))


def csv_of(*rows: str, header: str = HEADER) -> bytes:
    """A CSV file of the good records and `rows`."""
    return "\n".join([header, *ROWS, *rows, ""]).encode()


def noise(size: int = 4096) -> bytes:
    """Bytes without any meaning."""
    return np.random.default_rng(7).bytes(size)


def leaks(text: str) -> bool:
    """Whether a recognisable value is shown, also when rounded or in scientific notation."""
    return MARK in text or "9.87654" in text or "9.88e" in text.lower()


@dataclass(frozen=True)
class BadFile:
    """A file, and what the message that refuses it must mention."""

    name: str
    content: bytes
    says: tuple[str, ...]
    ending: str = ".csv"

    def write(self, folder: Path) -> Path:
        """The file, in `folder`."""
        path = folder / f"bad{self.ending}"
        path.write_bytes(self.content)
        return path


BAD_FILES = [
    BadFile("empty", b"", ("no records",)),
    BadFile("header only", f"{HEADER}\n".encode(), ("no records",)),
    BadFile("header without end of line", HEADER.encode(), ("no records",)),
    BadFile("nothing but blank lines", b"\n\n  \n", ("no records",)),
    BadFile(
        "column of row numbers",
        csv_of(header=f",{HEADER.split(',')[1]}"),
        ("no name", "--header-row", "row numbers"),
    ),
    BadFile("empty cell", csv_of(f"{SECRET},"), ("age", "1 missing value", "13 records")),
    BadFile("NaN", csv_of(f"NaN,{SECRET}", "NaN,3"), ("income", "2 missing values", "14 records")),
    BadFile("infinity", csv_of(f"{SECRET},-inf"), ("age", "1 infinite value")),
    BadFile("empty column", b"a,b\n1,\n2,\n3,\n", ("b", "3 missing values")),
    BadFile("text", csv_of(f"much{SECRET},3"), ("income", "other than numbers", "12 numbers and 1 text")),
    BadFile(
        "only text", b"x,name\n1,Ann\n2,Bob\n", ("'name'", "other than numbers", "numeric columns (x)")
    ),
    BadFile(
        "dates", b"day,b\n2020-01-01,1\n2020-01-02,2\n", ("'day'", "dates", "2 rows", "numeric columns (b)")
    ),
    BadFile("other dates", b"day,b\n31.12.2020,1\n1.1.2021,2\n", ("'day'", "dates", "2 rows")),
    BadFile(
        "text and dates",
        b"day,b,c\n2020-01-01,1,x\n2020-01-02,2,y\n",
        ("'day', 'c'", "numeric columns (b)"),
    ),
    BadFile(
        "numbers, text and dates", b"a,b\n1,1\nx,2\n1/2/2020,3\n", ("1 number, 1 text and 1 date", "3 rows")
    ),
    BadFile("truth values", b"x,flag\n1,true\n2,false\n", ("flag", "other than numbers")),
    BadFile("equal column names", csv_of(header="age,age"), ("age", "more than once", "Rename")),
    BadFile("row too long", csv_of(f"{SECRET},1,2"), ("CSV", "1 row ", "the header has 2 fields")),
    BadFile(
        "row too short", csv_of(f"{SECRET}", f"{SECRET}"), ("CSV", "2 rows", "the header has 2 fields")
    ),
    BadFile("quote without end", csv_of(f'{SECRET},"1'), ("ends inside quotes", "every quote is closed")),
    BadFile("quote never closed", csv_of(f'"{SECRET},1', *ROWS), ("CSV", "1 row ", "quotes")),
    BadFile("noise", noise(), ("not a CSV file", "UTF-8")),
    BadFile(
        "neither UTF-8 nor Windows-1252", csv_of("\x81,1").replace(b"\xc2", b""), ("UTF-8", "--encoding")
    ),
    BadFile("half a UTF-16 character", csv_of().decode().encode("utf-16")[:-1], ("UTF-16", "complete")),
    BadFile("Parquet inside", b"PAR1" + noise(), ("CSV", "Parquet", ".parquet")),
    BadFile("gzip inside", b"\x1f\x8b" + noise(), ("CSV", "gzip", "unpack")),
    BadFile("colons", csv_of().replace(b",", b":"), ("2 columns", "--delimiter :")),
    BadFile("spaces", csv_of().replace(b",", b" "), ("spaces", "--delimiter ' '")),
    BadFile("thousands", b'a,b\n"1,234.5",1\n2,2\n"98,765,432",3\n', ("'a'", "thousands", "2 of 3 rows")),
    BadFile("thousands by points", b"a;b\n1.234,5;1\n98.765.432;3\n7;1\n", ("thousands", "2 of 3 rows")),
    BadFile("thousands by spaces", "a;b\n1 234;1\n98\u202f765\u202f432,5;3\n".encode(), ("2 of 2 rows",)),
    BadFile("thousands beside decimal commas", b"a;b\n1.234;1,5\n7;2,5\n", ("'a'", "thousands", "1 of 2")),
    BadFile("doubtful commas", b"a;b\n98,765;1\n2;3\n", ("'a'", "1 of 2 rows", "--decimal ,", "thousands")),
    BadFile("points and commas", b"a;b\n1,5;1\n2.25;3\n", ("'a'", "decimal point in 1 of 2 rows")),
    BadFile("points beside commas", b"a;b\n1,5;1.5\n2,5;3\n", ("'b'", "decimal point in 1 of 2 rows")),
    BadFile("quoted decimal commas", b'a,b\n"1,5",1\n2,3\n', ("'a'", "decimal comma in 1 of 2 rows")),
    *(
        BadFile(name, content, (kind, "cannot be read"), ending)
        for ending, kind in (
            (".parquet", "Parquet"),
            (".feather", "Arrow"),
            (".arrow", "Arrow"),
            (".xlsx", "Excel"),
            (".dta", "Stata"),
            (".sav", "SPSS"),
            (".zsav", "SPSS"),
            (".por", "SPSS portable"),
            (".sas7bdat", "SAS"),
            (".xpt", "SAS transport"),
        )
        for name, content in (
            ("noise", noise()),
            ("CSV inside", csv_of()),
            ("ZIP", b"PK\x03\x04" + noise()),
        )
    ),
    BadFile("unknown ending", csv_of(), ("format", ".csv", ".parquet", ".xpt"), ".xyz"),
    # Without a header the first record would become the column names, and be shown by every message.
    BadFile("no header", "\n".join([*ROWS, ""]).encode(), ("first row", "column names", "--header no")),
    BadFile(
        "no header, equal values",
        f"{SECRET},{SECRET}\n1,2\n3,4\n".encode(),
        ("first row", "column names", "--header no"),
    ),
    BadFile(
        "no header, empty cell",
        f"{SECRET},2\n,2\n3,4\n".encode(),
        ("first row", "column names", "--header no"),
    ),
    BadFile(
        "no header, text",
        f"Ann,{SECRET}\nBob,2\nEve,3\n".encode(),
        ("first row", "column names", "--header no"),
    ),
]


def bad_file_id(bad: BadFile) -> str:
    """For pytest's list of cases."""
    return f"{bad.name}{bad.ending}"


def good_table() -> pa.Table:
    """The good records, typed."""
    columns = zip(*(map(float, row.split(",")) for row in ROWS), strict=True)
    return pa.table({name: list(values) for name, values in zip(HEADER.split(","), columns, strict=True)})


def write_excel(path: Path, *sheets: Sequence[Sequence[object]]) -> Path:
    """A workbook of these sheets, each a list of rows."""
    book = openpyxl.Workbook(write_only=True)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".dta": pyreadstat.write_dta,
    ".sav": pyreadstat.write_sav,
    ".zsav": functools.partial(pyreadstat.write_sav, compress=True),
    ".por": pyreadstat.write_por,
    ".xpt": pyreadstat.write_xport,
}
"""pyreadstat's functions; there is none that writes .sas7bdat."""


def write_good(path: Path) -> Path:
    """The good records in the format of the path's ending; `.semicolon.csv` is a CSV with semicolons."""
    if path.suffix == ".parquet":
        parquet.write_table(good_table(), path)
    elif path.suffix in (".feather", ".arrow"):
        feather.write_feather(good_table(), path)
    elif path.suffix == ".xlsx":
        write_excel(
            path, [good_table().column_names, *zip(*good_table().to_pydict().values(), strict=True)]
        )
    elif path.suffix in WRITERS:
        WRITERS[path.suffix](good_table().to_pandas(), path)
    else:
        sign = "\t" if path.suffix in (".tsv", ".txt") else ";" if ".semicolon" in path.name else ","
        path.write_bytes(csv_of().replace(b",", sign.encode()))
    return path


GOOD_NAMES = (
    *("good.csv", "good.semicolon.csv", "good.tsv", "good.parquet", "good.feather"),
    *("good.xlsx", "good.dta", "good.sav", "good.zsav", "good.por", "good.xpt"),
)
OTHER_GOOD_NAMES = ("good.txt", "good.arrow", "GOOD.CSV")
