"""Groups that publish other categories than the most frequent ones: released, and counted again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg import errors
from microagg.engines.spark.release import SparkRelease
from microagg.verify.classes import Classes
from microagg.verify.frame_release import verify_frame
from microagg.verify.two_way import middles_of, rows_of_tables, two_way_distance
from tests.refusals import open_in, rules
from tests.spark.conftest import rows_of
from tests.spark.test_verdict import in_group

LEVELS = ["low", "mid", "high"]


def households(n: int) -> pa.Table:
    """Keys that go together, some of them rare, and a confidential column that follows them."""
    random = np.random.default_rng(11)
    school = random.choice(3, n, p=[0.5, 0.35, 0.15])
    town = np.where(random.random(n) < 0.7, school, random.integers(0, 6, n))
    return pa.table(
        {
            "town": np.array(list("ABCDEF"))[town],
            "school": np.array(LEVELS)[school],
            "age": (20 + 10 * school + random.integers(0, 30, n)).astype(float),
            "job": [f"job {each}" for each in (2 * town + random.integers(0, 4, n)) % 9],
            "sick": np.where(random.random(n) < 0.3 + 0.2 * school, "yes", "no"),
            "weight": np.round(random.uniform(0.8, 1.2, n), 2),
        }
    )


WORDS: dict[str, Any] = {
    "k": 3, "keys": ["town", "school", "age", "job"], "ordinal": {"school": LEVELS},
    "confidential": ["sick"], "method": "mdav", "accept": ["distinct", "predicted"],
}  # fmt: skip
HOW = ("margins", "tables", "existing")


@pytest.fixture(scope="module")
def made(session: Any) -> dict[str, SparkRelease]:
    frame = session.createDataFrame(households(120).drop_columns(["weight"]))
    return {how: microagg.protect(frame, categories=how, **WORDS) for how in HOW}


def broken(session: Any, release: SparkRelease, change: Callable[[pa.Table], pa.Table]) -> Any:
    """The verdict on a frame that is not as it was released."""
    frame = session.createDataFrame(change(release.paired.toArrow()), release.paired.schema)
    verdict, _ = verify_frame(
        frame, release.sides, release.protection, release.source.columns, release.fingerprint, 0
    )
    assert not verdict.safe
    return verdict


@pytest.mark.parametrize("how", HOW)
def test_what_is_released_passes(made: dict[str, SparkRelease], how: str) -> None:
    assert made[how].verdict.safe
    assert made[how].verdict.subsets[0].smallest >= 3


def test_margins_are_nearer_than_those_of_modes(session: Any, made: dict[str, SparkRelease]) -> None:
    frame = session.createDataFrame(households(120).drop_columns(["weight"]))
    modes: Any = microagg.protect(frame, **WORDS)
    moved = [sum(each.verdict.category_changes.margins.values()) for each in (made["margins"], modes)]
    assert moved[0] < moved[1]


def test_existing_combinations(made: dict[str, SparkRelease]) -> None:
    names = ["town", "school", "job"]
    known = set(rows_of(households(120).select(names)))
    assert set(rows_of(made["existing"].data.select(*names))) <= known


def stranger(table: pa.Table) -> pa.Table:
    return in_group(table, "p0", lambda _, had: next(each for each in "ABCDEF" if each not in had))


def test_a_category_of_no_member(session: Any, made: dict[str, SparkRelease]) -> None:
    found = open_in(broken(session, made["margins"], stranger))
    assert ("not_in_the_group", ("town",)) in {(each.rule, tuple(each.columns)) for each in found}


def test_a_combination_that_is_new(session: Any, made: dict[str, SparkRelease]) -> None:
    """Each category is one of the source's, all of them together are not."""
    known = set(rows_of(households(120).select(["town", "school", "job"])))
    jobs = [f"job {each}" for each in range(9)]
    new = next((town, "low", job) for town in "ABCDEF" for job in jobs if (town, "low", job) not in known)

    def change(table: pa.Table) -> pa.Table:
        for name, value in zip(("p0", "p1", "p3"), new, strict=True):
            table = in_group(table, name, lambda _, had, value=value: value)
        return table

    assert "combination_not_in_source" in rules(open_in(broken(session, made["existing"], change)))


