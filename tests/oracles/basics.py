"""Conventions shared by all oracles: distance, centroid, tie breaking, counting.

A distance is always the squared Euclidean one, its attributes added one after another from
left to right. "Farthest" means the largest distance and, among equals, the lowest row;
"nearest" means the smallest pair (distance, row). A centroid is the correctly rounded sum of
every column (``math.fsum``) divided by the number of records.

Counting follows the lemmas of VLDBJ06: one unit per distance between two points, distances
are not stored between steps, and a choice that has to take every candidate anyway costs
nothing (lemma 2 does not count the last point of the path, expression (2) not the last group).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Labels = NDArray[np.int32]


class Counts(Protocol):
    """Anything with an integer attribute ``distances``."""

    distances: int


@dataclass
class DistanceCounter:
    """A counter to hand to the oracles."""

    distances: int = 0


def count(counter: Counts | None, amount: int) -> None:
    """Add to the counter, if there is one."""
    if counter is not None:
        counter.distances += amount


def as_points(points: Floats) -> Floats:
    """The data as a float64 table with one record per row."""
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError("points must be a table of records (rows) and attributes (columns)")
    return table


def squared_distances(points: Floats, query: Floats) -> Floats:
    """Squared distances of all rows of ``points`` to one point, attribute after attribute."""
    total = np.zeros(len(points))
    for attribute in range(points.shape[1]):
        difference = points[:, attribute] - query[attribute]
        total += difference * difference
    return total


def pairwise_distances(points: Floats) -> Floats:
    """The full matrix of squared distances, attribute after attribute."""
    total = np.zeros((len(points), len(points)))
    for attribute in range(points.shape[1]):
        column = points[:, attribute]
        difference = column[:, None] - column[None, :]
        total += difference * difference
    return total


def centroid_of(points: Floats) -> Floats:
    """The mean record."""
    size = len(points)
    return np.array([math.fsum(column) / size for column in points.T.tolist()])


def distances_to(points: Floats, rows: Rows, query: Floats, counter: Counts | None = None) -> Floats:
    """Squared distances of the given rows to one point, one unit counted for each."""
    count(counter, len(rows))
    return squared_distances(points[rows], query)


def farthest(rows: Rows, distances: Floats) -> int:
    """The row with the largest distance, the lowest of them if several have it."""
    candidates = rows[distances == distances.max()]
    return int(candidates.min())


def nearest(rows: Rows, distances: Floats) -> int:
    """The row with the smallest distance, the lowest of them if several have it."""
    candidates = rows[distances == distances.min()]
    return int(candidates.min())


def nearest_first(rows: Rows, distances: Floats) -> Rows:
    """All rows, sorted by (distance, row)."""
    return rows[np.lexsort((rows, distances))]


def without(rows: Rows, taken: Sequence[int] | Rows) -> Rows:
    """The rows that are not among ``taken``, in the same order."""
    return rows[~np.isin(rows, taken)]


def farthest_of_matrix(matrix: Floats) -> tuple[int, int]:
    """Positions (a, b), a < b, of the largest entry; ties: the lowest a, then the lowest b."""
    upper = np.where(np.triu(np.ones(matrix.shape, dtype=bool), k=1), matrix, -1.0)
    first, second = np.unravel_index(np.argmax(upper), upper.shape)
    return int(first), int(second)
