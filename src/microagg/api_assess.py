"""The Python face of what is judged, not made: `assess()`, `compare()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from microagg import errors, read
from microagg.engines import assessing
from microagg.engines.assessing import Assessment
from microagg.model import CsvFormat, Microdata
from microagg.plan.assessment import AssessmentPlan
from microagg.read.files import STANDARD_INPUT

Columns = str | Sequence[str]


def assess(
    original: object,
    protected: object,
    *,
    keys: Columns | Sequence[Columns] | None = None,
    each: Columns | None = None,
    strata: Columns | None = None,
    confidential: Columns | None = None,
    weight: str | None = None,
    id: str | None = None,  # noqa: A002 (the word for it)
    k: int | None = None,
    missing_codes: Mapping[str, Sequence[float]] | None = None,
    model: Columns | None = None,
    indicator: Columns | None = None,
    measures: Columns | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Assessment:
    """What a protected file or data frame loses and risks, whichever tool has made it.

    original, protected: paths, or data frames of any kind that narwhals knows.
    keys, each, strata, confidential, weight, missing_codes: as they were, or would be, for `protect`.
    id: a column of both by which records are matched; without it they are matched by their order. With it
        the protected file may lack records.
    k: what was promised; it is counted again.
    model: analyses to be compared, such as "income ~ age + size"; indicator: figures to be compared, such
        as "mean income by region". One or several.
    measures: names, see `microagg explain` (default: all).
    delimiter, encoding, decimal: of CSV files, where they are not found rightly.

    Raises SettingsError or DataError for what cannot be used. A file that must not be released, such as one
    that equals the original, has `failures`; `raise_if_unsafe()` makes them an UnsafeRelease.
    """
    words = {word: value for word, value in locals().items() if value is not None}
    for other in ("original", "protected", "delimiter", "encoding", "decimal"):
        words.pop(other, None)
    plan = AssessmentPlan.of(words)
    assessing.check_measures(plan)
    before, after = _both(original, protected, CsvFormat(delimiter, encoding, decimal))
    return assessing.assess(before, after, plan)


def _both(original: object, protected: object, csv_format: CsvFormat) -> tuple[Microdata, Microdata]:
    """What is said about CSV files is said about those of the two that are CSV files."""
    sources = [Path(data) if isinstance(data, str | Path) else data for data in (original, protected)]
    if all(isinstance(source, Path) and source == STANDARD_INPUT for source in sources):
        raise errors.one_standard_input()
    formats = [csv_format if _is_csv(source) else CsvFormat() for source in sources]
    if csv_format.given() and not any(each.given() for each in formats):
        raise errors.no_csv_at_all(csv_format.given())
    before, after = (microdata_from(*pair) for pair in zip(sources, formats, strict=True))
    return before, after


def _is_csv(source: object) -> bool:
    return isinstance(source, Path) and read.origin_of(source).format == "CSV"


def microdata_from(data: object, csv_format: CsvFormat) -> Microdata:
    """All columns of a file or a data frame."""
    if isinstance(data, str | Path):
        return read.microdata_from_file(Path(data), csv_format)
    if csv_format.given():
        raise errors.not_csv("what was given", "data frame", csv_format.given())
    return read.microdata_of(data)
