"""What the external page says in sentences. They depend on the policies, never on a value of the source."""

from __future__ import annotations

from collections.abc import Iterator

from microagg.report.facts import ExternalFacts
from microagg.report.words import count, listed, number


def treatments(facts: ExternalFacts) -> list[tuple[tuple[str, ...], str]]:
    """What was done to the released columns, those with the same treatment together."""
    done = facts.policies
    said: list[tuple[tuple[str, ...], str]] = []
    for subset in (*done.subsets, *done.own_subsets):
        together = "grouped by all of these columns together" if len(subset) > 1 else "grouped by itself"
        said.append((subset, f"replaced by the {_common(facts)} of the group; {together}"))
    if done.noised:
        kind = "noise that keeps the correlations" if done.correlated_noise else "independent noise"
        share = number(100.0 * done.noise, 3)
        said.append(
            (done.noised, f"{kind} was added, with a standard deviation of {share} % of the column's")
        )
    for column in done.strata:
        merged = "; rare codes were merged" if column in done.recoded else ""
        said.append(((column,), f"groups never cross its codes{merged}"))
    if done.weight is not None:
        said.append(((done.weight,), "unchanged; the weights of the means"))
    touched = {column for columns, _ in said for column in columns}
    said.append((tuple(column for column in done.columns if column not in touched), "unchanged"))
    return [(columns, what) for columns, what in said if columns]


def guarantees(facts: ExternalFacts) -> Iterator[str]:
    """What holds, and was counted."""
    done = facts.policies
    if facts.partial:
        yield (
            f"By the columns of one line of keys, at least {facts.k} records share each combination. By "
            "all keys together they do not: who knows values of several lines can single out records."
        )
    else:
        keys = listed([*done.strata, *(column for subset in done.subsets for column in subset)])
        yield (
            f"Who knows somebody's values of {keys} finds at least {facts.k} records that fit equally well."
        )
    if not done.medians:
        yield f"Each masked value is the {_common(facts)} of at least {facts.k} observed values."
    kept = [column for column in done.confidential if column not in done.noised]
    if kept and not done.homogeneous:
        yield (
            f"Among the records that share a combination{' of one line' if facts.partial else ''} there "
            f"are at least {done.min_distinct} different values of {listed(kept)}, each column by itself."
        )


def unprotected(facts: ExternalFacts) -> Iterator[str]:
    """What k does not promise, in plain words."""
    done = facts.policies
    claimed = {column for subset in done.subsets for column in subset} | set(done.strata)
    others = [column for column in done.columns if column not in claimed]
    if others:
        yield (
            f"Nothing is promised for {listed(others)}. Who knows a value in one of these columns may "
            "recognise a record by it."
        )
    if facts.partial:
        yield "Records are not hidden among others by all masked columns together."
    if done.homogeneous:
        yield (
            "In some groups all records have the same confidential value. Who knows that somebody belongs "
            "to such a group knows that value."
        )
    yield (
        "Who knows that somebody is in the data and finds the group learns what the group has in common: "
        "what it publishes is near to the true values where the group is tight, and is the true value "
        "where all members are alike."
    )
    if done.confidential:
        yield (
            f"A group may have different values of {listed(done.confidential)} that are all high, or all "
            "low. Different does not mean far apart."
        )
    yield (
        f"Members of a group know more than others: {count(facts.k - 1, 'member')} of a group of {facts.k} "
        "who put their own values together can compute those of the last one."
    )
    yield (
        "Who is known to be an extreme case, such as the largest company, is likely to be in the group "
        "with the most extreme values."
    )
    yield (
        "The promise holds for these data alone. Other data about the same respondents, or another release "
        "of the same data, can be put beside them."
    )
    if done.noised:
        yield f"Noise blurs {listed(done.noised)}, but hides nobody whose value stands out."


def limits(facts: ExternalFacts) -> Iterator[str]:
    """What an analysis must heed."""
    done = facts.policies
    if done.medians:
        yield "Groups publish medians: neither means nor totals are those of the original data."
    else:
        means = "means" if done.weight is None else "weighted means"
        but = ", but for what was left out" if facts.suppressed or done.gives_up_values else ""
        yield (
            f"Groups publish {means}: over all records, {means} and totals of masked columns are kept up "
            f"to rounding{but}."
        )
    yield (
        "Variances and standard deviations of masked columns are too small, since differences within "
        "groups are gone; the information loss says by how much."
    )
    yield (
        "Correlations between columns that were grouped together tend to be too strong; those with columns "
        "grouped apart, or not masked, tend to be too weak."
    )
    yield (
        "Tails are cut: the largest and smallest values are averages, so that extremes, high quantiles and "
        "measures of inequality are too moderate."
    )
    strata = f" Those defined by {listed(done.strata)} alone are kept apart." if done.strata else ""
    yield (
        "A subpopulation that is chosen by its values may share groups with records outside of it: its "
        f"means are only approximately right, the less so the smaller it is.{strata}"
    )
    yield (
        "Records of a group are not independent observations: standard errors computed as if they were are "
        "too small."
    )
    yield "Ratios, logarithms and products of masked values are not averages of the original ones."
    if done.gives_up_values:
        yield "Some values were set to missing, so that each pattern of missing values has enough records."
    if done.zeros_apart:
        yield "Zeros are kept as zeros, except for records with rare patterns of them."
    if done.noised and not done.correlated_noise:
        yield f"Noise makes variances of {listed(done.noised)} larger and their correlations weaker."
    if done.recoded:
        yield f"Merged codes of {listed(done.recoded)} stand for several original ones."


def _common(facts: ExternalFacts) -> str:
    if facts.policies.medians:
        return "median"
    return "mean" if facts.policies.weight is None else "weighted mean"
