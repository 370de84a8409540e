"""Roles against the data: every column that is named exists, and none that may identify is forgotten."""

from __future__ import annotations

import pyarrow as pa

from microagg import wording
from microagg.arrow_types import is_text
from microagg.model import Microdata, positions_of
from microagg.plan.profile import reasons_for_a_role
from microagg.plan.protection import Protection


def check_columns(protection: Protection, source: Microdata) -> None:
    """`DataError` for columns that are not there, `SettingsError` for likely identifiers without a role."""
    columns = source.table.column_names
    roles = dict(protection.columns_by_role())
    positions_of(list(roles), columns)
    for column, codes in protection.missing_codes.items():
        texts = [code for code in codes if isinstance(code, str)]
        if texts and not _may_hold_text(source, column):
            raise wording.text_codes_of_numbers(column, texts)
    reasons = reasons_for_a_role(source, [name for name in columns if name not in roles])
    if reasons:
        raise wording.needs_role(list(reasons), list(reasons.values()))


def _may_hold_text(source: Microdata, column: str) -> bool:
    kind = source.table.schema.field(column).type
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)
