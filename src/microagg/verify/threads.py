"""Columns that are counted at the same time: NumPy and Arrow do not hold each other up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

THREADS = 2
"""More would need more memory, for little."""
FEW_RECORDS = 50_000
"""It takes longer to start threads than to count so few."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_threads(work: Callable[[_Item], _Result], items: Iterable[_Item], records: int) -> list[_Result]:
    """The results in the order of the items."""
    if records <= FEW_RECORDS:
        return [work(item) for item in items]
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, items))
