"""The Python face: `partition()` and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg import certificate, errors, read
from microagg.aggregate import aggregate
from microagg.methods.exact import MOST_PRICED, NODES, WORK, Exact, prove
from microagg.methods.objective import information_loss
from microagg.methods.run import Progress, Run
from microagg.methods.stage import Stage, one_group, solve
from microagg.model import Effort, Labels, Partition, Problem, ScaleName
from microagg.plan import Plan, check_against_data, plan
from microagg.scale import to_points

if TYPE_CHECKING:
    from microagg.methods.column_generation import Proof


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """A partition with its cost.

    `labels`: the group of each record, numbered by first appearance; `sizes`: records per group;
    `sse`, `sst`: within-groups and total sum of squares of the scaled data; `bound`: a proven lower
    bound on the SSE of any partition, None while nothing is proven; `recipe`: the method that ran, which
    gives the same groups again with the same seed; `reason`: why it was chosen, where `auto` chose;
    `truncated`: the deadline struck or the run was stopped; `seconds`: wall-clock time of
    scaling and partitioning.
    """

    labels: Labels
    sizes: NDArray[np.int64]
    k: int
    sse: float
    sst: float
    bound: float | None
    recipe: str
    reason: str
    truncated: bool
    seconds: float

    @property
    def information_loss(self) -> float:
        """IL = 100 · SSE / SST, in percent."""
        return information_loss(self.sse, self.sst)

    @property
    def bound_loss(self) -> float | None:
        """The proven lower bound as information loss in percent, None while nothing is proven."""
        return None if self.bound is None else information_loss(self.bound, self.sst)

    @property
    def gap(self) -> float | None:
        """100 · (SSE − bound) / SSE: how far from the optimum at most, None while nothing is proven."""
        if self.bound is None:
            return None
        return 100.0 * (self.sse - self.bound) / self.sse if self.sse > 0.0 else 0.0

    def aggregate(self, data: object) -> NDArray[np.float64]:
        """`data` with each record replaced by its group's mean, in the units of `data`."""
        return aggregate(read.table_of(data).values, self.labels)

    def __str__(self) -> str:
        proof = ""
        if self.gap is not None:
            proof = (
                ", proven optimal" if self.gap < 1e-6 else f", at most {self.gap:.3g} % above the optimum"
            )
        cut = ", cut short" if self.truncated else ""
        reason = f"\nchosen because: {self.reason}" if self.reason else ""
        least, most = self.sizes.min(), self.sizes.max()
        groups = "1 group" if len(self.sizes) == 1 else f"{len(self.sizes)} groups"
        sizes = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"{len(self.labels)} records in {groups} of {sizes} (k = {self.k})\n"
            f"information loss {self.information_loss:.4f} %{proof}, by {self.recipe} "
            f"in {self.seconds:.2f} s{cut}{reason}"
        )

    __repr__ = __str__


