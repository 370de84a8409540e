"""Measures of utility and of disclosure risk.

`MEASURES` has every one by name: the most important ones, then those of utility, then those of risk.
"""

from microagg.measure import (
    attribute_disclosure,
    cross_tables,
    deviations,
    intervals,
    key_confidential,
    linkage,
    moments,
    probabilistic,
    probabilistic_linkage,
    propensity,
    regressions,
    risk,
)
from microagg.measure.descriptions import Measure, described_measures

UTILITY = described_measures(
    "utility", deviations, cross_tables, moments, regressions, probabilistic, propensity
)
RISK = described_measures(
    "risk", risk, linkage, probabilistic_linkage, intervals, attribute_disclosure, key_confidential
)
MEASURES: dict[str, Measure] = dict(
    sorted((UTILITY | RISK).items(), key=lambda item: (item[1].first is None, item[1].first or 0))
)
MOST_IMPORTANT = [name for name, each in MEASURES.items() if each.first is not None]
__all__ = ["MEASURES", "MOST_IMPORTANT", "RISK", "UTILITY", "Measure"]
