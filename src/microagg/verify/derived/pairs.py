"""Rules by which one column gives a key, and several two-valued columns together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from microagg.model import Doubles
from microagg.verify.classes import Codes
from microagg.verify.derived.chance import chance_of_codes, log_choices
from microagg.verify.derived.lines import direction, line, longest_rise, narrowest
from microagg.verify.derived.relations import (
    EXACT,
    LEAST_A_CODE,
    LEAST_BEYOND_GUESSING,
    SINGLE,
    CodeCount,
    CodeToValue,
    Linear,
    Monotone,
    Rule,
    SameText,
    count_codes,
    in_order,
)
from microagg.verify.derived.sample import LEAST_SAMPLED_SHARE, Sample, half_unit

LEAST_FOR_A_LINE = 10
LEAST_FOR_AN_ORDER = 20
"""So many different values must a column and a key have that are on a line, or in the same order."""
WIDE = 100.0
"""So many times the rounding must a key vary by, or a rule says little within it."""
_MORE_SLACK = 1.05
"""A line that fits the sample within the rounding may leave it by a little elsewhere."""
_FITTED = 2000
"""Records through which lines and chains are laid."""
_LEAST_AGREEMENT = 0.85
"""Of pairs of records with the same code: each of them may be an exception."""


def rules_of_column(sample: Sample, name: str) -> list[tuple[int, Rule]]:
    """The simplest of the rules that are right in the most records, and these; codes where others fail."""
    found: list[tuple[int, Rule]] = []
    if sample.numbers is not None:
        found += [
            each for reading in _readings(sample, name) for each in _rules_of_numbers(sample, name, reading)
        ]
    elif sample.is_category:
        found += _same_text(sample, name)
    best = max(found, key=lambda each: each[0], default=None)
    if best is not None and best[0] == sample.n:
        return [best]
    codes = _value_of_code(sample, name)
    return [each for each in (best, codes) if each is not None]


def _readings(sample: Sample, name: str) -> Iterator[str]:
    """Those that differ, and have numbers in nearly all records."""
    seen: list[Doubles] = []
    for reading in sample.others.readings(name):
        values = sample.others.numbers(name, reading)
        if np.isfinite(values).mean() < LEAST_SAMPLED_SHARE:
            continue
        if not any(np.array_equal(values, other, equal_nan=True) for other in seen):
            seen.append(values)
            yield reading


def _rules_of_numbers(sample: Sample, name: str, reading: str) -> Iterator[tuple[int, Rule]]:
    single = str(sample.others.table.schema.field(name).type) in ("float", "halffloat")
    relative = SINGLE if single else EXACT
    rule = Linear("equal", sample.key, (name,), (reading,), relative=relative)
    right = sample.right(rule, 0.0, 0)
    if right:
        yield right, rule
    if right == sample.n:
        return
    x = sample.others.numbers(name, reading)
    there = np.flatnonzero(np.isfinite(x))[:_FITTED]
    there = there[np.argsort(x[there], kind="stable")]
    x, y = x[there], sample.numbers[there]  # type: ignore[index]  # numbers are looked at first
    with np.errstate(all="ignore"):
        turn = direction(x, y)
        distinct = min(len(np.unique(x)), len(np.unique(y))) if turn else 0
        if distinct >= LEAST_FOR_A_LINE:
            yield from _affine(sample, rule, x, y)
        if distinct >= LEAST_FOR_AN_ORDER:
            yield from _monotone(sample, rule, x, turn * y, turn)


def _affine(sample: Sample, equal: Linear, x: Doubles, y: Doubles) -> Iterator[tuple[int, Rule]]:
    """Exactly; or so that rounding gives the key; or, in keys that vary widely, up to both roundings."""
    origin = float(x[len(x) // 2])
    from_origin = x - origin
    slope, height = line(from_origin, y)
    both = sample.half_unit + abs(slope) * half_unit(x)
    slacks = [0.0, sample.half_unit]
    if both > sample.half_unit and WIDE * both <= np.std(y):
        slacks.append(both)
    # Two values of the column fix a line, and any two values of the key may belong to them.
    log_rules = 2.0 * math.log(len(sample.values))
    for slack in dict.fromkeys(slacks):
        weight, constant = slope, height
        near = np.abs(y - height - slope * from_origin) <= 1.5 * slack
        if slack and near.mean() >= LEAST_SAMPLED_SHARE - 0.01 and np.ptp(x[near]) > 0:
            weight, constant = narrowest(from_origin[near], y[near], slope)
        rule = Linear(
            "affine",
            sample.key,
            equal.columns,
            equal.readings,
            (weight,),
            constant,
            (origin,),
            slack * _MORE_SLACK,
            equal.relative,
        )
        if right := sample.right(rule, log_rules + (2.0 * math.log(2 * len(x)) if slack else 0.0), 2):
            yield right, rule


def _monotone(
    sample: Sample, equal: Linear, x: Doubles, y: Doubles, sign: float
) -> Iterator[tuple[int, Rule]]:
    """By a chain through the most frequent value of the key at each value of the column."""
    columns, at = np.unique(x, return_inverse=True)
    keys, of = np.unique(y, return_inverse=True)
    pairs, times = np.unique(at * len(keys) + of, return_counts=True)
    order = np.lexsort((times, pairs // len(keys)))
    usual = np.empty(len(columns))
    usual[pairs[order] // len(keys)] = keys[
        pairs[order] % len(keys)
    ]  # the last one, the most frequent, stays
    chain = longest_rise(usual)
    if len(chain) < LEAST_SAMPLED_SHARE * 0.95 * len(columns) or len(chain) < LEAST_FOR_AN_ORDER:
        return
    rule = Monotone(sample.key, equal.columns, equal.readings[0], columns[chain], usual[chain], sign)
    _, column, key = rule.places(sample.keys, sample.others)
    right = in_order(column, key)
    if sample.proves(right, math.log(2.0)):
        yield right, rule


def _same_text(sample: Sample, name: str) -> Iterator[tuple[int, Rule]]:
    if "digits" not in sample.others.readings(name):  # no text
        return
    rule = SameText(sample.key, (name,))
    right = int(rule.is_computed(sample.keys, sample.others).sum())
    if sample.proves(right, 0.0):
        yield right, rule


# --- codes ---------------------------------------------------------------------------------------


def _value_of_code(sample: Sample, name: str) -> tuple[int, Rule] | None:
    codes = sample.others.codes(name)
    if (int(codes[0].max()) + 1) * LEAST_A_CODE > sample.records:
        return None
    count = count_codes([codes], (sample.classes.labels,))
    if _are_codes(sample, count, 0.0):
        return count.right, CodeToValue("code", sample.key, (name,), sample.most_frequent)
    return None


def _are_codes(sample: Sample, count: CodeCount, log_choice: float) -> bool:
    """Whether codes that were chosen in so many ways give the key.

    In a sample many codes occur once and are right; so only repetitions are judged.
    """
    wrong = count.records - count.right
    repeats = count.records - count.codes
    return (
        count.codes * LEAST_A_CODE <= sample.records
        and sample.is_right_often(count.right)
        and (sample.is_whole or wrong <= (1.0 - _LEAST_AGREEMENT) * repeats)
        and sample.is_no_chance(chance_of_codes(count.codes, sample.counts, wrong) + log_choice)
    )


def dummies(sample: Sample, names: Sequence[str]) -> list[tuple[int, Rule]]:
    """Two-valued columns which together give the key: each of them is the same for all records of a value.

    That requirement keeps columns out which only happen to split the records finely.
    """
    key = (sample.classes.labels,)
    if not 2 < sample.classes.count <= sample.n // LEAST_A_CODE:
        return []
    chosen: dict[str, Codes] = {}
    two_valued = 0
    for name in names:
        codes = sample.others.codes(name)
        times = np.bincount(codes[0])
        if len(times) == 2:
            two_valued += 1
            wrong = sample.n - count_codes([key], codes).right
            if wrong <= LEAST_BEYOND_GUESSING * times.min():
                chosen[name] = codes
    right = count_codes(list(chosen.values()), key).right
    for name in list(chosen):
        without = [codes for other, codes in chosen.items() if other != name]
        if count_codes(without, key).right == right:
            del chosen[name]
    count = count_codes(list(chosen.values()), key)
    if len(chosen) < 2 or not _are_codes(sample, count, log_choices(two_valued, len(chosen))):
        return []
    return [(count.right, CodeToValue("dummies", sample.key, tuple(chosen), sample.most_frequent))]
