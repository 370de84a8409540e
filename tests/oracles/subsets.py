"""Reduced costs of all groups of a handful of records, and prices that none of them contradicts."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from .basics import Floats

Group = tuple[int, ...]
Pairs = Sequence[tuple[int, int]]


def admitted_groups(n: int, k: int, apart: Pairs = (), together: Pairs = ()) -> list[Group]:
    """All groups of k to 2k - 1 records that keep these pairs apart and together."""
    return [
        group
        for size in range(k, min(2 * k - 1, n) + 1)
        for group in combinations(range(n), size)
        if not any(i in group and j in group for i, j in apart)
        and not any((i in group) != (j in group) for i, j in together)
    ]


def reduced_cost(
    points: Floats,
    group: Group,
    prices: Floats,
    cuts: Sequence[Group],
    multipliers: Floats,
    charge: float = 0.0,
) -> float:
    """w_C - the prices of C + the multipliers of the cuts times floor(|C and S| / 2) + the charge."""
    pairs = combinations(group, 2)
    cost = sum(float(((points[i] - points[j]) ** 2).sum()) for i, j in pairs) / len(group)
    for cut, multiplier in zip(cuts, multipliers, strict=False):
        cost += float(multiplier) * (len(set(cut) & set(group)) // 2)
    return cost - float(prices[list(group)].sum()) + charge


def nearest_shares(points: Floats, k: int) -> Floats:
    """Prices that no group contradicts: the sum of the k - 1 smallest distances of each record, over 2k."""
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.sort(distances, axis=1)[:, 1:k].sum(axis=1) / (2 * k)


def raised(
    points: Floats,
    groups: list[Group],
    prices: Floats,
    cuts: Sequence[Group],
    multipliers: Floats,
    charge: float = 0.0,
) -> Floats:
    """Each price in turn as high as the groups allow."""
    prices = prices.copy()
    reduced = {group: reduced_cost(points, group, prices, cuts, multipliers, charge) for group in groups}
    for i in range(len(points)):
        room = min((cost for group, cost in reduced.items() if i in group), default=0.0)
        prices[i] += room
        for group in reduced:
            if i in group:
                reduced[group] -= room
    return prices
