"""What is left to chance: whether noise hides anything at all, and order tells nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from microagg.model import Claims
from microagg.verdict import Finding, note, refuse
from microagg.verify.means import unit_of
from microagg.verify.promises import most_decimals
from microagg.verify.published_values import MaskedColumn
from microagg.verify.threads import in_threads
from microagg.verify.values import rank_correlation

UNDONE_BY_CHANCE = 0.05
"""Up to this share of noisy values, rounding may give back the source's by chance."""

MOST_UNDONE = 0.5
"""If rounding gives back a larger share of the source's values, the noise protects nobody."""

SIZE_OF_NOISE = (0.5, 2.0)
"""The standard deviation of noise as it was drawn, as a share of what was to be drawn."""

ENOUGH_TO_JUDGE = 30
"""With fewer records, chance alone may leave their order, or make noise small."""


IN_ORDER = 0.9
"""A rank correlation of the order of release with another order, which chance does not give."""

MOST_RANKED = 100_000
"""Of more records so many are ranked, drawn by chance: they have the correlation of all within 0.01."""


def noise_findings(claims: Claims, columns: Mapping[str, MaskedColumn]) -> Iterator[Finding]:
    """Noise leaves missing values missing, and others not; rounding undoes that of half at most."""
    if claims.noised:
        yield note("noised", *claims.noised)
    for name in claims.noised:
        if (column := columns.get(name)) is None:
            continue
        if moved := int((np.isnan(column.before) != np.isnan(column.after)).sum()):
            yield refuse("missing_moved", name, records=moved)
        size = _size_of_noise(column)
        if size is not None and claims.noise is not None:
            low, high = (limit * claims.noise for limit in SIZE_OF_NOISE)
            if not low <= size <= high:
                yield refuse("noise_of_other_size", name, share=size, wanted=claims.noise)
        undone, of = _undone(column)
        if undone > MOST_UNDONE * of:
            yield refuse("noise_undone", name, values=undone, of=of)
        elif undone > UNDONE_BY_CHANCE * of:
            yield note("noise_partly_undone", name, values=undone, of=of)


def _size_of_noise(column: MaskedColumn) -> float | None:
    """The standard deviation of the noise as drawn, as a share of the column's; None if few have it."""
    before, after = column.of_both(column.before), column.of_both(column.after)
    if len(before) < ENOUGH_TO_JUDGE:
        return None
    unit = unit_of(before, after)
    spread = float(np.std(before * unit))
    return float(np.std((after - before) * unit)) / spread if spread > 0.0 else None


def _undone(column: MaskedColumn) -> tuple[int, int]:
    """How many values, of how many, are the source's again when rounded to the source's decimals."""
    there = ~np.isnan(column.before)
    before, after = column.before[there], column.after[there]
    decimals = most_decimals(before)
    rounded = after if decimals is None else np.round(after, decimals)
    return int((rounded == before).sum()), len(before)


def order_findings(
    claims: Claims, columns: Mapping[str, MaskedColumn], rows: NDArray[np.int64]
) -> Iterator[Finding]:
    """Kept on purpose; or shuffled, and then neither the source's order nor that of a masked column."""
    if claims.keep_order:
        yield note("source_order")
        return
    if len(rows) < ENOUGH_TO_JUDGE:
        return
    behind = {"": rows.astype(np.float64)} | {name: column.before for name, column in columns.items()}
    found = in_threads(_correlation_with_place, behind.values(), len(rows))
    for name, correlation in zip(behind, found, strict=True):
        if abs(correlation) > IN_ORDER:
            yield refuse("not_shuffled", *filter(None, [name]))
            return


def _correlation_with_place(values: NDArray[np.float64]) -> float:
    """The rank correlation of values with their places, where they are not missing."""
    places = np.flatnonzero(~np.isnan(values))
    if len(places) > MOST_RANKED:
        places = places[np.unique(np.random.default_rng(0).integers(0, len(places), MOST_RANKED))]
    return rank_correlation(values[places], places.astype(np.float64))
