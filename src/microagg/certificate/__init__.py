"""Checks a lower-bound certificate by its own arithmetic: NumPy alone, nothing of the search that wrote it.

A partition into groups of at least k records can be split into groups of k to 2k − 1 without raising its
cost, so only those count. Group C costs w_C: the sum of the squared distances between its records,
divided by |C|. For prices π of the records, multipliers μ ≥ 0 of cuts (odd sets S of records) and a charge
F ≥ 0 on every group, let

    rc(C) = w_C − Σ_{i∈C} π_i + Σ_S μ_S ⌊|C∩S|/2⌋ + F                                           (1)

Disjoint groups hold at most (|S| − 1)/2 disjoint pairs of S, and n records form at most ⌊n/k⌋ groups of at
least k. So, added over the groups of any partition,

    Σ_C rc(C) ≤ cost − V    with    V = Σπ − Σ_S μ_S (|S| − 1)/2 − F ⌊n/k⌋                      (2)

and where no group that is admitted has a negative rc, no partition into such groups costs less than V. Any
prices can be lowered until that is so (`repair`): hence nothing in a certificate has to be believed.

A *leaf* admits the groups that hold at most one record of each pair `apart` and both or none of each pair
`together`; the leaves' decisions are those of a tree, so that each partition belongs to one of them. A
*screen* leaves out groups that a partition cheaper than the one at hand cannot have: those with rc above
SSE − V, by (2), V being what the screen's own prices prove of the groups that the screens before it left.
What is proven is the least V of the leaves, or the SSE if that is less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.certificate.arithmetic import digest_of_labels, digest_of_points, scaled, sum_of_squares
from microagg.certificate.claim import Claim
from microagg.certificate.clock import Tick, limited_to
from microagg.certificate.duals import Cuts, Duals, Groups, may_be_cheaper, repair
from microagg.certificate.file import document, load
from microagg.certificate.search import Search
from microagg.model import Problem, ScaleName, gap_above, is_optimal

__all__ = ["Checked", "check", "document", "load"]

TOLERANCE = 1e-9
"""Relative difference allowed between the figures of a certificate and ours."""

ROUNDING_OF_ZERO = 1e-20
"""Share of the SST that rounding of means may leave where records are equal."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a certificate proves.

    No partition of the records into groups of at least k has a smaller SSE than `bound`. `sse`, `sst` are
    those of the data in the certificate's `scale`; `screens`, `leaves`: how many there were.
    """

    k: int
    scale: ScaleName
    records: int
    bound: float
    sse: float
    sst: float
    screens: int
    leaves: int

    @property
    def information_loss(self) -> float:
        return _percent(self.sse, self.sst)

    @property
    def bound_loss(self) -> float:
        """Lower bound of the information loss of any partition, in percent."""
        return _percent(self.bound, self.sst)

    @property
    def gap(self) -> float | None:
        """How far above the optimum the partition is at most, in percent of the bound; None if that is 0
        and its SSE is not.
        """
        return gap_above(self.bound, self.sse)

    @property
    def proved(self) -> bool:
        """Whether the partition is optimal."""
        return is_optimal(self.gap)


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole > 0.0 else 0.0


def check(
    certificate: Mapping[str, Any],
    values: NDArray[np.float64],
    *,
    seconds: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> Checked:
    """What the certificate proves about the table's values; CertificateError if it is not as it claims.

    The proof is about the scaled values as doubles. CertificateError too if the check is not done after so
    many seconds. `progress` is called with the share done, 0 to 1.
    """
    tick = limited_to(seconds)
    claim = Claim.read(certificate, tick)
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.shape != (claim.n, claim.p) or digest_of_points(table) != claim.data_digest:
        raise wording.certificate_of_other_data()
    problem = Problem(scaled(table, claim.scale), claim.k)
    sse, sst = _partition_cost(problem, claim), sum_of_squares(problem.points)
    for name, ours, theirs in (("sse", sse, claim.sse), ("sst", sst, claim.sst)):
        if not abs(ours - theirs) <= TOLERANCE * ours + ROUNDING_OF_ZERO * sst:
            raise wording.certificate_figure_differs(name)
    bound = min(sse, max(0.0, _proven_bound(problem, claim, tick, progress or (lambda _: None))))
    if not claim.bound <= bound + TOLERANCE * bound + ROUNDING_OF_ZERO * sst:
        raise wording.certificate_proves_less(_percent(claim.bound, sst), _percent(bound, sst))
    return Checked(claim.k, claim.scale, claim.n, bound, sse, sst, len(claim.screens), len(claim.leaves))


def _partition_cost(problem: Problem, claim: Claim) -> float:
    if digest_of_labels(claim.labels) != claim.partition_digest:
        raise wording.certificate_of_other_partition()
    sizes = np.bincount(claim.labels)
    if sizes.min() < claim.k:
        raise wording.certificate_group_too_small(int(sizes.min()), claim.k)
    groups = np.split(np.argsort(claim.labels, kind="stable"), np.cumsum(sizes)[:-1])
    return math.fsum(sum_of_squares(problem.points[rows]) for rows in groups)


def _proven_bound(problem: Problem, claim: Claim, tick: Tick, progress: Callable[[float], object]) -> float:
    """The bound that the certificate proves: no partition costs less."""
    cuts = Cuts.of(claim.cuts, len(problem.points))
    search = Search(problem, cuts, tick)
    passes = 2 if claim.screens else len(claim.leaves)
    done = iter(range(passes))

    def every(duals: Duals, below: float) -> list[Groups]:
        before = next(done)
        return search.groups(duals, below, lambda share: progress((before + share) / passes))

    listed: list[Groups] | None = None
    for proposed in claim.screens:
        tick()
        screen, value = repair(problem, cuts, proposed, listed or every(proposed, 0.0))
        room = claim.sse - value
        listed = listed or every(screen, room)
        listed = [part.take(may_be_cheaper(problem, cuts, screen, part, room)) for part in listed]
    values = [claim.sse]
    for leaf in claim.leaves:
        tick()
        if listed is None:
            groups = every(leaf, 0.0)
        else:
            groups = [part.take(leaf.admit(part, tick)) for part in listed]
        values.append(repair(problem, cuts, leaf, groups)[1])
    return min(values)
