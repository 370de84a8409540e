"""Reports: well-formed pages that stand alone; and an external one that tells nothing it must not."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import Release, datasets, errors, report
from microagg.engines import mdav_comparison
from microagg.engines.mdav_comparison import mdav_loss
from microagg.report import reporting
from microagg.report.formatting import number, short, tick
from microagg.report.html_pages import external_page
from microagg.report.summaries import correlation_matrix
from tests.refusals import rules

VOID = {"meta", "br", "link", "img", "input", "hr", "i"}
MOST_BYTES = 2_000_000


class Page(HTMLParser):
    """What a page is made of; fails on tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.inside: list[tuple[str, ...]] = []
        self.words: list[str] = []
        self.style = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tuple(self.open))
        if tag not in VOID - {"i"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tuple(self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        elif data.strip():
            self.words.append(data.strip())

    @property
    def text(self) -> str:
        return "\n".join(self.words)

    def every(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def frame_of(table: microagg.datasets.Table) -> pd.DataFrame:
    return pd.DataFrame(table.values, columns=list(table.columns))


@pytest.fixture(scope="module")
def plain() -> Release:
    frame = frame_of(datasets.sme())
    return microagg.protect(
        frame,
        k=3,
        rest="pass",
        keys=["surface", "employees"],
        confidential=["turnover", "net_profit"],
        seed=918273645,
    )


@pytest.fixture(scope="module")
def rich() -> Release:
    """Strata, two subsets that are not k-anonymous jointly, gaps, weights, a copy, a sum."""
    frame = frame_of(datasets.census_like(300)).iloc[:, :6].mul(1000).round(1)
    frame.columns = list("abcdef")
    frame["total"] = frame["a"] + frame["b"]
    frame["copy"] = frame["c"]
    rng = np.random.default_rng(0)
    frame.loc[rng.choice(300, 20, replace=False), "d"] = np.nan
    frame["region"] = rng.choice(["north", "south"], 300)
    frame["weight"] = rng.uniform(1.0, 1.5, 300).round(2)
    return microagg.protect(
        frame, k=3, rest="pass",
        keys=[["a", "c"], ["d", "e"]], strata=["region"], confidential=["f"], weight="weight",
        pass_=["b"], drop=["total", "copy"], missing="by-pattern", accept=["partial", "predicted"],
        method="mdav",
    )  # fmt: skip


@pytest.fixture(scope="module")
def pages(plain: Release, rich: Release) -> dict[str, str]:
    return {
        "plain internal": plain.report(),
        "plain external": plain.external_report(),
        "rich internal": rich.report(),
        "rich external": rich.external_report(),
    }


NAMES = ["plain internal", "plain external", "rich internal", "rich external"]


@pytest.fixture(params=NAMES)
def page(request: pytest.FixtureRequest, pages: dict[str, str]) -> Page:
    return Page(pages[request.param])


# --- every page --------------------------------------------------------------------------------


def test_headings_are_in_order(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_picture_has_a_text_and_a_table(page: Page) -> None:
    pictures = page.every("svg")
    assert pictures
    assert page.every("img") == []
    for picture in pictures:
        assert picture["role"] == "img"
        assert len(picture["aria-label"] or "") > 20
    labels = [picture["aria-label"] for picture in pictures]
    assert len(page.every("figure")) == len(pictures)
    tables = sum(
        tag == "table" and "figure" in inside and "details" in inside
        for (tag, _), inside in zip(page.tags, page.inside, strict=True)
    )
    assert tables == len(labels)


def test_tables_have_headers_and_names(page: Page) -> None:
    assert all(header["scope"] in ("col", "row") for header in page.every("th"))
    for region in page.every("div"):
        if region.get("class") == "scroll":
            assert region["role"] == "region"
            assert region["tabindex"] == "0"
            assert region["aria-label"]


def test_language_title_and_viewport(page: Page) -> None:
    assert page.every("html") == [{"lang": "en"}]
    assert len(page.every("title")) == 1
    assert any(meta.get("name") == "viewport" for meta in page.every("meta"))
    assert "prefers-color-scheme: dark" in page.style
    assert "@media print" in page.style
    assert ":focus-visible" in page.style


def test_names_are_unique_and_links_lead_to_them(page: Page) -> None:
    names = Counter(attributes["id"] for _, attributes in page.tags if "id" in attributes)
    assert [name for name, times in names.items() if times > 1] == []
    for _, attributes in page.tags:
        target = attributes.get("href")
        if target is not None:
            assert target.startswith("#")
            assert target[1:] in names
        for used in re.findall(r"url\(#([^)]+)\)", attributes.get("clip-path") or ""):
            assert used in names


@pytest.mark.parametrize("name", NAMES)
def test_pages_stand_alone(pages: dict[str, str], name: str) -> None:
    text = pages[name]
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(r"https?:|//[a-z]|@import|@font-face|<script|<link|javascript:", text)
    assert not re.search(r"\son\w+=", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("name", NAMES)
def test_pictures_take_the_colours_of_the_page(pages: dict[str, str], name: str) -> None:
    for picture in re.findall(r"<svg.*?</svg>", pages[name], re.S):
        assert re.findall(r"(?<!url\()(?<!href=\")#[0-9a-fA-F]{3,8}\b", picture) == []
        assert "currentColor" in picture
        assert "DejaVu" not in picture


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def mixed(colour: str, paper: str, share: float) -> str:
    parts = [
        round(share * int(colour[at : at + 2], 16) + (1 - share) * int(paper[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


def test_letters_can_be_read_in_light_and_dark_and_on_paper(pages: dict[str, str]) -> None:
    style = Page(pages["plain internal"]).style
    themes = [
        dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    assert len(themes) == 3
    for colours in themes:
        for paper in ("paper", "raised"):
            for ink in ("ink", "soft", "link"):
                assert contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
        for state in ("good", "bad"):
            assert contrast(colours[state], colours[f"{state}-paper"]) >= 4.5
            assert contrast(colours["ink"], colours[f"{state}-paper"]) >= 4.5
        for fill in ("low", "high"):
            cell = mixed(colours[fill], colours["paper"], 0.55)
            assert contrast(colours["ink"], cell) >= 4.5


# --- the internal report -----------------------------------------------------------------------


def test_internal_is_marked_on_screen_and_on_paper(pages: dict[str, str]) -> None:
    page = Page(pages["plain internal"])
    assert page.words[2].startswith("INTERNAL")
    assert re.search(r"@page \{ @top-center \{ content: \"INTERNAL", page.style)


def test_internal_has_what_it_takes_to_repeat_and_to_judge(pages: dict[str, str], plain: Release) -> None:
    text = Page(pages["plain internal"]).text
    assert "918273645" in text
    assert 'confidential = ["turnover", "net_profit"]' in text
    assert "proven optimal" in text
    assert "34.022 %" in text  # its loss
    assert "54.945 %" in text  # MDAV's
    assert plain.verdict.sentence in text
    assert "exhaustive" in text
    assert "11 of 11" in text
    for each in plain.verdict.notes:
        assert str(each) in text


def test_internal_has_every_measure_with_its_definition(pages: dict[str, str]) -> None:
    from microagg.measure import MEASURES

    page = Page(pages["plain internal"])
    titles = {attributes.get("title") for attributes in page.every("span")}
    for name, measure in MEASURES.items():
        assert name in page.text
        assert measure.definition in titles


def test_mdav_on_the_same_data_is_mdav(rich: Release) -> None:
    assert mdav_loss(rich.source, rich.protection) == pytest.approx(rich.information_loss)


def test_mdav_is_left_out_where_it_takes_long(plain: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mdav_comparison, "MOST_COMPARED_WITH_MDAV", {"mdav": 10})
    assert "not computed" in plain.report()


def test_internal_says_what_was_accepted(pages: dict[str, str], rich: Release) -> None:
    text = Page(pages["rich internal"]).text
    assert rules(rich.verdict.accepted) == ["predicted", "partial"]
    assert all(str(each) in text for each in rich.verdict.accepted)
    assert "NOT jointly" in text
    assert "not all of its columns are released" in text


def test_groups_of_every_subset_are_those_of_the_release(rich: Release) -> None:
    facts = reporting.internal_facts(rich)
    for subset in facts.subsets:
        for group in np.unique(subset.groups):
            members = subset.after[subset.groups == group]
            assert len(members) >= 3
            assert np.array_equal(members, np.repeat(members[:1], len(members), axis=0), equal_nan=True)


# --- the external report -----------------------------------------------------------------------

NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+−]?\d+)?")


def numbers_in(text: str) -> set[float]:
    """Every number that is written anywhere in the page: text, tables, attributes, pictures."""
    found = set()
    for written in NUMBER.findall(text):
        plain = written.replace(",", "").replace("−", "-")
        found |= {abs(float(plain)), abs(float(plain.lstrip("+-").split(".")[0]))}
    return found


def test_external_has_no_value_of_the_source_that_is_not_released() -> None:
    """Values of seven digits and more, which no coordinate or count can be by chance."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "one": rng.integers(1_000_003, 9_999_991, 60),
            "two": rng.lognormal(14, 1.5, 60).round(3),
            "three": rng.integers(1_000_003, 9_999_991, 60),
            "noisy": rng.integers(1_000_003, 9_999_991, 60),
            "code": [f"{at:07d}" for at in rng.integers(1_000_003, 9_999_991, 60)],
        }
    )
    frame.loc[7, "one"] = 88_888_881  # extremes
    frame.loc[9, "two"] = 0.0123457
    release = microagg.protect(
        frame, k=3, rest="pass",
        keys=[["one", "two"], ["three"]], confidential=["noisy"], confidential_as="noise",
        drop=["code"], accept="partial", seed=48151623, decimals={"two": 2},
    )  # fmt: skip
    page = release.external_report()
    shown = numbers_in(page)
    numeric = ("one", "two", "three", "noisy")
    released = {abs(float(value)) for name in numeric for value in release.data[name]}
    for name in (*numeric, "code"):
        source = {abs(float(value)) for value in frame[name]}
        assert not (source - released) & shown, name
        assert not {float(int(value)) for value in source - released if value > 1e5} & shown, name
    for column in numeric:
        values = frame[column].to_numpy(dtype=float)
        moments = {values.var(), values.std(), values.std(ddof=1), values.sum(), np.median(values)}
        assert not {round(moment, digits) for moment in moments for digits in (0, 1, 2, 3)} & shown


def test_external_has_no_secrets(tmp_path: Path) -> None:
    frame = frame_of(datasets.census_like(60)).iloc[:, :4].round(3)
    frame["name"] = [f"Erika Muster {at}" for at in range(60)]
    source = tmp_path / "secret-survey-of-1987.csv"
    frame.to_csv(source, index=False)
    release = microagg.protect(
        source,
        k=3,
        rest="pass",
        keys=list(frame.columns[:4]),
        drop=["name"],
        seed=71828182845,
        method="mdav+anneal:steps=777",
    )
    report, external = tmp_path / "internal.html", tmp_path / "external.html"
    release.save(tmp_path / "out.csv", report=report, external_report=external)
    inside, outside = report.read_text(), external.read_text()
    record = release.record
    for secret in (
        "71828182845",
        record["input"]["digest"],
        record["input"]["digest"].removeprefix("sha256:")[:12],
        "secret-survey",
        "steps=777",
    ):
        assert secret in inside
        assert secret not in outside
    for secret in (str(tmp_path), "out.csv", "sha256", "Erika", "seed", "digest", "stratum"):
        assert secret not in outside
    assert f"{release.information_loss:.3f}" not in outside


def test_external_says_what_was_done(pages: dict[str, str]) -> None:
    text = Page(pages["rich external"]).text
    assert "k-anonymous per subset, NOT jointly" in text
    assert re.search(r"NOT jointly \(\d+ records unique\)", text)
    assert "replaced by the weighted mean of the group; grouped by all of these columns together" in text
    assert "groups never cross its codes" in text
    assert "others may have been set to missing" in text
    assert "Nothing is promised for b, f and weight" in text
    assert "2 members of a group of 3" in text


def section(page: str, name: str) -> str:
    """The text of a section of a page, its rows and sentences on lines of their own."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.S)
    assert found
    return unescape(re.sub(r"<[^>]+>", "", found[0].replace("</th><td", "</th>: <td")))


def test_external_sentences_follow_the_policies(plain: Release) -> None:
    facts = reporting.external_facts(plain)
    other = replace(
        facts,
        policies=replace(
            facts.policies, aggregate="median", noised=("turnover",), noise=0.25, strata=("region",),
            small_strata="suppress", accept=("distinct",), zeros_apart=True,
        ),
        homogeneous=("net_profit",),
    )  # fmt: skip
    page, plain_page = external_page(other), external_page(facts)
    limits = section(page, "limits")
    for said in (
        "medians", "Zeros", "Noise makes variances of turnover",
        "Records of strata with fewer than 3 records were left out, if there were any",
    ):  # fmt: skip
        assert said in limits
        assert said not in section(plain_page, "limits")
    joining = replace(facts, policies=replace(other.policies, small_strata="nearest"))
    assert "joined the nearest group" in section(external_page(joining), "limits")
    assert "joined the nearest group" not in limits
    unprotected = section(page, "unprotected")
    assert "all records have the same value of net_profit" in unprotected
    assert "original values of turnover were accepted, if there are any" in unprotected
    assert "different values of" not in section(page, "guaranteed")
    assert "different values of turnover and net_profit" in section(plain_page, "guaranteed")
    lines = section(page, "changed").splitlines()
    done = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith("The data"))
    assert "25 % of the column's" in done["turnover"]
    assert "replaced by the median" in done["surface and employees"]
    assert done["net_profit"] == "unchanged"


# --- odd data ----------------------------------------------------------------------------------


def test_odd_names_are_escaped() -> None:
    names = [
        "<script>alert(1)</script>",
        '"><img src=x onerror=a>',
        "$\\frac{a}{$",
        "a&b|{{ 7*7 }}",
        "名前\x07 _x",
    ]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 5)).round(3), columns=names)
    release = microagg.protect(
        frame, k=3, rest="pass", keys=names[:4], confidential=names[4:], method="mdav"
    )
    for text in (release.report(), release.external_report()):
        page = Page(text)
        assert page.every("script") == []
        assert page.every("img") == []
        assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
        assert "<script>alert(1)</script>" in page.text
        assert "{{ 7*7 }}" in page.text
        assert "\x07" not in text


def test_many_columns_and_records_stay_small() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 40)), columns=[f"column number {at}" for at in range(40)])
    release = microagg.protect(frame, k=5, rest="pass", keys=list(frame.columns), method="mdav")
    for text in (reporting.internal_report(release), reporting.external_report(release)):
        assert len(text.encode()) < MOST_BYTES
        assert "16 further columns not drawn" in text


@pytest.mark.parametrize(
    "values",
    [
        [5.0] * 12,
        [1e140 * at for at in range(12)],
        [1e-9 * at for at in range(12)],
        [10.0**at for at in range(12)],
        [*range(11), 10_000_000],
        [-1.5, *[0.0] * 11],
    ],
    ids=["constant", "huge", "tiny", "powers", "outlier", "zeros"],
)
def test_odd_values_can_be_drawn(values: list[float]) -> None:
    frame = pd.DataFrame({"x": np.asarray(values, dtype=float), "y": np.arange(12.0) ** 2})
    release = microagg.protect(frame, k=3, rest="pass", keys=["x", "y"], method="mdav")
    for text in (reporting.internal_report(release), reporting.external_report(release)):
        Page(text)
        assert "nan" not in re.sub(r"<[^>]*>", " ", text).lower().split()


def test_one_column_and_one_group() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0]})
    release = microagg.protect(frame, k=3, rest="pass", keys=["x"])
    assert "Groups in a plane" not in release.report()
    assert "Correlations" not in Page(release.external_report()).text.split("The data as released")[-1]


