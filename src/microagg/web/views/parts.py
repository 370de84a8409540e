"""Pieces that the steps share. htmltools escapes all text that it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

from htmltools import HTML, Tag, TagChild, TagList, tags

from microagg.web.jobs import Job
from microagg.web.project import Project

STEPS = {
    "data": "Data",
    "roles": "Roles",
    "protection": "Protection",
    "run": "Run",
    "result": "Result",
    "hand-over": "Hand over",
}


NO_SHINY_BINDING = {"data_shiny_no_bind_input": ""}
"""Of every control: our own script hands on what is chosen; Shiny neither watches it nor sends files."""


@cache
def options(texts: tuple[tuple[str, str], ...], chosen: str) -> HTML:
    """Of a select: values and texts. As one piece, for a page may have hundreds of them."""
    marked = ((value, text, " selected" if value == chosen else "") for value, text in texts)
    return HTML(
        "".join(
            f'<option value="{escape(value)}"{mark}>{escape(text)}</option>' for value, text, mark in marked
        )
    )


def head(step: str, lead: str) -> TagList:
    """The title of a step, which gets the focus when it is shown."""
    return TagList(tags.h1(STEPS[step], tabindex="-1", id="title"), tags.p(lead, class_="lead"))


def go(step: str, text: str, main: bool = False) -> Tag:
    return tags.a(text, href=f"/{step}", data_step=step, class_="button" if main else None)


def button(act: str, text: str, main: bool = False, **more: Any) -> Tag:
    kind = "button" if main else "button second"
    return tags.button(text, type="button", class_=kind, data_act=act, **more)


def says(text: str, good: bool, title: str) -> Tag:
    """A verdict, a refusal or a note; several lines are a list."""
    first, *others = text.split("\n- ")
    return tags.div(
        tags.p(tags.strong(title), " ", first),
        tags.ul(*(tags.li(other) for other in others)) if others else None,
        class_="says" if good else "says bad",
    )


def nothing_yet(step: str) -> TagList:
    """Of a step that needs a file first."""
    return TagList(
        head(step, "There are no data yet."),
        tags.p("Choose a file first; this step then shows what can be done with it."),
        tags.p(go("data", "Choose data", main=True)),
    )


def cards(facts: Mapping[str, TagChild]) -> Tag:
    return tags.dl(
        *(tags.div(tags.dt(name), tags.dd(value)) for name, value in facts.items()), class_="cards"
    )


def table(header: Sequence[str], rows: Sequence[Sequence[TagChild]], label: str, text: int = 1) -> Tag:
    """The first `text` columns go to the left, the others are numbers."""

    def kind(at: int) -> str | None:
        return "text" if at < text else None

    return tags.div(
        tags.table(
            tags.thead(
                tags.tr(*(tags.th(name, scope="col", class_=kind(at)) for at, name in enumerate(header)))
            ),
            tags.tbody(
                *(tags.tr(*(tags.td(cell, class_=kind(at)) for at, cell in enumerate(row))) for row in rows)
            ),
        ),
        class_="scroll",
        role="region",
        aria_label=label,
        tabindex="0",
    )


def working(job: Job, place: int = 0) -> Tag:
    waits = f"waiting for {place + 1} other jobs" if place else "waiting for another job"
    stage = waits if job.state == "waiting" else job.stage or "starting"
    shown = f"{stage}, {job.seconds:.0f} s" if job.seconds >= 1 else stage
    return tags.div(
        tags.p("Coming to an end: " if job.state == "stopping" else "Working: ", shown, " …"),
        tags.progress(value=f"{job.done:.3f}" if job.done else None, max="1", aria_label="Progress"),
        class_="working",
    )


def under_way(project: Project) -> bool:
    """Whether a run has not ended yet."""
    job = project.jobs.get("protect")
    return job is not None and job.active


def counted(number: int, noun: str) -> str:
    """'1 record', '1,234 records'."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
