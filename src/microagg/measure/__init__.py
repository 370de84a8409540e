"""Measures of utility and of disclosure risk.

`MEASURES` has every one by name: the most important ones, then those of utility, then those of risk.
"""

from microagg.measure.catalogue import Measure, most_important_first
from microagg.measure.risk_catalogue import RISK
from microagg.measure.utility_catalogue import UTILITY

MEASURES: dict[str, Measure] = most_important_first(UTILITY | RISK)
MOST_IMPORTANT = [name for name, each in MEASURES.items() if each.first is not None]
__all__ = ["MEASURES", "MOST_IMPORTANT", "Measure"]
