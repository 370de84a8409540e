"""Column generation against exhaustive search, and the faces of its proofs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import microagg
from microagg import certificate, datasets, errors
from microagg.methods import exact
from microagg.methods.decomposition import Decomposition, RestrictedMaster
from microagg.methods.exact import Exact, Neighbourhoods, prove
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.methods.stage import evaluate, one_group, solve
from microagg.model import Partition, Problem
from tests.oracles import columns as oracle
from tests.oracles.exhaustive import exhaustive

KINDS = ("normal", "lattice", "duplicates", "outlier", "line", "tiny", "huge")


def points_of(kind: str, rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    x = rng.normal(size=(n, p))
    if kind == "lattice":
        return rng.integers(0, 3, size=(n, p)).astype(float)
    if kind == "duplicates":
        return x[rng.integers(0, max(n // 3, 1), size=n)]
    if kind == "outlier":
        x[0] *= 1e4
    if kind == "line":
        return np.outer(np.sort(x[:, 0]), np.ones(p))
    if kind == "tiny":
        return x * 1e-120
    if kind == "huge":
        return x * 1e100
    return x


def start_of(problem: Problem) -> Partition:
    labels = np.arange(len(problem.points), dtype=np.int32) // problem.k
    labels[labels == len(labels) // problem.k] -= 1  # the last few join the last group
    return evaluate(problem, labels)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_optimum_is_found_and_proven(kind: str, k: int) -> None:
    rng = np.random.default_rng([1, k, KINDS.index(kind)])
    for _ in range(4):
        n, p = int(rng.integers(2 * k, 12)), int(rng.integers(1, 4))
        problem = Problem(np.ascontiguousarray(points_of(kind, rng, n, p)), k)
        _, optimum = exhaustive(problem.points, k)
        found = solve(Exact(), problem, start_of(problem), Run(threads=1))
        nothing = 1e-28 * np.abs(problem.points).max() ** 2  # what equal records leave by rounding
        assert found.sse == pytest.approx(optimum, rel=1e-9, abs=nothing)
        assert found.bound <= optimum * (1 + 1e-12)
        assert found.bound == pytest.approx(optimum, rel=1e-7, abs=nothing)
        assert not found.truncated


def test_bound_holds_however_early_it_stops() -> None:
    rng = np.random.default_rng(2)
    for _ in range(16):
        n = int(rng.integers(6, 12))
        problem = Problem(np.ascontiguousarray(points_of("normal", rng, n, 2)), 3)
        _, optimum = exhaustive(problem.points, 3)
        for nodes, target in ((1, 0.0), (1, 0.2), (3, 0.0)):
            proof = prove(problem, start_of(problem), target, nodes, 10**6, Run(threads=1))
            assert 0.0 <= proof.partition.bound <= optimum * (1 + 1e-12) <= proof.partition.sse * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_count_cut_raises_the_bound_and_never_above_the_optimum(kind: str, k: int) -> None:
    """For all remainders of n by k, against the linear program over all groups with the cut and without."""
    rng = np.random.default_rng([11, k, KINDS.index(kind)])
    for n in range(2 * k, min(3 * k, 12)):
        problem = Problem(np.ascontiguousarray(points_of(kind, rng, n, 2)), k)
        _, optimum = exhaustive(problem.points, k)
        without, with_cut = (oracle.best_bound(problem.points, k, count_cut)[0] for count_cut in (0, 1))
        near = 1e-6 * optimum + 1e-28 * np.abs(problem.points).max() ** 2
        assert without <= with_cut + near <= optimum + 2 * near
        if n % k == 0:
            assert with_cut <= without + near
        proof = prove(problem, start_of(problem), 0.0, 1, 10**8, Run(threads=1))
        assert with_cut - near <= proof.partition.bound <= optimum * (1 + 1e-12)


def test_the_count_cut_is_in_the_certificate_and_its_check() -> None:
    """With k = 4 and a remainder of 3: what the charge adds is what other programs prove too."""
    data = np.random.default_rng(12).normal(size=(35, 8))
    bound = microagg.lower_bound(data, 4, seconds=600)
    assert bound.proved
    fields = json.loads(json.dumps(bound.certificate()))
    assert any(entry["charge"] > 0.0 for entry in fields["leaves"])
    assert certificate.check(fields, data).proved


def test_bound_is_below_what_any_method_finds() -> None:
    data = datasets.census_like(80, seed=3)
    for k in (3, 5):
        bound = microagg.lower_bound(data, k, seconds=600, gap=1.0)
        for method in ("mdav", "v-mdav", "icsm", "anneal", "decomposition:s=2", "neighbourhoods:size=40"):
            assert bound.sse <= microagg.partition(data, k, method).sse * (1 + 1e-12)
        as_auto = "mdav+anneal:steps=800000"  # where it does not try to prove the optimum itself
        assert bound.incumbent.sse <= microagg.partition(data, k, as_auto).sse
        assert bound.gap < 5.0


def test_same_labels_for_any_number_of_threads() -> None:
    data = datasets.census_like(90, seed=4)
    for method in ("exact:nodes=3", "neighbourhoods:size=40", "decomposition:s=4:last_swap=no"):
        one, two = (microagg.partition(data, 3, method, seed=5, threads=threads) for threads in (1, 2))
        assert np.array_equal(one.labels, two.labels)
        assert one.bound == two.bound


def test_deadline_leaves_a_valid_bound() -> None:
    data = datasets.census_like(600, seed=5)
    bound = microagg.lower_bound(data, 4, seconds=0.3)
    assert 0.0 <= bound.sse <= bound.incumbent.sse
    assert bound.incumbent.sizes.min() >= 4


# --- bad and special input ---


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [({"seconds": 0}, "seconds"), ({"gap": -0.1}, "gap"), ({"gap": 100}, "gap"), ({"k": 1}, "k")],
)
def test_wrong_settings_are_refused(settings: dict[str, float], wrong: str) -> None:
    with pytest.raises(errors.SettingsError, match=wrong):
        microagg.lower_bound(np.eye(8), **{"k": 3, **settings})  # type: ignore[arg-type]


def test_special_data() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(5, 2))
    assert microagg.lower_bound(x, 3).proved  # one group is the only partition
    same = microagg.lower_bound(np.repeat(rng.normal(size=(4, 2)), 5, axis=0), 5)
    assert (same.sse, same.incumbent.sse, same.proved) == (0.0, 0.0, True)
    line = microagg.lower_bound(rng.normal(size=50), 4)
    assert line.proved
    with pytest.raises(errors.SettingsError, match="certificate"):
        line.certificate()


def test_too_many_records_for_pricing_still_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "MOST_RECORDS_PRICED", 100)
    bound = microagg.lower_bound(datasets.census_like(300, seed=7), 3, seconds=5)
    assert 0.0 < bound.sse < bound.incumbent.sse
    assert not bound.proved


def test_settings_of_stages_are_checked() -> None:
    block = RestrictedMaster()
    for make in (
        lambda: Exact(nodes=0),
        lambda: RestrictedMaster(work=0),
        lambda: Decomposition(block, s=0),
        lambda: Decomposition(block, order="outwards"),  # type: ignore[arg-type]
        lambda: Neighbourhoods(size=0),
    ):
        with pytest.raises(errors.SettingsError):
            make()


# --- the faces ---


def test_certify_fills_bound_and_leaves_the_groups() -> None:
    data = datasets.census_like(120, seed=8)
    plain = microagg.partition(data, 3, "mdav")
    certified = microagg.partition(data, 3, "mdav", certify=True)
    assert plain.bound is None
    assert certified.bound is not None
    assert 0.0 < certified.bound < certified.sse
    assert np.array_equal(plain.labels, certified.labels)


def test_certificate_is_checked_by_the_other_program() -> None:
    data = datasets.census_like(150, seed=9)
    for gap in (0.0, 2.0):
        bound = microagg.lower_bound(data, 3, seconds=600, gap=gap)
        fields = json.loads(json.dumps(bound.certificate()))
        checked = certificate.check(fields, data.values)
        assert checked.bound == pytest.approx(bound.sse, rel=1e-9)
        assert checked.proved == bound.proved
    assert bound.gap <= 2.0
    fields["bound"] *= 1.001
    with pytest.raises(errors.CertificateError):
        certificate.check(fields, data.values)


def test_group_runs_are_whole_groups_from_the_outside() -> None:
    problem = Problem(np.ascontiguousarray(np.random.default_rng(10).normal(size=(60, 2))), 3)
    start = solve(Mdav(), problem, one_group(problem), Run(threads=1))
    blocks = Decomposition(RestrictedMaster(), s=4, order="inwards").blocks(problem, start.labels)
    assert set(np.unique(blocks)) == {0, 1, 2, 3}
    for group in range(start.labels.max() + 1):
        assert len(np.unique(blocks[start.labels == group])) == 1
    offsets = (problem.points**2).sum(axis=1)
    assert offsets[blocks == 0].mean() > offsets[blocks == 3].mean()
