"""Several questions about all records of a frame, answered in one pass over them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame

Asking = Generator[Sequence[Column], Sequence[Any], Any]
"""Gives the aggregates that it needs, takes their values, and returns what follows from them."""


def answered(frame: DataFrame, *asking: Asking) -> list[Any]:
    """What each of them returns; in their order, in which they may refuse what they find."""
    found: list[Any] = [None] * len(asking)
    wanted: dict[int, list[Column]] = {}
    for at, each in enumerate(asking):
        try:
            wanted[at] = list(next(each))
        except StopIteration as end:  # without a question
            found[at] = end.value
    rules = [rule for own in wanted.values() for rule in own]
    values = list(frame.agg(*rules).collect()[0]) if rules else []
    for at, own in wanted.items():
        given, values = values[: len(own)], values[len(own) :]
        try:
            asking[at].send(given)
        except StopIteration as end:
            found[at] = end.value
    return found
