"""A bound for any number of records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.methods.neighbours import near_lists
from microagg.methods.run import Run
from microagg.model import Problem


def record_shares(problem: Problem, run: Run) -> NDArray[np.float64]:
    """Placeholder."""
    k = problem.k
    if len(problem.points) <= k:
        return np.zeros(len(problem.points))
    lists = near_lists(problem, k - 1, run)
    return sum(_core.list_distances(problem.points, lists, j) for j in range(k - 1)) / (2 * k) * (1 - 1e-12)
