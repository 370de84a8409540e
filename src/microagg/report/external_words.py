"""What the external page says in sentences. They follow from release and settings, not from the source."""

from __future__ import annotations

from collections.abc import Iterator

from microagg.report.facts import FEWEST_RECORDS_FOR_A_BAND, ExternalFacts, LossBand
from microagg.report.formatting import count, listed, number


def treatments(facts: ExternalFacts) -> list[tuple[tuple[str, ...], str]]:
    """What was done to the released columns, those with the same treatment together."""
    done = facts.policies
    treated: list[tuple[tuple[str, ...], str]] = []
    for subset in (*done.subsets, *done.own_subsets):
        together = "grouped by all of these columns together" if len(subset) > 1 else "grouped by itself"
        treated.append((subset, f"replaced by the {_common(facts)} of the group; {together}"))
    if done.noised:
        kind = "noise that keeps the correlations" if done.correlated_noise else "independent noise"
        share = number(100.0 * done.noise, 3)
        treated.append(
            (done.noised, f"{kind} was added, with a standard deviation of {share} % of the column's")
        )
    for column in done.strata:
        merged = "; rare codes were merged, if there were any" if done.merges_strata else ""
        treated.append(((column,), f"groups never cross its codes{merged}"))
    if done.weight is not None:
        treated.append(((done.weight,), "unchanged; the weights of the means"))
    touched = {column for columns, _ in treated for column in columns}
    treated.append((tuple(column for column in done.columns if column not in touched), "unchanged"))
    return [(columns, what) for columns, what in treated if columns]


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
    varied = [
        column
        for column in done.confidential
        if column not in (*done.noised, *facts.homogeneous, *_accepted_unseen(facts))
    ]
    if varied:
        yield (
            f"Among the records that share a combination{' of one line' if facts.partial else ''} there "
            f"are at least {done.min_distinct} different values of {listed(varied)}, each column by itself."
        )


def unprotected(facts: ExternalFacts) -> Iterator[str]:
    """What k does not promise, in plain English."""
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
    if facts.homogeneous and done.min_distinct == 2:
        yield (
            f"In some groups all records have the same value of {listed(facts.homogeneous)}. Who knows "
            "that somebody belongs to such a group knows that value."
        )
    elif facts.homogeneous:
        yield (
            f"In some groups there are fewer than {done.min_distinct} different values of "
            f"{listed(facts.homogeneous)}. Who knows that somebody belongs to such a group knows that the "
            "value is one of these."
        )
    if unseen := _accepted_unseen(facts):
        yield (
            f"Groups with too few different original values of {listed(unseen)} were accepted, if there "
            "are any: what they show is near to the values of their members."
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
        "who put their own values together can compute those of the last one. So can anybody who knows "
        "these values from elsewhere."
    )
    if not done.medians:
        yield (
            "Where one value of a group is much larger than the others, the mean times the number of "
            "records is nearly that value."
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
        left_out = done.leaves_out_strata or done.gives_up_values
        but = ", but for what may have been left out" if left_out else ""
        yield (
            f"Groups publish {means}: over all records, {means} and totals of masked columns are kept up "
            f"to rounding{but}."
        )
    by_how_much = "; the information loss says roughly by how much" if facts.loss else ""
    yield (
        "Variances and standard deviations of masked columns are too small, since differences within "
        f"groups are gone{by_how_much}."
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
    if done.leaves_out_strata:
        yield f"Records of strata with fewer than {facts.k} records were left out, if there were any."
    if done.gives_up_values:
        yield (
            "Besides values that were missing already, others may have been set to missing, so that each "
            f"pattern of missing values has at least {facts.k} records."
        )
    if done.zeros_apart:
        yield "Zeros are kept as zeros, except for records with rare patterns of them."
    if done.noised and not done.correlated_noise:
        yield f"Noise makes variances of {listed(done.noised)} larger and their correlations weaker."
    if done.merges_strata:
        yield (
            f"Strata with fewer than {facts.k} records were merged, if there were any: a code such as A+B "
            f"of {listed(done.strata)} stands for several original ones."
        )


def about_loss(facts: ExternalFacts) -> Iterator[str]:
    """What the band of the information loss means, or why there is none."""
    if facts.loss is None:
        yield (
            "No figure that was computed from the original data is given: of fewer than "
            f"{FEWEST_RECORDS_FOR_A_BAND} records, even a rough one can tell about single records."
        )
        return
    yield (
        f"The information loss is {facts.loss.value}. It is the share of the variation of the masked "
        "columns that lay within groups and is gone, over all of these columns in common units. As a rule "
        "of thumb, standard deviations shrink by half of that share; single columns may lose more or less."
    )
    yield _READING[facts.loss]
    yield (
        f"Only this band is given, one of {listed([band.value for band in LossBand])}: more exact figures "
        "about the original data could be solved for the values of single records."
    )


_READING = {
    LossBand.BELOW_1: (
        "That is little: analyses of all records by masked columns come out nearly as with the original "
        "data. Small subpopulations, tails and single records are another matter."
    ),
    LossBand.FROM_1_TO_5: (
        "That is moderate: means, regressions and correlations of all records are usually near to those of "
        "the original data; those of subpopulations may not be."
    ),
    LossBand.FROM_5_TO_20: (
        "That is noticeable: broad patterns hold, but variances are clearly too small, and relations "
        "between columns may look stronger or weaker than they are. Do not rest conclusions on these alone."
    ),
    LossBand.ABOVE_20: (
        "That is much: use masked columns for broad patterns. Variances, correlations and models fitted "
        "to them can be far from those of the original data."
    ),
}


def _accepted_unseen(facts: ExternalFacts) -> tuple[str, ...]:
    """Confidential columns whose groups may be of one original value, which the release does not show."""
    done = facts.policies
    if not done.accept_homogeneous:
        return ()
    own = (column for subset in done.own_subsets for column in subset)
    return tuple(column for column in (*own, *done.noised) if column not in facts.homogeneous)


def _common(facts: ExternalFacts) -> str:
    if facts.policies.medians:
        return "median"
    return "mean" if facts.policies.weight is None else "weighted mean"
