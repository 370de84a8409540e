"""Every word of `protect`, checked by itself: roles of columns, policies, and how to partition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from numbers import Real
from typing import Any, Literal, get_args

from microagg import wording
from microagg.plan.checks import Code, Names, choice, codes_of, k_of, name_of, names_of, subsets_of, whole
from microagg.plan.method import MethodPlan, method_plan

SmallStrata = Literal["refuse", "merge", "suppress"]
Missing = Literal["refuse", "by-pattern"]
Aggregate = Literal["mean", "median"]
Zeros = Literal["together", "apart"]
ConfidentialAs = Literal["keep", "subset", "noise", "correlated-noise"]

NOISE = 0.1
"""Standard deviation of the noise, as a share of the column's, unless given."""

LEAST_NOISE = 0.01
"""Less would leave amounts as good as they were."""

METHOD_WORDS: dict[str, Any] = {
    "method": "auto",
    "scale": "zscore",
    "effort": "balanced",
    "seconds": None,
    "seed": 0,
    "threads": None,
    "certify": False,
}
"""Those of `partition`, with their defaults."""

ROLES = ("keys", "each", "strata", "confidential", "drop", "pass", "weight")
"""Words that name columns; a column has at most one of them."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What shall be done to which columns; `Protection.of` makes one from words."""

    k: int
    keys: tuple[Names, ...] = ()
    """Subsets of numeric columns, each microaggregated jointly."""
    each: Names = ()
    """Numeric columns that are subsets of their own: individual ranking."""
    strata: Names = ()
    confidential: Names = ()
    drop: Names = ()
    pass_: Names = ()
    """Columns released as they are, which the user knows to be no risk."""
    weight: str | None = None
    small_strata: SmallStrata = "refuse"
    missing: Missing = "refuse"
    missing_codes: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)
    aggregate: Aggregate = "mean"
    decimals: Mapping[str, int] = field(default_factory=dict)
    zeros: Zeros = "together"
    shuffle: bool = False
    confidential_as: ConfidentialAs = "keep"
    noise: float | None = None
    min_distinct: int = 2
    retry: bool = False
    allow_pairs: bool = False
    accept_real_values: bool = False
    accept_homogeneous: bool = False
    accept_partial: bool = False
    method: MethodPlan = field(kw_only=True)
    words: Mapping[str, Any] = field(kw_only=True)
    """What was said, without what is the default anyway: a plan file's content."""

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
    def of(cls, words: Mapping[str, object]) -> Protection:
        """Check the words by themselves; `SettingsError` for the first that is wrong or has no effect."""
        known = [name.rstrip("_") for name in cls.__dataclass_fields__ if name not in ("words",)]
        for word in words:
            if word not in known and word not in METHOD_WORDS:
                raise wording.unknown_option(word, [*known, *METHOD_WORDS])
        said = {word: value for word, value in words.items() if value is not None}
        if "k" not in said:
            raise wording.no_k()
        how: dict[str, Any] = {word: said.get(word, usual) for word, usual in METHOD_WORDS.items()}
        _flag("certify", how["certify"])
        method = method_plan(said["k"], **how)
        checked: dict[str, Any] = {"k": k_of(said["k"])}
        for word, check in _CHECKS.items():
            if word in said:
                checked[word] = check(word, said[word])
        kept = {word: _plain(value) for word, value in checked.items() if value != _default(word)}
        how = {"method": method.recipe} | {
            word: getattr(method, word) for word in METHOD_WORDS if word != "method"
        }
        kept |= {word: value for word, value in how.items() if value != METHOD_WORDS[word]}
        attributes = {_attribute(word): value for word, value in checked.items()}
        protection = cls(**attributes, method=method, words=kept)
        protection._check_roles()
        protection._check_policies()
        return protection

    def columns_by_role(self) -> Iterator[tuple[str, str]]:
        """(column, role) for every column that is named."""
        for role in ROLES:
            named = getattr(self, _attribute(role))
            if role == "keys":
                named = [column for subset in named for column in subset]
            elif role == "weight":
                named = [] if named is None else [named]
            yield from ((column, role) for column in named)

    def _check_roles(self) -> None:
        if not self.subsets:
            raise wording.no_keys()
        roles: dict[str, str] = {}
        for column, role in self.columns_by_role():
            if column in roles:
                raise wording.two_roles(column, roles[column], role)
            roles[column] = role
        for word, named in (("missing_codes", self.missing_codes), ("decimals", self.decimals)):
            for column in named:
                if column not in self.changed:
                    raise wording.only_for_masked(word, column, roles.get(column))

    def _check_policies(self) -> None:
        if self.k == 2 and not self.allow_pairs:
            raise wording.pairs()
        if self.aggregate == "median" and self.weight is not None:
            raise wording.weighted_median()
        if self.retry and self.accept_homogeneous:
            raise wording.retry_and_accept()
        needs = {
            "small_strata": (bool(self.strata), "strata are named"),
            "confidential_as": (bool(self.confidential), "confidential columns are named"),
            "min_distinct": (bool(self.confidential), "confidential columns are named"),
            "accept_homogeneous": (bool(self.confidential), "confidential columns are named"),
            "retry": (
                bool(self.confidential or self.weight), "confidential columns or a weight are named"
            ),
            "noise": (bool(self.noised), "confidential_as is noise or correlated-noise"),
            "accept_partial": (len(self.subsets) > 1, "there are several subsets of keys"),
            "allow_pairs": (self.k == 2, "k is 2"),
            "accept_real_values": (self.aggregate == "median", "aggregate is median"),
        }  # fmt: skip
        for word, (met, condition) in needs.items():
            if not met and getattr(self, word) != _default(word):
                raise wording.option_without_effect(word, condition)


