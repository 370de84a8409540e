"""Roles against the data: every column that is named exists, and none that may identify is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from microagg import errors
from microagg.arrow_types import is_text
from microagg.model import positions_of
from microagg.plan.identifiers import NEARLY_ALL, identifying_name
from microagg.plan.protection import Protection

if TYPE_CHECKING:
    import pyarrow as pa


def check_columns(protection: Protection, table: pa.Table) -> None:
    """`DataError` for columns that are not there, `SettingsError` for likely identifiers without a role."""
    roles = dict(protection.columns_by_role())
    positions_of(list(roles), table.column_names)
    found = {
        name: reason
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in roles and (reason := _why_identifying(name, column))
    }
    if found:
        raise errors.needs_role(list(found), list(found.values()))


def _why_identifying(name: str, column: pa.ChunkedArray[Any]) -> str:
    """Why a column may point to single respondents; nothing if it hardly does."""
    import pyarrow as pa
    from pyarrow import compute

    if identifying_name(name, is_text(column.type)):
        return "by its name"
    values = len(column) - column.null_count
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        distinct = compute.count_distinct(column, mode="only_valid").as_py()
    except NotImplementedError:  # lists and the like, which nobody can group by
        return "of a type that cannot be counted"
    if values and distinct >= NEARLY_ALL * values:
        return f"{100.0 * distinct / values:.0f} % of its values are distinct"
    return ""
