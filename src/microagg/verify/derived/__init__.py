"""Released columns from which a masked key can be computed, by rules that an outsider can know.

Rules are looked for in a sample of the records (`candidates`) and counted in all of them (`derivations` in
memory, `distributed.py` on Spark). Why none is found by chance: `chance.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy, to_numpy
from microagg.verify.derived.pairs import LEAST_A_CODE, dummies, rules_of_column
from microagg.verify.derived.readings import Reader
from microagg.verify.derived.relations import (
    KINDS,
    CodeToValue,
    Kind,
    Linear,
    Monotone,
    Rule,
    codes_in,
    count_codes,
    in_order,
)
from microagg.verify.derived.sample import LEAST_SHARE, Sample, is_right_often
from microagg.verify.derived.sums import sum_of_columns
from microagg.verify.values import Mask, plain

SAMPLED = 10_000
"""Records in which rules are looked for."""
_EXCEPTIONS = 500
"""Records that a sum does not give, in which a rare further term may show."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """`columns` give the value of a masked key in `records` of the `of` records that have one."""

    key: str
    columns: tuple[str, ...]
    kind: Kind
    records: int
    of: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule that is right in a sample; `most_frequent`: the share of the key's most frequent value."""

    rule: Rule
    most_frequent: float

    def derivation(self, right: int, of: int) -> Derivation | None:
        """What follows if the rule is right in so many records of all; None if that is too few."""
        if not of or not is_right_often(right, of, self.most_frequent):
            return None
        return Derivation(self.rule.key, self.rule.columns, self.rule.kind, right, of)


def candidates(sample: Sample) -> list[Candidate]:
    """Rules that give the key in a sample; not sums of columns of which one gives it alone."""
    if sample.n < 2 or sample.classes.count < 2:
        return []  # what is the same in all records is known from what is released
    found = [each for name in sample.others.names for each in rules_of_column(sample, name)]
    enough = [rule.columns[0] for right, rule in found if right >= LEAST_SHARE * sample.n]
    left = [name for name in sample.others.names if name not in enough]
    found += dummies(sample, left)
    found += sum_of_columns(sample, left)
    return [Candidate(rule, sample.most_frequent) for _, rule in found]


def derivations(keys: pa.Table, others: pa.Table) -> list[Derivation]:
    """What the columns `others`, released unchanged, tell of each of the `keys`, given by the source's
    values for the same records.
    """
    comparisons = keys.num_columns * others.num_columns
    found: list[Derivation] = []
    for name in keys.column_names:
        found += _of_key(keys.select([name]), others, comparisons)
    return found


def _of_key(keys: pa.Table, others: pa.Table, comparisons: int) -> list[Derivation]:
    name = keys.column_names[0]
    there = has_value(keys, name)
    rows = np.flatnonzero(there)
    if not len(rows) or not others.num_columns:
        return []
    known = _Whole(Reader(keys), Reader(others), there)

    def search(chosen: NDArray[np.int64]) -> list[Candidate]:
        taken = from_numpy(chosen)
        return candidates(
            Sample(name, Reader(keys.take(taken)), Reader(others.take(taken)), len(rows), comparisons)
        )

    chosen = sampled_rows(rows)
    found = search(chosen)
    best = simplest(known.confirmed(found))
    if len(chosen) < len(rows):
        more = [each for each in found if isinstance(each.rule, Linear) and each.rule.kind == "sum"]
        for each in more:
            exceptions = np.flatnonzero(there & ~each.rule.is_computed(known.keys, known.others))  # type: ignore[union-attr]
            if len(exceptions):
                again = search(np.union1d(chosen, exceptions[:_EXCEPTIONS]))
                best = simplest([*best, *known.confirmed(again)])
    return best


def has_value(keys: pa.Table, name: str) -> Mask:
    array = plain(keys.column(name))
    there = ~to_numpy(array.is_null(nan_is_null=True)).astype(bool)
    return np.asarray(there)


def sampled_rows(rows: NDArray[np.int64], most: int = SAMPLED) -> NDArray[np.int64]:
    """Some of the rows, the same in each run, in their order."""
    if len(rows) <= most:
        return rows
    return rows[np.unique(np.random.default_rng(0).integers(0, len(rows), most))]


def simplest(found: Iterable[Derivation]) -> list[Derivation]:
    """Of several rules for the same columns the one that is right most often, or the simplest of those;
    of several sums the best.
    """
    best: dict[tuple[str, ...], Derivation] = {}
    for each in sorted(found, key=lambda each: (-each.records, KINDS.index(each.kind), len(each.columns))):
        best.setdefault((each.key, "sum") if each.kind == "sum" else (each.key, *each.columns), each)
    return list(best.values())


@dataclass(frozen=True, eq=False)
class _Whole:
    """All records, those that have a value of a key among them."""

    keys: Reader
    others: Reader
    there: Mask

    def confirmed(self, found: Sequence[Candidate]) -> Iterator[Derivation]:
        of = int(self.there.sum())
        for each in found:
            if derivation := each.derivation(self._right(each.rule, of), of):
                yield derivation

    def _right(self, rule: Rule, of: int) -> int:
        if isinstance(rule, CodeToValue):
            rows = None if of == len(self.there) else from_numpy(self.there)
            key = codes_in(self.keys.table, (rule.key,), rows)[0]
            count = count_codes(codes_in(self.others.table, rule.columns, rows), key)
            return count.right if count.codes * LEAST_A_CODE <= of else 0
        if isinstance(rule, Monotone):
            _, column, key_numbers = rule.places(self.keys, self.others)
            return in_order(column, key_numbers)
        return int((rule.is_computed(self.keys, self.others) & self.there).sum())
