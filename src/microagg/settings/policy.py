"""What follows from the settings of `protect` alone: which columns are masked, kept, left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from microagg.model import ColumnRoles
from microagg.settings.declared import COLUMNS, NO_RESPONDENT, ProtectionSettings
from microagg.settings.kinds import Names
from microagg.settings.options import options_of

_OPTIONS = options_of(ProtectionSettings)

ROLES = tuple(
    name for name, each in _OPTIONS.items() if each.group == COLUMNS and name not in ("k", "amounts")
)
"""Options that name columns; a column has at most one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionPolicy(ProtectionSettings):
    """What shall be done to which columns: all that the verifier is given beside two tables."""

    @property
    def subsets(self) -> tuple[Names, ...]:
        """The key columns; those of one subset are masked together."""
        return (*self.keys, *((column,) for column in self.each))

    @property
    def key_columns(self) -> Names:
        """Strata, then the keys of all subsets."""
        return (*self.strata, *(column for subset in self.subsets for column in subset))

    @property
    def own_subsets(self) -> tuple[Names, ...]:
        """The confidential columns, if masked as a subset of their own."""
        return (self.confidential,) if self.confidential_as == "subset" else ()

    @property
    def all_subsets(self) -> tuple[Names, ...]:
        """Columns in which records are grouped together."""
        return (*self.subsets, *self.own_subsets)

    @property
    def noised(self) -> Names:
        """Confidential columns to which noise is added."""
        return self.confidential if self.confidential_as in ("noise", "correlated-noise") else ()

    @property
    def grouped(self) -> Names:
        """Columns in which every record gets a value of its group."""
        return tuple(column for subset in self.all_subsets for column in subset)

    @property
    def changed(self) -> Names:
        """All columns whose numbers will change, in the order they were named."""
        return (*self.grouped, *self.noised)

    @property
    def respondent_column(self) -> str | None:
        """The column that says whose record it is, if one is named."""
        return None if self.respondent == NO_RESPONDENT else self.respondent

    def left_out(self, columns: Sequence[str]) -> Names:
        """Those of a source's columns that are not released."""
        named = dict(self.columns_by_role())
        return tuple(
            column
            for column in columns
            if named.get(column, self.rest) == "drop" or column == self.respondent_column
        )

    def columns_by_role(self) -> Iterator[tuple[str, str]]:
        """(column, role) for every column that is named. A respondent may be dropped by name, too."""
        for role in ROLES:
            named = getattr(self, _OPTIONS[role].attribute)
            if role == "keys":
                named = [column for subset in named for column in subset]
            elif role == "weight":
                named = [] if named is None else [named]
            elif role == "respondent":
                column = self.respondent_column
                named = [] if column is None or column in self.drop else [column]
            yield from ((column, role) for column in named)

    def accepts(self, rule: str) -> bool:
        """Whether the user accepts whatever a rule finds."""
        return rule in self.accept

    def given_to(self, nouns: type[ColumnRoles]) -> dict[str, Any]:
        """What these settings say of the fields of `ColumnRoles`, or of a kind of them, by name."""
        return {each.name: getattr(self, each.name) for each in fields(nouns) if hasattr(self, each.name)}
