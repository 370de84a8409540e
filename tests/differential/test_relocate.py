"""Relocation of groups: its deterministic parts against their oracles, and what the whole promises."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from microagg import _core
from microagg.errors import SettingsError
from microagg.methods import relocate
from microagg.methods.auto import Auto, choose
from microagg.methods.cooling import neighbourhood_widths
from microagg.methods.local_search import Cycle, Descent
from microagg.methods.neighbours import list_length, near_lists
from microagg.methods.recipe import stage_of
from microagg.methods.relocate import Relocate, steps_of_relocation
from microagg.methods.run import Run
from microagg.methods.stage import evaluate, one_group, solve
from microagg.model import Labels, Points, Problem
from tests.differential.adversarial import KINDS, points
from tests.differential.test_search import (
    allowed_partition,
    census_like,
    fixed_points,
    from_mdav,
    hash_of,
)
from tests.oracles import sized_means


@pytest.mark.parametrize("whole", [False, True])
def test_the_assignment_is_the_cheapest_with_such_sizes(whole: bool) -> None:
    """Whole numbers bring ties, and chains of moves that cost nothing."""
    rng = np.random.default_rng(4)
    for _ in range(150):
        centres, k = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        n = int(rng.integers(centres * k, centres * k + 8))
        costs = rng.random((n, centres)) ** 3 * rng.random(centres)
        costs = np.ascontiguousarray(np.round(5 * costs) if whole else costs)
        found = _core.sized_assignment(costs, k, _core.Watch())
        assert np.bincount(found, minlength=centres).min() >= k
        total = float(costs[np.arange(n), found].sum())
        assert total == pytest.approx(sized_means.least_cost(costs, k), rel=1e-12)


def test_halving_follows_the_oracle() -> None:
    rng = np.random.default_rng(9)
    for _ in range(60):
        k = int(rng.integers(2, 12))
        n = int(rng.integers(2 * k, 5 * k))
        x = np.ascontiguousarray(rng.standard_normal((n, int(rng.integers(1, 12)))) ** 3)
        assert np.array_equal(_core.halve(x, k, _core.Watch()), sized_means.halve(x, k))


@pytest.mark.parametrize("kind", KINDS)
def test_halving_defines_a_result_for_bad_data(kind: str) -> None:
    x = points(kind, np.random.default_rng(1), 25, 3)
    assert np.bincount(_core.halve(x, 10, _core.Watch()), minlength=2).min() >= 10


def relocated(x: Points, start: Labels, k: int, steps: int, seed: int = 1) -> Labels:
    """The kernel alone, without descents and anneals."""
    problem = Problem(x, k)
    lists = near_lists(problem, list_length(len(x), k), Run())
    widths = neighbourhood_widths(problem, lists)
    found, truncated = _core.relocate(
        x, np.arange(len(x), dtype=np.int32), start, k, lists, widths, 16, 100, 1e-4, steps, seed,
        False, _core.Watch(),
    )  # fmt: skip
    assert not truncated
    return _core.by_first_appearance(found)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_hold_and_nothing_gets_worse(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(5):
        k = int(rng.integers(2, 12))
        n = int(rng.integers(4 * k, 12 * k))
        x = points(kind, rng, n, int(rng.integers(1, 5)))
        start = allowed_partition(rng, n, k)
        problem = Problem(x, k)
        found = relocated(x, start, k, 100 * n)
        sizes = np.bincount(found)
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
        assert evaluate(problem, found).sse <= evaluate(problem, start).sse * (1 + 1e-9)


def test_the_number_of_groups_is_searched() -> None:
    """From groups that are all too large, and where there is one too many for the clumps."""
    rng = np.random.default_rng(3)
    clumps = np.repeat(np.arange(5), [23, 23, 23, 24, 24])
    x = np.ascontiguousarray(50.0 * clumps[:, None] + rng.normal(size=(117, 1)))
    found = relocated(x, (np.arange(117) // 39).astype(np.int32), 20, 3_000 * 117)
    assert np.array_equal(found, clumps)
    y = np.ascontiguousarray(np.repeat([0.0, 100.0, 200.0], 29)[:, None] + rng.normal(size=(87, 1)))
    four = np.sort(np.arange(87) % 4).astype(np.int32)  # 21 or 22 records each, across the clumps
    found = relocated(y, four, 20, 3_000 * 87)
    assert np.array_equal(found, np.repeat([0, 1, 2], 29))


@pytest.mark.parametrize(
    ("n", "p", "k", "steps", "anneals", "expected"),
    [
        (600, 3, 20, 600, True, "9ae2983c8dec1f5f"),
        (600, 9, 45, 600, False, "c15e62b83269ca4e"),
        (600, 9, 100, 600, True, "c5199a6a9c80134b"),  # few groups: cyclic shifts at the end
        (7_000, 2, 100, 500, True, "8f959ef3dde23527"),  # in blocks
    ],
)
def test_one_seed_and_number_of_steps_one_answer(
    n: int, p: int, k: int, steps: int, anneals: bool, expected: str
) -> None:
    """On every machine and number of threads: these hashes must never change without a note in the
    changelog that results do.
    """
    x = fixed_points(n, p)
    for threads in (1, 2):
        run = Run(seed=5, threads=threads)
        problem, start = from_mdav(x, k, run)
        found = solve(Relocate(steps * n, anneals), problem, start, run)
        assert not found.truncated
        assert hash_of(found.labels) == expected, threads


def test_relocation_in_blocks_is_as_good_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, start = from_mdav(census_like(2_000), 20)
    whole = Relocate(500 * 2_000, anneals=False)(problem, start, Run())
    monkeypatch.setattr(relocate, "ONE_BLOCK_RECORDS", 700)
    cut = Relocate(500 * 2_000, anneals=False)(problem, start, Run())
    assert cut.sse < 1.02 * whole.sse


def test_no_cyclic_shift_over_few_groups_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, start = from_mdav(census_like(600), 100)
    found = Relocate(1_000 * 600)(problem, start, Run())
    assert Cycle()(problem, found, Run()).sse == found.sse
    monkeypatch.setattr(relocate, "MOST_CYCLES", 0)
    without = Relocate(1_000 * 600)(problem, start, Run())
    assert found.sse < without.sse


def test_cyclic_shifts_are_tried_where_groups_are_few_and_records_too() -> None:
    for n, k, cycles in [(600, 100, 8), (600, 20, 0), (2_000, 100, 2), (6_000, 300, 0)]:
        assert relocate.cycles_of(Problem(np.zeros((n, 2)), k)) == cycles


@pytest.mark.parametrize(("n", "k"), [(1_000, 20), (1_050, 100)])
def test_never_worse_than_descent_and_better_than_it_here(n: int, k: int) -> None:
    problem, start = from_mdav(census_like(n), k)
    descended = Descent()(problem, start, Run())
    for anneals in (True, False):
        assert Relocate(1_000 * n, anneals)(problem, start, Run()).sse < descended.sse


def test_the_deadline_holds() -> None:
    problem, start = from_mdav(fixed_points(3_000, 4), 300)
    for anneals in (True, False):
        begun = process_time()  # which other processes do not add to
        found = Relocate(10**11, anneals)(problem, start, Run(seconds=0.5))
        assert process_time() - begun < 10.0
        assert found.truncated


def test_a_cancelled_run_keeps_the_best_so_far() -> None:
    problem, start = from_mdav(census_like(1_000), 20)
    polls = []

    def progress(_: object) -> bool:
        polls.append(1)
        return len(polls) > 5

    found = Relocate(10**11)(problem, start, Run(progress=progress))
    assert found.truncated
    assert found.sse <= start.sse


@pytest.mark.parametrize("steps", [0, 10**13])
def test_impossible_numbers_of_steps_are_refused(steps: int) -> None:
    with pytest.raises(SettingsError, match="steps"):
        Relocate(steps)


def test_descent_and_relocation_end_at_once_without_loss() -> None:
    problem = Problem(np.repeat(np.arange(6.0).reshape(3, 2), 40, axis=0), 20)
    start = evaluate(problem, np.repeat(np.arange(6, dtype=np.int32), 20))
    for stage in (Descent(), Relocate(10**6)):
        assert stage(problem, start, Run()) is start


# --- auto -------------------------------------------------------------------------------------


def test_auto_relocates_where_groups_are_large_and_steps_are_many() -> None:
    chosen = {
        ("fast", 30): "anneal",
        ("balanced", 24): "anneal",
        ("balanced", 25): "relocate",
        ("balanced", 250): "relocate",
        ("best", 14): "anneal",
        ("best", 15): "relocate",
    }
    for (effort, k), stage in chosen.items():
        choice = choose(Problem(np.zeros((500, 2)), k), Run(effort=effort))  # type: ignore[arg-type]
        assert choice.recipe.startswith(f"mdav+{stage}:steps=")
        assert choice.stage == stage_of(choice.recipe)


def test_auto_with_large_groups_fits_into_its_seconds() -> None:
    problem = Problem(census_like(1_000), 30)
    few, many = (choose(problem, Run(seconds=seconds)).recipe for seconds in (0.5, 1e6))
    assert int(few.split("=")[1]) < int(many.split("=")[1]) == steps_of_relocation(problem, Run())
    assert choose(problem, Run(seconds=1e-6)).recipe == "mdav+descent"


@pytest.mark.parametrize("seconds", [None, 1e6])
def test_the_recipe_of_auto_gives_the_same_groups(seconds: float | None) -> None:
    """Also where there is more time than needed, though the pace is measured then."""
    problem = Problem(census_like(600), 30)
    chosen = solve(Auto(), problem, one_group(problem), Run(seed=3, effort="fast", seconds=seconds))
    again = solve(stage_of(chosen.recipe), problem, one_group(problem), Run(seed=3))
    assert not chosen.truncated
    assert np.array_equal(chosen.labels, again.labels)
