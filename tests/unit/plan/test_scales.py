"""Texts that have an order."""

from __future__ import annotations

import pytest

from microagg.plan.scales import SCALES, levels_in_order


@pytest.mark.parametrize(
    "ordered",
    [
        ("primary", "secondary", "tertiary"),
        ("Low", "Medium", "High"),
        ("never", "sometimes", "often", "always"),
        ("Strongly disagree", "Disagree", "Agree", "Strongly agree"),
        ("18-24", "25-34", "35-64", "65+"),
        ("under 18", "18 to 64", "65 and over"),
        ("less than $10,000", "$10,000-$19,999", "$20,000 or more"),
        ("<10K", "10K-50K", ">50K"),
        ("F", "D", "C", "B", "A"),
        ("C-", "C", "C+"),
        ("HS-grad", "Bachelors", "Doctorate"),
    ],
)
def test_levels(ordered: tuple[str, ...]) -> None:
    assert levels_in_order(sorted(ordered, reverse=True)) == ordered
    assert levels_in_order(sorted(ordered)) == ordered


@pytest.mark.parametrize(
    "texts",
    [
        ("low", "high"),
        ("A", "B", "C"),
        ("north", "south", "west"),
        ("low", "medium", "high", "blue"),
        ("18-24", "20-30", "31-40"),
        ("2001-05", "2001-06", "2001-07"),
        ("1-2", "3-4", "other"),
    ],
)
def test_texts_without_an_order_that_is_known(texts: tuple[str, ...]) -> None:
    assert levels_in_order(texts) == ()


def test_no_scale_has_a_level_twice() -> None:
    for scale in SCALES:
        assert len(set(scale)) == len(scale), scale
