"""HTML from templates: those of the reports, and those of the browser beside them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from microagg.report import formatting
from microagg.wording.phrases import count

TEMPLATES = Path(__file__).with_name("templates")


@cache
def environment(*folders: Path) -> Environment:
    """For the templates of these folders, which may use those of the reports."""
    made = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": formatting.number,
        "percent": formatting.percent,
        "clean": formatting.clean,
        "listed": formatting.listed,
    }
    made.globals |= {"count": count}
    return made


def compile_templates() -> None:
    """Those of the reports, for processes that are forked: otherwise each does it."""
    for name in environment().list_templates():
        environment().get_template(name)


def rendered(template: str, *folders: Path, **content: Any) -> str:
    text: str = environment(*folders).get_template(template).render(**content)
    return text.encode("utf-8", "replace").decode("utf-8")  # a path may hold bytes that are no letters
