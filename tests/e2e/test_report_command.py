"""`microagg protect` with reports: written with the release or not at all, and shown by a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from microagg import datasets
from tests.e2e.protecting import (
    COMPANIES,
    COMPANY_ROLES,
    digest,
    listing,
    mode,
    protected,
    record_of,
    refused,
    run,
    write_rows,
)

BOTH = ("--report", "internal.html", "--external-report", "external.html")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text(COMPANIES)
    return tmp_path


def test_both_reports_are_written_with_the_release(folder: Path) -> None:
    (folder / "data.csv").chmod(0o640)
    printed = protected(
        "data.csv", "-k", 3, *COMPANY_ROLES, *BOTH, "--seed", 4711, folder=folder, umask=0o022
    )
    assert "internal report, not to be released: internal.html" in printed
    assert "report for those who get the release: external.html" in printed
    internal, external = folder / "internal.html", folder / "external.html"
    assert mode(internal) == 0o600
    assert mode(external) == mode(folder / "data-protected.csv") == 0o640
    inside, outside = internal.read_text("utf-8"), external.read_text("utf-8")
    record = record_of(folder / "data-protected.csv")
    for known in ("4711", digest(folder / "data.csv"), digest(folder / "data-protected.csv"), "data.csv"):
        assert known in inside
        assert known not in outside
    assert record["output"]["digest"] in inside
    assert "INTERNAL" in inside
    assert "INTERNAL" not in outside
    assert record["verdict"]["sentence"] in outside


def test_json_names_the_reports(folder: Path) -> None:
    done = protected("data.csv", "-k", 3, *COMPANY_ROLES, *BOTH, "--json", folder=folder)
    told = json.loads(done)
    assert (told["report"], told["external_report"]) == ("internal.html", "external.html")
    told = json.loads(protected("data.csv", "-k", 3, *COMPANY_ROLES, "--json", "--force", folder=folder))
    assert "report" not in told


def test_one_report_alone(folder: Path) -> None:
    protected("data.csv", "-k", 3, *COMPANY_ROLES, "--external-report", "about.htm", folder=folder)
    assert "How these data were protected" in (folder / "about.htm").read_text("utf-8")
    assert not (folder / "internal.html").exists()


@pytest.mark.parametrize("taken", ["internal.html", "external.html"])
def test_reports_do_not_replace_files_unless_forced(folder: Path, taken: str) -> None:
    (folder / taken).write_text("mine")
    said = refused(2, folder, "data.csv", "-k", 3, *COMPANY_ROLES, *BOTH)
    assert f"{taken} exists already" in said
    assert "--force" in said
    protected("data.csv", "-k", 3, *COMPANY_ROLES, *BOTH, "--force", folder=folder)
    assert (folder / taken).read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--report", "a.html", "--external-report", "a.html"), "is named for two outputs"),
        (("--report", "a.html", "--external-report", "./x/../a.html"), "is named for two outputs"),
        (("--report", "data.csv"), "end in .html"),
        (("--report", "a.txt"), "end in .html"),
        (("--external-report", "x"), "is a folder|end in .html"),
        (("--external-report", "none/a.html"), "no folder|does not exist|there is no"),
        (("--report", "link.html"), "is the file that is read"),
        (("--report", "link.html", "--force"), "is the file that is read"),
    ],
)
def test_reports_are_refused_before_any_work(folder: Path, options: tuple[str, ...], said: str) -> None:
    (folder / "x").mkdir()
    (folder / "link.html").symlink_to("data.csv")
    message = refused(2, folder, "data.csv", "-k", 3, *COMPANY_ROLES, *options)
    assert re.search(said, message, re.I)


def test_a_link_to_another_output_is_no_other_file(folder: Path) -> None:
    (folder / "out.csv").write_text("old")
    (folder / "a.html").hardlink_to(folder / "out.csv")
    options = ("-o", "out.csv", "--report", "a.html", "--force")
    assert "is named for two outputs" in refused(2, folder, "data.csv", "-k", 3, *COMPANY_ROLES, *options)


def test_an_unsafe_release_has_no_report(folder: Path) -> None:
    roles = ("--keys", "surface", "--keys", "employees", "--drop", "company", "--pass", "turnover,profit")
    assert "NOT jointly" in refused(3, folder, "data.csv", "-k", 3, *roles, *BOTH)


def test_a_report_that_fails_leaves_nothing(folder: Path) -> None:
    before = listing(folder)
    breaks = (
        "from microagg.report import reporting\n"
        "def broken(*_): raise OSError('no space left')\n"
        "reporting.external_report = broken"
    )
    done = run("data.csv", "-k", 3, *COMPANY_ROLES, *BOTH, folder=folder, before=breaks)
    assert done.returncode != 0
    assert listing(folder) == before


def test_without_the_extra_it_says_what_to_install(folder: Path) -> None:
    breaks = "from microagg import report\nreport.find_spec = lambda name: None"
    done = run("data.csv", "-k", 3, *COMPANY_ROLES, *BOTH, folder=folder, before=breaks)
    assert done.returncode == 2
    assert "pip install 'microagg[report]'" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv"]


# --- of an assessment --------------------------------------------------------------------------


def assessed(folder: Path, *options: object) -> subprocess.CompletedProcess[str]:
    words = ("data.csv", "out.csv", "--keys", "surface,employees", *options)
    return run(*words, folder=folder, command="assess")


def test_an_assessment_can_be_written_as_a_page(folder: Path) -> None:
    protected("data.csv", "-k", 3, *COMPANY_ROLES, "--keep-order", "-o", "out.csv", folder=folder)
    named = ("--model", "profit ~ surface + employees", "--indicator", "mean surface")
    done = assessed(folder, *named, "--report", "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    text = (folder / "page.html").read_text("utf-8")
    assert mode(folder / "page.html") == 0o600
    for said in ("INTERNAL", "Information loss", "linkage_distance", "profit ~ surface + employees"):
        assert said in text
    assert not re.search(r"https?:|<script", text)
    again = assessed(folder, "--report", "page.html")
    assert again.returncode == 2
    assert "exists already" in again.stderr


@pytest.mark.parametrize(("page", "said"), [("page.csv", "end in .html"), ("link.html", "exists already")])
def test_a_page_that_cannot_be_written_is_refused(folder: Path, page: str, said: str) -> None:
    protected("data.csv", "-k", 3, *COMPANY_ROLES, "-o", "out.csv", folder=folder)
    (folder / "link.html").symlink_to("out.csv")
    done = assessed(folder, "--report", page)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_file_that_is_not_protected_is_told_on_the_page(folder: Path) -> None:
    (folder / "out.csv").write_text(COMPANIES)
    assert assessed(folder, "--report", "page.html").returncode == 3
    assert "Do not release" in (folder / "page.html").read_text("utf-8")


# --- in a browser ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("there is no Chromium here: reports are NOT TESTED in a browser")
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    table = datasets.census_like(400)
    write_rows(folder / "data.csv", table.columns, table.values.round(3).tolist())
    keys = ("--keys", ",".join(table.columns[:6]), "--pass", ",".join(table.columns[6:]))
    protected("data.csv", "-k", 3, *keys, *BOTH, "--method", "mdav", folder=folder)
    return folder


def browse(chromium: str, page: Path, *options: str) -> str:
    """The page as the browser has built it; anything that it logs fails the test."""
    own = f"--user-data-dir={page.parent / 'profile'}"
    quiet = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", own]
    logs = ["--enable-logging=stderr", "--v=0"]
    done = subprocess.run(
        [chromium, *quiet, *logs, *options, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


MEASURE = """<script>
document.title = [document.documentElement.scrollWidth, window.innerWidth].join(" ");
</script></body>"""


@pytest.mark.parametrize("name", ["internal.html", "external.html"])
def test_a_browser_shows_it_without_complaint(chromium: str, written: Path, name: str) -> None:
    built = browse(chromium, written / name, "--window-size=1280,900")
    assert built.count("<svg") == (written / name).read_text("utf-8").count("<svg")
    assert "</html>" in built


@pytest.mark.parametrize("width", [500, 1280])
@pytest.mark.parametrize("name", ["internal.html", "external.html"])
def test_nothing_scrolls_sideways_but_tables(chromium: str, written: Path, name: str, width: int) -> None:
    """500 pixels are the least that Chromium's window has; an inner frame is narrower."""
    text = (written / name).read_text("utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)
    assert policy
    page = written / f"measured-{width}-{name}"
    inner = text.replace(policy[0], "").replace("</body>", MEASURE)
    if width == 500:
        (written / f"inner-{name}").write_text(inner, "utf-8")
        frame = f'<iframe src="inner-{name}" width="390" height="800" style="border:0"></iframe>'
        read = (
            "<script>onload = () => { const d = frames[0].document; "
            'document.title = d.documentElement.scrollWidth + " 390"; }</script>'
        )
        page.write_text(f"<!doctype html><body>{frame}{read}</body>", "utf-8")
        built = browse(chromium, page, "--allow-file-access-from-files", "--virtual-time-budget=3000")
    else:
        page.write_text(inner, "utf-8")
        built = browse(chromium, page, f"--window-size={width},900")
    title = re.search(r"<title>(\d+) (\d+)</title>", built)
    assert title
    assert int(title[1]) <= int(title[2])
