"""The first step: a file is sent, opened or made up, and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from htmltools import Tag, TagList, tags

from microagg.formats import ENDINGS
from microagg.plan.settings import PLAN_OPTIONS
from microagg.web.project import Project, Source
from microagg.web.views.parts import (
    NO_SHINY_BINDING,
    button,
    cards,
    counted,
    go,
    head,
    options,
    says,
    table,
    working,
)

SHOWN_COLUMNS = 60
"""Of a preview."""

_ENCODINGS = ("utf-8", "windows-1252", "latin-1", "utf-16")
_DELIMITERS = {",": "comma", ";": "semicolon", r"\t": "tab", "|": "vertical bar"}


def data(project: Project, paths: bool, alone: bool = True) -> Tag | TagList:
    """What the file is, or how to choose one; `alone`: the server is on the machine of the browser."""
    job = project.jobs.get("look")
    if project.source is None or job is None:
        where = "stays on this machine" if alone else "goes over the network to the server"
        lead = f"Choose the file to protect. It {where} and is removed when the session ends."
        return TagList(head("data", lead), _choose(paths))
    name = project.source.name
    if job.active:
        return TagList(head("data", f"{name} is being read."), working(job, project.queue.place(job)))
    if job.state != "done":
        return TagList(
            head("data", f"{name} cannot be used as it is."),
            says(job.message, False, "Refused:"),
            _format(project.source, None) if _kind_of(name) in ("CSV", "Excel") else None,
            tags.h2("Another file"),
            _choose(paths),
        )
    return _found(project.source, job.answer, paths)


def _found(source: Source, found: dict[str, Any], paths: bool) -> TagList:
    missing = sum(column["missing"] for column in found["columns"])
    return TagList(
        head("data", "This was read. Are names and values where they should be?"),
        cards(
            {
                "file": tags.span(source.name, class_="anywhere"),
                "format": found["format"],
                "records": f"{found['records']:,}",
                "columns": f"{len(found['columns']):,}",
                "missing values": f"{missing:,}",
            }
        ),
        *(says(note, True, "Note:") for note in found["notes"]),
        _preview(found),
        tags.p(go("roles", "Next: roles of the columns", main=True)),
        _format(source, found) if found["format"] in ("CSV", "Excel") else None,
        tags.details(tags.summary("Choose another file"), _choose(paths)),
    )


def _preview(found: dict[str, Any]) -> TagList:
    names = [column["name"] for column in found["columns"]]
    shown = names[:SHOWN_COLUMNS]
    rows = [row[:SHOWN_COLUMNS] for row in found["preview"]]
    left = len(names) - len(shown)
    return TagList(
        tags.h2(f"First {counted(len(rows), 'record')}"),
        table(shown, rows, "First records", text=len(shown)),
        tags.p(f"{counted(left, 'further column')} not shown.", class_="note") if left else None,
    )


def _choose(paths: bool) -> Tag:
    kinds = ", ".join(ENDINGS)
    return tags.div(
        tags.section(
            tags.h2("Upload"),
            tags.label("A file of this computer", for_="upload"),
            tags.input(
                type="file",
                id="upload",
                accept=kinds.replace(" ", ""),
                aria_describedby="kinds",
                **NO_SHINY_BINDING,
            ),
            tags.p(f"{kinds}. You may also drop it here.", id="kinds", class_="note"),
            tags.progress(max="1", value="0", id="sent", hidden="", aria_label="Sent so far"),
            class_="choice drop",
        ),
        tags.section(
            tags.h2("Open by its path"),
            tags.label("Path of a file that the server can read", for_="path"),
            tags.input(type="text", id="path", autocomplete="off", spellcheck="false", **NO_SHINY_BINDING),
            button("open", "Open"),
            tags.p("For large files: nothing is copied.", class_="note"),
            class_="choice",
        )
        if paths
        else None,
        tags.section(
            tags.h2("Try an example"),
            tags.p(
                button("example", "1,000 made-up people", data_name="people"),
                " ",
                button("example", "11 companies", data_name="companies"),
            ),
            tags.p("Nobody's data, to see what happens.", class_="note"),
            class_="choice",
        ),
        class_="choices",
    )


def _format(source: Source, found: dict[str, Any] | None) -> Tag:
    """What is known about a CSV or Excel file, to be corrected; `found` is None if it was refused."""
    known = {**((found or {}).get("csv") or {}), **source.csv}
    is_csv = _kind_of(source.name) == "CSV"

    def choice(word: str, texts: Mapping[str, str]) -> TagList:
        said = source.csv.get(word, "")
        automatic = "automatic" if not known.get(word) or said else f"found: {_shown(known[word])}"
        return TagList(
            tags.label(PLAN_OPTIONS[word].label, for_=word),
            tags.select(
                options((("", automatic), *texts.items()), said),
                id=word,
                **NO_SHINY_BINDING,
            ),
        )

    def field(word: str, **kind: str) -> TagList:
        return TagList(
            tags.label(PLAN_OPTIONS[word].label, for_=word),
            tags.input(
                id=word, value=str(source.csv.get(word, "")), autocomplete="off", **kind, **NO_SHINY_BINDING
            ),
        )

    of_csv = (
        tags.div(choice("delimiter", _DELIMITERS)),
        tags.div(choice("encoding", {name: name for name in _ENCODINGS})),
        tags.div(choice("decimal", {".": "point", ",": "comma"})),
    )
    return tags.details(
        tags.summary("Names or values look wrong? Say how the file is written"),
        tags.div(
            *(of_csv if is_csv else [tags.div(field("sheet", type="text", placeholder="the only one"))]),
            tags.div(choice("header", PLAN_OPTIONS["header"].kind.choices)),
            tags.div(field("header_row", type="number", min="1", placeholder="1")),
            class_="fields",
        ),
        button("reread", "Read it again"),
        open="" if found is None else None,
    )


def _kind_of(name: str) -> str | None:
    known = ENDINGS.get(Path(name).suffix.lower())
    return None if known is None else known.name


def _shown(sign: str) -> str:
    return {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", ".": "point"}.get(sign, sign)
