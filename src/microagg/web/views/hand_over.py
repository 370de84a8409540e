"""The last step: the protected file and all that goes with it, or stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from htmltools import Tag, TagList, tags
from shiny import ui

from microagg.plan.command_text import command_of
from microagg.web.project import Project
from microagg.web.views.parts import button, go, head, nothing_yet, says


def hand_over(project: Project) -> Tag | TagList:
    """Links to what a release has, and the command that makes the same."""
    if project.found is None or project.source is None:
        return nothing_yet("hand-over")
    release = project.release
    if release is None:
        return TagList(
            head("hand-over", "There is no release yet: nothing can be handed over."),
            tags.p(go("protection", "Choose settings", main=True), " ", go("run", "See the run")),
        )
    return TagList(
        head("hand-over", "Read the external report before you hand it over."),
        ui.output_ui("changed"),
        says(release["sentence"], True, "Verified:"),
        tags.h2("For those who get the data"),
        tags.ul(
            _file("protected", release["file"], "the protected file, in the format of the source"),
            _file("external-report", "external-report.html", "how the data were protected", open_too=True),
            class_="files",
        ),
        tags.h2("Not to be released"),
        tags.ul(
            _file("internal-report", "internal-report.html", "all that is known about the release", True),
            _file("plan", "plan.toml", "the settings, for microagg protect --plan"),
            _file("record", f"{release['file']}.microagg.json", "the record of the run"),
            class_="files",
        ),
        tags.h2("The same by a command"),
        tags.pre(
            tags.code(command(project), id="command"), tabindex="0", role="region", aria_label="Command"
        ),
        _how_much_the_same(release),
        tags.p(button("copy", "Copy", data_from="command")),
        tags.h2("When you are done"),
        tags.p(
            "End the session below: that removes the data, the release and the reports from the server."
        ),
    )


def _how_much_the_same(release: Mapping[str, Any]) -> Tag | None:
    """Where the command may lead to other groups than these."""
    if release["stopped"]:
        text = "This run was stopped early: the command goes on to its end, and may find other groups."
    elif release["cut_short"]:
        text = "The clock cut this run short, as it does with the command: it may find other groups."
    else:
        return None
    return tags.p(text, class_="note")


def _file(what: str, name: str, text: str, open_too: bool = False) -> Tag:
    link = tags.a(name, href=f"/get/{what}", download="", class_="anywhere")
    address = f"/get/{what}?open"
    shown = tags.a("open", href=address, target="_blank", rel="noopener", aria_label=f"Open {name}")
    return tags.li(link, f": {text} ", shown if open_too else None)


def command(project: Project) -> str:
    """What would do the same in a terminal."""
    assert project.source is not None
    assert project.release is not None
    words = {**project.release["words"], **project.source.csv}
    source = project.source.path if project.source.opened else project.source.name
    return command_of(words, source, project.release["file"])
