"""The fifth step: what the release is worth, how near to the optimum it is, and what else there is."""

from __future__ import annotations

from typing import Any

from htmltools import HTML, Tag, TagList, tags
from shiny import ui

from microagg.errors import SettingsError
from microagg.model import gap_above, nearness
from microagg.web.charts import risk_map
from microagg.web.jobs import Job
from microagg.web.project import COMPARED, Project
from microagg.web.views.parts import (
    NO_SHINY_BINDING,
    button,
    go,
    head,
    nothing_yet,
    says,
    table,
    under_way,
    working,
)
from microagg.web.work_files import RESULT

RISK, LOSS = "linkage_distance", "il"
"""The measures on the map."""


def result(project: Project) -> Tag | TagList:
    """The content of the internal report; bound and comparison stand beside it."""
    if project.found is None:
        return nothing_yet("result")
    if project.release is None or project.release_folder is None:
        return TagList(
            head("result", "There is no release yet."),
            tags.p(go("protection", "Choose settings", main=True), " ", go("run", "See the run")),
        )
    report = (project.release_folder / RESULT).read_text("utf-8")
    return TagList(
        head("result", "What was counted in the release, what it keeps and what it risks. For you alone."),
        ui.output_ui("changed"),
        tags.p(go("hand-over", "Next: hand over", main=True)),
        tags.details(
            tags.summary("How near to the optimum is it?"),
            ui.output_ui("bound"),
            class_="folded",
            id="nearness",
        ),
        tags.details(
            tags.summary("Would another k or method be better?"),
            _compare_form(),
            ui.output_ui("compared"),
            class_="folded",
            id="comparison",
            open="" if "compare" in project.jobs else None,
        ),
        tags.div(HTML(report), class_="report"),
    )


def changed_since(project: Project) -> Tag | None:
    """A word of warning if the choices are no longer those of the release, or another is being made."""
    if project.release is None:
        return None
    from microagg.plan.protection import Protection

    try:
        same = dict(Protection.of(project.choices.plan()).settings) == project.release["asked"]
    except SettingsError:
        same = False
    changed = None if same else "Settings were changed since this release was made. "
    if under_way(project):
        return tags.p(
            changed, "A run is under way; this is the release before it. ", go("run", "See the run"),
            class_="note",
        )  # fmt: skip
    return None if same else tags.p(changed, go("protection", "Run again"), class_="note")


def bound_state(project: Project) -> Tag | TagList:
    """How near to the optimum, on demand."""
    if project.release is None:
        return TagList()
    job = project.jobs.get("bound")
    loss, known = project.release["loss"], project.release["bound"]
    if job is not None and job.state == "done":
        known = job.answer["bound"]
        if known is None:
            return TagList(tags.p("Nothing could be proven in the time there was."))
    if known is not None:
        text = (
            f"No groups can lose less than {known:.4f} %; this release loses {loss:.4f} %, "
            f"{nearness(gap_above(known, loss))}."
        )
        return TagList(says(text, True, "Proven:"))
    if job is not None and job.active:
        return TagList(working(job, project.queue.place(job)), button("give-up-bound", "Stop"))
    return TagList(
        says(job.message, False, "No bound:") if job is not None else None,
        tags.p(button("prove", "Prove a bound"), " ", tags.span("takes about a minute", class_="note")),
    )


def compare_state(project: Project) -> Tag | TagList:
    """Several k and methods side by side, as a map and a table to choose from."""
    if project.found is None or project.release is None:
        return TagList()
    job = project.jobs.get("compare")
    parts: list[Any] = []
    if job is not None and job.active:
        parts = [working(job, project.queue.place(job)), button("give-up-compare", "Stop")]
    elif job is not None and job.state == "done":
        parts = [_compared_otherwise(project, job), _compared(job.answer)]
    elif job is not None:
        parts = [says(job.message, False, "Not compared:")]
    return TagList(*parts)


def _compared_otherwise(project: Project, job: Job) -> Tag | None:
    """A word of warning if the comparison would have other words now."""
    try:
        now = {word: value for word, value in project.choices.plan().items() if word in COMPARED}
    except SettingsError:
        now = None
    if now == job.arguments["words"]:
        return None
    return tags.p("Settings were changed since this comparison was made.", class_="note")


def _compare_form() -> TagList:
    return TagList(
        tags.div(
            tags.div(
                tags.label("Values of k", for_="compare-k"),
                tags.input(
                    type="text", id="compare-k", value="3, 5, 10", autocomplete="off", **NO_SHINY_BINDING
                ),
            ),
            tags.div(
                tags.label("Methods", for_="compare-methods"),
                tags.input(
                    type="text",
                    id="compare-methods",
                    value="mdav, auto",
                    autocomplete="off",
                    **NO_SHINY_BINDING,
                ),
            ),
            class_="fields",
        ),
        tags.p(button("compare", "Compare")),
    )


def _compared(found: dict[str, Any]) -> TagList:
    rows = found["strategies"]
    best = next(row for row in rows if row["recommended"])
    header = ("k", "method", "loss, %", "linked", "")
    return TagList(
        tags.p(f"Recommended: k = {best['k']}, {best['method']} ({found['rule']})."),
        tags.figure(
            HTML(risk_map(rows, found["limit"], RISK, LOSS)),
            tags.figcaption("Lower left is better. Click a point, or a button below, to take it."),
        ),
        table(header, [_line(row) for row in rows], "Strategies", text=2),
    )


def _line(row: dict[str, Any]) -> list[Any]:
    cells: list[Any] = [str(row["k"]), row["method"]]
    if row["failure"]:
        return [*cells, "–", "–", row["failure"]]
    mark = "recommended" if row["recommended"] else "undominated" if row["undominated"] else ""
    take = button(
        "take", "Take", data_k=row["k"], data_method=row["method"],
        aria_label=f"Take k = {row['k']}, {row['method']}",
    )  # fmt: skip
    return [*cells, f"{row[LOSS]:.4g}", f"{row[RISK]:.4g}", TagList(take, f" {mark}")]
