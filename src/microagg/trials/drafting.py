"""A plan that runs: suggested roles, tried on quick groups and changed where a release is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import errors, read, wording
from microagg.aggregate.joining import join_nearest
from microagg.engines import local
from microagg.measure.shared_values import as_codes
from microagg.methods.recipe import stage_of
from microagg.methods.run import Run
from microagg.methods.solving import solve_all
from microagg.methods.stage import Initial, solve
from microagg.model import Microdata, Partition, Problem
from microagg.plan.profile import Profile
from microagg.plan.protection import Protection
from microagg.plan.suggestions import (
    Role,
    Suggestion,
    can_be_masked,
    kind_as_key,
    settings_of_plan,
    suggest,
    with_some_key,
)
from microagg.prepare.key_columns import key_column
from microagg.prepare.prepared import prepare
from microagg.settings.kinds import GroupSize
from microagg.verdict import decide, unsafe_release
from microagg.verify.classes import Classes, TableClasses, codes_of
from microagg.verify.values import as_understood

MOST_UNIQUE = 0.05
"""A column that is released as it is may make this share of the records unique inside their groups."""
MOST_FOR_QUICK_MDAV = 20_000**2 * 8
"""Squared records times coordinates: with more in a task, groups are made inside blocks."""
GLANCE = 10_000
"""Number of records that are tried before all of them are."""
CHANCE = 1e-9
"""So improbable must it be that records of equal values in one column agree in another by chance."""


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """A plan for a file: a role for each column, its settings, and what a reader should know.

    `refusal`: why nothing can be protected; nothing if the plan runs.
    """

    suggestions: tuple[Suggestion, ...]
    settings: dict[str, Any]
    notes: tuple[str, ...] = ()
    refusal: str = ""


def draft_plan(source: Microdata, found: Profile, k: int, accept: Sequence[str] = ()) -> PlanDraft:
    """Roles with which `protect` makes a release of the source, or the reason why there are none.

    Groups are made by a quick method. They show for each column that would be released as it is how many
    records it makes unique inside their groups, and whether confidential values or weights are refused.
    """
    if GroupSize().check("k", k) > found.records:
        raise wording.k_above_n(k, found.records)
    more: dict[str, Any] = {"accept": list(accept)} if accept else {}
    if k == 2 and "pairs" not in accept:
        raise unsafe_release([decide("pairs")])
    trial = _Trial(source, found, k, more, {each.column: each for each in suggest(source, found, k)})
    refusal = trial.settle()
    settings = {**settings_of_plan(trial.roles.values(), found, k), **more}
    if refusal:
        return PlanDraft(tuple(trial.roles.values()), settings, (), refusal)
    return PlanDraft(tuple(trial.roles.values()), settings, tuple(trial.notes()))


@dataclass(frozen=True, slots=True)
class QuickGroups(Initial):
    """MDAV, inside blocks where there are many records; what was solved once is not solved again."""

    known: dict[bytes, Partition] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Of problems with the same points the same groups."""
        points = np.ascontiguousarray(problem.points)
        digest = hashlib.blake2b(points.data, digest_size=16).digest() + bytes(str(points.shape), "ascii")
        if digest not in self.known:
            is_much = len(points) ** 2 * points.shape[1] > MOST_FOR_QUICK_MDAV
            method = stage_of("blocks" if is_much else "mdav")
            self.known[digest] = solve(method, problem, start, run)
        return self.known[digest]


