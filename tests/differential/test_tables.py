"""Groups that choose among candidates: the kernels against the oracle, choice by choice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from microagg import _core
from tests.oracles.tables import TableTask, nearest_combination, order_of_groups

FEW, SUMS, WIDE = 3.0, 0.7, 0.6


def random_task(seed: int, pairs: bool) -> TableTask:
    """Two categories and a number, of which some groups publish nothing, beside one or two others."""
    rng = np.random.default_rng(seed)
    groups, k = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    n = groups * k
    group = rng.permutation(np.repeat(np.arange(groups), k))
    weight = rng.uniform(0.2, 2.0, n) if seed % 2 else np.ones(n)
    widths = [3, 4, 5]
    codes = np.stack([rng.integers(0, width - 1, n) for width in widths], axis=1)
    candidates = []
    for at, width in enumerate(widths):
        of_groups = []
        for each in range(groups):
            places = sorted(set(codes[group == each, at].tolist()) | {int(rng.integers(0, width - 1))})
            if rng.random() < 0.2:
                places = []
            of_groups.append(
                [
                    (place, float(rng.uniform(0, 2)), float(rng.normal()) if at == 2 else 0.0)
                    for place in places
                ]
            )
        candidates.append(of_groups)
    others = []
    for _ in range(int(rng.integers(1, 3))):
        before = rng.integers(0, 3, n)
        others.append((before, before if rng.random() < 0.5 else rng.integers(0, 3, n)))
    amounts = [None, None, rng.normal(size=n)]
    missing = [width - 1 for width in widths]
    task = TableTask(group, weight, codes, amounts, candidates, missing, others, pairs, FEW, SUMS)
    if pairs:
        columns = len(widths) + len(others)
        task.wide_rows = [rng.integers(0, 3, width).tolist() for width in (*widths, *(3 for _ in others))]
        possible = [each for each in combinations(range(columns), 3) if each[1] < len(widths)]
        task.wide_tables = [each for each in possible if rng.random() < 0.6]
        task.wide = WIDE
    return task


def by_kernel(task: TableTask, start: np.ndarray, cooling: int, sweeps: int) -> np.ndarray:
    flat = [[each for own in of_groups for each in own] for of_groups in task.candidates]
    counts = [[len(own) for own in of_groups] for of_groups in task.candidates]
    assert task.amounts[2] is not None
    return _core.choose_by_tables(
        [np.concatenate([[0], np.cumsum(own)]).astype(np.int64) for own in counts],
        [np.array([code for code, _, _ in own], dtype=np.int32) for own in flat],
        [np.array([price for _, price, _ in own], dtype=np.float64) for own in flat],
        [
            np.array([amount for _, _, amount in own] if at == 2 else [], float)
            for at, own in enumerate(flat)
        ],
        np.array(task.missing, dtype=np.int32) + 1,
        task.group.astype(np.int32),
        task.weight,
        task.codes.astype(np.int32),
        np.ascontiguousarray(task.amounts[2][:, np.newaxis]),
        np.stack([before for before, _ in task.others], axis=1).astype(np.int32),
        np.stack([after for _, after in task.others], axis=1).astype(np.int32),
        np.full(len(task.others), 3, dtype=np.int32),
        [np.array(own, dtype=np.int32) for own in task.wide_rows]
        or [np.zeros(5, dtype=np.int32)] * (len(flat) + len(task.others)),
        np.array(task.wide_tables, dtype=np.int32).reshape(-1, 3),
        task.wide,
        start.astype(np.int32),
        task.pairs,
        FEW,
        SUMS,
        1.0,
        cooling,
        sweeps,
        _core.Watch(),
    )


@pytest.mark.parametrize("pairs", [True, False], ids=["tables", "margins"])
def test_choices_are_the_oracles(pairs: bool) -> None:
    for seed in range(40):
        task = random_task(seed, pairs)
        start = np.array(
            [[0 if own[g] else -1 for own in task.candidates] for g in range(len(task.candidates[0]))]
        )
        order = order_of_groups(len(start))
        found = by_kernel(task, start, 0, 4)
        assert found.tolist() == task.descended(start, 4, order).tolist(), seed
        assert task.objective(found) <= task.objective(start) + 1e-9
        # However it is cooled before, it ends where no single exchange helps.
        cooled = by_kernel(task, start, 15, 100)
        assert cooled.tolist() == task.descended(cooled, 1, order).tolist(), seed


def test_the_nearest_combinations_are_the_oracles() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        groups, shared, columns = (int(rng.integers(1, 6)) for _ in range(3))
        own = rng.integers(1, 4, groups)
        first = np.concatenate([[0], np.cumsum(own)]).astype(np.int64)
        rows = rng.integers(0, 4, (shared + int(own.sum()), columns)).astype(np.int32)
        prices = [rng.uniform(0, 3, (groups, 4)) for _ in range(columns)]
        found = _core.nearest_combinations(rows, shared, first, prices, _core.Watch())
        for group in range(groups):
            known = np.concatenate([rows[:shared], rows[shared + first[group] : shared + first[group + 1]]])
            costs = [own[group] for own in prices]
            assert nearest_combination(found[group : group + 1], costs) == pytest.approx(
                nearest_combination(known, costs)
            )
            assert found[group].tolist() in known.tolist()
