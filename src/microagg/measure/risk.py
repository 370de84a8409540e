"""What released values reveal by themselves: k-anonymity, true values, dominance.

The other measures of risk: `linkage`, `probabilistic_linkage`, `intervals`, `attribute_disclosure` and
`key_confidential`; `risk.toml` describes them all.
"""

from __future__ import annotations

import numpy as np

from microagg.measure.pair import Codes, MeasureResult, Pair, Values
from microagg.measure.requirements import POSITIVE
from microagg.measure.shared_values import class_sizes, released_classes

EXACT = 1e-12  # a mean of equal values may be off in its last digits


def k_anonymity(pair: Pair) -> MeasureResult:
    """Smallest number of records that share stratum and all masked values."""
    sizes = class_sizes(pair.groups)
    parts = {"classes": float(sizes.size)}
    note = ""
    if pair.k is not None:
        parts["records below k"] = float(sizes[sizes < pair.k].sum())
        note = f"Promised: k = {pair.k}."
    parts["unique records"] = float((sizes == 1).sum())
    return MeasureResult(float(sizes.min()), parts, note, others=("classes",))


def true_values(pair: Pair) -> MeasureResult:
    """Number of records that are released with all of their own original values."""
    missing = np.isnan(pair.original)
    largest = np.maximum(np.abs(pair.original), np.abs(pair.masked))
    same = np.abs(pair.original - pair.masked) <= EXACT * largest  # False where missing
    parts = {name: float(same[:, column].sum()) for column, name in enumerate(pair.columns)}
    whole = (same | (missing & np.isnan(pair.masked))).all(axis=1) & ~missing.all(axis=1)
    return MeasureResult(float(whole.sum()), parts, f"Of {pair.n:,} records; parts count single columns.")


def dominance(pair: Pair, *, percent: float = 10.0) -> MeasureResult:
    """Largest share that one record has in its group's total of a column of numbers, without signs.

    Parts: the largest share by column, and the groups that fail the p %-rule: the total without the two
    largest contributions is less than `percent` % of the largest, so that the second largest contributor
    can estimate the largest that precisely. Contributions are weighted where there are weights.
    """
    POSITIVE.check("percent", percent)
    parts: dict[str, float] = {}
    others: list[str] = []
    largest, failing, totals = 0.0, 0, 0
    for subset in pair.subsets:
        groups = released_classes(pair, subset)
        for column in (column for column in subset if pair.kind(column) == "number"):
            amounts = np.abs(pair.original[:, column])
            if pair.weights is not None:
                amounts = amounts * pair.weights
            shares, fails = _dominated_groups(groups, amounts, percent)
            name = pair.columns[column]
            parts[f"{name}: largest share"] = float(shares.max()) if shares.size else np.nan
            others.append(f"{name}: groups that fail")
            parts[others[-1]] = float(fails)
            largest = max(largest, float(shares.max()) if shares.size else 0.0)
            failing, totals = failing + fails, totals + shares.size
    if not parts:
        return MeasureResult(np.nan, {}, "No key holds numbers.")
    note = f"{failing:,} of {totals:,} totals fail the p %-rule with p = {percent:g}."
    return MeasureResult(largest, parts, note, tuple(others))


def _dominated_groups(groups: Codes, amounts: Values, percent: float) -> tuple[Values, int]:
    """Largest shares of the groups' totals, and how many fail the rule. A total of 0 reveals nothing."""
    present = ~np.isnan(amounts)
    groups, amounts = groups[present], amounts[present]
    if not groups.size:
        return np.zeros(0), 0
    order = np.lexsort((-amounts, groups))
    groups, amounts = groups[order], amounts[order]
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    totals = np.add.reduceat(amounts, starts)
    first = amounts[starts]
    place = np.arange(groups.size) - np.repeat(starts, np.diff(np.append(starts, groups.size)))
    rest = np.add.reduceat(np.where(place >= 2, amounts, 0.0), starts)
    shares = np.divide(first, totals, out=np.zeros_like(totals), where=totals > 0)
    return shares, int((rest < percent / 100.0 * first).sum())
