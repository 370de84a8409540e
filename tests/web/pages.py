"""The steps as a user takes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Download, Locator, Page


def send(page: Page, path: Path) -> None:
    """Upload a file and wait until it has been read, or refused."""
    page.locator("html.script").wait_for()  # without it the file would wait for the button
    with page.expect_navigation():
        page.get_by_label("A file of this computer").set_input_files(path)
    page.locator("main", has_text="First ").or_(page.locator(".says.bad, .notice")).first.wait_for()


def step(page: Page, name: str) -> None:
    """By its link at the top."""
    page.get_by_role("navigation", name="Steps").get_by_role("link", name=name).click()
    page.get_by_role("heading", level=1, name=name).wait_for()


def control(page: Page, label: str) -> Locator:
    """On a page whose script runs: before, a choice is sent only with the whole form."""
    return page.locator("html.script").get_by_label(label, exact=True)


def give_role(page: Page, column: str, role: str) -> None:
    with page.expect_response(lambda answer: answer.url.endswith("/roles") and answer.ok):
        control(page, f"Role of {column}").select_option(role)


def choose(page: Page, label: str, value: str) -> None:
    """Type into a field of Protection and leave it."""
    with page.expect_response(lambda answer: "/protection" in answer.url and answer.ok):
        control(page, label).fill(value)
        control(page, label).blur()


def unfold(page: Page, text: str) -> None:
    folded = page.locator("details", has=page.locator("summary", has_text=text)).last
    if folded.get_attribute("open") is None:
        folded.locator("summary").first.click()


def run(page: Page) -> None:
    """From the step Protection to a verdict."""
    start_run(page)
    page.get_by_role("link", name="See the result").wait_for()


def start_run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", level=1, name="Run").wait_for()


def downloaded(page: Page, name: str) -> Download:
    with page.expect_download() as download:
        page.get_by_role("link", name=name, exact=True).click()
    return download.value
