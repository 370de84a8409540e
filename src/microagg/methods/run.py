"""One run of a method: its seed, deadline, threads, progress and cancellation."""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar, cast

from microagg import _core
from microagg.methods import memory_needs
from microagg.methods.objective import information_loss
from microagg.model import Effort, Points

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_POLL_SECONDS = 0.05
"""Between two looks at a running kernel."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands.

    `stage`: the stage at work; `done`: its share done (0..1); `seconds`: since the start;
    `information_loss`: of the best partition so far, in percent, None before there is one;
    `improvement`: by how many percent that lies below the run's first partition (MDAV's, where the method
    starts from it); `bound_loss`: what is proven that no partition can go below, in percent, None while
    nothing is; `detail`: what the stage counts; `part`: at which of several problems the run is, such as
    "stratum 3 of 12", and `finished`: how many of them are done; `has_groups`: a run that is stopped now
    keeps some groups.
    """

    stage: str
    done: float
    seconds: float
    information_loss: float | None = None
    improvement: float | None = None
    bound_loss: float | None = None
    detail: str = ""
    part: str = ""
    finished: int = 0
    has_groups: bool = False


Watcher = Callable[[Progress], object]
"""A function of the user's; when it returns True, the run stops."""


class Run:
    """What stages share while one problem is solved.

    `seconds` is a wall-clock limit that only refinements heed; `effort` is for those that can always do
    more; `threads` never changes an answer; `sst` turns costs into losses. `progress` is called about
    twenty times a second, in the thread that started the run: when it returns True the run ends with the
    best so far, and whatever it raises (and Ctrl-C) stops the kernel at work and comes out of the run.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        seconds: float | None = None,
        threads: int | None = None,
        effort: Effort = "balanced",
        sst: float = 0.0,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        self.seed = seed
        self.seconds = seconds
        self.effort: Effort = effort
        self.sst = sst
        self.share = 1.0
        """This problem's part of what the problems of a run share."""
        self.threads = threads or available_threads()
        self.progress = progress
        self.stage = ""
        self.bound: float | None = None
        self.detail = ""
        self.noted: Callable[[float], object] | None = None
        """Called with the cost of every partition of the run's problem, if it is one of several."""
        self.watch = _core.Watch()
        self.watch.set_deadline(math.inf if seconds is None else seconds)
        self._started = monotonic()
        self._first: float | None = None
        self._inside = False
        self._memory: list[tuple[weakref.ref[Points], object, object]] = []
        self._memory_lock = threading.Lock()

    def cancel(self) -> None:
        """Ask the run to stop; may be called from any thread. Refinements return the best so far; a run
        that has no partition yet ends with `Cancelled`.
        """
        self.watch.cancel()

    @property
    def overdue(self) -> bool:
        """True once the deadline has passed or the run was cancelled: refinements then return what
        they have.
        """
        return self.watch.expired

    @property
    def outermost(self) -> bool:
        """False inside `map`, where a problem may be a part of the run's."""
        return not self._inside

    def note(self, sse: float) -> None:
        """Report a partition of the run's problem with this cost as progress."""
        if self.noted is not None:
            self.noted(sse)
        if self.outermost:
            self._first = sse if self._first is None else self._first
            self.watch.report_best(sse)

    def call(self, kernel: Callable[[], _Result], needs: int = 0) -> _Result:
        """Run a kernel so that Ctrl-C and progress work while it is inside C++. Not begun if it needs
        more bytes of memory than there are.

        The kernel gets a thread of its own; this one waits in slices, for a main thread inside
        C++ would never see Ctrl-C. Inside `map` the slices are taken by the thread that mapped.
        """
        memory_needs.require(needs)
        if self._inside:
            return kernel()
        self.watch.restart()

        def look() -> None:
            if self.progress and self.progress(self._progress()) is True:
                self.cancel()

        return watched(kernel, look, self.watch.cancel)

    def _progress(self) -> Progress:
        loss = improvement = None
        if self._first is not None:
            best = min(self._first, self.watch.best)
            loss = information_loss(best, self.sst) if self.sst > 0.0 else None
            improvement = 100.0 * (1.0 - best / self._first) if self._first > 0.0 else 0.0
        return Progress(
            self.stage,
            self.watch.done,
            monotonic() - self._started,
            loss,
            improvement,
            None if self.bound is None or self.sst == 0.0 else information_loss(self.bound, self.sst),
            self.detail,
            has_groups=self._first is not None,
        )

    def remember(self, points: Points, what: object, compute: Callable[[], _Result]) -> _Result:
        """The result of `compute` for these points, computed once for the run and its children.

        For slow steps that depend on the points and `what` alone, such as neighbour lists. Forgotten when
        the points are.
        """
        with self._memory_lock:
            self._memory[:] = [entry for entry in self._memory if entry[0]() is not None]
            for known, known_what, value in self._memory:
                if known() is points and known_what == what:
                    return cast(_Result, value)
            result = compute()
            self._memory.append((weakref.ref(points), what, result))
            return result

    def map(self, solve: Callable[[_Item, Run], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Results of `solve(item, run)` in the order of the items, on `threads` threads.

        Each item gets a run of its own with a seed derived from this one's and the item's place,
        so that neither the number of threads nor their pace can change an answer.
        """
        pairs = [(item, self._child(place)) for place, item in enumerate(items)]
        return self.call(lambda: self._map(solve, pairs))

    def _map(self, solve: Callable[[_Item, Run], _Result], pairs: list[tuple[_Item, Run]]) -> list[_Result]:
        if self.threads == 1 or len(pairs) < 2:
            return [solve(*pair) for pair in pairs]
        with ThreadPoolExecutor(min(self.threads, len(pairs))) as pool:
            return list(pool.map(lambda pair: solve(*pair), pairs))

    def with_seed(self, place: int) -> Run:
        """This run with the seed that item `place` of `map` would get."""
        run = copy(self)
        run.seed = derived_seed(self.seed, place)
        return run

    def for_part(self, seconds: float) -> Run:
        """This run for a part of it that is cancelled after `seconds`, even where it ignores deadlines."""
        run = copy(self)
        run.watch = _core.Watch(self.watch, seconds)
        return run

    def with_grace(self, seconds: float) -> Run:
        """This run; if its deadline has passed and it was not cancelled, with `seconds` more."""
        late = self.overdue and not self.watch.cancelled
        return self.for_part(seconds) if late else self

    def _child(self, place: int) -> Run:
        child = Run(
            seed=derived_seed(self.seed, place), seconds=self.seconds, threads=1, effort=self.effort
        )
        child.watch = self.watch
        child._inside = True
        child._memory = self._memory
        child._memory_lock = self._memory_lock
        return child


def watched(
    work: Callable[[], _Result], look: Callable[[], object], stop: Callable[[], object] = lambda: None
) -> _Result:
    """The result of `work`, which gets a thread of its own; this one calls `look` about twenty times a
    second. What `look` raises, and Ctrl-C, comes out when the work has ended, which is asked to by `stop`.
    """
    outcome: list[_Result] = []
    failure: list[BaseException] = []
    finished = threading.Event()

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failure.append(error)
        finally:
            finished.set()

    # An event, not join(): a signal during join() can make a running thread look finished.
    worker = threading.Thread(target=run, daemon=True)
    try:
        worker.start()
        while not finished.wait(_POLL_SECONDS):
            look()
    except BaseException:
        stop()
        if worker.ident is not None:
            finished.wait()
        raise
    if failure:
        raise failure[0]
    return outcome[0]


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
