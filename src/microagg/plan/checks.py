"""Single settings checked by themselves: `SettingsError` for what cannot be."""

from __future__ import annotations

from numbers import Integral

from microagg import errors


def k_of(k: object) -> int:
    """A smallest group size."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise errors.k_not_integer(type(k).__name__)
    if k < 2:
        raise errors.k_too_small(int(k))
    return int(k)


def choice(setting: str, value: object, choices: tuple[str, ...]) -> str:
    """One of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise errors.no_such_choice(setting, value, choices)
    return value


def whole(setting: str, value: object, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise errors.bad_number(setting, value, f"a whole number of at least {least}")
    return int(value)
