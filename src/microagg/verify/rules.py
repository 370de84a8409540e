"""The rules: what is counted in a release, and what follows from it, in memory and on Spark alike.

A rule is one row of `RULES`: a function from what was counted to findings. Their sentences are in
`wording/findings.py`, by the same names; those that users may accept are listed in `settings/declared.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from microagg.model import Claims
from microagg.settings.declared import ACCEPTABLE
from microagg.verdict import (
    CategoryChanges,
    Changes,
    Count,
    Finding,
    MeanChange,
    NotCounted,
    Respondents,
    Verdict,
    decide,
    note,
    refuse,
)
from microagg.verify.derived import Derivation
from microagg.verify.shape import key_columns
from microagg.verify.two_way import allowed

NEARLY_ALL = 0.95
"""A masked column that can be computed in this share of the records is as good as released."""

TIMES_CHANCE = 2.0
"""A confidential column may link this many times more records than chance alone would in groups of k."""


@dataclass(frozen=True, slots=True)
class SubsetResult:
    """What the classes of one subset of columns show."""

    count: Count
    failures: Sequence[Finding]
    too_few_values: Sequence[Finding] = ()
    """In some classes a confidential column has fewer values than it must have."""
    real_values: int = 0
    """Classes whose median is a member's value, as that of an odd number of records is."""
    dominated_weights: int = 0
    """Classes in which one record has more than half of the weight, and values differ."""
    dominated_amounts: Mapping[str, int] = field(default_factory=dict)
    """By column of amounts: classes in which one amount can be estimated too closely."""
    moved_numbers: Sequence[Finding] = ()
    """About numbers that were moved so that covariances are kept."""


class Counting(Protocol):
    """A release that can be counted: a table in memory, or a frame of Spark."""

    @property
    def claims(self) -> Claims: ...

    @property
    def records(self) -> int: ...

    @property
    def changes(self) -> Changes:
        """What the release has otherwise than its source."""
        ...

    def subset(self, strata: tuple[str, ...], names: tuple[str, ...]) -> SubsetResult:
        """The classes of columns masked together, and whether each publishes its members' mean."""
        ...

    def count(self, names: tuple[str, ...]) -> Count:
        """How records share the combinations of these columns."""
        ...

    def too_few_values(self, keys: tuple[str, ...]) -> Sequence[Finding]:
        """Classes that give a confidential value away."""
        ...

    def respondents(self, keys: tuple[str, ...]) -> Sequence[Respondents]:
        """How many respondents share each combination, by every column that may say whose a record is."""
        ...

    def derivations(self) -> Sequence[Derivation]:
        """Masked columns that can be computed from what is released unchanged."""
        ...

    def linked_by(self) -> Mapping[str, float]:
        """By confidential column that is released unchanged: the share of records that it links."""
        ...

    def mean_changes(self) -> tuple[MeanChange, ...]:
        """Of every masked column."""
        ...

    def unchanged(self) -> Mapping[str, int]:
        """By column of numbers or dates that is masked in groups: records released with their own value."""
        ...

    def category_changes(self) -> CategoryChanges | None:
        """What became of the categories of keys; None if none holds categories."""
        ...

    def noise_findings(self) -> list[Finding]:
        """What was found about noise: refusals and notes."""
        ...

    def order_findings(self) -> list[Finding]:
        """What was found about the order of the records."""
        ...

    @property
    def spellings(self) -> Mapping[str, tuple[int, int]]:
        """Confidential columns of which some texts differ by spelling alone: how many texts there are, and
        how many read differently.
        """
        ...

    def unique_with(self, keys: tuple[str, ...]) -> Mapping[str, int]:
        """By released column that is no key: records that are unique by the keys and this column."""
        ...

    def unique_by(self, names: tuple[str, ...]) -> int:
        """Records that are unique by all of these columns together."""
        ...


