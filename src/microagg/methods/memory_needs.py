"""Available memory: a kernel is not begun if it is known to need more."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np

from microagg import _core, wording
from microagg.model import Points

SMALLEST_CHECKED_BYTES = 64 * 2**20
"""Smaller needs are not checked: the check would take longer, and estimates are not that exact."""

RECORDS_FILTERED_PER_NEAREST = 32
"""Records for each one searched for that brute force needs for its filter in single precision to pay."""

QUERIES_TO_LOOK_FOR_EQUALS = 64
"""Searches with at least so many queries keep one of several equal records (`MANY` of `remaining.hpp`)."""

_CONTROL_GROUP = Path("/sys/fs/cgroup")


def require(needs: int) -> None:
    """Raise `NotEnoughMemory` unless this many bytes are available now."""
    if needs < SMALLEST_CHECKED_BYTES:
        return
    there = available()
    if there is not None and needs > there:
        raise wording.not_enough_memory(needs, there)


def of_search(points: Points, queries: int, nearest: int) -> int:
    """Bytes of the engine behind `remaining.hpp` for so many queries, each for some nearest records, with
    the lists beside it: from 1 MiB on within a factor of 1.5 of what was measured on 2 to 100 attributes,
    with equal records too if the need is large enough to be checked.
    """
    n, p = points.shape
    needs = _of_search(n, n, p, queries, nearest)
    if needs < SMALLEST_CHECKED_BYTES or queries < QUERIES_TO_LOOK_FOR_EQUALS:
        return needs
    return _of_search(n, _distinct_records(points), p, queries, nearest)


def _of_search(n: int, distinct: int, p: int, queries: int, nearest: int) -> int:
    in_double = nearest > distinct / RECORDS_FILTERED_PER_NEAREST
    if in_double or _core.begins_with_tree(distinct, p, queries):
        return int(27 * n + distinct * (18 + 8.6 * p))
    # Far outliers may still make brute force change to double precision.
    return int(27 * n + distinct * (5 + 5.8 * p))


def _distinct_records(points: Points) -> int:
    """How many records differ, by a sum of their values with random weights."""
    weights = np.random.default_rng(0).uniform(1.0, 2.0, (points.shape[1],))
    sums = np.zeros(len(points))
    for column, weight in enumerate(weights):
        sums += weight * points[:, column]
    sums.sort()
    return 1 + int(np.count_nonzero(sums[1:] != sums[:-1]))


def of_lists(points: Points, length: int) -> int:
    """Bytes of neighbour lists, of coordinates on at most 16 axes, of the records in blocks and of the
    tree: at most 1.2 times what was measured on 2 to 50 attributes.
    """
    n, p = points.shape
    return int(n * (4 * length + 8 * min(p, 16) + 8 * p + 48))


def of_bound(n: int, length: int, rounds: int, threads: int) -> int:
    """Bytes of the pairs of the lists, with offers where there are rounds, and of what each record and
    thread has beside: at most 1.2 times what was measured on 2 to 13 attributes.
    """
    return int(n * (length * (72 if rounds else 48) + 110 + 12 * threads))


def of_blocks(points: Points) -> int:
    """Bytes of coordinates on at most 8 axes, of what is sorted by them, and of the blocks found."""
    n, p = points.shape
    return int(n * (8 * min(p, 8) + 32))


def of_descent(points: Points, k: int, length: int) -> int:
    """Bytes of the records in blocks, of centroids and members of their groups, of the lists by place, and
    of a bound for each record: beside the lists themselves.
    """
    n, p = points.shape
    width = -(-p // 8) * 8
    return int(n * (8 * width * (1 + 1 / k) + 4 * length + 96))


def available() -> int | None:
    """Bytes this process can still have, by its own limit, its control group's and the machine's; None if
    they are not known.
    """
    known = [left for left in (_of_process(), _of_control_group(), _of_machine()) if left is not None]
    return max(0, min(known)) if known else None


def _of_process() -> int | None:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = _memory_fields(Path("/proc/self/status")).get("VmSize")
    return None if limit == resource.RLIM_INFINITY or used is None else limit - used


def _of_control_group() -> int | None:
    try:
        limit = (_CONTROL_GROUP / "memory.max").read_text().strip()
        used = int((_CONTROL_GROUP / "memory.current").read_text())
        statistics = (_CONTROL_GROUP / "memory.stat").read_text().split()
    except (OSError, ValueError):
        return None
    if not limit.isdigit():  # "max"
        return None
    cache = int(statistics[statistics.index("inactive_file") + 1]) if "inactive_file" in statistics else 0
    return int(limit) - used + cache


def _of_machine() -> int | None:
    fields = _memory_fields(Path("/proc/meminfo"))
    if "MemAvailable" not in fields:
        return None
    return fields["MemAvailable"] + fields.get("SwapFree", 0)


def _memory_fields(path: Path) -> dict[str, int]:
    """The sizes in a file of /proc, in bytes."""
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    sizes = [line for line in lines if len(line) == 3 and line[2] == "kB"]
    return {name.rstrip(":"): int(size) * 1024 for name, size, _ in sizes}
