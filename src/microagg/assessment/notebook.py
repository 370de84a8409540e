"""Pieces of HTML for notebooks: plain, and every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from microagg import wording

_LEFT, _RIGHT = ' style="text-align: left"', ' style="text-align: right"'


def text(shown: object) -> str:
    """Any text as HTML; names come with the data, and may look like tags or commands."""
    return escape(wording.visible_lines(str(shown)))


def paragraph(shown: object, strong: str = "") -> str:
    lead = f"<strong>{text(strong)}</strong> " if strong else ""
    return f"<p>{lead}{text(shown)}</p>"


def items(shown: Iterable[object]) -> str:
    listed = "".join(f"<li>{text(each)}</li>" for each in shown)
    return f"<ul>{listed}</ul>" if listed else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int] = (0,)) -> str:
    """Numbers stand to the right, the columns `left` to the left; without names there is no head."""
    sides = [_LEFT if at in set(left) else _RIGHT for at in range(len(head))]
    names = "".join(f"<th{side}>{text(name)}</th>" for name, side in zip(head, sides, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{side}>{text(cell)}</td>" for cell, side in zip(row, sides, strict=True))
        + "</tr>"
        for row in rows
    )
    return f"<table>{f'<thead><tr>{names}</tr></thead>' if any(head) else ''}<tbody>{body}</tbody></table>"


def folded(title: str, inside: str) -> str:
    return f"<details><summary>{text(title)}</summary>{inside}</details>" if inside else ""
