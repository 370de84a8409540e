"""Whether the first row of a CSV file or a sheet holds names, or is a record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise

from microagg import wording
from microagg.columns import DATE, MISSING_TEXTS

ROWS_COMPARED = 5_000
"""Records that the first row is compared with, at most."""
_VALUES_TYPED = 500
"""Values by which the kind of a column is judged."""

_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?%?")
_AMOUNT = re.compile(r"[-+]?\d[\d.,]*%?")
_AROUND_AMOUNTS = re.compile(r"[\s$€£¥'’()]|^[A-Z]{3}\s|\s[A-Z]{3}$")
"""Currency signs, separators of thousands, and the brackets around negative amounts."""
_SHORT = re.compile(r"\d{1,4}")
_GIVEN = re.compile(r"column([1-9]\d*)")
_DAY = re.compile(DATE)
_YEARS = range(1500, 2200)
_MISSING = frozenset(MISSING_TEXTS) | {"."}


def numbered_names(count: int) -> list[str]:
    """Names for columns that have none: column1, column2, …"""
    return [f"column{at + 1}" for at in range(count)]


def are_numbered_names(names: Sequence[str]) -> bool:
    """Whether the names are `numbered_names` or some of them, as in a release of a file without names."""
    numbers = [_GIVEN.fullmatch(name) for name in names]
    found = [int(number[1]) for number in numbers if number]
    return len(found) == len(names) and found == sorted(set(found))


def refuse_record_as_names(
    names: Sequence[str], rows: Iterable[Sequence[str]], source: str, row: int = 1
) -> None:
    """`DataError` if the first row looks like a record. To be called before any message shows names.

    `row`: its number in the file, where the rows above it were skipped.
    """
    if looks_like_record(names, rows):
        raise wording.first_row_is_a_record(source, row)


def looks_like_record(names: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Whether the first row of a table, here `names`, is rather one of its records.

    It is
    - if more than half of the columns of numbers and dates, or of what else is written like them (amounts
      with a currency, times, addresses of mail), have a name that is written as their values are;
    - if at least half of the other columns, and at least two, have a name that is among their own values;
    - if all names are numbers, or some is a number that nobody would choose as a name: with a sign, a
      fraction, or more than four digits.

    Years in an unbroken sequence are names, unless the values below them are years too. Names that are
    empty or mean "missing" are ignored. Of the records, `rows`, the first `ROWS_COMPARED` are looked at: a
    value that does not recur among so many is hardly a category.
    """
    columns = _columns_below(names, rows)
    numbers = [column for column in columns if _NUMBER.fullmatch(column.name)]
    if numbers and not _are_years(numbers):
        if len(numbers) == len(columns) or not all(_SHORT.fullmatch(column.name) for column in numbers):
            return True
    else:
        numbers = []
    measured = [column for column in columns if column.kind]
    named_alike = [column for column in measured if _kind_of(column.name) == column.kind]
    if not numbers:
        named_alike = [column for column in named_alike if not _NUMBER.fullmatch(column.name)]
    if 2 * len(named_alike) > len(measured):
        return True
    others = [column for column in columns if not column.kind]
    own = sum(column.has_name for column in others)
    return own >= 2 and 2 * own >= len(others)


class _Column:
    """A column under the name that the first row would give it."""

    __slots__ = ("has_name", "kind", "name", "sample")

    def __init__(self, name: str, values: Sequence[str]) -> None:
        self.name = name.strip()
        self.has_name = name in values or self.name in values
        """Whether the name is among the values below it."""
        self.sample = frozenset(value.strip() for value in values[:_VALUES_TYPED]) - _MISSING
        self.kind = _kind_of_most(self.sample)
        """How most of its values are written; empty for ordinary text."""


def _kind_of_most(values: Iterable[str]) -> str:
    kinds = Counter(map(_kind_of, values))
    kind, times = max(kinds.items(), key=lambda found: found[1], default=("", 0))
    return kind if 2 * times > kinds.total() else ""


def _kind_of(text: str) -> str:
    """How a text is written: "number", "date", "mail", or its parts, such as "9:9" for 12:30; empty for
    ordinary text.

    Parts are runs of digits, letters and other signs. Text that begins with a letter is ordinary, unless
    it is a mail address: `v1` may well be a name.
    """
    if _NUMBER.fullmatch(text) or _AMOUNT.fullmatch(_AROUND_AMOUNTS.sub("", text)):
        return "number"
    if _DAY.fullmatch(text):
        return "date"
    if "@" in text:
        return "mail"
    if text[:1].isalpha() or not any(sign.isdigit() for sign in text):
        return ""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


def _columns_below(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[_Column]:
    whole = [row for row in islice(rows, ROWS_COMPARED) if len(row) == len(names)]
    columns = list(zip(*whole, strict=True)) or [()] * len(names)
    return [
        _Column(name, values)
        for name, values in zip(names, columns, strict=True)
        if name.strip() not in _MISSING
    ]


def _are_years(columns: Sequence[_Column]) -> bool:
    """Whether the names are consecutive years, as in a wide table, and the values below them are not."""
    years = [int(column.name) for column in columns if column.name.isdecimal()]
    steps = {later - earlier for earlier, later in pairwise(years)}
    return (
        len(columns) == len(years) > 1
        and all(year in _YEARS for year in years)
        and steps in ({1}, {-1})
        and not any(_are_mostly_years(column.sample) for column in columns)
    )


def _are_mostly_years(values: frozenset[str]) -> bool:
    return 2 * sum(value.isdecimal() and int(value) in _YEARS for value in values) > len(values)
