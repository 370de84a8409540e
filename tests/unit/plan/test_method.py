"""Settings are checked before any data are: each message says what was found and what is needed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from microagg.errors import SettingsError
from microagg.methods.fixed_size import Mdav
from microagg.methods.paths import PathCut
from microagg.methods.recipe import MethodPlan
from microagg.methods.stage import Chain, chain
from microagg.plan.method import check_against_data, method_plan

DEFAULTS: dict[str, Any] = {
    "scale": "zscore",
    "effort": "balanced",
    "seconds": None,
    "seed": 0,
    "threads": None,
}


def settle(k: object = 3, method: object = "mdav-mhm", **changes: object) -> MethodPlan:
    return method_plan(k, method, **{**DEFAULTS, **changes})


def test_defaults_make_a_plan() -> None:
    settled = settle()
    assert (settled.k, settled.recipe, settled.scale) == (3, "mdav-mhm", "zscore")
    assert settled.stage == chain(Mdav(), PathCut())
    assert (settled.seconds, settled.seed, settled.threads) == (None, 0, None)


def test_a_plan_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        settle().k = 2  # type: ignore[misc]


@pytest.mark.parametrize("k", [2, 3, np.int64(5), np.uint8(7), 10**30])
def test_k_may_be_any_whole_number(k: object) -> None:
    assert settle(k).k == k
    assert type(settle(k).k) is int


@pytest.mark.parametrize(
    ("k", "says"),
    [(k, (f"k is {k};", "at least 2")) for k in (1, 0, -3)]
    + [
        (k, ("k is of type", kind, "whole number"))
        for k, kind in [
            (2.0, "float"),
            (np.float64(3), "float"),
            (float("nan"), "float"),
            ("3", "str"),
            (None, "None"),
            (True, "bool"),
            ([3], "list"),
            (Decimal(3), "Decimal"),
        ]
    ],
)
def test_bad_k(k: object, says: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError) as caught:
        settle(k)
    for part in says:
        assert part in str(caught.value)


def test_k_against_the_number_of_records() -> None:
    check_against_data(settle(3), 3)
    with pytest.raises(SettingsError, match=r"k is 3, .* 2 records"):
        check_against_data(settle(3), 2)


def test_a_single_record_is_not_told_to_use_k_1() -> None:
    with pytest.raises(SettingsError, match="1 record") as caught:
        check_against_data(settle(3), 1)
    assert "at most 1 " not in str(caught.value)


@pytest.mark.parametrize("scale", ["zscore", "range", "robust", "rank", "none"])
def test_scales(scale: str) -> None:
    assert settle(scale=scale).scale == scale


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("scale", "zscores", ("'zscores'", "did you mean zscore?", "range, robust, rank, none")),
        ("scale", "standard", ("'standard'", "zscore")),
        ("scale", None, ("None", "zscore")),
        ("scale", ["zscore"], ("zscore",)),
        ("scale", np.array(["zscore", "none"]), ("zscore",)),
        ("effort", "bst", ("'bst'", "did you mean best?", "fast, balanced, best")),
        ("effort", 3, ("3", "fast, balanced, best")),
        ("seconds", 0, ("seconds", "0", "above 0")),
        ("seconds", -1.5, ("seconds", "-1.5", "above 0")),
        ("seconds", float("nan"), ("seconds", "nan", "above 0")),
        ("seconds", float("inf"), ("seconds", "inf")),
        ("seconds", "5", ("seconds", "str", "above 0")),
        ("seconds", True, ("seconds", "bool", "above 0")),
        ("seed", -1, ("seed", "-1", "whole number")),
        ("seed", 1.0, ("seed", "float", "whole number")),
        ("threads", 0, ("threads", "0", "at least 1")),
        ("threads", 1.5, ("threads", "1.5", "whole number")),
    ],
    ids=str,
)
def test_bad_settings_say_what_was_found(setting: str, value: object, says: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError) as caught:
        settle(**{setting: value})
    message = str(caught.value)
    for part in says:
        # A value may be shown as it is or by its kind.
        assert part in message or str(value) in message.replace("'", "")


def test_a_seed_that_is_not_given_is_zero() -> None:
    assert settle(seed=None).seed == 0


@pytest.mark.parametrize("seconds", [1, 0.5, np.float64(2), np.float32(2), np.int64(2)])
def test_seconds_may_be_any_number(seconds: object) -> None:
    assert settle(seconds=seconds).seconds == seconds


@pytest.mark.parametrize(
    ("method", "setting", "value", "says"),
    [
        ("mdav", "seconds", 3, ("seconds", "no effect", "mdav", "Leave it out")),
        ("univariate", "seconds", 3, ("seconds", "no effect", "univariate")),
        ("npn-mhm", "seconds", 3, ("seconds", "no effect", "npn-mhm")),
        ("mdav-mhm", "effort", "best", ("effort", "best", "no effect", "mdav-mhm")),
        ("mdav", "effort", "fast", ("effort", "fast", "no effect")),
    ],
)
def test_an_option_without_effect_is_refused(
    method: str, setting: str, value: object, says: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as caught:
        settle(method=method, **{setting: value})
    for part in says:
        assert part in str(caught.value)


def test_seconds_limit_a_proof_whatever_the_method() -> None:
    assert settle(method="mdav", seconds=3, certify=True).seconds == 3


def test_a_stage_may_be_the_method() -> None:
    settled = settle(method=Mdav("2k"))
    assert settled.stage == Mdav("2k")
    assert settled.recipe == "Mdav(stop='2k', leftovers='each', first='farthest')"


def test_a_recipe_makes_a_chain() -> None:
    settled = settle(method="cbfs+mhm")
    assert isinstance(settled.stage, Chain)
    assert settled.recipe == "cbfs+mhm"


def test_seeds_beyond_64_bits_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"below 2\*\*64"):
        settle(seed=2**64)
