"""A column of microdata as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg import errors, wording
from microagg.arrow_types import are_dates, is_number, is_text
from microagg.arrow_values import from_numbers, to_numpy
from microagg.columns import in_ranges, without_texts
from microagg.model import Microdata, positions_of
from microagg.read.columns import COMMA_NUMBER, cleaned, matching, refuse_what_is_no_number
from microagg.read.commas import has_decimal_commas

if TYPE_CHECKING:
    import pyarrow as pa


def numbers_of(
    microdata: Microdata, column: str, missing_codes: Sequence[float | str] = ()
) -> NDArray[np.float64]:
    """The column as numbers, NaN where a value is missing.

    Missing are null, NaN, the codes given, and those that the file itself declares. Codes that are texts
    say that a column of text is one of numbers, whatever the file's types. `DataError` for other text,
    dates, infinity and columns of several kinds, in the words of `table_from_file`.
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


def retyped(microdata: Microdata, schema: pa.Schema) -> pa.Table:
    """The columns in the types of the schema, as far as that is possible without loss."""
    import pyarrow as pa

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
    import pyarrow as pa

    field = table.schema.field(column)
    values = table.column(column)
    if not is_number(field.type) or are_dates(field):
        refuse_what_is_no_number(table.select([column]))
        return np.full(len(values), np.nan)  # nothing but missing values
    return _as_doubles(values.cast(pa.float64(), safe=False))


def _as_doubles(values: pa.ChunkedArray[Any]) -> NDArray[np.float64]:
    numbers = np.array(to_numpy(values), dtype=np.float64)
    return np.ascontiguousarray(numbers)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _from_text(microdata: Microdata, column: str, missing_texts: Sequence[str] = ()) -> NDArray[np.float64]:
    import pyarrow as pa
    from pyarrow import compute

    csv = microdata.origin.csv
    decimal, delimiter = (csv.decimal or ".", csv.delimiter or ",") if csv is not None else (".", "")
    text: Any = microdata.table.column(column)
    if missing_texts:
        text = without_texts(text, missing_texts)
    numbers = text
    if decimal == ",":
        # What has a point already is a thousand, or text.
        if _have(text, ".") and _have(cleaned(text), "."):
            _refuse_text(text, column, decimal, delimiter)
        numbers = compute.replace_substring(text, ",", ".")
    for clean in (False, True):  # most columns need no cleaning, which takes longer than the cast
        try:
            return _as_doubles((cleaned(numbers) if clean else numbers).cast(pa.float64()))
        except pa.ArrowException:  # its words quote values
            continue
    _refuse_text(text, column, decimal, delimiter)
    raise wording.not_numeric([column], [])


def _have(text: pa.ChunkedArray[Any], sign: str) -> bool:
    from pyarrow import compute

    return bool(compute.any(compute.match_substring(text, sign)).as_py())


def _refuse_text(text: pa.ChunkedArray[Any], column: str, decimal: str, delimiter: str) -> None:
    """`DataError` if the column is not of numbers with this decimal sign; says what it is."""
    import pyarrow as pa

    table = pa.table({column: cleaned(text)})
    if decimal == "." and delimiter not in ("", ",") and has_decimal_commas(table):
        commas = matching(table.column(0), COMMA_NUMBER)
        raise wording.commas_beside_points(column, commas, table.num_rows)
    refuse_what_is_no_number(table, decimal, delimiter)
