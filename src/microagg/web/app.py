"""The Shiny application: one page, whose steps are outputs, and what a click or a choice does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from htmltools import Tag, TagList, tags
from shiny import App, Inputs, Outputs, Session, reactive, render, ui
from starlette.requests import Request

from microagg import errors, wording
from microagg.web.actions import ACTIONS
from microagg.web.guard import SESSION, STEP
from microagg.web.project import Project
from microagg.web.sessions import Session as BrowserSession
from microagg.web.sessions import Sessions
from microagg.web.views import data, hand_over, parts, protection, result, roles, run
from microagg.web.views.parts import STEPS

PARTS = ("source", "look", "words", "check", "run", "protect", "release", "bound", "compare")
"""Of a project, by what changes on the pages."""

LOOK_AGAIN = 0.2
"""Seconds between two looks at what jobs have changed."""


def application(sessions: Sessions, paths: bool, alone: bool) -> App:
    """For all browser sessions; `paths`: whether files may be opened by their path; `alone`: whether only
    browsers of this machine can come in.
    """

    def server(input: Inputs, output: Outputs, session: Session) -> None:  # noqa: A002, ARG001
        owner: BrowserSession = cast(Any, session).http_conn.scope[SESSION]
        owner.opened()
        session.on_ended(owner.closed)
        _Page(owner, sessions, paths, alone, session).connect(input)

    app = App(_shell, server)
    app.sanitize_errors = True  # an exception's own words might quote data
    return app


def _shell(request: Request) -> Tag:
    """What is there before the page is connected."""
    step = request.scope.get(STEP, "data")
    links = [
        tags.li(
            tags.a(
                tags.span(str(number), class_="number", aria_hidden="true"),
                name,
                href=f"/{path}",
                data_step=path,
                aria_current="step" if path == step else None,
            )
        )
        for number, (path, name) in enumerate(STEPS.items(), 1)
    ]
    head = tags.head(
        tags.title(f"{STEPS[step]} – microagg"),
        tags.meta(name="viewport", content="width=device-width, initial-scale=1"),
        tags.meta(name="color-scheme", content="light dark"),
        tags.link(rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        tags.link(rel="stylesheet", href="/static/report.css"),
        tags.link(rel="stylesheet", href="/static/app.css"),
        tags.script(src="/static/app.js", defer=""),
    )
    body = tags.body(
        tags.a("Skip to the content", href="#main", class_="skip"),
        tags.header(
            tags.p("microagg", class_="brand"),
            tags.nav(tags.ol(*links), aria_label="Steps"),
            class_="top",
        ),
        tags.main(
            tags.div(id="lost", role="alert"),
            ui.output_ui("notice", role="alert"),
            ui.output_ui("page"),
            ui.output_ui("state"),
            id="main",
        ),
        tags.footer(
            tags.p("Everything happens where the server runs; no page or file is sent anywhere else."),
            tags.p(parts.button("end", "End the session, remove its files")),
        ),
    )
    return tags.html(head, body, lang="en")


class _Page:
    """One open page of a browser session."""

    def __init__(
        self, owner: BrowserSession, sessions: Sessions, paths: bool, alone: bool, session: Session
    ) -> None:
        self.owner = owner
        self.project: Project = owner.project
        self.sessions = sessions
        self.paths = paths
        self.alone = alone
        self.session = session
        self.step: reactive.Value[str] = reactive.Value("")
        self.notice: reactive.Value[str] = reactive.Value("")
        self.under_way: reactive.Value[bool] = reactive.Value(False)
        self.seen: dict[str, reactive.Value[tuple[int, float]]] = {
            part: reactive.Value((0, 0.0)) for part in PARTS
        }

        self._known: dict[str, tuple[int, float]] = {}

    def connect(self, input: Inputs) -> None:  # noqa: A002

        @reactive.effect
        def _watch() -> None:
            reactive.invalidate_later(LOOK_AGAIN)
            self._look()

        @reactive.effect
        @reactive.event(input.step)
        def _go() -> None:
            self.notice.set("")
            self.step.set(str(input.step()))
            if input.step() in ("roles", "protection"):
                self.project.check(against_data=input.step() == "protection")

        @reactive.effect
        @reactive.event(input.said)
        def _say() -> None:
            said: Mapping[str, Any] = input.said()
            self.project.say(str(said["word"]), said["value"], said.get("column"))
            self.project.check(against_data=self.step() == "protection")
            self._look()

        @reactive.effect
        @reactive.event(input.did)
        async def _do() -> None:
            await self._act(input.did())

        @render.ui
        def page() -> Tag | TagList | None:
            shown = self._depends(_PAGES)
            return None if shown is None else shown(self)

        @render.ui
        def state() -> Tag | TagList | None:
            shown = self._depends(_STATES)
            return None if shown is None else shown(self)

        @render.ui
        def about_method() -> Tag:
            self._see("words")
            return protection.about_method(self.project)

        @render.ui
        def changed() -> Tag | None:
            self._see("release", "words")
            self.under_way()
            return result.changed_since(self.project)

        @render.ui
        def bound() -> Tag | TagList:
            self._see("release", "bound")
            return result.bound_state(self.project)

        @render.ui
        def compared() -> Tag | TagList:
            self._see("release", "compare", "words")
            return result.compare_state(self.project)

        @render.ui
        def notice() -> Tag | None:
            text = self.notice()
            return tags.p(text, class_="notice") if text else None

    def _look(self) -> None:
        self.under_way.set(parts.under_way(self.project))
        for part, value in self.seen.items():
            job = self.project.jobs.get(part)
            moved = job.seconds if job is not None and job.active else 0.0
            found = self.project.versions[part], moved
            if found != self._known.get(part):  # Shiny takes any other object for a change
                self._known[part] = found
                value.set(found)

    def _depends(self, shown: Mapping[str, tuple[tuple[str, ...], _View]]) -> _View | None:
        """The view of this step, drawn again when its parts change."""
        if self.step() not in shown:
            return None
        parts, view = shown[self.step()]
        self._see(*parts)
        return view

    def _see(self, *parts: str) -> None:
        """What is being drawn is drawn again when these change."""
        for part in parts:
            self.seen[part]()

    async def _act(self, message: Mapping[str, Any]) -> None:
        """What a button asks for; a refusal is shown."""
        self.notice.set("")
        name = str(message.get("act"))
        if name == "end":
            await asyncio.to_thread(self.sessions.end, self.owner)
            await self.session.send_custom_message("ended", {"text": wording.session_ended()})
            return
        try:
            step = ACTIONS[name](self.project, message, self.paths) if name in ACTIONS else None
        except (errors.SettingsError, errors.DataError) as refusal:
            self.notice.set(str(refusal))
            return
        finally:
            self._look()
        if step is not None:
            await self.session.send_custom_message("go", {"step": step})


_View = Callable[[_Page], Tag | TagList | None]

_PAGES: Mapping[str, tuple[tuple[str, ...], _View]] = {
    "data": (("source", "look"), lambda page: data.data(page.project, page.paths, page.alone)),
    "roles": (("source",), lambda page: roles.roles(page.project)),
    "protection": (("source",), lambda page: protection.protection(page.project)),
    "run": (("source",), lambda page: run.run(page.project)),
    "result": (("source", "release"), lambda page: result.result(page.project)),
    "hand-over": (("source", "release"), lambda page: hand_over.hand_over(page.project)),
}
_STATES: Mapping[str, tuple[tuple[str, ...], _View]] = {
    "roles": (("source", "words"), lambda page: roles.roles_state(page.project)),
    "protection": (
        ("source", "words", "check", "protect"),
        lambda page: protection.check_state(page.project),
    ),
    "run": (("source", "run", "protect"), lambda page: run.run_state(page.project)),
}
