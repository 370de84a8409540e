"""What would settle a refusal, as buttons: the options that its message proposes, and some that follow from
its figures.
"""

from __future__ import annotations

from typing import Any

from microagg import wording
from microagg.formats import FORMAT_OF
from microagg.settings.declared import FILE_OPTIONS, PLAN_OPTIONS, control_of

MOST_SHEETS = 8


def cures_of(error: BaseException) -> list[dict[str, Any]]:
    """Each has a `label`, and the `settings`, the roles of columns (`roles`) or the description of the file
    (`file`) that it gives; `ending`: it reads the file as one of another format; `suggested`: it takes the
    suggested roles.
    """
    message = wording.message_of(error)
    found: list[dict[str, Any]] = []
    for option, value in wording.options_in(message):
        if option in FILE_OPTIONS:
            found.append({"label": f"Read it with “{control_of(option, value)}”", "file": {option: value}})
        elif option in PLAN_OPTIONS and PLAN_OPTIONS[option].form:
            found.append({"label": control_of(option, value), "settings": {option: value}})
    found += _by_figures(message.kind, message.figures)
    for finding in getattr(error, "findings", ()):
        found += _by_figures(finding.rule, {**finding.figures, "columns": finding.columns})
    return list({str({**cure, "label": None}): cure for cure in found}.values())


def _by_figures(kind: str, figures: Any) -> list[dict[str, Any]]:
    if kind in ("several_sheets", "no_such_sheet", "hidden_sheets"):
        sheets = [*figures.get("visible", ()), *figures.get("sheets", ())][:MOST_SHEETS]
        return [{"label": f"Read the sheet {sheet}", "file": {"sheet": sheet}} for sheet in sheets]
    if kind == "other_content" and figures["endings"]:
        ending = figures["endings"][0]
        return [{"label": f"Read it as {FORMAT_OF[ending]}", "ending": ending}]
    if kind in ("needs_role", "columns_without_role"):
        return [{"label": "Leave them out", "roles": dict.fromkeys(figures["columns"], "drop")}]
    if kind == "derived" or (kind == "dominated" and "percent" not in figures):
        column = figures["others"][-1] if kind == "derived" else figures["columns"][0]
        return [{"label": f"Leave out {column}", "roles": {column: "drop"}}]
    if kind == "k_above_n" and figures["n"] >= 3:
        return [_with_k(min(3, figures["n"]))]
    if kind == "strata_too_small" and figures["smallest"] >= 3:
        return [_with_k(figures["smallest"])]
    if kind in ("pairs", "k_too_small", "k_not_integer", "option_missing"):
        return [_with_k(3)]
    if kind == "bad_value" and figures["option"] in PLAN_OPTIONS and PLAN_OPTIONS[figures["option"]].form:
        option = figures["option"]
        cleared = {"label": f"Clear “{control_of(option, None)}”", "settings": {option: ""}}
        return [_with_k(3) if option == "k" else cleared]
    if "method" in figures or kind in ("unknown_method", "initial_after_start"):
        return [{"label": str(control_of("method", "auto")), "settings": {"method": "auto"}}]
    if kind in ("distinct", "predicted"):
        column = figures["columns"][0]
        return [{"label": f"Mask {column} as a key", "roles": {column: "keys 1"}}]
    if kind == "no_keys":
        return [{"label": "Take the suggested roles", "suggested": True}]
    return []


def _with_k(size: int) -> dict[str, Any]:
    return {"label": f"k = {size}", "settings": {"k": size}}
