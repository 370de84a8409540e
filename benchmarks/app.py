"""How quick the browser face is, and its pictures for the docs: python -m benchmarks.app.

Needs the extras web and test, and a Chromium. `--large` adds the upload of 200 MB and ten sessions at once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from tests.web.pages import choose, give_role, send, step, unfold
from tests.web.serving import Server, eventually, serving, survey, temporary_folder

PATIENCE = 600_000
STEPS = ("data", "roles", "protection", "run", "result", "hand-over")
ROUNDS = 7
"""Of the same steps. On a machine with other work the least time says most about the pages."""


@contextmanager
def a_browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


SEEN = """addEventListener("load", () => requestAnimationFrame(() => setTimeout(() => {
  window.seen = performance.now();
})))"""
"""When a page has been drawn and its script has run, in milliseconds since it was asked for."""


def entered(browser: Browser, server: Server, **options: object) -> Page:
    page = browser.new_page(**options)  # type: ignore[arg-type]
    page.set_default_timeout(PATIENCE)
    page.add_init_script(SEEN)
    used = len(server.links)
    page.goto(server.links[-1])
    server.link(used)
    page.wait_for_selector("html.script h1#title")
    return page


def milliseconds(page: Page, path: str) -> float:
    """From a click on a step until its page is drawn, without the way to this process."""
    with page.expect_navigation():
        page.evaluate(f"document.querySelector('nav a[href=\"/{path}\"]').click()")
    return float(page.wait_for_function("window.seen").json_value())


def saved(page: Page, control: str, value: str) -> float:
    """From a choice until the page shows what follows from it."""
    page.locator("html.script").wait_for()  # before it runs, nobody saves the choice
    script = """([control, value, patience]) => new Promise((done, failed) => {
      const it = document.querySelector(control);
      const before = document.body.dataset.version;
      const began = performance.now();
      it.value = value;
      it.dispatchEvent(new Event("change", { bubbles: true }));
      const look = () => {
        if (document.body.dataset.version !== before) done(performance.now() - began);
        else if (performance.now() - began > patience) failed(new Error(`${control} was not saved`));
        else requestAnimationFrame(look);
      };
      look();
    })"""
    return float(page.evaluate(script, [control, value, PATIENCE]))


def steps(page: Page) -> dict[str, float]:
    """All of them, in milliseconds."""
    return {path: milliseconds(page, path) for path in STEPS}


def choices(page: Page) -> dict[str, float]:
    """Some of them, in milliseconds; what they make the server compute has ended before the next."""
    step(page, "Roles")
    found = {"a role is changed": saved(page, "#role-1", "drop")}
    page.get_by_text("As the file is:").wait_for()
    saved(page, "#role-1", "keys 1")
    step(page, "Protection")
    found["k is refused by itself"] = saved(page, "#k", "2")
    found["k is changed"] = saved(page, "#k", "4")
    page.get_by_text("groups of 4 or more can be formed").wait_for()
    return found


def large_file(path: Path, records: int, columns: int) -> None:
    """A hundred areas, and else numbers."""
    draw = np.random.default_rng(1)
    block = draw.normal(50, 10, size=(min(records, 50_000), columns)).round(4)
    block[:, 0] = np.arange(len(block)) % 100
    formats = ["a%d", *["%.4f"] * (columns - 1)]
    with path.open("w") as file:
        file.write(",".join(["area", *(f"x{at}" for at in range(1, columns))]) + "\n")
        for start in range(0, records, len(block)):
            np.savetxt(file, block[: records - start], fmt=formats, delimiter=",")


def memory(process: int, field: str = "VmHWM") -> float:
    """In MB; the highest so far."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) / 1000


def work_of(process: int) -> float:
    """CPU time of a process so far, in milliseconds."""
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def start_up(browser: Browser) -> None:
    times = []
    for _ in range(5):
        folder = temporary_folder()
        began = time.monotonic()
        with serving(folder) as server:
            printed = time.monotonic() - began
            page = browser.new_page()
            followed = time.monotonic()
            page.goto(server.link())
            page.wait_for_selector("html.script h1#title")
            times.append((printed, time.monotonic() - followed, work_of(server.process.pid) / 1000))
            page.close()
        shutil.rmtree(folder)
    for name, which in (("median", statistics.median), ("least", min)):
        printed, shown, worked = (which(each) for each in zip(*times, strict=True))
        print(f"start to link {printed:.2f} s, link to first page {shown:.2f} s ({name} of {len(times)})")
        print(f"  CPU time of the server for both: {worked:.2f} s")


def loaded(browser: Browser, folder: Path, records: int, columns: int) -> None:
    """All steps and some choices, once a file was read and released."""
    large_file(folder / "data.csv", records, columns)
    with serving(folder) as server:
        page = entered(browser, server, viewport={"width": 1280, "height": 720})
        began = time.monotonic()
        send(page, folder / "data.csv")
        read = time.monotonic() - began
        step(page, "Roles")
        give_role(page, "area", "strata")
        step(page, "Protection")
        unfold(page, "Method")
        choose(page, "or a recipe, such as cbfs+mhm", "mdav")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("link", name="See the result").wait_for()
        step(page, "Protection")
        page.get_by_text("This can be run:").wait_for()
        released = time.monotonic() - began - read
        print(f"{records:,} x {columns}: read in {read:.0f} s, released in {released:.0f} s")
        for measure in (steps, choices):
            rounds = [measure(page) for _ in range(ROUNDS)]
            for name in rounds[0]:
                values = [each[name] for each in rounds]
                print(f"  {name}: least {min(values):.0f} ms, median {statistics.median(values):.0f} ms")
        for name in STEPS:
            print(f"  {name}: {work_for(page, server, name):.0f} ms of the server's CPU time", flush=True)
        page.close()


