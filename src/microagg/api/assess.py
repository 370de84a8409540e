"""`assess()` and `compare()`: what a protected file loses and risks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from microagg import read, wording
from microagg.api.sources import microdata_from
from microagg.assessment import assessing
from microagg.assessment.assessment import Assessment
from microagg.engines import comparing
from microagg.engines.comparing import Comparison
from microagg.formats import without_effect
from microagg.methods.run import Progress
from microagg.model import LAYOUT_OPTIONS, CsvFormat, Effort, Layout, Microdata, ScaleName
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.plan.file_format import file_options
from microagg.plan.strategies import strategies_of
from microagg.read.files import STANDARD_INPUT
from microagg.settings.declared import (
    LAYOUT_OF_TWO_FILES,
    CompareSettings,
    MeasureSettings,
    Missing,
    SmallStrata,
    Zeros,
    options_of_command,
)
from microagg.settings.options import (
    by_option_name,
    check,
    documented,
    options_of,
    refuse_without_effect,
    take,
)

Columns = str | Sequence[str]


@documented(options_of_command("assess"))
def assess(
    original: object,
    protected: object,
    *,
    keys: Columns | Sequence[Columns] | None = None,
    each: Columns | None = None,
    strata: Columns | None = None,
    confidential: Columns | None = None,
    weight: str | None = None,
    id: str | None = None,  # noqa: A002 (the option's name)
    k: int | None = None,
    missing_codes: Mapping[str, Sequence[float | str]] | None = None,
    model: Columns | None = None,
    indicator: Columns | None = None,
    measures: Columns | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: str | Sequence[str | None] | None = None,
    sheet: str | Sequence[str | None] | None = None,
    header_row: int | Sequence[int | None] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Assessment:
    """What a protected file or data frame loses and risks, whichever tool has made it.

    original, protected: paths, or data frames of any kind that narwhals knows. Roles of columns are as they
        were, or would be, for `protect`. With an `id` the protected file may lack records. A pair of
        `header`, `sheet` or `header_row` is for the original and for the protected file, each by itself.
    progress: called before each measure; when it returns True, `Cancelled` is raised.

    Raises SettingsError or DataError for what cannot be used. A file that must not be released, such as one
    that equals the original, has `failures`; `raise_if_unsafe()` makes them an UnsafeRelease.
    """
    given = by_option_name(locals())
    for other in ("original", "protected", "progress"):
        given.pop(other, None)
    layout = check(LAYOUT_OF_TWO_FILES, {name: given.pop(name) for name in LAYOUT_OPTIONS if name in given})
    csv_format, _ = file_options(given)
    plan = AssessmentPlan.of(given)
    assessing.check_measures(plan)
    _check_callable(progress)
    before, after = _both(original, protected, csv_format, layout, progress)
    return assessing.assess(before, after, plan, progress=progress)


@documented(options_of_command("compare"))
def compare(
    data: object,
    k: int | Sequence[int] = (3, 5, 10),
    methods: str | Sequence[str] = ("mdav", "auto"),
    *,
    keys: Columns | Sequence[Columns] | None = None,
    subsets: str | Sequence[str | Sequence[Columns]] | None = None,
    strata: Columns | None = None,
    confidential: Columns | None = None,
    weight: str | None = None,
    small_strata: SmallStrata | None = None,
    missing: Missing | None = None,
    missing_codes: Mapping[str, Sequence[float | str]] | None = None,
    zeros: Zeros | None = None,
    allow_pairs: bool | None = None,
    scale: ScaleName | None = None,
    effort: Effort | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    max_risk: float = 0.1,
    measures: Columns | None = None,
    record: str | Path | None = None,
    again: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Comparison:
    """Try strategies on the same data and compare what each loses and risks. Nothing is released.

    data: a path, or a data frame of any kind that narwhals knows.
    k, methods, subsets: one or several; all are tried with each other. The risk is that of
        `linkage_distance`; if no strategy is within `max_risk`, the one with the least risk is recommended.
        The same call goes on where another was interrupted.
    progress: called about twenty times a second; when it returns True, `Cancelled` is raised.

    The result's `frame` has one row for each strategy, in the kind of frame that was given.
    """
    given = by_option_name(locals())
    for other in ("data", "progress"):
        given.pop(other, None)
    csv_format, layout = file_options(given)
    others = take(MeasureSettings, given).measures
    own = take(CompareSettings, given)
    strategies = strategies_of(own.k, own.methods, own.subsets, given)
    refuse_without_effect(options_of(CompareSettings), own)
    _check_callable(progress)
    comparing.check_measures(others)
    return comparing.compare(
        microdata_from(data, csv_format, layout, progress),
        strategies,
        max_risk=own.max_risk,
        measures=others,
        journal=None if own.record is None else comparing.journal_in(Path(own.record)),
        again=own.again,
        threads=threads,
        progress=progress,
    )


def _check_callable(progress: object) -> None:
    if progress is not None and not callable(progress):
        raise wording.not_callable("progress", type(progress).__name__)


def _both(
    original: object,
    protected: object,
    csv_format: CsvFormat,
    layout: Mapping[str, object],
    progress: Callable[[Progress], object] | None,
) -> tuple[Microdata, Microdata]:
    """Both files; options of files are for those of the two on which they act."""
    sources = [Path(data) if isinstance(data, str | Path) else data for data in (original, protected)]
    if all(isinstance(source, Path) and source == STANDARD_INPUT for source in sources):
        raise wording.one_standard_input()
    kinds = [read.origin_of(source).format if isinstance(source, Path) else "frame" for source in sources]
    formats = [csv_format if kind == "CSV" else CsvFormat() for kind in kinds]
    if csv_format.given() and not any(each.given() for each in formats):
        raise wording.no_csv_at_all(csv_format.given())
    first, second = _layouts(layout, kinds)
    return (
        microdata_from(sources[0], formats[0], first, progress),
        microdata_from(sources[1], formats[1], second, progress),
    )


def _layouts(layout: Mapping[str, object], kinds: Sequence[str]) -> list[Layout]:
    """One for each file: a pair has what is given for each by itself."""
    of_file: list[dict[str, Any]] = [{}, {}]
    for name, value in layout.items():
        if isinstance(value, list):
            of_file[0][name], of_file[1][name] = value
        elif value is not None:
            given: dict[str, Any] = {name: value}
            acts = [not without_effect(Layout(**given), kind) for kind in kinds]
            if not any(acts):
                raise wording.no_effect_on_either(name)
            for own, takes in zip(of_file, acts, strict=True):
                own.update(given if takes else {})
    return [Layout(**own) for own in of_file]
