"""Risk measures against plain computations of their definitions, record by record."""

from __future__ import annotations

import dataclasses
import inspect
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg import _core
from microagg.errors import SettingsError
from microagg.measure import RISK
from microagg.measure.attribute_disclosure import (
    attribute_disclosure,
    closeness,
    confidential_range,
    diversity,
    homogeneous,
)
from microagg.measure.intervals import interval_rank, interval_sd, interval_sd_masked, outlier_interval
from microagg.measure.key_confidential import key_confidential
from microagg.measure.linkage import (
    SEED,
    linkage_distance,
    linkage_groups,
    linkage_noisy,
    linkage_subsets,
    outlier_linkage,
)
from microagg.measure.pair import Pair
from microagg.measure.probabilistic_linkage import linkage_probabilistic
from microagg.measure.risk import dominance, k_anonymity, true_values

Values = NDArray[np.float64]
NAN = np.nan


def pair_of(original: object, masked: object, **more: object) -> Pair:
    """A pair whose classes are counted here, by their own means."""
    x, y = np.asarray(original, dtype=np.float64), np.asarray(masked, dtype=np.float64)
    strata = np.asarray(more.pop("strata", np.zeros(len(x))), dtype=np.int64)
    numbers: dict[tuple[str, ...], int] = {}
    groups = [
        numbers.setdefault((str(s), *map(str, row + 0.0)), len(numbers))
        for s, row in zip(strata, y, strict=True)
    ]
    columns = tuple("abcdefghijklmnop"[: x.shape[1]])
    subsets = more.pop("subsets", (tuple(range(x.shape[1])),))
    return Pair(columns, x, y, subsets, np.array(groups, dtype=np.int64), strata, **more)  # type: ignore[arg-type]


def grouped(x: Values, labels: NDArray[np.int64]) -> Values:
    """Group means."""
    means = {label: x[labels == label].mean(axis=0) for label in set(labels.tolist())}
    return np.array([means[label] for label in labels.tolist()])


