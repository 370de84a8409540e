"""The decomposition heuristic of CGS22 (section 2), with the true optimum in every subset."""

import numpy as np

from .basics import Floats, Labels, as_points
from .exhaustive import exhaustive
from .objective import canonical, sse
from .peel import mdav
from .two_swap import exchanged, two_swap
from .v_mdav import v_mdav

GAMMAS = tuple(step / 10 for step in range(21))


def decomposition(
    points: Floats, k: int, s: int, first_swap: bool = True, last_swap: bool = True
) -> tuple[Labels, Labels]:
    """The clustering after step 7, and the subset of each record (step 4).

    Step 5 finds the optimum of each subset, so that no subset may have more than 12 records.
    """
    table = as_points(points)
    n = len(table)
    # Step 2: the better of MDAV and V-MDAV (ties: MDAV, then the lowest gamma).
    candidates = [mdav(table, k, formed=True)]
    candidates += [v_mdav(table, k, gamma, formed=True) for gamma in GAMMAS]
    clusters = candidates[int(np.argmin([sse(table, candidate) for candidate in candidates]))]
    # Step 3: the clusters keep their order, whoever their members are now.
    if first_swap:
        clusters = exchanged(table, clusters)
    # Step 4.
    subsets = subsets_of(clusters, s)
    # Steps 5 and 6.
    together = np.full(n, -1, dtype=np.int64)
    for subset in range(int(subsets.max()) + 1):
        rows = np.flatnonzero(subsets == subset)
        labels, _ = exhaustive(table[rows], k)
        together[rows] = labels + together.max() + 1
    # Step 7.
    final = canonical(together)
    return two_swap(table, final) if last_swap else final, subsets


def subsets_of(clusters: Labels, s: int) -> Labels:
    """Clusters 0, 1, ... are added to a subset until it has round(n / s) records, then to the next."""
    least = round(len(clusters) / s)
    subsets = np.full(len(clusters), -1, dtype=np.int32)
    number = size = 0
    for cluster in range(int(clusters.max()) + 1):
        members = clusters == cluster
        subsets[members] = number
        size += int(members.sum())
        if size >= least:
            number, size = number + 1, 0
    return subsets
