"""The settings of `protect`, checked by themselves: roles of columns, policies, and how to partition."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from microagg import wording
from microagg.methods.recipe import MethodPlan
from microagg.plan.method import METHOD_OPTIONS, method_plan
from microagg.plan.taxonomies import parents_of, with_taxonomies
from microagg.settings.declared import ProtectionSettings
from microagg.settings.options import (
    Needs,
    Option,
    as_in_plan,
    check,
    options_of,
    refuse_unknown,
    refuse_without_effect,
)
from microagg.settings.policy import ProtectionPolicy
from microagg.settings.replaced import refuse_replaced

_OWN_OPTIONS = options_of(ProtectionSettings)
_OPTIONS = {**_OWN_OPTIONS, **METHOD_OPTIONS}

_CONFIDENTIAL_NAMED = Needs("confidential columns are named", lambda given: bool(given.confidential))
_FOUND_ONLY_WHERE = {
    "pairs": Needs("k is 2", lambda given: given.k == 2),
    "real-values": Needs(
        "aggregate is median or clip is given", lambda given: given.aggregate == "median" or given.clip
    ),
    "partial": Needs("there are several subsets of keys", lambda given: len(given.subsets) > 1),
    "distinct": _CONFIDENTIAL_NAMED,
    "predicted": _CONFIDENTIAL_NAMED,
    "dominated": Needs("amounts or a weight are named", lambda given: bool(given.amounts or given.weight)),
}
"""Rules that find nothing elsewhere, so that there is nothing to accept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection(ProtectionPolicy):
    """What shall be done to which columns; `Protection.of` makes one from what was given."""

    method: MethodPlan
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What was given and is not the default: the content of a plan file."""

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Protection:
        """Check what was given; `SettingsError` for the first that is wrong or has no effect.

        The names are those of a plan file; None is an option that is not given.
        """
        refuse_replaced(given)
        refuse_unknown(_OPTIONS, given)
        given = {name: value for name, value in given.items() if value is not None}
        own = check(_OWN_OPTIONS, given)
        own["taxonomy"] = {column: parents_of(column, of) for column, of in own["taxonomy"].items()}
        how = {name: value for name, value in given.items() if name in METHOD_OPTIONS}
        method = method_plan(own["k"], how.pop("method", METHOD_OPTIONS["method"].default), **how)
        settings = {
            **_not_default(_OWN_OPTIONS, own),
            **_not_default(METHOD_OPTIONS, {name: getattr(method, name) for name in METHOD_OPTIONS}),
        }
        if "seed" not in given:
            settings.pop("seed")
        if "method" in settings:
            settings["method"] = method.recipe
        own["nominal"] = with_taxonomies(own["nominal"], own["taxonomy"], own["ordinal"])
        protection = cls(**own, method=method, settings=settings)
        protection._check_roles()
        protection._check_policies()
        return protection

    @property
    def has_seed(self) -> bool:
        """Whether the user has given one."""
        return "seed" in self.settings

    def complete(self, columns: Sequence[str]) -> Protection:
        """The same for a source with these columns, all of which have a role afterwards."""
        named = dict(self.columns_by_role())
        left_out = self.left_out(columns)
        passed = (each for each in columns if each not in named and each not in left_out)
        return replace(self, drop=left_out, pass_=(*self.pass_, *passed))

    def _check_roles(self) -> None:
        if not self.subsets:
            raise wording.no_keys()
        roles = one_role_each(self.columns_by_role())
        for name, by_column in (("missing_codes", self.missing_codes), ("decimals", self.decimals)):
            for column in by_column:
                if column not in self.changed:
                    raise wording.only_for_masked(name, column, roles.get(column))
        for column in self.amounts:
            if column not in self.grouped:
                raise wording.amounts_not_masked(column, roles.get(column))
        for name in ("taxonomy", "nominal", "ordinal", "resolution", "importance"):
            for column in getattr(self, name):
                if column not in self.grouped:
                    raise wording.only_for_masked(name, column, roles.get(column))
        one_kind_each(self.nominal, self.ordinal, self.taxonomy)

    def _check_policies(self) -> None:
        if self.aggregate == "median" and self.weight is not None:
            raise wording.weighted_median()
        if self.retry and self.accepts("distinct"):
            raise wording.retry_and_accept()
        for each in self.accept:
            rule = each.partition("=")[0]
            if rule in _FOUND_ONLY_WHERE and not _FOUND_ONLY_WHERE[rule].is_met(self):
                raise wording.acceptance_without_effect(each, _FOUND_ONLY_WHERE[rule].condition)
        refuse_without_effect(_OWN_OPTIONS, self)


def one_role_each(columns_by_role: Iterator[tuple[str, str]]) -> dict[str, str]:
    """The role of each column; `SettingsError` for a column that has two."""
    roles: dict[str, str] = {}
    for column, role in columns_by_role:
        if column in roles:
            raise wording.two_roles(column, roles[column], role)
        roles[column] = role
    return roles


def one_kind_each(nominal: Iterable[str], ordinal: Container[str], taxonomy: Iterable[str]) -> None:
    """`SettingsError` for a key that would hold both ordered levels and categories without an order."""
    for column in nominal:
        if column in ordinal:
            raise wording.two_kinds(column)
    for column in taxonomy:
        if column in ordinal:
            raise wording.taxonomy_of_levels(column)


def _not_default(options: Mapping[str, Option], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: as_in_plan(values[each.attribute])
        for name, each in options.items()
        if values[each.attribute] != each.default
    }
