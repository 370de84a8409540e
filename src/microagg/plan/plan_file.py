"""Plan files: plan.toml written, with what each option means, and read."""

from __future__ import annotations

import errno
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microagg import errors, wording
from microagg.plan.plan_text import used_plan, write_plan
from microagg.settings.declared import PLAN_OPTIONS
from microagg.settings.options import Option, as_in_plan
from microagg.settings.replaced import refuse_replaced

__all__ = ["Planned", "parsed_plan", "read_plan", "used_plan", "write_plan"]

MOST_BYTES = 4_000_000

_PATHS = ("input", "output")


def read_plan(path: Path, called: str = "") -> dict[str, object]:
    """The settings of a plan file, each known and of the right kind; `Protection.of` checks them together.

    Paths are taken from the file's folder. `called`: what messages call it, if that is not its path.
    """
    source = called or str(path)
    try:
        if path.is_dir():
            raise wording.is_a_folder(source)
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise wording.no_such_file(source) from None
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        if isinstance(error, errors.DataError):
            raise
        refusal = error if isinstance(error, OSError) else OSError(errno.EINVAL, "its name is not possible")
        raise wording.cannot_read(source, refusal) from None
    if len(content) > MOST_BYTES:
        raise wording.plan_too_large(source, MOST_BYTES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wording.plan_not_utf_8(source, content.count(b"\n", 0, error.start) + 1) from None
    settings = parsed_plan(text, source)
    for name in _PATHS:
        if name in settings and settings[name] != "-":
            settings[name] = os.path.normpath(path.parent / str(settings[name]))
    taxonomies = settings.get("taxonomy")
    if isinstance(taxonomies, dict):
        settings["taxonomy"] = {
            column: os.path.normpath(path.parent / given) if isinstance(given, str) else given
            for column, given in taxonomies.items()
        }
    return settings


@dataclass(frozen=True, slots=True)
class Planned:
    """The settings of a plan file, apart from the paths of its files."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    input: str | None = None

    @classmethod
    def of(cls, plan: object) -> Planned:
        """Of the plan at this path, or nothing if there is none."""
        if plan is None:
            return cls()
        if not isinstance(plan, str | Path):
            raise wording.bad_value("plan", "the path of a plan file")
        settings = read_plan(Path(plan))
        path = settings.pop("input", None)
        settings.pop("output", None)
        return cls(settings, None if path is None else str(path))


def parsed_plan(text: str, source: str) -> dict[str, object]:
    """The settings in a plan's text, which messages call `source`; paths as they stand."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:  # its message may quote the text
        line = re.search(r"at line (\d+)", str(error))
        raise wording.plan_not_toml(source, int(line[1]) if line else text.count("\n") + 1) from None
    try:
        refuse_replaced(content)
    except errors.SettingsError as error:
        raise wording.in_plan(source, error) from None
    unknown = [name for name in content if name not in PLAN_OPTIONS]
    if unknown:
        raise wording.unknown_plan_options(source, unknown, list(PLAN_OPTIONS))
    return {name: _checked(source, PLAN_OPTIONS[name], value) for name, value in content.items()}


def _checked(source: str, option: Option, value: object) -> object:
    try:
        checked = option.kind.check(option.name, value)
    except errors.SettingsError as error:
        raise wording.in_plan(source, error) from None
    return as_in_plan(checked)
