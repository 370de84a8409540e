"""The external report follows from the release and the settings: it tells nothing else about the source.

Two sources of one release have the same page; and whoever enumerates all sources that give a release
excludes none of them by the page. From 200 records on the page has a band of the information loss besides.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import Release
from microagg.plan.protection import Protection
from microagg.report import outside, reporting
from microagg.report.facts import FEWEST_RECORDS_FOR_A_BAND, ExternalFacts, LossBand
from tests.refusals import rules

Triple = tuple[int, int, int]


def plain(value: object) -> object:
    """Facts as something that can be compared, to the last bit."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    return value


def told(release: Release) -> object:
    """All that the template is given, but for the date."""
    facts = plain(reporting.external_facts(release))
    assert isinstance(facts, dict)
    return {name: value for name, value in facts.items() if name != "written"}


def page_of(release: Release) -> str:
    return re.sub(r"Written \d{4}-\d\d-\d\d with", "Written with", release.external_report())


def released(release: Release) -> bytes:
    """The release as bytes; categories, types and order count."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, release.data.schema) as stream:
        stream.write_table(release.data.combine_chunks())
    return sink.getvalue().to_pybytes()


def protected(columns: dict[str, Sequence[Any]], **words: Any) -> Release:
    method = "univariate" if words.get("keys", ["x"]) == ["x"] else "mdav"
    words = {"k": 3, "method": method, "keep_order": True} | words
    return microagg.protect(pa.table(columns), **({"keys": ["x"]} | words))


# --- two sources of one release ----------------------------------------------------------------


def clusters(count: int, size: int, apart: float, offsets: Sequence[float]) -> dict[str, Sequence[Any]]:
    """Groups that any method finds, with members around a common mean in two columns."""
    centres = np.repeat(np.arange(count) * apart, size)
    moved = np.tile(offsets, count * size // len(offsets))
    turned = np.tile(np.roll(offsets, 1), count * size // len(offsets))
    return {"x": (centres + moved).tolist(), "y": (5.0 * centres + turned).tolist()}


SMALL = [(-1.0, 0.0, 1.0), (-2.0, 0.0, 2.0), (-3.0, 1.0, 2.0), (0.0, 0.0, 0.0), (-20.0, 10.0, 10.0)]


@pytest.mark.parametrize("groups", [2, 3, 20, 66])
def test_below_200_records_sources_of_one_release_have_the_same_page(groups: int) -> None:
    releases = [
        protected(clusters(groups, 3, 100.0, offsets), rest="pass", keys=["x", "y"]) for offsets in SMALL
    ]
    losses = [release.information_loss for release in releases]
    assert max(losses) > 50 * min(loss for loss in losses if loss)
    assert len({released(release) for release in releases}) == 1
    assert all(told(release) == told(releases[0]) for release in releases)
    assert len({page_of(release) for release in (releases[0], releases[-1])}) == 1
    assert reporting.external_facts(releases[0]).loss is None


@pytest.fixture(scope="module")
def large() -> dict[float, Release]:
    """210 records in seven groups of 30, by how far their members are from the means."""
    return {
        spread: protected(
            clusters(7, 30, 100.0, (-spread, spread)), k=30, rest="pass", keys=["x", "y"], method="mdav"
        )
        for spread in (1.0, 2.0, 19.0, 25.0, 45.0)
    }


def test_from_200_records_on_the_page_is_the_same_for_the_same_band(large: dict[float, Release]) -> None:
    assert len({released(release) for release in large.values()}) == 1
    bands = {spread: reporting.external_facts(release).loss for spread, release in large.items()}
    assert len(set(bands.values())) >= 2
    pages = {spread: page_of(release) for spread, release in large.items()}
    for spread, band in bands.items():
        for other, its_band in bands.items():
            assert (pages[spread] == pages[other]) == (band == its_band)


def test_from_200_records_on_only_the_band_differs(large: dict[float, Release]) -> None:
    facts = [told(release) for release in large.values()]
    assert all(isinstance(each, dict) for each in facts)
    without = [{name: value for name, value in each.items() if name != "loss"} for each in facts]  # type: ignore[attr-defined]
    assert all(each == without[0] for each in without)


@pytest.mark.parametrize(
    ("loss", "band"),
    [(0.0, "below 1 %"), (0.99999, "below 1 %"), (1.0, "1 to 5 %"), (4.99, "1 to 5 %"), (5.0, "5 to 20 %"),
     (20.0, "5 to 20 %"), (20.01, "above 20 %"), (100.0, "above 20 %")],
)  # fmt: skip
def test_bands_of_the_information_loss(loss: float, band: str) -> None:
    found = reporting.loss_band(loss, FEWEST_RECORDS_FOR_A_BAND)
    assert found is not None
    assert found.value == band
    assert reporting.loss_band(loss, FEWEST_RECORDS_FOR_A_BAND - 1) is None


def test_records_left_out_do_not_make_a_band() -> None:
    """210 records in the source, 180 in the release: the smaller number counts."""
    columns = clusters(6, 30, 100.0, (-1.0, 1.0))
    region = ["north"] * 180 + [f"island {at}" for at in range(30)]
    columns = {"x": [*columns["x"], *range(30)], "y": [*columns["y"], *range(30)], "region": region}
    release = protected(
        columns, k=30, rest="pass", keys=["x", "y"], strata=["region"], small_strata="suppress"
    )
    assert release.verdict.suppressed == 30
    assert reporting.external_facts(release).loss is None


def same_page(one: Release, other: Release) -> None:
    assert released(one) == released(other)
    assert told(one) == told(other)
    assert page_of(one) == page_of(other)


def test_the_page_does_not_tell_how_many_records_were_left_out() -> None:
    columns: dict[str, Sequence[Any]] = {"x": [1, 2, 3, 11, 12, 13], "region": ["a"] * 3 + ["b"] * 3}
    more = {"x": [*columns["x"], 7, 9], "region": [*columns["region"], "c", "d"]}
    words: dict[str, Any] = {"strata": ["region"], "small_strata": "suppress"}
    same_page(protected(columns, **words), protected(more, **words))


def test_the_page_does_not_tell_which_values_were_given_up() -> None:
    """One record without y makes two others give up theirs, which looks like three that have none."""
    x = [1.0, 2.0, 3.0, 101.0, 102.0, 103.0, 900.0, 901.0, 902.0]
    y = [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]
    words: dict[str, Any] = {"keys": ["x", "y"], "missing": "by-pattern"}
    missing = protected({"x": x, "y": [*y, None, None, None]}, **words)
    given_up = protected({"x": x, "y": [*y, None, 4.0, 20.0]}, **words)
    assert "values_given_up" in rules(given_up.verdict.notes)
    same_page(missing, given_up)


def test_the_page_does_not_tell_which_records_joined_a_group() -> None:
    words: dict[str, Any] = {"strata": ["region"], "small_strata": "nearest"}
    x = [1, 2, 3, 4, 11, 12, 13]
    joined = protected({"x": x, "region": ["a"] * 3 + ["c"] + ["b"] * 3}, **words)
    native = protected({"x": x, "region": ["a"] * 4 + ["b"] * 3}, **words)
    assert joined.verdict.changes.recoded == {"region": 1}
    assert native.verdict.changes.recoded == {}
    same_page(joined, native)


def test_the_page_does_not_tell_what_masked_confidential_values_were() -> None:
    """Masked as a subset of their own, with groups of one original value accepted."""
    words: dict[str, Any] = {
        "confidential": ["c"], "confidential_as": "subset", "accept": ["distinct"], "method": "mdav",
    }  # fmt: skip
    x = [1, 2, 3, 101, 102, 103]
    alike = protected({"x": x, "c": [10.0, 10.0, 50.0, 50.0, 50.0, 10.0]}, **words)
    varied = protected({"x": x, "c": [9.0, 10.0, 49.0, 50.0, 51.0, 11.0]}, **words)
    assert released(alike) == released(varied)
    same_page(alike, varied)


def test_groups_of_one_confidential_value_are_told_as_the_release_shows_them() -> None:
    words: dict[str, Any] = {"confidential": ["c"], "accept": ["distinct"]}
    x = [1, 2, 3, 101, 102, 103]
    facts = reporting.external_facts(protected({"x": x, "c": ["p", "p", "p", "p", "q", "q"]}, **words))
    assert facts.homogeneous == ("c",)
    facts = reporting.external_facts(protected({"x": x, "c": ["p", "p", "q", "p", "q", "q"]}, **words))
    assert facts.homogeneous == ()


def test_the_page_does_not_tell_attempts_method_seed_or_time() -> None:
    columns: dict[str, Sequence[Any]] = {"x": [1, 2, 3, 101, 102, 103], "c": list("pqppqp")}
    words: dict[str, Any] = {"confidential": ["c"]}
    pages = {
        page_of(protected(columns, **words, method=method, seed=seed, certify=certify))
        for method, seed, certify in (("mdav", 1, False), ("exhaustive", 2, False), ("mdav", 3, True))
    }
    assert len(pages) == 1


# --- all sources of one release ----------------------------------------------------------------


def triples(total: int, low: int, high: int) -> list[Triple]:
    """Three whole numbers in ascending order with this sum."""
    return [
        (first, second, total - first - second)
        for first in range(low, high + 1)
        for second in range(first, high + 1)
        if second <= total - first - second <= high
    ]


def unrefuted(truth: Sequence[int], candidates: Iterator[Sequence[int]]) -> tuple[int, int]:
    """How many candidates give the true source's release, and how many of these its report's facts too."""
    true = protected({"x": truth})
    wanted, facts = released(true), told(true)
    by_release = by_both = 0
    farthest, page = true, page_of(true)
    for candidate in candidates:
        release = protected({"x": candidate})
        if released(release) == wanted:
            by_release += 1
            by_both += told(release) == facts
            farthest = max(farthest, release, key=lambda each: each.information_loss)
    assert farthest.information_loss > true.information_loss
    assert page_of(farthest) == page
    return by_release, by_both


@pytest.mark.parametrize("known", [(0, 0, 0), (1, 1, 1)])
def test_six_records_outsider_cannot_exclude_any_source(known: Triple) -> None:
    """Three known records, and three whole numbers from 10 to 60 of which the mean is released."""
    found = unrefuted((*known, 22, 29, 39), ((*known, *triple) for triple in triples(90, 10, 60)))
    assert found[0] == found[1] > 100


def test_two_unknown_groups_of_three_cannot_be_solved() -> None:
    """Ages from 18 to 31 and from 62 to 75."""
    pairs = product(triples(72, 18, 31), triples(201, 62, 75))
    found = unrefuted((19, 24, 29, 63, 66, 72), ((*young, *old) for young, old in pairs))
    assert found[0] == found[1] > 300


@pytest.mark.parametrize("n", [9, *(pytest.param(n, marks=pytest.mark.long) for n in (15, 30)), 60])
def test_one_unknown_group_among_known_ones_cannot_be_solved(n: int) -> None:
    """Who knows all records but three of a file of n knows no more by the report."""
    known = [10_000 * group + step for group in range(1, n // 3) for step in (0, 40, 90)]
    found = unrefuted((*known, 22, 29, 39), ((*known, *triple) for triple in triples(90, 0, 60)))
    assert found[0] == found[1] > 100


# --- guards ------------------------------------------------------------------------------------


def test_facts_are_made_of_release_settings_and_band_alone() -> None:
    """Whoever wants to show more has to change this signature, and so this test."""
    found = inspect.signature(outside.facts_outside, eval_str=True, locals={"pa": pa})
    kinds = {name: parameter.annotation for name, parameter in found.parameters.items()}
    assert kinds == {"released": pa.Table, "protection": Protection, "loss": LossBand | None}
    assert found.return_annotation is ExternalFacts


def test_the_page_can_be_made_again_from_the_written_file_and_the_plan(tmp_path: Path) -> None:
    """By somebody who has neither the source nor the record: nothing else can be in it."""
    from microagg.report.html_pages import external_page

    rng = np.random.default_rng(3)
    n = 240
    frame = pd.DataFrame(
        {
            "a": rng.lognormal(8, 1, n).round(2),
            "b": rng.normal(50, 9, n).round(1),
            "c": rng.integers(0, 9, n).astype(float),
            "income": rng.lognormal(8, 1, n).round(0),
            "region": rng.choice(["n", "s", "e"], n),
            "tiny": ["x"] * (n - 2) + ["y", "z"],
            "weight": rng.uniform(1, 1.5, n).round(2),
            "name": [f"person {at}" for at in range(n)],
        }
    )
    frame.loc[rng.choice(n, 20, replace=False), "b"] = np.nan
    release = microagg.protect(
        frame, k=3, rest="pass",
        keys=[["a", "b"], ["c"]], strata=["region", "tiny"], small_strata="suppress",
        confidential=["income"], confidential_as="subset", missing="by-pattern", weight="weight",
        drop=["name"], accept="partial", method="mdav", retry=True,
    )  # fmt: skip
    release.save(tmp_path / "out.parquet", external_report=tmp_path / "external.html")
    again = outside.facts_outside(
        pq.read_table(tmp_path / "out.parquet"),
        Protection.of(release.protection.settings),
        reporting.external_facts(release).loss,
    )
    assert again.loss is not None
    assert external_page(again) == (tmp_path / "external.html").read_text("utf-8")
    assert again.sentence == release.verdict.sentence
    counts = (*release.verdict.subsets, release.verdict.joint, *release.verdict.own_subsets)
    assert [(each.columns, each.classes, each.smallest) for each in counts if each is not None] == [
        (columns, classes, smallest) for columns, _, classes, smallest in again.counted
    ]


def test_keys_of_any_kind_are_told_from_the_release_alone(tmp_path: Path) -> None:
    from microagg.report.html_pages import external_page

    rng, n = np.random.default_rng(3), 240
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "job": rng.choice(["nurse", "smith", "clerk", None], n),
            "level": rng.choice(["low", "high", "middle"], n),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), "D"),
            "married": rng.integers(0, 2, n),
        }
    )
    frame.loc[0, "job"] = "only one"
    release = microagg.protect(frame, k=3, keys=list(frame), ordinal={"level": ["low", "middle", "high"]})
    release.save(tmp_path / "out.parquet", external_report=tmp_path / "external.html")
    facts = reporting.external_facts(release)
    assert [each.kind for each in facts.holds] == ["number", "nominal", "ordinal", "date", "nominal"]
    assert facts.holds[2].levels == ("low", "middle", "high")
    page = (tmp_path / "external.html").read_text("utf-8")
    assert "only one" not in page
    read, settings = pq.read_table(tmp_path / "out.parquet"), Protection.of(release.protection.settings)
    assert external_page(outside.facts_outside(read, settings, facts.loss)) == page
    assert "only one" in release.report()


# --- covariances -------------------------------------------------------------------------------


def mixed(seed: int = 5, n: int = 300) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    size = random.lognormal(size=n)
    return pd.DataFrame(
        {
            "pay": (1000.0 * size + 100.0 * random.normal(size=n)).round(2),
            "hours": (30.0 + 4.0 * random.normal(size=n) + size).round(1),
            "trade": random.choice(list("abc"), n),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(random.integers(0, 20_000, n), "D"),
        }
    )


def told_outside(tmp_path: Path, **given: Any) -> str:
    """The text of the external page, which follows from the written file, the plan and the band alone."""
    from microagg.report.html_pages import external_page

    data = mixed()
    words = {"k": 4, "method": "mdav", "seed": 1, "respondent": "none", "aggregate": "covariances"} | given
    release = microagg.protect(data[[name for name in data if name in words["keys"]]], **words)
    release.save(tmp_path / "out.parquet", external_report=tmp_path / "external.html", force=True)
    facts = outside.facts_outside(
        pq.read_table(tmp_path / "out.parquet"),
        Protection.of(release.protection.settings),
        reporting.external_facts(release).loss,
    )
    page = (tmp_path / "external.html").read_text("utf-8")
    assert external_page(facts) == page
    return re.sub(r"<svg.*?</svg>", "", page, flags=re.S)


UNTRUE = (
    "masked columns are too small",
    "tend to be too strong",
    "standard deviations shrink",
    "variances are clearly too small",
    "Tails",
)
"""What groups that publish their means do, and those that keep covariances do not."""


def test_that_covariances_are_kept_is_told_outside(tmp_path: Path) -> None:
    page = told_outside(tmp_path, keys=["pay", "hours"])
    assert "replaced by the mean of the group, moved by one linear map" in page
    assert "linear regressions among numbers that were grouped together are those of the original" in page
    assert "made from the mean of at least 4 observed values" in page
    assert "Variances of numbers that were grouped together are kept all the same" in page
    assert "Single values may lie outside the range" in page
    assert "too small, except those of means and linear regressions among these numbers" in page
    assert not [each for each in UNTRUE if each in page]
    means = told_outside(tmp_path, keys=["pay", "hours"], aggregate="mean")
    assert "linear map" not in means
    assert "Variances and standard deviations of masked columns are too small" in means


def test_that_values_were_clipped_is_told_outside(tmp_path: Path) -> None:
    page = told_outside(tmp_path, keys=["pay", "hours"], clip=True, accept=["real-values"])
    assert "moved by one linear map and into the range of the original numbers" in page
    assert "are nearly those of the original records, but not exactly" in page
    assert "are nearly kept all the same" in page
    assert "outside the range" not in page


def test_what_does_not_follow_is_told_outside(tmp_path: Path) -> None:
    page = told_outside(tmp_path, keys=["pay", "hours", "born"])
    assert "Variances and standard deviations of born are too small" in page
    for aggregate in ("covariances", "median"):
        accept = ["real-values"] if aggregate == "median" else None
        page = told_outside(
            tmp_path,
            keys=["pay", "hours", "trade"],
            categories="tables",
            aggregate=aggregate,
            accept=accept,
        )
        assert "but for pay and hours, are nearly those" in page
    page = told_outside(tmp_path, keys=["pay", "hours", "trade"], categories="tables", aggregate="mean")
    assert "keys and confidential columns are nearly those" in page
