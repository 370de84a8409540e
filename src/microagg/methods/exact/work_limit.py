"""The work that column generation may still do, counted so that its result does not depend on the clock."""

from __future__ import annotations

from dataclasses import dataclass

OF_PROGRAM, OF_ITERATION = 10_000, 5
"""A linear program that is solved, and each iteration of the simplex method for a row or column of it."""
OF_INTEGER_PROGRAM = 30_000
"""Each column of an integer program."""
OF_LISTED_COLUMN = 80
"""A column of a list, each time that the list is priced."""
OF_ROUNDED_RECORD = 350
"""A record, each time that a partition is made of a program's solution and improved by descent."""


@dataclass(slots=True)
class Work:
    """Counted in candidates that the pricing looks at, which take 10 to 30 nanoseconds each; other steps
    count as many as take about as long.
    """

    left: int

    def spend(self, amount: int) -> None:
        self.left = max(self.left - amount, 0)
