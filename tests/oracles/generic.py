"""MDAV-generic (Domingo-Ferrer and Torra 2005), and what groups of records of any kind publish and cost.

Values are numbers, or ordered levels whose places are given as numbers; codes are categories.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .basics import Floats, Labels, Rows, centroid_of, squared_distances
from .objective import group_sse, labels_of

Codes = NDArray[np.int32]


def mdav_generic(values: Floats, ordered: Sequence[bool], codes: Codes, k: int) -> Labels:
    """Groups around the record farthest from the average record and the one farthest from that, while at
    least 3k records remain; then one group more if 2k remain, and the rest is the last group.
    """

    def distances(rows: Rows, value: Floats, code: Codes) -> Floats:
        return squared_distances(values[rows], value) + (codes[rows] != code).sum(axis=1)

    def farthest(rows: Rows, value: Floats, code: Codes) -> int:
        return int(rows[np.argmax(distances(rows, value, code))])

    def average(rows: Rows) -> tuple[Floats, Codes]:
        value = centroid_of(values[rows])
        for attribute, is_level in enumerate(ordered):
            if is_level:
                value[attribute] = np.sort(values[rows, attribute])[(len(rows) - 1) // 2]
        modes = [int(np.argmax(np.bincount(column))) for column in codes[rows].T]
        return value, np.array(modes, dtype=np.int32)

    def group_of(seed: int, rows: Rows) -> Rows:
        others = rows[rows != seed]
        nearest = np.argsort(distances(others, values[seed], codes[seed]), kind="stable")
        return np.append(others[nearest[: k - 1]], seed)

    rows = np.arange(len(values))
    groups: list[Rows] = []

    def form(seed: int) -> None:
        nonlocal rows
        groups.append(group_of(seed, rows))
        rows = np.setdiff1d(rows, groups[-1])

    while len(rows) >= 3 * k:
        seed = farthest(rows, *average(rows))
        form(seed)
        form(farthest(rows, values[seed], codes[seed]))
    if len(rows) >= 2 * k:
        form(farthest(rows, *average(rows)))
    return labels_of([*groups, rows], len(values))


def cost_of_numbers(values: Floats, labels: Labels) -> float:
    return sum(group_sse(values[labels == group]) for group in np.unique(labels))


def changed_cells(codes: Codes, labels: Labels) -> int:
    """Cells of a category that differ from the most frequent one of their group."""
    groups = [codes[labels == group] for group in np.unique(labels)]
    return sum(len(group) - int(np.bincount(group).max()) for group in groups)


def changes_of_level(levels: Codes, labels: Labels) -> int:
    """By how many levels all records together differ from the median of their group."""
    groups = [np.sort(levels[labels == group]) for group in np.unique(labels)]
    return sum(int(np.abs(group - group[(len(group) - 1) // 2]).sum()) for group in groups)


def distance_in_taxonomy(codes: Codes, paths: Codes, labels: Labels) -> int:
    """The number of levels at which records differ from that code of their group which is nearest to
    all.
    """
    total = 0
    for group in np.unique(labels):
        own = paths[codes[labels == group]]
        total += min(int((own != path).sum()) for path in own)
    return total
