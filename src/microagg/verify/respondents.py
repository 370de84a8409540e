"""Which columns of a source say whose record it is, where respondents have several records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.column_names import is_demographic, names_a_category, names_an_amount, weight_name
from microagg.identifiers import MANY_UNITS, identifying_name, names_a_unit
from microagg.model import Claims, Doubles
from microagg.settings.declared import NO_RESPONDENT
from microagg.verify.shape import key_columns, masked_columns
from microagg.verify.threads import in_threads
from microagg.verify.values import is_numeric, is_text, numbers, numbers_in, plain, rank_correlation

FEWEST_VALUES = 50
LEAST_SHARE = 0.1
"""Of the records: a column of fewer different values is one of classes."""
RECORDS_EACH = 2.0
"""So many records at least a respondent has on average, where only the shape of values speaks for it."""

SMALL_NUMBERS = 150
"""Ages and counts are below it, and have nearly all values from the least to the greatest."""
MOST_ROUND = 0.3
"""Of numbers of units a tenth ends in 0; of amounts more."""
RELATED = 0.3
"""A rank correlation with a masked column that numbers of units do not have."""
SAMPLE = 20_000
"""Records that are enough to judge the shape of values."""

Reason = Literal["", "name", "shape"]


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """What is known about a column that may say whose record it is."""

    name: str
    present: int
    """Records with a value."""
    distinct: int
    sample: Any
    """Values of some records, as an Arrow array."""

    def reason(self, keys: list[Doubles]) -> Reason:
        """Why it may say whose a record is: by its name, by the shape of its values, or not at all.

        `keys` are the masked columns of the same records as the sample.
        """
        if self.distinct >= self.present or self.distinct < 2:
            return ""
        text = is_text(plain(self.sample).type)
        if names_an_amount(self.name) or names_a_category(self.name) or is_demographic(self.name):
            return ""
        if weight_name(self.name):
            return ""
        values = numbers_in(self.sample)
        whole = values is not None and bool((values[np.isfinite(values)] % 1.0 == 0.0).all())
        is_unit = names_a_unit(self.name) and self.distinct >= MANY_UNITS
        if identifying_name(self.name, False) or is_unit:
            return "name"
        repeated = self.present >= RECORDS_EACH * self.distinct
        if text and repeated and self.distinct >= FEWEST_VALUES and identifying_name(self.name, True):
            return "name"
        many = self.distinct >= FEWEST_VALUES and self.distinct > LEAST_SHARE * self.present
        if not (repeated and many):
            return ""
        if values is None:
            return "shape" if text and _has_one_pattern(self.sample) else ""
        return "shape" if whole and not _may_be_amounts(values, self.distinct, keys) else ""


def respondent_columns(source: pa.Table, claims: Claims) -> Iterator[tuple[str, bool]]:
    """Columns that say whose a record is, and whether that was recognised by their values alone."""
    if claims.respondent == NO_RESPONDENT:
        return
    if claims.respondent is not None:
        yield claims.respondent, False
        return
    some = source.slice(0, SAMPLE)
    keys = [values for name in masked_columns(claims) if (values := numbers(some.column(name))) is not None]

    def look(name: str) -> ColumnLook | None:
        column = plain(source.column(name))
        if not is_text(column.type) and not is_numeric(column.type):
            return None
        distinct = pc.count_distinct(column, mode="only_valid").as_py()
        return ColumnLook(name, len(column) - column.null_count, distinct, plain(some.column(name)))

    names = candidates(source.column_names, claims)
    for name, found in zip(names, in_threads(look, names, source.num_rows), strict=True):
        if found is not None and (reason := found.reason(keys)):
            yield name, reason == "shape"


def candidates(columns: list[str], claims: Claims) -> list[str]:
    """Columns that are no keys, strata, confidential columns or weights."""
    others = {*key_columns(claims), *masked_columns(claims), *claims.confidential, claims.weight}
    return [name for name in columns if name not in others]


_LETTERS, _DIGITS = re.compile(r"[^\W\d_]"), re.compile(r"\d")


def _has_one_pattern(column: Any) -> bool:
    """Whether all texts are codes of one pattern, such as two letters and four digits."""
    texts = pc.unique(plain(column).drop_null()).to_pylist()
    patterns = {_DIGITS.sub("9", _LETTERS.sub("A", text.strip())) for text in texts}
    return len(patterns) == 1 and "9" in next(iter(patterns))


def _may_be_amounts(values: Doubles, distinct: int, keys: list[Doubles]) -> bool:
    """Whether whole numbers look like amounts, ages or counts rather than like numbers of units."""
    present = ~np.isnan(values)
    own = values[present]
    if own.min() < 0.0 or (own.max() <= SMALL_NUMBERS and own.max() - own.min() < 1.5 * distinct):
        return True
    if (np.unique(own) % 10.0 == 0.0).mean() > MOST_ROUND:
        return True
    return any(abs(rank_correlation(own, key[present])) >= RELATED for key in keys)
