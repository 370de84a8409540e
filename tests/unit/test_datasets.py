"""The data sets: printed values, recipes of the papers, reference files and their errors."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from microagg import datasets
from microagg.errors import DataError, SettingsError
from microagg.model import Table

GENERATORS = [
    datasets.sim_u,
    datasets.sim_c,
    datasets.sim_1,
    datasets.sim_2,
    datasets.sim_3,
    datasets.synthetic,
    datasets.census_like,
]

SEEDS = range(25)  # as many sets as the papers average over

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("MICROAGG_DATA") or "no folder is named")

needs_data = pytest.mark.skipif(
    not all((DATA / f"{name}.csv").is_file() for name in ("tarragona", "census", "eia")),
    reason=f"the CASC reference files are not in {DATA}; set MICROAGG_DATA to their folder",
)


def constant() -> np.ndarray:
    """CENSUS_CORRELATION as a full matrix, built apart from the module's own helper."""
    lower = np.array([[*row, *[0.0] * (13 - len(row))] for row in datasets.CENSUS_CORRELATION])
    return lower + np.tril(lower, -1).T


# --- Table ----------------------------------------------------------------------------------


def test_numpy_takes_a_data_set_as_its_values() -> None:
    data = datasets.sme()
    assert np.asarray(data) is data.values
    assert np.asarray(data, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.mean(data, axis=0), data.values.mean(axis=0))
    copied = np.array(data)
    copied[0, 0] = -1.0
    assert data.values[0, 0] == 790


def test_data_set_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        datasets.sme().columns = ("other",)  # type: ignore[misc]


def test_calls_do_not_share_an_array() -> None:
    datasets.sme().values[:] = 0.0
    assert datasets.sme().values[0, 0] == 790


def test_select_keeps_the_order_asked_for() -> None:
    data = datasets.sme()
    chosen = data.select("employees", "surface")
    assert chosen.columns == ("employees", "surface")
    np.testing.assert_array_equal(chosen.values, data.values[:, [1, 0]])
    assert chosen.values.flags.c_contiguous


def test_select_copies() -> None:
    data = datasets.sme()
    data.select(*data.columns).values[:] = 0.0
    assert data.values[0, 0] == 790


def test_select_refuses_unknown_columns() -> None:
    with pytest.raises(DataError, match=r"'surfaces'.*did you mean surface"):
        datasets.sme().select("surfaces", "employees")


def test_select_refuses_a_column_twice() -> None:
    with pytest.raises(SettingsError, match="'surface' is named twice"):
        datasets.sme().select("surface", "employees", "surface")


def test_select_refuses_no_columns() -> None:
    with pytest.raises(DataError, match="no columns"):
        datasets.sme().select()


# --- SME --------------------------------------------------------------------------------------


def test_sme_is_table_1_of_vldbj06() -> None:
    data = datasets.sme()
    assert data.columns == ("surface", "employees", "turnover", "net_profit")
    assert data.values.shape == (11, 4)
    assert data.values.dtype == np.float64
    by_company = dict(zip(datasets.SME_COMPANIES, data.values.tolist(), strict=True))
    assert by_company["A&A Ltd"] == [790, 55, 3_212_334, 313_250]
    assert by_company["E&E SL"] == [950, 3, 194_232, 51_233]
    assert by_company["J&J Co"] == [760, 52, 5_333_442, 1_001_233]
    assert by_company["K&K Sarl"] == [50, 12, 645_223, 333_010]


def test_sme_gives_the_printed_sums_of_squares() -> None:
    keys = datasets.sme().select("surface", "employees").values
    scaled = (keys - keys.mean(axis=0)) / keys.std(axis=0)
    assert np.sum(scaled**2) == pytest.approx(22.0, abs=1e-12)
    # The optimal 3-partition that the paper prints, by record number.
    groups = [[1, 2, 3, 10], [4, 5, 9], [6, 7, 8, 11]]
    parts = [scaled[np.array(group) - 1] for group in groups]
    sse = sum(float(np.sum((part - part.mean(axis=0)) ** 2)) for part in parts)
    assert sse == pytest.approx(7.48479, abs=1e-5)
    means = [keys[np.array(group) - 1].mean(axis=0) for group in groups]
    np.testing.assert_array_equal(
        [[round(surface, 2), round(employees)] for surface, employees in means],
        [[747.5, 46], [756.67, 8], [322.5, 33]],
    )


# --- generators -------------------------------------------------------------------------------


@pytest.mark.parametrize("generate", GENERATORS)
def test_a_seed_decides_the_values(generate: Callable[..., Table]) -> None:
    first, again, other = generate(seed=3), generate(seed=3), generate(seed=4)
    assert first.values.dtype == np.float64
    assert first.values.flags.c_contiguous
    assert np.isfinite(first.values).all()
    assert len(first.columns) == len(set(first.columns)) == first.values.shape[1]
    np.testing.assert_array_equal(first.values, again.values)
    assert not np.array_equal(first.values, other.values)
    np.testing.assert_array_equal(generate().values, generate(seed=0).values)


