"""Steps of ICSM15: the costs R1 to R3, the pool of simple changes and the cyclic shifts.

Groups have k to 2k - 1 records. Infinite costs stand for changes that are not allowed. The three
costs are recomputed from the definition of the sum of squares; the searches, which need very many
of them, use the identities

    replace y by x    |x - c|² - |y - c|² - |x - y|² / m
    insert x          |x - c|² m / (m + 1)
    remove x          -|x - c|² m / (m - 1)

for a group of m records with centroid c, the first of them being equation 3 with its brackets
repaired.
"""

import numpy as np
from numpy.typing import ArrayLike

from .basics import Floats, Labels, Rows, as_points, centroid_of, pairwise_distances, squared_distances
from .objective import canonical, group_sse, sse

LEAST_GAIN = 1e-12  # of the current SSE

Move = tuple[int, int]


def replace_cost(points: Floats, labels: ArrayLike, x: int, y: int) -> float:
    """R1: the change of SSE when record x takes the place of record y in the group of y.

    The group of x keeps x for the time being and y is in no group. Infinite within one group.
    """
    table, groups = as_points(points), np.asarray(labels)
    if groups[x] == groups[y]:
        return np.inf
    before = np.flatnonzero(groups == groups[y])
    after = np.append(before[before != y], x)
    return group_sse(table[after]) - group_sse(table[before])


def insert_cost(points: Floats, labels: ArrayLike, x: int, group: int, k: int) -> float:
    """R2: the change of SSE when record x joins a group, x being kept where it is for the time.

    Infinite for its own group and for a group that has 2k - 1 records.
    """
    table, groups = as_points(points), np.asarray(labels)
    before = np.flatnonzero(groups == group)
    if groups[x] == group or len(before) >= 2 * k - 1:
        return np.inf
    return group_sse(table[np.append(before, x)]) - group_sse(table[before])


def remove_cost(points: Floats, labels: ArrayLike, x: int, k: int) -> float:
    """R3: the change of SSE when record x leaves its group; infinite if the group has only k."""
    table, groups = as_points(points), np.asarray(labels)
    before = np.flatnonzero(groups == groups[x])
    if len(before) <= k:
        return np.inf
    return group_sse(table[before[before != x]]) - group_sse(table[before])


def cost_tables(points: Floats, labels: Labels, k: int) -> tuple[Floats, Floats, Floats]:
    """All costs at once, for labels 0, 1, ..., c - 1.

    R1[x, y] (n by n), R2[x, group] (n by c) and R3[x] (n).
    """
    n = len(points)
    sizes = np.bincount(labels)
    everyone = np.arange(n)
    to_centroid = np.column_stack(
        [squared_distances(points, centroid_of(points[labels == group])) for group in range(len(sizes))]
    )
    own = to_centroid[everyone, labels]

    replace = to_centroid[:, labels] - own[None, :] - pairwise_distances(points) / sizes[labels][None, :]
    replace[labels[:, None] == labels[None, :]] = np.inf

    insert = to_centroid * (sizes / (sizes + 1))
    insert[everyone, labels] = np.inf
    insert[:, sizes >= 2 * k - 1] = np.inf

    remove = np.full(n, np.inf)
    free = sizes[labels] > k
    own_size = sizes[labels][free]
    remove[free] = -own[free] * own_size / (own_size - 1)
    return replace, insert, remove


def pool_pass(points: Floats, labels: ArrayLike, k: int, pool: int = 100) -> Labels:
    """One call of SimpleHeuristic (algorithm 3).

    Records v1 are scanned by row; for each come first the exchanges with all records v2 > v1, by
    row, then its migrations, by label. A change that lowers the SSE by more than 1e-12 of it goes
    into the pool, until the pool is full. The changes are then made in the order of their gain
    (ties: as found), except those with a group that an earlier one has touched. Labels may be any
    integers; the groups of the result are numbered by first appearance.
    """
    table = as_points(points)
    names, groups = np.unique(np.asarray(labels), return_inverse=True)
    n = len(table)
    replace, insert, remove = cost_tables(table, groups, k)
    limit = -LEAST_GAIN * sse(table, groups)
    found: list[tuple[float, list[Move]]] = []
    for v1 in range(n):
        exchange = replace[v1] + replace[:, v1]
        for v2 in range(v1 + 1, n):
            if exchange[v2] < limit and len(found) < pool:
                found.append((exchange[v2], [(v1, groups[v2]), (v2, groups[v1])]))
        for group in range(len(names)):
            migration = insert[v1, group] + remove[v1]
            if migration < limit and len(found) < pool:
                found.append((migration, [(v1, group)]))

    changed = groups.copy()
    touched: set[int] = set()
    for _, moves in sorted(found, key=lambda change: change[0]):
        involved = {int(group) for record, new in moves for group in (groups[record], new)}
        if touched & involved:
            continue
        touched |= involved
        for record, new in moves:
            changed[record] = new
    return canonical(changed)


