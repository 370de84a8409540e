"""Texts that are the levels of a well-known scale, or bands of numbers, and their order."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

FEWEST_LEVELS = 3
"""Two levels publish the same with an order and without one."""

SCALES = tuple(
    tuple(level.strip() for level in scale.split("<"))
    for scale in (
        "none < preschool < primary < elementary < middle < lower secondary < secondary < high school"
        " < upper secondary < post-secondary < vocational < some college < college < tertiary < university"
        " < bachelor < master < doctorate < phd",
        "preschool < 1st-4th < 5th-6th < 7th-8th < 9th < 10th < 11th < 12th < hs-grad < some-college"
        " < assoc-voc < assoc-acdm < bachelors < masters < prof-school < doctorate",
        "none < very low < low < medium < moderate < middle < high < very high",
        "none < mild < moderate < severe < very severe",
        "tiny < small < medium < large < very large",
        "never < rarely < seldom < sometimes < often < usually < always",
        "strongly disagree < disagree < neutral < neither agree nor disagree < agree < strongly agree",
        "very dissatisfied < dissatisfied < neutral < satisfied < very satisfied",
        "very bad < bad < very poor < poor < fair < average < good < very good < excellent",
        "not at all < a little < somewhat < quite < very < very much",
        "keine < niedrig < gering < mittel < hoch < sehr hoch",
        "nie < selten < manchmal < oft < immer",
        "f < e < d- < d < d+ < c- < c < c+ < b- < b < b+ < a- < a < a+",
    )
)
"""From the lowest level to the highest."""

_GRADES = SCALES[-1]
_AMOUNT = r"[$€£]?\s*(\d+(?:[.,' ]\d{3})*(?:\.\d+)?)\s*([kK]?)\s*[$€£%]?\s*(?:years?|yrs?|y\.?o\.?)?"
_BAND = re.compile(rf"{_AMOUNT}\s*(?:-|–|to|bis|à|a)\s*{_AMOUNT}", re.IGNORECASE)
_BELOW = re.compile(rf"(?:<=?|≤|under|below|less than|up to|unter|bis)\s*{_AMOUNT}", re.IGNORECASE)
_ABOVE = re.compile(
    rf"(?:(?:>=?|≥|over|above|more than|from|über|ab)\s*{_AMOUNT}"
    rf"|{_AMOUNT}\s*(?:\+|and (?:over|older|above|more)|or (?:over|older|above|more)|und (?:mehr|älter)))",
    re.IGNORECASE,
)


def levels_in_order(texts: Sequence[str]) -> tuple[str, ...]:
    """Different texts from the lowest to the highest; none if no scale has them all."""
    if len(texts) < FEWEST_LEVELS:
        return ()
    plain = {text: " ".join(text.casefold().split()) for text in texts}
    for scale in SCALES:
        if all(each in scale for each in plain.values()) and _is_meant(scale, plain.values()):
            return tuple(sorted(texts, key=lambda text: scale.index(plain[text])))
    bands = {text: band for text in texts if (band := _band(text.strip()))}
    ordered = tuple(sorted(bands, key=lambda text: bands[text]))
    are_apart = all(bands[low][1] <= bands[high][0] for low, high in pairwise(ordered))
    return ordered if len(ordered) == len(texts) and are_apart else ()


def _is_meant(scale: Sequence[str], texts: Collection[str]) -> bool:
    """Letters may be the names of classes: grades have a plus or minus, or leave out E."""
    return (
        scale is not _GRADES or any(len(each) > 1 for each in texts) or ("f" in texts and "e" not in texts)
    )


def _band(text: str) -> tuple[float, float] | None:
    """Where a band of numbers begins and ends."""
    if found := _BAND.fullmatch(text):
        low, high = _without_thousands(*found.group(1, 2)), _without_thousands(*found.group(3, 4))
        return (low, high) if low < high else None
    if found := _BELOW.fullmatch(text):
        return float("-inf"), _without_thousands(*found.group(1, 2))
    if found := _ABOVE.fullmatch(text):
        own = found.group(1, 2) if found.group(1) else found.group(3, 4)
        return _without_thousands(*own), float("inf")
    return None


def _without_thousands(digits: str, thousands: str) -> float:
    return float(re.sub(r"[,' ]|\.(?=\d{3}(\D|$))", "", digits)) * (1000.0 if thousands else 1.0)
