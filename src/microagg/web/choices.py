"""What a user chooses on the pages -> the settings of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from microagg import errors, wording
from microagg.model import FILE_OPTIONS
from microagg.settings.declared import PLAN_OPTIONS
from microagg.settings.kinds import CodesByColumn, DecimalsByColumn, Int, Number
from microagg.settings.options import REQUIRED

LISTS = ("each", "strata", "confidential", "drop", "pass")
BY_COLUMN = ("role", "missing_codes", "decimals")
"""What is chosen for each column."""

Result = TypeVar("Result")

Choice = tuple[str, str | None]
"""An option of a plan and a column, or no column."""


@dataclass
class Choices:
    """What is suggested for the columns of a file, and what the user chose instead. Roles are those of a
    plan; "keys" has the number of its subset behind it.
    """

    columns: tuple[str, ...] = ()
    suggestions: dict[Choice, Any] = field(default_factory=lambda: {("k", None): 3})
    chosen: dict[Choice, Any] = field(default_factory=dict)

    @classmethod
    def suggested(
        cls, columns: Iterable[Mapping[str, Any]], settings: Mapping[str, Any] | None = None
    ) -> Choices:
        """`settings`: those of the suggested plan."""
        choices, settings = cls(), settings or {}
        suggestions = choices.suggestions
        for column in columns:
            name, role, codes = (
                str(column["name"]),
                str(column["suggested"]),
                column.get("missing_codes", ()),
            )
            choices.columns += (name,)
            suggestions["role", name] = "keys 1" if role == "keys" else role
            suggestions["missing_codes", name] = CodesByColumn().cell(codes) if codes else ""
            suggestions["decimals", name] = str(settings.get("decimals", {}).get(name, ""))
            if role == "keys" and (column["missing"] or codes):
                suggestions["missing", None] = "by-pattern"
        if "retry" in settings:
            suggestions["retry", None] = settings["retry"]
        return choices

    def get(self, name: str, column: str | None = None) -> Any:
        """What is in force."""
        choice = (name, column)
        usual = "" if column is not None else _default(name)
        return self.chosen.get(choice, self.suggestions.get(choice, usual))

    def set(self, name: str, value: object, column: str | None = None) -> None:
        """One thing was changed on a page; what cannot be used is refused when the plan is checked."""
        if column is not None:
            if name not in BY_COLUMN or column not in self.columns:
                return
            given: Any = str(value).strip()
        elif name in PLAN_OPTIONS:
            given = PLAN_OPTIONS[name].kind.from_form(list(value) if isinstance(value, tuple) else value)
            given = _default(name) if given == "" else given
        else:
            return
        if self.get(name, column) != given:
            self.chosen[name, column] = given

    def take_over(self, earlier: Iterable[tuple[str, str | None, Any]]) -> None:
        """Choices that were made before, for columns of the same names."""
        for name, column, value in earlier:
            self.set(name, "" if value is None else value, column)

    def made(self) -> list[tuple[str, str | None, Any]]:
        """What the user chose, to be taken over by other choices or to be kept."""
        return [(name, column, value) for (name, column), value in self.chosen.items()]

    def load(self, plan: Mapping[str, Any]) -> None:
        """Choose what a plan has; `DataError` if it names columns that are not there. Columns that it does
        not name are released unchanged, as they would be on the command line.
        """
        from microagg.plan.protection import Protection

        settings = {name: value for name, value in plan.items() if name not in _NOT_CHOSEN}
        protection = Protection.of(settings)
        named = dict(protection.columns_by_role())
        unknown = [column for column in named if column not in self.columns]
        if unknown:
            raise wording.unknown_columns(unknown, list(self.columns))
        subset_of = {column: at for at, subset in enumerate(protection.keys, 1) for column in subset}
        for column in self.columns:
            role, codes = named.get(column, "pass"), protection.missing_codes.get(column)
            self.set("role", f"keys {subset_of[column]}" if role == "keys" else role, column)
            self.set("missing_codes", CodesByColumn().cell(codes) if codes else "", column)
            self.set("decimals", protection.decimals.get(column, ""), column)
        for name, option in PLAN_OPTIONS.items():
            if option.form:
                self.set(name, settings.get(name, ""))

    @property
    def roles(self) -> dict[str, str]:
        return {column: self.get("role", column) for column in self.columns}

    def with_role(self, role: str) -> list[str]:
        return [column for column, own in self.roles.items() if own == role]

    @property
    def settings(self) -> dict[str, Any]:
        """Options of the whole file that are not at their defaults."""
        names = dict.fromkeys(name for name, column in (*self.suggestions, *self.chosen) if column is None)
        return {name: self.get(name) for name in names if self.get(name) != _default(name)}

    def plan(self) -> dict[str, Any]:
        """The settings of a plan; `SettingsError` for what was typed and cannot be read."""
        plan = self.settings
        for name, value in plan.items():
            kind = PLAN_OPTIONS[name].kind
            if isinstance(kind, Int | Number) and isinstance(value, str):
                raise wording.bad_value(name, f"{kind.toml}, such as {PLAN_OPTIONS[name].shown}")
        subsets = sorted({role for role in self.roles.values() if role.startswith("keys ")}, key=_number)
        plan["keys"] = [self.with_role(subset) for subset in subsets]
        for role in LISTS:
            plan[role] = self.with_role(role)
        weights = self.with_role("weight")
        if len(weights) > 1:
            raise wording.two_weights(weights)
        plan["weight"] = weights[0] if weights else None
        plan["missing_codes"] = self._by_column("missing_codes", CodesByColumn())
        plan["decimals"] = self._by_column("decimals", DecimalsByColumn())
        if ("retry", None) not in self.chosen and not (plan["confidential"] or weights):
            plan.pop("retry", None)
        return {name: value for name, value in plan.items() if value not in (None, [], {})}

    def effective(self) -> tuple[dict[str, Any], list[str]]:
        """The settings that act, and the options that are left out because they would have no effect;
        `SettingsError` for what cannot be used.
        """
        from microagg.plan.protection import Protection

        _, plan, idle = without_idle(Protection.of, self.plan())
        return plan, idle

    def _by_column(self, name: str, kind: CodesByColumn | DecimalsByColumn) -> dict[str, Any]:
        """What was typed, and what was suggested for columns that are masked."""
        noised = self.get("confidential_as") != "keep"
        found = {}
        for column, role in self.roles.items():
            text = self.get(name, column)
            masked = role.startswith(("keys", "each")) or (role == "confidential" and noised)
            if text and (masked or (name, column) in self.chosen):
                found[column] = kind.parse_cell(name, column, text)
        return found


def without_idle(
    use: Callable[[dict[str, Any]], Result], settings: Mapping[str, Any]
) -> tuple[Result, dict[str, Any], list[str]]:
    """What `use` returns as soon as no option would be without effect, the settings that are left then, and
    the options that are not; `SettingsError` for what cannot be used.
    """
    left, idle = dict(settings), list[str]()
    while True:
        try:
            return use(left), left, idle
        except errors.SettingsError as error:
            message = wording.message_of(error)
            option = str(message.figures.get(_NAMED_IN.get(message.kind, ""), "")).split("=")[0]
            if left.pop(option, None) is None:
                raise
            idle.append(option)


_NOT_CHOSEN = ("input", "output", "threads", *FILE_OPTIONS)
"""What a plan may have and the pages do not take from it."""

_NAMED_IN = {"option_without_effect": "option", "no_effect": "setting"}
"""Messages on options without effect, and which of their figures names the option."""


def _default(name: str) -> Any:
    usual = PLAN_OPTIONS[name].default
    return None if usual is REQUIRED else list(usual) if isinstance(usual, tuple) else usual


def _number(role: str) -> int:
    return int(role.split(" ")[1])