def scores(points: Floats, labels: Labels, k: int) -> Floats:
    """Equation 7 for every group, with labels 0, 1, ...; both sums over all i, j and all q != p."""
    replace, _, _ = cost_tables(points, labels, k)
    result = []
    for group in range(int(labels.max()) + 1):
        inside, outside = np.flatnonzero(labels == group), np.flatnonzero(labels != group)
        result.append(replace[np.ix_(inside, outside)].sum() - replace[np.ix_(outside, inside)].sum())
    return np.array(result)


def ranks_from(points: Floats, labels: Labels, start: int) -> Rows:
    """Rank of every group by the distance of its centroid to that of ``start``, which has rank 0."""
    middles = np.array([centroid_of(points[labels == group]) for group in range(int(labels.max()) + 1)])
    distances = squared_distances(middles, middles[start])
    distances[start] = -1.0  # before a group with the same centroid
    ranks = np.empty(len(middles), dtype=np.intp)
    ranks[np.argsort(distances, kind="stable")] = np.arange(len(middles))
    return ranks


def best_cycle(points: Floats, labels: ArrayLike, k: int) -> list[Move] | None:
    """One search of ComplexHeuristic (algorithm 4): the best cyclic shift through the group G_s.

    Nodes are the records and, after them, the groups. An edge from u to v means, if both are
    records, that u replaces v; if v is a group, that u joins it; if u is a group, that v leaves its
    own with nobody in its place. G_s is the group with the least score (equation 7; ties: the lowest
    label). Edges go from lower to higher rank only, so no path meets a group twice, and shortest
    paths from each record of G_s and from G_s itself are closed by an edge back to their start. Of
    equally short paths the one whose last-but-one node comes first is kept, of equally good cycles
    the one whose start (then whose end) comes first.

    Returns the moves (record, its new group) along the cycle with the least total cost, or None if
    that does not lower the SSE by more than 1e-12 of it. All moves are to be made at once. Labels
    are 0, 1, ..., c - 1.
    """
    table = as_points(points)
    groups = np.asarray(labels)
    n, c = len(table), int(groups.max()) + 1
    replace, insert, remove = cost_tables(table, groups, k)
    weight = np.full((n + c, n + c), np.inf)
    weight[:n, :n] = replace
    weight[:n, n:] = insert
    weight[n:, :n] = remove[None, :]
    group_of = np.append(groups, np.arange(c))
    weight[group_of[:, None] == group_of[None, :]] = np.inf

    start_group = int(np.argmin(scores(table, groups, k)))
    rank = ranks_from(table, groups, start_group)[group_of]
    forward = np.where(rank[:, None] < rank[None, :], weight, np.inf)

    least = -LEAST_GAIN * sse(table, groups)
    best: list[int] | None = None
    for start in np.flatnonzero(rank == 0):
        length = np.full(n + c, np.inf)
        length[start] = 0.0
        came_from = np.full(n + c, -1)
        for level in range(1, c):
            nodes = np.flatnonzero(rank == level)
            reach = length[:, None] + forward[:, nodes]
            length[nodes] = reach.min(axis=0)
            came_from[nodes] = reach.argmin(axis=0)
        cycles = np.where(rank > 0, length + weight[:, start], np.inf)
        end = int(np.argmin(cycles))
        if cycles[end] < least:
            least = float(cycles[end])
            best = [end]
            while best[-1] != start:
                best.append(int(came_from[best[-1]]))
            best.reverse()
    if best is None:
        return None
    following = [*best[1:], best[0]]
    return [(u, int(group_of[v])) for u, v in zip(best, following, strict=True) if u < n]
