"""The contract of `methods/stage.py`, over every stage and every catalogue entry."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import microagg.methods
from microagg import _core
from microagg.errors import ContractError, SettingsError
from microagg.methods.anneal import Anneal
from microagg.methods.assignment import Adaptive, Assignment
from microagg.methods.auto import Auto
from microagg.methods.blocks import KdBlocks
from microagg.methods.catalogue import METHODS
from microagg.methods.exact import Exact, Exhaustive, Neighbourhoods
from microagg.methods.fixed_size import Cbfs, Centroid, Diameter, MaximumDistance, Mdav, Tfrp
from microagg.methods.local_search import Cycle, Descent, Dissolve, Pool, Restarts, TwoSwap
from microagg.methods.objective import sse
from microagg.methods.paths import GroupTour, NearestNext, PathCut
from microagg.methods.recipe import stage_of
from microagg.methods.relocate import Relocate
from microagg.methods.run import Run
from microagg.methods.sorting import ByColumn, FixedRuns, OptimalUnivariate
from microagg.methods.stage import (
    Best,
    Chain,
    Escalate,
    Initial,
    Refinement,
    Stage,
    Within,
    chain,
    evaluate,
    one_group,
    parts_of,
)
from microagg.methods.variable_size import Genetic, GeneticGroups, KWard, MstCut, Vmdav
from microagg.model import Labels, Partition, Problem
from tests.campaigns import SAMPLE
from tests.differential.adversarial import KINDS, points


def halves(problem: Problem, start: Partition, run: Run) -> Labels:
    """Two coarse blocks, each large enough; by row, so that they mean nothing."""
    n = len(problem.points)
    blocks = (np.arange(n) >= n // 2).astype(np.int32)
    return blocks if n // 2 >= problem.k else np.zeros(n, dtype=np.int32)


def odd_and_even_groups(problem: Problem, start: Partition, run: Run) -> Labels:
    """Two coarse blocks made of whole groups."""
    return np.ascontiguousarray(start.labels % 2)


# As the catalogue has them, but for how long they search.
SHORT = {
    "icsm-restarts": "icsm-restarts:starts=3",
    "genetic": "genetic:generations=20",
    "genetic-groups": "genetic-groups:generations=20",
    "anneal": "anneal:steps=20000",
    "relocate": "relocate:steps=20000",
    "assignment": "assignment:rounds=20",
    "adaptive": "adaptive:steps=20000",
    "exact": "exact:nodes=3:work=300000",
    "neighbourhoods": "neighbourhoods:size=12:patience=1:work=100000",
    "decomposition": "decomposition:s=3:work=100000",
    "decomposition-anneal": "decomposition-anneal:s=3:work=100000",
}

# Other readings of the papers than the default.
READINGS = (
    "mdav:stop=2k:leftovers=jointly",
    "mdav:first=earlier",
    "mdav:stop=2k:first=earlier",
    "mdav-mhm:first=earlier",
    "md:shared=in-turns:leftovers=record",
    "md-mhm:shared=in-turns:leftovers=record:start=second",
    "cbfs:divisor=all",
    "decomposition:s=3:order=inwards:keep=no:work=100000",
    "cbfs-mhm:divisor=all:path_k=2",
    "npn-mhm:start=pair",
    "mdo-md:swap=drawn",
    "genetic:generations=20:axis=zscores",
    "genetic:generations=20:axis=column",
    "icsm:tries=1:pool=100:lists=no",
)

STAGES: dict[str, Stage] = {
    **{f"catalogue: {name}": stage_of(SHORT.get(name, name)) for name in METHODS},
    "recipe: cbfs+mhm": stage_of("cbfs+mhm"),
    "recipe: mdav:stop=2k": stage_of("mdav:stop=2k"),
    **{f"recipe: {recipe}": stage_of(recipe) for recipe in READINGS},
    "recipe: mdav-mhm:path_k=2:cyclic=yes": stage_of("mdav-mhm:path_k=2:cyclic=yes"),
    "recipe: md-mhm:path_k=1": stage_of("md-mhm:path_k=1"),
    "Mdav": Mdav(),
    "MaximumDistance": MaximumDistance(),
    "Cbfs": Cbfs(),
    "Diameter": Diameter(),
    "Centroid": Centroid(),
    "OptimalUnivariate": OptimalUnivariate(),
    "Exhaustive": Exhaustive(),
    "Exact": Exact(gap=1.0, nodes=2, work=200_000),
    "Neighbourhoods": Neighbourhoods(size=10, patience=1, work=100_000),
    "Tfrp": Tfrp(),
    "FixedRuns": FixedRuns(ByColumn(1), descending=True),
    "KWard projected": KWard(ByColumn(1), projected=True),
    "KWard swapped": KWard(swap=True),
    "Vmdav": Vmdav(0.4),
    "MstCut": MstCut(),
    "Genetic": Genetic(generations=20),
    "GeneticGroups": GeneticGroups(generations=20),
    "Dissolve": Dissolve(),
    "Dissolve by Mdav": Dissolve(Mdav()),
    "TwoSwap": TwoSwap(),
    "Descent": Descent(),
    "Anneal": Anneal(5_000),
    "Relocate": Relocate(5_000),
    "Relocate alone": Relocate(5_000, anneals=False),
    "Assignment": Assignment(5),
    "Assignment annealed": Assignment(200),
    "Adaptive": Adaptive(5_000),
    "Auto": Auto(),
    "Blocks and Anneal": chain(Within(Mdav(), by=KdBlocks(8)), Anneal(5_000)),
    "Pool": Pool(),
    "Pool of three": Pool(3),
    "Cycle": Cycle(),
    "Restarts": Restarts(Pool(), starts=3),
    "Escalate": Escalate((Pool(), Cycle()), rounds=5),
    "PathCut": PathCut(),
    "PathCut pair": PathCut(GroupTour("pair")),
    "PathCut cyclic": PathCut(cyclic=True),
    "PathCut nearest": PathCut(NearestNext()),
    "Chain": chain(Cbfs(), PathCut(), PathCut(cyclic=True)),
    "Within groups": Within(Mdav()),
    "Within blocks": Within(chain(Mdav(), PathCut()), by=halves),
    "Within blocks, refining": Within(PathCut(), by=odd_and_even_groups),
    "Best": Best(Mdav(), Cbfs(), PathCut(NearestNext())),
    "Best of refinements": Best(PathCut(), PathCut(cyclic=True)),
    "Escalate, one stage": Escalate((chain(PathCut(cyclic=True), PathCut()),)),
}


def uses(stage: Stage, kind: type) -> bool:
    return any(isinstance(part, kind) for part in parts_of(stage))


@st.composite
def problems(draw: st.DrawFn, stage: Stage) -> tuple[Problem, Partition]:
    """A problem the stage accepts, and some feasible partition of it."""
    k = draw(st.integers(2, 6))
    most = 9 if uses(stage, Exhaustive) else 60
    n = draw(st.integers(k, max(k, most)))
    p = 1 if uses(stage, OptimalUnivariate) else draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = points(draw(st.sampled_from(KINDS)), rng, n, p)
    x.flags.writeable = False  # contract 3
    problem = Problem(x, k)
    return problem, evaluate(problem, random_partition(rng, n, k))


def random_partition(rng: np.random.Generator, n: int, k: int) -> Labels:
    labels = np.empty(n, dtype=np.int32)
    groups = int(rng.integers(1, n // k + 1))
    labels[rng.permutation(n)] = np.concatenate(
        [np.repeat(np.arange(groups), k), rng.integers(0, groups, n - groups * k)]
    )
    labels = _core.by_first_appearance(labels)
    labels.flags.writeable = False
    return labels


def start_for(stage: Stage, problem: Problem, start: Partition) -> Partition:
    return start if stage.needs_start else one_group(problem)


@pytest.mark.parametrize("name", STAGES)
@settings(max_examples=12, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_contract(name: str, data: st.DataObject) -> None:
    check_contract(name, data)


@pytest.mark.long
@pytest.mark.parametrize("name", STAGES)
@settings(
    max_examples=120 if SAMPLE else 600, derandomize=SAMPLE,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
@given(data=st.data())
def test_contract_on_many_problems(name: str, data: st.DataObject) -> None:
    check_contract(name, data)


def check_contract(name: str, data: st.DataObject) -> None:
    stage = STAGES[name]
    problem, random_start = data.draw(problems(stage))
    start = start_for(stage, problem, random_start)
    before = problem.points.copy(), start.labels.copy()

    found = stage(problem, start, Run(threads=1, effort="fast"))

    # 1. Every group has at least k records, every record one group, groups numbered by appearance.
    assert found.labels.dtype == np.int32
    assert found.labels.shape == (len(problem.points),)
    assert np.bincount(found.labels).min() >= problem.k
    assert np.array_equal(_core.by_first_appearance(found.labels), found.labels)
    # 2. The same again on any number of threads.
    again = stage(problem, start, Run(threads=2, effort="fast"))
    assert np.array_equal(again.labels, found.labels)
    assert not found.truncated
    # 3. Inputs as they were.
    assert np.array_equal(problem.points, before[0])
    assert np.array_equal(start.labels, before[1])
    # What the catalogue says of group sizes.
    if name.startswith("catalogue") and METHODS[name.removeprefix("catalogue: ")].below_2k:
        assert np.bincount(found.labels).max() < 2 * problem.k
    # 4. Never worse than what it was given to refine.
    assert found.sse == sse(problem.points, found.labels)
    if stage.needs_start:
        assert found.sse <= start.sse
    # 5. The bound holds and does not fall.
    assert start.bound <= found.bound <= found.sse * (1 + 1e-12)
    # 6. Past its deadline a refinement returns what it has and says so; an initial stage goes on.
    late = stage(problem, start, Run(threads=1, seconds=1e-9))
    assert np.bincount(late.labels).min() >= problem.k
    if stage.needs_start:
        assert late.sse <= start.sse
    elif not any(part.needs_start or part.uses_effort for part in parts_of(stage)):
        assert np.array_equal(late.labels, found.labels)
        assert not late.truncated
    if not np.array_equal(late.labels, found.labels):
        assert late.truncated


def test_a_far_outlier_does_not_hide_what_resplitting_gains() -> None:
    """The SSE, nearly all of it the outlier's, must still tell which groups are better."""
    for seed in range(30, 45):
        x = np.random.default_rng(seed).normal(size=(37, 1))
        x[16] = -3.62e7
        problem = Problem(x, 4)
        found = METHODS["tfrp"].build()(problem, one_group(problem), Run(threads=1))
        assert np.bincount(found.labels).max() < 8


