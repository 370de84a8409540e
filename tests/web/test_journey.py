"""From a file to a protected one and its reports, in a browser."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from tests.e2e.fork_server import outcome
from tests.web.pages import downloaded, give_role, run, send, start_run, step
from tests.web.serving import Server, eventually, survey

if TYPE_CHECKING:
    from playwright.sync_api import Page

Visit = Callable[..., "Page"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(survey(400))
    return path


FOREVER = "anneal:steps=1000000000000"


def take_forever(page: Page) -> None:
    """Until somebody stops it."""
    step(page, "Roles")
    give_role(page, "size", "keys 1")
    give_role(page, "region", "pass")
    step(page, "Protection")
    recipe = page.get_by_label("or a recipe")
    recipe.fill(FOREVER)
    recipe.blur()
    page.get_by_text("This can be run:").wait_for()
    start_run(page)
    page.get_by_role("img", name="Best so far").wait_for()


def test_the_whole_journey(server: Server, visit: Visit, data: Path, tmp_path: Path) -> None:
    page = visit(server)
    send(page, data)
    page.get_by_role("link", name="Next: roles").click()
    give_role(page, "size", "keys 1")
    give_role(page, "income", "keys 1")
    page.get_by_role("link", name="Next: how to protect").click()
    page.get_by_label("Smallest group, k").fill("4")
    page.get_by_label("Smallest group, k").blur()
    page.get_by_text("groups of 4 or more can be formed").wait_for()
    run(page)
    page.get_by_role("link", name="See the result").click()
    page.get_by_role("heading", name="Distributions before and after").wait_for()
    shown = page.locator("main").inner_text()
    for part in ("Verdict", "Correlations", "Utility", "Risk", "smallest allowed group"):
        assert part in shown
    definition = page.locator(".report span[title]").first.get_attribute("title") or ""
    assert len(definition) > 20
    page.get_by_role("link", name="Next: hand over").click()
    page.get_by_role("heading", level=1, name="Hand over").wait_for()

    protected = downloaded(page, "data-protected.csv")
    assert protected.suggested_filename == "data-protected.csv"
    masked = pd.read_csv(protected.path())
    assert masked.groupby(["region", "age", "size", "income", "rent"]).size().min() >= 4
    for name in ("internal-report.html", "external-report.html"):
        assert Path(downloaded(page, name).path()).read_text("utf-8").startswith("<!doctype html>")
    record = downloaded(page, "data-protected.csv.microagg.json")
    assert json.loads(Path(record.path()).read_text())["plan"]["k"] == 4

    command = shlex.split(page.locator("#command").inner_text())
    outcome(*command[1:], folder=tmp_path).check_returncode()
    assert (tmp_path / "data-protected.csv").read_bytes() == Path(protected.path()).read_bytes()
    (tmp_path / "plan.toml").write_bytes(Path(downloaded(page, "plan.toml").path()).read_bytes())
    outcome("protect", "--plan", "plan.toml", "--force", folder=tmp_path).check_returncode()
    assert (tmp_path / "data-protected.csv").read_bytes() == Path(protected.path()).read_bytes()


def test_a_stata_file_keeps_its_labels(server: Server, visit: Visit, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"income": draw.gamma(3, 900, 90).round(1), "age": draw.integers(18, 90, 90), "sex": [1, 2] * 45}
    )
    pyreadstat.write_dta(
        frame, str(tmp_path / "persons.dta"),
        column_labels=["Income in euros", "Age in years", "Sex"],
        variable_value_labels={"sex": {1: "female", 2: "male"}},
    )  # fmt: skip
    page = visit(server)
    send(page, tmp_path / "persons.dta")
    step(page, "Roles")
    page.get_by_text("Income in euros").wait_for()
    give_role(page, "income", "keys 1")
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    run(page)
    step(page, "Hand over")
    target = tmp_path / "out.dta"
    target.write_bytes(Path(downloaded(page, "persons-protected.dta").path()).read_bytes())
    masked, meta = pyreadstat.read_dta(str(target))
    assert meta.column_names_to_labels["income"] == "Income in euros"
    assert meta.variable_value_labels["sex"] == {1: "female", 2: "male"}
    assert masked.groupby(["sex", "income", "age"]).size().min() >= 3


def test_unsafe_settings_are_refused_with_the_reason(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    step(page, "Roles")
    give_role(page, "size", "keys 1")
    give_role(page, "rent", "keys 2")
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    k = page.get_by_label("Smallest group, k")
    k.fill("2")
    k.blur()
    page.get_by_text("each of the two members of a group can compute").wait_for()
    assert page.get_by_role("button", name="Run", exact=True).count() == 0
    k.fill("300")
    k.blur()
    page.get_by_text("2 of 2 strata (region) have fewer than k = 300 records").wait_for()
    assert "--small-strata" not in page.locator("main").inner_text()
    k.fill("3")
    k.blur()
    page.get_by_text("This can be run:").wait_for()
    start_run(page)
    page.get_by_text("Refused: Nothing is released. The release is k-anonymous per subset").wait_for()
    step(page, "Hand over")
    page.get_by_text("nothing can be handed over").wait_for()
    answer = page.context.request.get(f"{server.address}/get/protected")
    assert answer.status == 404


def test_a_run_that_is_stopped_keeps_the_best_so_far(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    take_forever(page)
    page.reload()  # in mid-run
    page.get_by_role("img", name="Best so far").wait_for()
    page.get_by_role("button", name="Stop here, keep the best so far").click()
    page.get_by_text("Verified:").wait_for()
    page.get_by_text("Stopped early, with the best groups so far").wait_for()


@pytest.mark.parametrize("held", ["mouse", "keyboard"])
def test_a_button_that_is_drawn_again_while_it_is_held_acts_once(
    server: Server, visit: Visit, data: Path, held: str
) -> None:
    page = visit(server)
    send(page, data)
    take_forever(page)
    page.evaluate("""() => {
        window.told = [];
        const tell = Shiny.setInputValue;
        Shiny.setInputValue = (name, value, ...more) => {
            if (name === "did") window.told.push(value.act);
            tell(name, value, ...more);
        };
    }""")
    button = page.get_by_role("button", name="Give up")
    if held == "mouse":
        button.hover()
        press, release = page.mouse.down, page.mouse.up
    else:
        button.focus()
        press, release = lambda: page.keyboard.down(" "), lambda: page.keyboard.up(" ")
    before = button.element_handle()
    press()
    page.wait_for_function(
        "(before) => !before.isConnected && document.activeElement.dataset.act === 'give-up'", arg=before
    )
    release()
    page.get_by_text("Stopped:").wait_for()
    page.get_by_role("button", name="Run again").press("Enter")
    button.click()
    page.get_by_text("Stopped:").wait_for()
    assert page.evaluate("window.told") == ["give-up", "run", "give-up"]


@pytest.mark.long
def test_a_run_can_be_given_up(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    take_forever(page)
    page.get_by_role("button", name="Give up").click()
    page.get_by_text("Stopped:").wait_for()
    step(page, "Hand over")
    page.get_by_text("nothing can be handed over").wait_for()


def test_everything_is_there_after_a_reload(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    step(page, "Roles")
    give_role(page, "size", "drop")
    page.get_by_text("not released: 1").wait_for()
    page.reload()
    page.get_by_text("not released: 1").wait_for()
    assert page.get_by_label("Role of size").input_value() == "drop"
    for path, title in (("protection", "Protection"), ("run", "Run"), ("data", "Data")):
        page.goto(f"{server.address}/{path}")
        page.get_by_role("heading", level=1, name=title).wait_for()
        assert page.title() == f"{title} – microagg"
    page.go_back()
    page.get_by_role("heading", level=1, name="Run").wait_for()


def test_two_users_do_not_meet(server: Server, visit: Visit, data: Path, tmp_path: Path) -> None:
    other_data = tmp_path / "other.csv"
    other_data.write_text(survey(60, seed=8))
    one, other = visit(server), visit(server)
    send(one, data)
    send(other, other_data)
    assert "data.csv" in one.locator("main").inner_text()
    assert "other.csv" in other.locator("main").inner_text()
    step(one, "Roles")
    give_role(one, "size", "drop")
    one.get_by_text("not released: 1").wait_for()
    step(other, "Roles")
    other.get_by_text("5 columns –").wait_for()
    assert other.get_by_label("Role of size").input_value() != "drop"


def test_a_file_that_is_not_what_its_name_says(server: Server, visit: Visit, tmp_path: Path) -> None:
    page = visit(server)
    (tmp_path / "table.parquet").write_text(survey(20))
    send(page, tmp_path / "table.parquet")
    refusal = page.get_by_text("table.parquet cannot be read as Parquet: it begins like")
    refusal.wait_for()
    assert str(server.temporary) not in page.locator("main").inner_text()


def test_a_csv_file_is_read_again_as_it_is_said_to_be(server: Server, visit: Visit, tmp_path: Path) -> None:
    rows = [f"{at}:{at * 7 % 13 + 1},5" for at in range(40)]
    (tmp_path / "data.csv").write_bytes("\n".join(["größe:wert", *rows]).encode("latin-1"))
    page = visit(server)
    send(page, tmp_path / "data.csv")
    page.get_by_text("if that is right").wait_for()
    page.locator("#delimiter").evaluate("(it) => it.add(new Option('colon', ':'))")
    page.locator("#delimiter").select_option(":")
    page.locator("#encoding").select_option("latin-1")
    page.locator("#decimal").select_option(",")
    page.get_by_role("button", name="Read it again").click()
    page.get_by_role("columnheader", name="größe").wait_for()
    step(page, "Roles")
    assert page.get_by_role("row", name="wert numbers").count() == 1


NASTY = [
    '<script>document.title="x"</script>',
    '=HYPERLINK("http://x")',
    "a\"'><img src=x onerror=alert(1)>",
    "$(rm)",
]


def test_names_of_columns_are_text_everywhere(server: Server, visit: Visit, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(60, 4)).round(2), columns=NASTY)
    frame.to_csv(tmp_path / "data.csv", index=False)
    page = visit(server)
    send(page, tmp_path / "data.csv")
    for name in NASTY:
        page.get_by_role("columnheader", name=name, exact=True).wait_for()
    step(page, "Roles")
    page.get_by_label(f"Role of {NASTY[0]}", exact=True).wait_for()
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    run(page)
    step(page, "Result")
    page.get_by_role("heading", name="Risk").wait_for()
    assert page.locator("main script, main img").count() == 0
    step(page, "Hand over")
    assert page.title() == "Hand over – microagg"
    for name in ("internal-report.html", "external-report.html"):
        text = Path(downloaded(page, name).path()).read_text("utf-8")
        assert "<script" not in text
        assert "<img" not in text
    command = shlex.split(page.locator("#command").inner_text())
    outcome(*command[1:], folder=tmp_path).check_returncode()
    masked = pd.read_csv(tmp_path / "data-protected.csv")
    assert list(masked.columns) == NASTY


def test_a_bound_and_a_comparison_on_demand(server: Server, visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(survey(60))
    page = visit(server)
    send(page, tmp_path / "data.csv")
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    page.get_by_label("Method", exact=True).select_option("descent")  # `auto` would prove so few optimal
    run(page)
    step(page, "Result")
    page.get_by_text("How near to the optimum is it?").click()
    page.get_by_role("button", name="Prove a bound").click()
    page.get_by_text("Would another k or method be better?").click()
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("Recommended:").wait_for()
    point = page.get_by_role("button", name=re.compile("Take k = 5, mdav: loss"))
    point.wait_for()
    page.get_by_text("Proven: No groups can lose less than").wait_for()
    point.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="Protection").wait_for()
    assert page.get_by_label("Smallest group, k").input_value() == "5"
    assert page.get_by_label("Method", exact=True).input_value() == "mdav"
    step(page, "Result")
    page.get_by_text("Settings were changed since this release").wait_for()


def test_a_small_file_is_proven_without_asking(server: Server, visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(survey(60))
    page = visit(server)
    send(page, tmp_path / "data.csv")
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    run(page)
    step(page, "Result")
    page.get_by_text("How near to the optimum is it?").click()
    page.get_by_text("Proven: No groups can lose less than").wait_for()
    assert page.get_by_role("button", name="Prove a bound").count() == 0


def test_a_session_that_is_ended_leaves_nothing(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    before = len(server.folders)
    page.get_by_role("button", name="End the session").click()
    page.get_by_text("The session has ended").wait_for()
    answer = page.context.request.get(server.address)
    assert answer.status == 403
    eventually(lambda: len(server.folders) == before - 1)


def test_codes_for_missing_answers_are_in_force(server: Server, visit: Visit, tmp_path: Path) -> None:
    """What the field shows is what acts: accepting all suggestions releases no age of 999 or near it."""
    draw = np.random.default_rng(4)
    age = np.where(np.arange(300) % 30 == 0, 999, draw.integers(18, 90, 300))
    frame = pd.DataFrame({"age": age, "rent": draw.gamma(3, 200, 300).round(1)})
    frame.to_csv(tmp_path / "ages.csv", index=False)
    page = visit(server)
    send(page, tmp_path / "ages.csv")
    step(page, "Roles")
    field = page.get_by_label("Codes for missing in age")
    assert field.input_value() == "999"
    assert "999 in 10 records" in page.locator("main").inner_text()
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    run(page)
    step(page, "Hand over")
    assert pd.read_csv(downloaded(page, "ages-protected.csv").path())["age"].max() < 100