def _attribute(word: str) -> str:
    return "pass_" if word == "pass" else word


def _default(word: str) -> object:
    declared = Protection.__dataclass_fields__.get(_attribute(word))
    if declared is None or declared.default is MISSING:
        return {} if declared is not None and declared.default_factory is dict else None
    return declared.default


def _plain(value: Any) -> Any:
    """Lists and dictionaries only, as in a plan file."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, Mapping) else value


def _flag(word: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise wording.bad_value(word, "true or false")
    return value


MOST_DECIMALS = 15


def _decimals(word: str, value: object) -> dict[str, int]:
    if not isinstance(value, Mapping):
        raise wording.bad_value(word, "a table of columns with a number of decimals each")
    checked = {str(column): whole(f"{word} of {column}", number, 0) for column, number in value.items()}
    for column, number in checked.items():
        if number > MOST_DECIMALS:
            raise wording.bad_number(f"{word} of {column}", number, f"at most {MOST_DECIMALS}")
    return checked


def _noise(word: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise wording.bad_number(word, value, f"a number of at least {LEAST_NOISE}, such as {NOISE}")
    if float(value) < LEAST_NOISE:
        raise wording.too_little_noise(float(value), LEAST_NOISE)
    return float(value)


def _one_of(kind: Any) -> Any:
    return lambda word, value: choice(word, value, get_args(kind))


_CHECKS: dict[str, Any] = {
    "keys": subsets_of,
    **dict.fromkeys(("each", "strata", "confidential", "drop", "pass"), names_of),
    "weight": name_of,
    "small_strata": _one_of(SmallStrata),
    "missing": _one_of(Missing),
    "missing_codes": codes_of,
    "aggregate": _one_of(Aggregate),
    "decimals": _decimals,
    "zeros": _one_of(Zeros),
    "confidential_as": _one_of(ConfidentialAs),
    "noise": _noise,
    "min_distinct": lambda word, value: whole(word, value, 2),
    **dict.fromkeys(
        (
            "shuffle", "retry", "allow_pairs", "accept_real_values", "accept_homogeneous", "accept_partial",
        ),
        _flag,
    ),
}  # fmt: skip