def test_resplitting_heeds_the_deadline() -> None:
    """Groups that the deadline leaves no time for stay as they are."""
    x = np.random.default_rng(2).normal(size=(40_000, 5))
    problem = Problem(x, 3)
    start = evaluate(problem, (np.arange(40_000) % 8).astype(np.int32))
    found = Within(Centroid())(problem, start, Run(seconds=1e-9))
    assert found.truncated
    assert np.array_equal(found.labels, start.labels)


@pytest.mark.parametrize("name", STAGES)
def test_stages_are_values(name: str) -> None:
    stage = STAGES[name]
    copy = pickle.loads(pickle.dumps(stage))
    assert copy == stage
    assert hash(copy) == hash(stage)
    assert type(stage).__name__.lower() in repr(stage).lower()


def test_every_stage_is_covered() -> None:
    """A stage class that is in no case above has escaped the contract."""
    covered = {type(part) for stage in STAGES.values() for part in parts_of(stage)}
    for module in pkgutil.iter_modules(microagg.methods.__path__):
        names = vars(importlib.import_module(f"microagg.methods.{module.name}"))
        for name, item in names.items():
            if not inspect.isclass(item) or name.startswith("_") or getattr(item, "_is_protocol", False):
                continue
            if hasattr(item, "needs_start") and item not in (Initial, Refinement):
                assert item in covered, f"{module.name}.{name}"


