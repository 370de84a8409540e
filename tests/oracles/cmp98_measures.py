"""The measures of data quality in CMP98, section 4.2 (tables 2, 3 and 4).

Which reading: with components of the correlation matrix, of the original and of the masked data each
by itself, and with the "percentage change in the average" R or W taken as the *average over the
variables of the absolute percentage change* of

* R: the correlation of the variable with the component, a sqrt(λ),
* W: the weight of the standardized variable in the standardized component, a / sqrt(λ),

where a is the loading in the unit eigenvector and λ its eigenvalue, the rows MFS_MD, MDO_FPC,
MDO_SZ, UFS_SZ, UFS_FPC, UDO_SZ and UDO_FPC of tables 2 to 4 come out (k = 3, MFS_MD: 7.70 and 7.11,
printed 7.7 and 7.1; the change of the average correlation is 4.6 with and 6.9 without signs, and
the loadings a themselves change by 2.8). The rows of UFS are those of the descending sort. The
standard deviation of |Δr| has the divisor "pairs - 1": it makes the difference for UFS_FPC k = 4 and
UDO_FPC k = 5. Two entries differ: the standard deviation of |Δr| of MFS_MD k = 4 is .05498, printed
.06, and the average of UDO_SZ k = 4 is .29, printed .19.
"""

import math
from typing import NamedTuple

import numpy as np

from .basics import Floats, as_points, centroid_of
from .sorting import first_component, z_scores


class Measures(NamedTuple):
    """What tables 2, 3 and 4 have in their columns."""

    average_sd: float
    """Average standard deviation of the masked variables where the originals have 1."""
    delta_r: float
    """ΔR in percent."""
    delta_w: float
    """ΔW in percent."""
    fpc: float
    """%FPC: the percentage of variability that the masked data's first component explains."""
    mean_dr: float
    """Average of |r_ij masked - r_ij original| over the pairs of variables."""
    sd_dr: float
    """Sample standard deviation of the same."""


def measures(original: Floats, masked: Floats) -> Measures:
    """All measures of a masked table against the original one.

    Nothing depends on the units of the variables. The sign of the masked data's component is the
    one that makes it more similar to the original's (a positive product of the two vectors of loadings);
    a variable that does not appear in the original's component is left out of ΔR and ΔW.
    """
    before, after = as_points(original), as_points(masked)
    if before.shape != after.shape:
        raise ValueError("both tables must have the same shape")
    if before.shape[1] < 3:
        raise ValueError("three variables are needed for a standard deviation over pairs")
    z_before, z_after = z_scores(before), z_scores(after)
    a_before, value_before = first_component(z_before)
    a_after, value_after = first_component(z_after)
    if a_before @ a_after < 0:
        a_after = -a_after
    root_before, root_after = math.sqrt(value_before), math.sqrt(value_after)

    variables = before.shape[1]
    pairs = np.triu_indices(variables, k=1)
    discrepancy = np.abs(_correlations(z_after) - _correlations(z_before))[pairs]
    return Measures(
        average_sd=float(np.mean(_deviations(after) / _deviations(before))),
        delta_r=_average_change(a_before * root_before, a_after * root_after),
        delta_w=_average_change(a_before / root_before, a_after / root_after),
        fpc=explained(masked),
        mean_dr=float(discrepancy.mean()),
        sd_dr=float(discrepancy.std(ddof=1)),
    )


def explained(points: Floats) -> float:
    """The percentage of the variability of standardized data that the first component explains."""
    scores = z_scores(points)
    _, value = first_component(scores)
    return 100 * value / float(np.trace(_correlations(scores)))


def _correlations(scores: Floats) -> Floats:
    return scores.T @ scores / len(scores)


def _deviations(points: Floats) -> Floats:
    """Population standard deviations of the variables."""
    squares = (points - centroid_of(points)) ** 2
    return np.sqrt(squares.mean(axis=0))


def _average_change(before: Floats, after: Floats) -> float:
    """Average over the variables of the absolute change in percent."""
    present = before != 0
    return float(np.mean(100 * np.abs((after - before)[present] / before[present])))
