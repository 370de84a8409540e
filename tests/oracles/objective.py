"""Sums of squares (VLDBJ06 section 2) and the numbering of groups."""

import math

import numpy as np
from numpy.typing import ArrayLike

from .basics import Floats, Labels, Rows, as_points, centroid_of


def canonical(labels: ArrayLike) -> Labels:
    """The same partition with the groups numbered 0, 1, ... by first appearance."""
    numbers: dict[int, int] = {}
    renumbered = [numbers.setdefault(int(label), len(numbers)) for label in np.asarray(labels)]
    return np.array(renumbered, dtype=np.int32)


def labels_of(groups: list[Rows] | list[list[int]], n: int) -> Labels:
    """Canonical labels of a partition given as lists of rows."""
    return canonical(numbers_of(groups, n))


def numbers_of(groups: list[Rows] | list[list[int]], n: int) -> Labels:
    """Labels by which the first of the lists is group 0, the second group 1, and so on."""
    labels = np.full(n, -1, dtype=np.int32)
    for number, group in enumerate(groups):
        if np.any(labels[group] != -1):
            raise ValueError("a row is in two groups")
        labels[group] = number
    if np.any(labels == -1):
        raise ValueError("a row is in no group")
    return labels


def squared_deviations(points: Floats) -> list[float]:
    """The squared deviations of all values of one group from the group's centroid."""
    deviations = points - centroid_of(points)
    return (deviations * deviations).ravel().tolist()


def group_sse(points: Floats) -> float:
    """Within-group sum of squares of one group, in two passes: the centroid, then deviations."""
    return math.fsum(squared_deviations(points))


def sse(points: Floats, labels: ArrayLike) -> float:
    """The SSE of section 2: squared distances of all records to the centroid of their group."""
    table = as_points(points)
    groups = np.asarray(labels)
    if groups.shape != (len(table),):
        raise ValueError("one label per record is needed")
    terms: list[float] = []
    for label in np.unique(groups):
        terms += squared_deviations(table[groups == label])
    return math.fsum(terms)


def sst(points: Floats) -> float:
    """The total sum of squares: the SSE of a single group of all records."""
    return group_sse(as_points(points))
