"""Too little memory is said before it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from microagg import errors
from microagg.methods import memory_needs
from microagg.methods.blocks import KdBlocks
from microagg.methods.fixed_size import Mdav
from microagg.methods.neighbours import near_lists
from microagg.methods.run import Run
from microagg.methods.stage import one_group
from microagg.model import Problem


def in_a_process(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)


def test_small_needs_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_needs, "available", lambda: 0)
    memory_needs.require(memory_needs.SMALLEST_CHECKED_BYTES - 1)
    with pytest.raises(errors.NotEnoughMemory, match=r"about 0\.1 GB .* only 0\.0 GB"):
        memory_needs.require(memory_needs.SMALLEST_CHECKED_BYTES)


def test_unknown_limits_refuse_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_needs, "available", lambda: None)
    memory_needs.require(2**62)


def test_methods_say_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_needs, "available", lambda: 0)
    monkeypatch.setattr(memory_needs, "SMALLEST_CHECKED_BYTES", 0)
    problem = Problem(np.random.default_rng(0).normal(size=(50, 2)), 3)
    with pytest.raises(errors.NotEnoughMemory):
        Mdav()(problem, one_group(problem), Run())
    with pytest.raises(errors.NotEnoughMemory):
        near_lists(problem, 5, Run())
    with pytest.raises(errors.NotEnoughMemory):
        KdBlocks(10)(problem, one_group(problem), Run())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc: what is used is not known")
def test_the_limit_of_the_process() -> None:
    code = """
import resource
import numpy as np
from microagg import errors
from microagg.methods import memory_needs
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.methods.stage import one_group
from microagg.model import Problem
problem = Problem(np.random.default_rng(0).random((1_000_000, 4)), 3)
start = one_group(problem)
used = memory_needs._memory_fields(memory_needs.Path("/proc/self/status"))["VmSize"]
resource.setrlimit(resource.RLIMIT_AS, (used + 60_000_000, resource.RLIM_INFINITY))
assert 0 < memory_needs.available() <= 60_000_000
try:
    Mdav()(problem, start, Run())
except errors.NotEnoughMemory as error:
    print(error)
"""
    done = in_a_process(code)
    assert done.stdout.startswith("This method needs about 0.1 GB of memory"), done.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc: peaks are not known")
@pytest.mark.parametrize("p", [2, 13])
@pytest.mark.parametrize("what", ["BRUTE", "TREE", "lists", "blocks", "descent", "bound"])
def test_needs_are_foreseen(what: str, p: int) -> None:
    code = """
import sys
import numpy as np
from microagg import _core
from microagg.methods import memory_needs
def peak():
    return memory_needs._memory_fields(memory_needs.Path("/proc/self/status"))["VmHWM"]
what, p = sys.argv[1], int(sys.argv[2])
x = np.empty((300_000, p))
np.random.default_rng(0).standard_normal(out=x)
rows = np.arange(300_000, dtype=np.int32)
lists = np.repeat(rows[:, None], 20, axis=1) if what == "descent" else None
before = peak()
if what == "lists":
    foreseen = memory_needs.of_lists(x, 20)
    _core.neighbour_lists(x, 20, 2, 1, _core.Watch())
elif what == "bound":
    x = x[:60_000]
    lists = _core.neighbour_lists(x, 24, 2, 1, _core.Watch())
    before = peak()
    foreseen = memory_needs.of_bound(60_000, 24, 1, 1)
    _core.neighbour_bound(x, lists, 3, 100, 1, 1, _core.Watch())
elif what == "blocks":
    foreseen = memory_needs.of_blocks(x)
    _core.kd_blocks(x, np.empty(0, dtype=np.int64), 4_096, 3, False, 0, 1, _core.Watch())
