"""A forced overwrite that is interrupted, or fails midway, ends as all old or all new, and says which."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import microagg
from microagg import errors, write
from microagg.write import drafts
from tests.e2e.protecting import listing, protected, run, survey

NAMES = (
    "out.csv",
    "internal.html",
    "external.html",
    "microagg-internal/out.csv.microagg.json",
    "microagg-internal/out.csv.plan.toml",
    "microagg-internal/out.csv.groups.csv",
)
"""Release, two reports, record, plan and groups."""

BEFORE_A_RENAME = """
import os
from pathlib import Path
from microagg.write.drafts import Draft
count = 0
rename = Draft._rename
def counted(*args):
    global count
    count += 1
    if count == {at}:
        Path({marker!r}).touch()
        for sent in {sent}:
            os.kill(os.getpid(), sent)
    return rename(*args)
Draft._rename = counted
"""


def command(folder: Path, source: Path, k: int, *options: str) -> tuple[object, ...]:
    keys = ("-k", k, "--keys", "age,income", "--drop", "region,zeros,weight,disease,note", "--threads", 1)
    keys += ("--method", "mdav")
    reports = ("--report", folder / "internal.html", "--external-report", folder / "external.html")
    return (source, *keys, "-o", folder / "out.csv", "--labels", *reports, *options)


def generation(folder: Path) -> set[int]:
    """The k of each file that is there."""
    found = set()
    for name in NAMES:
        text = (folder / name).read_text()
        if name.endswith(".json"):
            found.add(json.loads(text)["plan"]["k"])
        elif name.endswith(".toml"):
            found.add(int(re.search(r"^k = (\d+)", text, re.MULTILINE)[1]))  # type: ignore[index]
        elif name.endswith(".html"):
            found.add(4 if "least 4 " in text else 3)
    found.add(3 if (folder / "out.csv").read_bytes() == (folder.parent / "three.csv").read_bytes() else 4)
    return found


@pytest.mark.parametrize(
    "sent", [[signal.SIGINT], [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]], ids=["one", "all"]
)
def test_a_signal_before_each_rename_of_a_forced_overwrite(
    tmp_path: Path, sent: list[signal.Signals]
) -> None:
    source = survey(tmp_path / "survey.csv", 48)
    folder = tmp_path / "place"
    folder.mkdir()
    protected(*command(folder, source, 3))
    (tmp_path / "three.csv").write_bytes((folder / "out.csv").read_bytes())
    assert generation(folder) == {3}
    shutil.copytree(folder, tmp_path / "old")
    for at in range(1, 20):
        shutil.copytree(tmp_path / "old", folder, dirs_exist_ok=True)
        marker = tmp_path / f"reached-{at}"
        hook = BEFORE_A_RENAME.format(at=at, sent=list(map(int, sent)), marker=str(marker))
        done = run(*command(folder, source, 4, "--force"), before=hook)
        # Signals wait until the last file has its name: then the run has succeeded.
        assert (done.returncode, done.stderr) == (0, "")
        assert generation(folder) == {4}
        assert set(listing(folder)) == {*NAMES, "microagg-internal"}
        if not marker.exists():
            break
    assert at == len(NAMES) + 1


def test_a_signal_before_anything_is_replaced_leaves_all_old(tmp_path: Path) -> None:
    source = survey(tmp_path / "survey.csv", 48)
    folder = tmp_path / "place"
    folder.mkdir()
    protected(*command(folder, source, 3))
    before = listing(folder)
    hook = f"""
import os
from microagg.write import staging
committing = staging.committing
def interrupted(*args):
    os.kill(os.getpid(), {int(signal.SIGINT)})
    return committing(*args)
