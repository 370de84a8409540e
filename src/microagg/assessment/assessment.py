"""What an assessment has found, as people and as programs read it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from microagg import verdict, wording
from microagg.measure.catalogue import Measure
from microagg.measure.models import IndicatorComparison, ModelComparison
from microagg.measure.pair import Finding

ONE_IN_K = "1 / k"
"""A part that is always shown beside the value: what perfect groups of k would have."""

PARTS_SHOWN = 40
"""More parts of a measure, as pairs of many columns are, are not shown."""


@dataclass(frozen=True, slots=True, repr=False)
class Assessment:
    """What the measures found, by name, in the order of the catalogue.

    `described`: the measures themselves; `failures`: what forbids a release, in sentences; `notes`: what a
    reader must know beside the numbers; `suppressed`: records of the original that are not released;
    `models`, `indicators`: the analyses that were named.
    """

    findings: Mapping[str, Finding]
    described: Mapping[str, Measure]
    records: int
    suppressed: int
    subsets: tuple[tuple[str, ...], ...]
    failures: tuple[verdict.Finding, ...] = ()
    notes: tuple[verdict.Finding, ...] = ()
    models: tuple[ModelComparison, ...] = ()
    indicators: tuple[IndicatorComparison, ...] = ()

    def raise_if_unsafe(self) -> None:
        """`UnsafeRelease` with all failures, if there are any."""
        if self.failures:
            raise verdict.unsafe_file(self.failures)

    def as_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """For JSON: {"measures": {name: {"value", "unit", "parts", "note"}}}.

        Parts and note are there if there are any; a value that is not defined is None. Models and
        indicators stand there too, with their mean overlap and mean absolute change as values.
        """
        measures: dict[str, dict[str, Any]] = {}
        for name, found in self.findings.items():
            entry: dict[str, Any] = {"value": _finite(found.value), "unit": self.described[name].unit}
            if found.parts:
                entry["parts"] = {part: _finite(value) for part, value in found.parts.items()}
            if found.note:
                entry["note"] = found.note
            measures[name] = entry
        measures |= {f"model: {each.model}": _model_entry(each) for each in self.models}
        measures |= {f"indicator: {each.indicator}": _indicator_entry(each) for each in self.indicators}
        return {"measures": measures}

    def table(self, details: bool = False) -> str:
        """As people read it: failures, utility, risk, notes; with details the parts of each measure too."""
        keys = " | ".join(", ".join(map(wording.visible, subset)) for subset in self.subsets)
        lines = [*map(str, self.failures), f"{self.records} records, keys: {keys}"]
        rows: list[tuple[str, ...]] = []
        for kind in ("utility", "risk"):
            own = list(self._rows(kind, details))
            rows += [("",), (kind, "value", "higher means"), *own] if own else []
        lines += aligned(rows, left=(0, 2))
        for model in self.models:
            lines += ["", *_model_table(model)]
        for indicator in self.indicators:
            lines += ["", *_indicator_table(indicator)]
        lines += ["", *(f"note: {note}" for note in self.notes)] if self.notes else []
        return wording.visible_lines("\n".join(lines))

    def _rows(self, kind: str, details: bool) -> Iterator[tuple[str, ...]]:
        for name, found in self.findings.items():
            measure = self.described[name]
            if measure.kind != kind:
                continue
            missing = not math.isfinite(found.value) and found.note
            remark = f"({found.note})" if missing else measure.higher
            if ONE_IN_K in found.parts and not details:
                remark += f" ({ONE_IN_K}: {found.parts[ONE_IN_K]:.4g})"
            yield f"{name}: {measure.title}", _shown(found.value, measure.unit), remark
            if details:
                for part, value in list(found.parts.items())[:PARTS_SHOWN]:
                    yield f"  {part}", _shown(value, measure.unit), ""
                if len(found.parts) > PARTS_SHOWN:
                    yield (f"  … and {len(found.parts) - PARTS_SHOWN} more (--json has all)",)
                if found.note and not missing:
                    yield (f"  {found.note}",)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _shown(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:.4g}{f' {unit}' if unit else ''}"


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
        "coefficients": [_plain(asdict(each)) for each in found.coefficients],
    }


def _indicator_entry(found: IndicatorComparison) -> dict[str, Any]:
    return {
        "value": None if found.mean_change is None else _finite(found.mean_change),
        "unit": "%",
        "hidden": found.hidden,
        "groups": [_plain(asdict(each)) for each in found.groups],
    }


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
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
