"""What a user chooses on the pages -> the settings of a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from microagg import wording
from microagg.settings.declared import FILE_OPTIONS, PLAN_OPTIONS
from microagg.settings.kinds import Int, Number, PairsByColumn
from microagg.settings.options import REQUIRED, without_idle

if TYPE_CHECKING:
    from microagg.plan.protection import Protection

LISTS = ("each", "strata", "confidential", "drop", "pass")
_ROLE = re.compile("|".join([r"keys \d{1,9}", "weight", *LISTS]))
TYPED: Mapping[str, Any] = {
    name: PLAN_OPTIONS[name].kind for name in ("missing_codes", "decimals", "ordinal")
}
BY_COLUMN = ("role", "kind", *TYPED)
"""What is chosen for each column."""

KINDS = {"": "by type", **{name: PLAN_OPTIONS[name].label for name in ("nominal", "ordinal")}}
"""What keys may be said to hold."""

ROLES = {
    "keys 1": PLAN_OPTIONS["keys"].label,
    **{f"keys {number}": f"key, subset {number}" for number in (2, 3, 4)},
    **{
        role: PLAN_OPTIONS[role].label
        for role in ("each", "strata", "confidential", "weight", "pass", "drop")
    },
}

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
            name, role, codes = column["name"], column["suggested"], column.get("missing_codes", ())
            choices.columns += (name,)
            suggestions["role", name] = "keys 1" if role == "keys" else role
            suggestions["missing_codes", name] = TYPED["missing_codes"].cell(codes) if codes else ""
            suggestions["kind", name] = column.get("as_key", "") if column.get("as_key") in KINDS else ""
            suggestions["ordinal", name] = TYPED["ordinal"].cell(column.get("levels") or ())
            if role == "keys" and (column["missing"] or codes):
                suggestions["missing", None] = "by-pattern"
        if "retry" in settings:
            suggestions["retry", None] = settings["retry"]
        return choices

    def get(self, name: str, column: str | None = None) -> Any:
        """What is in force."""
        usual = self.suggestions.get((name, column), "" if column is not None else _default(name))
        return self.chosen.get((name, column), usual)

    def set(self, name: str, value: object, column: str | None = None) -> None:
        """One thing was changed on a page; what cannot be used is refused when the plan is checked."""
        if column is not None:
            given: Any = str(value).strip()
            if name not in BY_COLUMN or column not in self.columns:
                return
            if (name == "role" and not _ROLE.fullmatch(given)) or (name == "kind" and given not in KINDS):
                return
        elif name in PLAN_OPTIONS:
            given = PLAN_OPTIONS[name].kind.from_form(list(value) if isinstance(value, tuple) else value)
            given = _default(name) if given == "" else given
        else:
            return
        if self.get(name, column) != given:
            self.chosen[name, column] = given
            if name == "ordinal" and given:
                self.set("kind", name, column)

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
        if "taxonomy" in plan:
            raise wording.taxonomy_not_on_pages()
        settings = {name: value for name, value in plan.items() if name not in _NOT_CHOSEN}
        protection = _protection_of(settings)
        named = dict(protection.columns_by_role())
        unknown = [column for column in named if column not in self.columns]
        if unknown:
            raise wording.unknown_columns(unknown, list(self.columns))
        subset_of = {column: at for at, subset in enumerate(protection.keys, 1) for column in subset}
        for column in self.columns:
            role = named.get(column, "pass")
            self.set("role", f"keys {subset_of[column]}" if role == "keys" else role, column)
            for name, kind in TYPED.items():
                given = getattr(protection, name)
                self.set(name, kind.cell(given[column]) if column in given else "", column)
            self.set("kind", next((kind for kind in KINDS if column in settings.get(kind, ())), ""), column)
        for name, option in PLAN_OPTIONS.items():
            if option.form:
                self.set(name, settings.get(name, ""))

    @property
    def roles(self) -> dict[str, str]:
        return {column: self.get("role", column) for column in self.columns}

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
            if isinstance(kind, PairsByColumn) and isinstance(value, str):
                raise wording.bad_value(name, f"{kind.metavar}, such as {kind.examples}")
        with_role: dict[str, list[str]] = {role: [] for role in LISTS}
        for column, role in self.roles.items():
            with_role.setdefault(role, []).append(column)
        weights = with_role.pop("weight", [])
        if len(weights) > 1:
            raise wording.two_weights(weights)
        plan["weight"] = weights[0] if weights else None
        subsets = sorted(with_role.keys() - {*LISTS}, key=lambda role: int(role.split(" ")[1]))
        plan["keys"] = [with_role.pop(subset) for subset in subsets]
        plan |= with_role
        plan |= {name: self._by_column(name) for name in ("missing_codes", "decimals")}
        grouped = [column for column, role in self.roles.items() if role.startswith(("keys", "each"))]
        plan["nominal"] = [column for column in grouped if self.get("kind", column) == "nominal"]
        plan["ordinal"] = {
            column: TYPED["ordinal"].parse_cell("ordinal", column, self.get("ordinal", column))
            for column in grouped
            if self.get("kind", column) == "ordinal"
        }
        if ("retry", None) not in self.chosen and not (plan["confidential"] or weights):
            plan.pop("retry", None)
        return {name: value for name, value in plan.items() if value not in (None, [], {})}

    def effective(self) -> tuple[Protection, list[str]]:
        """What acts, and the options that are left out because they would have no effect; `SettingsError`
        for what cannot be used.
        """
        return without_idle(_protection_of, self.plan())

    def _by_column(self, name: str) -> dict[str, Any]:
        """What was typed, and what was suggested for columns that are masked."""
        noised = self.get("confidential_as") != "keep"
        found = {}
        for column, role in self.roles.items():
            text = self.get(name, column)
            masked = role.startswith(("keys", "each")) or (role == "confidential" and noised)
            if text and (masked or (name, column) in self.chosen):
                found[column] = TYPED[name].parse_cell(name, column, text)
        return found


_NOT_CHOSEN = ("input", "output", "threads", *FILE_OPTIONS)
"""What a plan may have and the pages do not take from it."""


def _default(name: str) -> Any:
    usual = PLAN_OPTIONS[name].default
    return None if usual is REQUIRED else list(usual) if isinstance(usual, tuple) else usual


def _protection_of(settings: Mapping[str, Any]) -> Protection:
    from microagg.plan.protection import Protection  # large, and the first page does without it

    return Protection.of(settings)