@dataclass(frozen=True)
class Counted:
    """What several rules need, counted once."""

    counting: Counting

    @property
    def claims(self) -> Claims:
        return self.counting.claims

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return key_columns(self.claims)

    @cached_property
    def subsets(self) -> list[SubsetResult]:
        return [self.counting.subset(self.claims.strata, names) for names in key_subsets(self.claims)]

    @cached_property
    def own_subsets(self) -> list[SubsetResult]:
        return [self.counting.subset((), names) for names in self.claims.own_subsets]

    @cached_property
    def joint(self) -> Count | None:
        return self.counting.count(self.keys) if len(self.subsets) > 1 else None

    @cached_property
    def respondents(self) -> list[Respondents]:
        """By every column that may say whose a record is; that with the fewest respondents first."""
        found = self.counting.respondents(self.keys)
        return sorted(found, key=lambda each: (each.by_shape, -each.below, each.smallest))

    @cached_property
    def mean_changes(self) -> tuple[MeanChange, ...]:
        return self.counting.mean_changes()

    @cached_property
    def category_changes(self) -> CategoryChanges | None:
        return self.counting.category_changes()

    @cached_property
    def not_counted(self) -> list[NotCounted]:
        """Released columns for which nothing is claimed; those that make most records unique first."""
        before = (self.joint or self.subsets[0].count).unique
        found = [
            NotCounted(name, many - before, name in self.claims.confidential)
            for name, many in self.counting.unique_with(self.keys).items()
        ]
        return sorted(found, key=lambda each: -each.unique)

    @cached_property
    def unique(self) -> int:
        """Records unique by keys and columns that are released unchanged, but for confidential ones."""
        return self._unique_with([each for each in self.not_counted if not each.confidential])

    @cached_property
    def unique_with_confidential(self) -> int:
        if not any(each.confidential for each in self.not_counted):
            return self.unique
        return self._unique_with(self.not_counted)

    def _unique_with(self, others: Sequence[NotCounted]) -> int:
        # What makes most records unique first: later columns then have little to add.
        return self.counting.unique_by((*self.keys, *(each.column for each in others)))


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    find: Callable[[Counted], Iterator[Finding]]


def verdict_of(counting: Counting, failures: Sequence[Finding]) -> Verdict:
    """All that is counted, after what was found before."""
    counted, claims = Counted(counting), counting.claims
    findings = [*failures, *(each for rule in RULES for each in rule.find(counted))]
    respondents = counted.respondents
    return Verdict(
        claims.k,
        tuple(judged(claims, findings)),
        records=counting.records,
        subsets=tuple(found.count for found in counted.subsets),
        joint=counted.joint,
        own_subsets=tuple(found.count for found in counted.own_subsets),
        respondents=respondents[0] if respondents else None,
        changes=counting.changes,
        mean_changes=counted.mean_changes,
        category_changes=counted.category_changes,
        not_counted=tuple(counted.not_counted),
        unique=counted.unique,
        unique_with_confidential=counted.unique_with_confidential,
    )