@pytest.mark.parametrize(
    ("generate", "shape", "bound"),
    [(datasets.sim_u, (1000, 10), 10_000), (datasets.sim_1, (100, 10), 1000)],
)
def test_uniform_sets_fill_their_range(
    generate: Callable[..., Table], shape: tuple[int, int], bound: float
) -> None:
    values = generate().values
    assert values.shape == shape
    assert np.abs(values).max() <= bound
    assert values.min() < -0.97 * bound
    assert values.max() > 0.97 * bound
    # 1/sqrt(3) of the bound is the deviation of a uniform; the tolerance is several standard errors
    assert values.std() == pytest.approx(bound / np.sqrt(3), rel=0.06)


@pytest.mark.parametrize("seed", SEEDS)
def test_sim_c_follows_its_recipe(seed: int) -> None:
    values = datasets.sim_c(seed).values
    assert values.shape[1] == 10
    assert np.abs(values).max() <= 10_050
    start = 0
    for _ in range(100):
        assert np.abs(values[start]).max() <= 10_000
        # By chance alone, two points in ten dimensions are never this near to each other.
        near = np.abs(values[start:] - values[start]).max(axis=1) <= 50
        size = len(near) if near.all() else int(np.argmin(near))
        assert 4 <= size <= 21
        assert near.sum() == size
        start += size
    strays = values[start:]
    assert len(strays) == start // 3
    assert np.abs(strays).max() <= 10_000


def test_sim_c_draws_every_cardinality() -> None:
    sizes = set()
    for seed in SEEDS:
        values = datasets.sim_c(seed).values
        steps = np.abs(np.diff(values, axis=0)).max(axis=1) > 100
        starts = np.flatnonzero(np.concatenate([[True], steps]))[:101]
        sizes |= set(np.diff(starts).tolist())
    assert sizes == set(range(4, 22))


@pytest.mark.parametrize(
    ("generate", "side"), [(datasets.sim_2, 1.0), (datasets.sim_3, 2.0)], ids=["sim_2", "sim_3"]
)
def test_normal_clusters_follow_their_recipe(generate: Callable[..., Table], side: float) -> None:
    dimensions, deviations, centres = set(), [], []
    for seed in SEEDS:
        values = generate(seed).values
        assert values.shape[0] == 100
        dimensions.add(values.shape[1])
        for cluster in values.reshape(5, 20, -1):
            deviations.append((cluster - cluster.mean(axis=0)).std() * np.sqrt(20 / 19))
            centres += cluster.mean(axis=0).tolist()
    assert dimensions == {4, 5, 6, 7, 8}
    # Estimates from 20 records in at least 4 dimensions err by some 10%; the mean of 125 hardly.
    assert min(deviations) > 0.07
    assert max(deviations) < 0.39
    assert np.mean(deviations) == pytest.approx(0.2, abs=0.02)
    assert min(centres) > -0.3
    assert max(centres) < side + 0.3
    assert np.mean(centres) == pytest.approx(side / 2, abs=0.06 * side)
    assert np.std(centres) == pytest.approx(side / np.sqrt(12), rel=0.1)


def test_sim_3_is_sim_2_with_its_centres_farther_apart() -> None:
    near, far = datasets.sim_2(5).values, datasets.sim_3(5).values
    shift = (far - near).reshape(5, 20, -1)
    np.testing.assert_allclose(shift - shift[:, :1], 0.0, atol=1e-12)


def test_synthetic_is_ten_clusters_of_a_thousand() -> None:
    values = datasets.synthetic().values
    assert values.shape == (10_000, 10)
    for cluster in values.reshape(10, 1000, 10):
        spread = cluster.std(axis=0)
        assert spread.min() > 0.09
        assert spread.max() < 0.33
        assert spread.max() / spread.min() < 1.2
        assert (np.abs(cluster.mean(axis=0) - 0.5) < 0.55).all()


# --- Census -----------------------------------------------------------------------------------


def test_census_correlation_is_rounded_and_slightly_indefinite() -> None:
    assert [len(row) for row in datasets.CENSUS_CORRELATION] == list(range(1, 14))
    matrix = constant()
    np.testing.assert_array_equal(np.diag(matrix), 1.0)
    np.testing.assert_array_equal(matrix, np.round(matrix, 3))
    assert -0.001 < np.linalg.eigvalsh(matrix)[0] < 0.0


def test_repair_gives_a_correlation_matrix_and_moves_little() -> None:
    matrix = constant()
    repaired = datasets._repaired(matrix)
    np.testing.assert_allclose(np.diag(repaired), 1.0, atol=1e-14)
    np.testing.assert_allclose(repaired, repaired.T, atol=1e-14)
    assert np.linalg.eigvalsh(repaired)[0] > -1e-12
    assert np.abs(repaired - matrix).max() < 0.0006
    root = datasets._symmetric_root(repaired)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    np.testing.assert_allclose(root @ root, repaired, atol=1e-12)


