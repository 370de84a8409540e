"""What is known before a release: what a run would work on, MDAV's loss, and what none can go below."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import datasets, read
from microagg.engines.mdav_comparison import mdav_loss
from microagg.errors import DataError, SettingsError
from microagg.plan.protection import Protection
from microagg.trials.preview import bound_loss, preview


@pytest.fixture
def frame() -> pd.DataFrame:
    found = pd.DataFrame(datasets.census_like(40, seed=3).values[:, :3], columns=["a", "b", "c"])
    found["region"] = ["north"] * 30 + ["south"] * 8 + ["west"] * 2
    return found


def words(**more: object) -> Protection:
    return Protection.of({"k": 3, "keys": [["a", "b"]], "drop": ["c"], "rest": "pass", **more})


def test_a_preview_counts_what_a_run_would_work_on(frame: pd.DataFrame) -> None:
    found = preview(read.microdata_of(frame), words(strata=["region"], small_strata="suppress"))
    assert (found.records, found.suppressed, found.strata, found.smallest, found.problems) == (
        38,
        2,
        2,
        8,
        2,
    )
    unique = frame.groupby(["region", "a", "b"]).size().eq(1).sum()
    assert f"{unique} of 40 records" in found.now


def test_a_preview_has_the_refusal_of_the_run(frame: pd.DataFrame) -> None:
    for protection, kind in (
        (words(strata=["region"]), SettingsError),
        (words(strata=["nowhere"]), DataError),
        (words(k=41), SettingsError),
    ):
        with pytest.raises(kind) as before:
            preview(read.microdata_of(frame), protection)
        with pytest.raises(kind) as run:
            microagg.protect(frame, **protection.settings)
        assert str(before.value) == str(run.value)


def test_cells_given_up_are_told(frame: pd.DataFrame) -> None:
    frame.loc[0, "a"] = None
    found = preview(read.microdata_of(frame), words(missing="by-pattern"))
    assert sum(found.given_up.values()) > 0


def test_mdav_and_bound_stand_around_the_loss_of_a_release(frame: pd.DataFrame) -> None:
    release = microagg.protect(frame, k=3, rest="pass", keys=["a", "b"], drop=["c"])
    bound = bound_loss(release.source, release.protection)
    mdav = mdav_loss(release.source, release.protection)
    assert bound is not None
    assert mdav is not None
    assert 0.0 < bound <= release.information_loss * (1 + 1e-9)
    assert release.information_loss <= mdav


def test_losses_of_mixed_keys_are_compared_as_they_are_published() -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=90).round(3),
            "s": random.choice(list("xyz"), 90),
            "t": ["u", "v", "w"] * 30,
        }
    )
    given: dict[str, Any] = {"k": 3, "keys": ["a", "s", "t"], "respondent": "none"}
    release = microagg.protect(frame, **given)
    mdav = mdav_loss(release.source, release.protection)
    assert mdav == pytest.approx(microagg.protect(frame, method="mdav-generic", **given).information_loss)
    assert release.information_loss <= mdav
