"""min_distinct counts texts by what they say: capitals, blanks and forms of letters make no other value."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg.errors import UnsafeRelease
from microagg.verdict import decide, note
from microagg.verify.values import as_read
from tests.refusals import has, rules, unsafe

N = 12
VARIANTS = {
    "capitals": ("HIV", "hiv"),
    "sharp s": ("STRASSE", "straße"),
    "zero width": ("HIV", "H\u200bIV"),
    "byte order mark": ("HIV", "\ufeffHIV"),
    "soft hyphen": ("HIV", "HI\u00adV"),
    "variation selector": ("HIV", "HIV\ufe0f"),
    "composed": (unicodedata.normalize("NFC", "Diabète"), unicodedata.normalize("NFD", "Diabète")),
    "wide letters": ("HIV", "ＨＩＶ"),
    "ligature": ("influenza: flu", "inﬂuenza: flu"),
    "blanks around": ("HIV", " HIV\u00a0"),
    "blanks inside": ("lung cancer", "lung \u2003cancer"),
    "line break": ("lung cancer", "lung\ncancer"),
    "wide digits": ("5", "５"),
}


def release(values: tuple[str, ...], **words: Any) -> Any:
    illness = [values[at % len(values)] for at in range(N)]
    frame = pd.DataFrame({"x": np.repeat([1.0, 5.0, 9.0, 13.0], 3), "illness": illness})
    return microagg.protect(frame, 3, rest="pass", keys="x", confidential="illness", **words)


@pytest.mark.parametrize("kind", list(VARIANTS))
def test_spellings_of_one_value_are_not_distinct(kind: str) -> None:
    more = {} if kind in ("blanks around", "wide digits") else {"spellings": True}
    with unsafe(decide("distinct", "illness", least=2, groups=4, **more)):
        release(VARIANTS[kind])


def test_a_note_says_where_spellings_count_as_one() -> None:
    found = release(("HIV", "hiv", "flu"))
    assert has(found.verdict.notes, note("spellings_counted_as_one", "illness", texts=3, values=2))
    with unsafe(decide("distinct", least=3)):
        release(("HIV", "hiv", "flu"), min_distinct=3)


def test_no_note_where_every_text_is_a_value_of_its_own() -> None:
    found = release(("HIV", "Flu", "COPD"))
    assert "spellings_counted_as_one" not in rules(found.verdict.notes)


def test_accepted_spellings_are_noted() -> None:
    found = release(("HIV", "hiv"), accept="distinct")
    assert has(found.verdict.notes, note("spellings_counted_as_one", "illness", texts=2, values=1))


def test_numbers_stored_as_text_stay_compared_as_numbers() -> None:
    with pytest.raises(UnsafeRelease, match="fewer than 2 different values in 4 groups"):
        release(("5", "5.0", "05"))
    assert release(("5", "6", "7")).verdict.safe


def test_what_is_read_differently_stays_different() -> None:
    assert as_read("Krebs") != as_read("Kreis")
    assert as_read("ab") != as_read("a b")
    assert as_read("é") != as_read("e")
