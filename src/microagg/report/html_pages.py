"""The HTML pages: facts and charts rendered by the templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg import __version__
from microagg.assessment.assessment import Assessment
from microagg.model import gap_above, nearness
from microagg.report import charts, formatting
from microagg.report.charts import Chart
from microagg.report.facts import (
    FEWEST_RECORDS_FOR_A_BAND,
    ColumnHolds,
    ExternalFacts,
    LossBand,
    Subset,
    Values,
)
from microagg.report.rendering import rendered
from microagg.report.shown_tables import TwoWayTable
from microagg.report.summaries import correlation_matrix
from microagg.settings.declared import ACCEPTABLE

if TYPE_CHECKING:
    from microagg.engines.release import Release
    from microagg.report.reporting import InternalFacts

MOST_COLUMNS_DRAWN = 24
"""Columns drawn; if there are more, the first ones."""
MOST_PLANES = 4
"""Charts of groups."""
MOST_DISTANCES = 60
"""Rows of the list of tables of two columns."""
MOST_TASKS = 100
"""Rows of the table of tasks."""
PUBLISHED = {
    "number": "",
    "date": "the mean date of the group",
    "ordinal": "the median level of the group",
    "nominal": "the most frequent category of the group",
}
"""What a group publishes by the kind of the column; numbers as the settings say."""
CHOSEN = {
    "margins": "a category of the group, chosen so that categories stay as frequent as they were",
    "tables": "a category of the group, chosen so that tables of two columns are kept",
    "existing": "the nearest combination of categories that the original data have",
}
"""What a group publishes instead of its most frequent category or median level."""
_SECTION = re.compile(r'(<section id="([a-z]+)".*?<h2[^>]*>(.*?)</h2>.*?</section>)', re.S)
SMALLEST_SCALE = 0.05
"""Least difference of correlations shown in full colour, so that rounding errors stay pale."""


def internal_page(facts: InternalFacts, assessment: Assessment | None = None) -> str:
    """The report for the owner of the data: confidential."""
    changed = [*facts.subsets, *([facts.noised] if facts.noised is not None else [])]
    drawn = _joint_subset(changed)
    planes = (charts.groups(subset.numeric()) for subset in facts.subsets)
    return rendered(
        "internal.html",
        facts=facts,
        gap=_gap(facts.release),
        losses=_loss_chart(facts),
        sizes=[
            charts.sizes(np.bincount(subset.groups), "groups", subset.columns)
            for subset in facts.subsets[:MOST_PLANES]
        ],
        column_losses=_column_losses(facts.release),
        foreign_cells=_foreign_cells(changed),
        published=published(facts.release.protection.categories),
        not_in_tables=_not_in_tables(facts),
        two_way=[(each, *_with_sums(each)) for each in facts.tables.shown] if facts.tables else [],
        most_distances=MOST_DISTANCES,
        histograms=_histograms(drawn.columns, drawn.holds, drawn.after, drawn.before),
        columns_left=sum(len(subset.columns) for subset in changed) - len(drawn.columns),
        correlations=_correlation_charts(drawn.numeric()),
        planes=list(islice((plane for plane in planes if plane is not None), MOST_PLANES)),
        assessment=assessment,
        most_tasks=MOST_TASKS,
    )


def external_page(facts: ExternalFacts) -> str:
    """The report for recipients of the release."""
    columns, released = facts.columns[:MOST_COLUMNS_DRAWN], facts.released[:, :MOST_COLUMNS_DRAWN]
    numeric = [at for at, _ in enumerate(columns) if facts.holds[at].kind != "nominal"]
    by_kind = _by_kind(facts)
    return rendered(
        "external.html",
        facts=facts,
        **_columns_outside(facts),
        published=published(facts.policies.categories),
        by_kind=by_kind,
        not_in_tables=[*by_kind["number"], *by_kind["date"]],
        bands=[band.value for band in LossBand],
        fewest_records=FEWEST_RECORDS_FOR_A_BAND,
        statistics=_statistics(facts),
        sizes=charts.sizes(facts.sizes, "combinations"),
        categories=_lines_of_categories(facts),
        histograms=_histograms(columns, facts.holds, released, None),
        columns_left=max(len(facts.columns) - MOST_COLUMNS_DRAWN, 0),
        correlations=[
            charts.correlation_chart(
                [columns[at] for at in numeric], correlation_matrix(released[:, numeric]), "as released"
            )
        ]
        if len(numeric) > 1
        else [],
    )


def published(categories: str) -> dict[str, str]:
    """What a group publishes by the kind of the column; numbers near means are a kind of their own."""
    near = {"near": "a number near the mean of the group, chosen so that tables of two columns are kept"}
    chosen = dict.fromkeys(("ordinal", "nominal"), CHOSEN[categories]) if categories in CHOSEN else {}
    return {**PUBLISHED, **near, **chosen}


def _by_kind(facts: ExternalFacts) -> dict[str, list[str]]:
    """Changed columns by the kind of what a group publishes."""
    kinds = {name: each.kind for name, each in zip(facts.columns, facts.holds, strict=True)}
    done = facts.policies
    if done.categories == "tables" and done.aggregate == "mean":
        for names in (*done.subsets, *done.own_subsets):
            if any(kinds[name] in ("nominal", "ordinal") for name in names):
                kinds |= {name: "near" for name in names if kinds[name] == "number"}
    return {kind: [name for name in kinds if kinds[name] == kind] for kind in (*PUBLISHED, "near")}


def _not_in_tables(facts: InternalFacts) -> list[str]:
    """Masked columns that do not follow tables: dates, and numbers that publish their own middle."""
    near = facts.release.verdict.changes.near_means
    return [
        name
        for subset in facts.subsets
        for name, holds in zip(subset.columns, subset.holds, strict=True)
        if holds.kind in ("number", "date") and name not in near
    ]


def _columns_outside(facts: ExternalFacts) -> dict[str, list[str]]:
    """Columns that sentences of the external page name."""
    done = facts.policies
    keys = [*done.strata, *(column for subset in done.subsets for column in subset)]
    own = [column for subset in done.own_subsets for column in subset]
    treated = {*keys, *own, *done.noised, done.weight}
    accepted = [*own, *done.noised] if "distinct" in done.accepted_rules else []
    return {
        "keys": keys,
        "accepted": [text for rule, text in ACCEPTABLE.items() if rule in done.accepted_rules],
        "unchanged": [column for column in done.columns if column not in treated],
        "unclaimed": [column for column in done.columns if column not in keys],
        # Groups may be of one original value, which the release does not show.
        "accepted_unseen": [column for column in accepted if column not in facts.homogeneous],
        "varied": [
            column
            for column in done.confidential
            if column not in (*done.noised, *facts.homogeneous, *accepted)
        ],
    }


def assessment_page(assessment: Assessment, original: str, protected: str) -> str:
    """The report on a protected file from any program, with the names of both files: confidential."""
    return rendered(
        "assessment.html",
        facts=assessment,
        original=original,
        protected=protected,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        software=f"microagg {__version__}",
        analyses=list(_tables_of_analyses(assessment)),
    )


def sections(page: str) -> dict[str, tuple[str, str]]:
    """The sections of a page that was made here, by their ids: title and content, for another page."""
    return {name: (title, content) for content, name, title in _SECTION.findall(page)}


def _joint_subset(subsets: Sequence[Subset]) -> Subset:
    """All subsets as one, with the first columns if there are too many."""
    columns = tuple(column for subset in subsets for column in subset.columns)
    before = np.concatenate([subset.before for subset in subsets], axis=1)
    after = np.concatenate([subset.after for subset in subsets], axis=1)
    holds = tuple(each for subset in subsets for each in subset.holds)
    most = MOST_COLUMNS_DRAWN
    return Subset(columns[:most], before[:, :most], after[:, :most], subsets[0].groups, holds[:most])


def _histograms(
    columns: Sequence[str], holds: Sequence[ColumnHolds], after: Values, before: Values | None
) -> list[tuple[str, Chart | None]]:
    return [
        (
            column,
            charts.distribution(column, holds[at], after[:, at], None if before is None else before[:, at]),
        )
        for at, column in enumerate(columns)
    ]


def _column_losses(release: Release) -> list[tuple[str, ...]]:
    """The loss of each column and its parts, where some hold categories."""
    return [
        (
            formatting.clean(name),
            f"{each.percent:.2f} %",
            "–" if each.changed_share is None else f"{100 * each.changed_share:.2f} %",
            "–" if each.mean_level_change is None else formatting.number(each.mean_level_change, 3),
        )
        for name, each in release.losses.columns.items()
    ]


def _foreign_cells(subsets: Sequence[Subset]) -> float | None:
    """The percentage of released cells of categories that are not those of the source; None without any."""
    cells = [
        (subset.before[:, at], subset.after[:, at])
        for subset in subsets
        for at, holds in enumerate(subset.holds)
        if holds.levels
    ]
    if not cells:
        return None
    return 100.0 * float(np.mean([np.mean(before != after) for before, after in cells]))


def _with_sums(table: TwoWayTable) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the rows of a table of two columns, with counts before and after."""
    sides, number = [], formatting.number
    for side in (table.before, table.after):
        side = np.concatenate([side, side.sum(axis=0, keepdims=True)])
        sides.append(np.concatenate([side, side.sum(axis=1, keepdims=True)], axis=1).round(1))
    rows = [
        (
            formatting.clean(name),
            *(f"{number(one)} → {number(two)}" for one, two in zip(*both, strict=True)),
        )
        for name, *both in zip((*table.rows, "all"), *sides, strict=True)
    ]
    return tuple(map(formatting.clean, (table.row_column, *table.columns, "all"))), rows


