"""Released columns from which a masked key can be computed, by rules that an outsider can know.

Rules are looked for in a sample of the records (`candidates_in`) and counted in all of them (`derivations`
in memory). Why none is found by chance: `chance.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
    count_codes,
    in_order,
)
from microagg.verify.derived.sample import LEAST_SHARE, Sample, is_right_often
from microagg.verify.derived.sums import sum_of_columns
from microagg.verify.values import Mask, plain

SAMPLED = 10_000
"""Records in which rules are looked for."""
_EXCEPTIONS = 500
"""Records that a sum does not give, which are looked at more closely."""


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


def candidates_in(sample: Sample) -> list[Candidate]:
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
    if not others.num_columns:
        return []
    whole = _Whole(Reader(keys), Reader(others))
    return [each for name in keys.column_names for each in whole.derivations_of(name)]


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
    """Of several rules for the same columns one that is right in all records, or else the simplest; of
    several sums the best.
    """

    def rank(each: Derivation) -> tuple[bool, int, int]:
        return each.records < each.of, KINDS.index(each.kind), -each.records

    best: dict[tuple[str, ...], Derivation] = {}
    for each in sorted(found, key=rank):
        best.setdefault((each.key, "sum") if each.kind == "sum" else (each.key, *each.columns), each)
    return list(best.values())


@dataclass(frozen=True, eq=False)
class _Whole:
    """All records, and the samples of them that were taken."""

    keys: Reader
    others: Reader
    _samples: dict[bytes, Reader] = field(default_factory=dict, repr=False)

    def derivations_of(self, key: str) -> list[Derivation]:
        there = has_value(self.keys.table, key)
        rows = np.flatnonzero(there)
        chosen = sampled_rows(rows)
        candidates = self._search(key, chosen, len(rows))
        found = [*self._confirmed(candidates, there)]
        if len(chosen) < len(rows):
            exceptions = np.flatnonzero(there & ~self._computed_by_sums(candidates, there))[:_EXCEPTIONS]
            if len(exceptions):  # where a rare further term may show
                some = sampled_rows(rows, 2 * _EXCEPTIONS)
                candidates = self._search(key, np.union1d(some, exceptions), len(rows))
                found += self._confirmed(candidates, there)
        return simplest(found)

    def _search(self, key: str, rows: NDArray[np.int64], records: int) -> list[Candidate]:
        """In a sample, which keys without missing values share."""
        taken, digest = from_numpy(rows), rows.tobytes()
        if digest not in self._samples:
            self._samples[digest] = Reader(self.others.table.take(taken))
        keys = Reader(self.keys.table.select([key]).take(taken))
        comparisons = self.keys.table.num_columns * self.others.table.num_columns
        return candidates_in(Sample(key, keys, self._samples[digest], records, comparisons))

    def _computed_by_sums(self, found: Sequence[Candidate], there: Mask) -> Mask:
        """Records that a sum gives, all if there is none."""
        for each in found:
            if isinstance(each.rule, Linear) and each.rule.kind == "sum":
                return each.rule.is_computed(self.keys, self.others)
        return there

    def _confirmed(self, found: Sequence[Candidate], there: Mask) -> Iterator[Derivation]:
        of = int(there.sum())
        for each in found:
            if derivation := each.derivation(self._right(each.rule, there), of):
                yield derivation

    def _right(self, rule: Rule, there: Mask) -> int:
        if isinstance(rule, CodeToValue):
            key, *columns = (
                tuple(part[there] for part in codes)
                for codes in (self.keys.codes(rule.key), *map(self.others.codes, rule.columns))
            )
            count = count_codes(columns, key)
            return count.right if count.codes * LEAST_A_CODE <= count.records else 0
        if isinstance(rule, Monotone):
            return in_order(*rule.places(self.keys, self.others)[1:])
        return int((rule.is_computed(self.keys, self.others) & there).sum())
