"""Branching of column generation: on a pair of records, in the same group or in different ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from microagg.methods.exact.group_columns import undecided_pairs
from microagg.methods.exact.master import LpSolution, Master
from microagg.methods.exact.pricing import Node

PAIRS_TRIED = 10
"""Pairs whose two branches are solved before one of them is chosen."""


def branches(node: Node, lp: LpSolution, master: Master, room: float) -> tuple[Node, ...]:
    """Two halves of the node: a pair of records, apart or together. Of the pairs that the linear program is
    least decided on, the one that raises its cost most in both halves; none if it has decided all pairs.

    `room`: how far the best known partition lies above the program's cost; a larger rise counts as that.
    """
    shared = undecided_pairs(master.columns, lp.values)
    decided = {tuple(pair) for pair in np.concatenate([node.apart, node.together]).tolist()}
    doubt = {pair: min(share, 1.0 - share) for pair, share in shared.items() if pair not in decided}
    undecided = sorted(
        (pair for pair in doubt if doubt[pair] > 1e-6), key=lambda pair: (-doubt[pair], pair)
    )
    best: tuple[Node, ...] = ()
    most = -math.inf
    for pair in undecided[:PAIRS_TRIED]:
        new = np.array([pair], dtype=np.int32)
        halves = (
            replace(node, apart=np.concatenate([node.apart, new])),
            replace(node, together=np.concatenate([node.together, new])),
        )
        gains = []
        for half in halves:
            master.allow(master.columns.obey(half.apart, half.together))
            tried = master.solve()
            gains.append(math.inf if tried is None else tried.cost - lp.cost)
        low, high = sorted(min(gain, room) for gain in gains)
        if 0.8 * low + 0.2 * high > most:
            best, most = halves, 0.8 * low + 0.2 * high
    return best
