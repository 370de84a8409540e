"""Names and numbers in sentences."""

from __future__ import annotations

import functools
import inspect
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from microagg.wording.message import Message

_TURNS_TEXT = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Signs that change the direction of text, so that a name could look like another one."""


def visible(text: str) -> str:
    """The text on one line and as a terminal may show it: control characters become \\x1b and the like.

    Names of columns, files and strata come with the data: a terminal would take some signs in them for
    commands.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_code_of(sign) if _is_control(sign) else sign for sign in text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, which stay."""
    return "\n".join(map(visible, text.split("\n")))


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Co", "Cs", "Zl", "Zp") or sign in _TURNS_TEXT


def _code_of(sign: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(sign)
    number = ord(sign)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that is no text, in the name of a file
        number -= 0xDC00
    if short is not None or number < 256:
        return short or f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def safe_to_show(sentence: Callable[..., Any]) -> Callable[..., Any]:
    """A function of this package that gets every text, also in lists, as it may be shown.

    What it returns, a message or an exception, carries the function's name and what it was given.
    """

    @functools.wraps(sentence)
    def made(*given: object, **named: object) -> Any:
        result = sentence(
            *map(safe_value, given), **{name: safe_value(value) for name, value in named.items()}
        )
        if isinstance(result, Exception) and result.args and isinstance(result.args[0], str):
            figures = inspect.signature(sentence).bind(*given, **named).arguments
            result.args = (Message(result.args[0], sentence.__name__, plain_figures(figures)),)
        return result

    return made


def plain_figures(figures: Mapping[str, object]) -> dict[str, Any]:
    """Those that can be compared and sent to another process."""
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in figures.items()}
    return {name: value for name, value in plain.items() if isinstance(value, str | int | float | tuple)}


def safe_value(value: object) -> object:
    """A figure of a message, with every text in it as it may be shown."""
    if isinstance(value, str):
        return value if value == "\t" else visible(value)  # the delimiter, which has a name of its own
    if isinstance(value, Mapping):
        return {safe_value(key): safe_value(part) for key, part in value.items()}
    if isinstance(value, list):
        return [safe_value(part) for part in value]
    return tuple(map(safe_value, value)) if isinstance(value, tuple) else value


def nearest_names(name: str, known: Iterable[str]) -> str:
    """' (did you mean a or b?)' or nothing."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), list(folded), n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(folded[match] for match in close)}?)" if close else ""


def hinted(names: Iterable[str], known: Sequence[str]) -> str:
    """'a' (did you mean b?), 'c'."""
    return listed([f"'{name}'{nearest_names(name, known)}" for name in names])


def hidden_parts(columns: Sequence[str], rows: int) -> str:
    """'the hidden column B and 2 hidden rows'."""
    parts = []
    if columns:
        parts.append(f"the hidden {'column' if len(columns) == 1 else 'columns'} {listed(columns, 20)}")
    if rows:
        parts.append(count(rows, "hidden row"))
    return " and ".join(parts)


def listed(names: Sequence[object], most: int = 8) -> str:
    """'a, b, c and 4 more'."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def quoted(names: Sequence[str]) -> str:
    """The same with each name in quotes."""
    return listed([f"'{name}'" for name in names])


def shown(path: str) -> str:
    r"""A name of a file, with bytes that are no text as \xff."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def count(number: int, noun: str, plural: str = "") -> str:
    """'1 record', '2,000 records'."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def some_names(names: Sequence[str], most: int = 6) -> str:
    """'a, b and c'; of more than a few, 'a, b, c and 10 more'."""
    return and_list(names) if len(names) <= most else listed(names, most - 2)


def and_list(columns: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(([", ".join(columns[:-1])] if len(columns) > 1 else []) + list(columns[-1:]))
