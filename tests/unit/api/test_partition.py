"""`partition()` and its Result, for data of any kind, and what it refuses."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import Cancelled, DataError, Progress, SettingsError, lower_bound, partition
from microagg.methods.catalogue import METHODS
from microagg.methods.fixed_size import Mdav
from microagg.methods.objective import sse, sst
from microagg.methods.recipe import stage_of
from microagg.model import ScaleName

X = np.random.default_rng(2).normal(size=(40, 3)) * [1, 50, 0.01] + [0, 1000, 3]
Z = (X - X.mean(axis=0)) / X.std(axis=0)
SMALL = X[:10]


# --- the result -------------------------------------------------------------------------------


def test_fields() -> None:
    result = partition(X, 3)
    assert result.labels.shape == (40,)
    assert result.labels.dtype == np.int32
    first = np.unique(result.labels, return_index=True)[1]
    assert (np.diff(first) > 0).all(), "groups are numbered by first appearance"
    np.testing.assert_array_equal(result.sizes, np.bincount(result.labels))
    assert result.sizes.min() >= 3
    assert result.sizes.sum() == 40
    assert result.k == 3
    assert result.sst == pytest.approx(X.size)
    assert result.sse == pytest.approx(sse(np.ascontiguousarray(Z), result.labels))
    assert result.information_loss == pytest.approx(100 * result.sse / result.sst)
    assert 0 < result.information_loss < 100
    assert result.recipe == "mdav+anneal:steps=400000+exact:nodes=200:work=60000000"
    assert result.reason.startswith("40 records")
    assert result.truncated is False
    assert result.seconds >= 0
    assert result.proved
    assert result.gap == pytest.approx(0.0, abs=1e-6)
    assert result.bound == pytest.approx(result.sse)
    assert result.bound_loss == pytest.approx(result.information_loss)
    plain = partition(X, 3, "mdav")
    assert (plain.bound, plain.bound_loss, plain.gap, plain.proved) == (None, None, None, False)


@pytest.mark.parametrize(("data", "method"), [(SMALL, "exhaustive"), (X[:, 0], "univariate")])
def test_a_proven_result(data: np.ndarray, method: str) -> None:
    result = partition(data, 3, method)
    assert result.bound is not None
    assert result.bound == pytest.approx(result.sse)
    assert result.bound <= result.sse
    assert result.bound_loss == pytest.approx(result.information_loss)
    assert result.gap == pytest.approx(0, abs=1e-6)
    assert "proven optimal" in str(result)


def test_no_method_beats_a_proven_bound() -> None:
    bound = partition(SMALL, 3, "exhaustive").bound
    assert bound is not None
    for name in METHODS:
        if name != "univariate":
            assert partition(SMALL, 3, name).sse >= bound


def test_str_is_three_lines_with_the_numbers_and_the_reason() -> None:
    result = partition(X, 3)
    first, second, third = str(result).splitlines()
    assert first.startswith(f"40 records in {len(result.sizes)} groups of ")
    assert "k = 3" in first
    assert f"{result.information_loss:.4f} %" in second
    assert "mdav+anneal:steps=400000" in second
    assert third == f"chosen because: {result.reason}"
    assert repr(result) == str(result)
    assert len(str(partition(X, 3, "mdav-mhm")).splitlines()) == 2


def test_str_of_a_single_group_is_in_the_singular() -> None:
    assert "1 groups" not in str(partition(X[:5], 3))


def test_a_stage_as_method() -> None:
    result = partition(X, 3, Mdav("2k"))
    assert result.recipe == "Mdav(stop='2k', leftovers='each', first='farthest')"
    np.testing.assert_array_equal(result.labels, partition(X, 3, "mdav:stop=2k").labels)


def test_results_are_frozen() -> None:
    with pytest.raises(AttributeError):
        partition(X, 3).k = 2  # type: ignore[misc]


def test_aggregate_in_the_units_of_the_data() -> None:
    result = partition(X, 3)
    masked = result.aggregate(X)
    for group in range(len(result.sizes)):
        rows = result.labels == group
        np.testing.assert_allclose(masked[rows], np.tile(X[rows].mean(axis=0), (rows.sum(), 1)))
    assert result.aggregate(X[:, 0]).shape == (40, 1), "other attributes of the same records"


@pytest.mark.parametrize("other", [X[:39], X[:1], np.vstack([X, X])])
def test_aggregate_of_other_records(other: np.ndarray) -> None:
    with pytest.raises(DataError, match=rf"{len(other)} record.*partition 40"):
        partition(X, 3).aggregate(other)


# --- special but valid ------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(5, 3), (3, 3), (2, 2), (40, 40)])
def test_fewer_than_2k_records_are_one_group(n: int, k: int) -> None:
    result = partition(X[:n], k)
    assert result.sizes.tolist() == [n]
    assert result.information_loss == pytest.approx(100)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "exhaustive"])
def test_constant_data_lose_nothing(name: str) -> None:
    data = np.full((14, 1 if name == "univariate" else 3), 987654321.125)
    for scale in get_args(ScaleName):
        result = partition(data, 3, name, scale=scale)
        assert result.sizes.min() >= 3, scale
        assert (result.sse, result.information_loss, result.gap) == (0, 0, 0), scale


def test_spread_too_small_to_square_is_no_proof() -> None:
    """Squares of 1e-200 are 0: a loss of 0 or an optimum must not be claimed for them."""
    try:
        result = partition(X * 1e-200, 3, scale="none")
    except DataError:
        return
    assert result.bound is None
    assert result.information_loss > 0


@pytest.mark.parametrize("method", ["mdav", "mdav-mhm", "univariate", "exhaustive"])
def test_enormous_outliers_end_in_a_result_or_a_message(method: str) -> None:
    """In a process of its own, which can be ended: a kernel that loops on infinities would never return."""
    code = (
        "import math, microagg\n"
        "data = [1e308, -1e308, 0, 1, 2, 3, 4, 5]\n"
        "try:\n"
        f"    result = microagg.partition(data, 3, {method!r}, scale='robust')\n"
        "    assert 0 < result.information_loss <= 100 and math.isfinite(result.sst)\n"
        "except microagg.DataError:\n"
        "    pass\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_seconds_cut_refinements_short() -> None:
    result = partition(X, 3, seconds=1e-9)
    assert result.truncated
    assert result.sizes.min() >= 3
    assert "cut short" in str(result)


@pytest.mark.parametrize("changes", [{"seed": 5}, {"seed": 2**64 - 1}, {"threads": 1}, {"threads": 2}])
def test_what_must_not_change_a_deterministic_result(changes: dict[str, Any]) -> None:
    method = "mdav-mhm" if "seed" in changes else "auto"
    np.testing.assert_array_equal(partition(X, 3, method, **changes).labels, partition(X, 3, method).labels)


def test_efforts_act_and_never_lose_against_mdav() -> None:
    mdav = partition(X, 3, "mdav")
    recipes = set()
    for effort in ("fast", "balanced"):
        result = partition(X, 3, effort=effort)
        recipes.add(result.recipe)
        assert result.sse <= mdav.sse
    assert recipes == {
        "mdav+anneal:steps=40000",
        "mdav+anneal:steps=400000+exact:nodes=200:work=60000000",
    }


def test_scale_changes_the_unit() -> None:
    assert partition(X, 3, scale="none").sst == pytest.approx(sst(X))
    assert partition(X, 3, scale="zscore").sst == pytest.approx(X.size)


# --- data of any kind -------------------------------------------------------------------------

NAMES = ["a", "b", "c"]
KINDS: dict[str, Callable[[], object]] = {
    "lists": X.tolist,
    "tuples": lambda: tuple(map(tuple, X)),
    "array": X.copy,
    "read-only array": lambda: np.broadcast_to(X, X.shape),
    "Fortran order": lambda: np.asfortranarray(X),
    "reversed twice": lambda: X[::-1].copy()[::-1],
    "objects": lambda: X.astype(object),
    "masked array": lambda: np.ma.array(X),
    "pandas": lambda: pd.DataFrame(X, columns=NAMES),
    "pandas without names": lambda: pd.DataFrame(X),
    "pandas Float64": lambda: pd.DataFrame(X, columns=NAMES).astype("Float64"),
    "pandas on Arrow": lambda: pd.DataFrame(X, columns=NAMES).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(X, schema=NAMES),
    "polars lazy": lambda: pl.LazyFrame(X, schema=NAMES),
    "Arrow": lambda: pa.table(dict(zip(NAMES, X.T.copy(), strict=True))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_same_result_for_any_kind_of_data(kind: str) -> None:
    expected = partition(X, 3)
    data = KINDS[kind]()
    result = partition(data, 3)
    np.testing.assert_array_equal(result.labels, expected.labels)
    assert result.sse == expected.sse
    np.testing.assert_array_equal(result.aggregate(data), expected.aggregate(X))


@pytest.mark.parametrize("dtype", ["i1", "i8", "u2", "f2", "f4", "g"])
def test_other_number_types(dtype: str) -> None:
    data = np.abs(X * [10, 0.1, 10]).astype(dtype)
    np.testing.assert_array_equal(partition(data, 3).labels, partition(data.astype(float), 3).labels)


@pytest.mark.parametrize("scale", ["zscore", "none"])
def test_inputs_are_not_changed(scale: Any) -> None:
    array, rows, frame = X.copy(), X.tolist(), pd.DataFrame(X, columns=NAMES)
    before = copy.deepcopy(rows)
    for data in (array, rows, frame):
        partition(data, 3, scale=scale).aggregate(data)
    np.testing.assert_array_equal(array, X)
    assert rows == before
    np.testing.assert_array_equal(frame.to_numpy(), X)


@pytest.mark.parametrize("scale", ["zscore", "none"])
def test_results_do_not_share_memory_with_the_data(scale: Any) -> None:
    data = X.copy()
    masked = partition(data, 3, scale=scale).aggregate(data)
    assert not np.shares_memory(masked, data)


# --- refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "kind", "says"),
    [
        ({"k": 1}, SettingsError, ("k is 1", "at least 2")),
        ({"k": 41}, SettingsError, ("k is 41", "40 records")),
        ({"k": "3"}, SettingsError, ("k is of type str", "whole number")),
        ({"method": "mdva"}, SettingsError, ("'mdva'", "mdav")),
        ({"method": "univariate"}, SettingsError, ("one column", "3")),
        ({"method": "exhaustive"}, SettingsError, ("16 records", "40", "auto")),
        ({"method": "mdav-mhm:path_k=41"}, SettingsError, ("path_k", "41", "40 records")),
        ({"scale": "zz"}, SettingsError, ("'zz'", "zscore")),
        ({"effort": "best", "method": "mdav"}, SettingsError, ("effort", "no effect", "mdav")),
        ({"seconds": 1, "method": "mdav"}, SettingsError, ("seconds", "no effect", "mdav")),
        ({"seconds": 0}, SettingsError, ("seconds", "above 0")),
        ({"seed": -1}, SettingsError, ("seed", "at least 0")),
        ({"threads": 0}, SettingsError, ("threads", "at least 1")),
        ({"progress": 5}, SettingsError, ("progress", "int")),
        ({"data": Z * 1e300, "scale": "none"}, DataError, ("1", "zscore")),
        ({"data": [[1, 2], [3]]}, DataError, ("different lengths",)),
        ({"data": []}, DataError, ("no records",)),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else None,
)
def test_refusals(changes: dict[str, Any], kind: type[Exception], says: tuple[str, ...]) -> None:
    with pytest.raises(kind) as caught:
        partition(**{"data": X, "k": 3, **changes})
    assert isinstance(caught.value, ValueError)
    for part in says:
        assert part in str(caught.value)


def test_settings_are_checked_before_data() -> None:
    with pytest.raises(SettingsError):
        partition("no data at all", 1)


# --- progress and cancellation ----------------------------------------------------------------


def test_an_exception_in_progress_comes_out() -> None:
    def stop(report: Progress) -> None:
        raise Cancelled(report.stage)

    data = np.random.default_rng(0).normal(size=(400_000, 4))
    with pytest.raises(Cancelled, match=r"PathCut|Mdav|NearestNext"):
        partition(data, 3, "npn-mhm", progress=stop)


def test_public_names() -> None:
    assert set(microagg.__all__) <= set(dir(microagg))
    assert issubclass(microagg.SettingsError, ValueError)
    assert issubclass(microagg.DataError, ValueError)
    assert issubclass(microagg.OutputError, OSError)
    assert stage_of("mdav") == Mdav()


class TestPartitionEach:
    X = np.random.default_rng(11).normal(size=(60, 3)) * [1.0, 100.0, 0.01]

    def test_every_attribute_by_itself(self) -> None:
        each = microagg.partition_each(self.X, 4)
        assert each.columns == ("1", "2", "3")
        for at, result in enumerate(each.results):
            alone = microagg.partition(self.X[:, at], 4, "univariate")
            assert np.array_equal(result.labels, alone.labels)
        assert each.information_loss == pytest.approx(100 * each.sse / each.sst)
        assert each.information_loss < microagg.partition(self.X, 4, "mdav").information_loss

    def test_optimal_is_never_above_fixed_size(self) -> None:
        optimal = microagg.partition_each(self.X, 4)
        fixed = microagg.partition_each(self.X, 4, "ufs-pv")
        assert optimal.sse <= fixed.sse

    def test_aggregate_keeps_the_means_and_k_equal_values(self) -> None:
        masked = microagg.partition_each(self.X, 4).aggregate(self.X)
        assert masked.mean(axis=0) == pytest.approx(self.X.mean(axis=0))
        for column in masked.T:
            assert np.unique(column, return_counts=True)[1].min() >= 4

    def test_says_that_it_protects_little(self) -> None:
        assert "not k-anonymous" in str(microagg.partition_each(self.X, 4))

    def test_other_columns_are_refused(self) -> None:
        with pytest.raises(DataError, match="2 columns, the partitions 3"):
            microagg.partition_each(self.X, 4).aggregate(self.X[:, :2])


# --- bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [None, 0, "60"])
def test_a_bound_needs_seconds(seconds: Any) -> None:
    with pytest.raises(SettingsError, match="seconds"):
        lower_bound(X, 3, seconds=seconds)


def test_a_method_without_refinement_can_be_certified_within_seconds() -> None:
    plain = partition(X, 3, "mdav")
    certified = partition(X, 3, "mdav", certify=True, seconds=600)
    assert plain.bound is None
    assert certified.bound is not None
    assert 0.0 < certified.bound <= certified.sse
    assert (plain.labels == certified.labels).all()


def test_a_bound_that_was_stopped_before_the_proof_has_no_certificate() -> None:
    many = np.random.default_rng(3).normal(size=(3000, 3))
    stopped = lower_bound(many, 3, progress=lambda progress: progress.information_loss is not None)
    assert stopped.incumbent.sizes.min() >= 3
    with pytest.raises(SettingsError, match="stopped before"):
        stopped.certificate()