def _correlation_charts(drawn: Subset) -> list[Chart]:
    """Correlations before, after, and the difference, of the same records."""
    if len(drawn.columns) < 2:
        return []
    complete = drawn.complete()
    before, after = correlation_matrix(complete.before), correlation_matrix(complete.after)
    change = after - before
    largest = float(np.nanmax(np.abs(change), initial=0.0))
    return [
        charts.correlation_chart(drawn.columns, before, "before"),
        charts.correlation_chart(drawn.columns, after, "after"),
        charts.correlation_chart(
            drawn.columns, change, "difference, after less before", max(largest, SMALLEST_SCALE)
        ),
    ]


def _statistics(facts: ExternalFacts) -> list[tuple[str, ...]]:
    """Statistics of the released values of each changed column of numbers or dates."""
    rows = []
    for column, holds, values in zip(facts.columns, facts.holds, facts.released.T, strict=True):
        if holds.levels:
            continue
        values = values[~np.isnan(values)]
        figures = [float(len(values)), float(len(np.unique(values)))]
        shown = [formatting.number(figure) for figure in figures]
        if len(values):
            with np.errstate(over="ignore"):
                mean, deviation = (
                    float(values.mean()),
                    float(values.std(ddof=1)) if len(values) > 1 else 0.0,
                )
            ends = mean, float(values.min()), float(values.max())
            if holds.kind == "date":
                day = charts.SECONDS_OF_A_DAY
                texts, spread = (
                    [formatting.day_text(each / day) for each in ends],
                    f"{deviation / day:.0f} days",
                )
            else:
                texts, spread = [formatting.number(each) for each in ends], formatting.number(deviation)
            shown += [texts[0], spread, *texts[1:]]
        else:
            shown += ["–"] * 4
        rows.append((formatting.clean(column), *shown))
    return rows


