"""Pricing, odd sets and columns against brute force over every group of k to 2k−1 records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg import _core
from microagg.methods.exact.group_columns import (
    ColumnPool,
    Cuts,
    GroupColumns,
    Prices,
    columns_of_labels,
    concatenate_columns,
    cuts_of_sets,
    with_costs,
)
from microagg.model import Points, Problem
from tests.campaigns import SAMPLE
from tests.differential import adversarial
from tests.oracles import columns as oracle
from tests.oracles.columns import Group

KINDS = (*adversarial.KINDS, "duplicates", "square", "outlier3", "outlier6", "tiny150", "huge100")
PRICES = ("normal", "zero", "negative", "tight", "high", "lattice", "far", "sparse")
NO_LIMIT = 2**60
TOLERANCE = 1e-9

Doubles = NDArray[np.float64]


def points(kind: str, rng: np.random.Generator, n: int, p: int) -> Points:
    if kind in adversarial.KINDS:
        return np.ascontiguousarray(adversarial.points(kind, rng, n, p))
    normal = rng.normal(size=(n, p))
    if kind == "duplicates":
        normal = normal[rng.integers(0, min(n, 2), size=n)]
    elif kind == "square":  # as many ties as there can be
        normal = rng.integers(0, 2, size=(n, p)).astype(float)
    elif kind in ("outlier3", "outlier6"):
        far = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)
        normal[far] += {"outlier3": 1e3, "outlier6": 1e6}[kind] * rng.choice(
            [-1.0, 1.0], size=(len(far), p)
        )
    elif kind == "tiny150":
        normal *= 1e-150
    else:
        normal *= 1e100
    return np.ascontiguousarray(normal)


@dataclass(frozen=True)
class Case:
    """What one call of `Pricing.run` is asked."""

    points: Points
    k: int
    prices: Doubles
    cuts: tuple[Group, ...] = ()
    multipliers: tuple[float, ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    together: tuple[tuple[int, int], ...] = ()
    below: float = 0.0
    charge: float = 0.0

    @property
    def n(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Found:
    """What it answered."""

    members: NDArray[np.int32]
    sizes: NDArray[np.int64]
    costs: Doubles
    least: Doubles
    complete: bool

    @property
    def groups(self) -> list[Group]:
        return groups_of(self.members, self.sizes)

    def same(self, other: Found) -> bool:
        return (
            np.array_equal(self.members, other.members)
            and np.array_equal(self.sizes, other.sizes)
            and np.array_equal(self.costs, other.costs)
            and np.array_equal(self.least, other.least)
            and self.complete == other.complete
        )


def groups_of(members: NDArray[np.int32], sizes: NDArray[np.int64]) -> list[Group]:
    assert sizes.sum() == len(members)
    rows = members.tolist()
    ends = np.cumsum(sizes).tolist()
    return [tuple(rows[end - size : end]) for end, size in zip(ends, sizes.tolist(), strict=True)]


def flat(sets: list[Group] | tuple[Group, ...]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    members = np.array([row for rows in sets for row in rows], dtype=np.int32)
    return members, np.array([len(rows) for rows in sets], dtype=np.int64)


def pairs_of(pairs: tuple[tuple[int, int], ...]) -> NDArray[np.int32]:
    return np.array(pairs, dtype=np.int32).reshape(len(pairs), 2)


def asked(
    pricing: _core.Pricing,
    case: Case,
    every: bool = True,
    most_columns: int = NO_LIMIT,
    most_work: int = NO_LIMIT,
    most_of_one: int = NO_LIMIT,
    watch: _core.Watch | None = None,
) -> Found:
    return Found(
        *pricing.run(
            case.prices,
            *flat(case.cuts),
            np.array(case.multipliers),
            case.charge,
            pairs_of(case.apart),
            pairs_of(case.together),
            case.below,
            every,
            most_columns,
            most_work,
            most_of_one,
            watch or _core.Watch(),
        )
    )


@dataclass(frozen=True)
class Expected:
    """The groups that must be found, those that may be, and between what their `least` lies."""

    priced: oracle.Priced
    must: NDArray[np.bool_]
    may: NDArray[np.bool_]
    lower: Doubles
    upper: Doubles
    at: dict[Group, int]


def expected(case: Case) -> Expected:
    table = oracle.whole_table(case.n, case.k)
    priced = oracle.priced(
        table, case.points, case.prices, case.cuts, np.array(case.multipliers), case.charge
    )
    allowed = oracle.obeying(table, case.apart, case.together)
    slack = TOLERANCE * priced.terms
    must = allowed & (priced.costs < case.below - slack)
    may = allowed & (priced.costs <= case.below + slack)
    lower, upper = priced.least(may, -slack), priced.least(must, slack)
    at = {group: at for at, group in enumerate(oracle.groups_of_sizes(case.n, case.k))}
    return Expected(priced, must, may, lower, upper, at)


def check(case: Case, found: Found, answer: Expected, every: bool, note: object = "") -> None:
    """All that holds of an answer, whether it is complete or not."""
    says = (note, case)
    assert len(found.sizes) == len(found.costs)
    assert len(found.least) == case.n
    assert all(a < b for group in found.groups for a, b in pairwise(group)), says
    which = np.array([answer.at[group] for group in found.groups], dtype=np.intp)
    assert answer.may[which].all(), says
    slack = TOLERANCE * answer.priced.terms[which]
    assert (np.abs(found.costs - answer.priced.costs[which]) <= slack).all(), says
    assert (found.least >= answer.lower).all(), says
    assert (found.least <= 0.0).all(), says
    # What was found is accounted for.
    for group, cost in zip(found.groups, found.costs.tolist(), strict=True):
        share = cost / len(group)
        assert (found.least[list(group)] <= share + abs(share) * TOLERANCE).all(), says
    if not found.complete:
        return
    assert (found.least <= answer.upper).all(), says
    if every:
        seen = np.zeros(len(answer.must), dtype=bool)
        seen[which] = True
        assert seen[answer.must].all(), says


# --- random cases -----------------------------------------------------------------------------


def some_cuts(rng: np.random.Generator, n: int, most: int) -> list[Group]:
    sizes = [size for size in (3, 5, 7) if size <= n]
    if not sizes:
        return []
    return [
        tuple(sorted(rng.choice(n, size=rng.choice(sizes), replace=False).tolist()))
        for _ in range(int(rng.integers(0, most + 1)))
    ]


def some_pairs(rng: np.random.Generator, n: int, most: int) -> list[tuple[int, int]]:
    """Pairs anywhere, a chain, or one pair both ways round."""
    if n < 2 or not most:
        return []
    shape = rng.integers(0, 4)
    if shape == 0:
        return list(pairwise(rng.permutation(n)[: most + 1].tolist()))
    pairs = [tuple(rng.choice(n, size=2, replace=False).tolist()) for _ in range(most)]
    if shape == 1:
        pairs += [(b, a) for a, b in pairs[:1]]
    return pairs


def some_branches(
    rng: np.random.Generator, n: int
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    apart = some_pairs(rng, n, int(rng.integers(0, 5)))
    together = some_pairs(rng, n, int(rng.integers(0, 4)))
    if apart and rng.random() < 0.2:
        together.append(apart[0])  # a contradiction: neither is in any group
    return tuple(apart), tuple(together)


def tight_prices(table: Doubles, costs: Doubles, rng: np.random.Generator) -> Doubles:
    """Prices that no record's can be raised further: every record is in a group with rc near 0."""
    shares = np.where(table > 0.0, (costs / table.sum(axis=1))[:, None], np.inf)
    prices = shares.min(axis=0)
    for row in rng.permutation(table.shape[1]):
        prices[row] += (costs - table @ prices)[table[:, row] > 0.0].min()
    return prices


