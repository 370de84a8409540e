"""Names and numbers in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def nearest_names(name: str, known: Iterable[str]) -> str:
    """' (did you mean a or b?)' or nothing."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), list(folded), n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(folded[match] for match in close)}?)" if close else ""


def listed(names: Sequence[object], most: int = 8) -> str:
    """'a, b, c and 4 more'."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def quoted(names: Sequence[str]) -> str:
    """The same with each name in quotes."""
    return listed([f"'{name}'" for name in names])


def counted(number: int, noun: str) -> str:
    """'1 record', '2 records'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def records_are(number: int) -> str:
    """'1 record is', '2 records are'."""
    return f"{counted(number, 'record')} {'is' if number == 1 else 'are'}"


def joined(columns: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(([", ".join(columns[:-1])] if len(columns) > 1 else []) + list(columns[-1:]))
