"""The risk of a file as it is, before anything is protected: which records its columns make unique."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from microagg import errors, read, wording
from microagg.arrow_values import from_numbers
from microagg.assessment import notebook
from microagg.assessment.assessment import aligned
from microagg.columns import plain
from microagg.model import Microdata, positions_of
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.prepare.key_columns import without_codes
from microagg.verify.classes import Classes, Codes, codes_of
from microagg.verify.values import as_understood

MOST_COLUMNS_IN_PAIRS = 40
"""Of more columns, pairs are counted of those with the most different values."""

PAIRS_SHOWN = 10
"""Pairs in the text; the others are counted too."""


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """How the records share the combinations of some columns; a missing value is a value.

    `unique`: records whose combination nobody else has; `smallest`: records of the rarest combination;
    `below`: records whose combination fewer than k have, None without k.
    """

    columns: tuple[str, ...]
    combinations: int
    unique: int
    smallest: int
    below: int | None


@dataclass(frozen=True, slots=True, repr=False)
class RiskBefore:
    """What somebody who knows the keys would find in a file that is released as it is.

    `keys`: strata first; `by_keys`: of all of them together; `by_pairs`: of each two, those that make most
    records unique first; `by_all`: of all columns but those of `dropped`, which will not be released;
    `left_out`: keys that are in no pair, as there are too many.
    """

    records: int
    keys: tuple[str, ...]
    k: int | None
    by_keys: Uniqueness
    by_pairs: tuple[Uniqueness, ...]
    by_all: Uniqueness
    dropped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One sentence on the keys."""
        return wording.unique_now(len(self.keys), self.by_keys.unique, self.records)

    @property
    def in_plan(self) -> str:
        """The same for a reader who has not named the keys."""
        return f"{wording.keys_and_strata(self.keys)} {self.summary}"

    def as_dict(self) -> dict[str, Any]:
        """As plain values that `json.dump` takes; pairs are there if they were counted."""
        values = asdict(self)
        if not self.by_pairs:
            del values["by_pairs"], values["left_out"]
        return values

    def __str__(self) -> str:
        lines = [self._heading, "", *self._sentences()]
        rows = self._rows()
        lines += ["", *aligned(rows), *(f"  {each}" for each in self._remarks())] if rows else []
        return wording.visible_lines("\n".join(lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        parts = [notebook.paragraph(each) for each in (self._heading, *self._sentences())]
        if rows := self._rows():
            parts += [notebook.table(rows[0], rows[1:]), *map(notebook.paragraph, self._remarks())]
        return "".join(parts)

    @property
    def _heading(self) -> str:
        return f"{self.records:,} records, keys: {', '.join(map(wording.visible, self.keys))}"

    def _sentences(self) -> Iterator[str]:
        yield self.summary
        if self.k is not None and self.by_keys.below is not None:
            yield wording.below_k_now(self.by_keys.below, self.records, self.k)
        columns = len(self.by_all.columns)
        if columns > len(self.keys):
            yield wording.unique_by_all(columns, len(self.dropped), self.by_all.unique, self.records)

    def _rows(self) -> list[list[str]]:
        """The worst pairs, below the names of the columns; none for two keys, whose pair is all keys."""
        if not self.by_pairs or len(self.keys) < 3:
            return []
        rows = [["pairs of keys, the worst first", "unique", "" if self.k is None else f"below {self.k}"]]
        for pair in self.by_pairs[:PAIRS_SHOWN]:
            below = "" if pair.below is None else f"{pair.below:,}"
            rows.append([f"  {', '.join(pair.columns)}", f"{pair.unique:,}", below])
        return rows

    def _remarks(self) -> Iterator[str]:
        """What the table of pairs does not have."""
        if len(self.by_pairs) > PAIRS_SHOWN:
            yield wording.more_pairs(len(self.by_pairs) - PAIRS_SHOWN)
        if self.left_out:
            yield wording.pairs_left_out(len(self.left_out), MOST_COLUMNS_IN_PAIRS)


def risk_before(
    source: Microdata, plan: AssessmentPlan, dropped: Sequence[str] = (), in_pairs: bool = True
) -> RiskBefore:
    """Count how unique strata and keys of any type make the records, together and in pairs.

    `dropped`: columns that will not be released, and do not count among all; `in_pairs`: whether pairs are
    counted. `DataError` for columns that are not there.
    """
    table, k = source.table, plan.k
    positions_of([column for column, _ in plan.columns_by_role()], table.column_names)
    keys = (*plan.strata, *plan.keys)
    codes = {name: _codes_of_meanings(source, name, plan.missing_codes.get(name, ())) for name in keys}
    together = Classes.whole(table.num_rows).refined(codes.values())
    others = [name for name in table.column_names if name not in codes and name not in dropped]
    whole = together.refined(_codes_of_meanings(source, name) for name in others)
    pairs, left_out = _pairs(codes, k) if in_pairs else ((), ())
    return RiskBefore(
        table.num_rows,
        keys,
        k,
        by_keys=_uniqueness(keys, together, k),
        by_pairs=pairs,
        by_all=_uniqueness((*keys, *others), whole, k),
        dropped=tuple(name for name in table.column_names if name in dropped),
        left_out=left_out,
    )


def _pairs(codes: Mapping[str, Codes], k: int | None) -> tuple[tuple[Uniqueness, ...], tuple[str, ...]]:
    """Pairs of columns, the worst first, and the columns that are in none."""
    single = {name: Classes.whole(len(own[0])).refined([own]) for name, own in codes.items()}
    paired = sorted(single, key=lambda name: -single[name].count)[:MOST_COLUMNS_IN_PAIRS]
    pairs = [
        _uniqueness((one, other), single[one].refined([codes[other]]), k)
        for one, other in combinations([name for name in codes if name in paired], 2)
    ]
    pairs.sort(key=lambda pair: (-pair.unique, -(pair.below or 0)))
    return tuple(pairs), tuple(name for name in codes if name not in paired)


def _codes_of_meanings(source: Microdata, column: str, missing_codes: Sequence[float | str] = ()) -> Codes:
    """Equal where the values mean the same; codes for a missing answer are all the same."""
    values = source.table.column(column)
    if missing_codes:
        try:
            return codes_of(from_numbers(read.numbers_of(source, column, missing_codes)))
        except errors.DataError:  # it holds something else than numbers
            values = without_codes(plain(values), missing_codes)
    return codes_of(as_understood(values))


def _uniqueness(columns: tuple[str, ...], classes: Classes, k: int | None) -> Uniqueness:
    found = classes.counted(columns, k or 0)
    below = None if k is None else found.below
    return Uniqueness(columns, found.classes, found.unique, found.smallest, below)
