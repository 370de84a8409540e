"""What a user chooses on the pages -> the settings of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from microagg import wording
from microagg.plan.kinds import CodesByColumn, DecimalsByColumn
from microagg.plan.settings import PLAN_OPTIONS

SUBSETS = 4
"""Subsets of keys that can be chosen on the page; a plan file may have more."""

LISTS = ("each", "strata", "confidential", "drop", "pass")


@dataclass
class Choices:
    """Of one project. Roles are those of a plan; "keys" has the number of its subset behind it."""

    roles: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """By column, numbers and texts that mean missing, as typed."""
    decimals: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=lambda: {"k": 3})
    """Other options that are not at their defaults."""
    untouched: set[tuple[str, str | None]] = field(default_factory=set)
    """Options, or options of a column, that were suggested and not changed: they are left out silently
    where roles leave them without effect.
    """

    @classmethod
    def suggested(
        cls, columns: Iterable[Mapping[str, Any]], settings: Mapping[str, Any] | None = None
    ) -> Choices:
        """What is suggested for these columns, in force until it is changed.

        `settings`: those of the suggested plan. Codes for missing answers act wherever a column is masked.
        """
        choices = cls()
        for column in columns:
            name, role = str(column["name"]), str(column["suggested"])
            codes = column.get("codes", ())
            choices.roles[name] = "keys 1" if role == "keys" else role
            if codes:
                choices.codes[name] = CodesByColumn().cell(codes)
                choices.untouched.add(("missing_codes", name))
            if role == "keys" and (column["missing"] or codes):
                choices.settings["missing"] = "by-pattern"
        settings = settings or {}
        for name, decimals in settings.get("decimals", {}).items():
            choices.decimals[name] = str(decimals)
            choices.untouched.add(("decimals", name))
        if "retry" in settings:
            choices.settings["retry"] = settings["retry"]
            choices.untouched.add(("retry", None))
        return choices

    def set(self, name: str, value: object, column: str | None = None) -> None:
        """One thing was changed on a page; what cannot be used is refused when the plan is checked."""
        self.untouched.discard((name, column))
        if column is not None:
            by_column = {"role": self.roles, "missing_codes": self.codes, "decimals": self.decimals}
            if name in by_column and column in self.roles:
                by_column[name][column] = str(value).strip()
        elif name in PLAN_OPTIONS:
            given = PLAN_OPTIONS[name].kind.from_form(value)
            if given in ("", False, PLAN_OPTIONS[name].default):
                self.settings.pop(name, None)
            else:
                self.settings[name] = given

    def plan(self) -> dict[str, Any]:
        """The settings of a plan; `SettingsError` for what was typed for a column and cannot be read."""
        plan: dict[str, Any] = dict(self.settings)
        subsets = [self._with_role(f"keys {number}") for number in range(1, SUBSETS + 1)]
        plan["keys"] = [subset for subset in subsets if subset]
        for role in LISTS:
            plan[role] = self._with_role(role)
        weights = self._with_role("weight")
        if len(weights) > 1:
            raise wording.two_weights(weights)
        plan["weight"] = weights[0] if weights else None
        plan["missing_codes"] = {
            column: CodesByColumn().parse_cell("missing_codes", column, text)
            for column, text in self._acting("missing_codes", self.codes)
        }
        plan["decimals"] = {
            column: DecimalsByColumn().parse_cell("decimals", column, text)
            for column, text in self._acting("decimals", self.decimals)
        }
        if ("retry", None) in self.untouched and not (plan["confidential"] or weights):
            plan.pop("retry", None)
        return {name: value for name, value in plan.items() if value not in (None, [], {})}

    def _acting(self, name: str, by_column: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """What was typed, and what was suggested for columns that are masked."""
        noised = self.settings.get("confidential_as", "keep") != "keep"
        for column, text in by_column.items():
            role = self.roles[column]
            masked = role.startswith(("keys", "each")) or (role == "confidential" and noised)
            if text and (masked or (name, column) not in self.untouched):
                yield column, text

    def _with_role(self, role: str) -> list[str]:
        return [column for column, own in self.roles.items() if own == role]