def work_for(page: Page, server: Server, path: str) -> float:
    """CPU time of the server for a page, the mean of 20."""
    before = work_of(server.process.pid)
    for _ in range(20):
        page.request.get(f"{server.address}/{path}")
    return (work_of(server.process.pid) - before) / 20


def upload(browser: Browser, folder: Path) -> None:
    large_file(folder / "large.csv", 1_300_000, 20)
    size = (folder / "large.csv").stat().st_size / 1e6
    with serving(folder) as server:
        page = entered(browser, server)
        began = time.monotonic()
        page.get_by_label("A file of this computer").set_input_files(folder / "large.csv")
        arrived = eventually(lambda: next(iter(folder.glob("microagg-serve-*/*/*/large.csv")), None), 300)
        eventually(lambda: arrived.stat().st_size >= size * 1e6 - 1, 300)
        print(f"{size:.0f} MB sent in {time.monotonic() - began:.1f} s")
        most = 0.0
        while page.get_by_text("First 8 records").count() == 0:
            with_files = [memory(process) for process in server.workers()]
            most = max(most, *with_files)
            time.sleep(0.1)
        print(f"read in {time.monotonic() - began:.1f} s; largest process of a job {most:.0f} MB")
        print(f"server at most {memory(server.process.pid):.0f} MB")
        page.close()


def ten_sessions(browser: Browser, folder: Path) -> None:
    (folder / "small.csv").write_text(survey(2_000))
    with serving(folder) as server:
        pages = [entered(browser, server) for _ in range(10)]
        for page in pages:
            send(page, folder / "small.csv")
        for page in pages[:2]:
            step(page, "Roles")
            give_role(page, "size", "keys 1")
            give_role(page, "region", "pass")
            step(page, "Protection")
            unfold(page, "Method")
            choose(page, "or a recipe, such as cbfs+mhm", "anneal:steps=1000000000000")
            page.get_by_role("button", name="Run", exact=True).click()
            page.get_by_role("img", name="Best so far").wait_for()
        values = []
        for page in pages[2:]:
            values += [milliseconds(page, path) for path in ("roles", "protection", "data")]
        print(
            f"ten sessions, two jobs: a step in {statistics.median(values):.0f} ms (median), "
            f"{max(values):.0f} ms (largest of {len(values)})"
        )


def pictures(browser: Browser, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    temporary = temporary_folder()

    def taken(page: Page, name: str) -> None:
        page.wait_for_timeout(400)
        path = folder / f"{name}.png"
        page.screenshot(path=path)
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(64)
        small.save(path, optimize=True)

    with serving(temporary) as server:
        page = entered(browser, server, viewport={"width": 1000, "height": 940})
        page.get_by_role("button", name="1,000 made-up people").click()
        page.get_by_text("First 8 records").wait_for()
        taken(page, "data")
        step(page, "Roles")
        page.get_by_text("As the file is:").wait_for()
        taken(page, "roles")
        step(page, "Protection")
        page.get_by_text("This can be run:").wait_for()
        taken(page, "protection")
        step(page, "Roles")
        give_role(page, "household", "keys 1")  # the curve begins when each stratum has groups
        step(page, "Protection")
        unfold(page, "Method")
        choose(page, "or a recipe, such as cbfs+mhm", "anneal:steps=1000000000")
        page.get_by_text("This can be run:").wait_for()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("img", name="Best so far").wait_for()
        page.wait_for_timeout(15_000)
        taken(page, "run")
        page.get_by_role("button", name="Stop here, keep the best so far").click()
        page.get_by_role("link", name="See the result").wait_for()
        page.emulate_media(color_scheme="dark")
        step(page, "Result")
        taken(page, "result-dark")
        page.emulate_media(color_scheme="light")
        step(page, "Hand over")
        taken(page, "hand-over")
        page.set_viewport_size({"width": 390, "height": 760})
        step(page, "Roles")
        page.get_by_text("As the file is:").wait_for()
        taken(page, "roles-phone")
        page.close()
    shutil.rmtree(temporary)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="only draw them, into this folder")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--size", help="only the steps with data of this size, such as 2000x300")
    options = parser.parse_args()
    with a_browser() as browser:
        if options.pictures is not None:
            pictures(browser, options.pictures)
            return
        sizes = [map(int, size.split("x")) for size in (options.size or "100000x100,2000x300").split(",")]
        measures: list[Callable[[Browser, Path], None]] = [
            partial(loaded, records=records, columns=columns) for records, columns in sizes
        ]
        measures += [upload, ten_sessions] if options.large else []
        if options.size is None:
            start_up(browser)
        for measure in measures:
            folder = temporary_folder()
            measure(browser, folder)
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