def test_a_number_far_from_the_mean(session: Any, made: dict[str, SparkRelease]) -> None:
    def change(table: pa.Table) -> pa.Table:
        groups, ages = (table[name].to_numpy() for name in ("group0", "y2"))
        far = np.where(groups == groups[0], 20.0 if ages[0] > 40.0 else 69.0, ages)
        return table.set_column(table.column_names.index("y2"), "y2", pa.array(far))

    found = open_in(broken(session, made["tables"], change))
    assert ("not_near_the_mean", ("age",)) in {(each.rule, tuple(each.columns)) for each in found}


def test_tables_that_are_not_kept(session: Any, made: dict[str, SparkRelease]) -> None:
    """Every group publishes the last of its members' towns and jobs."""

    def change(table: pa.Table) -> pa.Table:
        groups = table["group0"].to_pylist()
        for at in (0, 3):
            pairs = zip(groups, table[f"c{at}"].to_pylist(), strict=True)
            last = dict(sorted(pairs, key=lambda pair: pair[1]))
            own = pa.array([last[group] for group in groups])
            table = table.set_column(table.column_names.index(f"p{at}"), f"p{at}", own)
        return table

    assert "tables" in rules(open_in(broken(session, made["tables"], change)))


def test_tables_are_counted_as_in_memory(session: Any) -> None:
    """Of categories, with weights: the distance, and that of what is most frequent in each class."""
    table = households(90)
    keys = ["town", "school", "job"]
    words = {**WORDS, "keys": keys, "drop": ["age"], "weight": "weight", "categories": "tables"}
    release: Any = microagg.protect(session.createDataFrame(table), **words)
    paired = release.paired.toArrow()
    before, after = ([paired[f"{side}{at}"].to_numpy() for at in (0, 1, 3)] for side in "xy")
    weights = paired["weight"].to_numpy()
    labels = np.unique(np.stack(after), axis=1, return_inverse=True)[1].ravel()
    classes = Classes(labels, int(labels.max()) + 1)
    kinds = ("nominal", "ordinal", "nominal")
    middles = [middles_of(own, classes, kind, weights) for own, kind in zip(before, kinds, strict=True)]
    sick = (paired["c4"].to_numpy(zero_copy_only=False) == "yes").astype(float)
    sides = [
        rows_of_tables(own, (own, new, middle), False)
        for own, new, middle in zip([*before, sick], [*after, sick], [*middles, sick], strict=True)
    ]
    widths = [width for _, width in sides]
    old, new, middle = ([rows[at] for rows, _ in sides] for at in range(3))
    found = release.verdict.category_changes
    assert found.two_way == pytest.approx(two_way_distance(old, new, widths, weights))
    # Of categories that are equally frequent in a class, either is its middle.
    expected = two_way_distance(old, middle, widths, weights)
    assert found.two_way_of_middles == pytest.approx(expected, abs=0.02)
    assert found.two_way < found.two_way_of_middles


@pytest.mark.parametrize("how", HOW)
def test_in_many_parts_and_across_borders(
    session: Any, block_records: Callable[[int], None], how: str
) -> None:
    """With weights, and a combination that so many have that it is in several parts."""
    table = households(200)
    same = pa.concat_tables([table.slice(7, 1)] * 110)
    block_records(50)
    words = {**WORDS, "weight": "weight", "effort": "best", "method": "mdav+anneal:steps=10"}
    frame = session.createDataFrame(pa.concat_tables([table, same]))
    release: Any = microagg.protect(frame, categories=how, **words)
    assert len(release.found[0]) > 3
    assert release.verdict.safe
    assert release.verdict.subsets[0].smallest >= 3
    assert release.information_loss > 0.0


def test_without_categories(session: Any) -> None:
    frame = session.createDataFrame(households(30).select(["age", "sick"]))
    words = {name: value for name, value in WORDS.items() if name != "ordinal"} | {"keys": ["age"]}
    with pytest.raises(errors.SettingsError):
        microagg.protect(frame, categories="margins", **words)
