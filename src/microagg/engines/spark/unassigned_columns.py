"""Refuses columns without a role that may identify a respondent."""

from __future__ import annotations

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg import wording
from microagg.engines.spark.numbered_frame import Source
from microagg.plan.identifiers import identifying_name, nearly_unique, numbers_of_units
from microagg.plan.protection import Protection

NUMBERS_OR_TEXT = ("string", "byte", "short", "integer", "long")
"""Types of what may be the number of a unit."""

ERROR = 0.02
"""Distinct values are counted with such an error; so a column is suspected a little earlier."""

NAMED = "its name is that of an identifier"
NUMBERED = "its name is that of a unit, and it has many values"
DISTINCT = "nearly all of its values are distinct"


def check_roles(source: Source, protection: Protection) -> None:
    """`SettingsError` for likely identifiers that nobody has given a role."""
    roles = dict(protection.columns_by_role())
    names = [name for name in source.columns if name not in roles and source.kind(name) != "boolean"]
    if not names:
        return
    columns = [F.col(f"c{source.at(name)}") for name in names]
    rules = [F.count(column).alias(f"n{at}") for at, column in enumerate(columns)]
    rules += [
        F.approx_count_distinct(F.xxhash64(column), ERROR).alias(f"d{at}")
        for at, column in enumerate(columns)
    ]
    found = source.numbered.agg(*rules).collect()[0]
    reasons = {}
    for at, name in enumerate(names):
        present, distinct = found[f"n{at}"], found[f"d{at}"]
        if present == 0 or distinct <= 2 < present:
            continue
        if identifying_name(name, source.kind(name) == "string"):
            reasons[name] = NAMED
        elif nearly_unique(int(distinct * (1.0 + 3.0 * ERROR)), present):
            reasons[name] = DISTINCT
        elif source.kind(name) in NUMBERS_OR_TEXT and numbers_of_units(
            name, source.kind(name) != "string", distinct
        ):
            reasons[name] = NUMBERED
    if reasons:
        raise wording.needs_role(list(reasons), list(reasons.values()))
