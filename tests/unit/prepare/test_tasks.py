"""Strata, patterns of missing values and of zeros: what becomes a problem of its own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import DataError, SettingsError
from microagg.model import Table
from microagg.prepare.patterns import by_missing, by_zeros
from microagg.prepare.strata import UNPLACED, strata_of
from microagg.prepare.tasks import Tasks, tasks_of

NAN = float("nan")


def strata(values: list[str | None], k: int = 3, policy: str = "refuse"):
    return strata_of(pa.table({"s": pa.array(values, pa.string())}), ["s"], k, policy)


def test_records_of_one_code_are_a_stratum_and_missing_is_a_code() -> None:
    found = strata(["b", "a", None, "b", "a", None], k=2)
    assert found.of.tolist() == [1, 0, 2, 1, 0, 2]
    assert (found.count, found.suppressed) == (3, 0)


def test_combinations_of_several_columns_are_strata() -> None:
    table = pa.table({"s": ["a", "a", "b", "b"], "t": [1, 2, 1, 1]})
    assert strata_of(table, ["s", "t"], 1, "refuse").of.tolist() == [0, 1, 2, 2]


def test_small_strata_are_refused_without_their_codes() -> None:
    with pytest.raises(
        SettingsError, match=r"2 of 3 strata \(s\) have fewer than k = 3 records; the smallest has 1"
    ) as refusal:
        strata(["secret", "a", "a", "a", "b", "b"])
    assert "secret" not in str(refusal.value)


def test_records_of_small_strata_have_none_until_they_join_a_group() -> None:
    found = strata(["D", "A", "A", "A", "C", "C", "E", "E", "E", "E"], policy="nearest")
    assert found.of.tolist() == [UNPLACED, 0, 0, 0, UNPLACED, UNPLACED, 1, 1, 1, 1]
    assert (found.count, found.suppressed) == (2, 0)
    assert found.codes is not None
    assert found.examples is not None
    assert found.examples.tolist() == [1, 6]
    assert found.codes[:, 0].tolist() == [2, 0, 0, 0, 1, 1, 3, 3, 3, 3]
    with pytest.raises(SettingsError, match="no group that they could join"):
        strata(["A", "B", "C"], policy="nearest")


def test_small_strata_are_suppressed() -> None:
    found = strata([*"AAA", "B", *"CCC"], policy="suppress")
    assert found.rows.tolist() == [0, 1, 2, 4, 5, 6]
    assert found.of.tolist() == [0, 0, 0, 1, 1, 1]
    assert (found.count, found.suppressed) == (2, 1)
    with pytest.raises(SettingsError, match="would leave nothing"):
        strata(["A", "B", "C"], policy="suppress")


@pytest.mark.parametrize("policy", ["refuse", "nearest", "suppress"])
def test_fewer_records_than_k(policy: str) -> None:
    with pytest.raises(SettingsError):
        strata(["A", "A"], policy=policy)
    with pytest.raises(SettingsError, match="only 2 records"):
        strata_of(pa.table({"x": [1, 2]}), [], 3, policy)


def patterns(rows: list[list[float]], k: int = 3) -> dict[tuple[int, ...], list[int]]:
    points = np.array(rows)
    return {each.columns: each.rows.tolist() for each in by_missing(points, np.arange(len(points)), k)}


def test_patterns_that_k_share_stay() -> None:
    assert patterns([[1, 1]] * 3 + [[NAN, 2]] * 3) == {(0, 1): [0, 1, 2], (1,): [3, 4, 5]}


def test_a_rare_pattern_loses_cells_to_join_a_common_one() -> None:
    rows = [[1, 1, 1]] + [[NAN, 2, 2]] * 3
    assert patterns(rows) == {(1, 2): [0, 1, 2, 3]}


def test_the_nearest_records_lose_cells_where_that_costs_least() -> None:
    rows = [[float(at), 1.0, 1.0] for at in range(8)] + [[6.9, 1.0, NAN]]
    assert patterns(rows) == {(0, 1, 2): [0, 1, 2, 3, 4, 5], (0, 1): [6, 7, 8]}


def test_two_rare_patterns_meet_in_what_they_share() -> None:
    assert patterns([[1, NAN, 1]] * 2 + [[NAN, 2, 2]] * 2) == {(2,): [0, 1, 2, 3]}


def test_records_without_any_key_are_a_class_or_refused() -> None:
    assert patterns([[1, 1]] * 3 + [[NAN, NAN]] * 3) == {(0, 1): [0, 1, 2], (): [3, 4, 5]}
    with pytest.raises(DataError, match="would be missing in 2 records, fewer than k"):
        patterns([[1, 1]] * 5 + [[NAN, NAN]] * 2)


def test_a_single_key_that_few_lack_is_given_up_by_those_nearest_to_its_mean() -> None:
    values = [[1.0], [2.0], [5.1], [8.0], [9.0], [NAN], [5.0]]
    assert patterns(values) == {(0,): [0, 1, 3, 4], (): [2, 5, 6]}
    with pytest.raises(DataError, match="would be missing in 1 record, fewer than k"):
        patterns([[1.0], [2.0], [3.0], [NAN]])


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 5), st.integers(8, 60))
def test_every_pattern_is_shared_and_rests_on_observed_values(seed: int, k: int, p: int, n: int) -> None:
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, p))
    points[random.random((n, p)) < random.random() * 0.7] = np.nan
    try:
        found = by_missing(points, np.arange(n), k)
    except DataError:
        return
    assert sorted(np.concatenate([each.rows for each in found]).tolist()) == list(range(n))
    for each in found:
        assert len(each.rows) >= k
        assert not np.isnan(points[each.rows][:, each.columns]).any()


def test_zeros_apart() -> None:
    values = np.array([[0.0, 1], [0, 2], [0, 3], [4, 5], [4, 6], [4, 7], [1, 0]])
    parts, mixed = by_zeros(values, np.arange(7), 3)
    assert sorted(part.tolist() for part in parts) == [[0, 1, 2], [3, 4, 5, 6]]
    assert mixed == 1
    assert by_zeros(values[[0, 3, 6]], np.arange(3), 3)[1] == 3


def tasks(values: list[list[float]], stratum: list[int], **settings: bool) -> Tasks:
    table = Table(tuple("abcdef"[: len(values[0])]), np.array(values))
    options = {"by_pattern": False, "zeros_apart": False} | settings
    return tasks_of([table], np.array(stratum), 2, "zscore", **options)


def test_one_scale_for_all_strata() -> None:
    values = [[1.0, 5.0], [2.0, 6.0], [30.0, 7.0], [40.0, 9.0]]
    found = tasks(values, [0, 0, 1, 1])
    together = tasks(values, [0, 0, 0, 0])
    assert [task.rows.tolist() for task in found.tasks] == [[0, 1], [2, 3]]
    whole = np.concatenate([task.problem.points for task in found.tasks])
    assert whole.tolist() == together.tasks[0].problem.points.tolist()
    assert found.sst == pytest.approx(8.0)
    assert found.sst == together.sst


def test_missing_keys_are_refused_or_go_by_pattern() -> None:
    values = [[1.0, 5.0], [2.0, 6.0], [3.0, 8.0], [3.0, 9.0], [30.0, NAN]]
    with pytest.raises(DataError, match="Column 'b' has 1 missing value in 5 records"):
        tasks(values, [0] * 5)
    found = tasks(values, [0] * 5, by_pattern=True)
    assert {task.columns: task.rows.tolist() for task in found.tasks} == {
        ("a", "b"): [0, 1, 3],
        ("a",): [2, 4],
    }
    assert found.lost == {"b": 1}