def judged(claims: Claims, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings, with those accepted that the user accepts."""
    for each in findings:
        column = each.columns[0] if each.columns else None
        is_accepted = each.action == "decide" and claims.accepts(each.name, column)
        yield replace(each, action="accepted") if is_accepted else each


# --- what each rule finds -----------------------------------------------------------------------


def _k_per_subset(counted: Counted) -> Iterator[Finding]:
    counts = [found.count for found in (*counted.subsets, *counted.own_subsets)]
    yield from k_failures(counted.claims, counts)


def _published_values(counted: Counted) -> Iterator[Finding]:
    for found in (*counted.subsets, *counted.own_subsets):
        yield from found.failures
        yield from found.moved_numbers
    for change in counted.mean_changes:
        if not change.kept:
            yield refuse("mean_not_kept", change.column, change=change.mean, tolerance=change.tolerance)
    yield from counted.counting.noise_findings()


def _respondents(counted: Counted) -> Iterator[Finding]:
    for found in counted.respondents:
        if found.below:
            make = decide if found.by_shape else refuse
            yield make(
                "respondents",
                found.column,
                keys=counted.keys,
                k=counted.claims.k,
                below=found.below,
                alone=found.alone,
                by_shape=found.by_shape,
            )
            return


def _derived(counted: Counted) -> Iterator[Finding]:
    for found in counted.counting.derivations():
        if found.records < NEARLY_ALL * found.of:
            continue
        is_whole = found.records == found.of and found.kind not in ("month", "year")
        make = refuse if is_whole else decide
        yield make(
            "derived",
            found.key,
            kind=found.kind,
            others=found.columns,
            records=found.records,
            of=found.of,
        )


def _predicted(counted: Counted) -> Iterator[Finding]:
    limit = TIMES_CHANCE / counted.claims.k
    for column, share in counted.counting.linked_by().items():
        if share > limit:
            yield decide("predicted", column, share=share, chance=1.0 / counted.claims.k)


def _too_few_values(counted: Counted) -> Iterator[Finding]:
    for subset in counted.subsets:
        yield from subset.too_few_values
    if counted.joint is not None and not counted.joint.below:
        yield from counted.counting.too_few_values(counted.keys)
    for name, (texts, values) in counted.counting.spellings.items():
        yield note("spellings_counted_as_one", name, texts=texts, values=values)


def _dominated(counted: Counted) -> Iterator[Finding]:
    claims = counted.claims
    for found in (*counted.subsets, *counted.own_subsets):
        keys = found.count.columns
        for column, groups in found.dominated_amounts.items():
            if groups:
                yield decide("dominated", column, keys=keys, groups=groups, percent=claims.p_percent)
        if found.dominated_weights:
            yield decide("dominated", claims.weight or "", keys=keys, groups=found.dominated_weights)


def pairs(claims: Claims) -> Iterator[Finding]:
    """Known before any group is."""
    if claims.k == 2:
        yield decide("pairs")


def _real_values(counted: Counted) -> Iterator[Finding]:
    groups = sum(found.real_values for found in (*counted.subsets, *counted.own_subsets))
    if groups:
        yield decide("real_values", groups=groups, clipped=counted.claims.clip)


def _partial(counted: Counted) -> Iterator[Finding]:
    if counted.joint is not None and counted.joint.below:
        unique, below = counted.joint.unique, counted.joint.below
        yield decide("partial", k=counted.claims.k, unique=unique, below=below)


def _unchanged(counted: Counted) -> Iterator[Finding]:
    own = counted.counting.unchanged()
    found = sorted((name for name in own if own[name]), key=lambda name: -own[name])
    if found:
        yield note(
            "unchanged", *found, records={name: own[name] for name in found}, of=counted.counting.records
        )


def _changed_categories(counted: Counted) -> Iterator[Finding]:
    found = counted.category_changes
    if found is None:
        return
    if found.two_way is not None:
        share, of_middles = 100.0 * found.two_way, 100.0 * found.two_way_of_middles
        most = found.two_way_of_middles + allowed(counted.claims.k, found.effective_records)
        far = found.two_way > most
        make = refuse if far else note
        yield make("tables", *found.columns, moved=share, of_middles=of_middles, far=far)
    if found.not_in_source:
        yield refuse("combination_not_in_source", *found.columns, combinations=found.not_in_source)
    if found.unchanged:
        yield note("unchanged_categories", *found.columns, records=found.unchanged, of=found.cells)
    if found.new:
        records, of = found.new_records, counted.counting.records
        yield note("new_combinations", *found.columns, combinations=found.new, records=records, of=of)
    moved = {name: 100.0 * share for name, share in found.margins.items() if share > 0.0}
    names = sorted(moved, key=lambda name: -moved[name])
    if names:
        yield note("margins", *names, moved={name: moved[name] for name in names})


def _unique_records(counted: Counted) -> Iterator[Finding]:
    others = [each for each in counted.not_counted if not each.confidential]
    if counted.unique and len(others) > 1:
        yield note("unique", records=counted.unique, of=counted.counting.records, others=len(others))


def _recoded_codes(counted: Counted) -> Iterator[Finding]:
    if cells := counted.counting.changes.recoded:
        yield note("recoded", *cells, cells=cells, k=counted.claims.k)


def _order(counted: Counted) -> Iterator[Finding]:
    yield from counted.counting.order_findings()


RULES = (
    Rule("k", _k_per_subset),
    Rule("published_values", _published_values),
    Rule("respondents", _respondents),
    Rule("derived", _derived),
    Rule("predicted", _predicted),
    Rule("distinct", _too_few_values),
    Rule("dominated", _dominated),
    Rule("pairs", lambda counted: pairs(counted.claims)),
    Rule("real_values", _real_values),
    Rule("partial", _partial),
    Rule("unique", _unique_records),
    Rule("unchanged", _unchanged),
    Rule("categories", _changed_categories),
    Rule("recoded", _recoded_codes),
    Rule("order", _order),
)

assert {name.replace("-", "_") for name in ACCEPTABLE} <= {rule.name for rule in RULES}


# --- shared by what counts ----------------------------------------------------------------------


def too_few_values(
    claims: Claims,
    column: str,
    keys: tuple[str, ...],
    groups: int,
    records: int,
    masked: bool,
    spellings: bool,
) -> Finding:
    """In some of the classes that the keys make, a confidential column has fewer values than it must have:
    as released, if it is masked and these are counted. Spellings of one text count as one value.
    """
    least = claims.min_distinct
    counts = {"groups": groups, "records": records, "least": least}
    return decide("distinct", column, keys=keys, **counts, masked=masked, spellings=spellings)


def key_subsets(claims: Claims) -> tuple[tuple[str, ...], ...]:
    """Strata alone are keys too."""
    return claims.subsets or ((),)


def k_counts(
    claims: Claims, count: Callable[[tuple[str, ...]], Count]
) -> tuple[tuple[Count, ...], Count | None]:
    """What is counted of each subset, and of the keys of several ones together."""
    counts = [count(claims.strata + subset) for subset in key_subsets(claims)]
    counts += [count(subset) for subset in claims.own_subsets]
    return tuple(counts), count(key_columns(claims)) if len(claims.subsets) > 1 else None


def k_failures(claims: Claims, counts: Sequence[Count]) -> list[Finding]:
    """Combinations that too few records share."""
    return [
        refuse(
            "combination_too_rare",
            *count.columns,
            k=claims.k,
            classes=count.classes,
            below=count.below,
            smallest=count.smallest,
        )
        for count in counts
        if count.below
    ]
