"""Tables of docs/methods, from the catalogue.

    python -m benchmarks.method_pages     # writes them anew, between the markers of each page

A page stands for a family of methods; a method has a section whose heading is its name, so that links find
it.
"""

from __future__ import annotations

import inspect
import re
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from benchmarks.markdown import grid
from microagg.methods.catalogue import MEANINGS, METHODS

FOLDER = Path(__file__).parents[1] / "docs" / "methods"
BEGIN = "<!-- from the catalogue: python -m benchmarks.method_pages -->"
END = "<!-- end -->"


def methods_of(text: str) -> list[str]:
    """Names that have a section of their own."""
    return re.findall(r"^## `([a-z0-9-]+)`$", text, flags=re.MULTILINE)


def tables(names: list[str]) -> str:
    """What the catalogue says of the methods, and their settings."""
    facts = [
        [
            f"`{name}`",
            METHODS[name].paper,
            METHODS[name].cost,
            f"{METHODS[name].largest_n:,}",
            METHODS[name].guarantee,
        ]
        for name in names
    ]
    text = grid(("method", "paper", "time", "n up to", "result"), facts, words=5)
    settings: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        for key in inspect.signature(METHODS[name].build).parameters:
            settings.setdefault((f"`{key}`", *described(name, key)), []).append(f"`{name}`")
    if settings:
        headings = ("setting", "values", "default", "meaning", "of")
        rows = [[*row, ", ".join(of)] for row, of in settings.items()]
        text += "\n" + grid(headings, rows, words=5)
    return text


def described(name: str, key: str) -> tuple[str, str, str]:
    """Values, default and meaning of a setting."""
    build = METHODS[name].build
    default = inspect.signature(build).parameters[key].default
    return _values(get_type_hints(build)[key]), _shown(default), meaning_of(name, key)


def meaning_of(name: str, key: str) -> str:
    return MEANINGS.get(f"{name}.{key}") or MEANINGS[key]


def _values(kind: Any) -> str:
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(choice for choice in get_args(kind) if choice is not type(None))
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    return {bool: "`yes`, `no`", int: "integer", float: "number"}[kind]


def _shown(default: object) -> str:
    if default is None:
        return ""
    if isinstance(default, bool):
        return "`yes`" if default else "`no`"
    return f"{default:,}" if isinstance(default, int) else f"`{default}`"


def current(text: str) -> str:
    """The page with its tables as the catalogue has them now; a page without markers stays as it is."""
    if BEGIN not in text:
        return text
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{tables(methods_of(text))}\n{END}{after}"


def main() -> None:
    for path in sorted(FOLDER.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if current(text) != text:
            path.write_text(current(text), encoding="utf-8")
            print(f"written: {path}")


if __name__ == "__main__":
    main()
