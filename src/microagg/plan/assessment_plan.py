"""The settings of `assess`, checked by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from microagg import wording
from microagg.plan.protection import one_kind_each, one_role_each
from microagg.plan.taxonomies import parents_of, with_taxonomies
from microagg.settings.declared import AssessSettings, MeasureSettings, ProtectionSettings
from microagg.settings.kinds import Code, Names
from microagg.settings.options import check, options_of
from microagg.settings.policy import ProtectionPolicy

_ROLES = {name: each for name, each in options_of(ProtectionSettings).items() if "assess" in each.commands}
_KINDS = ("nominal", "ordinal", "taxonomy", "importance")
_NEED_PROTECTED = (*_KINDS, "id", "model", "indicator", "measures", "record")
_OF_KEYS = ("missing_codes", *_KINDS)
_OPTIONS = {**_ROLES, **options_of(AssessSettings, MeasureSettings)}


@dataclass(frozen=True, slots=True)
class AssessmentPlan:
    """What the columns of an original and a protected file are; `AssessmentPlan.of` makes one.

    `id`: a column of both files by which records are matched; `models` and `indicators`: what analysts will
    compute; `measures`: names, all if there are none. The others are those of `protect`.
    """

    subsets: tuple[Names, ...]
    strata: Names = ()
    confidential: Names = ()
    weight: str | None = None
    id: str | None = None
    k: int | None = None
    missing_codes: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)
    nominal: Names = ()
    ordinal: Mapping[str, Names] = field(default_factory=dict)
    taxonomy: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    importance: Mapping[str, float] = field(default_factory=dict)
    models: Names = ()
    indicators: Names = ()
    measures: Names = ()

    @property
    def keys(self) -> Names:
        """The key columns of all subsets."""
        return tuple(column for subset in self.subsets for column in subset)

    @property
    def policy(self) -> ProtectionPolicy:
        """The settings of `protect` by which keys are read."""
        named = {name: getattr(self, name) for name in ("missing_codes", "nominal", "ordinal", "taxonomy")}
        return ProtectionPolicy(k=self.k or 2, keys=self.subsets, **named)

    @classmethod
    def of(
        cls,
        given: Mapping[str, object],
        planned: Mapping[str, object] | None = None,
        of_one_file: bool = False,
    ) -> AssessmentPlan:
        """Check what was given; `SettingsError` for the first that is wrong or has no effect.

        `planned`: settings of `protect`, in force where nothing is given; those that say nothing about an
        assessment do not matter. `of_one_file`: there is no protected file, and strata alone may be named.
        """
        if of_one_file:
            for name in (each for each in _NEED_PROTECTED if each in given):
                raise wording.needs_protected(name)
        merged = {name: value for name, value in (planned or {}).items() if name in _OPTIONS}
        merged |= {name: value for name, value in given.items() if value is not None}
        values = check(_OPTIONS, merged)
        values["taxonomy"] = {
            column: parents_of(column, each) for column, each in values["taxonomy"].items()
        }
        values["nominal"] = with_taxonomies(values["nominal"], values["taxonomy"], values["ordinal"])
        subsets = (*values.pop("keys"), *((column,) for column in values.pop("each")))
        models, indicators = values.pop("model"), values.pop("indicator")
        plan = cls(subsets, models=models, indicators=indicators, **values)
        plan = replace(plan, **{name: plan._of_keys(name) for name in _OF_KEYS if name not in given})
        if not (subsets or plan.strata) and of_one_file:
            raise wording.nothing_to_count()
        if not (subsets or of_one_file):
            raise wording.no_keys_to_assess()
        plan._check_roles()
        return plan

    def columns_by_role(self) -> Iterator[tuple[str, str]]:
        """(column, role) for every column that is named."""
        yield from ((column, "keys") for column in self.keys)
        yield from ((column, "strata") for column in self.strata)
        yield from ((column, "confidential") for column in self.confidential)
        yield from ((named, role) for named, role in ((self.weight, "weight"), (self.id, "id")) if named)

    def _of_keys(self, name: str) -> Any:
        """What an option has for keys; a plan may have something for confidential columns, too."""
        own = getattr(self, name)
        kept = [column for column in own if column in self.keys]
        return {column: own[column] for column in kept} if isinstance(own, Mapping) else tuple(kept)

    def _check_roles(self) -> None:
        one_role_each(self.columns_by_role())
        for name in _OF_KEYS:
            for column in getattr(self, name):
                if column not in self.keys:
                    raise wording.only_for_keys(name, column)
        one_kind_each(self.nominal, self.ordinal, self.taxonomy)
