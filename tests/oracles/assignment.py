"""Assignment rounds in plain NumPy and SciPy, from the definition in docs/methods/assignment.md."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from microagg.model import Labels, Points, Rows

_MASK = 2**64 - 1
_FORBIDDEN = np.inf


class SplitMix:
    """The random numbers of the core."""

    def __init__(self, seed: int) -> None:
        self.state = seed
        self.indices: list[int] = []

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & _MASK
        return mixed ^ (mixed >> 31)

    def gumbel(self) -> float:
        """One of 1,024 quantiles; six of them from one number."""
        if not self.indices:
            bits = self.next()
            self.indices = [bits >> 10 * place & 1023 for place in range(6)]
        share = (self.indices.pop(0) + 0.5) / 1024
        return -math.log(-math.log(share))


def rounds(
    x: Points,
    labels: Labels,
    k: int,
    lists: Rows,
    reach: int,
    skip: float,
    temperatures: NDArray[np.float64],
    seed: int,
) -> Labels:
    """The labels after one round for each temperature, on all records at once."""
    random = SplitMix(seed)
    labels = labels.copy()
    for temperature in temperatures:
        labels = _round(x, labels, k, lists, reach, skip, float(temperature), random)
    return labels


def _round(
    x: Points,
    labels: Labels,
    k: int,
    lists: Rows,
    reach: int,
    skip: float,
    temperature: float,
    random: SplitMix,
) -> Labels:
    groups = int(labels.max()) + 1
    sizes = np.bincount(labels)
    drawn = np.empty(groups, dtype=int)
    given = np.empty(groups, dtype=bool)
    for group in range(groups):
        bits = random.next()
        members = np.flatnonzero(labels == group)
        drawn[group] = members[(bits >> 32) * sizes[group] >> 32]
        near = {int(labels[other]) for other in lists[drawn[group]][:reach]} - {group}
        skips = (bits & 0xFFFFFFFF) < int(skip * 2**32) and sizes[group] < 2 * k - 1
        given[group] = not (skips and any(sizes[other] > k for other in near))
    cores = [
        np.setdiff1d(np.flatnonzero(labels == group), drawn[[group]] if given[group] else [])
        for group in range(groups)
    ]
    costs = np.full((groups, groups), _FORBIDDEN)
    for group in range(groups):
        row = drawn[group]
        nearby = [group, *(int(labels[other]) for other in lists[row][:reach])]
        for to in dict.fromkeys(nearby):
            if not given[group] and to != group and len(cores[to]) < k:
                continue
            cost = 0.0
            if given[group]:
                m = len(cores[to])
                cost = m / (m + 1) * float(((x[row] - x[cores[to]].mean(axis=0)) ** 2).sum())
            costs[group, to] = cost - (temperature * random.gumbel() if temperature > 0.0 else 0.0)
    rows, columns = linear_sum_assignment(costs)
    stays = np.diagonal(costs).sum()
    if temperature == 0.0 and not costs[rows, columns].sum() - stays < -1e-12 * stays:
        return labels
    moved = labels.copy()
    for group, to in zip(rows, columns, strict=True):
        if given[group]:
            moved[drawn[group]] = to
    return moved
