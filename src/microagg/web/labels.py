"""What the pages call the options of a plan."""

from __future__ import annotations

from microagg import wording

ROLES = {
    "keys 1": "key: masked jointly",
    "keys 2": "key, second subset",
    "keys 3": "key, third subset",
    "keys 4": "key, fourth subset",
    "each": "key, masked by itself",
    "strata": "stratum: never crossed",
    "confidential": "confidential",
    "weight": "survey weight",
    "pass": "pass: released as is",
    "drop": "drop: not released",
}

LABELS = {
    "k": "Smallest group, k",
    "small_strata": "Strata with fewer than k records",
    "missing": "Missing values in keys",
    "zeros": "Zeros in keys",
    "aggregate": "A group publishes its",
    "shuffle": "Change the order of the records",
    "allow_pairs": "Accept k = 2",
    "accept_real_values": "Accept medians that are somebody's own value",
    "accept_partial": "Accept k for each subset, not for all keys jointly",
    "confidential_as": "Confidential columns are released",
    "noise": "Noise",
    "min_distinct": "Confidential values in a group, at least",
    "retry": "Try other groups until they have so many",
    "accept_homogeneous": "Accept groups with fewer",
    "effort": "Effort",
    "method": "Method",
    "scale": "Common unit",
    "seconds": "Limit of time, in seconds",
    "seed": "Seed",
    "certify": "Also prove how near to the optimum the groups are",
    "delimiter": "Sign between fields",
    "encoding": "Encoding",
    "decimal": "Decimal sign",
    "header": "First row",
    "sheet": "Sheet",
    "header_row": "Row with the names",
    "missing_codes": "codes for missing",
    "decimals": "decimals",
    "keys": "key: masked jointly",
    "weight": "survey weight",
}

OPTIONS = {
    "header": {"yes": "names of the columns", "no": "a record: there are no names"},
    "small_strata": {
        "refuse": "refuse",
        "merge": "merge with other small ones",
        "suppress": "suppress: leave their records out",
    },
    "missing": {"refuse": "refuse", "by-pattern": "by-pattern: group records that miss the same"},
    "zeros": {"together": "together with other values", "apart": "apart: records with the same zeros"},
    "aggregate": {"mean": "mean", "median": "median"},
    "confidential_as": {
        "keep": "keep: as they are",
        "subset": "subset: masked by themselves",
        "noise": "noise: with noise",
        "correlated-noise": "correlated-noise: with noise that keeps correlations",
    },
    "effort": {
        "fast": "fast: a glance",
        "balanced": "balanced",
        "best": "best: minutes rather than seconds",
    },
    "scale": {
        "zscore": "zscore: standard deviations",
        "range": "range: from smallest to largest",
        "robust": "robust: median deviations",
        "rank": "rank: places in the order",
        "none": "none: as they are",
    },
}


def label(option: str, value: object) -> str | None:
    """How the pages name an option, with one of its values if one is given; None without a control."""
    own = LABELS.get(option) or ROLES.get(option)
    if own is None or value in (None, True) or isinstance(value, dict):
        return own
    return f"{own}: {OPTIONS.get(option, {}).get(str(value), value)}"


PAGES = wording.on_pages(label)
"""Messages with the names of controls."""