def some_prices(kind: str, rng: np.random.Generator, table: Doubles, costs: Doubles) -> Doubles:
    n = table.shape[1]
    scale = float(np.median(costs)) if len(costs) and np.median(costs) > 0.0 else 1.0
    normal = rng.normal(size=n)
    if kind == "zero":
        return np.zeros(n)
    if kind == "negative":
        return -np.abs(normal) * scale
    if kind == "tight" and len(costs):
        return tight_prices(table, costs, rng) * (1.0 + rng.choice([0.0, 1e-14, 1e-10, 1e-6, 0.01, 0.1]))
    if kind == "high":
        return rng.random(n) * scale * 3.0
    if kind == "lattice":
        return rng.integers(-1, 4, size=n) / 2.0
    if kind == "far":
        normal[rng.integers(0, n)] *= 1e6
    if kind == "sparse":
        normal[rng.random(n) < 0.6] = 0.0
    return normal * scale


def some_below(rng: np.random.Generator, costs: Doubles) -> float:
    scale = float(np.median(np.abs(costs))) if len(costs) else 1.0
    shape = rng.integers(0, 8)
    if shape <= 2:
        return 0.0
    if shape == 3 and len(costs):
        return float(rng.choice(costs))  # rounding may decide this one, but no other
    if shape == 4:
        return -1e-9 * scale
    if shape == 5 and rng.random() < 0.3:
        return float("inf")
    return float(rng.normal()) * scale


