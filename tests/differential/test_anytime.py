"""`auto` with little time on a slow machine. Time is simulated: it passes by a fixed amount each time a
kernel looks at the watch, so that nothing here depends on the machine or its load.
"""

from __future__ import annotations

import numpy as np
import pytest

from microagg.errors import Cancelled
from microagg.methods import anneal, auto
from microagg.methods.cooling import schedule
from microagg.methods.fixed_size import Mdav
from microagg.methods.neighbours import near_lists
from microagg.methods.recipe import stage_of
from microagg.methods.run import Run
from microagg.methods.stage import one_group, solve
from microagg.model import Partition, Points, Problem
from tests.differential.test_search import census_like, fixed_points

SECONDS = 0.4
LOOK = 0.001
"""A kernel looks at the watch about every millisecond."""


def simulated(seconds: float, slower: float, seed: int = 0) -> Run:
    run = Run(seed=seed, seconds=seconds, threads=1)
    run.watch.simulate_clock(LOOK * slower)
    run.watch.set_deadline(seconds)
    return run


def solved(method: str, x: Points, k: int, run: Run) -> Partition:
    problem = Problem(x, k)
    return solve(stage_of(method), problem, one_group(problem), run)


DATA = (
    ("smooth", 2_000, 3),
    ("smooth", 5_000, 3),
    ("smooth", 8_000, 3),
    ("smooth", 16_000, 3),
    ("flat", 5_000, 3),
    ("flat", 8_000, 3),
    ("smooth", 8_000, 5),
    ("flat", 16_000, 10),
)
SLOWER = (0.3, 1.0, 3.0, 10.0, 40.0, 200.0)
IN_TURN = [
    pytest.param(*data, slower, marks=[pytest.mark.long] * ((row + at) % 2))
    for row, data in enumerate(DATA)
    for at, slower in enumerate(SLOWER)
]
"""Each data set has half of the clocks, and each clock half of the data sets; the rest is for `-m long`."""


@pytest.mark.parametrize(("kind", "n", "k", "slower"), IN_TURN)
def test_auto_is_never_worse_than_descent_from_the_same_start(
    kind: str, n: int, k: int, slower: float
) -> None:
    x = census_like(n) if kind == "smooth" else fixed_points(n, 2)
    found = solved("auto", x, k, simulated(SECONDS, slower))
    start = found.recipe.split("+")[0]
    descended = solved(f"{start}+descent", x, k, simulated(SECONDS, slower))
    assert found.sse <= descended.sse


def test_mdav_that_is_too_slow_gives_way_to_blocks() -> None:
    x = census_like(8_000)
    run = simulated(SECONDS, 2_000.0)
    found = solved("auto", x, 3, run)
    assert (found.recipe, found.truncated) == ("blocks", True)
    assert "did not end in 0.4 s" in found.reason
    assert np.array_equal(found.labels, solved("blocks", x, 3, Run()).labels)


def test_small_data_and_named_methods_keep_mdav() -> None:
    for method, n in (("auto", 4_000), ("mdav", 8_000)):
        found = solved(method, census_like(n), 3, simulated(SECONDS, 2_000.0))
        assert np.array_equal(found.labels, solved("mdav", census_like(n), 3, Run()).labels)


def test_a_stop_during_mdav_is_none_for_lack_of_time() -> None:
    run = Run(seconds=1e6, threads=1)
    run.cancel()
    with pytest.raises(Cancelled):
        solved("auto", census_like(8_000), 3, run)


@pytest.mark.parametrize(("kind", "k"), [("smooth", 3), ("smooth", 5), ("flat", 3)])
def test_more_seconds_lower_the_loss(kind: str, k: int) -> None:
    """On a machine ten times as slow as planned for: time for MDAV, for descent, and for a search."""
    x = census_like(8_000) if kind == "smooth" else fixed_points(8_000, 2)
    costs = [solved("auto", x, k, simulated(seconds, 10.0)).sse for seconds in (3.0, 12.0, 40.0)]
    assert costs[0] > costs[1] > costs[2]


def test_a_simulated_clock_gives_the_same_groups_again() -> None:
    x = census_like(8_000)
    found = [solved("auto", x, 5, simulated(SECONDS, 5.0)) for _ in range(2)]
    assert found[0].truncated
    assert np.array_equal(found[0].labels, found[1].labels)


def test_an_anneal_that_is_late_hurries() -> None:
    """Cut off while it is hot, it would have nothing better than its start."""
    problem = Problem(census_like(500), 3)
    descended = solved("mdav+descent", problem.points, 3, Run())
    lists = near_lists(problem, 20, Run())
    cooling = schedule(problem, lists, descended.sse, 10**8)  # many seconds
    run = simulated(0.5, 1.0)
    found = anneal.anneal_once(problem, descended, lists, cooling, False, run)
    assert run.watch.seconds_left > -4.5
    assert found.truncated
    assert found.sse < 0.99 * descended.sse


def test_an_anneal_in_blocks_that_is_late_ends_cold() -> None:
    """With a tenth of the time that it was planned for it still ends well below descent."""
    x = fixed_points(8_000, 2)
    problem = Problem(x, 5)
    descended = solved("descent", x, 5, Run())
    run = simulated(1.0, 1.0)
    found = anneal.Anneal(4_000 * 8_000)(problem, descended, run)
    assert found.truncated
    assert found.sse < 0.97 * descended.sse


def test_wide_data_start_in_blocks_where_mdav_would_take_all_of_the_seconds() -> None:
    wide = Problem(np.zeros((100_000, 500)), 3)
    assert auto.choose(wide, Run(seconds=30)).recipe.startswith("blocks+")
    assert auto.choose(wide, Run()).recipe.startswith("mdav+")


def test_a_part_of_a_run_ends_with_its_own_seconds_or_with_the_run() -> None:
    run = simulated(100.0, 1.0)
    part = run.for_part(0.01)
    assert part.watch.seconds_left == pytest.approx(0.01)
    problem = Problem(fixed_points(8_000, 10), 3)
    with pytest.raises(Cancelled):
        Mdav()(problem, one_group(problem), part)
    assert part.overdue
    assert not run.overdue
    assert run.watch.seconds_left < 100.0
    other = run.for_part(50.0)
    assert not other.watch.cancelled
    run.cancel()
    assert other.watch.cancelled
    assert run.with_grace(1.0) is run


def test_grace_begins_after_the_deadline() -> None:
    early = simulated(5.0, 1.0)
    assert early.with_grace(1.0) is early
    late = simulated(0.0, 1.0)
    assert late.overdue
    assert not late.with_grace(1.0).overdue
