"""From fractions of columns to a partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.methods.exact.group_columns import GroupColumns
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.methods.stage import one_group
from microagg.model import Labels, Problem


def round_to_partition(
    problem: Problem, columns: GroupColumns, order: NDArray[np.int64], run: Run
) -> Labels | None:
    """Columns in this order wherever all their records are free; the records that stay free get groups by
    MDAV or, if they are too few, join the nearest groups that have room; None if there is none.
    """
    n, k = len(problem.points), problem.k
    labels = np.full(n, -1, dtype=np.int32)
    groups = 0
    starts = columns.starts
    for column in order:
        members = columns.members[starts[column] : starts[column] + columns.sizes[column]]
        if labels[members].max() < 0:
            labels[members] = groups
            groups += 1
    free = np.flatnonzero(labels < 0)
    if len(free) >= k:
        rest = problem.part(free)
        labels[free] = groups + Mdav()(rest, one_group(rest), run).labels
    elif len(free):
        taken = np.flatnonzero(labels >= 0)
        means = _core.group_means(np.ascontiguousarray(problem.points[taken]), labels[taken])
        sizes = np.bincount(labels[taken])
        for row in free:
            distances = ((means - problem.points[row]) ** 2).sum(axis=1)
            distances[sizes >= 2 * k - 1] = np.inf
            nearest = int(np.argmin(distances))
            if distances[nearest] == np.inf:
                return None
            labels[row] = nearest
            sizes[nearest] += 1
    return _core.by_first_appearance(labels)


def random_orders(values: NDArray[np.float64], tries: int, seed: int) -> list[NDArray[np.int64]]:
    """Orders of the columns that have a value, those with more of it earlier, but the first more or less
    by chance.
    """
    random = np.random.default_rng(seed)
    used = np.flatnonzero(values > 1e-6)
    noises = np.linspace(0.0, 0.6, tries)
    return [
        used[np.argsort(-(values[used] + noise * random.random(len(used))), kind="stable")]
        for noise in noises
    ]
