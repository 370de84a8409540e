"""Pictures of both reports for docs/report.md, of generated data: `python -m benchmarks.report_pictures`.

Needs Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from PIL import Image

import microagg
from microagg import Release, datasets

FOLDER = Path(__file__).parents[1] / "docs" / "report"
PHONE = 390
COLOURS = 128
"""Of a picture's palette: enough for flat pages."""


def companies() -> Release:
    table = datasets.sme()
    frame = pd.DataFrame(table.values, columns=list(table.columns))
    return microagg.protect(
        frame, k=3, keys=["surface", "employees"], confidential=["turnover", "net_profit"]
    )


def census() -> Release:
    table = datasets.census_like(2000)
    frame = pd.DataFrame((1000 * table.values).round(1), columns=list(table.columns))
    return microagg.protect(frame, k=5, keys=list(table.columns))


def picture(browser: str, page: Path, name: str, size: tuple[int, int], dark: bool, top: int = 0) -> None:
    """A stretch of the page from `top` on, so many pixels wide and high."""
    width, height = size
    shot = page.with_suffix(".png")
    # Chromium's window is never narrower than 500 pixels; a frame in it may be.
    frame = page.with_name("frame.html")
    frame.write_text(
        f'<!doctype html><body style="margin:0"><iframe src="{page.name}" width="{width}" '
        f'height="{top + height}" style="border:0"></iframe>'
    )
    subprocess.run(
        [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--screenshot={shot}",
         f"--window-size={max(width, 500)},{top + height}", frame.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    with Image.open(shot) as taken:
        cut = taken.convert("RGB").crop((0, top, width, top + height))
    cut.quantize(COLOURS).save(FOLDER / f"{name}.png", optimize=True)


def main() -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("There is no Chromium here.")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        pages = {}
        for name, release in (("companies", companies()), ("census", census())):
            for kind, text in (("internal", release.report()), ("external", release.external_report())):
                pages[name, kind] = Path(place) / f"{name}-{kind}.html"
                pages[name, kind].write_text(text, "utf-8")
        picture(browser, pages["companies", "internal"], "internal", (1280, 1680), dark=False)
        picture(browser, pages["census", "internal"], "internal-dark", (1280, 1500), dark=True, top=1950)
        picture(browser, pages["companies", "external"], "external", (1280, 1500), dark=False)
        picture(browser, pages["census", "external"], "external-phone", (PHONE, 1300), dark=False)
        picture(browser, pages["census", "internal"], "internal-phone", (PHONE, 1300), dark=True)


if __name__ == "__main__":
    main()
