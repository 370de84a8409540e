"""Groups turned into published values."""

from microagg.aggregate.groups import aggregate, values_by_group
from microagg.aggregate.noise import with_noise
from microagg.aggregate.rounding import rounded, with_decimals

__all__ = ["aggregate", "rounded", "values_by_group", "with_decimals", "with_noise"]
