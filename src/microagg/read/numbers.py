"""A column of microdata as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import errors, wording
from microagg.arrow_types import are_dates, is_number, is_text
from microagg.arrow_values import from_numbers, to_numpy
from microagg.columns import in_ranges, numbers_or_none, without_texts
from microagg.model import Microdata, positions_of
from microagg.read.columns import COMMA_NUMBER, count_matches, require_numeric_columns, trim_and_null
from microagg.read.commas import has_decimal_commas


def numbers_of(
    microdata: Microdata, column: str, missing_codes: Sequence[float | str] = ()
) -> NDArray[np.float64]:
    """The column as numbers, NaN where a value is missing.

    Missing are null, NaN, the given codes, and those that the file itself declares. With codes that are
    texts, a column of text is read as numbers whatever its type in the file. `DataError` for other text,
    dates, infinity and columns of several kinds, with the messages of `table_from_file`.
    """
    at = microdata.table.schema.get_field_index(column)
    if at < 0:
        (at,) = positions_of([column], microdata.table.column_names)
    origin = microdata.origin
    texts = [code for code in missing_codes if isinstance(code, str)]
    kind = microdata.table.schema.field(at).type
    if (origin.csv is not None and not is_number(kind)) or (texts and _is_text(kind)):
        values = _from_text(microdata, column, texts)
    else:
        values = _from_typed(microdata.table, column)
    ranges = origin.labels.missing_ranges.get(column, ()) if origin.labels is not None else ()
    numbers = [float(code) for code in missing_codes if not isinstance(code, str)]
    missing = in_ranges(values, [*ranges, *numbers])
    if missing.any():
        values = np.where(missing, np.nan, values)
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise wording.infinite_values(column, infinite)
    return values


def cast_to_schema(microdata: Microdata, schema: pa.Schema) -> pa.Table:
    """Cast the columns to the types of the schema, where nothing is lost by that."""
    table = microdata.table
    for at, name in enumerate(table.column_names):
        wanted = schema.field(name).type if name in schema.names else None
        if wanted is None or wanted == table.column(at).type:
            continue
        try:
            column: Any = table.column(at)
            if microdata.origin.csv is not None and is_number(wanted):
                column = pa.chunked_array([from_numbers(numbers_of(microdata, name))])
            table = table.set_column(at, name, column.cast(wanted))
        except (pa.ArrowException, errors.DataError):
            continue
    return table


def _from_typed(table: pa.Table, column: str) -> NDArray[np.float64]:
    field = table.schema.field(column)
    values = table.column(column)
    if not is_number(field.type) or are_dates(field):
        require_numeric_columns(table.select([column]))
        return np.full(len(values), np.nan)  # nothing but missing values
    return _as_doubles(values.cast(pa.float64(), safe=False))


def _as_doubles(values: pa.ChunkedArray[Any]) -> NDArray[np.float64]:
    numbers = np.array(to_numpy(values), dtype=np.float64)
    return np.ascontiguousarray(numbers)


def _is_text(kind: Any) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _from_text(microdata: Microdata, column: str, missing_texts: Sequence[str] = ()) -> NDArray[np.float64]:
    csv = microdata.origin.csv
    decimal, delimiter = (csv.decimal or ".", csv.delimiter or ",") if csv is not None else (".", "")
    text: Any = microdata.table.column(column)
    if missing_texts:
        text = without_texts(text, missing_texts)
    numbers = numbers_or_none(text, decimal)
    if numbers is not None:
        return np.array(numbers)  # writable, unlike Arrow's memory
    _refuse_text(text, column, decimal, delimiter)
    raise wording.not_numeric([column], [])


def _refuse_text(text: pa.ChunkedArray[Any], column: str, decimal: str, delimiter: str) -> None:
    """`DataError` that explains what a column holds instead of numbers with this decimal sign."""
    table = pa.table({column: trim_and_null(text)})
    if decimal == "." and delimiter not in ("", ",") and has_decimal_commas(table):
        commas = count_matches(table.column(0), COMMA_NUMBER)
        raise wording.commas_beside_points(column, commas, table.num_rows)
    require_numeric_columns(table, decimal, delimiter)
