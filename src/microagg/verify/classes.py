"""Records that share values, found exactly and without sorting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy, from_texts, scalar, to_numpy
from microagg.model import ColumnRoles
from microagg.verdict import Count
from microagg.verify.values import Mask, bits, missing, plain

Codes = tuple[NDArray[np.int64], ...]
"""One or two integers for each record, equal exactly where values are."""


def codes_of(column: Any) -> Codes:
    """Of a column of any type; null is a value of its own."""
    array = plain(column)
    values = bits(array)
    if values is not None:
        return (values, missing(array).astype(np.int64)) if array.null_count else (values,)
    try:
        indices = array.dictionary_encode().indices
    except pa.ArrowNotImplementedError:  # lists and structures
        texts = [None if value is None else repr(value) for value in array.to_pylist()]
        indices = from_texts(texts).dictionary_encode().indices
    return (to_numpy(indices.fill_null(scalar(-1, indices.type))).astype(np.int64),)


def _by_appearance(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The values as 0, 1, … by first appearance, and how many differ."""
    encoded = from_numpy(values).dictionary_encode()
    return to_numpy(encoded.indices).astype(np.int64), len(encoded.dictionary)


def _combined(labels: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each pair of a label and a value, of which there is at least one."""
    least = int(values.min())
    width = int(values.max()) - least + 1
    if width * (int(labels.max()) + 1) >= 2**63:
        values, width = _by_appearance(values)
        least = 0
    return np.asarray(labels * width + (values - least))


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each record, 0 to count - 1, none empty."""

    labels: NDArray[np.int64]
    count: int

    @classmethod
    def whole(cls, n: int) -> Classes:
        return cls(np.zeros(n, dtype=np.int64), min(n, 1))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.labels, minlength=self.count)

    @cached_property
    def some_record(self) -> NDArray[np.int64]:
        """One record of each class."""
        records = np.empty(self.count, dtype=np.int64)
        records[self.labels] = np.arange(len(self.labels))
        return records

    @property
    def unique(self) -> int:
        """The number of records that are alone in their class."""
        return int((self.sizes == 1).sum())

    def differs(self, codes: Codes) -> Mask:
        """Which records differ from the one that stands for their class."""
        found = np.zeros(len(self.labels), dtype=bool)
        if self.count < len(found):
            stands = self.some_record[self.labels]
            for values in codes:
                found |= values[stands] != values
        return found

    def refined(self, columns: Iterable[Codes]) -> Classes:
        """Records together only if they also agree in these columns.

        A column that is constant in every class, as masked ones are once the first has made the
        classes, costs two gathers; any other two hash tables.
        """
        classes = self
        for values in (values for codes in columns for values in codes):
            if classes.differs((values,)).any():
                classes = Classes(
                    *_by_appearance(_combined(classes.labels, values) if classes.count > 1 else values)
                )
        return classes

    def unique_with(self, columns: Iterable[Codes]) -> int:
        """The number of records that would be alone in their class if it were refined by these columns.

        Those that are alone already are left out of what follows; in the end no classes are needed, and
        to sort is quicker than to number.
        """
        shared = (self.sizes > 1)[self.labels]
        records, labels = np.flatnonzero(shared), self.labels[shared]
        rest = [values for codes in columns for values in codes]
        while len(rest) > 1 and len(records):
            labels, _ = _by_appearance(_combined(labels, rest.pop(0)[records]))
            shared = (np.bincount(labels) > 1)[labels]
            records, labels = records[shared], labels[shared]
        alone = len(self.labels) - len(records)
        if not rest or not len(records):
            return alone
        ordered = np.sort(_combined(labels, rest[0][records]))
        starts = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
        return alone + int((starts[1:] & starts[:-1]).sum())

    def with_any(self, records: Mask) -> NDArray[np.int64]:
        return np.flatnonzero(np.bincount(self.labels[records], minlength=self.count))

    def constant(self, codes: Codes) -> Mask:
        """Which classes have one value of a column only."""
        found = np.full(self.count, True)
        found[self.with_any(self.differs(codes))] = False
        return found

    def poor(self, codes: Codes, roles: ColumnRoles) -> Mask:
        """Which classes have fewer different values of a confidential column than they should."""
        least = roles.min_distinct
        if least == 2:
            return self.constant(codes)
        finer = self.refined([codes])
        distinct = np.bincount(self.labels[finer.some_record], minlength=self.count)
        return np.asarray(distinct < least)

    def dominated(self, weights: NDArray[np.float64]) -> Mask:
        """Which classes have one record with more than half of the weight."""
        total = np.bincount(self.labels, weights, self.count)
        # A half exactly is allowed, and its sum may be off in the last digits.
        return np.asarray(2 * self._largest(weights) > total * (1 + 1e-12))

    def estimated_within(self, amounts: NDArray[np.float64], percent: float) -> int:
        """The number of classes that fail the p %-rule: what all but the two largest have is less than this
        percentage of the largest, so that the second can estimate the first too closely.
        """
        scale = max(amounts.max(initial=0.0), np.finfo(np.float64).tiny)
        amounts = amounts / scale
        total = np.bincount(self.labels, amounts, self.count)
        largest = self._largest(amounts)
        at_top = amounts == largest[self.labels]
        tied = np.bincount(self.labels[at_top], minlength=self.count) > 1
        below = np.where(at_top, 0.0, amounts)
        second = np.where(tied, largest, self._largest(below))
        rest = total - largest - second
        slack = 1e-12 * total
        return int(((largest > 0.0) & (rest + slack < percent / 100.0 * largest)).sum())

    def _largest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest value of each class; none is negative."""
        largest = np.zeros(self.count)
        np.maximum.at(largest, self.labels, values)
        return largest

    def counted(self, columns: tuple[str, ...], k: int) -> Count:
        """The classes by these columns, as a verdict has them."""
        return Count(
            columns=columns,
            classes=self.count,
            smallest=int(self.sizes.min(initial=len(self.labels))),
            below=int(self.sizes[self.sizes < k].sum()),
            unique=self.unique,
        )


@dataclass(frozen=True, slots=True, eq=False)
class TableClasses:
    """The classes of a table's records by any of its columns, each found once."""

    table: pa.Table
    _codes: dict[str, Codes] = field(default_factory=dict)
    _classes: dict[tuple[str, ...], Classes] = field(default_factory=dict)

    def codes(self, name: str) -> Codes:
        if name not in self._codes:
            self._codes[name] = codes_of(self.table.column(name))
        return self._codes[name]

    def by(self, names: tuple[str, ...]) -> Classes:
        """Records that share the values of these columns."""
        if not names:
            return Classes.whole(self.table.num_rows)
        if names not in self._classes:
            self._classes[names] = self.by(names[:-1]).refined([self.codes(names[-1])])
        return self._classes[names]

    def unique_by(self, names: tuple[str, ...]) -> int:
        """Records that share the values of these columns with no other."""
        known = next((n for n in range(len(names), 0, -1) if names[:n] in self._classes), 0)
        return self.by(names[:known]).unique_with(self.codes(name) for name in names[known:])
