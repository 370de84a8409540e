"""What would settle a refusal, as buttons: the options that its message proposes, and some that follow from
its figures.
"""

from __future__ import annotations

from typing import Any

from microagg import wording
from microagg.model import FILE_OPTIONS
from microagg.plan.settings import PLAN_OPTIONS
from microagg.web.labels import label

MOST_SHEETS = 8


def cures_of(error: BaseException) -> list[dict[str, Any]]:
    """Each has a `label`, and the `settings`, the roles of columns (`roles`) or the description of the file
    (`file`) that it gives; `suggested`: it takes the suggested roles.
    """
    message = wording.message_of(error)
    found: list[dict[str, Any]] = []
    for option, value in wording.options_in(message):
        if option in FILE_OPTIONS:
            found.append({"label": f"Read it with {label(option, value)}", "file": {option: value}})
        elif option in PLAN_OPTIONS and PLAN_OPTIONS[option].form:
            found.append({"label": label(option, value), "settings": {option: value}})
    found += _by_figures(message.kind, message.figures)
    for finding in getattr(error, "findings", ()):
        found += _by_figures(finding.rule, {**finding.figures, "columns": finding.columns})
    return list({str(cure): cure for cure in found}.values())


def _by_figures(kind: str, figures: Any) -> list[dict[str, Any]]:
    if kind in ("several_sheets", "no_such_sheet", "hidden_sheets"):
        sheets = [*figures.get("visible", ()), *figures.get("sheets", ())][:MOST_SHEETS]
        return [{"label": f"Read the sheet {sheet}", "file": {"sheet": sheet}} for sheet in sheets]
    if kind == "needs_role":
        return [{"label": "Leave them out", "roles": dict.fromkeys(figures["columns"], "drop")}]
    if kind == "dominant_weights":
        column = figures["columns"][0]
        return [{"label": f"Leave out {column}", "roles": {column: "drop"}}]
    if kind == "k_above_n" and figures["n"] >= 3:
        return [_k(min(3, figures["n"]))]
    if kind in ("pairs", "k_too_small", "k_not_integer", "option_missing"):
        return [_k(3)]
    if kind == "homogeneous_groups":
        column = figures["columns"][0]
        return [{"label": f"Mask {column} as a key", "roles": {column: "keys 1"}}]
    if kind == "no_keys":
        return [{"label": "Take the suggested roles", "suggested": True}]
    return []


def _k(size: int) -> dict[str, Any]:
    return {"label": f"k = {size}", "settings": {"k": size}}
