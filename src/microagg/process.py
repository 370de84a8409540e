"""What holds for every process of microagg, whether command line, Python or browser started it: no dumps of
its memory, limits, and no signal while its files get their names.
"""

from __future__ import annotations

import errno
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals by which somebody asks a process to end."""
_last_committed: list[str] = []


FEW_PROCESSES = 1024
"""Libraries may fail under a limit of processes and threads below this."""


def is_limited() -> bool:
    """Whether the memory or the number of threads of this process is limited."""
    memory = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    if any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in memory):
        return True
    processes, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return processes != resource.RLIM_INFINITY and processes < FEW_PROCESSES


def is_shortage(error: BaseException | None) -> bool:
    """Whether a lack of memory or threads caused an error, directly or through other errors."""
    while error is not None:
        if _is_shortage_itself(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_shortage_itself(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno in (errno.ENOMEM, errno.EAGAIN):
        return True
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return True
    # Arrow raises its base class where it cannot start a thread.
    if (type(error).__module__, type(error).__name__) == ("pyarrow.lib", "ArrowException"):
        return True
    # Under a limit, modules cannot be mapped, and C code returns without an explanation.
    ours = type(error).__module__.startswith("microagg")
    missing = isinstance(error, ModuleNotFoundError)
    unexplained = isinstance(error, ImportError | SystemError) and not missing
    return unexplained and not ours and is_limited()


def is_near_limit() -> bool:
    """Whether this process has used three quarters of its address space at some time: unexplained errors
    are then likely to come from modules that could not be loaded completely.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return False
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return False
    peak = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmPeak")), 0)
    return 4 * peak > 3 * most


def forbid_core_dumps() -> None:
    """A core dump would hold the data, in a folder where nobody expects them."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def limit_memory(more: int) -> None:
    """Let this process have at most so many bytes more than it has now: what is imported does not count."""
    limit = more + _memory_in_use()
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _memory_in_use() -> int:
    try:
        pages = Path("/proc/self/statm").read_text().split()[5]
    except OSError:  # another system than Linux
        return 0
    return int(pages) * resource.getpagesize()


@contextmanager
def signals_held_back() -> Iterator[None]:
    """Delay signals that arrive while the block runs until it has ended.

    Handlers are exchanged instead of masking signals: a mask holds for one thread, and the libraries have
    threads of their own, by way of which a signal would still reach the handler. Only the main thread can
    do that, and only there handlers run.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        arrived.append(number)

    # A handler that was not installed by Python could not be put back.
    handlers = {
        number: handler
        for number in ENDING
        if (handler := signal.getsignal(number)) not in (None, signal.SIG_IGN)
    }
    try:
        for number in handlers:
            signal.signal(number, remember)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for each in dict.fromkeys(arrived):
            signal.raise_signal(each)


def note_committed(path: str) -> None:
    """Remember that all files of a run have been written; `path` is the main one."""
    _last_committed[:] = [path]


def last_committed() -> str | None:
    """The main file that this process has written last; None if it has written nothing."""
    return _last_committed[0] if _last_committed else None
