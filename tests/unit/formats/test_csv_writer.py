"""A CSV release looks like its source: line ends and quotes, alike for all cells of a column."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import microagg
from microagg.read import microdata_from_file

N = 12
HEADER = ["age", "income", "city", "remark"]


def rows(gaps: bool = False) -> list[list[object]]:
    return [
        [
            20 + at,
            1000.5 * at,
            ["Bern", "Graz", "New York, NY"][at % 3],
            "" if gaps and at % 4 == 0 else "x y",
        ]
        for at in range(N)
    ]


def write(
    path: Path, quoting: int, line_end: str = "\n", gaps: bool = False, header: bool | None = None
) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator=line_end)  # type: ignore[arg-type]
    if header is None:
        writer.writerow(HEADER)
    else:
        text.write(",".join(f'"{name}"' if header else name for name in HEADER) + line_end)
    writer.writerows(rows(gaps))
    path.write_bytes(text.getvalue().encode())
    return path


def released(path: Path) -> bytes:
    release = microagg.protect(
        path, 3, rest="pass", keys=["age", "income"], pass_=["city", "remark"], keep_order=True
    )
    out = path.with_name("out.csv")
    release.save(out)
    again = microdata_from_file(out)
    assert again.table.column("city").to_pylist() == [row[2] for row in rows()]
    return out.read_bytes()


def fields(line: bytes) -> list[str]:
    """As they stand there; no value here has a delimiter and a quote."""
    found, inside, field = [], False, ""
    for sign in line.decode():
        inside = inside != (sign == '"')
        if sign == "," and not inside:
            found.append(field)
            field = ""
        else:
            field += sign
    return [*found, field]


@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r"])
def test_line_ends_are_kept(line_end: str, tmp_path: Path) -> None:
    content = released(write(tmp_path / "data.csv", csv.QUOTE_MINIMAL, line_end))
    assert content.count(line_end.encode()) == N + 1
    assert content.endswith(line_end.encode())
    left = content.replace(line_end.encode(), b"")
    assert b"\r" not in left
    assert b"\n" not in left


@pytest.mark.parametrize("gaps", [False, True])
def test_a_file_that_quotes_all_fields_is_written_so(gaps: bool, tmp_path: Path) -> None:
    content = released(write(tmp_path / "data.csv", csv.QUOTE_ALL, "\r\n", gaps))
    for line in content.split(b"\r\n")[:-1]:
        assert all(field.startswith('"') and field.endswith('"') for field in fields(line)), line


@pytest.mark.parametrize("header", [True, False])
def test_a_file_that_quotes_text_is_written_so(header: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "data.csv", csv.QUOTE_NONNUMERIC, gaps=False, header=header)
    first, *lines = released(path).splitlines()
    assert all(field.startswith('"') == header for field in fields(first))
    for line in lines:
        assert [field.startswith('"') for field in fields(line)] == [False, False, True, True]


def test_missing_values_of_quoted_columns_are_as_in_the_source(tmp_path: Path) -> None:
    path = write(tmp_path / "data.csv", csv.QUOTE_NONNUMERIC)
    path.write_text(path.read_text().replace('"x y"', "", 3))
    assert [fields(line)[3] for line in released(path).splitlines()[1:5]] == ["", "", "", '"x y"']


def test_quotes_only_where_needed_stay_so(tmp_path: Path) -> None:
    content = released(write(tmp_path / "data.csv", csv.QUOTE_MINIMAL))
    for line in content.splitlines():
        assert [field.startswith('"') for field in fields(line)] == [False, False, b"NY" in line, False]


def test_a_column_that_needs_all_its_quotes_is_not_quoted_for_that(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["age,city", *(f'{at},"a,b"' for at in range(N))]) + "\n")
    assert microdata_from_file(path).origin.csv_look.quoted_columns == ()


def test_single_quoted_cells_of_the_source_leave_no_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "data.csv", csv.QUOTE_MINIMAL)
    path.write_text(path.read_text().replace("Bern", '"Bern"', 1).replace("\n21,", '\n"21",'))
    assert b'"Bern"' not in released(path)
    assert all(not line.startswith(b'"') for line in released_again(path))


def released_again(path: Path) -> list[bytes]:
    return path.with_name("out.csv").read_bytes().splitlines()


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_quotes_and_line_ends_are_kept_in_other_encodings(encoding: str, tmp_path: Path) -> None:
    path = write(tmp_path / "data.csv", csv.QUOTE_ALL, "\r\n")
    path.write_bytes(path.read_bytes().decode().replace("x y", "Größe").encode(encoding))
    text = released(path).decode(encoding)
    assert text.count("\r\n") == N + 1
    assert text.startswith('"age","income","city","remark"\r\n"')


def test_a_frame_is_written_plainly(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(rows(), columns=HEADER)
    microagg.protect(frame, 3, rest="pass", keys=["age", "income"]).save(tmp_path / "out.csv")
    assert b"\r" not in (tmp_path / "out.csv").read_bytes()
    assert (tmp_path / "out.csv").read_bytes().startswith(b"age,income,city,remark\n")