@dataclass
class _Trial:
    source: Microdata
    found: Profile
    k: int
    more: Mapping[str, Any]
    roles: dict[str, Suggestion]
    groups: Classes = field(default_factory=lambda: Classes.whole(0))
    method: QuickGroups = field(default_factory=QuickGroups)
    _numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @cached_property
    def values(self) -> TableClasses:
        return TableClasses(self.source.table)

    def settle(self) -> str:
        """Change roles until a release with them is made; why that is not possible, or nothing."""
        self._drop_what_cannot_be_read()
        refusal = ""
        while True:
            if not self._with_role("keys"):
                changed = with_some_key(tuple(self.roles.values()), self.found, self.k)
                self.roles = {each.column: each for each in changed}
            if not self._with_role("keys"):
                return refusal or wording.nothing_to_mask()
            self._mask_terms_of_sums()
            self._keep_one_of_functions()
            if found := self._form_groups():
                refusal = found
                self._give_way_to(refusal)
            elif not (self._mask_what_gives_keys_away() or self._mask_what_groups_give_away()):
                break
        self._leave_out_dominant_weights()
        self._leave_out_what_singles_out()
        refused = self._refusal_of_a_release()
        for _ in self.roles:
            if refused is None or not self._settle_findings(refused):
                break
            refused = self._refusal_of_a_release()
        if refused is not None and self._leave_out_all_that_is_not_masked():
            refused = self._refusal_of_a_release()
        return "" if refused is None else str(refused)

    def notes(self) -> Iterator[str]:
        """Notes on the plan as a whole, not on a single column."""
        passed = self._with_role("pass")
        together = self._unique_with(passed)
        if together > MOST_UNIQUE * self.found.records and len(passed) > 1:
            yield wording.note_jointly_unique(passed, together, self.found.records)
        if self._with_role("confidential"):
            kept = self._with_role("confidential")
            unique = self._unique_with(kept)
            yield wording.note_confidential_suggested(kept, unique, self.found.records)

    # --- roles ------------------------------------------------------------------------------------

    def _with_role(self, *roles: Role) -> list[str]:
        return [name for name, each in self.roles.items() if each.role in roles]

    def _give(self, name: str, role: Role, reason: str) -> None:
        self.roles[name] = Suggestion(name, role, reason)

    def _mask_or_drop(self, name: str, masked: str, dropped: str) -> None:
        if can_be_masked(self.found[name], self.found.records, self.k):
            self._give(name, "keys", masked)
        else:
            self._give(name, "drop", dropped)

    def _drop_what_cannot_be_read(self) -> None:
        """Values that `protect` does not take, such as infinite numbers."""
        for name in self._with_role("keys"):
            try:
                self._numbers_of(name)
            except errors.DataError:
                self._give(name, "drop", "some of its values are infinite or cannot be read")

    def _mask_terms_of_sums(self) -> None:
        """A single masked term of a sum, or a masked copy, could be computed from what is released."""
        for identity in self.found.identities:
            terms = (identity.total, *identity.parts)
            released = [name for name in terms if self.roles[name].role in ("pass", "confidential")]
            masked = [name for name in terms if self.roles[name].role == "keys"]
            if len(masked) == 1 and released and not any(self.roles[name].role == "drop" for name in terms):
                for name in released:
                    self._mask_or_drop(
                        name,
                        f"{self.found[name].kind}: masked, as it is part of a sum with {masked[0]}",
                        f"with the other terms of a sum it gives {masked[0]}, which is masked",
                    )
        for names in self.found.identical:
            if any(self.roles[name].role == "keys" for name in names):
                for name in names:
                    if self.roles[name].role not in ("keys", "drop"):
                        self._mask_or_drop(
                            name,
                            "the same as a column that is masked",
                            "the same as a column that is masked",
                        )

    def _keep_one_of_functions(self) -> None:
        """Of keys that are functions of each other, as a square or logarithm is, only the first is masked.

        The means of both would be two equations for the values of a group, which small groups of whole
        numbers often have but one solution for. Another unit of the same amount adds nothing, and stays.
        """
        keys = [name for name in self._with_role("keys") if kind_as_key(self.found[name]) == "number"]
        alike: dict[bytes, list[str]] = {}
        for name in keys:
            ranks = as_codes(self._numbers_of(name)[:GLANCE])
            alike.setdefault(min(ranks.tobytes(), (ranks.max() - ranks).tobytes()), []).append(name)
        for names in alike.values():
            kept: list[str] = []
            for name in names:
                values = self._numbers_of(name)
                of = next((key for key in kept if _is_function_of(values, self._numbers_of(key))), None)
                if of is None:
                    kept.append(name)
                else:
                    self._give(name, "drop", wording.function_of_a_key(of))

    def _give_way_to(self, refusal: str) -> None:
        """Drop the key that is missing most often, but before the last one give up a stratum."""
        keys, strata = self._with_role("keys"), self._with_role("strata")
        if len(keys) == 1 and strata:
            self._give(strata[-1], "pass", "as a stratum it would leave too few records with a key")
        else:
            gaps = {name: self.found[name].missing + self.found[name].coded_missing for name in keys}
            worst = max(keys, key=lambda name: gaps[name])
            self._give(worst, "drop", f"as a key it would be refused: {refusal[:1].lower()}{refusal[1:]}")

    def _mask_what_gives_keys_away(self) -> bool:
        """Released columns of which each value stands for one value of a key; whether keys were added."""
        before = len(self._with_role("keys"))
        for name in self._with_role("pass", "confidential"):
            if key := self._determined_by(name):
                reason = f"each of its values stands for one of {key}, which is masked"
                if self.roles[name].role == "confidential":
                    self._mask_or_drop(name, f"{self.found[name].kind}: masked, as {reason}", reason)
                else:
                    self._give(name, "drop", reason)
        return len(self._with_role("keys")) > before

    def _mask_what_groups_give_away(self) -> bool:
        """Confidential columns that would be refused; whether keys were added."""
        before = len(self._with_role("keys"))
        for name in self._with_role("confidential"):
            poor = self.groups.constant(codes_of(as_understood(self.source.table.column(name))))
            if groups := int(poor.sum()):
                reason = wording.same_in_groups(self.roles[name].reason, groups, self.groups.count)
                self._mask_or_drop(name, f"{reason}; so it is masked", f"{reason}; a larger k may help")
        return len(self._with_role("keys")) > before

    def _leave_out_dominant_weights(self) -> None:
        for name in self._with_role("weight"):
            if groups := int(self.groups.dominated(self._numbers_of(name)).sum()):
                self._give(name, "drop", wording.dominates_groups(groups, self.groups.count))

    def _leave_out_what_singles_out(self) -> None:
        for name in self._with_role("pass"):
            unique = self._unique_with([name])
            if unique > MOST_UNIQUE * self.found.records:
                reason = wording.singles_out(self.roles[name].reason, unique, self.found.records)
                self._give(name, "drop", reason)

    def _leave_out_all_that_is_not_masked(self) -> bool:
        """The last resort; whether there was something."""
        names = self._with_role("pass", "confidential", "weight")
        for name in names:
            self._give(name, "drop", "a release with it was refused when this plan was tried")
        return bool(names)

    # --- groups -----------------------------------------------------------------------------------

    def _protection(self) -> Protection:
        settings = {**settings_of_plan(self.roles.values(), self.found, self.k), **self.more}
        settings.pop("retry", None)
        return Protection.of({**settings, "method": self.method})

    def _form_groups(self) -> str:
        """Groups by a quick method; the refusal that comes before any, or nothing."""
        try:
            protection = self._protection()
            prepared = prepare(self.source, protection)
        except (errors.SettingsError, errors.DataError) as error:
            return str(error)
        found = solve_all([task.problem for task in prepared.tasks.tasks], protection.method, None)
        prepared, partitions = join_nearest(prepared, found, protection)
        labels, count = np.zeros(self.found.records, dtype=np.int64), 0
        for task, partition in zip(prepared.tasks.tasks, partitions, strict=True):
            labels[prepared.strata.rows[task.rows]] = partition.labels.astype(np.int64) + count
            count += partition.groups
        self.groups = Classes(labels, count)
        return ""

    def _refusal_of_a_release(self) -> Exception | None:
        """Why a release with these roles is not made, or nothing."""
        try:
            local.protect(self.source, self._protection(), trial=True)
        except (errors.SettingsError, errors.DataError, errors.UnsafeRelease) as error:
            return error
        return None

    def _settle_findings(self, refused: Exception) -> bool:
        """Give other roles to columns for which a release was refused; whether there were some."""
        changed = False
        for each in refused.findings if isinstance(refused, errors.UnsafeRelease) else ():
            column = each.figures["others"][-1] if each.rule == "derived" else next(iter(each.columns), "")
            if column not in self.roles or self.roles[column].role in ("keys", "drop"):
                continue
            if each.rule == "derived":
                self._give(column, "drop", f"with it {each.columns[0]}, which is masked, can be computed")
            elif each.rule in ("predicted", "distinct"):
                reason = f"{self.found[column].kind}: confidential, but groups would give it away"
                self._mask_or_drop(column, f"{reason}; so it is masked", reason)
            elif each.rule == "dominated":
                self._give(column, "drop", "one record would have most of a group's weight")
            else:
                continue
            changed = True
        return changed

    def _unique_with(self, names: list[str]) -> int:
        """Records that differ from all others of their group in these columns."""
        return self.groups.refined(map(self.values.codes, names)).unique - self.groups.unique

    def _numbers_of(self, name: str) -> NDArray[np.float64]:
        if name not in self._numbers:
            if self.roles[name].role == "keys":
                one = settings_of_plan([self.roles[name]], self.found, self.k)
                self._numbers[name] = key_column(self.source, name, Protection.of(one))[0]
            else:
                self._numbers[name] = read.numbers_of(self.source, name)
        return self._numbers[name]

    def _determined_by(self, name: str) -> str:
        """The first key of which each value of a column gives one value, and not by chance; '' if none."""
        classes = self.values.by((name,))
        for key in self._with_role("keys"):
            values = self._numbers_of(key)
            present = ~np.isnan(values)
            if _one_value_each(classes.labels[present], values[present]) and (
                self._is_no_chance(classes, values) or self._is_monotone(name, values)
            ):
                return key
        return ""

    @staticmethod
    def _is_no_chance(classes: Classes, values: NDArray[np.float64]) -> bool:
        """Whether records of a class would hardly agree if values were dealt out."""
        present = ~np.isnan(values)
        if not present.any():
            return False
        _, counts = np.unique(values[present], return_counts=True)
        alike = float(((counts / counts.sum()) ** 2).sum())
        repeated = int(present.sum()) - len(np.unique(classes.labels[present]))
        return alike < 1.0 and bool(repeated * np.log(alike) < np.log(CHANCE))

    def _is_monotone(self, name: str, values: NDArray[np.float64]) -> bool:
        """Whether a column of numbers has the order of these values, or the reverse."""
        if not self.found[name].numeric:
            return False
        with suppress(errors.DataError):
            own = read.numbers_of(self.source, name)
            present = ~np.isnan(values) & ~np.isnan(own)
            own, values = own[present], values[present]
            if len(own) < 20 or own.min() == own.max():
                return False
            if len(np.unique(values)) < 3:
                return False
            steps = np.diff(values[np.argsort(own, kind="stable")])
            return bool((steps >= 0).all() or (steps <= 0).all())
        return False


