"""Microaggregation: groups of at least k similar records, published as their means."""

from microagg.api import lower_bound, partition, partition_each
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

__all__ = [
    "Bound",
    "Cancelled",
    "ContractError",
    "DataError",
    "EachResult",
    "OutputError",
    "Progress",
    "Result",
    "SettingsError",
    "UnsafeRelease",
    "__version__",
    "lower_bound",
    "partition",
    "partition_each",
]
