"""Risk measures against plain computations of their definitions, record by record."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg import _core
from microagg.errors import SettingsError
from microagg.measure.linkage import (
    SEED,
    linkage_distance,
    linkage_groups,
    linkage_noisy,
    linkage_subsets,
    outlier_linkage,
)
from microagg.measure.pair import Pair

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


def random_pair(
    seed: int, n: int = 60, p: int = 3, k: int = 3, *, gaps: bool = False, **more: object
) -> Pair:
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


# --- oracles: linkage -----------------------------------------------------------------------------


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
