"""Released columns that give a masked date, written in whatever form, or its year or month."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from microagg.arrow_values import from_numbers
from microagg.model import Doubles
from microagg.verify.date_texts import date_format, means_nothing, moments
from microagg.verify.derived.finder import Derivation, derivations
from microagg.verify.derived.relations import Kind
from microagg.verify.values import is_text, numbers, plain


def derived_dates(keys: pa.Table, others: pa.Table, dates: Sequence[str]) -> Iterator[Derivation]:
    """What `others` tell of these keys, which are seconds since 1970."""
    if not dates or not others.num_columns:
        return
    others = _with_moments(others)
    whole = derivations(keys.select(dates), others)
    yield from whole
    known = {(each.key, name) for each in whole for name in each.columns}
    units: tuple[Kind, ...] = ("month", "year")
    for unit in units:
        parts = {name: from_numbers(_part(numbers(keys.column(name)), unit)) for name in dates}
        for each in derivations(pa.table(parts), others):
            if not any((each.key, name) in known for name in each.columns):
                known |= {(each.key, name) for name in each.columns}
                yield replace(each, kind=unit)


def _with_moments(table: pa.Table) -> pa.Table:
    """The table in which texts that are all dates of one form are seconds since 1970."""
    for at, name in enumerate(table.column_names):
        array = plain(table.column(at))
        if is_text(array.type):
            texts = [text for text in array.unique().to_pylist() if not means_nothing(text)]
            form = date_format(texts)
            if texts and form is not None:
                table = table.set_column(at, name, from_numbers(moments(array, form)[0]))
    return table


def _part(seconds: Doubles | None, unit: str) -> Doubles:
    """The year of each moment, or its year and month as 202012; NaN where it is missing."""
    assert seconds is not None
    gone = np.isnan(seconds)
    days = np.where(gone, 0.0, seconds).astype("datetime64[s]")
    years = days.astype("datetime64[Y]").astype(np.int64) + 1970
    months = days.astype("datetime64[M]").astype(np.int64) % 12 + 1
    return np.where(gone, np.nan, years if unit == "year" else 100 * years + months)