EACH_RISK = (
    "Each attribute has its own groups: combinations of attributes are not k-anonymous, and a value lies "
    "between the means of the neighbouring groups, often within a narrow interval."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EachResult:
    """Individual ranking: one partition per attribute, and their joint loss.

    It loses far less than joint microaggregation and protects far less: see `risk`.
    """

    columns: tuple[str, ...]
    results: tuple[Result, ...]
    risk: str = EACH_RISK

    @property
    def sse(self) -> float:
        """Sum over the attributes."""
        return sum(result.sse for result in self.results)

    @property
    def sst(self) -> float:
        """Sum over the attributes."""
        return sum(result.sst for result in self.results)

    @property
    def information_loss(self) -> float:
        """IL = 100 · ΣSSE / ΣSST, in percent."""
        return information_loss(self.sse, self.sst)

    def aggregate(self, data: object) -> NDArray[np.float64]:
        """`data` with each value replaced by the mean of its attribute's group."""
        values = read.table_of(data).values
        if values.shape[1] != len(self.results):
            raise errors.different_columns(values.shape[1], len(self.results))
        masked = [
            aggregate(np.ascontiguousarray(column.reshape(-1, 1)), result.labels)
            for column, result in zip(values.T, self.results, strict=True)
        ]
        return np.concatenate(masked, axis=1)

    def __str__(self) -> str:
        first = self.results[0]
        return (
            f"{len(first.labels)} records, {len(self.results)} attributes each by itself (k = {first.k})\n"
            f"information loss {self.information_loss:.4f} %, by {first.recipe}\n{self.risk}"
        )

    __repr__ = __str__


def partition_each(
    data: object,
    k: int,
    method: str | Stage = "univariate",
    *,
    scale: ScaleName = "zscore",
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> EachResult:
    """Individual ranking (CMP98, section 2.1): microaggregate each attribute by itself.

    method: "univariate" for the optimum of each, "ufs-pv" for groups of k successive values, or any other.
    The other arguments are those of `partition`.
    """
    table = read.table_of(data)
    settings = {"scale": scale, "seed": seed, "threads": threads, "progress": progress}
    results = tuple(
        partition(table.select(column), k, method, **settings)  # type: ignore[arg-type]
        for column in table.columns
    )
    return EachResult(table.columns, results)


def partition(
    data: object,
    k: int,
    method: str | Stage = "auto",
    *,
    scale: ScaleName = "zscore",
    effort: Effort = "balanced",
    seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    certify: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Result:
    """Partition records into groups of at least k similar ones.

    data: a 2-D array-like or data frame of numbers, one row per record (1-D: one attribute).
    k: the smallest allowed group size, at least 2.
    method: "auto" chooses and says what and why; or a catalogue name, a recipe such as "cbfs+mhm" or
        "mdav+anneal:steps=1000000", or a Stage; `microagg methods` lists the names.
    scale: "zscore" (population standard deviation), "range", "robust" (median and MAD), "rank", "none".
    effort: "fast", "balanced" or "best", for methods that can always do more: a tenth of a second, two
        thirds of one, and about a minute for 1,000 records (the last an estimate from the number of steps).
    seconds: wall-clock limit; only refinements heed it, and plan their work to fit into it.
    seed: fixes every random choice; methods without any give the same result for each seed.
    threads: at most so many (default: all available); never changes the result.
    certify: also prove a lower bound, for `bound` and `gap`; takes up to as many seconds again (60 where
        none are given) and does not change the groups.
    progress: called about twenty times a second with a `Progress`; when it returns True, the run stops
        with the best so far (or raises `Cancelled` if there is none yet); what it raises comes out.

    Raises SettingsError or DataError (both ValueError) for what cannot be used.
    """
    settled = plan(
        k,
        method,
        scale=scale,
        effort=effort,
        seconds=seconds,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    table = read.table_of(data)
    check_against_data(settled, len(table.values))
    started = monotonic()
    problem = Problem(to_points(table, settled.scale), settled.k)
    start = one_group(problem)
    run = _run_of(settled, start.sse, settled.seconds, progress)
    found = solve(settled.stage, problem, start, run)
    if certify and not run.watch.cancelled:
        again = _run_of(settled, start.sse, settled.seconds or SECONDS_OF_PROOF, progress)
        again.note(found.sse)
        proven = prove(problem, found, 0.0, NODES["balanced"], WORK["balanced"], again).partition.bound
        found = replace(found, bound=max(found.bound, min(proven, found.sse)))
    return _result(settled, found, start.sse, monotonic() - started)


SECONDS_OF_PROOF = 60.0


def _run_of(
    settled: Plan, sst: float, seconds: float | None, progress: Callable[[Progress], object] | None
) -> Run:
    return Run(
        seed=settled.seed,
        seconds=seconds,
        threads=settled.threads,
        effort=settled.effort,
        sst=sst,
        progress=progress,
    )


def _result(settled: Plan, found: Partition, sst: float, seconds: float) -> Result:
    return Result(
        labels=found.labels,
        sizes=np.bincount(found.labels),
        k=settled.k,
        sse=found.sse,
        sst=sst,
        bound=found.bound if found.bound > 0.0 or found.sse == 0.0 else None,
        recipe=found.recipe or settled.recipe,
        reason=found.reason,
        truncated=found.truncated,
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bound:
    """What no partition can do better than, and the best partition known.

    `sse`: proven, no partition into groups of at least k records has a smaller SSE of the scaled data;
    `incumbent`: the best partition found; `columns`, `cuts`, `nodes`: the size of the search;
    `seconds`: wall-clock time.
    """

    sse: float
    incumbent: Result
    columns: int
    cuts: int
    nodes: int
    seconds: float
    _values: NDArray[np.float64]
    _scale: ScaleName
    _proof: Proof | None

    @property
    def information_loss(self) -> float:
        """The bound as information loss in percent."""
        return information_loss(self.sse, self.incumbent.sst)

    @property
    def gap(self) -> float:
        """How far above the optimum the incumbent is at most, in percent of its SSE."""
        gap = self.incumbent.gap
        return 100.0 if gap is None else gap

    @property
    def proved(self) -> bool:
        """Whether the incumbent is proven optimal."""
        return self.gap < PROVED

    def certificate(self) -> dict[str, Any]:
        """The proof, for `json.dump` and `microagg verify-certificate`. It holds a price for each record:
        internal, like the data.
        """
        n = len(self._values)
        if self._proof is None or n < 2 * self.incumbent.k or n > MOST_PRICED:
            raise errors.no_certificate(n, MOST_PRICED)
        proof = self._proof
        return certificate.document(
            self._values,
            self.incumbent.k,
            self._scale,
            self.incumbent.labels,
            self.incumbent.sse,
            self.incumbent.sst,
            proof.partition.bound,
            proof.cuts.sets(),
            [(duals.prices, duals.multipliers) for duals in proof.screens],
            [
                (leaf.apart.tolist(), leaf.together.tolist(), leaf.duals.prices, leaf.duals.multipliers)
                for leaf in proof.leaves
            ],
        )

    def __str__(self) -> str:
        known = f"best partition known: {self.incumbent.information_loss:.6f} %"
        distance = "proven optimal" if self.proved else f"at most {self.gap:.3g} % above the optimum"
        return (
            f"no partition of these {len(self._values)} records (k = {self.incumbent.k}) loses less than "
            f"{self.information_loss:.6f} %\n{known}, {distance}\n"
            f"{self.columns:,} columns, {self.cuts:,} cuts, {self.nodes:,} nodes in {self.seconds:.1f} s"
        )

    __repr__ = __str__


PROVED = 1e-6
"""Percent: a smaller gap is what rounding and the solver's tolerances leave."""


def lower_bound(
    data: object,
    k: int,
    *,
    scale: ScaleName = "zscore",
    seconds: float = SECONDS_OF_PROOF,
    gap: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Bound:
    """A proven lower bound on the information loss of any partition, and the best partition known.

    seconds: wall-clock limit; a quarter of it may go into finding a partition.
    gap: stop when the partition is at most so many percent above the optimum.
    The other arguments are those of `partition`. Up to 6,000 records by column generation, which can
    prove a partition optimal; beyond, a bound from nearest neighbours.
    """
    settled = plan(
        k, "auto", scale=scale, effort="balanced", seconds=seconds, seed=seed, threads=threads,
        progress=progress,
    )  # fmt: skip
    target = Exact(gap=gap).gap / 100.0
    table = read.table_of(data)
    check_against_data(settled, len(table.values))
    started = monotonic()
    problem = Problem(to_points(table, settled.scale), settled.k)
    start = one_group(problem)
    first = _run_of(settled, start.sse, seconds / 4.0, progress)
    found = solve(settled.stage, problem, start, first)
    proof = None
    known = table.values.shape[1] == 1 or len(table.values) < 2 * settled.k
    if not known and not first.watch.cancelled:
        left = max(seconds - (monotonic() - started), 0.01)
        run = _run_of(settled, start.sse, left, progress)
        run.note(found.sse)
        # Without what is known already, so that the certificate holds all that its bound follows from.
        fresh = replace(found, bound=0.0)
        proof = prove(problem, fresh, target, NODES["best"], WORK["best"], run)
        better = proof.partition.sse < found.sse
        recipe = f"{found.recipe}+exact" if better else found.recipe
        bound = max(found.bound, proof.partition.bound)
        truncated = found.truncated or run.overdue
        found = replace(proof.partition, bound=bound, recipe=recipe, truncated=truncated)
    taken = monotonic() - started
    return Bound(
        found.bound,
        _result(settled, found, start.sse, taken),
        proof.columns if proof else 0,
        len(proof.cuts) if proof else 0,
        proof.nodes if proof else 0,
        taken,
        table.values,
        settled.scale,
        proof,
    )
