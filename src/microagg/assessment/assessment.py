"""What an assessment has found, as people and as programs read it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from microagg import verdict, wording
from microagg.assessment import notebook
from microagg.measure.descriptions import Measure
from microagg.measure.models import IndicatorComparison, ModelComparison
from microagg.measure.pair import MeasureResult

WIDTH = 100
"""Letters in a line of sentences."""

PARTS_SHOWN = 40
"""More parts of a measure, as pairs of many columns are, are not shown."""


@dataclass(frozen=True, slots=True, repr=False)
class Assessment:
    """What the measures found, by name, the most important ones first.

    `described`: the measures themselves; `failures`: what forbids a release, in sentences; `notes`: what a
    reader must know beside the numbers; `suppressed`: records of the original that are not released;
    `models`, `indicators`: the analyses that were named; `chosen`: whether measures were chosen by name.
    """

    findings: Mapping[str, MeasureResult]
    described: Mapping[str, Measure]
    records: int
    suppressed: int
    subsets: tuple[tuple[str, ...], ...]
    failures: tuple[verdict.Finding, ...] = ()
    notes: tuple[verdict.Finding, ...] = ()
    models: tuple[ModelComparison, ...] = ()
    indicators: tuple[IndicatorComparison, ...] = ()
    chosen: bool = False

    def raise_if_unsafe(self) -> None:
        """`UnsafeRelease` with all failures, if there are any."""
        if self.failures:
            raise verdict.unsafe_file(self.failures)

    def as_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """For JSON: {"measures": {name: {"value", "unit", "sentence", "parts", "note"}}}.

        Sentence, parts and note are there if there are any; a value that is not defined is None. Models and
        indicators stand there too, with their mean overlap and mean absolute change as values.
        """
        measures: dict[str, dict[str, Any]] = {}
        for name, found in self.findings.items():
            measure = self.described[name]
            entry: dict[str, Any] = {"value": _finite(found.value), "unit": measure.unit}
            if measure.first is not None and math.isfinite(found.value):
                entry["sentence"] = " ".join(measure.said(found))
            if found.parts:
                entry["parts"] = {part: _finite(value) for part, value in found.parts.items()}
            if found.note:
                entry["note"] = found.note
            measures[name] = entry
        measures |= {f"model: {each.model}": _model_entry(each) for each in self.models}
        measures |= {f"indicator: {each.indicator}": _indicator_entry(each) for each in self.indicators}
        return {"measures": measures}

    def of_kind(self, kind: str) -> list[str]:
        """The names of measures of utility or of risk."""
        return [name for name in self.findings if self.described[name].kind == kind]

    @property
    def most_important(self) -> list[str]:
        """The names of measures that are shown before all others."""
        return [name for name in self.findings if self.described[name].first is not None]

    def table(self, details: bool = False, every: bool = False) -> str:
        """As people read it: failures, the most important measures in sentences, analyses, notes.

        With `every`, or where measures were chosen by name, the others follow, those of utility and of risk
        apart. With details each has its parts.
        """
        lines = [*map(str, self.failures), self._heading]
        first = self.most_important
        lines += self._sentences(first, details)
        others = [name for name in self.findings if name not in first] if every or self.chosen else []
        lines += self._others(others, details)
        for model in self.models:
            lines += ["", *_model_table(model)]
        for indicator in self.indicators:
            lines += ["", *_indicator_table(indicator)]
        lines += ["", *(f"note: {note}" for note in self.notes)] if self.notes else []
        return wording.visible_lines("\n".join(lines))

    @property
    def _heading(self) -> str:
        keys = " | ".join(", ".join(map(wording.visible, subset)) for subset in self.subsets)
        return f"{self.records:,} records, keys: {keys}"

    def _sentences(self, names: Sequence[str], details: bool) -> list[str]:
        """Each value with the rest of its sentence beside it, and the name of the measure."""
        said = {name: self.described[name].said(self.findings[name]) for name in names}
        wide = max((len(value) for value, _ in said.values()), default=0)
        lines = [""] if said else []
        for name, (value, rest) in said.items():
            first, after = f"  {value:>{wide}}  ", " " * (wide + 4)
            text = f"{rest.removesuffix('.')} ({name})"
            lines += textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=after)
            if details:
                lines += [f"{after}{line}" for line in aligned(list(self._parts(name)), left=(0, 2))]
        return lines

    def _others(self, names: Sequence[str], details: bool) -> list[str]:
        rows: list[tuple[str, ...]] = []
        for kind in ("utility", "risk"):
            own = [name for name in self.of_kind(kind) if name in names]
            rows += [("",), (kind, "value", "higher means")] if own else []
            for name in own:
                found, measure = self.findings[name], self.described[name]
                is_missing = not math.isfinite(found.value) and found.note
                remark = f"({found.note})" if is_missing else measure.higher
                if found.allowed is not None and not details:
                    remark += f" (group size alone: {measure.shown(found.allowed)})"
                rows.append((f"{name}: {measure.title}", measure.shown(found.value), remark))
                rows += self._parts(name) if details else ()
        return aligned(rows, left=(0, 2))

    def _parts(self, name: str) -> Iterator[tuple[str, ...]]:
        """The parts of a measure, and its note unless that stands in place of a value."""
        found, measure = self.findings[name], self.described[name]
        for part in list(found.parts)[:PARTS_SHOWN]:
            yield f"  {part}", measure.shown_part(found, part), ""
        if len(found.parts) > PARTS_SHOWN:
            yield (f"  … and {len(found.parts) - PARTS_SHOWN} more (--json has all)",)
        if found.note and math.isfinite(found.value):
            yield (f"  {found.note}",)

    def __str__(self) -> str:
        left = 0 if self.chosen else len(self.findings) - len(self.most_important)
        return self.table() + (f"\n\n{wording.more_measures(left)}" if left else "")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks: the most important measures in sentences, the others folded."""
        parts = [notebook.paragraph(failure, "Do not release:") for failure in self.failures]
        parts.append(notebook.paragraph(self._heading))
        said = ((*self.described[name].said(self.findings[name]), name) for name in self.most_important)
        parts.append(notebook.table(("", "", ""), said, left=(1, 2)))
        others = [
            (name, each.title, each.shown(self.findings[name].value), each.higher)
            for name, each in self.described.items()
            if each.first is None
        ]
        head = ("measure", "", "value", "higher means")
        others_shown = notebook.table(head, others, left=(0, 1, 3)) if others else ""
        parts.append(notebook.folded("All measures", others_shown))
        return "".join([*parts, notebook.items(self.notes)])


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Rows as lines of text: numbers to the right, the columns `left` to the left; what stands alone in its
    row takes no width.
    """
    rows = [[wording.visible(cell) for cell in row] for row in rows]
    wide = [max(map(len, column)) for column in zip(*(row for row in rows if len(row) > 1), strict=True)]
    return [
        "  ".join(
            f"{cell:<{wide[at]}}" if at in left else f"{cell:>{wide[at]}}" for at, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]


def _model_entry(found: ModelComparison) -> dict[str, Any]:
    return {
        "value": _finite(found.overlap),
        "unit": "",
        "records": found.records,
        "r2_before": _finite(found.explained_before),
        "r2_after": _finite(found.explained_after),
        "coefficients": [_finite_entry(asdict(each)) for each in found.coefficients],
    }


def _indicator_entry(found: IndicatorComparison) -> dict[str, Any]:
    return {
        "value": None if found.mean_change is None else _finite(found.mean_change),
        "unit": "%",
        "hidden": found.hidden,
        "groups": [_finite_entry(asdict(each)) for each in found.groups],
    }


def _finite_entry(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: _finite(value) if isinstance(value, float) else value for name, value in entry.items()}


def _model_table(found: ModelComparison) -> list[str]:
    left_out = f", {found.left_out} left out" if found.left_out else ""
    title = (
        f"model {found.model}: overlap {found.overlap:.4g}, R² {found.explained_before:.4g} before, "
        f"{found.explained_after:.4g} after, {found.records} records{left_out}"
    )
    rows: list[tuple[str, ...]] = [("", "before", "error", "after", "error", "overlap")]
    rows += [
        (f"  {each.name}", *(f"{value:.4g}" for value in (
            each.before, each.error_before, each.after, each.error_after, each.overlap
        )))
        for each in found.coefficients
    ]  # fmt: skip
    return [title, *aligned(rows)]


def _indicator_table(found: IndicatorComparison) -> list[str]:
    change = "" if found.mean_change is None else f": mean absolute change {found.mean_change:.4g} %"
    rows: list[tuple[str, ...]] = [("", "records", "before", "after", "change %")]
    for each in found.groups:
        cells = (each.before, each.after, each.relative)
        shown = ("–" if value is None else f"{value:.6g}" for value in cells)
        rows.append((f"  {each.label}", str(each.records), *shown))
    lines = [f"indicator {found.indicator}{change}", *aligned(rows)]
    return lines + ([wording.note_hidden_groups(found.hidden, found.fewest)] if found.hidden else [])
