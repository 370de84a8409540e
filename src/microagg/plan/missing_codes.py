"""Numbers and texts that are likely to stand for a missing answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg.columns import MISSING_TEXT_ARRAY, PLAIN_NUMBER

_MOST_MARKS = 5
_LONGEST_MARK = 3
_MISSING_TEXTS = re.compile(
    r"n\.?a\.?n?|n/a|n\.?d\.?|n/d|k\. ?a\.|none|null|nil|missing|unknown|refused|not stated|x|:\s*[a-z]",
    re.IGNORECASE,
)
"""Of English and German tables, and Eurostat's letters behind a colon."""

_USUAL = tuple(
    sorted(
        {int(digit * length) for digit in "789" for length in range(1, 10)}
        | {int("9" * length + last) for last in "78" for length in range(1, 9)}
    )
)
"""7, 8 and 9, repeated; 97, 98, 997 …"""

_NEAR_THE_END = 20
"""How many values next to a code are looked at to see how far apart values lie there."""

_TIMES_APART = 3
"""How many times as far from the values a code is as they are from each other, at least."""


_NO_ANSWER = re.compile(
    r"refus|don.?t know|do not know|no answer|not answered|no response|not stated|missing|unknown|"
    r"inapplicable|not applicable|keine (angabe|antwort)|wei(ss|ß) nicht|verweiger|sans r[ée]ponse|"
    r"ne sait pas|non r[ée]ponse|no sabe|no contesta|ns/nc|non (sa|risponde)|rifiut",
    re.IGNORECASE,
)


def labelled_missing_codes(values: NDArray[np.float64], texts: Mapping[Any, str]) -> tuple[int, ...]:
    """Those of a column's distinct values whose label stands for no answer."""
    codes = {
        code for code, text in texts.items() if isinstance(code, int | float) and _NO_ANSWER.search(text)
    }
    return tuple(int(value) for value in values if value in codes and float(value).is_integer())


def likely_missing_codes(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[int, ...]:
    """Those of a column's distinct values, ascending, with their counts, that are likely to be codes.

    A code is one of the usual ones (9, 99, 999 …, 8 and 7 likewise, 97, 98, 997, 998 …; the same and 1 with
    a minus), occurs twice at least, and stands at an end of the range, with other codes at most beyond it.
    It is far from the other values: at least three times as far as those next to it, up to twenty of them,
    are from each other in the median. A negative code needs no distance where no other value is negative.
    There must be three other values at least; so 0, 1 and 9 are too few to judge. Among 7, 8 and 9 a code
    stands behind a scale without gaps, not at the thin end of counts, such as those of children.
    """
    if len(values) < 4:
        return ()
    low = _codes_at_the_end(-values[::-1], counts[::-1], negative=True)
    high = _codes_at_the_end(values, counts, negative=False)
    return tuple(sorted([-code for code in low] + list(high)))


def _codes_at_the_end(
    values: NDArray[np.float64], counts: NDArray[np.int64], negative: bool
) -> tuple[int, ...]:
    """Codes at the upper end. `negative`: it is the lower one with all signs changed; -1 is a code too."""
    usual = (1, *_USUAL) if negative else _USUAL
    at = len(values)
    while at > 3 and values[at - 1] in usual and counts[at - 1] >= 2:
        at -= 1
    # As many as are codes by name; fewer, until they are far from the rest.
    for rest in range(at, len(values)):
        are_only_negative_values = negative and values[rest - 1] <= 0
        steps = np.diff(values[max(0, rest - _NEAR_THE_END) : rest])
        far = values[rest] - values[rest - 1] >= _TIMES_APART * np.median(steps)
        if not negative and values[rest] < 10 and not _behind_a_scale(values, counts, rest):
            continue
        if are_only_negative_values or far:
            return tuple(int(code) for code in values[rest:])
    return ()


def _behind_a_scale(values: NDArray[np.float64], counts: NDArray[np.int64], rest: int) -> bool:
    """Whether the values before `rest` are those of a scale, and not counts that become ever rarer."""
    if not np.array_equal(np.diff(values[:rest]), np.ones(rest - 1)):
        return False
    tail = counts[max(0, rest - 3) : rest + 1]
    return not bool((np.diff(tail) < 0).all())


def likely_missing_texts(column: pa.ChunkedArray[Any], decimal: str) -> tuple[str, ...]:
    """The texts of a column that is one of numbers but for them: marks such as . - : .. * and texts for
    missing. Nothing if other texts are among them, if there are many, or hardly any numbers.
    """
    trimmed = compute.utf8_trim_whitespace(column.cast(pa.large_string()))
    values = compute.unique(trimmed).drop_null()
    values = values.filter(compute.invert(compute.is_in(values, value_set=MISSING_TEXT_ARRAY)))
    number = PLAIN_NUMBER.replace(".,", re.escape(decimal))
    numbers = compute.match_substring_regex(values, number)
    texts = values.filter(compute.invert(numbers))
    if not 0 < len(texts) <= _MOST_MARKS or len(values) - len(texts) < 3:
        return ()
    marks = sorted(map(str, texts.to_pylist()))
    return tuple(marks) if all(map(_is_mark, marks)) else ()


def _is_mark(text: str) -> bool:
    if _MISSING_TEXTS.fullmatch(text):
        return True
    return len(text) <= _LONGEST_MARK and all(unicodedata.category(sign)[0] in "PS" for sign in text)
