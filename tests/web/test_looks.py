"""Every step as people see or hear it: in light and dark, at phone width, by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from tests.web.pages import give_role, run, send, step
from tests.web.serving import Server, survey

if TYPE_CHECKING:
    from playwright.sync_api import Page

Visit = Callable[..., "Page"]

STEPS = ("Data", "Roles", "Protection", "Run", "Result", "Hand over")
HEIGHT = 720


def released(page: Page, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(survey(120))
    send(page, tmp_path / "data.csv")
    step(page, "Roles")
    give_role(page, "age", "confidential")
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    run(page)


def findings(page: Page, scheme: str = "light") -> list[str]:
    """Of axe-core: what is serious or critical. In the dark only colours differ."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
    options = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    found = axe.Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def test_no_step_has_serious_barriers_or_is_too_wide_for_a_phone(
    server: Server, visit: Visit, tmp_path: Path
) -> None:
    page = visit(server)
    assert findings(page) == []
    released(page, tmp_path)
    for name in STEPS:
        page.set_viewport_size({"width": 1280, "height": 800})
        step(page, name)
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert findings(page, scheme) == [], f"{name}, {scheme}"
            if name == "Result":
                for part in ("verdict", "measures", "distributions", "compare"):
                    page.goto(f"{server.address}/result/{part}")
                    assert findings(page, scheme) == [], f"{part}, {scheme}"
        page.set_viewport_size({"width": 390, "height": 800})
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name


def test_the_keyboard_is_enough(server: Server, visit: Visit) -> None:
    page = visit(server)
    keys = page.keyboard

    def tab_to(name: str) -> None:
        for _ in range(60):
            keys.press("Tab")
            text = page.evaluate(
                "(document.activeElement.getAttribute('aria-label') || document.activeElement.id"
                " || document.activeElement.textContent).trim()"
            )
            if text == name:
                return
        raise AssertionError(f"{name} cannot be reached")

    tab_to("11 companies")
    keys.press("Enter")
    page.get_by_text("Next: roles").wait_for()
    tab_to("Next: roles of the columns")
    keys.press("Enter")
    page.get_by_role("heading", level=1, name="Roles").wait_for()
    tab_to("Role of surface")
    keys.press("c")  # confidential
    page.get_by_text("confidential: 1").wait_for()
    tab_to("Next: how to protect")
    keys.press("Enter")
    page.get_by_role("button", name="Run", exact=True).wait_for()
    page.get_by_text("This can be run:").wait_for()
    tab_to("Run")
    keys.press("Enter")
    page.get_by_role("link", name="See the result").wait_for()
    tab_to("See the result")
    keys.press("Enter")
    page.get_by_role("heading", level=1, name="Result").wait_for()


@pytest.mark.parametrize("columns", [10, 100, pytest.param(300, marks=pytest.mark.long)])
def test_the_result_takes_two_screens(server: Server, visit: Visit, tmp_path: Path, columns: int) -> None:
    draw = np.random.default_rng(columns)
    names = [f"a_name_of_some_length_{at}" for at in range(columns)]
    frame = pd.DataFrame(draw.normal(50, 10, (60, columns)).round(2), columns=names)
    frame.to_csv(tmp_path / "wide.csv", index=False)
    page = visit(server, viewport={"width": 1280, "height": HEIGHT})
    send(page, tmp_path / "wide.csv")
    for at, role in enumerate(("pass", "pass", "pass", "pass")):
        assert page.request.post(
            f"{server.address}/roles",
            form={f"role.{at}": role, "only": "1"},
            headers={"origin": server.address},
        ).ok
    page.request.post(f"{server.address}/protection", form={"k": "3", "method": "mdav", "then": "run"},
                      headers={"origin": server.address})  # fmt: skip
    page.goto(f"{server.address}/run")
    page.get_by_role("link", name="See the result").click()
    page.get_by_role("heading", level=1, name="Result").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * HEIGHT


DRAWN = """() => {
  const box = (each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return { x, y, width, height };
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const size = (each) => {
    const to_screen = each.getScreenCTM();
    return parseFloat(getComputedStyle(each).fontSize) * Math.hypot(to_screen.a, to_screen.b);
  };
  const marks = (selector) => Object.fromEntries(
    all(selector).map((each) => [each.getAttribute("d"), box(each).width]));
  return {
    texts: all("figure text").map((each) => ({ text: each.textContent, size: size(each), ...box(each) })),
    points: all("figure a.point > circle:first-of-type").map(box),
    drawn: marks("figure a.point > path"),
    explained: marks("figure svg > g:not(a) > path"),
    buttons: all(".strategies .button").map((each) => [box(each), box(each.closest("tr"))]),
    width: document.documentElement.scrollWidth,
  };
}"""
"""What a browser makes of a comparison, in pixels."""


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 1.0 and down > 1.0


def test_a_comparison_can_be_read_and_touched_at_a_desk_and_on_a_phone(
    server: Server, visit: Visit
) -> None:
    cookie = server.released(survey(60), method="mdav")
    form = {"k": "3, 4, 5, 6, 8, 10", "methods": "mdav, cbfs, v-mdav", "max_risk": "0.1"}
    assert server.post(cookie, "/compare", **form) == (303, "/result/compare")
    server.shows(cookie, "/result/compare", "Recommended:")
    page = visit(server)
    name, _, value = cookie.partition("=")
    page.context.add_cookies([{"name": name, "value": value, "url": server.address}])
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{server.address}/result/compare")
        found = page.evaluate(DRAWN)
        assert found["width"] <= width
        assert len(found["points"]) == len(found["buttons"]) > 8
        assert [one["text"] for one, other in combinations(found["texts"], 2) if overlap(one, other)] == []
        assert min(each["size"] for each in found["texts"]) >= 9.0
        assert min(min(each["width"], each["height"]) for each in found["points"]) >= 24.0
        in_legend = {shape: found["explained"][shape] for shape in found["drawn"]}
        assert in_legend == pytest.approx(found["drawn"], abs=0.5)
        for button, row in found["buttons"]:
            middle = row["y"] + row["height"] / 2
            assert button["y"] + button["height"] / 2 == pytest.approx(middle, abs=2.0)
