"""Checks of what measures can be told."""

from __future__ import annotations

from numbers import Integral, Real

from microagg import wording


def positive(setting: str, value: object) -> None:
    """A number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < float("inf"):
        raise wording.bad_number(setting, value, "a number above 0")


def share_of_one(setting: str, value: object) -> None:
    """A number above 0 and at most 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) <= 1.0:
        raise wording.bad_number(setting, value, "a number above 0 and at most 1")


def at_least_one(setting: str, value: object) -> None:
    """A whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise wording.bad_number(setting, value, "a whole number of at least 1")
