"""Measures of utility by name; `utility.toml` describes them."""

from __future__ import annotations

from microagg.measure import deviations, moments
from microagg.measure.catalogue import described_measures
from microagg.measure.probabilistic import pil
from microagg.measure.propensity import propensity

UTILITY = described_measures(
    "utility",
    deviations.il,
    deviations.changed_cells,
    deviations.il_subsets,
    deviations.il_strata,
    deviations.il1s,
    deviations.il1s_sum,
    moments.eigenvalues,
    moments.means,
    moments.variances,
    moments.quantiles,
    moments.covariances,
    moments.correlations,
    moments.rank_correlations,
    moments.mean_deviation,
    moments.fpc_correlation,
    moments.fpc_weight,
    moments.fpc_share,
    moments.correlation_change_deviation,
    pil,
    propensity,
)
