"""The speed of a search, measured while it runs, so that it can be planned again in time."""

from __future__ import annotations

from microagg.methods.run import Run


class Pace:
    """Recent seconds per unit of work, by the clock of a run."""

    def __init__(self, run: Run) -> None:
        self._watch = run.watch
        self._since = run.watch.seconds
        self._seconds_a_unit = 0.0

    def begin(self) -> None:
        self._since = self._watch.seconds

    def add(self, work: float) -> None:
        """Note that this amount of work was done since `begin` or the last `add`."""
        now = self._watch.seconds
        latest = (now - self._since) / work
        known = self._seconds_a_unit
        self._seconds_a_unit = latest if known == 0.0 else (known + latest) / 2.0
        self._since = now

    def share_in_time(self, to_come: float, quicker: float = 1.0) -> float:
        """The share of the work to come for which there is time, at most 1, if it will be `quicker` times
        as fast as lately. 1 if nothing has been measured.
        """
        needed = self._seconds_a_unit * to_come
        left = max(self._watch.seconds_left, 0.0) * quicker
        return 1.0 if needed <= left else left / needed