def some_case(rng: np.random.Generator, kind: str, prices: str, most: int = 11) -> Case:
    k = int(rng.integers(2, 5))
    n = int(rng.integers(2, most + 1))
    x = points(kind, rng, n, int(rng.integers(1, 5)))
    table = oracle.whole_table(n, k)
    cuts = some_cuts(rng, n, int(rng.choice([0, 1, 3, 8])))
    costs = oracle.costs_of(table, x)
    scale = float(np.median(costs)) if len(costs) else 1.0
    multipliers = rng.random(len(cuts)) * scale * rng.choice([0.1, 1.0])
    multipliers[rng.random(len(cuts)) < 0.1] = 0.0
    charge = float(rng.choice([0.0, 0.0, 0.1, 1.0, 10.0])) * scale
    charged = costs + oracle.pairs_in_cuts(table, cuts) @ multipliers + charge
    rates = some_prices(prices, rng, table, charged)
    return Case(
        x,
        k,
        rates,
        tuple(cuts),
        tuple(multipliers.tolist()),
        *some_branches(rng, n),
        below=some_below(rng, charged - table @ rates),
        charge=charge,
    )


def cases(seed: int, kind: str, count: int, most: int = 11) -> Iterator[Case]:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    for at in range(count):
        yield some_case(rng, kind, PRICES[at % len(PRICES)], most)


# --- pricing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [120, pytest.param(320 if SAMPLE else 1200, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_pricing_finds_every_group_below(kind: str, count: int) -> None:
    for case in cases(1, kind, count):
        answer = expected(case)
        found = asked(_core.Pricing(case.points, case.k), case)
        assert found.complete
        check(case, found, answer, every=True)
        assert len(set(found.groups)) >= answer.must.sum()


@pytest.mark.parametrize("kind", KINDS)
def test_pricing_of_some_groups_proves_as_much(kind: str) -> None:
    for case in cases(2, kind, 160):
        answer = expected(case)
        found = asked(_core.Pricing(case.points, case.k), case, every=False)
        assert found.complete
        check(case, found, answer, every=False)
        # Groups that prove nothing may be left out, were they all that there are.
        proves = answer.must & (answer.priced.costs < -TOLERANCE * answer.priced.terms)
        assert len(found.sizes) or not proves.any(), case


