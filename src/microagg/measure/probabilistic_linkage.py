"""Probabilistic record linkage after Fellegi and Sunter, with the EM algorithm.

The procedure, in full:

1. Originals: all records, or a fixed random sample. Released records: the distinct ones (same stratum and
   masked values), each standing for as many records as share it.
2. Candidates of an original: the nearest released records of its stratum, by standardised distance.
   Others are never linked.
3. Agreement of an original and a released record, column by column: the first of `widths` that the two
   values differ by at most, in standard deviations of the original; farther apart, as different
   categories without order always are; both missing; one missing.
4. u, how often each agreement occurs between unrelated records: counted on random pairs of different
   records (fixed seed), one added to each count.
5. m, how often it occurs between an original and its own released record: EM, given u, assuming that each
   original has exactly one match among its candidates and that columns agree independently. Start: the
   match is the nearest candidate. Expectation: a candidate is the match with probability proportional to
   the product of m / u over the columns. Maximisation: m is the expected share of each agreement, one
   added to each expected count. Until no m changes by more than 0.000001, at most 200 times.
6. A candidate's weight is the sum of log(m / u) over the columns, in which an equal category without order
   never speaks against a match, and a different one never for it: without that, EM may take neighbours for
   matches where categories are few. The original is linked to the candidate
   of largest weight; among several, every record they stand for is equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.measure.intruder_view import mean_and_deviation
from microagg.measure.linkage import SEED, nearest_targets, note_on_sample, sample_rows, whole_targets
from microagg.measure.pair import Codes, MeasureResult, Pair, Values
from microagg.measure.requirements import AT_LEAST_ONE, POSITIVE
from microagg.measure.shared_values import combine_codes, first_rows

EM_ROUNDS = 200
STEADY = 1e-6
SAME_WEIGHT = 1e-9

Levels = NDArray[np.int64]


def linkage_probabilistic(
    pair: Pair,
    *,
    widths: Sequence[float] = (0.05, 0.1, 0.2, 0.5, 1.0),
    candidates: int = 20,
    random_pairs: int = 50_000,
    most_records: int | None = 5_000,
) -> MeasureResult:
    """Share of records whose largest weight is that of their own masked record; equal ones share it."""
    for width in widths:
        POSITIVE.check("widths", width)
    if not widths or any(one >= other for one, other in pairwise(widths)):
        raise wording.bad_number("widths", tuple(widths), "growing numbers, at least one")
    AT_LEAST_ONE.check("candidates", candidates)
    AT_LEAST_ONE.check("random_pairs", random_pairs)
    rows = sample_rows(pair.n, most_records)
    found = nearest_targets(pair, rows, candidates)
    targets, own = whole_targets(pair)
    released = pair.masked[first_rows(own)]
    record, place = np.nonzero(found >= 0)
    target = found[record, place]
    levels = _agreement(pair, pair.original[rows[record]], released[target], widths)
    unrelated = _unrelated(pair, widths, random_pairs)
    nominal = [column for column in range(pair.p) if pair.kind(column) == "nominal"]
    weights = _agreement_weights(levels, record, place == 0, unrelated, len(widths) + 3, nominal)

    best = np.maximum.reduceat(weights, np.searchsorted(record, np.arange(rows.size)))
    tied = weights >= best[record] - SAME_WEIGHT
    sizes = targets.sizes[target]
    records = np.bincount(record[tied], weights=sizes[tied], minlength=rows.size)
    right = tied & (target == own[rows[record]])
    hit = np.bincount(record[right], minlength=rows.size) / records
    to_group = np.bincount(record[right], weights=sizes[right], minlength=rows.size) / records
    note = f"Among the {candidates} nearest distinct masked records of each; compare with linkage_distance."
    parts = {"to the right group": float(to_group.mean())}
    return MeasureResult(float(hit.mean()), parts, note_on_sample(pair, rows.size, note))


def _agreement(pair: Pair, known: Values, released: Values, widths: Sequence[float]) -> Levels:
    """Level of each cell: place in `widths`, beyond them, both missing, one missing."""
    _, deviation = mean_and_deviation(pair.original)
    deviation[[at for at in range(pair.p) if pair.kind(at) == "nominal"]] = 0.0
    scaled = np.asarray(widths)[:, None] * deviation
    difference = np.abs(known - released)
    level = np.zeros(difference.shape, dtype=np.int64)
    for limit in scaled:
        level += difference > limit
    missing = np.isnan(known).astype(np.int64) + np.isnan(released)
    return np.asarray(np.where(missing == 0, level, len(widths) + 3 - missing), dtype=np.int64)


def _unrelated(pair: Pair, widths: Sequence[float], count: int) -> Values:
    """u: share of each level between random pairs, by column."""
    rng = np.random.default_rng(SEED)
    known = rng.integers(0, pair.n, count)
    other = (known + rng.integers(1, max(pair.n, 2), count)) % pair.n
    return _shares(
        _agreement(pair, pair.original[known], pair.masked[other], widths), np.ones(count), len(widths) + 3
    )


def _shares(levels: Levels, expected: Values, kinds: int) -> Values:
    """Share of each level by column, one added to each count; (p, kinds)."""
    counts = np.stack([np.bincount(column, weights=expected, minlength=kinds) for column in levels.T])
    return np.asarray((counts + 1.0) / (expected.sum() + kinds), dtype=np.float64)


def _agreement_weights(
    levels: Levels,
    record: Codes,
    nearest: NDArray[np.bool_],
    u: Values,
    kinds: int,
    nominal: Sequence[int],
) -> Values:
    """Weight of each candidate, by EM for m."""
    # Many candidates agree in the same way in all columns: each way is looked up once.
    ways = combine_codes(list(levels.T))
    examples = levels[first_rows(ways)]
    starts = np.flatnonzero(np.concatenate([[True], record[1:] != record[:-1]]))
    match = nearest.astype(np.float64)
    before = np.zeros_like(u)
    weights = np.zeros(len(levels))
    for _ in range(EM_ROUNDS):
        m = _shares(examples, np.bincount(ways, weights=match).astype(np.float64), kinds)
        ratios = np.log(m / u)
        ratios[nominal, 0] = np.maximum(ratios[nominal, 0], 0.0)
        ratios[nominal, 1:] = np.minimum(ratios[nominal, 1:], 0.0)
        by_way = np.zeros(len(examples))
        for column, ratio in zip(examples.T, ratios, strict=True):
            by_way += ratio[column]
        weights = by_way[ways]
        if np.abs(m - before).max() <= STEADY:
            break
        before = m
        likely = np.exp(weights - np.maximum.reduceat(weights, starts)[record])
        match = likely / np.add.reduceat(likely, starts)[record]
    return weights