def test_deadline_is_honoured_by_a_long_refinement() -> None:
    """A tour over 20,000 groups takes far longer than the deadline allows."""
    x = np.random.default_rng(0).normal(size=(60_000, 10))
    problem = Problem(x, 3)
    start = evaluate(problem, np.repeat(np.arange(20_000, dtype=np.int32), 3))
    found = PathCut()(problem, start, Run(seconds=0.05))
    assert found.truncated
    assert np.array_equal(found.labels, start.labels)


class _Broken:
    """A stage that returns whatever it is told to."""

    uses_effort = False

    def __init__(self, labels: NDArray[np.int32], bound: float = 0.0, needs_start: bool = False) -> None:
        self.labels = labels
        self.bound = bound
        self.needs_start = needs_start

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        if len(self.labels) != len(problem.points):
            return Partition(self.labels, 0.0)
        return evaluate(problem, self.labels, self.bound)


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (_Broken(np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)), "smaller than k"),
        (_Broken(np.array([0, 0, 0, 1, 1], dtype=np.int32)), "smaller than k"),
        (_Broken(np.array([0, 1, 0, 1, 0, 1], dtype=np.int32), bound=1e9), "exceeds"),
        (_Broken(np.array([0, 1, 0, 1, 0, 1], dtype=np.int32), needs_start=True), "worse than its start"),
    ],
)
def test_a_broken_stage_is_named(broken: _Broken, what: str) -> None:
    x = np.arange(6.0).reshape(6, 1)
    stages = (Mdav(), broken) if broken.needs_start else (broken, PathCut())
    with pytest.raises(ContractError, match=what) as caught:
        chain(*stages)(Problem(x, 2), one_group(Problem(x, 2)), Run())
    assert "_Broken" in str(caught.value)