@pytest.mark.parametrize("kind", KINDS)
def test_calls_leave_no_traces(kind: str) -> None:
    """One pricing, asked many things, some of them broken off, answers each as a new one would."""
    rng = np.random.default_rng([3, KINDS.index(kind)])
    for case in cases(3, kind, 16):
        pricing = _core.Pricing(case.points, case.k)
        plain = replace(case, apart=(), together=())
        other = some_case(rng, kind, "high", case.n)
        variants = [
            case,
            plain,
            replace(plain, apart=tuple(combinations(range(case.n), 2))),
            replace(plain, together=tuple(pairwise(range(case.n)))),
            replace(plain, cuts=(), multipliers=(), charge=0.0),
            replace(case, prices=np.resize(other.prices, case.n), below=other.below),
            replace(case, prices=np.zeros(case.n), below=1.0),
        ]
        answers = [expected(variant) for variant in variants]
        first = [asked(_core.Pricing(case.points, case.k), variant) for variant in variants]
        for at in rng.integers(0, len(variants), size=14).tolist():
            variant = variants[at]
            if rng.random() < 0.4:
                asked(pricing, variant, rng.random() < 0.5, NO_LIMIT, int(rng.integers(0, 30)))
            if rng.random() < 0.4:
                asked(pricing, variant, rng.random() < 0.5, int(rng.integers(0, 4)))
            found = asked(pricing, variant)
            assert found.same(first[at]), (at, variant)
            assert found.same(asked(pricing, variant)), (at, variant)
            check(variant, found, answers[at], every=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("every", [True, False])
def test_limits_break_off_and_say_so(kind: str, every: bool) -> None:
    broken = 0
    for case in cases(4, kind, 32):
        answer = expected(case)
        count = int(answer.must.sum())
        pricing = _core.Pricing(case.points, case.k)
        for most in (0, 1, 2, 5, max(0, count - 1), count):
            found = asked(pricing, case, every, most_columns=most)
            check(case, found, answer, every, most)
            assert len(found.sizes) <= most, (most, case)
            if every and count > most:
                assert not found.complete, (most, case)
            broken += not found.complete
        for most in (0, 1, 3, 10, 40, 200):
            for limits in ({"most_work": most}, {"most_of_one": most}):
                found = asked(pricing, case, every, **limits)
                check(case, found, answer, every, limits)
                broken += not found.complete
    assert broken > 24


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("seconds", [None, 0.0, 0.01])
def test_a_watch_that_expired_breaks_off(every: bool, seconds: float | None) -> None:
    """In the midst of millions of groups; and the next call is as good as the first."""
    x = np.random.default_rng(5).normal(size=(60, 3))
    pricing = _core.Pricing(x, 3)
    few = Case(x, 3, np.full(60, 0.2), ((0, 4, 9), (1, 2, 3)), (0.1, 0.2), ((4, 5),), ((6, 7),))
    before = asked(pricing, few)
    assert before.complete
    assert len(before.sizes)
    watch = _core.Watch()
    if seconds is None:
        watch.cancel()
    else:
        watch.set_deadline(seconds)
    found = asked(pricing, replace(few, prices=np.full(60, 100.0)), every, watch=watch)
    assert not found.complete
    assert all(not {4, 5} <= set(group) for group in found.groups)
    assert all((6 in group) == (7 in group) for group in found.groups)
    assert asked(pricing, few).same(before)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7])
def test_few_records(n: int) -> None:
    """Fewer than k, fewer than 2k: no groups, or no larger ones than there are records."""
    rng = np.random.default_rng(n)
    for k in (2, 3, 4, 7, 8, 20):
        x = rng.normal(size=(n, 2))
        case = Case(x, k, np.full(n, 100.0))
        found = asked(_core.Pricing(x, k), case)
        assert found.complete
        assert sorted(found.groups) == sorted(oracle.groups_of_sizes(n, k))
        check(case, found, expected(case), every=True)


