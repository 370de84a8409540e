"""Every step as people see or hear it: in light and dark, at phone width, by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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


def findings(page: Page) -> list[str]:
    """Of axe-core: what is serious or critical."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
    found = axe.Axe().run(page).response["violations"]
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
            assert findings(page) == [], f"{name}, {scheme}"
            if name == "Result":
                for part in ("verdict", "measures", "distributions", "compare"):
                    page.goto(f"{server.address}/result/{part}")
                    assert findings(page) == [], f"{part}, {scheme}"
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


@pytest.mark.parametrize("columns", [10, 300])
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
