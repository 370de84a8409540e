"""The settings of `protect`, checked by themselves: roles of columns, policies, and how to partition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from microagg import wording
from microagg.model import ColumnRoles
from microagg.plan.method import METHOD_OPTIONS, MethodPlan, method_plan
from microagg.settings.declared import COLUMNS, ProtectionSettings
from microagg.settings.kinds import Names
from microagg.settings.options import (
    Option,
    as_in_plan,
    check,
    options_of,
    refuse_unknown,
    refuse_without_effect,
)
from microagg.settings.replaced import refuse_replaced

_OWN_OPTIONS = options_of(ProtectionSettings)
_OPTIONS = {**_OWN_OPTIONS, **METHOD_OPTIONS}

ROLES = tuple(name for name, each in _OWN_OPTIONS.items() if each.group == COLUMNS and name != "k")
"""Options that name columns; a column has at most one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection(ProtectionSettings):
    """What shall be done to which columns; `Protection.of` makes one from what was given."""

    method: MethodPlan
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What was given and is not the default: the content of a plan file."""

    @property
    def subsets(self) -> tuple[Names, ...]:
        """The key columns; those of one subset are masked together."""
        return (*self.keys, *((column,) for column in self.each))

    @property
    def own_subsets(self) -> tuple[Names, ...]:
        """The confidential columns, if masked as a subset of their own."""
        return (self.confidential,) if self.confidential_as == "subset" else ()

    @property
    def noised(self) -> Names:
        """Confidential columns to which noise is added."""
        return self.confidential if self.confidential_as in ("noise", "correlated-noise") else ()

    @property
    def changed(self) -> Names:
        """All columns whose numbers will change, in the order they were named."""
        grouped = (column for subset in (*self.subsets, *self.own_subsets) for column in subset)
        return (*grouped, *self.noised)

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Protection:
        """Check what was given; `SettingsError` for the first that is wrong or has no effect.

        The names are those of a plan file; None is an option that is not given.
        """
        refuse_replaced(given)
        refuse_unknown(_OPTIONS, given)
        given = {name: value for name, value in given.items() if value is not None}
        own = check(_OWN_OPTIONS, given)
        how = {name: value for name, value in given.items() if name in METHOD_OPTIONS}
        method = method_plan(own["k"], how.pop("method", METHOD_OPTIONS["method"].default), **how)
        settings = {
            **_not_default(_OWN_OPTIONS, own),
            **_not_default(METHOD_OPTIONS, {name: getattr(method, name) for name in METHOD_OPTIONS}),
        }
        if "method" in settings:
            settings["method"] = method.recipe
        protection = cls(**own, method=method, settings=settings)
        protection._check_roles()
        protection._check_policies()
        return protection

    def column_roles(self) -> dict[str, Any]:
        """The fields of `ColumnRoles`, by name."""
        return {each.name: getattr(self, each.name) for each in fields(ColumnRoles)}

    def columns_by_role(self) -> Iterator[tuple[str, str]]:
        """(column, role) for every column that is named."""
        for role in ROLES:
            named = getattr(self, _OWN_OPTIONS[role].attribute)
            if role == "keys":
                named = [column for subset in named for column in subset]
            elif role == "weight":
                named = [] if named is None else [named]
            yield from ((column, role) for column in named)

    def _check_roles(self) -> None:
        if not self.subsets:
            raise wording.no_keys()
        roles = one_role_each(self.columns_by_role())
        for name, by_column in (("missing_codes", self.missing_codes), ("decimals", self.decimals)):
            for column in by_column:
                if column not in self.changed:
                    raise wording.only_for_masked(name, column, roles.get(column))

    def _check_policies(self) -> None:
        if self.k == 2 and not self.allow_pairs:
            raise wording.pairs()
        if self.aggregate == "median" and self.weight is not None:
            raise wording.weighted_median()
        if self.retry and self.accept_homogeneous:
            raise wording.retry_and_accept()
        refuse_without_effect(_OWN_OPTIONS, self)


def one_role_each(columns_by_role: Iterator[tuple[str, str]]) -> dict[str, str]:
    """The role of each column; `SettingsError` for a column that has two."""
    roles: dict[str, str] = {}
    for column, role in columns_by_role:
        if column in roles:
            raise wording.two_roles(column, roles[column], role)
        roles[column] = role
    return roles


def _not_default(options: Mapping[str, Option], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: as_in_plan(values[each.attribute])
        for name, each in options.items()
        if values[each.attribute] != each.default
    }
