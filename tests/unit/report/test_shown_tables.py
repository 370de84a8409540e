"""Tables of two columns in the internal report: counts, sums of what is not shown, and their distances."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import Release
from microagg.report import reporting
from microagg.report.facts import ColumnHolds
from microagg.report.shown_tables import MOST_COLUMNS, MOST_ROWS, ShownAttribute, shown_two_way_tables


def categories(name: str, before: list[float], after: list[float], levels: int) -> ShownAttribute:
    holds = ColumnHolds("nominal", tuple(f"level {at}" for at in range(levels)))
    return ShownAttribute(name, np.array(before), np.array(after), holds)


def test_counts_and_distance_of_a_small_table() -> None:
    one = categories("a", [0, 0, 1, 1], [0, 0, 0, 1], 2)
    two = categories("b", [0, 1, 0, 1], [0, 1, 0, 1], 2)
    found = shown_two_way_tables([one, two], None)
    assert found is not None
    assert found.distances == (("a", "b", 25.0),)
    (table,) = found.shown
    assert table.before.tolist() == [[1, 1], [1, 1]]
    assert table.after.tolist() == [[2, 1], [0, 1]]
    assert table.distance == table.shown_distance == found.mean == 25.0
    weighted = shown_two_way_tables([one, two], np.array([1.0, 1.0, 6.0, 2.0]))
    assert weighted is not None
    assert weighted.mean == pytest.approx(60.0)
    assert weighted.shown[0].before.sum() == 10.0


def test_tables_fit_a_page_and_have_every_record() -> None:
    rng, n = np.random.default_rng(1), 2000
    towns = rng.zipf(1.6, n).clip(1, 40) - 1.0
    jobs = rng.integers(0, 20, n).astype(float)
    ages = rng.integers(0, 90, n).astype(float)
    ages[:7] = np.nan
    attributes = [
        categories("town", towns.tolist(), np.roll(towns, 1).tolist(), 40),
        categories("job", jobs.tolist(), jobs.tolist(), 20),
        ShownAttribute("age", ages, np.roll(ages, 1), ColumnHolds()),
    ]
    found = shown_two_way_tables(attributes, None)
    assert found is not None
    assert len(found.distances) == len(found.shown) == 3
    assert [each[2] for each in found.distances] == sorted(
        (each[2] for each in found.distances), reverse=True
    )
    for table in found.shown:
        assert table.before.shape == table.after.shape == (len(table.rows), len(table.columns))
        assert len(table.rows) <= MOST_ROWS
        assert len(table.columns) <= MOST_COLUMNS
        assert table.before.sum() == table.after.sum() == n
        assert table.shown_distance <= table.distance + 1e-9
        if "age" in (table.row_column, table.column_column):
            names = table.rows if table.row_column == "age" else table.columns
            assert names[-1] == "missing"
        assert "others" in (*table.rows, *table.columns)


def test_numbers_alone_have_no_tables() -> None:
    numbers = [ShownAttribute(name, np.arange(9.0), np.arange(9.0), ColumnHolds()) for name in "ab"]
    assert shown_two_way_tables(numbers, None) is None
    assert shown_two_way_tables([categories("a", [0, 1], [0, 1], 2)], None) is None


def released(categories: str) -> Release:
    rng, n = np.random.default_rng(2), 300
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "region": rng.choice(["north", "south", "east"], n),
            "level": rng.choice(["low", "middle", "high"], n),
            "sick": rng.choice(["yes", "no"], n),
        }
    )
    return microagg.protect(
        frame, k=5, keys=["age", "region", "level"], ordinal={"level": ["low", "middle", "high"]},
        confidential=["sick"], accept="distinct", categories=categories, effort="fast",
    )  # fmt: skip


@pytest.mark.parametrize("how", ["mode", "margins", "tables", "existing"])
def test_the_report_has_the_distance_of_the_verdict_and_says_what_may_be_relied_on(how: str) -> None:
    release = released(how)
    facts = reporting.internal_facts(release, mdav=1.0)
    assert facts.tables is not None
    assert len(facts.tables.distances) == 6
    changes = release.verdict.category_changes
    assert changes is not None
    if changes.two_way is not None:
        assert facts.tables.mean == pytest.approx(100.0 * changes.two_way)
    assert release.verdict.changes.near_means == (("age",) if how == "tables" else ())
    assert 'id="tables"' in reporting.internal_page(facts)


def test_each_way_of_choosing_categories_is_told_outside_without_the_source() -> None:
    """The page follows from release and settings; it differs by the setting."""
    pages = {how: released(how).external_report() for how in ("mode", "margins", "tables", "existing")}
    assert len(set(pages.values())) == len(pages)
