"""The gap is (loss − bound) / bound: "at most x % above the optimum" is what is proven, on every face."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import microagg
from microagg.cli.progress_bar import _loss_so_far
from microagg.methods.run import Progress
from microagg.model import gap_above, is_optimal, nearness
from microagg.report.html_pages import _gap
from microagg.results import Result

POINTS = np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize(
    ("bound", "cost", "gap"),
    [
        (14.0, 28.0, 100.0),
        (19.6361, 20.3418, 3.5939),
        (4.0, 4.0, 0.0),
        (0.0, 0.0, 0.0),
        (4.0, 4.0 - 1e-15, 0.0),  # the cost is the bound, but for rounding
        (0.0, 3.0, None),
        (1e-320, 3.0, None),  # a percentage beyond all numbers
    ],
)
def test_gap_is_in_percent_of_the_bound(bound: float, cost: float, gap: float | None) -> None:
    assert gap_above(bound, cost) == (None if gap is None else pytest.approx(gap, rel=1e-4))


def test_what_is_said_of_a_gap() -> None:
    assert nearness(0.0) == "proven optimal"
    assert nearness(3.5939) == "at most 3.59 % above the optimum"
    assert nearness(123_456.7) == "at most 123,457 % above the optimum"
    assert "not known" in nearness(None)
    assert not is_optimal(None)


def result_with(bound: float) -> Result:
    found = microagg.partition(POINTS, k=3, method="mdav")
    return replace(found, bound=bound)


def test_gap_of_a_result_in_python() -> None:
    half = result_with(microagg.partition(POINTS, k=3, method="mdav").sse / 2)
    assert half.gap == pytest.approx(100.0)
    assert "at most 100 % above the optimum" in str(half)
    nothing = result_with(0.0)
    assert nothing.gap is None
    assert "not known" in str(nothing)


def test_gap_of_a_bound_in_python() -> None:
    found = microagg.lower_bound(POINTS, 3, seconds=600)
    assert found.gap == gap_above(found.sse, found.incumbent.sse)
    weak = replace(found, sse=found.incumbent.sse / 3)
    assert weak.gap == pytest.approx(200.0)
    assert "at most 200 % above the optimum" in str(weak)
    none = replace(found, sse=0.0)
    assert (none.gap, none.proved) == (None, False)


def test_gap_of_a_release() -> None:
    import pandas as pd

    frame = pd.DataFrame(POINTS, columns=["a", "b"])
    release = microagg.protect(frame, k=3, rest="pass", keys=["a", "b"], certify=True)
    halved = replace(release, losses=replace(release.losses, bound=release.information_loss / 2))
    assert "at most 100 % above the optimum" in str(halved)


def facts(loss: float, bound: float) -> Any:
    return SimpleNamespace(information_loss=loss, bound_loss=bound)


def test_gap_in_the_internal_report() -> None:
    assert _gap(facts(28.0, 14.0)) == "at most 100 % above the optimum"
    assert _gap(facts(14.0, 14.0)) == "proven optimal"


@pytest.mark.parametrize("bound", [14.0, 28.0, 0.0])
def test_gap_in_the_progress_bar(bound: float) -> None:
    progress = Progress("exact", 0.5, 2.0, 28.0, 10.0, bound, "")
    shown = f"loss 28 %, bound {bound:g} %, {nearness(gap_above(bound, 28.0))}, "
    assert _loss_so_far(progress).startswith(shown)
