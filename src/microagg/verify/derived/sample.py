"""Some records of a table that have a value of a key, in which rules are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles
from microagg.verify.classes import Classes
from microagg.verify.derived.chance import chance_of_rule, chance_of_values, may_be_chance
from microagg.verify.derived.readings import Reader
from microagg.verify.derived.relations import Linear, is_right_often
from microagg.verify.promises import most_decimals
from microagg.verify.values import is_text, plain

LEAST_SAMPLED_SHARE = 0.94
"""In a sample, whose shares are off by a little, for `LEAST_SHARE` of all records."""


def half_unit(values: Doubles) -> float:
    """What rounding numbers to their decimals may have changed; 0 if they have too many to be rounded."""
    decimals = most_decimals(values)
    return 0.0 if decimals is None else 0.5 * 10.0**-decimals


@dataclass(frozen=True, eq=False)
class Sample:
    """Records with a value of the key, in random order, and their other columns."""

    key: str
    keys: Reader
    others: Reader
    records: int
    """Those that have a value of the key, sampled or not."""
    comparisons: int
    """How many pairs of a key and a column are looked at."""

    @property
    def n(self) -> int:
        return self.keys.table.num_rows

    @property
    def is_whole(self) -> bool:
        return self.n == self.records

    @cached_property
    def numbers(self) -> Doubles | None:
        """Of the key, if it has any; all of them finite."""
        readings = self.keys.readings(self.key)
        if self.is_category or not readings:
            return None
        values = self.keys.numbers(self.key, readings[0])
        return values if np.isfinite(values).all() else None

    @cached_property
    def is_category(self) -> bool:
        return is_text(plain(self.keys.table.column(self.key).slice(0, 0)).type)

    @cached_property
    def classes(self) -> Classes:
        """Records with the same value of the key."""
        return Classes.whole(self.n).refined([self.keys.codes(self.key)])

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.classes.sizes

    @property
    def most_frequent(self) -> float:
        """The share of the key's most frequent value."""
        return float(self.counts.max() / self.n)

    @cached_property
    def values(self) -> Doubles:
        """The key's different numbers."""
        return np.unique(self.numbers) if self.numbers is not None else np.empty(0)

    @cached_property
    def half_unit(self) -> float:
        return half_unit(self.values)

    def is_right_often(self, right: int) -> bool:
        return is_right_often(right, self.n, self.most_frequent, LEAST_SAMPLED_SHARE)

    def is_no_chance(self, chance: float) -> bool:
        return not may_be_chance(chance, self.comparisons)

    def proves(self, right: int, log_rules: float) -> bool:
        """Whether one of so many rules, right in so many records, is right often and not by chance."""
        chance = chance_of_rule(log_rules, self.counts, self.n - right)
        return self.is_right_often(right) and self.is_no_chance(chance)

    def right(self, rule: Linear, log_rules: float, known: int | None = None) -> int:
        """In how many records a rule of a family of so many is right; 0 if that may be chance, or too few.

        A rule with slack fits several values of the key in a record, and so many more orders. Without it,
        that one column gives just the values of the key is no chance either, but for `known` ones.
        """
        computed = rule.is_computed(self.keys, self.others)
        right = int(computed.sum())
        if not self.is_right_often(right):
            return 0
        windows = self._log_windows(rule, computed)
        chance = chance_of_rule(log_rules, self.counts, self.n - right) + windows
        if known is not None and right == self.n and windows == 0.0:
            chance += chance_of_values(self.values, known)
        return right if self.is_no_chance(chance) else 0

    def _log_windows(self, rule: Linear, computed: NDArray[np.bool_]) -> float:
        total, sizes = (
            np.broadcast_to(each, computed.shape)[computed] for each in rule.predicted(self.others)
        )
        slack = rule.slack + rule.relative * 2.0 * sizes
        first = np.searchsorted(self.values, total - slack)
        last = np.searchsorted(self.values, total + slack, side="right")
        return float(np.log(np.maximum(last - first, 1)).sum())
