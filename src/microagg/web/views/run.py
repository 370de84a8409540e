"""The fourth step: a run while it works, and how it ended."""

from __future__ import annotations

from htmltools import HTML, Tag, TagList, tags

from microagg.web.charts import loss_curve
from microagg.web.jobs import Job
from microagg.web.project import Project
from microagg.web.views.parts import button, cards, go, head, nothing_yet, says, working


def run(project: Project) -> Tag | TagList:
    if project.found is None:
        return nothing_yet("run")
    return head("run", "Groups are looked for in the background; you may leave this page and come back.")


def run_state(project: Project) -> Tag | TagList:
    job = project.jobs.get("protect")
    if project.found is None:
        return TagList()
    if job is None:
        return TagList(
            tags.p("Nothing runs yet."),
            tags.p(button("run", "Run", main=True), " ", go("protection", "Change the settings")),
        )
    if job.active:
        return TagList(working(job, project.queue.place(job)), _figures(job), _curve(job), _stops(job))
    if job.state == "done":
        return TagList(
            says(job.answer["sentence"], True, "Verified:"),
            _early(job),
            tags.p(go("result", "See the result", main=True), " ", go("hand-over", "Hand over")),
            _figures(job),
            _curve(job),
        )
    title = {"refused": "Refused:", "stopped": "Stopped:"}.get(job.state, "Failed:")
    return TagList(
        says(job.message, False, title),
        tags.p(
            go("protection", "Change the settings", main=True), " ", go("roles", "Change roles"), " ",
            button("run", "Run again"),
        ),
        _curve(job),
    )  # fmt: skip


def _early(job: Job) -> Tag | None:
    if job.answer["stopped"]:
        return tags.p("Stopped early, with the best groups so far.")
    return tags.p("Cut short by the clock, as asked.") if job.answer["cut_short"] else None


def _stops(job: Job) -> Tag:
    stopping = job.state == "stopping"
    return tags.p(
        None if stopping else button("stop", "Stop here, keep the best so far"),
        " ",
        button("give-up", "Give up"),
    )


def _figures(job: Job) -> Tag | None:
    loss = job.curve[-1][1] if job.curve else None
    if loss is None:
        return None
    shown = {"information loss": f"{loss:.4g} %"}
    if job.mdav is not None:
        shown["MDAV's on the same data"] = f"{job.mdav:.4g} %"
        if job.mdav > 0:
            shown["less than MDAV's by"] = f"{100 * (1 - loss / job.mdav):.1f} %"
    return cards(dict(shown))


def _curve(job: Job) -> Tag | None:
    drawn = loss_curve(job.curve, job.mdav, job.seconds)
    if not drawn:
        return None
    caption = "Information loss of the best groups so far; dashed: MDAV on the same data."
    return tags.figure(HTML(drawn), tags.figcaption(caption))
