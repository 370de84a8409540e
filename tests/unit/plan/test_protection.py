"""Settings of `protect`, checked by themselves."""

from __future__ import annotations

import re

import pytest

from microagg.errors import SettingsError
from microagg.plan.protection import Protection

KEYS = ["a", "b"]


def of(**words: object) -> Protection:
    return Protection.of({"k": 3, "keys": KEYS, **words})


def test_one_list_is_one_subset_and_lists_are_several() -> None:
    assert of().subsets == (("a", "b"),)
    assert of(keys="a").subsets == (("a",),)
    several = of(keys=[["a"], ["b", "c"]], each=["d", "e"])
    assert several.subsets == (("a",), ("b", "c"), ("d",), ("e",))


def test_confidential_columns_may_be_kept_masked_or_noised() -> None:
    assert of(confidential="c").changed == ("a", "b")
    masked = of(confidential=["c", "d"], confidential_as="subset")
    assert masked.own_subsets == (("c", "d"),)
    assert masked.changed == ("a", "b", "c", "d")
    assert of(confidential="c", confidential_as="noise").noised == ("c",)


def test_settings_are_what_was_given_and_is_not_the_default() -> None:
    given = {"k": 3, "keys": [["a", "b"]], "seed": 7, "keep_order": True, "missing_codes": {"a": [9, 99]}}
    usual = {"effort": "balanced", "missing": "refuse", "retry": False, "min_distinct": 2, "weight": None}
    settings = Protection.of(given | usual).settings
    assert settings == given
    assert Protection.of(settings).settings == settings


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"k": None}, "k is not given"),
        ({"allow_pairs": True}, 'use accept="pairs"'),
        ({"accept": ["pair"]}, "must be one of respondents, derived"),
        ({"accept": ["distinct="]}, "RULE=COLUMN"),
        ({"amounts": ["c"]}, "cannot be one of the amounts"),
        ({"p_percent": 20}, "only if amounts are named"),
        ({"k": True}, "whole number"),
        ({"keys": []}, "at least one column"),
        ({"keys": None}, "No column is named to be masked"),
        ({"keys": ["a", ["b"]]}, "either a list of column names or a list of such lists"),
        ({"keys": 5}, "a list of column names"),
        ({"keys": ["a", "a"]}, "'a' is named twice in keys"),
        ({"each": ["b"]}, "'b' is named in keys and in each"),
        ({"strata": ["a"]}, "'a' is named in keys and in strata"),
        ({"weight": "a"}, "'a' is named in keys and in weight"),
        ({"weight": ["w"]}, "the name of one column"),
        ({"drop": "x", "pass": "x"}, "'x' is named in drop and in pass"),
        ({"small_strata": "nearest"}, "only if strata are named"),
        ({"small_strata": "skip", "strata": "s"}, "must be one of refuse, nearest, suppress"),
        ({"small_strata": "merge", "strata": "s"}, "no choice 'merge' any more. Use 'nearest'"),
        ({"missing": "drop"}, "must be one of refuse, by-pattern"),
        ({"missing_codes": {"x": [9]}}, "no effect on column 'x', which has no role"),
        ({"missing_codes": {"a": [True]}}, "missing_codes of a must be a list of finite numbers or texts"),
        ({"missing_codes": {"a": [""]}}, "missing_codes of a must be a list of finite numbers or texts"),
        ({"missing_codes": {"a": [float("nan")]}}, "finite"),
        ({"missing_codes": [9]}, "a table with names of columns"),
        ({"decimals": {"s": 2}, "strata": "s"}, "which has the role strata"),
        ({"decimals": {"a": -1}}, "at least 0"),
        ({"decimals": {"a": 16}}, "at most 15"),
        ({"aggregate": "median", "weight": "w"}, 'no effect on aggregate="median"'),
        ({"aggregate": "mode"}, "must be one of mean, median"),
        ({"accept": ["real-values"]}, "only if aggregate is median"),
        ({"confidential_as": "noise"}, "only if confidential columns are named"),
        ({"confidential": "c", "noise": 0.2}, "only if confidential_as is noise"),
        ({"confidential": "c", "confidential_as": "noise", "noise": 0}, "at least 0.01, such as 0.1"),
        ({"confidential": "c", "confidential_as": "noise", "noise": 0.001}, "hardly change"),
        ({"min_distinct": 3}, "only if confidential columns are named"),
        ({"confidential": "c", "min_distinct": 1}, "at least 2"),
        ({"retry": True}, "only if confidential columns or a weight are named"),
        ({"confidential": "c", "retry": True, "accept": ["distinct"]}, "Keep one"),
        ({"accept": ["distinct"]}, "only if confidential columns are named"),
        ({"accept": ["partial"]}, "only if there are several subsets"),
        ({"accept": ["pairs"]}, "only if k is 2"),
        ({"keep_order": "yes"}, "true or false"),
        ({"certify": 1}, "true or false"),
        ({"effort": "slow"}, "must be one of fast, balanced, best"),
        ({"method": "mdav", "effort": "best"}, "no effect on mdav"),
        ({"smal_strata": "nearest"}, "did you mean small_strata"),
    ],
)
def test_what_cannot_be_or_has_no_effect_is_refused(words: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        of(**words)


def test_pairs_and_partial_releases_can_be_accepted() -> None:
    assert of(k=2, accept="pairs").k == 2
    assert of(keys=[["a"], ["b"]], accept="partial").accepts("partial")
