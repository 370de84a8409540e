"""Every measure of an original and a protected file, made by microagg or by another tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from microagg import errors, verdict, wording
from microagg.arrow_values import from_numbers, from_numpy
from microagg.assessment.assessment import Assessment
from microagg.assessment.key_values import Kinds, key_values, keys_of_original
from microagg.assessment.matching import (
    ORIGINAL,
    PROTECTED,
    Agreement,
    agreement,
    comparable_values,
    joint_codes,
    rows_matched,
)
from microagg.columns import numbers_or_none
from microagg.measure import MEASURES
from microagg.measure.descriptions import Measure
from microagg.measure.deviations import il
from microagg.measure.explain import measure_named
from microagg.measure.models import (
    FEWEST,
    IndicatorComparison,
    ModelComparison,
    compare_indicator,
    compare_models,
    parse_indicator,
    parse_model,
)
from microagg.measure.pair import MeasureResult, Pair
from microagg.measure.shared_values import as_codes
from microagg.methods.run import Progress, Watcher
from microagg.model import Doubles, Microdata, Whole, positions_of
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.prepare.prepared import weights_of
from microagg.prepare.strata import strata_of
from microagg.verdict import note, refuse
from microagg.verify.classes import Classes, codes_of

if TYPE_CHECKING:
    from microagg.engines.release import Release


def check_measures(plan: AssessmentPlan) -> None:
    """`SettingsError` for names that no measure has, and for what is no model or indicator."""
    for name in plan.measures:
        measure_named(name, MEASURES)
    for text in plan.models:
        parse_model(text)
    for text in plan.indicators:
        parse_indicator(text)


def assess(
    original: Microdata,
    protected: Microdata,
    plan: AssessmentPlan,
    rows: Whole | None = None,
    progress: Watcher | None = None,
    known: tuple[Mapping[str, Doubles], Kinds] | None = None,
) -> Assessment:
    """Every measure of the plan on the records that both files have.

    `rows`: for each protected record its row of the original, where that is known; else records are
    matched by the plan. `known`: keys and weight of the original as numbers, and what they stand for, where
    that was prepared already. `progress` is
    called before each measure; when it returns True, `Cancelled` is raised. `DataError` for files that do
    not belong together.
    """
    check_measures(plan)
    chosen = {name: each for name, each in MEASURES.items() if name in (plan.measures or MEASURES)}
    _check_columns(original, protected, plan)
    by_order = rows is None and plan.id is None
    rows = rows_matched(original, protected, plan.id) if rows is None else rows
    if len(rows) < 2:
        raise wording.one_record()
    named = {*plan.keys, *([plan.id] if plan.id else [])}
    shared = [name for name in protected.table.column_names if name in original.table.column_names]
    agreed = agreement(original, protected, rows, [name for name in shared if name not in named], by_order)
    numbers, kinds = known or keys_of_original(original, plan)
    if plan.weight is not None and plan.weight not in numbers:
        numbers = {**numbers, plan.weight: weights_of(original, plan.weight)}
    pair = pair_of(original, protected, plan, rows, agreed, numbers, kinds)
    models, indicators = _models_and_indicators(original, plan, pair, rows, agreed)
    failures, notes = _verdict(pair, plan)
    notes += _notes_on_comparison(original, protected, plan, pair, agreed, by_order)
    return Assessment(
        findings=_findings(pair, chosen, progress),
        described=chosen,
        records=pair.n,
        suppressed=original.table.num_rows - pair.n,
        subsets=plan.subsets,
        failures=tuple(failures),
        notes=tuple(notes),
        models=models,
        indicators=indicators,
        chosen=bool(plan.measures),
    )


def _findings(
    pair: Pair, measures: Mapping[str, Measure], progress: Watcher | None
) -> dict[str, MeasureResult]:
    started = monotonic()
    found: dict[str, MeasureResult] = {}
    for name, measure in measures.items():
        done = len(found) / len(measures)
        if progress is not None and progress(Progress(name, done, monotonic() - started)) is True:
            raise errors.Cancelled("The assessment was cancelled.")
        found[name] = measure.compute(pair)
    return found


def assess_release(release: Release, measures: Sequence[str] = ()) -> Assessment:
    """A release beside its source, with the roles that it was made with."""
    plan = AssessmentPlan.of({"measures": measures or None}, release.protection.settings)
    known = release.prepared.numbers, release.prepared.kinds
    return assess(release.source, release.verified.microdata, plan, release.rows, known=known)


def pair_of(
    original: Microdata,
    protected: Microdata,
    plan: AssessmentPlan,
    rows: Whole,
    agreed: Agreement,
    numbers: Mapping[str, Doubles],
    kinds: Kinds,
) -> Pair:
    """What every measure is given: the records of both files side by side.

    A stratum column whose codes have changed is measured as a key of every subset.
    """
    keys = key_values(protected, plan, numbers, kinds)
    joint = {
        column: _joint_codes(original, protected, column, rows)
        for column in (*plan.strata, *plan.confidential)
        if column in agreed.differing
    }
    recoded = [column for column in plan.strata if column in joint]
    columns = (*plan.keys, *recoded)
    before, after = (
        np.stack([*own, *(joint[column][side] for column in recoded)], axis=1).astype(np.float64)
        for side, own in enumerate(
            ([each.before[rows] for each in keys.values()], [each.after for each in keys.values()])
        )
    )
    for column, old, new in zip(columns, before.T, after.T, strict=True):
        for which, values in ((ORIGINAL, old), (PROTECTED, new)):
            if np.isnan(values).all():
                raise wording.all_missing(column, which)
        if (np.isnan(old) | np.isnan(new)).all():
            raise wording.no_common_values(column)
    kept = tuple(column for column in plan.strata if column not in joint)
    strata = strata_of(protected.table, kept, 1, "refuse").of
    weights = None if plan.weight is None else numbers[plan.weight][rows]
    place = {column: at for at, column in enumerate(columns)}
    return Pair(
        columns=columns,
        original=before,
        masked=after,
        subsets=tuple(tuple(place[column] for column in (*subset, *recoded)) for subset in plan.subsets),
        groups=_classes(after, strata, range(len(columns))).labels,
        strata=strata,
        weights=weights,
        confidential={column: _places_of_values(original, column)[rows] for column in plan.confidential},
        numbers=_untouched(original, plan, rows, agreed),
        k=plan.k,
        kinds=dict.fromkeys(recoded, "nominal")
        | {name: each.kind for name, each in keys.items() if each.kind != "number"},
        yes_no=frozenset(name for name, each in keys.items() if each.is_yes_no),
        paths={name: each.paths for name, each in keys.items() if each.paths is not None},
        importance=plan.importance,
        changed_confidential={column: joint[column] for column in plan.confidential if column in joint},
        changed_numbers=_changed_numbers(original, protected, plan, rows, agreed),
    )


def _joint_codes(
    original: Microdata, protected: Microdata, column: str, rows: Whole
) -> tuple[Whole, Whole]:
    *_, (before, after) = comparable_values(original, protected, column)
    return joint_codes(before.take(from_numpy(rows)), after)


def _check_columns(original: Microdata, protected: Microdata, plan: AssessmentPlan) -> None:
    """Every column that is named is in the original and, but for the weight, in the protected file."""
    roles = dict(plan.columns_by_role())
    try:
        positions_of(list(roles), original.table.column_names)
    except errors.DataError as error:
        raise wording.in_file(ORIGINAL, original.origin.name, error) from None
    known = protected.table.column_names
    for role in dict.fromkeys(roles.values()):
        absent = [column for column, own in roles.items() if own == role and column not in known]
        if absent and role != "weight":
            raise wording.not_in_protected(absent, known, role)


def _classes(values: Doubles, strata: Whole, columns: Sequence[int]) -> Classes:
    """Records that share their stratum and the values of these columns; a missing value is a value."""

    codes = (codes_of(from_numbers(values[:, at] + 0.0)) for at in columns)  # -0.0 is 0.0
    return Classes.whole(len(strata)).refined([codes_of(from_numpy(strata)), *codes])


def _places_of_values(microdata: Microdata, column: str) -> Whole:
    """The place of each value among the sorted distinct ones; missing ones come last."""
    numbers = _as_numbers(microdata, column)
    if numbers is None:
        return strata_of(microdata.table, (column,), 1, "refuse").of
    return as_codes(numbers)


def _as_numbers(microdata: Microdata, column: str) -> Doubles | None:
    return numbers_or_none(microdata.table.column(column), microdata.origin.decimal)


def _untouched(
    original: Microdata, plan: AssessmentPlan, rows: Whole, agreed: Agreement
) -> dict[str, Doubles]:
    """Numeric columns that are released as they were; strata count as keys already."""
    found = {}
    for column in agreed.same:
        numbers = None if column in plan.strata else _as_numbers(original, column)
        if numbers is not None and np.isfinite(numbers).any():
            found[column] = np.where(np.isfinite(numbers), numbers, np.nan)[rows]
    return found


def _changed_numbers(
    original: Microdata, protected: Microdata, plan: AssessmentPlan, rows: Whole, agreed: Agreement
) -> dict[str, tuple[Doubles, Doubles]]:
    """Confidential columns that hold numbers and are not released as they were, before and after."""
    found = {}
    for column in (each for each in plan.confidential if each in agreed.differing):
        before, after = _as_numbers(original, column), _as_numbers(protected, column)
        if before is not None and after is not None:
            found[column] = before[rows], after
    return found


def _models_and_indicators(
    original: Microdata, plan: AssessmentPlan, pair: Pair, rows: Whole, agreed: Agreement
) -> tuple[tuple[ModelComparison, ...], tuple[IndicatorComparison, ...]]:
    """What the user named, before and after: on keys and on numeric columns that were not touched."""
    strata = {name: _as_numbers(original, name) for name in plan.strata if name in agreed.same}
    numbers = {name: values[rows] for name, values in strata.items() if values is not None}
    everything = replace(pair, numbers={**pair.numbers, **numbers})
    others = [
        name
        for name in original.table.column_names
        if name not in everything.numbers and (name not in pair.columns or name in pair.kinds)
    ]
    models = tuple(compare_models(everything, text, not_numeric=others) for text in plan.models)
    indicators = []
    for text in plan.indicators:
        indicator = parse_indicator(text)
        groups, labels = {}, {}
        for name in agreed.same:
            if name == indicator.by or name in plan.strata:
                groups[name] = _places_of_values(original, name)[rows]
        if indicator.by in groups:
            labels = _labels_of_groups(original, indicator.by, rows, groups[indicator.by], plan)
        indicators.append(
            compare_indicator(everything, indicator, groups, labels=labels, not_numeric=others)
        )
    return models, tuple(indicators)


def _labels_of_groups(
    original: Microdata, column: str, rows: Whole, codes: Whole, plan: AssessmentPlan
) -> dict[str, list[str]]:
    """What the groups of a column are called: its values, if each is that of several records."""
    sizes = np.bincount(codes)
    if sizes[sizes > 0].min() < max(plan.k or 0, FEWEST):
        return {}
    some = np.zeros(len(sizes), dtype=np.int64)
    some[codes] = rows
    values = original.table.column(column).take(from_numpy(some)).to_pylist()
    return {column: ["missing" if value is None else str(value) for value in values]}


def _verdict(pair: Pair, plan: AssessmentPlan) -> tuple[list[verdict.Finding], list[verdict.Finding]]:
    """What forbids a release, and what is only to be known."""
    same = pair.same
    failures = []
    notes = [
        note("key_unchanged", column)
        for column, unchanged in zip(pair.columns, np.all(same, axis=0).tolist(), strict=True)
        if unchanged
    ]
    if plan.k is not None:
        for columns, places in zip(plan.subsets, pair.subsets, strict=True):
            named = (*plan.strata, *columns)
            count = _classes(pair.masked, pair.strata, places).counted(named, plan.k)
            if count.below:
                failures.append(
                    refuse(
                        "k_not_reached",
                        *named,
                        k=plan.k,
                        below=count.below,
                        smallest=count.smallest,
                    )
                )
        sizes = np.bincount(pair.groups)
        joint = int(sizes[sizes < plan.k].sum())
        if joint and not failures:
            notes.append(note("k_not_joint", k=plan.k, below=joint))
    if same.all() and (failures or plan.k is None):  # otherwise each combination was frequent enough before
        return [refuse("not_protected", *plan.keys, records=pair.n)], []
    return failures, notes


def _notes_on_comparison(
    original: Microdata,
    protected: Microdata,
    plan: AssessmentPlan,
    pair: Pair,
    agreed: Agreement,
    by_order: bool,
) -> list[verdict.Finding]:
    notes = []
    lost = original.table.num_rows - pair.n
    if lost:
        notes.append(note("records_not_protected", records=lost, of=original.table.num_rows))
    losses = il(replace(pair, weights=None)).parts.values() if by_order else ()
    # Masked records are farther from their originals than the originals from their mean.
    if losses and np.mean(list(losses)) > 100.0 * (1.0 + 1e-9):
        notes.append(note("far_apart"))
    filled = (np.isnan(pair.original) & ~np.isnan(pair.masked)).sum(axis=0)
    notes += [
        note("gaps_filled", column, records=int(count))
        for column, count in zip(pair.columns, filled, strict=True)
        if count
    ]
    notes += [
        note("other_column_differs", column, records=count)
        for column, count in agreed.differing.items()
        if column not in plan.strata
    ]
    if plan.weight is not None and plan.weight not in protected.table.column_names:
        notes.append(note("weight_of_original", plan.weight))
    if plan.id is not None:
        notes.append(note("id_released", plan.id))
    return notes
