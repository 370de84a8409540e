"""The settings of `assess`, checked by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from microagg import wording
from microagg.plan.protection import one_role_each
from microagg.settings.declared import AssessSettings, MeasureSettings, ProtectionSettings
from microagg.settings.kinds import Code, Names
from microagg.settings.options import check, options_of

_ROLES = {name: each for name, each in options_of(ProtectionSettings).items() if "assess" in each.commands}
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
    models: Names = ()
    indicators: Names = ()
    measures: Names = ()

    @property
    def keys(self) -> Names:
        """The key columns of all subsets."""
        return tuple(column for subset in self.subsets for column in subset)

    @classmethod
    def of(cls, given: Mapping[str, object]) -> AssessmentPlan:
        """Check what was given; `SettingsError` for the first that is wrong or has no effect."""
        values = check(_OPTIONS, {name: value for name, value in given.items() if value is not None})
        subsets = (*values.pop("keys"), *((column,) for column in values.pop("each")))
        models, indicators = values.pop("model"), values.pop("indicator")
        plan = cls(subsets, models=models, indicators=indicators, **values)
        plan._check_roles()
        return plan

    def columns_by_role(self) -> Iterator[tuple[str, str]]:
        """(column, role) for every column that is named."""
        yield from ((column, "keys") for column in self.keys)
        yield from ((column, "strata") for column in self.strata)
        yield from ((column, "confidential") for column in self.confidential)
        yield from ((named, role) for named, role in ((self.weight, "weight"), (self.id, "id")) if named)

    def _check_roles(self) -> None:
        if not self.subsets:
            raise wording.no_keys_to_assess()
        one_role_each(self.columns_by_role())
        for column in self.missing_codes:
            if column not in self.keys:
                raise wording.only_for_keys("missing_codes", column)
