"""docs/reference/options.md, from the declarations of the options: python -m benchmarks.options_page."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from microagg.cli.commands import DESCRIPTIONS
from microagg.plan.plan_text import toml_value
from microagg.settings.declared import PLAN_OPTIONS, options_of_command
from microagg.settings.options import Option

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "options.md"

LEAD = """# Options

Written by `python -m benchmarks.options_page` from `src/microagg/settings/declared.py`.

## Options of `protect`

The same names are keys of a plan file, arguments of `microagg.protect()` (`pass` is `pass_` there) and,
with hyphens, options of `microagg protect`. `microagg plan` writes a plan file with all of them.
"""


def page() -> str:
    parts = [LEAD]
    for group, options in groupby(PLAN_OPTIONS.values(), key=lambda option: option.group):
        parts += [f"### {group}\n", *map(_described, options)]
    parts.append("## Commands\n")
    for about in DESCRIPTIONS:
        parts.append(f"### `microagg {about.name}`\n\n{about.summary} {about.details}".rstrip() + "\n")
        options = options_of_command(about.name).values()
        lines = [_line(each) for each in options if not _is_shared(each)]
        shared = [f"`{each.flags[-1]}`" for each in options if _is_shared(each)]
        if shared:
            lines.append(f"- as above: {', '.join(shared)}")
        parts.append("\n".join(lines) + "\n")
        parts.append(
            "Example: " + ", then ".join(f"`{line}`" for line in about.example.splitlines()) + "\n"
        )
    return "\n".join(parts)


def _is_shared(each: Option) -> bool:
    return PLAN_OPTIONS.get(each.name) == each


def _described(option: Option) -> str:
    lines = [f"**`{option.name}`** {option.help}", *([""] if option.kind.choices else [])]
    for choice, label in option.kind.choices.items():
        lines.append(
            f"- `{choice}`" + ("" if choice == label else f": {label.removeprefix(f'{choice}: ')}")
        )
    if option.has_default:
        lines.append(f"\nDefault: `{toml_value(option.default)}`")
    elif option.example is not None:
        lines.append(f"\nExample: `{option.name} = {toml_value(option.example)}`")
    if option.needs is not None:
        lines.append(f"\nIt has an effect only where {option.needs.condition}.")
    return "\n".join(lines) + "\n"


def _line(option: Option) -> str:
    default = (
        f" Default: `{option.default}`."
        if option.has_default and not isinstance(option.default, bool)
        else ""
    )
    return f"- `{', '.join(option.flags)}` {option.help}{default}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