def test_contradictions_leave_groups_without_their_records() -> None:
    x = np.random.default_rng(6).normal(size=(8, 2))
    pricing = _core.Pricing(x, 2)
    wanted = Case(x, 2, np.full(8, 100.0))
    for apart, together, banned in [
        (((0, 1),), ((0, 1),), {0, 1}),
        (((1, 0),), ((0, 1),), {0, 1}),
        (((0, 2),), ((0, 1), (1, 2)), {0, 1, 2}),
        (((0, 1), (4, 5)), ((1, 0), (4, 5)), {0, 1, 4, 5}),
        ((), ((0, 1), (1, 2), (2, 3)), {0, 1, 2, 3}),  # four are more than 2k − 1
    ]:
        case = replace(wanted, apart=apart, together=together)
        found = asked(pricing, case)
        check(case, found, expected(case), every=True)
        assert {row for group in found.groups for row in group} == set(range(8)) - banned
        assert (found.least[list(banned)] == 0.0).all()
    assert len(asked(pricing, wanted).sizes) == 28 + 56


def test_more_records_cuts_and_pairs_than_bits_in_a_word() -> None:
    rng = np.random.default_rng(7)
    for n, k in ((66, 2), (18, 3)):
        x = rng.normal(size=(n, 2))
        table = oracle.whole_table(n, k)
        cuts = tuple(
            tuple(sorted(rng.choice(n, size=rng.choice([3, 5, 7, 15]), replace=False).tolist()))
            for _ in range(90)
        )
        multipliers = rng.random(90) * 0.05
        charged = oracle.costs_of(table, x) + oracle.pairs_in_cuts(table, cuts) @ multipliers
        pairs = [tuple(rng.choice(n, size=2, replace=False).tolist()) for _ in range(80)]
        prices = tight_prices(table, charged, rng) * 2.0
        case = Case(x, k, prices, cuts, tuple(multipliers.tolist()), tuple(pairs[:75]), tuple(pairs[75:]))
        pricing = _core.Pricing(x, k)
        for variant in (case, replace(case, apart=(), together=())):
            answer = expected(variant)
            assert variant.apart or answer.must.sum() > 50
            for every in (True, False):
                found = asked(pricing, variant, every)
                assert found.complete
                check(variant, found, answer, every)


