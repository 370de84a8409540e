"""From samples to rules, and from the records in which these are right to what is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy, to_numpy
from microagg.verify.derived.pairs import dummies, rules_of_column
from microagg.verify.derived.readings import Reader
from microagg.verify.derived.relations import (
    KINDS,
    LEAST_SHARE,
    CodeToValue,
    Kind,
    Linear,
    Monotone,
    Rule,
    count_codes,
    in_order,
    is_right_often,
)
from microagg.verify.derived.sample import Sample
from microagg.verify.derived.sums import sum_of_columns
from microagg.verify.values import Mask, plain

SAMPLED = 10_000
"""Records in which rules are looked for."""
EXCEPTIONS = 500
"""Records that a sum does not give, in which a rare further term may show."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """`columns` give the value of a masked key in `records` of the `of` records that have one."""

    key: str
    columns: tuple[str, ...]
    kind: Kind
    records: int
    of: int


def sampled_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Some of the rows, the same in each run, in random order: the first of them are a sample as well."""
    random = np.random.default_rng(0)
    if len(rows) > SAMPLED:
        rows = rows[np.unique(random.integers(0, len(rows), SAMPLED))]
    return random.permutation(rows)


@dataclass(frozen=True, eq=False)
class Records:
    """Keys and other columns of the same records, all of them."""

    known: Reader
    others: Reader
    _samples: dict[bytes, Reader] = field(default_factory=dict, repr=False)
    _there: dict[str, Mask] = field(default_factory=dict, repr=False)

    @cached_property
    def keys(self) -> Sequence[str]:
        return self.known.names if self.others.names else []

    def there(self, key: str) -> Mask:
        """Which records have a value of the key."""
        if key not in self._there:
            array = plain(self.known.table.column(key))
            self._there[key] = np.asarray(~to_numpy(array.is_null(nan_is_null=True)).astype(bool))
        return self._there[key]

    def sample(self, key: str) -> Sample:
        """Of the records with a value of the key, at most about `SAMPLED`."""
        return self._taken(key, sampled_rows(np.flatnonzero(self.there(key))))

    def more(self, rule: Linear) -> Sample:
        """Some records with a value of the key, and some of those for which a rule is wrong."""
        rows = np.flatnonzero(self.there(rule.key))
        exceptions = np.flatnonzero(self.there(rule.key) & ~rule.is_computed(self.known, self.others))
        some = sampled_rows(rows)[: 2 * EXCEPTIONS]
        return self._taken(rule.key, sampled_rows(np.union1d(some, exceptions[:EXCEPTIONS])))

    def _taken(self, key: str, rows: NDArray[np.int64]) -> Sample:
        """The same rows are taken once: keys without missing values share them."""
        taken, digest = from_numpy(rows), rows.tobytes()
        if digest not in self._samples:
            self._samples[digest] = Reader(self.others.table.take(taken))
        keys = Reader(self.known.table.select([key]).take(taken))
        comparisons = len(self.known.names) * len(self.others.names)
        return Sample(key, keys, self._samples[digest], int(self.there(key).sum()), comparisons)

    def right(self, rule: Rule) -> int:
        """In how many records with a value of its key the rule is right."""
        there = self.there(rule.key)
        if isinstance(rule, CodeToValue):
            key, *columns = (
                tuple(part[there] for part in codes)
                for codes in (self.known.codes(rule.key), *map(self.others.codes, rule.columns))
            )
            return rule.right(count_codes(columns, key))
        if isinstance(rule, Monotone):
            return in_order(*rule.places(self.known, self.others)[1:])
        return int((rule.is_computed(self.known, self.others) & there).sum())


def rules_in(sample: Sample) -> list[Rule]:
    """Rules that give the key in a sample; not sums of columns of which one gives it alone."""
    if sample.n < 2 or sample.classes.count < 2:
        return []  # what is the same in all records is known from what is released
    found = [each for name in sample.others.names for each in rules_of_column(sample, name)]
    enough = [rule.columns[0] for right, rule in found if right >= LEAST_SHARE * sample.n]
    left = [name for name in sample.others.names if name not in enough]
    found += dummies(sample, left)
    found += sum_of_columns(sample, left)
    return [rule for _, rule in found]


def derivations(keys: pa.Table, others: pa.Table) -> list[Derivation]:
    """What the columns `others`, released unchanged, tell of each of the `keys`, given by the source's
    values for the same records; by the keys' order.
    """
    records = Records(Reader(keys), Reader(others))
    samples = [records.sample(key) for key in records.keys]
    candidates = [(rule, sample) for sample in samples for rule in rules_in(sample)]
    right = [records.right(rule) for rule, _ in candidates]
    more: list[tuple[Rule, Sample]] = []
    for (rule, sample), many in zip(candidates, right, strict=True):
        if isinstance(rule, Linear) and rule.kind == "sum" and many < sample.records:
            exceptions = records.more(rule)
            more += [(each, sample) for _, each in sum_of_columns(exceptions, exceptions.others.names)]
    right += [records.right(rule) for rule, _ in more]
    found = [
        Derivation(rule.key, rule.columns, rule.kind, many, sample.records)
        for (rule, sample), many in zip(candidates + more, right, strict=True)
        if is_right_often(many, sample.records, sample.most_frequent)
    ]
    return [each for key in records.keys for each in _simplest(each for each in found if each.key == key)]


def _simplest(found: Iterable[Derivation]) -> list[Derivation]:
    """Of several rules for a key by the same columns one that is right in all records, or else the
    simplest; of several sums the best.
    """

    def rank(each: Derivation) -> tuple[bool, int, int]:
        return each.records < each.of, KINDS.index(each.kind), -each.records

    best: dict[frozenset[str], Derivation] = {}
    for each in sorted(found, key=rank):
        best.setdefault(frozenset(each.columns), each)
    sums = [each for each in best.values() if each.kind == "sum"]
    return [each for each in best.values() if each not in sums[1:]]
