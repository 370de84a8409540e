"""What a plan file has for a command, apart from its paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microagg import wording
from microagg.plan.plan_file import read_plan


@dataclass(frozen=True, slots=True)
class Planned:
    """The settings of a plan file, apart from the paths of its files."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    input: str | None = None

    @classmethod
    def of(cls, plan: object) -> Planned:
        """Of the plan at this path, or nothing if there is none."""
        if plan is None:
            return cls()
        if not isinstance(plan, str | Path):
            raise wording.bad_value("plan", "the path of a plan file")
        settings = read_plan(Path(plan))
        path = settings.pop("input", None)
        settings.pop("output", None)
        return cls(settings, None if path is None else str(path))