elif what == "descent":
    foreseen = memory_needs.of_descent(x, 3, 20)
    watch = _core.Watch()
    watch.set_deadline(0.2)
    _core.descent(x, rows, rows // np.int32(3), 3, lists, rows, None, watch)
else:
    foreseen = memory_needs.of_search(x, 1 if what == "BRUTE" else 300_000, 1)
    engine = getattr(_core.Engine, what)
    _core.peel(x, 100_000, _core.Pivot.REFERENCES, _core.Growth.SEED, 1, _core.Watch(), engine)
print(peak() - before, foreseen)
"""
    done = in_a_process(code, what, str(p))
    assert done.stdout, done.stderr
    measured, foreseen = (int(number) for number in done.stdout.split())
    # A dozen arrays may each end on a huge page of their own.
    assert 0.5 * foreseen < measured < foreseen + 12 * 2**21


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc: peaks are not known")
@pytest.mark.parametrize("outlier", [1.0, 1e9])
@pytest.mark.parametrize(("n", "p", "k"), [(100_000, 2, 100), (100_000, 13, 1_000), (20_000, 50, 1_000)])
def test_needs_of_mdav_are_foreseen(n: int, p: int, k: int, outlier: float) -> None:
    """By brute force, within a factor of 1.5; for large k and beside a far outlier in double precision."""
    code = """
import sys
import numpy as np
from microagg import _core
from microagg.methods import memory_needs
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.model import Problem
def peak():
    return memory_needs._memory_fields(memory_needs.Path("/proc/self/status"))["VmHWM"]
n, p, k = map(int, sys.argv[1:4])
x = np.empty((n, p))
np.random.default_rng(0).standard_normal(out=x)
x[0] *= float(sys.argv[4])
before = peak()
Mdav().formed(Problem(x, k), Run(threads=1))
queries = _core.peel_queries(n, k, Mdav.pivot, Mdav.growth)
assert not _core.begins_with_tree(n, p, queries)
print(peak() - before, memory_needs.of_search(x, queries, k))
"""
    done = in_a_process(code, str(n), str(p), str(k), str(outlier))
    assert done.stdout, done.stderr
    measured, foreseen = (int(number) for number in done.stdout.split())
    assert foreseen / 1.5 < measured < 1.5 * foreseen


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc: peaks are not known")
@pytest.mark.parametrize("distinct", [1, 1_000, 50_000])
@pytest.mark.parametrize(("p", "k"), [(2, 3), (13, 100), (50, 200)])
def test_needs_of_mdav_on_equal_records_are_foreseen(p: int, k: int, distinct: int) -> None:
    """Within a factor of 1.5, where the need is checked."""
    code = """
import sys
import numpy as np
from microagg import _core
from microagg.methods import memory_needs
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.model import Problem
def peak():
    return memory_needs._memory_fields(memory_needs.Path("/proc/self/status"))["VmHWM"]
n = 200_000
p, k, distinct = map(int, sys.argv[1:])
random = np.random.default_rng(0)
different, rows = random.standard_normal((distinct, p)), random.integers(0, distinct, n)
x = np.empty((n, p))
np.take(different, rows, axis=0, out=x, mode="clip")
before = peak()
Mdav().formed(Problem(x, k), Run(threads=1))
measured = peak() - before
memory_needs.SMALLEST_CHECKED_BYTES = 0
print(measured, memory_needs.of_search(x, _core.peel_queries(n, k, Mdav.pivot, Mdav.growth), k))
"""
    done = in_a_process(code, str(p), str(k), str(distinct))
    assert done.stdout, done.stderr
    measured, foreseen = (int(number) for number in done.stdout.split())
    assert foreseen / 1.5 < measured < 1.5 * foreseen


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc: peaks are not known")
@pytest.mark.parametrize("what", ["lists", "descent"])
def test_needs_of_large_groups_are_foreseen(what: str) -> None:
    """Two clusters, k = 300: within a factor of 1.5."""
    code = """
import sys
import numpy as np
from microagg import _core
from microagg.methods import memory_needs
def peak():
    return memory_needs._memory_fields(memory_needs.Path("/proc/self/status"))["VmHWM"]
n, k, length = 10_000, 300, 1_200
x = np.random.default_rng(0).standard_normal((n, 2))
x[: n // 2] += 50.0
before = peak()
foreseen = memory_needs.of_lists(x, length)
lists = _core.neighbour_lists(x, length, 96, 1, _core.Watch())
if sys.argv[1] == "descent":
    # Groups that give and take, so that changes are looked for all over.
    labels = np.minimum(np.arange(n) // 320, n // 320 - 1).astype(np.int32)
    rows = np.arange(n, dtype=np.int32)
    before = peak()
    foreseen = memory_needs.of_descent(x, k, length)
    watch = _core.Watch()
    watch.set_deadline(0.5)
    _core.descent(x, rows, labels, k, lists, rows, None, watch)
print(peak() - before, foreseen)
"""
    done = in_a_process(code, what)
    assert done.stdout, done.stderr
    measured, foreseen = (int(number) for number in done.stdout.split())
    assert foreseen / 1.5 < measured < 1.5 * foreseen


def test_the_command_says_it(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(30)))
    code = """
import sys
from microagg.cli import main
from microagg.methods import memory_needs
memory_needs.available, memory_needs.SMALLEST_CHECKED_BYTES = (lambda: 0), 0
sys.argv = ["microagg", "partition", sys.argv[1], "-k", "3", "--method", "mdav"]
main()
"""
    done = in_a_process(code, str(path))
    assert done.returncode == 70
    assert "This method needs about 0.0 GB of memory for these data" in " ".join(done.stderr.split())
