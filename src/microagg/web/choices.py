"""What a user chooses on the pages -> the settings of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from microagg import errors, wording
from microagg.model import FILE_OPTIONS
from microagg.settings.declared import PLAN_OPTIONS
from microagg.settings.kinds import CodesByColumn, DecimalsByColumn, Int, Number

SUBSETS = 4
"""Subsets of keys that can always be chosen on the page; a plan that is loaded may have more."""

LISTS = ("each", "strata", "confidential", "drop", "pass")
BY_COLUMN = {"role": "roles", "missing_codes": "codes", "decimals": "decimals"}
"""What is chosen for each column, and the attribute that has it."""


@dataclass
class Choices:
    """Of one project. Roles are those of a plan; "keys" has the number of its subset behind it."""

    roles: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """By column, numbers and texts that mean missing, as typed."""
    decimals: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=lambda: {"k": 3})
    """Other options that are not at their defaults."""
    touched: dict[tuple[str, str | None], Any] = field(default_factory=dict)
    """What the user chose, by option and column. All else is suggested: it follows the data, and is left
    out silently where roles leave it without effect.
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
            if role == "keys" and (column["missing"] or codes):
                choices.settings["missing"] = "by-pattern"
        settings = settings or {}
        for name, decimals in settings.get("decimals", {}).items():
            choices.decimals[name] = str(decimals)
        if "retry" in settings:
            choices.settings["retry"] = settings["retry"]
        return choices

    def set(self, name: str, value: object, column: str | None = None) -> None:
        """One thing was changed on a page; what cannot be used is refused when the plan is checked."""
        if column is not None:
            if name in BY_COLUMN and column in self.roles:
                getattr(self, BY_COLUMN[name])[column] = self.touched[name, column] = str(value).strip()
        elif name in PLAN_OPTIONS:
            option = PLAN_OPTIONS[name]
            given = option.kind.from_form(value)
            is_default = given == "" or given is False or (given == option.default and given is not True)
            if is_default and name in self.settings:
                del self.settings[name]
                self.touched[name, None] = value
            elif not is_default and self.settings.get(name) != given:
                self.settings[name] = given
                self.touched[name, None] = value

    def set_if_other(self, name: str, value: str, column: str) -> None:
        """For a form that was sent as a whole: what it shows unchanged was not chosen."""
        if getattr(self, BY_COLUMN[name]).get(column, "") != value.strip():
            self.set(name, value, column)

    def take_over(self, earlier: Iterable[tuple[str, str | None, Any]]) -> int:
        """Choices that were made before, for columns of the same names; how many of them there were."""
        fitting = [each for each in earlier if each[1] is None or each[1] in self.roles]
        for name, column, value in fitting:
            self.set(name, value, column)
            self.touched[name, column] = value
        return len(fitting)

    def made(self) -> list[tuple[str, str | None, Any]]:
        """What the user chose, to be taken over by other choices or to be kept."""
        return [(name, column, value) for (name, column), value in self.touched.items()]

    def load(self, plan: Mapping[str, Any]) -> None:
        """Choose what a plan has; `DataError` if it names columns that are not there. Columns that it does
        not name are released unchanged, as they would be on the command line.
        """
        from microagg.plan.protection import Protection

        settings = {name: value for name, value in plan.items() if name not in _NOT_CHOSEN}
        protection = Protection.of(settings)
        named = dict(protection.columns_by_role())
        unknown = [column for column in named if column not in self.roles]
        if unknown:
            raise wording.unknown_columns(unknown, list(self.roles))
        subset_of = {column: at for at, subset in enumerate(protection.keys, 1) for column in subset}
        for column in self.roles:
            role = named.get(column, "pass")
            self.set("role", f"keys {subset_of[column]}" if role == "keys" else role, column)
            codes = protection.missing_codes.get(column, ())
            self.set_if_other("missing_codes", CodesByColumn().cell(codes) if codes else "", column)
            self.set_if_other("decimals", str(protection.decimals.get(column, "")), column)
        for name, option in PLAN_OPTIONS.items():
            if option.form:
                self.set(name, settings.get(name, ""))

    def plan(self) -> dict[str, Any]:
        """The settings of a plan; `SettingsError` for what was typed and cannot be read."""
        for name, value in self.settings.items():
            kind = PLAN_OPTIONS[name].kind
            if isinstance(kind, Int | Number) and isinstance(value, str):
                raise wording.bad_value(name, f"{kind.toml}, such as {PLAN_OPTIONS[name].shown}")
        plan: dict[str, Any] = dict(self.settings)
        subsets = sorted({role for role in self.roles.values() if role.startswith("keys ")}, key=_number)
        plan["keys"] = [self.with_role(subset) for subset in subsets]
        for role in LISTS:
            plan[role] = self.with_role(role)
        weights = self.with_role("weight")
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
        if ("retry", None) not in self.touched and not (plan["confidential"] or weights):
            plan.pop("retry", None)
        return {name: value for name, value in plan.items() if value not in (None, [], {})}

    def effective(self) -> tuple[dict[str, Any], list[str]]:
        """The settings that act, and the options that are left out because they would have no effect;
        `SettingsError` for what cannot be used.
        """
        from microagg.plan.protection import Protection

        plan, idle = self.plan(), []
        while True:
            try:
                Protection.of(plan)
            except errors.SettingsError as error:
                message = wording.message_of(error)
                option = str(message.figures.get(_NAMED_IN.get(message.kind, ""), "")).split("=")[0]
                if plan.pop(option, None) is None:
                    raise
                idle.append(option)
            else:
                return plan, idle

    def _acting(self, name: str, by_column: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """What was typed, and what was suggested for columns that are masked."""
        noised = self.settings.get("confidential_as", "keep") != "keep"
        for column, text in by_column.items():
            role = self.roles[column]
            masked = role.startswith(("keys", "each")) or (role == "confidential" and noised)
            if text and (masked or (name, column) in self.touched):
                yield column, text

    def with_role(self, role: str) -> list[str]:
        return [column for column, own in self.roles.items() if own == role]


_NOT_CHOSEN = ("input", "output", "threads", *FILE_OPTIONS)
"""What a plan may have and the pages do not take from it."""

_NAMED_IN = {"option_without_effect": "option", "no_effect": "setting"}
"""Messages on options without effect, and which of their figures names the option."""


def _number(role: str) -> int:
    return int(role.split(" ")[1])
