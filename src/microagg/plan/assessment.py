"""Every word of `assess` but the two files, checked by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from microagg import wording
from microagg.plan.checks import Code, Names, codes_of, k_of, name_of, names_of, subsets_of


@dataclass(frozen=True, slots=True)
class AssessmentPlan:
    """What the columns of an original and a protected file are; `AssessmentPlan.of` makes one from words.

    The words are those of `protect`, and `id`: a column of both files by which records are matched;
    `models` and `indicators`: what analysts will compute; `measures`: names, all if there are none.
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
    def of(cls, words: Mapping[str, object]) -> AssessmentPlan:
        """Check the words by themselves; `SettingsError` for the first that is wrong or has no effect."""
        said = {word: value for word, value in words.items() if value is not None}

        def names(word: str, what: str = "column name") -> Names:
            return names_of(word, said[word], what) if word in said else ()

        joint = subsets_of("keys", said["keys"]) if "keys" in said else ()
        plan = cls(
            subsets=(*joint, *((column,) for column in names("each"))),
            strata=names("strata"),
            confidential=names("confidential"),
            weight=name_of("weight", said["weight"]) if "weight" in said else None,
            id=name_of("id", said["id"]) if "id" in said else None,
            k=k_of(said["k"]) if "k" in said else None,
            missing_codes=codes_of("missing_codes", said.get("missing_codes", {})),
            models=names("model", "model"),
            indicators=names("indicator", "indicator"),
            measures=names("measures", "measure"),
        )
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
        roles: dict[str, str] = {}
        for column, role in self.columns_by_role():
            if column in roles:
                raise wording.two_roles(column, roles[column], role)
            roles[column] = role
        for column in self.missing_codes:
            if column not in self.keys:
                raise wording.only_for_keys("missing_codes", column)
