"""Checks of the settings of measures."""

from __future__ import annotations

from numbers import Integral, Real

from microagg import wording


def require_positive(setting: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < float("inf"):
        raise wording.bad_number(setting, value, "a number above 0")


def require_share(setting: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) <= 1.0:
        raise wording.bad_number(setting, value, "a number above 0 and at most 1")


def require_at_least_one(setting: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise wording.bad_number(setting, value, "a whole number of at least 1")
