"""Random calls of `protect`, recounted by a program that shares nothing with microagg."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from microagg import protect
from microagg.errors import DataError, SettingsError, UnsafeRelease
from tests.campaigns import SAMPLE
from tests.recount.random_calls import RandomCall
from tests.recount.recounting import read_cells, violations


def outcome(seed: int, folder: Path) -> str:
    """ "released" or "refused"; fails where a release breaks a promise."""
    call = RandomCall(seed)
    path, output = folder / f"{seed}.csv", folder / f"{seed}-protected{call.output}"
    call.write(path)
    try:
        release = protect(path, **call.arguments())
        release.save(output, record=folder / f"{seed}-internal")
    except (UnsafeRelease, DataError, SettingsError):
        assert not output.exists(), seed
        return "refused"
    found = violations(read_cells(path), read_cells(output), release.rows.tolist(), call.settings)
    assert not found, (seed, found)
    return "released"


def recount(seeds: range, folder: Path) -> None:
    counts = Counter(outcome(seed, folder) for seed in seeds)
    assert counts["released"] > len(seeds) // 4, counts


def test_120_random_releases_keep_their_promises(tmp_path: Path) -> None:
    recount(range(120), tmp_path)


@pytest.mark.long
def test_10000_random_releases_keep_their_promises(tmp_path: Path) -> None:
    recount(range(120, 1_000 if SAMPLE else 10_000), tmp_path)