def _one_value_each(labels: NDArray[np.int64], values: NDArray[np.float64]) -> bool:
    """Whether records with the same label have the same value, in one pass or after a glance."""
    if not len(values):
        return False
    some = np.empty(int(labels.max()) + 1)
    for part in (slice(0, GLANCE), slice(None)):
        some[labels[part]] = values[part]
        if not np.array_equal(some[labels[part]], values[part]):
            return False
    return True


FEWEST_FOR_A_FUNCTION = 10
"""So many different values at least, for two columns may have the same order by chance."""


def _is_function_of(values: NDArray[np.float64], key: NDArray[np.float64]) -> bool:
    """Whether two columns give each other by a rule that rises, or falls, but is no straight line."""
    present = ~np.isnan(values) & ~np.isnan(key)
    if present.sum() < max(np.isfinite(values).sum(), np.isfinite(key).sum()):
        return False
    own, other = as_codes(values[present]), as_codes(key[present])
    different = int(own.max()) + 1 if len(own) else 0
    if different < FEWEST_FOR_A_FUNCTION:
        return False
    if not (np.array_equal(own, other) or np.array_equal(own, other.max() - other)):
        return False
    x, y = (np.unique(each[present]) for each in (key, values))
    if not np.array_equal(own, other):
        y = y[::-1]
    line = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0])
    return bool(np.abs(y - line).max() > 1e-6 * abs(y[-1] - y[0]))