def test_census_like_has_the_correlations_of_census() -> None:
    data = datasets.census_like(n=100_000, seed=1)
    assert data.values.shape == (100_000, 13)
    # The standard error of a correlation is at most 1/sqrt(n), about 0.003.
    np.testing.assert_allclose(np.corrcoef(data.values.T), constant(), atol=0.015)
    np.testing.assert_allclose(data.values.mean(axis=0), 0.0, atol=0.015)
    np.testing.assert_allclose(data.values.std(axis=0), 1.0, atol=0.015)


def test_census_like_has_six_decimals_and_the_size_asked_for() -> None:
    assert datasets.census_like().values.shape == (10_000, 13)
    values = datasets.census_like(n=7).values
    assert values.shape == (7, 13)
    np.testing.assert_array_equal(values, np.round(values, 6))


def test_a_larger_census_like_begins_with_the_smaller() -> None:
    few, many = datasets.census_like(n=50).values, datasets.census_like(n=500).values
    # Matrix products of different sizes may sum in another order: a last decimal can flip.
    np.testing.assert_allclose(few, many[:50], atol=2e-6)


@pytest.mark.parametrize("n", [0, -5])
def test_census_like_needs_a_record(n: int) -> None:
    with pytest.raises(SettingsError, match="it must be a whole number of at least 1"):
        datasets.census_like(n=n)


# --- reference files --------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize(
    ("name", "shape"), [("tarragona", (834, 13)), ("census", (1080, 13)), ("eia", (4092, 11))]
)
def test_load_reads_what_the_papers_use(name: str, shape: tuple[int, int]) -> None:
    data = datasets.load(name)
    assert data.values.shape == shape
    assert data.values.dtype == np.float64
    assert data.values.flags.c_contiguous
    assert len(data.columns) == shape[1]
    assert np.isfinite(data.values).all()


@needs_data
def test_the_ten_measures_of_eia_are_a_select_away() -> None:
    data = datasets.load("eia")
    assert data.columns[0] == "UTILITYID"
    measures = data.select(*data.columns[1:])
    assert measures.values.shape == (4092, 10)
    np.testing.assert_array_equal(measures.values, data.values[:, 1:])


@needs_data
def test_the_constant_is_that_of_the_census_file() -> None:
    data = datasets.load("census")
    assert datasets.census_like(n=1).columns == data.columns
    # Half a unit in the third decimal, and a little for the rounding of the sums.
    np.testing.assert_allclose(np.corrcoef(data.values.T), constant(), atol=0.0005 + 1e-9)


def test_load_finds_columns_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = datasets._REFERENCE_COLUMNS["eia"]
    header = ["STATE", *reversed(columns), "UTILNAME"]
    row = ["AK", *[str(value) for value in range(11)], '"Light, Power & ""Co"""']
    text = "\n".join([",".join(header), ",".join(row), ",".join(row), ""])
    (tmp_path / "eia.csv").write_text(text, encoding="utf-8")
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path))
    data = datasets.load("eia")
    assert data.columns == columns
    assert data.values.tolist() == [list(range(10, -1, -1))] * 2


def test_load_says_when_the_file_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path))
    with pytest.raises(DataError, match="MICROAGG_DATA") as caught:
        datasets.load("census")
    assert "census.csv" in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("variable", [None, ""])
def test_no_folder_is_searched_unless_it_is_named(
    variable: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tarragona.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    if variable is None:
        monkeypatch.delenv("MICROAGG_DATA", raising=False)
    else:
        monkeypatch.setenv("MICROAGG_DATA", variable)
    with pytest.raises(DataError, match=r"tarragona\.csv was not found\..*MICROAGG_DATA"):
        datasets.load("tarragona")


@pytest.mark.parametrize("name", ["Census", "iris", "", "../census"])
def test_load_refuses_unknown_names(name: str) -> None:
    with pytest.raises(SettingsError, match="there are tarragona, census, eia"):
        datasets.load(name)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no records"),
        (b"\xff\xfe\x00", "is not encoded in UTF-16"),
        (b"%s\n1,2\n", "cannot be read as CSV: .* 1 row has more or fewer"),
        (b"%s\n%s,secret\n", "Column 'ERNVAL' holds something other than numbers"),
    ],
)
def test_load_refuses_a_broken_file_without_quoting_it(
    content: bytes, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = ",".join(datasets._REFERENCE_COLUMNS["census"]).encode()
    cells = b",".join([b"1"] * 12)
    content = content.replace(b"%s", header, 1).replace(b"%s", cells)
    (tmp_path / "census.csv").write_bytes(content)
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path))
    with pytest.raises(DataError, match=says) as caught:
        datasets.load("census")
    assert "secret" not in str(caught.value)


def test_load_refuses_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "census.csv").write_text("AGI,FICA\n1,2\n", encoding="utf-8")
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path))
    with pytest.raises(DataError, match="'AFNLWGT'"):
        datasets.load("census")


# --- the module -------------------------------------------------------------------------------


def test_everything_promised_exists() -> None:
    for name in datasets.__all__:
        assert hasattr(datasets, name)
    assert {generate.__name__ for generate in GENERATORS} < set(datasets.__all__)
