"""The text of a plan file. It names columns, but never shows a respondent's value."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from numbers import Integral
from pathlib import Path

from microagg import wording
from microagg.plan.profile import ColumnProfile, Profile
from microagg.plan.suggestions import Suggestion
from microagg.settings.declared import PLAN_OPTIONS
from microagg.settings.options import Option

_WIDTH = 108
_COMMENT = 96


def write_plan(
    settings: Mapping[str, object],
    profile: Profile | None = None,
    suggestions: Sequence[Suggestion] = (),
    folder: Path | None = None,
    notes: Sequence[str] = (),
) -> str:
    """A plan file that explains itself: what is given, and other options as comments with their defaults.

    With a profile, what the columns hold stands at the top, with the reasons for the suggestions, and notes
    on the whole. None is an option that is not given. Paths are written relative to `folder`, where the
    file will be.
    """
    lines = [
        "# A plan for `microagg protect --plan`: change what does not fit. Lines that begin with #",
        "# do nothing; those without a blank after it show options that are not given.",
    ]
    if profile is not None:
        lines += ["#", *(f"# {line}".rstrip() for line in _profile(profile, suggestions, notes))]
    return _plan_with_comments(lines, settings, profile, folder)


def used_plan(settings: Mapping[str, object], folder: Path | None = None) -> str:
    """The plan that a run has used, from which it can be repeated."""
    lines = ["# The plan of a run of `microagg protect`; `microagg protect --plan` repeats it."]
    return _plan_with_comments(lines, settings, None, folder)


def _plan_with_comments(
    lines: list[str], settings: Mapping[str, object], profile: Profile | None, folder: Path | None
) -> str:
    unknown = [name for name in settings if name not in PLAN_OPTIONS]
    if unknown:
        raise wording.unknown_plan_options("The plan", unknown, list(PLAN_OPTIONS))
    for title, options in groupby(PLAN_OPTIONS.values(), key=lambda option: option.group):
        lines += ["", f"# --- {title.lower()} ".ljust(80, "-")]
        for option in options:
            lines += ["", *_comment(option.meaning)]
            lines += _line_of_option(option, settings.get(option.name), profile, folder)
    return "\n".join(lines) + "\n"


def _line_of_option(
    option: Option, value: object, profile: Profile | None, folder: Path | None
) -> list[str]:
    if value is not None:
        if option.name in ("input", "output") and str(value) != "-" and folder is not None:
            value = os.path.relpath(str(value), folder)
        return [*_reasons(option, value, profile), _assigned(option.name, value)]
    example = "" if option.has_default else "  # an example"
    return [f"#{option.name} = {toml_value(option.shown)}{example}"]


def _reasons(option: Option, value: object, profile: Profile | None) -> list[str]:
    """Why a plan for a file has this option."""
    if profile is None:
        return []
    lines: list[str] = []
    if option.name == "missing_codes" and isinstance(value, Mapping):
        lines = [
            wording.note_missing_codes(
                _string(column.name), column.missing_codes, column.coded_missing, column.called_missing
            )
            for column in map(profile.__getitem__, value)
        ]
        lines.append(wording.note_codes_are_a_judgement())
    elif option.name in _NOTES:
        lines = [_NOTES[option.name]]
    return [comment for line in lines for comment in _comment(line)]


_NOTES = {
    "nominal": wording.note_nominal_suggested(),
    "ordinal": wording.note_ordinal_suggested(),
    "retry": wording.note_retry_suggested(),
}


def _comment(text: str) -> list[str]:
    return [f"# {part}" for part in textwrap.wrap(text, _COMMENT, break_long_words=False)]


# --- what the columns hold --------------------------------------------------------------------


def _profile(profile: Profile, suggestions: Sequence[Suggestion], notes: Sequence[str]) -> Iterable[str]:
    yield f"Detected in {_string(profile.source)}: {profile.records} records."
    yield ""
    roles = {suggestion.column: suggestion for suggestion in suggestions}
    header = ("column", "holds", "distinct", "missing", "zeros", "decimals", "role", "because")
    rows = [header, *(_row_of_column(column, roles.get(column.name)) for column in profile)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(header))]
    for row in rows:
        cells = (
            cell.rjust(width) if at in range(2, 6) else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  " + "  ".join(cells)
    if profile.identities:
        yield ""
        yield "Sums that hold in every record. Means keep them, up to rounding, if all terms are in one"
        yield "array of keys; medians do not."
        for identity in profile.identities:
            yield f"  {_string(identity.total)} = {' + '.join(map(_string, identity.parts))}"
    if profile.identical:
        yield ""
        yield "Columns that are the same in every record: masking one and not the other gives it away."
        for names in profile.identical:
            yield f"  {' = '.join(map(_string, names))}"
    for note in notes:
        yield ""
        yield from textwrap.wrap(_string(note)[1:-1], _COMMENT, break_long_words=False)


def _row_of_column(column: ColumnProfile, suggestion: Suggestion | None) -> tuple[str, ...]:
    return (
        _string(column.name),
        column.kind,
        str(column.distinct),
        str(column.missing),
        zero_share(column),
        decimals_in_use(column),
        suggestion.role if suggestion else "",
        suggestion.reason if suggestion else "",
    )


def printable(name: str) -> str:
    """A column's name on one line."""
    return name if name.isprintable() else _string(name)


def zero_share(column: ColumnProfile) -> str:
    return f"{100 * column.zeros:.1f} %" if column.numeric else ""


def decimals_in_use(column: ColumnProfile) -> str:
    if not column.numeric:
        return ""
    return "many" if column.decimals is None else str(column.decimals)


# --- TOML -------------------------------------------------------------------------------------


def _assigned(name: str, value: object) -> str:
    line = f"{name} = {toml_value(value)}"
    if len(line) <= _WIDTH or not isinstance(value, list | tuple):
        return line
    if all(isinstance(item, list | tuple) for item in value):
        inner = ",\n".join(_over_several_lines(item, "  ") for item in value)
        return f"{name} = [\n{inner},\n]"
    return f"{name} = {_over_several_lines(value, '')}"


def _over_several_lines(values: Sequence[object], indent: str) -> str:
    items = "".join(f"{indent}  {toml_value(value)},\n" for value in values)
    return f"{indent}[\n{items}{indent}]"


def toml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str | Path):
        return _string(str(value))
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_toml_key(str(key))} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(toml_value, value))}]"
    raise wording.contract_broken("the plan", f"it has a {type(value).__name__}, which TOML does not know")


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)


_SHORT = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def _string(text: str) -> str:
    """In quotes, on one line: also fit for a comment, from which no name can break out."""
    if not text.isprintable() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise wording.not_unicode()
    return '"' + "".join(_SHORT.get(sign) or _escaped(sign) for sign in text) + '"'


def _escaped(sign: str) -> str:
    # Controls, signs that turn text round, and separators that some editors take for the end of a line.
    if wording.visible(sign) == sign:
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
