"""Runs under a limit of memory or of processes, where libraries may abort: watched by a parent that stays.

Like `starting`, this imports nothing large.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from contextlib import suppress

from microagg.process import ENDING, is_limited

_SENT_BY_THE_KERNEL = 0x80
"""As by a terminal, which sends Ctrl-C to both processes anyway."""
_OWN_CODES = (0, 2, 3, 4, 70, 129, 130, 143)
_OUT_OF_MEMORY = 70
_ROOM_FOR_THREADS = 4 << 30
"""Bytes of address space below which each further thread, with 72 MB of its own, is one too many."""

_FEW_THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def watched_if_limited() -> int | None:
    """None in the process that does the work; in a parent of it, the exit code when that has ended.

    A library that cannot start a thread or get memory in a thread of its own aborts the process, which
    nothing in that process can answer.
    """
    if not is_limited():
        return None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*ENDING, signal.SIGCHLD))
    try:
        child = os.fork()
    except OSError:
        return _complain_of_little_memory()
    if child == 0:
        _die_with_parent()
        _hide_last_words()
        _use_little()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return None
    status = _ended(child)
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        os.kill(os.getpid(), signal.SIGKILL)
    return code if code in _OWN_CODES else _complain_of_little_memory()


def _ended(child: int) -> int:
    """The status with which the child ended; signals for this process are passed on."""
    while True:
        got = signal.sigwaitinfo((*ENDING, signal.SIGCHLD))
        if got.si_signo != signal.SIGCHLD:
            if got.si_code != _SENT_BY_THE_KERNEL:
                os.kill(child, got.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended == child:
            return status


def _complain_of_little_memory() -> int:
    try:
        from microagg.wording import out_of_memory

        os.write(2, f"microagg: {out_of_memory()}\n".encode())
    except (MemoryError, ImportError, OSError):
        with suppress(OSError):
            os.write(2, b"microagg: There is not enough memory.\n")
    return _OUT_OF_MEMORY


def _die_with_parent() -> None:
    with suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(1, int(signal.SIGTERM), 0, 0, 0)


def _hide_last_words() -> None:
    """What libraries print when they abort goes nowhere; `sys.stderr` still leads to standard error.

    So do tracebacks of what nobody could catch any more: the parent learns of it by the exit code.
    """
    sys.excepthook = lambda *_: None
    threading.excepthook = lambda _: None
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    encoding = sys.stderr.encoding
    sys.stderr = os.fdopen(kept, "w", buffering=1, encoding=encoding, errors="backslashreplace")


def _use_little() -> None:
    """Threads take address space, whether they do anything or not."""
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    finite = [most for most in limits if most != resource.RLIM_INFINITY]
    if not finite or min(finite) < _ROOM_FOR_THREADS:
        for name, value in _FEW_THREADS.items():
            os.environ.setdefault(name, value)
