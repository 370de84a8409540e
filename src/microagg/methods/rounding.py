"""From fractions of columns to a partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.methods.columns import Columns
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.methods.stage import one_group
from microagg.model import Labels, Problem


def rounded(problem: Problem, columns: Columns, order: NDArray[np.int64], run: Run) -> tuple[Labels, int]:
    """Columns in this order wherever all their records are free; the records that stay free get
    groups by MDAV, or join the nearest groups if they are too few. Also returns how many those are.
    """
    n = len(problem.points)
    labels = np.full(n, -1, dtype=np.int32)
    groups = 0
    starts = columns.starts
    for column in order:
        members = columns.members[starts[column] : starts[column] + columns.sizes[column]]
        if labels[members].max() < 0:
            labels[members] = groups
            groups += 1
    free = np.flatnonzero(labels < 0)
    if len(free) >= problem.k:
        rest = Problem(np.ascontiguousarray(problem.points[free]), problem.k)
        labels[free] = groups + Mdav()(rest, one_group(rest), run).labels
    elif len(free):
        taken = np.flatnonzero(labels >= 0)
        means = _core.group_means(np.ascontiguousarray(problem.points[taken]), labels[taken].copy())
        for row in free:
            labels[row] = np.argmin(((means - problem.points[row]) ** 2).sum(axis=1))
    return _core.by_first_appearance(labels), len(free)


def orders(values: NDArray[np.float64], tries: int, seed: int) -> list[NDArray[np.int64]]:
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