def test_correlations_are_those_of_numpy() -> None:
    values = np.random.default_rng(0).normal(size=(50, 4))
    assert np.allclose(correlation_matrix(values), np.corrcoef(values.T))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (1234567.0, "1,234,567"), (-2.5, "−2.5"), (0.012345678, "0.01234568"), (float("nan"), "–"),
     (1e-9, "1.00000e−9"), (float("inf"), "∞"), (3.14159265, "3.14159")],
)  # fmt: skip
def test_numbers_are_written_for_people(value: float, shown: str) -> None:
    assert number(value) == shown


def test_names_and_ticks_are_short() -> None:
    assert short("a" * 20 + "b" * 20) == "a" * 9 + "…" + "b" * 6
    assert short("a" * 16) == "a" * 16
    assert [tick(value) for value in (0, 2_500_000, -1500, 2e-7)] == ["0", "2.5M", "−1,500", "2e−07"]


# --- the extra ---------------------------------------------------------------------------------


def test_without_the_extra_nothing_is_begun(
    plain: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    needs = re.escape("pip install 'microagg[report]'")
    with pytest.raises(errors.MissingExtra, match=needs):
        plain.report()
    with pytest.raises(errors.MissingExtra, match=needs):
        plain.external_report()
    with pytest.raises(errors.MissingExtra, match=needs):
        plain.save(tmp_path / "out.csv", report=tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_start_does_not_import_jinja() -> None:
    code = "import sys, microagg, microagg.cli\nprint('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
