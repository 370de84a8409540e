"""Files that must be refused, for the reader's own tests and for the command line's.

Every record holds a recognisable number; no message may ever show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
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
    BadFile("column of row numbers", csv_of(header=f",{HEADER.split(',')[1]}"), ("no name", "index=False")),
    BadFile("empty cell", csv_of(f"{SECRET},"), ("age", "1 missing value", "13 records")),
    BadFile("NaN", csv_of(f"NaN,{SECRET}", "NaN,3"), ("income", "2 missing values", "14 records")),
    BadFile("infinity", csv_of(f"{SECRET},-inf"), ("age", "1 infinite value")),
    BadFile("empty column", b"a,b\n1,\n2,\n3,\n", ("b", "3 missing values")),
    BadFile("text", csv_of(f"much{SECRET},3"), ("income", "other than numbers", "age")),
    BadFile("dates", b"day,b\n2020-01-01,1\n2020-01-02,2\n", ("day", "other than numbers")),
    BadFile("truth values", b"x,flag\n1,true\n2,false\n", ("flag", "other than numbers")),
    BadFile("equal column names", csv_of(header="age,age"), ("age", "more than once", "Rename")),
    BadFile("row too long", csv_of(f"{SECRET},1,2"), ("CSV", "as many fields as the header")),
    BadFile("row too short", csv_of(f"{SECRET}"), ("CSV", "as many fields as the header")),
    BadFile("noise", noise(), ("UTF-8",)),
    BadFile("Latin-1", "größe,b\n1,2\n3,4\n".encode("latin-1"), ("UTF-8",)),
    BadFile("noise", noise(), ("Parquet", "cannot be read"), ".parquet"),
    BadFile("CSV inside", csv_of(), ("Parquet", "cannot be read"), ".parquet"),
    BadFile("noise", noise(), ("cannot be read",), ".feather"),
    BadFile("unknown ending", csv_of(), ("format", ".csv", ".parquet"), ".xyz"),
    # Without a header the first record would become the column names, and be shown by every message.
    BadFile("no header", "\n".join([*ROWS, ""]).encode(), ("header",)),
    BadFile("no header, equal values", f"{SECRET},{SECRET}\n1,2\n3,4\n".encode(), ("header",)),
    BadFile("no header, empty cell", f"{SECRET},2\n,2\n3,4\n".encode(), ("header",)),
    # As spreadsheets save it in much of Europe.
    BadFile("decimal commas", b"a;b\n1,5;2,5\n3,5;4,5\n5,5;6,5\n", ("decimal",)),
]


def bad_file_id(bad: BadFile) -> str:
    """For pytest's list of cases."""
    return f"{bad.name}{bad.ending}"


def good_table() -> pa.Table:
    """The good records, typed."""
    columns = zip(*(map(float, row.split(",")) for row in ROWS), strict=True)
    return pa.table({name: list(values) for name, values in zip(HEADER.split(","), columns, strict=True)})


def write_good(path: Path) -> Path:
    """The good records in the format of the path's ending; `.semicolon.csv` is a CSV with semicolons."""
    if path.suffix == ".parquet":
        parquet.write_table(good_table(), path)
    elif path.suffix in (".feather", ".arrow"):
        feather.write_feather(good_table(), path)
    else:
        sign = "\t" if path.suffix in (".tsv", ".txt") else ";" if ".semicolon" in path.name else ","
        path.write_bytes(csv_of().replace(b",", sign.encode()))
    return path


GOOD_NAMES = ("good.csv", "good.semicolon.csv", "good.tsv", "good.parquet", "good.feather")
OTHER_GOOD_NAMES = ("good.txt", "good.arrow", "GOOD.CSV")
