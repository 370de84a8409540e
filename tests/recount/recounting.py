"""A second program that recounts a release: from the two files and the settings, in plain Python.

It shares no code with microagg, reads CSV files by the standard library and Parquet files by DuckDB, and
knows only what the documentation promises. `violations` lists every promise that does not hold.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

Cells = dict[str, list[str | None]]
"""By column: what stands in it; None where there is nothing."""


@dataclass(frozen=True)
class Settings:
    """What was asked for."""

    k: int
    keys: list[list[str]]
    strata: list[str] = field(default_factory=list)
    confidential: list[str] = field(default_factory=list)
    confidential_as: str = "keep"
    drop: list[str] = field(default_factory=list)
    weight: str | None = None
    respondent: str | None = None
    amounts: list[str] = field(default_factory=list)
    p_percent: float = 10.0
    small_strata: str = "refuse"
    missing: str = "refuse"
    aggregate: str = "mean"
    decimals: dict[str, int] = field(default_factory=dict)
    min_distinct: int = 2
    keep_order: bool = False
    accept: list[str] = field(default_factory=list)
    nominal: list[str] = field(default_factory=list)
    ordinal: dict[str, list[str]] = field(default_factory=dict)
    resolution: dict[str, str] = field(default_factory=dict)

    @property
    def subsets(self) -> list[list[str]]:
        own = [self.confidential] if self.confidential_as == "subset" else []
        return [*self.keys, *own]

    @property
    def masked(self) -> list[str]:
        noised = self.confidential if "noise" in self.confidential_as else []
        return [name for subset in [*self.subsets, noised] for name in subset]

    def accepts(self, rule: str, column: str) -> bool:
        return rule in self.accept or f"{rule}={column}" in self.accept


def read_cells(path: Path) -> Cells:
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            header, *records = csv.reader(file)
        return {name: [record[at] or None for record in records] for at, name in enumerate(header)}
    import duckdb

    found = duckdb.sql(f"SELECT * FROM read_parquet('{path}')")
    records = found.fetchall()
    return {name: [_text(record[at]) for record in records] for at, name in enumerate(found.columns)}


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return repr(value) if isinstance(value, float) else str(value)


def violations(source: Cells, released: Cells, rows: Sequence[int], settings: Settings) -> list[str]:
    """What is promised and does not hold. `rows`: the record of the source behind each released one."""
    return list(_shape(source, released, rows, settings)) or [
        *_suppression(source, rows, settings),
        *_unmasked(source, released, rows, settings),
        *_classes(source, released, rows, settings),
        *_noise(source, released, rows, settings),
    ]


def _shape(source: Cells, released: Cells, rows: Sequence[int], settings: Settings) -> Iterator[str]:
    left_out = {*settings.drop, settings.respondent}
    if list(released) != [name for name in source if name not in left_out]:
        yield "other columns than those to be released"
    records = len(next(iter(source.values())))
    if any(len(cells) != len(rows) for cells in released.values()):
        yield "other records than the rows say"
    if len(set(rows)) != len(rows) or not all(0 <= row < records for row in rows):
        yield "a record twice, or one that does not exist"
    if settings.keep_order and list(rows) != sorted(rows):
        yield "another order though it was to be kept"


def _suppression(source: Cells, rows: Sequence[int], settings: Settings) -> Iterator[str]:
    """Only records of small strata may be missing, and only if that was asked for."""
    records = len(next(iter(source.values())))
    gone = set(range(records)) - set(rows)
    if gone and settings.small_strata != "suppress":
        yield "records left out"
    strata = _grouped(source, settings.strata, range(records))
    for members in strata.values():
        if gone & set(members) and (len(members) >= settings.k or not gone >= set(members)):
            yield "records left out of a stratum that is large enough, or some of a small one"


def _unmasked(source: Cells, released: Cells, rows: Sequence[int], settings: Settings) -> Iterator[str]:
    """What is not masked stands as in the source; but records of small strata may have others' codes."""
    recoded = settings.strata if settings.small_strata == "nearest" else []
    for name, cells in released.items():
        if name in settings.masked or name in recoded:
            continue
        for cell, row in zip(cells, rows, strict=True):
            if not _same(cell, source[name][row]):
                yield f"{name} is not as in the source"
                break
    if recoded:
        sizes = {
            codes: len(members)
            for codes, members in _grouped(source, recoded, range(len(source[recoded[0]]))).items()
        }
        for at, row in enumerate(rows):
            before = tuple(source[name][row] for name in recoded)
            after = tuple(released[name][at] for name in recoded)
            if before != after and sizes[before] >= settings.k:
                yield "a record of a large stratum has other codes"
            if sizes.get(after, 0) < settings.k:
                yield "codes of a stratum that is too small, or that the source does not have"


