"""Microaggregation: groups of at least k similar records, published as their means."""

from typing import TYPE_CHECKING, Any

from microagg.api import lower_bound, partition, partition_each, protect
from microagg.api_assess import assess, compare
from microagg.engines.assessment import Assessment
from microagg.engines.comparing import Comparison
from microagg.engines.release import Release
from microagg.errors import (
    Cancelled,
    ContractError,
    DataError,
    OutputError,
    SettingsError,
    UnsafeRelease,
)
from microagg.methods.run import Progress
from microagg.results import Bound, EachResult, Result

__version__ = "0.1.0"

if TYPE_CHECKING:
    from microagg.estimator import Microaggregator as Microaggregator


def __getattr__(name: str) -> Any:
    """scikit-learn is an extra and takes a second to import: only for those who ask for its face."""
    if name == "Microaggregator":
        from microagg.estimator import Microaggregator

        return Microaggregator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Assessment",
    "Bound",
    "Cancelled",
    "Comparison",
    "ContractError",
    "DataError",
    "EachResult",
    "OutputError",
    "Progress",
    "Release",
    "Result",
    "SettingsError",
    "UnsafeRelease",
    "__version__",
    "assess",
    "compare",
    "lower_bound",
    "partition",
    "partition_each",
    "protect",
]
