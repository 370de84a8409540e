"""The HTML pages: facts and charts rendered by the templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from microagg import __version__
from microagg.assessment.assessment import Assessment
from microagg.model import gap_above, nearness
from microagg.report import charts, formatting
from microagg.report.charts import Chart
from microagg.report.facts import (
    FEWEST_RECORDS_FOR_A_BAND,
    ExternalFacts,
    LossBand,
    Subset,
    Values,
)
from microagg.report.summaries import correlation_matrix
from microagg.settings.declared import ACCEPTABLE

if TYPE_CHECKING:
    from microagg.engines.release import Release
    from microagg.engines.reporting import InternalFacts

MOST_COLUMNS_DRAWN = 24
"""Columns drawn; if there are more, the first ones."""
MOST_PLANES = 4
"""Charts of groups."""
MOST_TASKS = 100
"""Rows of the table of tasks."""
MOST_PARTS_SHOWN = 60
"""Rows of the table of a measure's parts."""
_SECTION = re.compile(r'(<section id="([a-z]+)".*?<h2[^>]*>(.*?)</h2>.*?</section>)', re.S)
SMALLEST_SCALE = 0.05
"""Least difference of correlations shown in full colour, so that rounding errors stay pale."""


def internal_page(facts: InternalFacts, assessment: Assessment | None = None) -> str:
    """The report for the owner of the data: confidential."""
    changed = [*facts.subsets, *([facts.noised] if facts.noised is not None else [])]
    drawn = _joined(changed)
    planes = (charts.groups(subset) for subset in facts.subsets if len(subset.columns) > 1)
    return _page(
        "internal.html",
        facts=facts,
        gap=_gap(facts.release),
        losses=_losses(facts),
        sizes=[
            charts.sizes(np.bincount(subset.groups), "groups", subset.columns)
            for subset in facts.subsets[:MOST_PLANES]
        ],
        histograms=_histograms(drawn.columns, drawn.after, drawn.before),
        columns_left=sum(len(subset.columns) for subset in changed) - len(drawn.columns),
        correlations=_correlations(drawn),
        planes=list(islice((plane for plane in planes if plane is not None), MOST_PLANES)),
        assessment=assessment,
        most_tasks=MOST_TASKS,
    )


def external_page(facts: ExternalFacts) -> str:
    """The report for recipients of the release."""
    columns, released = facts.columns[:MOST_COLUMNS_DRAWN], facts.released[:, :MOST_COLUMNS_DRAWN]
    return _page(
        "external.html",
        facts=facts,
        **_columns_outside(facts),
        bands=[band.value for band in LossBand],
        fewest_records=FEWEST_RECORDS_FOR_A_BAND,
        statistics=_statistics(facts),
        sizes=charts.sizes(facts.sizes, "combinations"),
        histograms=_histograms(columns, released, None),
        columns_left=max(len(facts.columns) - MOST_COLUMNS_DRAWN, 0),
        correlations=[charts.correlation_chart(columns, correlation_matrix(released), "as released")]
        if len(columns) > 1
        else [],
    )


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
    return _page(
        "assessment.html",
        facts=assessment,
        original=original,
        protected=protected,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        software=f"microagg {__version__}",
        analyses=list(_analyses(assessment)),
    )


def sections(page: str) -> dict[str, tuple[str, str]]:
    """The sections of a page that was made here, by their ids: title and content, for another page."""
    return {name: (title, content) for content, name, title in _SECTION.findall(page)}


def _joined(subsets: Sequence[Subset]) -> Subset:
    """All subsets as one, with the first columns if there are too many."""
    columns = tuple(column for subset in subsets for column in subset.columns)
    before = np.concatenate([subset.before for subset in subsets], axis=1)
    after = np.concatenate([subset.after for subset in subsets], axis=1)
    most = MOST_COLUMNS_DRAWN
    return Subset(columns[:most], before[:, :most], after[:, :most], subsets[0].groups)


def _histograms(
    columns: Sequence[str], after: Values, before: Values | None
) -> list[tuple[str, Chart | None]]:
    return [
        (column, charts.histogram(column, after[:, at], None if before is None else before[:, at]))
        for at, column in enumerate(columns)
    ]


def _correlations(drawn: Subset) -> list[Chart]:
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
    """Statistics of the released values of each changed column."""
    rows = []
    for column, values in zip(facts.columns, facts.released.T, strict=True):
        values = values[~np.isnan(values)]
        figures = [float(len(values)), float(len(np.unique(values)))]
        if len(values):
            with np.errstate(over="ignore"):
                figures += [float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0]
            figures += [float(values.min()), float(values.max())]
        else:
            figures += [float("nan")] * 4
        rows.append((formatting.clean(column), *(formatting.number(figure) for figure in figures)))
    return rows


def _losses(facts: InternalFacts) -> Chart:
    losses = [("this release", facts.release.information_loss)]
    if facts.mdav_loss is not None:
        losses.append(("MDAV, same data", facts.mdav_loss))
    if facts.release.bound_loss is not None:
        losses.append(("proven bound", facts.release.bound_loss))
    return charts.losses(losses)


def _gap(release: Release) -> str:
    """How close to the optimum the groups are."""
    if release.bound_loss is None:
        return "not known: no bound was proven"
    return nearness(gap_above(release.bound_loss, release.information_loss))


def _analyses(assessment: Assessment) -> Iterator[tuple[str, tuple[str, ...], list[tuple[Any, ...]], str]]:
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


def _page(template: str, **content: Any) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": formatting.number,
        "percent": formatting.percent,
        "clean": formatting.clean,
        "listed": formatting.listed,
    }
    environment.globals |= {"count": formatting.count, "most_parts": MOST_PARTS_SHOWN}
    text = environment.get_template(template).render(**content)
    # A path may hold bytes that are no letters.
    return text.encode("utf-8", "replace").decode("utf-8")
