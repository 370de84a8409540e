"""From a file to a protected one and its reports, in a browser."""

from __future__ import annotations

import json
import re
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from tests.e2e.fork_server import outcome
from tests.web.pages import choose, control, downloaded, give_role, run, send, start_run, step, unfold
from tests.web.serving import PATIENCE, Server, eventually, serving, survey

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

Visit = Callable[..., "Page"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(survey(120))
    return path


FOREVER = "anneal:steps=1000000000000"


def take_forever(page: Page) -> None:
    """Until somebody stops it."""
    step(page, "Roles")
    give_role(page, "size", "keys 1")
    give_role(page, "region", "pass")
    step(page, "Protection")
    unfold(page, "Method")
    choose(page, "or a recipe, such as cbfs+mhm", FOREVER)
    page.get_by_text("This can be run:").wait_for()
    start_run(page)
    page.get_by_role("img", name="Best so far").wait_for()


def test_the_whole_journey(server: Server, visit: Visit, data: Path, tmp_path: Path) -> None:
    page = visit(server)
    assert page.get_by_role("button", name="Cancel").count() == 0  # nothing is sent yet
    send(page, data)
    page.get_by_role("link", name="Next: roles").click()
    give_role(page, "size", "keys 1")
    give_role(page, "income", "keys 1")
    page.get_by_role("button", name="Next: how to protect").click()
    choose(page, "Smallest group, k", "4")
    page.get_by_text("groups of 4 or more can be formed").wait_for()
    run(page)
    page.get_by_role("link", name="See the result").click()
    for part in ("Verdict", "Correlations", "Utility", "Risk"):
        page.get_by_role("navigation", name="Parts of the result").get_by_role("link", name=part).click()
        page.get_by_role("heading", level=2, name=part).wait_for()
    definition = page.locator(".report span[title]").first.get_attribute("title") or ""
    assert len(definition) > 20
    page.get_by_role("link", name="Overview").click()
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

    (tmp_path / "data-protected.csv.microagg.json").write_bytes(Path(record.path()).read_bytes())
    repetition = shlex.split(page.locator("#repetition").inner_text())
    outcome(*repetition[1:], folder=tmp_path).check_returncode()
    again = tmp_path / "data-protected.csv"
    assert again.read_bytes() == Path(protected.path()).read_bytes()
    # other random choices, but the same settings
    (tmp_path / "plan.toml").write_bytes(Path(downloaded(page, "plan.toml").path()).read_bytes())
    command = shlex.split(page.locator("#command").inner_text())
    for arguments in (command[1:], ["protect", "--plan", "plan.toml"]):
        outcome(*arguments, "--force", folder=tmp_path).check_returncode()
        masked = pd.read_csv(again)
        assert len(masked) == len(pd.read_csv(protected.path()))
        assert masked.groupby(["region", "age", "size", "income", "rent"]).size().min() >= 4


def test_a_click_while_a_choice_is_saved_is_not_lost(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    page.get_by_role("link", name="Next: roles").click()
    held: list[Route] = []
    page.route("**/roles", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/roles"):
        control(page, "Role of size").select_option("keys 1")
    page.get_by_role("button", name="Next: how to protect").click()
    (saving,) = held
    saving.continue_()
    page.get_by_role("heading", level=1, name="Protection").wait_for()


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


def test_a_refusal_is_settled_by_its_button(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    step(page, "Protection")
    choose(page, "Smallest group, k", "2")
    page.get_by_text("each member of a group can compute").wait_for()
    assert page.get_by_role("button", name="Run", exact=True).count() == 0
    page.get_by_role("button", name="k = 3").click()
    page.get_by_text("This can be run:").wait_for()
    assert page.get_by_label("Smallest group, k").input_value() == "3"


def test_many_columns_are_found_by_name_and_by_role(server: Server, visit: Visit, tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame(draw.normal(50, 10, (60, 14)).round(2)).rename(columns="x{}".format)
    frame.to_csv(tmp_path / "data.csv", index=False)
    page = visit(server)
    send(page, tmp_path / "data.csv")
    step(page, "Roles")
    give_role(page, "x3", "pass")
    found = page.locator("#filtered")
    for sought, shown in (("x1", 5), ("released unchanged", 1), ("KEYS", 13), ("pass", 1), ("nothing", 0)):
        page.locator("#filter").fill(sought)
        assert found.inner_text() == f"{shown} of 14 columns"
        assert page.locator("table.columns tbody tr:visible").count() == shown
    page.locator("#filter").fill("x3")
    give_role(page, "x3", "drop")
    page.get_by_text("not released: 1").wait_for()
    assert found.inner_text() == "1 of 14 columns"
    page.locator("#filter").fill("")
    assert found.inner_text() == ""


def test_buttons_stay_in_view_beside_many_reasons(server: Server, visit: Visit, tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame(draw.normal(50, 10, (60, 6)).round(2), columns=list("abcdef"))
    for name in "abcdef":
        frame[f"twice_{name}"] = 2.0 * frame[name]
    frame.to_csv(tmp_path / "data.csv", index=False)
    page = visit(server, viewport={"width": 1280, "height": 720})
    send(page, tmp_path / "data.csv")
    for at in range(12):
        form = {f"role.{at}": "keys 1" if at < 6 else "pass"}
        assert page.request.post(
            f"{server.address}/roles", form=form, headers={"origin": server.address}
        ).ok
    step(page, "Protection")
    page.get_by_text("Not with these data:").wait_for()
    unfold(page, "4 more reasons")
    page.get_by_text("twice_f, which is released").wait_for()
    page.locator(".bar .rest summary").click()
    bottom = page.get_by_role("button", name="Leave out").last.bounding_box()
    assert bottom is not None
    assert bottom["y"] + bottom["height"] <= 720


def test_a_run_that_is_stopped_keeps_the_best_so_far(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    take_forever(page)
    page.reload()  # in mid-run
    page.get_by_role("img", name="Best so far").wait_for()
    page.get_by_role("button", name="Stop here, keep the best so far").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Stopped early, with the best groups so far").wait_for()
    assert page.evaluate("document.activeElement") is not None
    page.get_by_role("heading", level=1, name="Run").wait_for()


ANNOUNCED = """() => {
  window.announced = 0;
  const live = "[role=status], [role=alert], [role=log], [aria-live]:not([aria-live=off])";
  const count = (node) => (node.textContent || "").length;
  new MutationObserver((changes) => {
    for (const change of changes) {
      const place = change.target.nodeType === 1 ? change.target : change.target.parentElement;
      if (!place || !place.closest(live)) continue;
      if (change.type === "characterData") window.announced += count(change.target);
      for (const node of change.addedNodes) window.announced += count(node);
    }
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
  for (const button of document.querySelectorAll("main button")) button.seen = true;
}"""
"""Counts the characters that a screen reader would read out, and marks the buttons that are there."""


def test_a_run_is_quiet_and_its_buttons_stay(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    take_forever(page)
    page.evaluate(ANNOUNCED)
    page.get_by_role("button", name="Discard this run").focus()
    page.wait_for_timeout(10_000)
    assert page.evaluate("window.announced") <= 400
    assert page.evaluate("document.activeElement.textContent") == "Discard this run"
    assert page.evaluate("[...document.querySelectorAll('main button')].every((button) => button.seen)")
    page.keyboard.press("Enter")
    page.get_by_text("Stopped:").wait_for()


def test_two_tabs_agree(server: Server, visit: Visit, data: Path) -> None:
    one = visit(server)
    send(one, data)
    step(one, "Roles")
    other = one.context.new_page()
    other.goto(f"{server.address}/roles")
    give_role(one, "size", "pass")
    other.get_by_text("released unchanged: 1").wait_for()
    assert other.get_by_label("Role of size").input_value() == "pass"
    step(other, "Protection")
    step(one, "Protection")
    choose(one, "Smallest group, k", "7")
    other.get_by_text("groups of 7 or more can be formed").wait_for()
    assert other.get_by_label("Smallest group, k").input_value() == "7"
    one.get_by_role("link", name="End the session").click()
    one.get_by_role("button", name="End the session and remove its files").click()
    one.get_by_text("The session has ended").wait_for()
    other.get_by_text("This page can be opened only by its link").wait_for()
    assert "data.csv" not in other.content()
    one.get_by_role("link", name="Start again").click()
    one.get_by_text("Choose the file to protect").wait_for()


def test_a_refusal_is_shown_until_the_next_choice(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    form = {"version": "of an older page", "k": "4"}
    answer = page.request.post(
        f"{server.address}/protection", form=form, headers={"origin": server.address}
    )
    page.goto(answer.url)
    page.get_by_text("This can be run:").wait_for()  # a change by itself, which leaves the notice
    assert "changed in another tab" in page.locator("#notice").inner_text()
    choose(page, "Smallest group, k", "5")
    page.get_by_text("groups of 5 or more can be formed").wait_for()
    assert page.locator("#notice").inner_text() == ""
    page.reload()
    page.get_by_text("This can be run:").wait_for()
    assert page.locator("#notice").inner_text() == ""


def test_without_script_everything_works(browser: Browser, server: Server, data: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    used = len(server.links)
    page.goto(server.links[-1])
    server.link(used)
    page.get_by_label("A file of this computer").set_input_files(data)
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("First 8 records").wait_for()
    page.get_by_role("link", name="Next: roles").click()
    page.get_by_label("Role of size", exact=True).select_option("drop")
    page.get_by_role("button", name="Next: how to protect").click()
    page.get_by_label("Smallest group, k").fill("4")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="See the result").wait_for()
    page.get_by_role("link", name="Hand over").first.click()
    assert "size" not in pd.read_csv(downloaded(page, "data-protected.csv").path()).columns
    context.close()


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
    page.get_by_text("if that is right").first.wait_for()
    page.get_by_role("button", name="Read it with “Sign between fields: :”").wait_for()
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
    for part in ("Verdict", "Utility", "Columns of the source", "Distributions before and after"):
        page.get_by_role("link", name=part).click()
        page.get_by_role("heading", level=2, name=part).wait_for()
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
    unfold(page, "Method")
    page.get_by_label("Method", exact=True).select_option("descent")  # `auto` would prove so few optimal
    page.get_by_text("This can be run:").wait_for()
    run(page)
    step(page, "Result")
    unfold(page, "How near to the optimum is it?")
    page.get_by_role("button", name="Prove a bound").click()
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("Recommended:").wait_for()
    point = page.get_by_role("link", name=re.compile("^k = 5, mdav; information loss, %: "))
    point.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Take k = 5, mdav").click()
    page.get_by_role("heading", level=1, name="Protection").wait_for()
    assert page.get_by_label("Smallest group, k").input_value() == "5"
    assert page.locator("#method").input_value() == "mdav"
    step(page, "Result")
    page.get_by_text("Settings were changed").wait_for()
    unfold(page, "How near to the optimum is it?")
    page.get_by_text("Proven: No groups can lose less than").wait_for()
    page.get_by_role("link", name="Groups and loss").click()
    assert "no bound was proven" not in page.locator("main").inner_text()


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


def test_a_server_that_is_killed_is_missed_and_choices_survive(
    browser: Browser, temporary: Path, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text(survey(300))
    with serving(temporary, XDG_STATE_HOME=str(temporary)) as server:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.goto(server.link())
        send(page, tmp_path / "data.csv")
        take_forever(page)
        [left] = temporary.glob("microagg-serve-*")
        server.end(signal.SIGKILL)
        page.get_by_text("The connection to the server is lost").wait_for()
        assert page.get_by_role("heading", level=1, name="Run").count() == 1
        context.close()
        eventually(lambda: not server.workers())
    with serving(temporary, XDG_STATE_HOME=str(temporary)) as server:
        assert not left.exists()
        cookie = server.opened((tmp_path / "data.csv").read_text())
        assert "3 choices that you made before are in force" in server.page(cookie, "/data")


def test_an_upload_can_be_cancelled(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    held: list[Route] = []
    page.route("**/data", lambda route: held.append(route))
    page.get_by_label("A file of this computer").set_input_files(data)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("progressbar", name="Sent so far").wait_for(state="hidden")
    page.unroute("**/data")
    assert page.get_by_text("Choose the file to protect").count() == 1
    send(page, data)  # the same file can be chosen again
    page.get_by_text("First 8 records").wait_for()


def test_a_connection_that_was_lost_is_found_again(browser: Browser, server: Server, data: Path) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    used = len(server.links)
    page.goto(server.links[-1])
    server.link(used)
    send(page, data)
    step(page, "Roles")
    other = context.new_page()
    other.goto(f"{server.address}/roles")
    other.route("**/events", lambda route: route.fulfill(status=503))
    other.reload()
    other.get_by_text("The connection to the server is lost").wait_for()
    give_role(page, "size", "pass")
    other.unroute("**/events")
    other.get_by_text("released unchanged: 1").wait_for()
    assert other.locator("#lost").inner_text() == ""
    assert other.get_by_label("Role of size").input_value() == "pass"
    other.route("**/roles", lambda route: route.abort())
    control(other, "Role of rent").select_option("pass")
    other.get_by_text("This choice is not saved yet").wait_for()
    other.unroute("**/roles")
    other.get_by_text("released unchanged: 2").wait_for()
    assert other.locator("#lost").inner_text() == ""
    other.route("**/events", lambda route: route.fulfill(status=503))
    other.goto(f"{server.address}/data")
    other.get_by_text("The connection to the server is lost").wait_for()
    other.unroute("**/events")
    unfold(other, "Choose another file")  # what is sent meanwhile is shown
    send(other, data.rename(data.with_name("other.csv")))
    other.locator("#about", has_text="other.csv").wait_for()
    context.close()


def test_the_focus_is_on_the_page_when_a_file_was_read(
    server: Server, visit: Visit, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text(survey(20_000))
    page = visit(server)
    held: list[Route] = []
    page.route("**/events", lambda route: held.append(route))  # the page does not hear when that is
    with page.expect_navigation(), page.expect_request("**/events"):
        page.get_by_label("A file of this computer").set_input_files(tmp_path / "data.csv")
    page.get_by_role("button", name="Cancel").focus()
    eventually(lambda: "First 8" in page.request.get(f"{server.address}/data").text())
    held[-1].continue_()
    page.get_by_text("First 8 records").wait_for()
    assert page.evaluate("document.activeElement.id") == "title"


def test_the_focus_is_on_the_page_when_a_run_ends(server: Server, visit: Visit, data: Path) -> None:
    page = visit(server)
    send(page, data)
    take_forever(page)
    page.get_by_role("button", name="Discard this run").focus()
    assert page.request.post(f"{server.address}/stop", headers={"origin": server.address}).ok
    page.get_by_role("link", name="See the result").wait_for()
    assert page.evaluate("document.activeElement.id") == "title"


def test_another_file_is_opened_beside_a_run_and_a_release(
    server: Server, visit: Visit, data: Path, tmp_path: Path
) -> None:
    """The release stays, mistakes change nothing, and choices follow the names of columns."""
    page = visit(server)
    send(page, data)
    step(page, "Roles")
    give_role(page, "size", "drop")
    step(page, "Protection")
    page.get_by_text("This can be run:").wait_for()
    run(page)
    step(page, "Data")
    for name, content in (
        ("empty.csv", b""),
        ("letter.docx", b"PK"),
        ("ragged.csv", b"a,b\n1,2\n3\n4,5,6\n"),
    ):
        (tmp_path / name).write_bytes(content)
        unfold(page, "Choose another file")
        send(page, tmp_path / name)
        page.locator(".says.bad, .notice").first.wait_for()
        assert page.locator("#about").inner_text().startswith("data.csv")
    (tmp_path / "other.csv").write_text(survey(100, seed=8))
    unfold(page, "Choose another file")
    send(page, tmp_path / "other.csv")
    page.get_by_text("1 choice that you made before is in force").wait_for()
    step(page, "Hand over")
    page.get_by_text("Settings were changed").wait_for()
    assert "size" not in pd.read_csv(downloaded(page, "data-protected.csv").path()).columns
