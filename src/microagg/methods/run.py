"""One run of a method: its seed, deadline, threads, progress and cancellation."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar, cast

from microagg import _core
from microagg.errors import Cancelled
from microagg.model import Points

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_SLICE = 0.05  # seconds between two looks at a running kernel


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: the stage at work, its share done (0..1), seconds since the start."""

    stage: str
    done: float
    seconds: float


class Run:
    """What stages share while one problem is solved.

    `seconds` is a wall-clock limit that only refinements heed; `threads` never changes an answer;
    `progress` is called about twenty times a second, in the thread that started the run: whatever it
    raises (and Ctrl-C) stops the kernel at work and comes out of the run.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        seconds: float | None = None,
        threads: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.seed = seed
        self.threads = threads or available_threads()
        self.progress = progress
        self.stage = ""
        self.watch = _core.Watch()
        self.watch.set_deadline(math.inf if seconds is None else seconds)
        self._started = monotonic()
        self._inside = False
        self._memory: list[tuple[Points, object]] = []
        self._memory_lock = threading.Lock()

    def cancel(self) -> None:
        """Ask the run to stop; may be called from any thread."""
        self.watch.cancel()

    @property
    def overdue(self) -> bool:
        """True once the deadline has passed: refinements then return what they have."""
        return self.watch.expired

    def call(self, kernel: Callable[[], _Result]) -> _Result:
        """Run a kernel so that Ctrl-C and progress work while it is inside C++.

        The kernel gets a thread of its own; this one waits in slices, for a main thread inside
        C++ would never see Ctrl-C. Inside `map` the slices are taken by the thread that mapped.
        """
        if self._inside:
            return kernel()
        self.watch.restart()
        outcome: list[_Result] = []
        failure: list[BaseException] = []
        finished = threading.Event()

        def work() -> None:
            try:
                outcome.append(kernel())
            except BaseException as error:
                failure.append(error)
            finally:
                finished.set()

        # An event, not join(): a signal during join() can make a running thread look finished.
        worker = threading.Thread(target=work, daemon=True)
        try:
            worker.start()
            while not finished.wait(_SLICE):
                if self.progress:
                    self.progress(Progress(self.stage, self.watch.done, monotonic() - self._started))
        except BaseException:
            self.watch.cancel()
            if worker.ident is not None:
                finished.wait()
            raise
        if failure:
            raise failure[0]
        return outcome[0]

    def remember(self, points: Points, compute: Callable[[], _Result]) -> _Result:
        """What `compute` returns for these points, computed once for the run and its children.

        For things that take long and depend on the points alone, such as neighbour lists.
        """
        with self._memory_lock:
            for known, value in self._memory:
                if known is points:
                    return cast(_Result, value)
            result = compute()
            self._memory.append((points, result))
            return result

    def map(self, solve: Callable[[_Item, Run], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Results of `solve(item, run)` in the order of the items, on `threads` threads.

        Each item gets a run of its own with a seed derived from this one's and the item's place,
        so that neither the number of threads nor their pace can change an answer.
        """
        pairs = [(item, self._child(place)) for place, item in enumerate(items)]
        return self.call(lambda: self._map(solve, pairs))

    def _map(self, solve: Callable[[_Item, Run], _Result], pairs: list[tuple[_Item, Run]]) -> list[_Result]:
        def guarded(pair: tuple[_Item, Run]) -> _Result:
            if self.watch.cancelled:
                raise Cancelled("The run was cancelled.")
            return solve(*pair)

        if self.threads == 1 or len(pairs) < 2:
            return [guarded(pair) for pair in pairs]
        with ThreadPoolExecutor(min(self.threads, len(pairs))) as pool:
            return list(pool.map(guarded, pairs))

    def _child(self, place: int) -> Run:
        child = Run(seed=derived_seed(self.seed, place), threads=1)
        child.watch = self.watch
        child._inside = True
        child._memory = self._memory
        child._memory_lock = self._memory_lock
        return child


def available_threads() -> int:
    """CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def derived_seed(seed: int, place: int) -> int:
    """A seed for part `place` of a run with `seed`: well mixed, the same on every machine."""
    mixed = (seed * 0x9E3779B97F4A7C15 + (place + 1) * 0xD1B54A32D192ED03) % 2**64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
    return mixed ^ (mixed >> 31)
