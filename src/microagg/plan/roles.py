"""Roles against the data: every column that is named exists, and none is forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from microagg import wording
from microagg.arrow_types import is_text
from microagg.model import Microdata, positions_of
from microagg.plan.profile import likely_identifiers
from microagg.plan.protection import Protection


def check_columns(protection: Protection, source: Microdata) -> None:
    """`DataError` for columns that are not there, `SettingsError` for columns without a role."""
    columns = source.table.column_names
    roles = dict(protection.columns_by_role())
    positions_of(list(roles), columns)
    for column, codes in protection.missing_codes.items():
        texts = [code for code in codes if isinstance(code, str)]
        if texts and not _may_hold_text(source, column):
            raise wording.text_codes_of_numbers(column, texts)
    check_acceptances(protection, columns)
    without = [name for name in columns if name not in roles]
    if protection.rest == "drop" or not without:
        return
    reasons = likely_identifiers(source, without)
    refuse_without_role(protection, without, reasons)


def refuse_without_role(
    protection: Protection, without: Sequence[str], identifying: Mapping[str, str]
) -> None:
    """`SettingsError` for columns that must be named; `identifying`: why some may show who a record is."""
    if protection.rest == "refuse":
        raise wording.columns_without_role(list(without), dict(identifying))
    if identifying:
        raise wording.needs_role(list(identifying), dict(identifying))


def check_acceptances(protection: Protection, columns: Sequence[str]) -> None:
    """`DataError` for a finding that is accepted in a column that is not there."""
    named = [column for each in protection.accept for _, _, column in [each.partition("=")] if column]
    if named:
        positions_of(list(dict.fromkeys(named)), columns)


def _may_hold_text(source: Microdata, column: str) -> bool:
    kind = source.table.schema.field(column).type
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)
