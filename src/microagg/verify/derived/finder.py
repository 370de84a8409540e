"""From samples to rules, and from the records in which these are right to what is found.

The same for tables in memory and for frames of Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from microagg.verify.derived.pairs import dummies, rules_of_column
from microagg.verify.derived.relations import KINDS, LEAST_SHARE, Kind, Linear, Rule, is_right_often
from microagg.verify.derived.sample import Sample
from microagg.verify.derived.sums import sum_of_columns

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


class Records(Protocol):
    """All records of a release: those of a table in memory, or of a frame."""

    @property
    def keys(self) -> Sequence[str]: ...

    def sample(self, key: str) -> Sample:
        """Of the records with a value of the key, at most about `SAMPLED`."""
        ...

    def more(self, sample: Sample, rule: Linear, wrong: int) -> Sample:
        """Some records of the sample, and some of those, so many in all, for which a rule is wrong."""
        ...

    def right(self, rules: Sequence[Rule]) -> list[int]:
        """In how many records with a value of its key each of the rules is right."""
        ...


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


def derivations_in(records: Records) -> list[Derivation]:
    """All that is found about the keys, by the keys' order."""
    samples = [records.sample(key) for key in records.keys]
    candidates = [(rule, sample) for sample in samples for rule in rules_in(sample)]
    right = records.right([rule for rule, _ in candidates])
    more: list[tuple[Rule, Sample]] = []
    for (rule, sample), many in zip(candidates, right, strict=True):
        if isinstance(rule, Linear) and rule.kind == "sum" and many < sample.records:
            exceptions = records.more(sample, rule, sample.records - many)
            more += [(each, sample) for _, each in sum_of_columns(exceptions, exceptions.others.names)]
    right += records.right([rule for rule, _ in more])
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