def random_pair(seed: int, n: int = 60, p: int = 3, *, gaps: bool = False, **more: object) -> Pair:
    """Groups of 3 and more, of data of two kinds in turn: distinct values and many ties."""
    rng, k = np.random.default_rng(seed), 3
    x = rng.normal(size=(n, p)) * np.logspace(0, 3, p)
    if seed % 2:
        x = np.round(x / np.logspace(0, 3, p))
    labels = np.empty(n, dtype=np.int64)
    labels[np.argsort(x[:, 0] + rng.normal(size=n), kind="stable")] = np.minimum(
        np.arange(n) // k, n // k - 1
    )
    y = grouped(x, labels)
    if gaps:
        hidden = rng.random((n // k, p)) < 0.3
        x[hidden[labels]] = NAN
        y[hidden[labels]] = NAN
        x[rng.random((n, p)) < 0.05] = NAN
        y[rng.random((n, p)) < 0.05] = NAN
    return pair_of(x, y, k=k, **more)


PAIRS = [
    *(random_pair(seed) for seed in range(4)),
    *(random_pair(seed, gaps=True) for seed in range(4, 8)),
    random_pair(8, p=1),
    random_pair(9, p=1),
    random_pair(10, strata=np.arange(60) % 4),
    random_pair(11, gaps=True, strata=np.arange(60) % 4),
    pair_of([[7.0, i] for i in range(9)], [[7.0, i // 3 * 3 + 1.0] for i in range(9)], k=3),
    pair_of([[5.0, NAN]], [[5.0, NAN]]),
]


# --- linkage --------------------------------------------------------------------------------------


def gaps_between(pair: Pair, columns: tuple[int, ...], known: Values | None = None) -> Values:
    """Squared distances of all original from all masked records; infinite across strata."""
    known = pair.original if known is None else known
    result = np.zeros((pair.n, pair.n))
    for column in columns:
        values = pair.original[:, column]
        values = values[~np.isnan(values)]
        sd = values.std() if len(values) and values.std() else np.inf
        mean = values.mean() if len(values) else 0.0
        for i in range(pair.n):
            for j in range(pair.n):
                a, b = (known[i, column] - mean) / sd, (pair.masked[j, column] - mean) / sd
                if np.isnan(a) and np.isnan(b):
                    continue
                if np.isnan(a) or np.isnan(b):
                    result[i, j] += (
                        (0.0 if np.isnan(a) else a) ** 2 + (0.0 if np.isnan(b) else b) ** 2 + 1.0
                    )
                else:
                    result[i, j] += (a - b) ** 2
    result[pair.strata[:, None] != pair.strata[None, :]] = np.inf
    return result


def chances(pair: Pair, gaps: Values) -> tuple[Values, Values]:
    """Probability of a link to the own record, and to one of its group."""
    own, group = np.zeros(pair.n), np.zeros(pair.n)
    for i in range(pair.n):
        nearest = np.flatnonzero(gaps[i] <= gaps[i].min() * (1 + 1e-9) + 1e-18)
        own[i] = (i in nearest) / len(nearest)
        group[i] = np.mean(pair.groups[nearest] == pair.groups[i])
    return own, group


@pytest.mark.parametrize("place", range(len(PAIRS)))
def test_linkage_follows_its_definition(place: int) -> None:
    pair = PAIRS[place]
    columns = tuple(range(pair.p))
    own, group = chances(pair, gaps_between(pair, columns))
    assert linkage_distance(pair).value == pytest.approx(own.mean(), abs=1e-12)
    assert linkage_groups(pair).value == pytest.approx(group.mean(), abs=1e-12)


@pytest.mark.parametrize("place", [0, 1, 5, 8, 10, 11, 12, 13])
def test_linkage_of_those_who_know_some_keys(place: int) -> None:
    pair = PAIRS[place]
    found = linkage_subsets(pair, largest=2)
    expected = {}
    for size in range(1, min(2, pair.p) + 1):
        for subset in combinations(range(pair.p), size):
            name = " + ".join(pair.columns[c] for c in subset)
            expected[name] = chances(pair, gaps_between(pair, subset))[0].mean()
    assert dict(found.parts) == pytest.approx(expected, abs=1e-12)
    assert found.value == max(expected.values()) == next(iter(found.parts.values()))
    assert list(found.parts.values()) == sorted(found.parts.values(), reverse=True)


def test_subsets_are_limited_and_it_is_said() -> None:
    pair = random_pair(0, p=5)
    found = linkage_subsets(pair, largest=3, most_subsets=20)
    assert len(found.parts) == 15
    assert "15 subsets of at most 2 of 5 keys (limited to 20 subsets)" in found.note
    assert len(linkage_subsets(pair, most_subsets=4).parts) == 4
    assert "limited" not in linkage_subsets(pair).note
    assert len(linkage_subsets(pair).parts) == 25


@pytest.mark.parametrize("place", [0, 1, 5, 11, 12, 13])
def test_linkage_of_those_who_know_about(place: int) -> None:
    pair = PAIRS[place]
    draws = np.random.default_rng(SEED).standard_normal((pair.n, pair.p))
    deviations = np.array([np.nanstd(c) if (~np.isnan(c)).any() else 0.0 for c in pair.original.T])
    found = linkage_noisy(pair)
    for level in (0.05, 0.1, 0.25, 0.5):
        gaps = gaps_between(pair, tuple(range(pair.p)), pair.original + level * draws * deviations)
        share = chances(pair, gaps)[0].mean()
        assert found.parts[f"noise of {level:g} sd"] == pytest.approx(share, abs=1e-12)
    assert found.value == found.parts["noise of 0.1 sd"]
    assert linkage_noisy(pair).value == found.value


@pytest.mark.parametrize("place", [0, 1, 4, 5, 11, 12, 13])
def test_linkage_of_outliers(place: int) -> None:
    pair = PAIRS[place]
    own, group = chances(pair, gaps_between(pair, tuple(range(pair.p))))
    far = outliers(pair, 0.1)
    found = outlier_linkage(pair, share=0.1)
    assert found.value == pytest.approx(own[far].mean(), abs=1e-12)
    assert found.parts["to the right group"] == pytest.approx(group[far].mean(), abs=1e-12)


def outliers(pair: Pair, share: float) -> list[int]:
    """Rows of the most extreme records."""
    far = np.zeros(pair.n)
    for column in pair.original.T:
        present = column[~np.isnan(column)]
        if len(present) and present.std():
            far += np.where(np.isnan(column), 0.0, (column - present.mean()) / present.std()) ** 2
    # A missing value is as far from the mean as any: one standard deviation.
    gaps = np.isnan(pair.original)
    far += gaps.sum(axis=1)
    count = max(1, int(np.ceil(round(share * pair.n, 9))))
    return sorted(range(pair.n), key=lambda i: (-round(far[i], 9), i))[:count]


def test_closed_forms_of_linkage() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    assert linkage_distance(pair_of(x, x)).value == 1.0
    assert linkage_groups(pair_of(x, x)).value == 1.0
    assert linkage_distance(pair_of(x, np.broadcast_to(x.mean(axis=0), x.shape))).value == pytest.approx(
        1 / 40
    )
    far = np.repeat(np.arange(10.0) * 1000, 4)[:, None] + rng.normal(size=(40, 3))
    perfect = pair_of(far, grouped(far, np.arange(40) // 4), k=4)
    found = linkage_distance(perfect)
    assert found.value == 0.25
    assert found.parts == {"1 / k": 0.25, "1 / mean group size": 0.25}
    assert linkage_groups(perfect).value == 1.0
    assert linkage_subsets(perfect).value == 0.25
    assert linkage_noisy(perfect).value > 0.2
    assert outlier_linkage(perfect).value == 0.25
    assert linkage_distance(pair_of(x, x[::-1])).value == 0.0


def test_ties_survive_the_rounding_of_units() -> None:
    """0.1 is as far from 0 as from 0.2, whatever mean and standard deviation do to the last digit."""
    x = np.array([[0.1], [0.1], [0.0], [0.2], [7.3]])
    y = np.array([[0.0], [0.2], [0.0], [0.2], [7.3]])
    assert linkage_distance(pair_of(x, y)).value == pytest.approx((0.25 + 0.25 + 0.5 + 0.5 + 1.0) / 5)


def test_a_sample_is_linked_to_all_and_it_is_said() -> None:
    pair = random_pair(0, n=300)
    own, _ = chances(pair, gaps_between(pair, (0, 1, 2)))
    rows = np.sort(np.random.default_rng(SEED).choice(300, 50, replace=False))
    found = linkage_distance(pair, most_records=50)
    assert found.value == pytest.approx(own[rows].mean())
    assert "sample of 50 of 300 records" in found.note
    assert linkage_distance(pair, most_records=None).value == pytest.approx(own.mean())


def test_bad_settings_are_refused() -> None:
    pair = PAIRS[0]
    for wrong in (0.0, -1.0, NAN, np.inf, True, "much"):
        with pytest.raises(SettingsError, match="noise is"):
            linkage_noisy(pair, noise=wrong)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="largest is 0"):
        linkage_subsets(pair, largest=0)
    with pytest.raises(SettingsError, match="share is 2"):
        outlier_linkage(pair, share=2)
    with pytest.raises(SettingsError, match="most_records is 0"):
        linkage_distance(pair, most_records=0)


# --- probabilistic linkage ------------------------------------------------------------------------


def level(pair: Pair, column: int, known: float, released: float, widths: tuple[float, ...]) -> int:
    if np.isnan(known) or np.isnan(released):
        return len(widths) + (1 if np.isnan(known) and np.isnan(released) else 2)
    values = pair.original[:, column]
    sd = float(np.std(values[~np.isnan(values)]))
    return sum(abs(known - released) > width * sd for width in widths)


def fellegi_sunter(pair: Pair, widths: tuple[float, ...], length: int, draws: int) -> float:
    """The procedure of `probabilistic`, one candidate after the other."""
    n, p, kinds = pair.n, pair.p, len(widths) + 3
    representative = sorted(set(np.unique(pair.groups, return_index=True)[1].tolist()))
    gaps = gaps_between(pair, tuple(range(p)))
    candidates = []
    for i in range(n):
        near = sorted((round(gaps[i, j], 12), j) for j in representative if np.isfinite(gaps[i, j]))
        candidates.append([j for _, j in near[:length]])
    rng = np.random.default_rng(SEED)
    one = rng.integers(0, n, draws)
    other = (one + rng.integers(1, max(n, 2), draws)) % n
    u = np.ones((p, kinds))
    for i, j in zip(one, other, strict=True):
        for c in range(p):
            u[c, level(pair, c, pair.original[i, c], pair.masked[j, c], widths)] += 1
    u /= draws + kinds
    match = [[float(place == 0) for place in range(len(those))] for those in candidates]
    before = np.zeros_like(u)
    for _ in range(200):
        m = np.ones((p, kinds))
        for i in range(n):
            for j, chance in zip(candidates[i], match[i], strict=True):
                for c in range(p):
                    m[c, level(pair, c, pair.original[i, c], pair.masked[j, c], widths)] += chance
        m /= n + kinds
        weights = [
            [
                sum(
                    np.log(m[c, lev] / u[c, lev])
                    for c in range(p)
                    for lev in [level(pair, c, pair.original[i, c], pair.masked[j, c], widths)]
                )
                for j in candidates[i]
            ]
            for i in range(n)
        ]
        if np.abs(m - before).max() <= 1e-6:
            break
        before = m
        match = [[np.exp(w) / sum(map(np.exp, row)) for w in row] for row in weights]
    total = 0.0
    for i in range(n):
        best = [j for j, w in zip(candidates[i], weights[i], strict=True) if w >= max(weights[i]) - 1e-9]
        if pair.groups[i] in pair.groups[best]:
            total += 1.0 / sum((pair.groups == pair.groups[j]).sum() for j in best)
    return total / n


@pytest.mark.parametrize("seed", [0, 2, 4, 6])
def test_probabilistic_linkage_follows_its_procedure(seed: int) -> None:
    strata = np.arange(24) % 2 if seed == 6 else np.zeros(24)
    pair = random_pair(seed, n=24, gaps=seed >= 4, strata=strata)
    found = linkage_probabilistic(pair, widths=(0.1, 0.5), candidates=5, random_pairs=200)
    assert found.value == pytest.approx(fellegi_sunter(pair, (0.1, 0.5), 5, 200), abs=1e-9)
    assert found.value <= found.parts["to the right group"] <= 1.0


def test_closed_forms_of_probabilistic_linkage() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4))
    assert linkage_probabilistic(pair_of(x, x)).value > 0.99
    assert linkage_probabilistic(
        pair_of(x, grouped(x, np.zeros(200, dtype=np.int64)))
    ).value == pytest.approx(1 / 200)
    far = np.repeat(np.arange(10.0) * 1000, 4)[:, None] + rng.normal(size=(40, 3))
    perfect = linkage_probabilistic(pair_of(far, grouped(far, np.arange(40) // 4), k=4))
    assert perfect.value == pytest.approx(0.25)
    assert perfect.parts["to the right group"] == pytest.approx(1.0)


# --- intervals ------------------------------------------------------------------------------------


def shares_inside(pair: Pair, inside: NDArray[np.bool_], rows: list[int]) -> tuple[float, dict[str, float]]:
    observed = [i for i in rows if not np.isnan(pair.original[i]).all()]
    joint = [all(inside[i, c] or np.isnan(pair.original[i, c]) for c in range(pair.p)) for i in observed]
    columns = {}
    for c, name in enumerate(pair.columns):
        cells = [bool(inside[i, c]) for i in rows if not np.isnan(pair.original[i, c])]
        if cells:
            columns[name] = float(np.mean(cells))
    return float(np.mean(joint)), columns


def sd_of(values: Values, ddof: int) -> float:
    present = values[~np.isnan(values)]
    return float(present.std(ddof=ddof)) if len(present) > ddof else 0.0


@pytest.mark.parametrize("place", range(len(PAIRS)))
def test_intervals_follow_their_definitions(place: int) -> None:
    pair = PAIRS[place]
    for measure, source, ddof in ((interval_sd, pair.original, 0), (interval_sd_masked, pair.masked, 1)):
        inside = np.zeros(pair.original.shape, dtype=bool)
        for i in range(pair.n):
            for c in range(pair.p):
                inside[i, c] = abs(pair.original[i, c] - pair.masked[i, c]) <= 0.2 * sd_of(
                    source[:, c], ddof
                )
        joint, columns = shares_inside(pair, inside, list(range(pair.n)))
        found = measure(pair, width=0.2)  # type: ignore[operator]
        assert found.value == pytest.approx(joint)
        assert {name: found.parts[name] for name in columns} == pytest.approx(columns)
        if measure is interval_sd:
            far = outliers(pair, 0.1)
            joint, columns = shares_inside(pair, inside, far)
            found = outlier_interval(pair, share=0.1, width=0.2)
            assert found.value == pytest.approx(joint, nan_ok=True)
            assert dict(found.parts) == pytest.approx(columns)
        else:
            outside = ~inside & ~np.isnan(pair.original) & ~np.isnan(pair.masked)
            loose = np.mean([row.sum() <= 1 for row in outside])
            assert found.parts["at most one column outside"] == pytest.approx(loose)


@pytest.mark.parametrize("place", range(len(PAIRS)))
def test_rank_intervals_follow_their_definition(place: int) -> None:
    pair = PAIRS[place]
    percents = (1, 5, 10, 25)
    found = interval_rank(pair, percents=percents)
    by_percent, joint = {}, []
    for percent in percents:
        inside = np.zeros(pair.original.shape, dtype=bool)
        for c in range(pair.p):
            ordered = sorted(v for v in pair.masked[:, c].tolist() if not np.isnan(v))
            steps = percent * len(ordered) // 100
            for i in range(pair.n):
                x, y = pair.original[i, c], pair.masked[i, c]
                if not np.isnan(y):
                    ranks = [r for r, v in enumerate(ordered) if v == y]
                    low = ordered[max(ranks[0] - steps, 0)]
                    high = ordered[min(ranks[-1] + steps, len(ordered) - 1)]
                    inside[i, c] = low <= x <= high
        whole, columns = shares_inside(pair, inside, list(range(pair.n)))
        joint.append(whole)
        by_percent[f"within {percent} %"] = float(np.mean(list(columns.values())))
    assert {name: found.parts[name] for name in by_percent} == pytest.approx(by_percent)
    assert found.value == pytest.approx(np.mean(list(by_percent.values())))
    assert found.parts["all columns at once"] == pytest.approx(np.mean(joint))


def test_closed_forms_of_intervals() -> None:
    x = np.random.default_rng(0).normal(size=(40, 3))
    same, other = pair_of(x, x), pair_of(x, x + 100.0)
    for measure in (interval_sd, interval_sd_masked, interval_rank, outlier_interval):
        assert measure(same).value == 1.0
        assert measure(other).value == 0.0
    # One column of three is far off: jointly nobody is inside, but the loose count has all.
    shifted = pair_of(x, x + np.array([0.0, 0.0, 9.0]))
    found = interval_sd_masked(shifted)
    assert (found.value, found.parts["at most one column outside"]) == (0.0, 1.0)
    assert interval_sd(shifted).parts == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_what_is_said_of_drisk_is_what_sdcmicro_computes_today() -> None:
    """Since sdcMicro 5.6.0 no column may be outside: its figure is the value, not the part."""
    x = np.random.default_rng(0).normal(size=(40, 3))
    found = interval_sd_masked(pair_of(x, x + np.array([0.0, 0.0, 9.0])))
    assert found.value == 0.0
    assert "sdcMicro's dRisk is this share since version 5.6.0" in found.note
    reference = RISK["interval_sd_masked"].reference
    assert "sdcMicro's dRisk since version 5.6.0" in reference


def test_standard_deviations_survive_large_offsets() -> None:
    x = np.random.default_rng(1).integers(0, 100, size=(50, 1)).astype(np.float64)
    y = grouped(x, np.arange(50) // 5)
    for measure in (interval_sd, linkage_distance):
        assert measure(pair_of(x + 2.0**45, y + 2.0**45)).value == pytest.approx(
            measure(pair_of(x + 0.0, np.round(y * 128) / 128)).value, abs=0.05
        )


# --- what released values give away ---------------------------------------------------------------


def test_classes_are_counted() -> None:
    pair = dataclasses.replace(PAIRS[0], groups=np.array([0] * 50 + [1, 1, 2, 3, 4, 4, 5, 5, 5, 5]), k=3)
    found = k_anonymity(pair)
    assert found.value == 1
    assert found.parts == {"classes": 6, "records below k": 6, "unique records": 2}
    assert "records below k" not in k_anonymity(dataclasses.replace(pair, k=None)).parts
    assert k_anonymity(PAIRS[-1]).value == 1


def test_true_values_are_counted() -> None:
    x = [[1.0, 2.0], [3.0, NAN], [5.0, 6.0], [NAN, NAN], [0.3, 1.0], [4.0, NAN]]
    y = [[1.0, 2.0], [3.0, NAN], [5.0, 7.0], [NAN, NAN], [0.1 + 0.2, 1.0], [4.0, 1.0]]
    found = true_values(pair_of(x, y))
    assert found.value == 3
    assert found.parts == {"a": 5, "b": 2}


@pytest.mark.parametrize("place", range(len(PAIRS)))
@pytest.mark.parametrize("weighted", [False, True])
def test_dominance_follows_its_definition(place: int, weighted: bool) -> None:
    pair = PAIRS[place]
    weights = np.random.default_rng(place).integers(1, 9, pair.n).astype(np.float64)
    subsets = (tuple(range(pair.p)),) if place % 2 else tuple((c,) for c in range(pair.p))
    pair = dataclasses.replace(pair, subsets=subsets, weights=weights if weighted else None)
    found = dominance(pair, percent=20)
    largest = 0.0
    for subset in subsets:
        groups: dict[tuple[object, ...], list[int]] = {}
        for i in range(pair.n):
            groups.setdefault((pair.strata[i], *map(str, pair.masked[i, subset])), []).append(i)
        for c in subset:
            worst, fails = NAN, 0
            for rows in groups.values():
                terms = [abs(pair.original[i, c]) * (weights[i] if weighted else 1.0) for i in rows]
                terms = sorted((t for t in terms if not np.isnan(t)), reverse=True)
                if not terms:
                    continue
                worst = np.fmax(worst, terms[0] / sum(terms) if sum(terms) else 0.0)
                fails += sum(terms[2:]) < 0.2 * terms[0]
            assert found.parts[f"{pair.columns[c]}: largest share"] == pytest.approx(worst, nan_ok=True)
            assert found.parts[f"{pair.columns[c]}: groups that fail"] == fails
            largest = np.fmax(largest, worst)
    assert found.value == pytest.approx(largest)


def test_closed_forms_of_dominance() -> None:
    x = np.array([[100.0], [5.0], [5.0], [0.0], [0.0], [0.0]])
    pair = pair_of(x, np.repeat([[110 / 3], [0.0]], 3, axis=0))
    assert dominance(pair).value == pytest.approx(100 / 110)
    assert dominance(pair).parts["a: groups that fail"] == 1  # 5 < 10
    assert dominance(pair, percent=5).parts["a: groups that fail"] == 0
    assert "1 of 2 totals" in dominance(pair).note


# --- confidential columns -------------------------------------------------------------------------


def confidential_pair(seed: int) -> Pair:
    pair = PAIRS[seed % 8]
    rng = np.random.default_rng(seed)
    amount = np.round(rng.lognormal(size=pair.n), int(rng.integers(0, 3)))
    illness = rng.integers(0, 4, pair.n)
    amount[rng.random(pair.n) < 0.1] = NAN
    codes = np.unique(amount, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return dataclasses.replace(
        pair,
        confidential={"amount": codes, "illness": illness},
        numbers={"amount": amount, "other": rng.normal(size=pair.n)},
    )


def members(pair: Pair) -> list[NDArray[np.int64]]:
    return [np.flatnonzero(pair.groups == group) for group in sorted(set(pair.groups.tolist()))]


@pytest.mark.parametrize("seed", range(16))
def test_attribute_disclosure_follows_its_definitions(seed: int) -> None:
    pair = confidential_pair(seed)
    groups = members(pair)
    least, single, distances = {}, {}, {}
    for name, codes in pair.confidential.items():
        counts = [len(set(codes[rows].tolist())) for rows in groups]
        least[name], single[name] = min(counts), [count == 1 for count in counts]
        values = sorted(set(codes.tolist()))
        distances[name] = 0.0
        for rows in groups:
            p = np.array([np.mean(codes[rows] == v) for v in values])
            q = np.array([np.mean(codes == v) for v in values])
            if name == "amount":
                distance = np.abs(np.cumsum(p - q)).sum() / (len(values) - 1)
            else:
                distance = np.abs(p - q).sum() / 2
            distances[name] = max(distances[name], distance)
    assert dict(diversity(pair).parts) == least
    assert diversity(pair).value == min(least.values())
    assert dict(closeness(pair).parts) == pytest.approx(distances)
    assert closeness(pair).value == pytest.approx(max(distances.values()))
    found = homogeneous(pair, most_listed=1)
    assert dict(found.parts) == {name: sum(flags) for name, flags in single.items()}
    hit = [group for group, flags in enumerate(zip(*single.values(), strict=True)) if any(flags)]
    assert found.value == len(hit)
    disclosed = attribute_disclosure(pair)
    assert disclosed.value == pytest.approx(sum(len(groups[group]) for group in hit) / pair.n)
    for name, flags in single.items():
        share = sum(len(rows) for rows, flag in zip(groups, flags, strict=True) if flag) / pair.n
        assert disclosed.parts[name] == pytest.approx(share)
    if hit:
        number = sorted(set(pair.groups.tolist()))[hit[0]]
        assert f"Numbers: {number}" in found.note
        assert (f"and {len(hit) - 1} more" in found.note) == (len(hit) > 1)
    amount = pair.numbers["amount"]
    ranges = [np.ptp(v) for rows in groups if len(v := amount[rows][~np.isnan(amount[rows])])]
    found = confidential_range(pair)
    assert found.value == pytest.approx(min(ranges) / (np.nanmax(amount) - np.nanmin(amount)))
    assert list(found.parts) == ["amount"]


def test_closed_forms_of_attribute_disclosure() -> None:
    x = np.arange(8.0)[:, None]
    codes = np.array([0, 1, 2, 3, 0, 1, 2, 3])
    one = pair_of(x, np.full((8, 1), 3.5), confidential={"z": codes}, numbers={"z": codes + 0.0})
    assert (diversity(one).value, closeness(one).value, homogeneous(one).value) == (4, 0.0, 0)
    assert confidential_range(one).value == 1.0
    # Half of the file has the lowest of two values, the other half the highest.
    halves = np.repeat([0, 1], 4)
    two = pair_of(
        x, np.repeat([[1.5], [5.5]], 4, axis=0), confidential={"z": halves}, numbers={"z": halves + 0.0}
    )
    assert (diversity(two).value, closeness(two).value, homogeneous(two).value) == (1, 0.5, 2)
    assert confidential_range(two).value == 0.0
    constant = dataclasses.replace(one, confidential={"z": codes * 0}, numbers={"z": codes * 0.0})
    assert (closeness(constant).value, confidential_range(constant).value) == (0.0, 0.0)
    for measure in (attribute_disclosure, diversity, closeness, homogeneous, confidential_range):
        found = measure(PAIRS[0])
        assert np.isnan(found.value)
        assert "No confidential" in found.note


@pytest.mark.parametrize("seed", range(8))
def test_key_confidential_follows_its_definition(seed: int) -> None:
    pair = confidential_pair(seed)
    found = key_confidential(pair)
    keys = [np.ones(pair.n)]
    for column in pair.original.T:
        missing = np.isnan(column)
        keys.append(np.where(missing, column[~missing].mean(), column))
        keys.append(missing.astype(np.float64))
    best = 0.0
    for name, z in pair.numbers.items():
        rows = np.flatnonzero(~np.isnan(z))
        design = np.column_stack(keys)[rows]
        fold = np.random.default_rng(0).permutation(len(rows)) % 10
        fitted = np.empty(len(rows))
        for each in range(fold.max() + 1):
            others = fold != each
            best_fit = np.linalg.lstsq(design[others], z[rows][others], rcond=None)[0]
            fitted[~others] = design[~others] @ best_fit
        explained = max(0, 1 - ((z[rows] - fitted) ** 2).sum() / ((z[rows] - z[rows].mean()) ** 2).sum())
        share = 0.0
        for i, guess in zip(rows, fitted, strict=True):
            others = [j for j in rows if pair.groups[j] == pair.groups[i]]
            gaps = {j: abs(z[j] - guess) for j in others}
            near = [j for j in others if gaps[j] <= min(gaps.values()) * (1 + 1e-9)]
            share += (i in near) / len(near) / len(rows)
        assert found.parts[f"{name}: R²"] == pytest.approx(explained, abs=1e-7)
        assert found.parts[f"{name}: linked"] == pytest.approx(share, abs=1e-9)
        assert found.parts[f"{name}: by chance"] == pytest.approx(len(set(pair.groups[rows])) / len(rows))
        best = max(best, share)
    assert found.value == pytest.approx(best)


def test_closed_forms_of_key_confidential() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    follows = {"z": 3.0 * x[:, 0] - x[:, 1] + 5.0, "constant": np.full(30, 2.0), "empty": np.full(30, NAN)}
    pair = pair_of(x, grouped(x, np.arange(30) // 3), numbers=follows)
    found = key_confidential(pair)
    assert found.parts["z: R²"] == pytest.approx(1.0)
    assert found.value == found.parts["z: linked"] == pytest.approx(1.0)
    assert found.parts["constant: R²"] == 0.0
    assert found.parts["constant: linked"] == pytest.approx(1 / 3) == found.parts["z: by chance"]
    assert "empty: R²" not in found.parts
    assert np.isnan(key_confidential(PAIRS[0]).value)


# --- the catalogue --------------------------------------------------------------------------------

NAMES = [
    "k_anonymity", "interval_sd", "interval_sd_masked", "interval_rank", "linkage_distance",
    "linkage_subsets", "linkage_noisy", "linkage_groups", "linkage_probabilistic", "diversity", "closeness",
    "attribute_disclosure",
    "confidential_range", "homogeneous", "key_confidential", "true_values", "dominance", "outlier_linkage",
    "outlier_interval",
]  # fmt: skip


def test_the_catalogue_has_all_and_describes_them() -> None:
    assert sorted(RISK) == sorted(NAMES)
    for name, measure in RISK.items():
        assert measure.kind == "risk"
        assert measure.compute.__name__ == name
        assert measure.definition.endswith(".")
        assert ". " not in measure.definition  # one sentence
        for field in dataclasses.fields(measure):
            assert getattr(measure, field.name) or field.name in ("first", "sentence", "numbers_only")
        settings = list(inspect.signature(measure.compute).parameters.values())[1:]
        assert all(s.kind is s.KEYWORD_ONLY and s.default is not s.empty for s in settings)


def has_nothing_to_measure(name: str, pair: Pair) -> bool:
    if name in {"diversity", "closeness", "homogeneous", "attribute_disclosure"}:
        return not pair.confidential
    if name in {"confidential_range", "key_confidential"}:
        return not any(np.isfinite(values).any() for values in pair.numbers.values())
    if name in {"interval_sd", "interval_sd_masked", "interval_rank", "outlier_interval"}:
        return not np.isfinite(pair.original).any()
    return False


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_takes_any_pair_and_leaves_it_alone(name: str) -> None:
    awkward = [
        *PAIRS,
        confidential_pair(5),
        pair_of([[NAN, 1.0], [NAN, 2.0], [NAN, NAN]], [[NAN, 1.5], [NAN, 1.5], [NAN, NAN]]),
        pair_of([[NAN], [NAN]], [[NAN], [NAN]]),
        pair_of([[1.0]], [[2.0]], confidential={"z": np.array([0])}, numbers={"z": np.array([NAN])}),
        pair_of(np.full((5, 2), 3.0), np.full((5, 2), 3.0), weights=np.zeros(5)),
    ]
    for pair in awkward:
        before = pair.original.copy(), pair.masked.copy()
        found = RISK[name].compute(pair)
        if has_nothing_to_measure(name, pair):
            assert np.isnan(found.value)
            assert found.note
        else:
            assert np.isfinite(found.value)
        assert RISK[name].compute(pair) == found or np.isnan([found.value, *found.parts.values()]).any()
        np.testing.assert_array_equal(before, (pair.original, pair.masked))
        if RISK[name].unit == "share" and np.isfinite(found.value):
            assert -1e-12 <= found.value <= 1.0 + 1e-12


# --- the core's part ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_nearest_targets_and_rivals_are_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, queries, p = int(rng.integers(1, 400)), int(rng.integers(1, 200)), int(rng.integers(1, 20))
    points = rng.normal(size=(count + queries, p)) * np.logspace(0, 2, p)
    if seed % 2:
        points = rng.integers(0, 3, size=points.shape).astype(np.float64)
    if seed == 4:
        points[0] = 1e8
    gaps = ((points[count:, None, :] - points[None, :count, :]) ** 2).sum(axis=2)
    length = 7
    found = _core.nearest_targets(points, count, length, 2, _core.Watch())
    for row in range(queries):
        ends = min(length, count)
        assert (found[row, ends:] == -1).all()
        assert gaps[row][found[row, :ends]] == pytest.approx(np.sort(gaps[row])[:ends], rel=1e-9)
        assert len(set(found[row, :ends].tolist())) == ends
    weights = rng.integers(1, 5, size=count)
    any_one = rng.integers(0, count, queries)
    own = np.where(rng.random(queries) < 0.7, gaps.argmin(axis=1), any_one).astype(np.int32)
    tied = _core.rivals(points, weights, own, 1e-9, 1e-18, 2, _core.Watch())
    for row in range(queries):
        mine = gaps[row, own[row]]
        nearer = (gaps[row] < mine * (1 - 1e-9) - 1e-18).any()
        assert tied[row] == (0 if nearer else weights[gaps[row] <= mine * (1 + 1e-9) + 1e-18].sum())


@pytest.mark.parametrize("measure", [outlier_linkage, outlier_interval])
@pytest.mark.parametrize(
    ("share", "said"), [(0.01, "Of the 1 record farthest"), (0.5, "Of the 2 records farthest")]
)
def test_the_most_extreme_records_are_counted(measure: Any, share: float, said: str) -> None:
    values = [[1.0], [2.0], [3.0], [9.0]]
    assert measure(pair_of(values, values), share=share).note.startswith(said)