def test_combinators_refuse_nonsense() -> None:
    with pytest.raises(SettingsError, match="would throw away"):
        chain(Cbfs(), Mdav())
    with pytest.raises(SettingsError, match="at least one stage"):
        chain()
    with pytest.raises(SettingsError, match="at least one stage"):
        Best()
    with pytest.raises(SettingsError, match="axis"):
        KWard(projected=True)
    with pytest.raises(SettingsError, match="at least one stage"):
        Escalate(())
    with pytest.raises(SettingsError, match="would throw away"):
        Escalate((Mdav(),))
    assert chain(Mdav()) == Mdav()
    flat = chain(chain(Mdav(), PathCut()), PathCut(cyclic=True))
    assert isinstance(flat, Chain)
    assert len(flat.stages) == 3


def test_within_refuses_blocks_that_cut_groups() -> None:
    x = np.arange(8.0).reshape(8, 1)
    problem = Problem(x, 2)
    start = evaluate(problem, np.array([0, 1, 0, 1, 0, 1, 0, 1], dtype=np.int32))
    with pytest.raises(ContractError, match="cuts through a group"):
        Within(PathCut(), by=halves)(problem, start, Run())


def test_within_splits_large_groups_only() -> None:
    x = np.random.default_rng(1).normal(size=(30, 2))
    problem = Problem(x, 3)
    start = evaluate(problem, np.repeat(np.array([0, 1, 2], dtype=np.int32), [21, 4, 5]))
    found = Within(Mdav())(problem, start, Run())
    assert len(np.unique(found.labels[:21])) == 7
    assert len(np.unique(found.labels[21:25])) == 1
    assert len(np.unique(found.labels[25:])) == 1
