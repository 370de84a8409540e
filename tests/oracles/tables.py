"""Groups that choose among candidates so that tables stay as in the source, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np


@dataclass
class TableTask:
    """Records with their group, weight, codes and amounts; and what each group may publish.

    `candidates[attribute][group]`: (code, price, amount) of each; `amounts[attribute]` of the records, None
    where the attribute is no number; `others`: (before, published) codes of columns that are not chosen.
    """

    group: np.ndarray
    weight: np.ndarray
    codes: np.ndarray
    amounts: list[np.ndarray | None]
    candidates: list[list[list[tuple[int, float, float]]]]
    missing: list[int]
    """By attribute: the code of a group that publishes nothing."""
    others: list[tuple[np.ndarray, np.ndarray]]
    pairs: bool
    few: float
    sums: float
    wide_rows: list[list[int]] = field(default_factory=list)
    """By column, others after attributes: the row of tables of three columns in which each code stands."""
    wide_tables: list[tuple[int, int, int]] = field(default_factory=list)
    wide: float = 0.0
    """How much tables of three columns count."""

    def objective(self, chosen: np.ndarray) -> float:
        """Squared differences of all cells, each by the inverse of its count and `few`, and prices."""
        total = 0.0
        published, amounts = [], []
        for at, own in enumerate(self.candidates):
            picked = [
                own[group][place] if place >= 0 else (self.missing[at], 0.0, 0.0)
                for group, place in enumerate(chosen[:, at])
            ]
            total += sum(price for _, price, _ in picked)
            published.append(np.array([code for code, _, _ in picked])[self.group])
            amounts.append(np.array([amount for _, _, amount in picked])[self.group])
        columns = [(self.codes[:, at], new) for at, new in enumerate(published)] + self.others
        own = len(published)
        for one, other in combinations(range(len(columns)), 2):
            if one < own and (other >= own or self.pairs):
                total += self._squares([columns[one], columns[other]])
        for table in self.wide_tables:
            rows = [np.array(self.wide_rows[at]) for at in table]
            sides = [[row[side] for side in columns[at]] for at, row in zip(table, rows, strict=True)]
            total += self.wide * self._squares(sides)
        for at, before in enumerate(self.amounts):
            for other in range(len(columns)):
                if before is not None and other != at and (other >= own or self.pairs):
                    total += self._sums(before, amounts[at], columns[other])
        return total

    def _squares(self, columns: Sequence[Sequence[np.ndarray]]) -> float:
        """Of the table of these columns, each with what it was before and what is published."""
        counts: list[dict[tuple[int, ...], float]] = [defaultdict(float), defaultdict(float)]
        for side in (0, 1):
            codes = zip(*(column[side].tolist() for column in columns), strict=True)
            for cell, weight in zip(codes, self.weight.tolist(), strict=True):
                counts[side][cell] += weight
        cells = {*counts[0], *counts[1]}
        return sum(
            (counts[1][cell] - counts[0][cell]) ** 2 / (counts[0][cell] + self.few) for cell in cells
        )

    def _sums(self, before: np.ndarray, after: np.ndarray, column: Sequence[np.ndarray]) -> float:
        total: dict[int, float] = defaultdict(float)
        count: dict[int, float] = defaultdict(float)
        for code, amount, weight in zip(column[0].tolist(), before, self.weight, strict=True):
            total[code] -= weight * amount
            count[code] += weight
        for code, amount, weight in zip(column[1].tolist(), after, self.weight, strict=True):
            total[code] += weight * amount
        return sum(self.sums * total[code] ** 2 / (count[code] + self.few) for code in total)

    def descended(self, start: np.ndarray, sweeps: int, order: Sequence[int]) -> np.ndarray:
        """One attribute of one group after the other takes its best candidate, until none has a better."""
        chosen = start.copy()
        for _ in range(sweeps):
            before = chosen.copy()
            for group in order:
                for at, own in enumerate(self.candidates):
                    if len(own[group]) > 1:
                        self._take_best(chosen, group, at, len(own[group]))
            if (chosen == before).all():
                break
        return chosen

    def _take_best(self, chosen: np.ndarray, group: int, at: int, count: int) -> None:
        stays = chosen[group, at]
        costs = []
        for place in range(count):
            chosen[group, at] = place
            costs.append(self.objective(chosen))
        better = [place for place in range(count) if costs[place] < costs[stays] - 1e-9]
        chosen[group, at] = min(better, key=lambda place: costs[place]) if better else stays


def order_of_groups(groups: int) -> list[int]:
    """As the kernel goes through them: shuffled by splitmix64 from 1."""
    state, order, mask = 1, list(range(groups)), 2**64 - 1
    for last in range(groups - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        place = ((mixed ^ (mixed >> 31)) >> 32) * (last + 1) >> 32
        order[last], order[place] = order[place], order[last]
    return order


def nearest_combination(rows: np.ndarray, prices: list[np.ndarray]) -> float:
    """What the cheapest of these combinations costs; `prices`: by column, of each code."""
    return min(sum(own[code] for own, code in zip(prices, row, strict=True)) for row in rows.tolist())
