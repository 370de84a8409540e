"""What settles a refusal: settings, roles and kinds that a button can give."""

from __future__ import annotations

from typing import Any

import pytest

from microagg import wording
from microagg.settings.cures import cures_of
from microagg.verdict import decide, unsafe_release

CLEARED_RESOLUTION = {"settings": {"resolution": ""}}
CASES: list[tuple[Exception, dict[str, Any], list[dict[str, Any]]]] = [
    (
        wording.covariances_without_numbers(),
        {"aggregate": "covariances"},
        [{"settings": {"aggregate": "mean"}}],
    ),
    (wording.bad_number("noise", -1.0, "above 0"), {}, [{"settings": {"noise": ""}}]),
    (wording.bad_number("importance of age", -1.0, "above 0"), {}, [{"settings": {"importance": ""}}]),
    (wording.bad_number("k", 2.5, "whole"), {}, [{"settings": {"k": 3}}]),
    (wording.not_for_kind("resolution", "age", "number"), {}, [CLEARED_RESOLUTION]),
    (wording.finer_than_source("day", "hour", "day"), {}, [CLEARED_RESOLUTION]),
    (
        wording.unknown_columns(["nowhere"], ["age"]),
        {"respondent": "nowhere", "importance": {"nowhere": 2.0}, "amounts": ["age"], "k": 3},
        [{"settings": {"respondent": ""}}, {"settings": {"importance": ""}}],
    ),
    (wording.two_weights(["a", "b"]), {}, [{"roles": {"a": "drop"}}, {"roles": {"b": "drop"}}]),
    (wording.bad_weights("a", "missing", 1), {}, [{"roles": {"a": "drop"}}]),
    (wording.dates_ambiguous("day"), {}, [{"kinds": {"day": "nominal"}}]),
    (wording.as_many_categories_as_records("name", 9), {}, [{"roles": {"name": "drop"}}]),
    (
        wording.levels_not_given("school", 4),
        {},
        [{"kinds": {"school": "nominal"}}, {"roles": {"school": "drop"}}],
    ),
    (wording.levels_missing("school", 1, 4), {}, [{"kinds": {"school": "nominal"}}]),
    (unsafe_release([decide("pairs")]), {}, [{"settings": {"k": 3}}, {"settings": {"accept": "pairs"}}]),
]


@pytest.mark.parametrize(("refusal", "given", "cures"), CASES)
def test_a_refusal_is_settled(
    refusal: Exception, given: dict[str, Any], cures: list[dict[str, Any]]
) -> None:
    found = cures_of(refusal, given)
    assert all(each.pop("label") for each in found)
    assert found == cures
