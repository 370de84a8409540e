"""Measures of utility and of disclosure risk: `MEASURES` has every one by name, utility first."""

from microagg.measure.catalogue import Measure
from microagg.measure.risk_catalogue import RISK
from microagg.measure.utility_catalogue import UTILITY

MEASURES: dict[str, Measure] = UTILITY | RISK
__all__ = ["MEASURES", "Measure"]
