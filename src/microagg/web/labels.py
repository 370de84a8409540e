"""What the pages call options, and messages in these names."""

from __future__ import annotations

import re

from microagg.plan.settings import PLAN_OPTIONS, label_of

_SUBSETS = {"keys 2": "key, second subset", "keys 3": "key, third subset", "keys 4": "key, fourth subset"}

ROLES = {
    "keys 1": PLAN_OPTIONS["keys"].label,
    **_SUBSETS,
    **{
        role: PLAN_OPTIONS[role].label
        for role in ("each", "strata", "confidential", "weight", "pass", "drop")
    },
}

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: (merge|suppress|by-pattern|yes|no|,)(?=[\s,.;)]))?")
_NAME = re.compile(rf"(?<![\w-])({'|'.join(name for name in PLAN_OPTIONS if '_' in name)})(?![\w-])")


def for_pages(message: str) -> str:
    """A message with the names of controls in place of options of the command line."""

    def named(found: re.Match[str]) -> str:
        name = found[1].replace("-", "_")
        label = label_of(name)
        if label is None:
            return found[0]
        chosen = label_of(name, found[2]) or found[2] if found[2] else None
        return f"“{label}{f': {chosen}' if chosen else ''}”"

    message = re.sub(r"\b\w+_\w+ \((--[a-z-]+)\)", r"\1", message)  # one name for both is enough
    message = re.sub(r" \(in Python: [^()]*\)", "", message)
    return _NAME.sub(lambda found: f"“{label_of(found[1])}”", _OPTION.sub(named, message))
