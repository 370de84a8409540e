"""Can original and masked records be distinguished? The ratio of the propensity score's mean squared error.

After Snoke, Raab, Nowok, Dibben and Slavković (2018), General and specific utility measures for synthetic
data.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from microagg import wording
from microagg.measure.comparable import comparable
from microagg.measure.pair import MeasureResult, Pair, Values

RIDGE = 0.01
"""Half of it times the sum of squared coefficients, of standardised terms, penalises the log-likelihood."""

MOST_WITH_PRODUCTS = 6
"""For at most this many columns, their products are terms too."""

ROWS = 1 << 10
"""Records whose terms are in memory at a time: they stay in the cache, and products of small matrices are
not given to several threads, which on a busy machine wait for each other."""

NEWTON_ROUNDS = 60
DEPENDENT = 1e-9
"""Eigenvalues of the terms' correlations below it: terms that follow from others."""


def propensity(pair: Pair, *, ridge: float = RIDGE) -> MeasureResult:
    """pMSE divided by its expectation if records were drawn at random from the original; parts: these two.

    A logistic regression separates masked from original records by all columns, their squares and, up to 6
    columns, their products. pMSE is the mean of (p − 1/2)² over all N records of both tables, p the
    estimated probability of being masked; its expectation is (t − 1)(1 − c)² c / N with c = 1/2 and t the
    number of linearly independent terms, the constant included. The `ridge` keeps coefficients finite where
    the tables can be separated perfectly. Complete records only. Weighted, likelihood and mean are, with
    weights of mean 1, and N is 2 (Σw)²/Σw². Newton's method, O(n t²) a step.
    """
    data = comparable(pair)
    x, y, weights, left_out = data.complete()
    if nothing := data.empty_result() or data.too_few(len(x), left_out):
        return nothing
    terms = _Predictors(x, y, weights / weights.mean())
    # The probabilities of identical tables are known without any regression.
    error = 0.0 if np.array_equal(x, y) else _error(terms, ridge)
    size = 2.0 * float(weights.sum() ** 2 / (weights**2).sum())
    expected = terms.independent / (8.0 * size)
    notes = [wording.note_propensity(terms.count), *([left_out] if left_out else [])]
    return data.result(error / expected, {"pMSE": error, "expected": expected}, "; ".join(notes))


class _Predictors:
    """The regression's terms, standardised over both tables, made for a block of records at a time."""

    def __init__(self, x: Values, y: Values, weights: Values) -> None:
        self._x, self._y, self._weights = x, y, weights
        p = x.shape[1]
        squares = [(at, at) for at in range(p)]
        products = [*combinations(range(p), 2)] if p <= MOST_WITH_PRODUCTS else []
        self._products = squares + products
        self.count = p + len(self._products)
        self._mean = np.zeros(self.count)
        self._scale = np.ones(self.count)
        total = 2.0 * weights.sum()
        self._mean = sum((w @ terms for terms, _, w in self), np.zeros(self.count)) / total
        gram = np.zeros((self.count, self.count))
        for terms, _, w in self:
            gram += terms.T @ (terms * w[:, np.newaxis])
        variance = np.diag(gram) / total
        # A term that is constant (the square of a column of −1 and 1) is left at 0.
        self._scale = np.sqrt(np.where(variance > 1e-18, variance, np.inf))
        correlations = gram / total / np.outer(self._scale, self._scale)
        self.independent = max(int((np.linalg.eigvalsh(correlations) > DEPENDENT).sum()), 1)

    def __iter__(self) -> Iterator[tuple[Values, float, Values]]:
        """Blocks of terms, whether they are masked (1) or original (0), and weights."""
        for start in range(0, len(self._x), ROWS):
            rows = slice(start, start + ROWS)
            for masked, table in ((0.0, self._x), (1.0, self._y)):
                values = table[rows]
                terms = np.empty((len(values), self.count), order="F")
                terms[:, : values.shape[1]] = values
                for at, (first, second) in enumerate(self._products, start=values.shape[1]):
                    np.multiply(values[:, first], values[:, second], out=terms[:, at])
                terms -= self._mean
                terms /= self._scale
                yield terms, masked, self._weights[rows]


def _error(terms: _Predictors, ridge: float) -> float:
    """pMSE of the fitted probabilities."""
    coefficients = np.zeros(terms.count + 1)
    loss, gradient, curvature, error = _fit(terms, coefficients, ridge)
    for _ in range(NEWTON_ROUNDS):
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        expected = float(step @ gradient)
        if expected <= 1e-12 * max(loss, 1.0):
            break
        share = 1.0
        while share > 1e-6:
            found = _fit(terms, coefficients - share * step, ridge)
            if found[0] <= loss - 1e-4 * share * expected:
                break
            share /= 2
        else:
            break
        coefficients = coefficients - share * step
        loss, gradient, curvature, error = found
    return error


def _fit(terms: _Predictors, coefficients: Values, ridge: float) -> tuple[float, Values, Values, float]:
    """Minus the penalised log-likelihood, its gradient and curvature, and pMSE. The constant comes last."""
    slopes, constant = coefficients[:-1], coefficients[-1]
    t = terms.count
    loss, error, total = ridge / 2 * float(slopes @ slopes), 0.0, 0.0
    gradient = np.append(ridge * slopes, 0.0)
    curvature = np.diag(np.append(np.full(t, ridge), 0.0))
    for values, masked, weights in terms:
        score = values @ slopes + constant
        chance = 0.5 + 0.5 * np.tanh(score / 2)
        loss += float(weights @ (np.logaddexp(0.0, score) - masked * score))
        residual = weights * (chance - masked)
        gradient[:t] += values.T @ residual
        gradient[t] += residual.sum()
        spread = weights * chance * (1.0 - chance)
        curvature[:t, :t] += values.T @ (values * spread[:, np.newaxis])
        curvature[:t, t] += values.T @ spread
        curvature[t, t] += spread.sum()
        error += float(weights @ (chance - 0.5) ** 2)
        total += float(weights.sum())
    curvature[t, :t] = curvature[:t, t]
    return loss, gradient, curvature, error / total
