"""What `partition()`, `partition_each()` and `lower_bound()` return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import certificate, read, wording
from microagg.aggregate.groups import aggregate
from microagg.methods.exact import MOST_RECORDS_PRICED
from microagg.methods.exact.column_generation import Proof
from microagg.methods.exact.group_columns import Prices
from microagg.methods.objective import information_loss
from microagg.model import Doubles, Labels, ScaleName, gap_above, is_optimal, nearness


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """A partition with its cost.

    `labels`: the group of each record, numbered by first appearance; `sse`, `sst`: within-groups and
    total sum of squares of the scaled data; `bound`: a proven lower bound on the SSE of any partition,
    None while nothing is proven; `recipe`: the method that ran, which gives the same groups again with
    the same seed; `reason`: why it was chosen, where `auto` chose; `truncated`: the deadline struck or
    the run was stopped; `seconds`: wall-clock time of scaling and partitioning.
    """

    labels: Labels
    k: int
    sse: float
    sst: float
    bound: float | None
    recipe: str
    reason: str
    truncated: bool
    seconds: float

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of records of each group."""
        return np.bincount(self.labels)

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
        """100 · (SSE − bound) / bound: how far above the optimum at most, None while nothing is proven."""
        return None if self.bound is None else gap_above(self.bound, self.sse)

    @property
    def proved(self) -> bool:
        """Whether the groups are proven optimal: no others lose less."""
        return is_optimal(self.gap)

    def aggregate(self, data: object) -> NDArray[np.float64]:
        """`data` with each record replaced by its group's mean, in the units of `data`."""
        return aggregate(read.table_of(data).values, self.labels)

    def __str__(self) -> str:
        proof = "" if self.bound is None else f", {nearness(self.gap)}"
        cut = ", cut short" if self.truncated else ""
        reason = f"\nchosen because: {self.reason}" if self.reason else ""
        sizes = self.sizes
        least, most = sizes.min(), sizes.max()
        groups = "1 group" if len(sizes) == 1 else f"{len(sizes):,} groups"
        range_of_sizes = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        return (
            f"{len(self.labels):,} records in {groups} of {range_of_sizes} (k = {self.k})\n"
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
        """SSE summed over the attributes."""
        return sum(result.sse for result in self.results)

    @property
    def sst(self) -> float:
        """SST summed over the attributes."""
        return sum(result.sst for result in self.results)

    @property
    def information_loss(self) -> float:
        """IL = 100 · ΣSSE / ΣSST, in percent."""
        return information_loss(self.sse, self.sst)

    def aggregate(self, data: object) -> NDArray[np.float64]:
        """`data` with each value replaced by the mean of its attribute's group."""
        values = read.table_of(data).values
        if values.shape[1] != len(self.results):
            raise wording.different_columns(values.shape[1], len(self.results))
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
    def gap(self) -> float | None:
        """How far above the optimum the incumbent is at most, in percent of the bound; None if that is 0
        and the incumbent's SSE is not.
        """
        return gap_above(self.sse, self.incumbent.sse)

    @property
    def proved(self) -> bool:
        """Whether the incumbent is proven optimal."""
        return is_optimal(self.gap)

    def certificate(self) -> dict[str, Any]:
        """The proof, for `json.dump` and `microagg verify-certificate`. It holds a price for each record:
        internal, like the data.
        """
        check_certifiable(self._values, self.incumbent.k)
        if self._proof is None:
            raise wording.stopped_before_proof()
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
            [_plain_prices(duals.prices) for duals in proof.screens],
            [
                (leaf.apart.tolist(), leaf.together.tolist(), *_plain_prices(leaf.duals.prices))
                for leaf in proof.leaves
            ],
        )

    def __str__(self) -> str:
        known = f"best partition known: {self.incumbent.information_loss:.6f} %"
        return (
            f"no partition of these {len(self._values)} records (k = {self.incumbent.k}) loses less than "
            f"{self.information_loss:.6f} %\n{known}, {nearness(self.gap)}\n"
            f"{self.columns:,} columns, {self.cuts:,} cuts, {self.nodes:,} nodes in {self.seconds:.1f} s"
        )

    __repr__ = __str__


def _plain_prices(prices: Prices) -> tuple[Doubles, Doubles, float]:
    return prices.records, prices.multipliers, prices.charge


def check_certifiable(values: NDArray[np.float64], k: int) -> None:
    """Refuse where no proof can be put into a certificate: those of one attribute, of a single possible
    group, and of more records than column generation can price.
    """
    n, p = values.shape
    if k > n:
        raise wording.k_above_n(k, n)
    if p < 2 or not 2 * k <= n <= MOST_RECORDS_PRICED:
        raise wording.no_certificate(n, MOST_RECORDS_PRICED)