# --- repaired prices --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_repaired_prices_are_feasible_in_exact_arithmetic(kind: str) -> None:
    pytest.importorskip("highspy")
    from microagg.methods.exact.pricing import repair

    for case in cases(8, kind, 64, most=9):
        if case.n < case.k:
            continue
        case = replace(case, apart=(), together=(), below=0.0)
        multipliers = np.array(case.multipliers)
        cuts = cuts_of_sets(list(case.cuts))
        answer = expected(case)
        none = np.zeros(len(answer.may))
        of_kernel = asked(_core.Pricing(case.points, case.k), case).least
        for least in (of_kernel, answer.priced.least(answer.priced.costs < 0.0, none)):
            proposed = Prices(case.prices, multipliers, case.charge)
            duals = repair(Problem(case.points, case.k), proposed, cuts, least)
            found = duals.prices
            assert np.array_equal(found.multipliers, multipliers)
            assert found.charge == case.charge >= 0.0
            slacks = oracle.exact_reduced_costs(
                case.points, case.k, found.records, case.cuts, found.multipliers, found.charge
            )
            assert min(slacks) >= 0, (float(min(slacks)), case)
            value = oracle.exact_value(found.records, case.cuts, found.multipliers, found.charge, case.k)
            assert Fraction(duals.value) <= value, case
            # Nor is more given away than rounding asks for.
            size = np.abs(case.prices).sum() + np.abs(least).sum() + case.n * answer.priced.terms.max()
            size += sum(multipliers) * case.n
            owed = multipliers @ cuts.limits + case.charge * (case.n // case.k)
            assert duals.value >= (case.prices + least).sum() - owed - 1e-9 * size, case


# --- odd sets ---------------------------------------------------------------------------------

Fractional = dict[Group, Fraction]


def random_partition(rng: np.random.Generator, rows: list[int], k: int) -> list[Group]:
    sizes = [k] * (len(rows) // k)
    for _ in range(len(rows) % k):
        sizes[rng.choice([at for at, size in enumerate(sizes) if size < 2 * k - 1])] += 1
    order = rng.permutation(rows).tolist()
    ends = np.cumsum(sizes).tolist()
    return [tuple(sorted(order[end - size : end])) for end, size in zip(ends, sizes, strict=True)]


def odd_cycle(rng: np.random.Generator, rows: list[int], k: int) -> Fractional:
    """Blocks in a cycle of odd length, neighbours together at 1/2; a partition of the other rows."""
    block = (k + 1) // 2
    lengths = [
        length
        for length in range(3, len(rows) + 1, 2)
        if length * block == len(rows) or length * block <= len(rows) - k
    ]
    if not lengths:
        return dict.fromkeys(random_partition(rng, rows, k), Fraction(1))
    order = rng.permutation(rows).tolist()
    end = int(rng.choice(lengths)) * block
    blocks = [order[at : at + block] for at in range(0, end, block)]
    found = {
        tuple(sorted(one + other)): Fraction(1, 2)
        for one, other in zip(blocks, blocks[1:] + blocks[:1], strict=True)
    }
    return found | dict.fromkeys(random_partition(rng, order[end:], k), Fraction(1))


def fractional(rng: np.random.Generator, n: int, k: int) -> Fractional:
    """A mixture of odd cycles and partitions, without the columns at 1."""
    share = int(rng.choice([1, 2, 3, 6]))
    total: Fractional = {}
    for _ in range(share):
        if rng.random() < 0.7:
            part = odd_cycle(rng, list(range(n)), k)
        else:
            part = dict.fromkeys(random_partition(rng, list(range(n)), k), Fraction(1))
        for group, x in part.items():
            total[group] = total.get(group, Fraction(0)) + x / share
    return {group: x for group, x in total.items() if x < 1}


def found_sets(n: int, solution: Fractional, largest: int, below: float) -> list[Group]:
    members, sizes = flat(list(solution))
    values = np.array([float(x) for x in solution.values()])
    first = _core.odd_sets(n, members, sizes, values, largest, below)
    again = _core.odd_sets(n, members, sizes, values, largest, below)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    return groups_of(*first)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_odd_sets_are_violated_and_valid(k: int) -> None:
    rng = np.random.default_rng([9, k])
    violated = 0
    for _ in range(80):
        n = int(rng.integers(2 * k, 6 * k))
        solution = fractional(rng, n, k)
        groups, values = list(solution), list(solution.values())
        largest = int(rng.choice([2, 3, 4, 5, 7, 9, n, 1_000]))
        below = float(rng.choice([0.3, 0.7, 0.99, 1.0 - 1e-6, 1.4]))
        sets = found_sets(n, solution, largest, below)
        covered = {row for group in groups for row in group}
        assert all(sum(x for group, x in solution.items() if row in group) == 1 for row in covered)
        others = [random_partition(rng, list(range(n)), k) for _ in range(5)] if sets else []
        for rows in sets:
            assert len(rows) % 2 == 1
            assert 3 <= len(rows) <= largest
            assert all(a < b for a, b in pairwise(rows))
            assert set(rows) <= covered
            weight = oracle.odd_weight(groups, values, rows)
            assert weight < Fraction(below) + Fraction(1, 10**9), (rows, solution, below)
            limit = (len(rows) - 1) // 2
            if weight < 1:
                assert oracle.pairs_held(groups, values, rows) > limit
                violated += 1
            for other in others:
                assert oracle.pairs_held(other, [Fraction(1)] * len(other), rows) <= limit
    assert violated > 40  # distinct sets: the test means something


def test_odd_sets_come_once_each() -> None:
    third = Fraction(1, 3)
    groups = ((1, 3, 4, 5), (0, 2, 4, 5), (0, 1, 2, 3), (3, 4, 5), (0, 1, 2))
    sets = found_sets(6, dict.fromkeys(groups, third), 3, 0.99)
    assert sets
    assert len(set(sets)) == len(sets)
    rng = np.random.default_rng(18)
    for k in (2, 3, 4):
        for _ in range(50):
            n = int(rng.integers(2 * k, 7 * k))
            sets = found_sets(n, fractional(rng, n, k), int(rng.choice([3, 7, 100])), 0.99)
            assert len(set(sets)) == len(sets)


@pytest.mark.parametrize("largest", [3, 5, 9])
@pytest.mark.parametrize("below", [0.1, 0.999])
def test_a_triangle_is_found(largest: int, below: float) -> None:
    half = Fraction(1, 2)
    for first in (0, 4):
        a, b, c = range(first, first + 3)
        assert found_sets(7, {(a, b): half, (b, c): half, (a, c): half}, largest, below) == [(a, b, c)]
    two: Fractional = {pair: half for rows in ((0, 2, 4), (1, 3, 5)) for pair in combinations(rows, 2)}
    assert {(0, 2, 4), (1, 3, 5)} <= set(found_sets(6, two, largest, below))


def test_nothing_fractional_has_no_odd_sets() -> None:
    assert found_sets(5, {}, 5, 0.9) == []
    half = Fraction(1, 2)
    square = {(0, 1): half, (1, 2): half, (2, 3): half, (0, 3): half}
    assert found_sets(4, square, 9, 0.999) == []


# --- columns ----------------------------------------------------------------------------------


def some_groups(rng: np.random.Generator, n: int, most: int) -> list[Group]:
    return [
        tuple(sorted(rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False).tolist()))
        for _ in range(int(rng.integers(0, most + 1)))
    ]


def made(x: Points, groups: list[Group]) -> GroupColumns:
    members, sizes = flat(groups)
    return GroupColumns(members, sizes, oracle.costs_of(oracle.table_of(groups, len(x)), x))


@pytest.mark.parametrize("kind", KINDS)
def test_costs_of_columns(kind: str) -> None:
    rng = np.random.default_rng([10, KINDS.index(kind)])
    for _ in range(40):
        n = int(rng.integers(1, 12))
        x = points(kind, rng, n, int(rng.integers(1, 5)))
        groups = some_groups(rng, n, 12)
        right = oracle.costs_of(oracle.table_of(groups, n), x)
        assert _core.column_costs(x, *flat(groups)) == pytest.approx(right, rel=TOLERANCE, abs=0.0)
        assert with_costs(x, *flat(groups)).costs == pytest.approx(right, rel=TOLERANCE, abs=0.0)
        mixed = [tuple(rng.permutation(group).tolist()) for group in groups]
        assert _core.column_costs(x, *flat(mixed)) == pytest.approx(right, rel=TOLERANCE, abs=0.0)


def test_coefficients_of_cuts() -> None:
    rng = np.random.default_rng(11)
    for n in [*rng.integers(1, 12, size=150).tolist(), 70, 300]:
        groups, cuts = some_groups(rng, n, 30), some_cuts(rng, n, 80 if n > 12 else 9)
        entries = _core.columns_of_cuts(n, *flat(groups), *flat(cuts))
        assert entries.shape[1] == 3
        assert entries.dtype == np.int64
        right = {
            (column, cut, len(set(group) & set(rows)) // 2)
            for column, group in enumerate(groups)
            for cut, rows in enumerate(cuts)
            if len(set(group) & set(rows)) >= 2
        }
        assert len(entries) == len(right)
        assert {tuple(entry) for entry in entries.tolist()} == right
        again = made(np.zeros((n, 1)), groups).cut_entries(n, cuts_of_sets(cuts))
        assert {tuple(entry) for entry in again.tolist()} == right


def test_columns_are_lists_of_groups() -> None:
    rng = np.random.default_rng(12)
    for _ in range(150):
        n = int(rng.integers(2, 12))
        x = points("normal", rng, n, 2)
        groups = some_groups(rng, n, 12)
        found = made(x, groups)
        assert len(found) == len(groups)
        starts = [sum(len(group) for group in groups[:at]) for at in range(len(groups))]
        assert found.starts.tolist() == starts
        which = rng.integers(0, len(groups), size=int(rng.integers(0, 9))) if groups else np.empty(0)
        taken = found.take(which.astype(np.int64))
        assert groups_of(taken.members, taken.sizes) == [groups[int(at)] for at in which]
        assert taken.costs.tolist() == [found.costs[int(at)] for at in which]
        assert taken.members.dtype == np.int32
        assert taken.sizes.dtype == np.int64
        both = concatenate_columns([found, taken, found])
        assert groups_of(both.members, both.sizes) == groups_of(
            np.concatenate([found.members, taken.members, found.members]),
            np.concatenate([found.sizes, taken.sizes, found.sizes]),
        )
        assert len(both.costs) == len(both)


def test_columns_obey_branches() -> None:
    rng = np.random.default_rng(13)
    for _ in range(300):
        n = int(rng.integers(2, 12))
        groups = some_groups(rng, n, 12)
        apart, together = some_branches(rng, n)
        right = [
            not any({a, b} <= set(group) for a, b in apart)
            and all((a in group) == (b in group) for a, b in together)
            for group in groups
        ]
        found = made(np.zeros((n, 1)), groups).obey(pairs_of(apart), pairs_of(together))
        assert found.tolist() == right, (groups, apart, together)
        assert oracle.obeying(oracle.table_of(groups, n), apart, together).tolist() == right


@pytest.mark.parametrize("kind", KINDS)
def test_reduced_costs_of_columns(kind: str) -> None:
    rng = np.random.default_rng([14, KINDS.index(kind)])
    for case in cases(14, kind, 16):
        groups = some_groups(rng, case.n, 12)
        table = oracle.table_of(groups, case.n)
        multipliers = np.array(case.multipliers)
        right = oracle.priced(table, case.points, case.prices, case.cuts, multipliers, case.charge)
        found = made(case.points, groups).reduced_costs(
            Prices(case.prices, multipliers, case.charge), cuts_of_sets(list(case.cuts))
        )
        assert (np.abs(found - right.costs) <= TOLERANCE * right.terms).all(), (groups, case)


def test_a_pool_takes_each_column_once() -> None:
    rng = np.random.default_rng(15)
    for _ in range(60):
        n = int(rng.integers(2, 7))
        x = points("normal", rng, n, 2)
        pool, held = ColumnPool(x), set[Group]()
        for _ in range(5):
            groups = some_groups(rng, n, 12)
            new = pool.new(*flat(groups))
            found = groups_of(new.members, new.sizes)
            assert len(set(found)) == len(found)
            assert set(found) == set(groups) - held
            assert new.costs == pytest.approx(
                oracle.costs_of(oracle.table_of(found, n), x), rel=TOLERANCE, abs=0.0
            )
            held |= set(groups)


def test_columns_of_a_partition() -> None:
    rng = np.random.default_rng(16)
    for _ in range(60):
        n = int(rng.integers(1, 12))
        x = points("normal", rng, n, 2)
        labels = _core.by_first_appearance(rng.integers(0, 4, size=n).astype(np.int32))
        found = columns_of_labels(x, labels)
        groups = {tuple(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}
        assert set(groups_of(found.members, found.sizes)) == groups
        assert len(found) == len(groups)
        listed = groups_of(found.members, found.sizes)
        right = oracle.costs_of(oracle.table_of(listed, n), x)
        assert found.costs == pytest.approx(right, rel=TOLERANCE, abs=0.0)


def test_cuts_are_lists_of_sets() -> None:
    rng = np.random.default_rng(17)
    for _ in range(100):
        sets = some_cuts(rng, int(rng.integers(2, 12)), 6)
        cuts = cuts_of_sets(sets)
        assert isinstance(cuts, Cuts)
        assert len(cuts) == len(sets)
        assert cuts.rows.dtype == np.int32
        assert cuts.sizes.dtype == np.int64
        assert cuts.sets() == sets
        assert cuts.limits.tolist() == [(len(rows) - 1) // 2 for rows in sets]
        for count in range(len(sets) + 1):
            assert cuts.first(count).sets() == sets[:count]
