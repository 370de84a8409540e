"""Survey weights on Spark: numbers above zero."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg import wording
from microagg.engines.spark.jobs import WEIGHT
from microagg.engines.weighing import LARGEST_WEIGHT


def refuse_weights(frame: DataFrame, name: str) -> None:
    """`DataError` if one of them is none."""
    weight = F.col(WEIGHT)
    wrong = {
        "missing": weight.isNull(),
        "infinite": F.abs(weight) == float("inf"),
        "negative or zero": weight <= 0.0,
        "too large": weight > LARGEST_WEIGHT,
    }
    found = frame.agg(*(F.count_if(rule).alias(what) for what, rule in wrong.items())).collect()[0]
    for what in wrong:
        if found[what]:
            raise wording.bad_weights(name, what, found[what])
