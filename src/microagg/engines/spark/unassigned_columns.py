"""Refuses columns without a role that may identify a respondent."""

from __future__ import annotations

from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg.engines.spark.numbered_frame import Source
from microagg.identifiers import identifying_name, nearly_unique, numbers_of_units
from microagg.plan.protection import Protection
from microagg.plan.roles import check_acceptances, refuse_without_role

NUMBERS_OR_TEXT = ("string", "byte", "short", "integer", "long")
"""Types of what may be the number of a unit."""

ERROR = 0.02
"""Distinct values are counted with such an error; so a column is suspected a little earlier."""

NAMED = "its name is that of an identifier"
NUMBERED = "its name is that of a unit, and it has many values"
DISTINCT = "nearly all of its values are distinct"


def check_roles(source: Source, protection: Protection) -> None:
    """`SettingsError` for columns that nobody has given a role, unless the rest may be released."""
    roles = dict(protection.columns_by_role())
    check_acceptances(protection, source.columns)
    without = [name for name in source.columns if name not in roles]
    if protection.rest == "drop" or not without:
        return
    refuse_without_role(protection, without, _reasons(source, without))


def _reasons(source: Source, names: list[str]) -> dict[str, str]:
    """Which of the columns may show who a record is, and why."""
    names = [name for name in names if source.kind(name) != "boolean"]
    if not names:
        return {}
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
        elif source.kind(name) not in NUMBERS_OR_TEXT:
            continue  # amounts may all be distinct
        elif nearly_unique(int(distinct * (1.0 + 3.0 * ERROR)), present):
            reasons[name] = DISTINCT
        elif numbers_of_units(name, source.kind(name) != "string", distinct):
            reasons[name] = NUMBERED
    return reasons
