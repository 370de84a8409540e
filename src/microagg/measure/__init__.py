"""What a release loses and what it risks: `MEASURES` has every measure by name."""

from microagg.measure.catalogue import Measure
from microagg.measure.risk_catalogue import RISK
from microagg.measure.utility_catalogue import UTILITY

MEASURES: dict[str, Measure] = UTILITY | RISK
"""Utility first."""

__all__ = ["MEASURES", "Measure"]
