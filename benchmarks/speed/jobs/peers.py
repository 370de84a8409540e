"""The same task by other packages, side by side in one process, one thread each."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import microagg
from benchmarks.speed.jobs.kernels import column, loss, points
from benchmarks.speed.measuring import AbsentError, Figures, cost_of, seconds_of
from microagg import _core
from microagg.methods.neighbours import EVERY_LEAF, LEAVES
from microagg.model import Labels, Points

R_SCRIPT = Path(__file__).with_name("sdcmicro.R")
OUR_METHODS = ("mdav", "descent", "auto")


def package(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        raise AbsentError(f"{missing.name} is not installed: pip install -e '.[bench]'") from None


def microagg1d(n: int, k: int) -> Figures:
    """The optimum for one attribute: their default, our kernel (both from values to labels) and our whole
    call with scaling, costs and checks.
    """
    peer = package("microagg1d")
    x = column(n)
    peer.univariate_microaggregation(x[:10_000].copy(), k)  # compiles at first use
    theirs, ours, whole = (Least() for _ in range(3))
    for _ in range(2 if n <= 1_000_000 else 1):  # in turns, so that a busy moment hits all three
        labels = theirs.of(lambda: peer.univariate_microaggregation(x, k), 3, 1.0)
        ours.of(lambda: _core.optimal_univariate(x, k, _core.Watch()), 3, 1.0)
        found = whole.of(lambda: microagg.partition(x, k, "univariate", scale="none", threads=1), 3, 1.0)
    cost = _core.sse(x.reshape(-1, 1), labels.astype(np.int32))
    return {
        "theirs": theirs.cpu,
        "kernel": ours.cpu,
        "cpu": whole.cpu,
        "sse_share": found.sse / cost,
        "version": version("microagg1d"),
    }


class Least:
    """The least CPU seconds of several calls."""

    def __init__(self) -> None:
        self.cpu = float("inf")

    def of(self, job: Callable[[], Any], most: int, within: float) -> Any:
        figures, result = seconds_of(job, most, within)
        self.cpu = min(self.cpu, figures["cpu"])
        return result


def version(name: str) -> str:
    from importlib import metadata

    return metadata.version(name)


def k_means_constrained(n: int, k: int) -> Figures:
    """Clusters of k to 2k−1 records by minimum-cost flow, one start (its default is ten)."""
    solver = package("k_means_constrained").KMeansConstrained
    x = points(n)
    fit = lambda: solver(n // k, size_min=k, size_max=2 * k - 1, n_init=1, n_jobs=1, random_state=0).fit(x)  # noqa: E731
    theirs, model = cost_of(fit, 1)
    return {
        "theirs": theirs["cpu"],
        "their_il": loss(x, model.labels_.astype(np.int32)),
        "their_above": theirs["above"],
        "version": version("k-means-constrained"),
        **_ours(x, k),
    }


def _ours(x: Points, k: int) -> Figures:
    """CPU seconds and losses of our methods."""
    figures: Figures = {}
    for method in OUR_METHODS:
        spent, found = seconds_of(lambda m=method: microagg.partition(x, k, m, threads=1), 3)
        figures |= {method: spent["cpu"], f"{method}_il": found.information_loss}
    return figures


def nearest_neighbors(n: int) -> Figures:
    """Lists of the 20 nearest: scikit-learn's, by its default (a kd-tree) and by brute force, beside our
    exact ones and those of local searches, of which nearly all entries are right.
    """
    search = package("sklearn.neighbors").NearestNeighbors
    x = points(n)
    figures: Figures = {"version": version("scikit-learn")}
    for name, algorithm in (("theirs", "auto"), ("their_brute", "brute")):
        fit = lambda a=algorithm: search(n_neighbors=20, algorithm=a, n_jobs=1).fit(x).kneighbors()[1]  # noqa: E731
        spent, rows = seconds_of(fit, 1)
        figures[name] = spent["cpu"]
    for name, leaves in (("exact", EVERY_LEAF), ("cpu", LEAVES)):
        lists = lambda m=leaves: _core.neighbour_lists(x, 20, m, 1, _core.Watch())  # noqa: E731
        spent, found = seconds_of(lists, 3)
        figures[name] = spent["cpu"]
        figures[f"{name}_share"] = _share_of_entries(found, rows)
    return figures


def _share_of_entries(found: Labels, right: Labels) -> float:
    sample = range(0, len(found), max(1, len(found) // 1_000))
    hits = sum(len(set(found[row].tolist()) & set(right[row].tolist())) for row in sample)
    return hits / (len(sample) * found.shape[1])


def k_means(n: int, k: int) -> Figures:
    """Not the same task: KMeans with as many clusters leaves records alone."""
    solver = package("sklearn.cluster").KMeans
    x = points(n)
    spent, model = seconds_of(lambda: solver(n // k, n_init=1, random_state=0).fit(x), 1)
    sizes = np.bincount(model.labels_)
    return {
        "theirs": spent["cpu"],
        "their_il": loss(x, model.labels_.astype(np.int32)),
        "smallest": int(sizes.min()),
        "too_small": int((sizes < k).sum()),
        "clusters": len(sizes),
        "version": version("scikit-learn"),
        **_ours(x, k),
    }


def sdcmicro(n: int, k: int) -> Figures:
    """MDAV of sdcMicro, called through Rscript."""
    command = shutil.which("Rscript")
    if command is None:
        raise AbsentError("Rscript is not on this machine")
    x = points(n)
    with tempfile.TemporaryDirectory() as folder:
        source, masked = Path(folder) / "data.csv", Path(folder) / "masked.csv"
        np.savetxt(source, x, delimiter=",", fmt="%.17g")
        words = [command, "--vanilla", str(R_SCRIPT), str(source), str(k), str(masked)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 3:
            raise AbsentError("R is on this machine, but not its package sdcMicro")
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        release, seconds = done.stdout.split()[-2:]
        deviations = x - np.loadtxt(masked, delimiter=",")
    spent, found = seconds_of(lambda: microagg.partition(x, k, "mdav", threads=1))
    return {
        "theirs": float(seconds),
        "their_il": 100.0 * float((deviations**2).sum()) / _core.sst(x),
        "version": release,
        "cpu": spent["cpu"],
        "il": found.information_loss,
    }
