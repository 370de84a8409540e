"""Rules that give a key, counted in tables in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy, to_numpy
from microagg.verify.derived.finder import EXCEPTIONS, SAMPLED, Derivation, derivations_in
from microagg.verify.derived.readings import Reader
from microagg.verify.derived.relations import CodeToValue, Linear, Monotone, Rule, count_codes, in_order
from microagg.verify.derived.sample import Sample
from microagg.verify.values import Mask, plain


def derivations(keys: pa.Table, others: pa.Table) -> list[Derivation]:
    """What the columns `others`, released unchanged, tell of each of the `keys`, given by the source's
    values for the same records.
    """
    return derivations_in(_Tables(Reader(keys), Reader(others)))


def has_value(keys: pa.Table, name: str) -> Mask:
    array = plain(keys.column(name))
    return np.asarray(~to_numpy(array.is_null(nan_is_null=True)).astype(bool))


def sampled_rows(rows: NDArray[np.int64], most: int = SAMPLED) -> NDArray[np.int64]:
    """Some of the rows, the same in each run, in random order: the first of them are a sample as well."""
    random = np.random.default_rng(0)
    if len(rows) > most:
        rows = rows[np.unique(random.integers(0, len(rows), most))]
    return random.permutation(rows)


@dataclass(frozen=True, eq=False)
class _Tables:
    """Keys and other columns of the same records."""

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
            self._there[key] = has_value(self.known.table, key)
        return self._there[key]

    def sample(self, key: str) -> Sample:
        return self._taken(key, sampled_rows(np.flatnonzero(self.there(key))))

    def more(self, sample: Sample, rule: Linear, wrong: int) -> Sample:
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

    def right(self, rules: Sequence[Rule]) -> list[int]:
        return [self._right(rule) for rule in rules]

    def _right(self, rule: Rule) -> int:
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
