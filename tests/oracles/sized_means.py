"""Assignments with sizes of at least k, and the halving of a group, from their definitions."""

import numpy as np

from .basics import Floats, Labels, as_points


def least_cost(costs: Floats, k: int) -> float:
    """The least total cost of assigning every record (row) to a centre (column), at least k to each.

    By dynamic programming: after each record, the least cost for every vector of sizes, where sizes from k
    on count as k.
    """
    table = as_points(costs)
    centres = table.shape[1]
    known = {(0,) * centres: 0.0}
    for row in table:
        after: dict[tuple[int, ...], float] = {}
        for sizes, cost in known.items():
            for centre in range(centres):
                grown = (*sizes[:centre], min(sizes[centre] + 1, k), *sizes[centre + 1 :])
                total = cost + float(row[centre])
                if total < after.get(grown, np.inf):
                    after[grown] = total
        known = after
    return known[(k,) * centres]


def halve(points: Floats, k: int, rounds: int = 5) -> Labels:
    """Two groups of at least k. The first centres are the record farthest from the mean and the one
    farthest from that; in each round records go to the nearer centre (if a group then lacks records,
    those come that cost least), and centres to the means.
    """
    table = as_points(points)

    def distances(centre: Floats) -> Floats:
        return np.asarray(((table - centre) ** 2).sum(axis=1))

    first = table[np.argmax(distances(table.mean(axis=0)))]
    centres = [first, table[np.argmax(distances(first))]]
    labels = np.zeros(len(table), dtype=np.int32)
    for _ in range(rounds):
        preference = distances(centres[0]) - distances(centres[1])
        order = np.argsort(preference, kind="stable")
        in_first = min(max(int((preference <= 0).sum()), k), len(table) - k)
        labels[order[:in_first]] = 0
        labels[order[in_first:]] = 1
        centres = [table[labels == group].mean(axis=0) for group in (0, 1)]
    return labels
