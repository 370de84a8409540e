"""Sums that hold in every record, such as total = part + part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

MOST_PARTS = 12
_FEWEST_RECORDS = 10
"""In fewer records a sum may hold by chance."""
_SAMPLE = 2000
_MOST_COLUMNS = 200
_EXACT = 1e-9
"""What remains of a sum of doubles, relative to their size."""
_WIDE = 100
"""How many times the rounding a rounded column must vary by, or any sum would hold within it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`total` is the sum of `parts` in every record, up to rounding."""

    total: str
    parts: tuple[str, ...]


def identities(columns: Mapping[str, Numbers], decimals: Mapping[str, int | None]) -> tuple[Identity, ...]:
    """Sums among columns that have no missing value, are not constant, and are all different.

    On a sample of the records each column is expressed by those before it that are independent; where the
    coefficients are 1 and -1, the sum is checked on all records. Then once more from the last column to the
    first, since the result depends on the order. Sums that follow from others are left out.

    A sum holds if it is exact to the ninth digit or, in columns that vary widely, off by no more than what
    rounding each term to its decimals may do. O(p²) times the sample, plus one pass for each sum.
    """
    names = list(columns)[:_MOST_COLUMNS]
    if len(names) < 3 or len(columns[names[0]]) < max(_FEWEST_RECORDS, len(names) + 5):
        return ()
    rows = _sample([columns[name] for name in names])
    sums = [
        identity
        for order in (names, names[::-1])
        for identity in _sums_in_order(order, columns, decimals, rows)
    ]
    return _independent_sums(sums, names)


def _independent_sums(sums: Sequence[Identity], names: Sequence[str]) -> tuple[Identity, ...]:
    """The shortest ones from which the others follow, by the place of their totals."""
    place = {name: at for at, name in enumerate(names)}
    kept: list[Identity] = []
    equations = np.empty((0, len(names)))
    for identity in sorted(sums, key=lambda each: (len(each.parts), place[each.total])):
        equation = np.zeros(len(names))
        equation[place[identity.total]] = 1
        equation[[place[part] for part in identity.parts]] = -1
        more = np.vstack([equations, equation])
        if np.linalg.matrix_rank(more) > len(equations):
            equations = more
            kept.append(Identity(identity.total, tuple(sorted(identity.parts, key=place.__getitem__))))
    return tuple(sorted(kept, key=lambda each: place[each.total]))


def _sample(columns: Sequence[Numbers]) -> NDArray[np.int64]:
    """Records from all over the file, with some from where a column that is mostly one value is not."""
    n = len(columns[0])
    chosen = [np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64)]
    for column in columns:
        unusual = np.flatnonzero(column != np.median(column[chosen[0]]))
        chosen.append(unusual[np.linspace(0, len(unusual) - 1, min(len(unusual), 50)).astype(np.int64)])
    return np.unique(np.concatenate(chosen))


def _sums_in_order(
    names: Sequence[str],
    columns: Mapping[str, Numbers],
    decimals: Mapping[str, int | None],
    rows: NDArray[np.int64],
) -> list[Identity]:
    """By Gram and Schmidt: Q R = the independent columns of the sample."""
    sums = []
    independent: list[str] = []
    basis: Numbers = np.empty((len(rows), 0))
    triangle: Numbers = np.empty((0, 0))
    for name in names:
        column = columns[name][rows]
        size = np.linalg.norm(column)
        shares = basis.T @ column
        left = column - basis @ shares
        again = basis.T @ left  # once is not enough in floating point
        shares, left = shares + again, left - basis @ again
        if independent:
            weights = np.linalg.solve(triangle, shares).astype(np.float64)
            identity = _identity(name, independent, weights)
            if identity and _is_true(identity, columns, decimals):
                sums.append(identity)
                continue
        rest = np.linalg.norm(left)
        if rest <= _EXACT * size:
            continue  # dependent, but not by a sum
        p = len(independent)
        triangle = np.block([[triangle, shares[:, None]], [np.zeros((1, p)), np.array([[rest]])]])
        basis = np.column_stack([basis, left / rest])
        independent.append(name)
    return sums


def _identity(name: str, others: Sequence[str], weights: Numbers) -> Identity | None:
    """name = Σ weights · others as a total and its parts, if the weights are near 0, 1 and -1."""
    signs = np.rint(weights)
    if np.any(np.abs(weights - signs) > 0.1) or np.any(np.abs(signs) > 1):
        return None
    plus = [other for other, sign in zip(others, signs, strict=True) if sign == 1]
    minus = [other for other, sign in zip(others, signs, strict=True) if sign == -1]
    if not minus:
        total, parts = name, plus
    elif len(plus) == 1:
        total, parts = plus[0], [name, *minus]
    else:  # nothing alone on either side
        return None
    return Identity(total, tuple(parts)) if 2 <= len(parts) <= MOST_PARTS else None


def _is_true(
    identity: Identity, columns: Mapping[str, Numbers], decimals: Mapping[str, int | None]
) -> bool:
    terms = [identity.total, *identity.parts]
    difference = columns[identity.total].copy()
    sizes = np.abs(difference)
    for part in identity.parts:
        difference -= columns[part]
        sizes += np.abs(columns[part])
    difference = np.abs(difference)
    if np.all(difference <= _EXACT * sizes):
        return True
    known = [decimals[name] for name in terms]
    rounding = sum(0.0 if places is None else 0.5 * 10.0**-places for places in known)
    varies = min(float(np.std(columns[name])) for name in terms)
    return varies >= _WIDE * rounding and bool(np.all(difference <= rounding + _EXACT * sizes))