def _lines_of_categories(facts: ExternalFacts) -> list[tuple[str, ...]]:
    """Of each changed column of categories: its values, and the most frequent one."""
    rows = []
    for column, holds, values in zip(facts.columns, facts.holds, facts.released.T, strict=True):
        counts = np.bincount(values[~np.isnan(values)].astype(np.int64)) if holds.levels else np.zeros(0)
        if counts.sum():
            shown = [formatting.number(float(each)) for each in (counts.sum(), np.count_nonzero(counts))]
            share = formatting.percent(round(100.0 * float(counts.max() / counts.sum()), 1))
            top = formatting.clean(holds.levels[int(counts.argmax())])
            rows.append((formatting.clean(column), top, *shown, share))
    return rows


def _loss_chart(facts: InternalFacts) -> Chart:
    losses = [("this release", facts.release.information_loss)]
    if facts.mdav_loss is not None:
        losses.append((f"{facts.baseline}, same data", facts.mdav_loss))
    if facts.release.bound_loss is not None:
        losses.append(("proven bound", facts.release.bound_loss))
    return charts.losses(losses)


def _gap(release: Release) -> str:
    """How close to the optimum the groups are."""
    if release.bound_loss is None:
        return "not known: no bound was proven"
    return nearness(gap_above(release.bound_loss, release.information_loss))


def _tables_of_analyses(
    assessment: Assessment,
) -> Iterator[tuple[str, tuple[str, ...], list[tuple[Any, ...]], str]]:
    """Models and indicators that were named, before and after: title, header, rows and note."""
    for model in assessment.models:
        left_out = f", {model.left_out} left out" if model.left_out else ""
        yield (
            str(model.model),
            ("coefficient", "before", "error", "after", "error", "overlap"),
            [
                (each.name, each.before, each.error_before, each.after, each.error_after, each.overlap)
                for each in model.coefficients
            ],
            f"Mean overlap of the 95 % confidence intervals {model.overlap:.3g} (1 is the best), R² "
            f"{model.explained_before:.3g} before and {model.explained_after:.3g} after, "
            f"{model.records} records{left_out}.",
        )
    for indicator in assessment.indicators:
        change = indicator.mean_change
        yield (
            str(indicator.indicator),
            ("group", "records", "before", "after", "change in percent"),
            [
                (each.label, float(each.records), each.before, each.after, each.relative)
                for each in indicator.groups
            ],
            "" if change is None else f"Mean absolute change {change:.3g} %.",
        )
