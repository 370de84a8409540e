"""What the buttons of the pages do. Each returns the step to go to, or None to stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from microagg import wording
from microagg.model import FILE_OPTIONS
from microagg.web import example
from microagg.web.project import Project, Source

Action = Callable[[Project, Mapping[str, Any], bool], str | None]


def _open(project: Project, message: Mapping[str, Any], paths: bool) -> None:
    project.open_path(str(message.get("path", "")), paths)


def _example(project: Project, message: Mapping[str, Any], _paths: bool) -> None:
    name = str(message.get("name"))
    if name in example.NAMES:
        place = project.new_place()
        (place / example.NAMES[name]).write_text(example.TEXTS[name](), "utf-8")
        project.open(Source(example.NAMES[name], example.NAMES[name], place))


def _reread(project: Project, message: Mapping[str, Any], _paths: bool) -> None:
    """With another delimiter, header, sheet, …"""
    if project.source is not None:
        said = {word: str(message.get(word) or "") for word in FILE_OPTIONS}
        old = project.source
        csv: dict[str, Any] = {word: value for word, value in said.items() if value}
        if csv.get("header_row", "").strip().isdecimal():
            csv["header_row"] = int(csv["header_row"])
        project.open(Source(old.name, old.path, old.home, old.opened, csv))


def _run(project: Project, _message: Mapping[str, Any], _paths: bool) -> str:
    project.run()
    return "run"


def _prove(project: Project, _message: Mapping[str, Any], _paths: bool) -> None:
    project.prove()


def _compare(project: Project, message: Mapping[str, Any], _paths: bool) -> None:
    try:
        ks = [int(each) for each in str(message.get("ks", "")).split(",")]
    except ValueError:
        raise wording.bad_value("k", "whole numbers separated by commas, such as 3, 5, 10") from None
    methods = [name.strip() for name in str(message.get("methods", "")).split(",") if name.strip()]
    project.compare(ks, methods)


def _take(project: Project, message: Mapping[str, Any], _paths: bool) -> str:
    project.say("k", message.get("k"))
    project.say("method", message.get("method"))
    return "protection"


def _stop(project: Project, _message: Mapping[str, Any], _paths: bool) -> None:
    project.stop("protect")


def _give_up(kind: str) -> Action:
    def act(project: Project, _message: Mapping[str, Any], _paths: bool) -> None:
        project.give_up(kind)

    return act


ACTIONS: Mapping[str, Action] = {
    "open": _open,
    "example": _example,
    "reread": _reread,
    "run": _run,
    "stop": _stop,
    "give-up": _give_up("protect"),
    "prove": _prove,
    "give-up-bound": _give_up("bound"),
    "compare": _compare,
    "give-up-compare": _give_up("compare"),
    "take": _take,
}
