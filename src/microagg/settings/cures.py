"""What would settle a refusal, as buttons: the options that its message proposes, and some that follow from
its figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from microagg import wording
from microagg.formats import FORMAT_OF
from microagg.settings.declared import FILE_OPTIONS, PLAN_OPTIONS, control_of

MOST_SHEETS = 8


def cures_of(error: BaseException, given: Mapping[str, Any] = MappingProxyType({})) -> list[dict[str, Any]]:
    """Each has a `label`, and the `settings`, the roles of columns (`roles`), what they hold as keys
    (`kinds`) or the description of the file (`file`) that it gives; `ending`: it reads the file as one of
    another format; `suggested`: it takes the suggested roles. What only accepts a risk comes last. `given`:
    the settings that were refused.
    """
    message = wording.message_of(error)
    found: list[dict[str, Any]] = []
    for option, value in wording.options_in(message):
        if option in FILE_OPTIONS:
            found.append({"label": f"Read it with “{control_of(option, value)}”", "file": {option: value}})
        elif option == "nominal":
            found.append({"label": f"Treat {value} as categories", "kinds": {value: option}})
        elif option == "drop":
            found.append(_left_out([value]))
        elif given.get(option) == value:
            found += _cleared(option)
        elif option in PLAN_OPTIONS and PLAN_OPTIONS[option].form:
            found.append({"label": control_of(option, value), "settings": {option: value}})
    found += _by_figures(message.kind, message.figures)
    for finding in getattr(error, "findings", ()):
        found += _by_figures(finding.rule, {**finding.figures, "columns": finding.columns})
    if message.kind == "unknown_columns":
        for name in ("respondent", "amounts", "resolution", "importance"):
            found += _cleared(name) if {*message.figures["names"]} & {*_named(given.get(name))} else []
    different = {str({**cure, "label": None}): cure for cure in found or _of_option(message)}
    return sorted(different.values(), key=lambda cure: "accept" in cure.get("settings", {}))


def _named(value: Any) -> Iterable[str]:
    """The columns that a setting names."""
    return [value] if isinstance(value, str) else value or ()


def _of_option(message: wording.Message) -> list[dict[str, Any]]:
    """What may be done with an option of which a message says no more than that it cannot be so."""
    option = str(message.figures.get("option", message.figures.get("setting", ""))).partition(" of ")[0]
    return [_with_k(3)] if option == "k" else _cleared(option)


def _cleared(option: str) -> list[dict[str, Any]]:
    """The option as it is if nothing is said."""
    if option not in PLAN_OPTIONS or not PLAN_OPTIONS[option].form:
        return []
    usual = PLAN_OPTIONS[option].default if PLAN_OPTIONS[option].kind.choices else ""
    label = control_of(option, usual) if usual else f"Clear “{control_of(option, None)}”"
    return [{"label": label, "settings": {option: usual}}]


def _by_figures(kind: str, figures: Any) -> list[dict[str, Any]]:
    if kind in ("several_sheets", "no_such_sheet", "hidden_sheets"):
        sheets = [*figures.get("visible", ()), *figures.get("sheets", ())][:MOST_SHEETS]
        return [{"label": f"Read the sheet {sheet}", "file": {"sheet": sheet}} for sheet in sheets]
    if kind == "other_content" and figures["endings"]:
        ending = figures["endings"][0]
        return [{"label": f"Read it as {FORMAT_OF[ending]}", "ending": ending}]
    if kind in ("needs_role", "columns_without_role"):
        return [_left_out(figures["columns"])]
    if kind == "two_weights":
        return [_left_out([column]) for column in figures["columns"]]
    if kind == "bad_weights":
        return [_left_out([figures["column"]])]
    if kind == "finer_than_source":
        return _cleared("resolution")
    if kind == "derived" or (kind == "dominated" and "percent" not in figures):
        return [_left_out([figures["others"][-1] if kind == "derived" else figures["columns"][0]])]
    if kind == "k_above_n" and figures["n"] >= 3:
        return [_with_k(min(3, figures["n"]))]
    if kind == "strata_too_small" and figures["smallest"] >= 3:
        return [_with_k(figures["smallest"])]
    if kind in ("pairs", "k_too_small", "k_not_integer", "option_missing"):
        return [_with_k(3)]
    if "method" in figures or kind in ("unknown_method", "initial_after_start"):
        return [{"label": str(control_of("method", "auto")), "settings": {"method": "auto"}}]
    if kind in ("distinct", "predicted"):
        column = figures["columns"][0]
        return [{"label": f"Mask {column} as a key", "roles": {column: "keys 1"}}]
    if kind == "no_keys":
        return [{"label": "Take the suggested roles", "suggested": True}]
    return []


def _left_out(columns: Sequence[str]) -> dict[str, Any]:
    named = columns[0] if len(columns) == 1 else "them"
    return {"label": f"Leave out {named}", "roles": dict.fromkeys(columns, "drop")}


def _with_k(size: int) -> dict[str, Any]:
    return {"label": f"k = {size}", "settings": {"k": size}}
