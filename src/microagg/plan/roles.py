"""Roles against the data: every column that is named exists, and none that may identify is forgotten."""

from __future__ import annotations

from microagg import errors
from microagg.model import Microdata, positions_of
from microagg.plan.profile import reasons_for_a_role
from microagg.plan.protection import Protection


def check_columns(protection: Protection, source: Microdata) -> None:
    """`DataError` for columns that are not there, `SettingsError` for likely identifiers without a role."""
    columns = source.table.column_names
    roles = dict(protection.columns_by_role())
    positions_of(list(roles), columns)
    found = reasons_for_a_role(source, [name for name in columns if name not in roles])
    if found:
        raise errors.needs_role(list(found), list(found.values()))