def _same(one: str | None, other: str | None) -> bool:
    if one == other:
        return True
    try:
        return one is not None and other is not None and float(one) == float(other)
    except ValueError:
        return False


def _grouped(cells: Cells, names: Sequence[str], places: Sequence[int]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for place in places:
        groups[tuple(cells[name][place] for name in names)].append(place)
    return groups


def _classes(source: Cells, released: Cells, rows: Sequence[int], settings: Settings) -> Iterator[str]:
    every_key = [*settings.strata, *(name for subset in settings.keys for name in subset)]
    everyone = range(len(rows))
    if "partial" not in settings.accept:
        yield from _shared_by_k(source, rows, settings, _grouped(released, every_key, everyone))
    for subset in settings.subsets:
        strata = settings.strata if subset in settings.keys else []
        classes = _grouped(released, [*strata, *subset], everyone)
        if any(len(members) < settings.k for members in classes.values()):
            yield f"a combination of {subset} is shared by fewer than k records"
        for members in classes.values():
            behind = [rows[member] for member in members]
            for name in subset:
                yield from _published(source, released[name], members, behind, name, rows, settings)
            yield from _given_away(source, behind, subset, settings)
            shown = [name for name in subset if released[name][members[0]] is not None]
            yield from _dominated(source, behind, shown, settings)


def _shared_by_k(
    source: Cells, rows: Sequence[int], settings: Settings, classes: dict[Any, list[int]]
) -> Iterator[str]:
    for members in classes.values():
        if len(members) < settings.k:
            yield "a combination of all keys is shared by fewer than k records"
        if settings.respondent is not None:
            whose = {source[settings.respondent][rows[member]] for member in members}
            if len(whose) < settings.k:
                yield "a combination of all keys is shared by fewer than k respondents"


def _published(
    source: Cells,
    released: list[str | None],
    members: list[int],
    behind: list[int],
    name: str,
    rows: Sequence[int],
    settings: Settings,
) -> Iterator[str]:
    """The mean or median of those that have a value; nothing is invented, and nothing vanishes unasked."""
    values = [source[name][row] for row in behind]
    shown = released[members[0]]
    kind = kind_of(source[name], name, settings)
    if kind == "nominal":
        if not _same(shown, _mode(source, behind, name, rows, settings)):
            yield f"{name} publishes another category than the most frequent one of its group"
        return
    if shown is None:
        if settings.missing != "by-pattern" and any(value is not None for value in values):
            yield f"values of {name} vanished"
        return
    if any(value is None for value in values):
        yield f"{name} has a value where the source has none"
        return
    if kind in ("ordinal", "date"):
        publishes = _level if kind == "ordinal" else _date
        if shown != publishes(source, behind, name, settings):
            yield f"{name} publishes another {kind} than that of its group"
        return
    numbers = [float(value) for value in values if value is not None]
    if settings.aggregate == "median":
        expected = statistics.median(numbers)
    else:
        weights = [1.0] * len(numbers)
        if settings.weight is not None:
            weights = [float(source[settings.weight][row] or "nan") for row in behind]
        total = math.fsum(weight * value for weight, value in zip(weights, numbers, strict=True))
        expected = total / math.fsum(weights)
    tolerance = _tolerance(source[name], settings.decimals.get(name))
    if abs(float(shown) - expected) > tolerance + 1e-9 * max(1.0, *map(abs, numbers)):
        yield f"{name} publishes another value than that of its group"
    digits = len(shown.partition(".")[2].rstrip("0")) if "e" not in shown else 0
    if name in settings.decimals and digits > settings.decimals[name]:
        yield f"{name} has more decimals than asked for"


def kind_of(cells: list[str | None], name: str, settings: Settings) -> str:
    """As given, or by the cells: 0 and 1 are yes and no, all dates are dates, other text is categories."""
    if name in settings.ordinal:
        return "ordinal"
    present = {cell for cell in cells if cell is not None}
    if name in settings.nominal or present == {"0", "1"}:
        return "nominal"
    if present and all(re.fullmatch(r"\d{4}-\d\d-\d\d", cell) for cell in present):
        return "date"
    try:
        [float(cell) for cell in present]
    except ValueError:
        return "nominal"
    return "number"


def _weights(source: Cells, behind: Sequence[int], settings: Settings) -> list[Fraction]:
    if settings.weight is None:
        return [Fraction(1)] * len(behind)
    return [Fraction(source[settings.weight][row] or "0") for row in behind]


def _mode(
    source: Cells, behind: list[int], name: str, rows: Sequence[int], settings: Settings
) -> str | None:
    """The most frequent cell, a missing one included; then that which is so overall; then the first."""
    counts: dict[str | None, Fraction] = defaultdict(Fraction)
    for row, weight in zip(behind, _weights(source, behind, settings), strict=True):
        counts[source[name][row]] += weight
    overall: dict[str | None, Fraction] = defaultdict(Fraction)
    for row, weight in zip(rows, _weights(source, rows, settings), strict=True):
        overall[source[name][row]] += weight
    return min(
        counts, key=lambda cell: (-counts[cell], -overall[cell], cell is None, (cell or "").encode())
    )


def _level(source: Cells, behind: list[int], name: str, settings: Settings) -> str:
    """The lowest level that half of the records, or of the weight, do not exceed."""
    order = settings.ordinal[name]
    weights = _weights(source, behind, settings)
    pairs = sorted(zip((order.index(source[name][row] or "") for row in behind), weights, strict=True))
    sums = itertools.accumulate(weight for _, weight in pairs)
    return next(
        order[level] for (level, _), so_far in zip(pairs, sums, strict=True) if 2 * so_far >= sum(weights)
    )


def _date(source: Cells, behind: list[int], name: str, settings: Settings) -> str:
    """The day nearest to the mean or median, or the first day of the month or year in which it is."""
    days = [date.fromisoformat(source[name][row] or "").toordinal() for row in behind]
    weights = _weights(source, behind, settings)
    middle = sum(day * weight for day, weight in zip(days, weights, strict=True)) / sum(weights)
    if settings.aggregate == "median":
        middle = Fraction(statistics.median(days))
    resolution = settings.resolution.get(name, "day")
    if resolution == "day":
        return date.fromordinal(math.floor(middle + Fraction(1, 2))).isoformat()
    start = date.fromordinal(math.floor(middle)).replace(day=1)
    return (start.replace(month=1) if resolution == "year" else start).isoformat()


def _tolerance(cells: list[str | None], decimals: int | None) -> float:
    """Whole numbers are rounded up or down, other decimals to the nearest; two more than the source's."""
    if decimals is None:
        own = [len(cell.partition(".")[2].rstrip("0")) for cell in cells if cell is not None]
        decimals = max(own, default=0) + 2
    return 1.0 if decimals == 0 else 0.5 * 10.0**-decimals


def _given_away(source: Cells, behind: list[int], subset: list[str], settings: Settings) -> Iterator[str]:
    if subset not in settings.keys:
        return
    for name in settings.confidential:
        values = {source[name][row] for row in behind}
        if len(values) < settings.min_distinct and not settings.accepts("distinct", name):
            yield f"a group has too few values of {name}"


def _dominated(source: Cells, behind: list[int], shown: list[str], settings: Settings) -> Iterator[str]:
    for name in set(settings.amounts) & set(shown):
        amounts = sorted((abs(float(source[name][row] or 0.0)) for row in behind), reverse=True)
        rest = math.fsum(amounts[2:])
        is_close = rest < settings.p_percent / 100 * amounts[0] * (1 - 1e-9)
        if is_close and not settings.accepts("dominated", name):
            yield f"an amount of {name} can be estimated too closely"
    if settings.weight is not None and not settings.accepts("dominated", settings.weight):
        weights = [float(source[settings.weight][row] or "nan") for row in behind]
        differ = any(len({source[name][row] for row in behind}) > 1 for name in shown)
        if differ and max(weights) > 0.5 * math.fsum(weights) * (1 + 1e-9):
            yield "one record has more than half of a group's weight"


def _noise(source: Cells, released: Cells, rows: Sequence[int], settings: Settings) -> Iterator[str]:
    if "noise" not in settings.confidential_as:
        return
    for name in settings.confidential:
        before = [source[name][row] for row in rows]
        pairs = list(zip(before, released[name], strict=True))
        if any((old is None) != (new is None) for old, new in pairs):
            yield f"noise made values of {name} missing, or missing ones appear"
        there = [(float(old), float(new)) for old, new in pairs if old is not None and new is not None]
        if len({old for old, _ in there}) > 1 and sum(old == new for old, new in there) > 0.5 * len(there):
            yield f"{name} has no noise"
