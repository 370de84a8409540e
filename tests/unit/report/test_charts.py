"""Charts: drawn in one module, to scale, in the colours of the page; and files of their own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import microagg
from microagg.report import charts

SOURCES = Path(microagg.__file__).parent
SVG = "{http://www.w3.org/2000/svg}"


def points_of(path: str) -> np.ndarray:
    return np.array(
        [list(map(float, pair.split(","))) for pair in re.findall(r"[-\d.]+,[-\d.]+", path)], dtype=float
    )


def paths(svg: str) -> list[dict[str, str]]:
    return [dict(element.attrib) for element in ElementTree.fromstring(svg).iter("path")]


def strategy(k: int, method: str, loss: float | None, risk: float | None, **marks: bool) -> dict[str, Any]:
    marks = {"undominated": False, "recommended": False} | marks
    return {"k": k, "method": method, "subsets": "a, b", "il": loss, "risk": risk, **marks}


STRATEGIES = [
    strategy(3, "mdav", 5.0, 0.4, undominated=True),
    strategy(5, "mdav", 9.0, 0.2, undominated=True, recommended=True),
    strategy(5, '<b>"var(--no)', 12.0, 0.3),
    strategy(7, "auto", None, None),
]
AXES = {"il": "loss (%)", "risk": "risk & more"}


def test_only_one_module_draws() -> None:
    drawing = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search(r"<svg|\"svg\"|matplotlib|plotly", path.read_text("utf-8"))
    }
    assert "report/charts.py" in drawing
    assert drawing <= {"report/charts.py", "web/charts.py"}


def test_bars_are_as_high_as_their_counts() -> None:
    before, after = np.array([1.0, 2, 2, 3, 3, 3]), np.array([2.0, 2, 2, 2, 3, 3])
    chart = charts.histogram("x", after, before)
    assert chart is not None
    assert [row[2:] for row in chart.rows] == [("1", "0"), ("2", "4"), ("3", "2")]
    filled = next(each for each in paths(chart.svg) if each.get("fill") == "var(--before)")
    outlined = next(each for each in paths(chart.svg) if each.get("stroke") == "var(--after)")
    bottom, unit = max(points_of(filled["d"])[:, 1]), 0.0
    for path, counts in ((filled, [1, 2, 3]), (outlined, [0, 4, 2])):
        heights = bottom - points_of(path["d"])[1:-1:2, 1]
        unit = unit or heights[0]
        assert heights == pytest.approx(np.array(counts) * unit, abs=0.3)


@pytest.mark.parametrize("sizes", [[3, 3, 4], [3] * 10, list(range(3, 90))])
def test_sizes_are_counted(sizes: list[int]) -> None:
    chart = charts.sizes(np.array(sizes), "groups")
    assert sum(int(amount) for _, amount in chart.rows) == len(sizes)
    ElementTree.fromstring(chart.svg)


def test_points_of_a_map_are_where_they_belong() -> None:
    svg = charts.risk_map(STRATEGIES, AXES, 0.25)
    tree = ElementTree.fromstring(svg)
    assert tree.get("role") == "img"
    titles = [element.text for element in tree.iter("title")]
    assert titles == [
        "k = 3, mdav; loss (%): 5; risk & more: 0.4",
        "k = 5, mdav; loss (%): 9; risk & more: 0.2",
        'k = 5, <b>"var(--no); loss (%): 12; risk & more: 0.3',
    ]
    places = [group.get("transform", "") for group in tree.iter("g") if group.find("title") is not None]
    (x3, y3), (x5, y5), (x12, y12) = (tuple(map(float, re.findall(r"[\d.]+", place))) for place in places)
    assert (x5 - x3) / (x12 - x5) == pytest.approx(4 / 3, rel=0.01)
    assert y12 - y3 == pytest.approx(y5 - y12, abs=0.3)
    assert y3 < y5
    texts = {element.text for element in tree.iter("text")}
    assert {
        "largest risk 0.25",
        "recommended",
        "undominated",
        "mdav",
        '<b>"var(--no)',
        "risk & more",
    } <= texts


def test_points_of_a_map_can_be_links() -> None:
    svg = charts.risk_map(STRATEGIES, AXES, 0.25, lambda row: {"href": f"#take-{row['k']}"})
    tree = ElementTree.fromstring(svg)
    assert tree.get("role") == "group"
    links = list(tree.iter("a"))
    assert [link.get("href") for link in links] == ["#take-3", "#take-5", "#take-5"]
    assert all((link.get("aria-label") or "").startswith("k = ") for link in links)


def test_nothing_to_draw() -> None:
    assert charts.histogram("x", np.array([np.nan, np.nan])) is None
    assert charts.risk_map(STRATEGIES[3:], AXES, 0.25) == ""
    assert charts.loss_curve([], None, 3.0) == ""


@pytest.mark.parametrize("points", [[], [(0.5, 9.0)], [(0.5, 9.0), (2.0, 7.5), (2.5, 7.0)]])
def test_loss_against_time(points: list[tuple[float, float]]) -> None:
    tree = ElementTree.fromstring(charts.loss_curve(points, 10.0, 4.0))
    label = tree.get("aria-label") or ""
    assert label.endswith("MDAV has 10 %.")
    assert ("Best so far" in label) == bool(points)
    curves = [each for each in tree.iter("path") if each.get("stroke") == "var(--after)"]
    assert len(curves) == bool(points)


def test_a_file_has_colours_of_its_own_for_light_and_dark() -> None:
    text = charts.as_file(charts.risk_map(STRATEGIES, AXES, 0.25))
    tree = ElementTree.fromstring(text)
    assert tree.tag == f"{SVG}svg"
    assert (tree.findtext(f"{SVG}title") or "").startswith("Risk and utility of 3 strategies")
    used = {element.get(name) for element in tree.iter() for name in ("fill", "stroke")}
    colours = {colour for colour in used if colour and colour.startswith("#")}
    style = tree.findtext(f"{SVG}style") or ""
    assert style.startswith("@media (prefers-color-scheme:dark)")
    assert {"#ffffff", "#1c2127"} <= colours
    assert all(f'="{colour}"]' in style for colour in colours)
    assert used - colours == {None, "none"}


def test_bars_count_each_category_before_and_after() -> None:
    before, after = np.array([0.0, 1.0, 1.0, np.nan]), np.array([1.0, 1.0, 1.0, np.nan])
    chart = charts.bars("job", ("nurse", "smith"), after, before)
    assert chart is not None
    assert chart.header == ("value", "before", "after")
    assert chart.rows == (("nurse", "1", "0"), ("smith", "2", "3"))
    assert charts.bars("job", ("nurse",), np.array([np.nan])) is None


def test_bars_of_many_categories_have_one_for_the_others() -> None:
    values = np.repeat(np.arange(30.0), np.arange(1, 31))
    chart = charts.bars("job", [f"job {at}" for at in range(30)], values)
    assert chart is not None
    assert len(chart.rows) == charts.MOST_BARS
    assert chart.rows[-1] == ("11 others", f"{sum(range(1, 12))}")


def test_a_histogram_of_dates_has_dates_at_its_axis() -> None:
    days = np.arange("1960-01-01", "2000-01-01", 30, dtype="datetime64[D]").astype(float)
    chart = charts.histogram("born", days * charts.SECONDS_OF_A_DAY, are_dates=True)
    assert chart is not None
    assert chart.rows[0][0] == "1960-01-01"
    assert ">1980<" in chart.svg
