"""Groups turned into published values."""

from microagg.aggregate.groups import values_by_group
from microagg.aggregate.means import aggregate
from microagg.aggregate.noise import with_noise
from microagg.aggregate.rounding import decimals_of, rounded

__all__ = ["aggregate", "decimals_of", "rounded", "values_by_group", "with_noise"]