staging.committing = interrupted
"""
    done = run(*command(folder, source, 4, "--force"), before=hook)
    assert (done.returncode, done.stderr) == (130, "microagg: Interrupted; nothing was written.\n")
    assert listing(folder) == before


@pytest.mark.parametrize("failing", range(1, len(NAMES) + 1))
def test_a_rename_that_fails_puts_back_what_was_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    release = {k: microagg.protect(str(survey(tmp_path / "s.csv", 48)), k=k, rest="pass",
    keys=["age"], drop=["note"],
               pass_=["region", "income", "zeros", "weight", "disease"], method="mdav")
               for k in (3, 4)}  # fmt: skip
    place = tmp_path / "place"
    place.mkdir()
    pages = {"report": place / "internal.html", "external_report": place / "external.html"}
    release[3].save(place / "out.csv", labels=True, **pages)
    before = listing(place)
    count, rename = 0, drafts.Draft._rename

    def refusing(draft: drafts.Draft, source: str, name: str) -> None:
        nonlocal count
        count += 1
        if count == failing:
            raise OSError(122, "Disk quota exceeded")
        rename(draft, source, name)

    monkeypatch.setattr(drafts.Draft, "_rename", refusing)
    with pytest.raises(errors.OutputError, match="was not written: Disk quota exceeded"):
        release[4].save(place / "out.csv", labels=True, force=True, **pages)
    assert listing(place) == before


def test_without_hard_links_what_was_replaced_is_put_back_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "_OPEN_FILES", tmp_path / "no-proc")
    monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(OSError(95, "not supported")))
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    write.write_texts({first: "old a", second: "old b"})
    rename = drafts.Draft._rename

    def refusing(draft: drafts.Draft, source: str, name: str) -> None:
        if name == "b.txt" and draft._exists(draft.older or ""):
            monkeypatch.setattr(drafts.Draft, "_rename", rename)
            raise OSError(122, "Disk quota exceeded")
        rename(draft, source, name)

    monkeypatch.setattr(drafts.Draft, "_rename", refusing)
    with pytest.raises(errors.OutputError):
        write.write_texts({first: "new a", second: "new b"}, force=True)
    assert (first.read_text(), second.read_text()) == ("old a", "old b")
    write.write_texts({first: "new a", second: "new b"}, force=True)
    assert (first.read_text(), second.read_text()) == ("new a", "new b")
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "b.txt"}


def test_what_cannot_be_put_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    write.write_texts({first: "old a", second: "old b"})
    rename, count = drafts.Draft._rename, 0

    def refusing(draft: drafts.Draft, source: str, name: str) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise OSError(5, "Input/output error")
        rename(draft, source, name)

    monkeypatch.setattr(drafts.Draft, "_rename", refusing)
    with pytest.raises(errors.OutputError, match=r"could not be put back: .*a\.txt is now"):
        write.write_texts({first: "new a", second: "new b"}, force=True)
    kept = [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert [path.read_text() for path in kept] == ["old a"]


def test_hidden_files_of_a_killed_run_are_swept_unless_somebody_works_there(tmp_path: Path) -> None:
    stale = tmp_path / ".microagg-0123456789abcdef"
    others = [tmp_path / ".microagg-0123", tmp_path / ".microagg-0123456789abcdefg", tmp_path / ".other"]
    for path in (stale, *others):
        path.write_text("x")
    code = f"""
import sys
from pathlib import Path
from microagg.write.drafts import draft
with draft(Path({str(tmp_path)!r}) / "a.txt", 0o600):
    print("ready", flush=True)
    sys.stdin.read()
"""
    worker = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    assert not stale.exists(), "that one was the first to work here"
    stale.write_text("its own, for all we know")
    write.write_text(tmp_path / "b.txt", "b")
    assert stale.exists()
    worker.communicate()
    write.write_text(tmp_path / "c.txt", "c")
    assert not stale.exists()
    assert all(path.exists() for path in others)


@pytest.mark.parametrize(("words", "names"), [
    (("bound", "--labels", "labels.csv", "--certificate", "proof.json"), ("labels.csv", "proof.json")),
    (("compare", "--methods", "mdav", "--keys", "a,b", "-o", "table.csv", "--map", "map.svg"),
     ("table.csv", "map.svg")),
])  # fmt: skip
def test_files_of_one_command_get_their_names_together(
    tmp_path: Path, words: tuple[str, ...], names: tuple[str, str]
) -> None:
    (tmp_path / "in.csv").write_text("a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(12)))
    hook = f"""
import os
from microagg.write.drafts import Draft
count, give_name = 0, Draft.give_name
def counted(*args):
    global count
    count += 1
    if count == 2:
        os.kill(os.getpid(), {int(signal.SIGINT)})
    return give_name(*args)
Draft.give_name = counted
"""
    command, *rest = words
    done = run("in.csv", "-k", 3, *rest, command=command, folder=tmp_path, before=hook)
    assert (done.returncode, done.stderr) == (0, "")
    assert all((tmp_path / name).exists() for name in names)
