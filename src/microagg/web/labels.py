"""What the pages call the options of a plan."""

from __future__ import annotations

from microagg import wording
from microagg.settings.declared import PLAN_OPTIONS, label_of

ROLES = {
    "keys 1": PLAN_OPTIONS["keys"].label,
    **{f"keys {number}": f"key, subset {number}" for number in (2, 3, 4)},
    **{
        role: PLAN_OPTIONS[role].label
        for role in ("each", "strata", "confidential", "weight", "pass", "drop")
    },
}


SHORT_ROLES = {
    "keys": "keys",
    "each": "keys, each by itself",
    "strata": "strata",
    "confidential": "confidential",
    "weight": "weight",
    "pass": "released unchanged",
    "drop": "not released",
}


COMMANDS = {"methods": PLAN_OPTIONS["method"].label, "plan": "Save the settings as a plan"}
"""Controls that do what a command does."""


def label(option: str, value: object) -> str | None:
    """How the pages name an option, with one of its values if one is given; None without a control."""
    if option == wording.COMMAND:
        return COMMANDS.get(str(value))
    own = label_of(option) or ROLES.get(option)
    if own is None or value in (None, True) or isinstance(value, dict):
        return own
    return f"{own}: {label_of(option, str(value)) or value}"


PAGES = wording.on_pages(label)
"""Messages with the names of controls."""
