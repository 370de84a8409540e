"""Releases broken on purpose, each in one way: the verifier must catch every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg.model import Claims
from microagg.verdict import Count, Finding, decide, note, refuse
from microagg.verify import check_written, verify
from tests.oracles.covariances import moved
from tests.refusals import has, is_like, open_in, unsafe
from tests.unit.verify.releases import (
    EMPLOYEES,
    GROUPS,
    SURFACE,
    Made,
    masked,
    put,
    small_release,
    two_subsets,
)
from tests.unit.verify.test_verify import as_csv

BEYOND = refuse("combination_too_rare")


def changed(values: list[Any], at: int, value: Any) -> list[Any]:
    return [*values[:at], value, *values[at + 1 :]]


def refused(made: Made, *expected: Finding) -> None:
    """The verdict is unsafe, every failure is one of the expected and each of these is a failure.

    A class that is too small may also rest on too few values, and give confidential ones away.
    """
    verdict = made.verdict()
    assert not verdict.safe
    for each in expected:
        assert has(open_in(verdict), each), open_in(verdict)
    follows = ("too_few_observed", "distinct", "predicted") if BEYOND in expected else ()
    for failure in open_in(verdict):
        assert failure.rule in follows or any(is_like(failure, each) for each in expected), failure
    with unsafe() as caught:
        verdict.raise_if_unsafe()
    assert list(caught.value.findings) == open_in(verdict)
    assert caught.value.verdict is verdict
    assert all(str(failure) in str(caught.value) for failure in open_in(verdict))


# --- values and groups -------------------------------------------------------------------------


def test_two_groups_that_have_changed_places() -> None:
    made = small_release().claiming(rounding={"surface": 0.0, "employees": 0.0}, mean_tolerance={})
    assert made.verdict().safe
    values = made.column("surface")
    first, other = GROUPS[0], next(group for group in GROUPS if group != GROUPS[0])
    of = {group: values[GROUPS.index(group)] for group in GROUPS} | {
        first: values[GROUPS.index(other)],
        other: values[GROUPS.index(first)],
    }
    refused(
        made.with_released("surface", [of[group] for group in GROUPS]),
        refuse("not_the_mean", "surface", groups=2),
    )


def test_what_is_published_may_be_rounded_as_was_promised_and_no_further() -> None:
    made = small_release()
    shifted = [value + 0.004 for value in made.column("surface")]
    near = made.with_released("surface", shifted).claiming(mean_tolerance={"surface": 0.005})
    assert near.claiming(rounding={"surface": 0.005}).verdict().safe
    refused(near.claiming(rounding={"surface": 0.003}), refuse("not_the_mean"))


@pytest.mark.parametrize("at", range(12))
def test_the_last_bit_of_one_value(at: int) -> None:
    made = small_release()
    values = made.column("surface")
    broken = made.with_released("surface", changed(values, at, float(np.nextafter(values[at], np.inf))))
    refused(broken, BEYOND)
    count = broken.verdict().subsets[0]
    assert (count.classes, count.smallest, count.below, count.unique) == (5, 1, 3, 1)


def test_a_group_of_two() -> None:
    made = small_release()
    groups = changed(GROUPS, 2, 1)  # 2, 4, 3 and 3 records
    for name, values in (("surface", SURFACE), ("employees", EMPLOYEES)):
        made = made.with_released(name, masked(values, groups))
    refused(made, BEYOND)
    verdict = made.verdict()
    assert verdict.subsets[0].smallest == 2
    assert verdict.sentence.startswith("NOT k-anonymous (2 records are in combinations of region")


def test_a_group_across_strata() -> None:
    made = small_release()
    groups = [0, 0, 0, 1, 1, 2, 2, 2, 1, 3, 3, 3]
    for name, values in (("surface", SURFACE), ("employees", EMPLOYEES)):
        made = made.with_released(name, masked(values, groups))
    refused(made, BEYOND)


def test_rounding_that_differs_between_members() -> None:
    made = small_release()
    values = [round(value, 1) for value in made.column("surface")]
    made = made.with_released("surface", values).claiming(mean_tolerance={"surface": 0.05})
    assert made.verdict().safe
    assert values[0] != round(values[0])
    refused(
        made.with_released("surface", changed(values, 0, float(round(values[0])))),
        BEYOND,
        refuse("too_few_observed"),
    )


def test_unmasked_values() -> None:
    refused(small_release().with_released("surface", SURFACE), BEYOND)


def test_signs_of_zero_within_a_group() -> None:
    made = small_release().claiming(mean_tolerance={})
    values = [0.0] * 3 + made.column("surface")[3:]
    assert made.with_released("surface", values).verdict().safe
    refused(made.with_released("surface", changed(values, 0, -0.0)), BEYOND)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_for_a_whole_group(value: float) -> None:
    made = small_release().claiming(mean_tolerance={}, may_set_to_missing=True)
    refused(
        made.with_released("surface", [value] * 3 + made.column("surface")[3:]),
        refuse("not_a_number", records=3),
    )


def test_nan_among_strata() -> None:
    made = small_release()
    codes = pa.array([float("nan")] * 6 + [1.0] * 6)
    refused(
        made.with_source("region", codes).with_released("region", codes), refuse("not_a_number", records=6)
    )


def test_text_for_numbers() -> None:
    made = small_release()
    texts = pa.array([str(value) for value in made.column("surface")])
    refused(
        made.with_released("surface", texts), refuse("masked_not_numeric", "surface", kind="large_string")
    )


def test_a_shifted_mean() -> None:
    made = small_release()
    shifted = [value + 1e-5 for value in made.column("surface")]
    refused(made.with_released("surface", shifted), refuse("mean_not_kept", "surface"))
    assert made.with_released("surface", shifted).claiming(mean_tolerance={"surface": 2e-5}).verdict().safe


def test_another_group_in_place_of_the_mean() -> None:
    made = small_release()
    values = made.column("employees")
    refused(made.with_released("employees", values[3:6] + values[3:]), refuse("mean_not_kept", "employees"))


def weighted(weights: list[float]) -> Made:
    made = small_release().claiming(weight="weight")
    made = replace(
        made,
        source=made.source.append_column("weight", pa.array(weights, pa.float64())),
        released=made.released.append_column("weight", pa.array(weights, pa.float64())),
    )
    for name, values in (("surface", SURFACE), ("employees", EMPLOYEES)):
        made = made.with_released(name, masked(values, GROUPS, weights))
    return made


def test_unweighted_means_for_weighted_ones() -> None:
    made = weighted([1.0, 1.0, 1.5] * 4)
    assert made.verdict().safe
    plain = made.with_released("surface", masked(SURFACE, GROUPS))
    refused(plain, refuse("mean_not_kept", "surface"))
    refused(
        made.claiming(weight=None), refuse("mean_not_kept", "surface"), refuse("mean_not_kept", "employees")
    )


def test_a_dominant_weight() -> None:
    refused(
        weighted([1.0, 1.0, 1.0] * 3 + [1.0, 2.5, 1.0]),
        decide("dominated", "weight", keys=("region", "surface", "employees"), groups=1),
    )
    assert weighted([1.0, 1.0, 1.0] * 3 + [1.0, 2.0, 1.0]).verdict().safe  # a half is allowed
    assert weighted([0.1, 0.2, 0.3] * 4).verdict().safe


@pytest.mark.parametrize("sign", [".", ","])
def test_weights_of_a_csv_file(sign: str) -> None:
    def as_text(made: Made) -> Made:
        texts = pa.array([str(weight).replace(".", sign) for weight in made.column("weight")])
        return made.with_source("weight", texts).with_released("weight", texts)

    assert as_text(weighted([1.0, 1.0, 1.5] * 4)).verdict().safe
    refused(as_text(weighted([1.0, 1.0, 2.5] * 4)), decide("dominated", groups=4))
    made = weighted([1.0] * 12).claiming(mean_tolerance={})
    words = pa.array(["heavy", *["1"] * 11])
    refused(
        made.with_source("weight", words).with_released("weight", words),
        refuse("weights_unusable", "weight", records=12),
    )


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf"), None])
def test_weights_that_are_none(weight: float | None) -> None:
    made = weighted([1.0] * 12).claiming(mean_tolerance={})
    weights = [weight] + [1.0] * 11
    refused(
        made.with_source("weight", weights).with_released("weight", weights),
        refuse("weights_unusable", "weight", records=1),
    )


# --- missing values ----------------------------------------------------------------------------


def test_a_value_where_the_source_has_none() -> None:
    made = small_release().with_source("surface", [*SURFACE[:11], None]).claiming(mean_tolerance={})
    refused(made, refuse("value_without_source", records=1), refuse("too_few_observed", k=3, records=3))


def test_a_mean_of_two_values_in_a_larger_group() -> None:
    made = small_release().claiming(mean_tolerance={}, k=2, accept=("pairs",))
    made = made.with_source("surface", [*SURFACE[:10], None, None])
    refused(made, refuse("value_without_source", records=2), refuse("too_few_observed", k=2, records=3))


def test_a_missing_cell_apart_from_its_group() -> None:
    made = small_release()
    refused(
        made.with_released("surface", changed(made.column("surface"), 4, None)).claiming(mean_tolerance={}),
        BEYOND,
        refuse("values_vanished", "surface", records=1),
    )


def test_nan_in_the_source_counts_as_missing() -> None:
    made = small_release().with_source("surface", [*SURFACE[:11], float("nan")]).claiming(mean_tolerance={})
    refused(made, refuse("value_without_source"), refuse("too_few_observed", k=3))


@pytest.mark.parametrize("before", [None, 107.0])
def test_noise_that_moves_missing_values(before: float | None) -> None:
    made = small_release().claiming(noised=("turnover",))
    values = made.column("turnover")
    made = made.with_source("turnover", changed(values, 7, before))
    noisy = [value + 2.5 for value in values]
    made = made.with_released("turnover", changed(noisy, 7, 3.0 if before is None else None))
    refused(made, refuse("missing_moved", "turnover", records=1))


def test_noise_that_rounding_undoes() -> None:
    made = small_release().claiming(noised=("turnover",))
    values = made.column("turnover")
    for undone in (12, 7):
        shifts = [0.4 if at < undone else 2.5 for at in range(12)]
        noisy = [value + shift for value, shift in zip(values, shifts, strict=True)]
        refused(made.with_released("turnover", noisy), refuse("noise_undone", values=undone, of=12))
    shifts = [0.4 if at < 6 else 2.5 for at in range(12)]
    noisy = [value + shift for value, shift in zip(values, shifts, strict=True)]
    verdict = made.with_released("turnover", noisy).verdict()
    assert verdict.failures == ()
    assert has(verdict.notes, note("noise_partly_undone", "turnover", values=6, of=12))


# --- rows --------------------------------------------------------------------------------------


def test_two_records_swapped() -> None:
    made = small_release()
    order = [0, 1, 3, 2, *range(4, 12)]
    refused(
        replace(made, released=made.released.take(order)),
        refuse("column_changed", "note", records=2),
        refuse("column_changed", "turnover"),
        refuse("column_changed", "open"),
    )


def test_a_record_twice() -> None:
    made = small_release()
    rows = np.array([*range(12), 0])
    refused(replace(made, released=made.released.take(rows), rows=rows), refuse("rows_repeated", records=1))


def test_a_record_twice_in_place_of_another() -> None:
    made = small_release()
    rows = np.array([*range(11), 9])
    refused(replace(made, released=made.released.take(rows), rows=rows), refuse("rows_repeated", records=1))


ROWS: dict[str, tuple[Any, str]] = {
    "one too few": (np.arange(11), "rows_miscounted"),
    "one too many": (np.arange(13), "rows_miscounted"),
    "behind the end": (np.array([*range(11), 12]), "rows_unknown"),
    "before the start": (np.array([-1, *range(11)]), "rows_unknown"),
    "no whole numbers": (np.arange(12.0), "rows_unusable"),
    "truth values": (np.ones(12, bool), "rows_unusable"),
    "a matrix": (np.arange(12)[:, None], "rows_unusable"),
    "none": (np.array([], np.int64), "rows_miscounted"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_do_not_fit(name: str) -> None:
    rows, rule = ROWS[name]
    made = replace(small_release(), rows=rows)
    refused(made, refuse(rule))
    assert made.verdict().sentence.startswith("NOT verified")


def test_nothing_released() -> None:
    made = small_release()
    none = np.array([], np.int64)
    refused(replace(made, released=made.released.slice(0, 0), rows=none), refuse("nothing_released"))


def test_a_suppressed_record_of_a_group_of_three() -> None:
    made = small_release()
    rows = np.arange(1, 12)
    refused(
        replace(made, released=made.released.take(rows), rows=rows).claiming(mean_tolerance={}),
        BEYOND,
        refuse("records_left_out", records=1),
    )


# --- columns -----------------------------------------------------------------------------------


def differ(**found: list[str]) -> Finding:
    lists: dict[str, list[str]] = {"missing": [], "added": [], "dropped": []}
    return refuse("columns_differ", **(lists | found))


COLUMNS: dict[str, tuple[Callable[[pa.Table], pa.Table], Finding]] = {
    "dropped": (lambda table: table.drop_columns(["note"]), differ(missing=["note"])),
    "renamed": (
        lambda table: table.rename_columns({"note": "notes"}),
        differ(missing=["note"], added=["notes"]),
    ),
    "reordered": (lambda table: table.select([*table.column_names[::-1]]), differ()),
    "added": (lambda table: table.append_column("group", pa.array(GROUPS)), differ(added=["group"])),
    "twice": (lambda table: table.append_column("note", table.column("note")), differ()),
    "an identifier": (
        lambda table: table.add_column(0, "name", pa.array(["firm"] * 12)),
        differ(dropped=["name"]),
    ),
    "a key dropped": (lambda table: table.drop_columns(["surface"]), differ(missing=["surface"])),
    "cast": (
        lambda table: put(table, "turnover", table.column("turnover").cast(pa.float32())),
        refuse("column_retyped", "turnover", kind="float", needed="double"),
    ),
    "cast to whole numbers": (
        lambda table: put(table, "turnover", table.column("turnover").cast(pa.int64())),
        refuse("column_retyped", "turnover", kind="int64"),
    ),
    "text as categories": (
        lambda table: put(table, "note", table.column("note").dictionary_encode()),
        refuse("column_retyped", "note"),
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_do_not_fit(name: str) -> None:
    broken, finding = COLUMNS[name]
    made = small_release()
    refused(replace(made, released=broken(made.released)), finding)


CELLS = {
    "note": (4, "x"),
    "open": (4, not small_release().column("open")[4]),
    "turnover": (4, float(np.nextafter(104.0, 105.0))),
}


@pytest.mark.parametrize("name", CELLS)
def test_one_cell_of_an_untouched_column(name: str) -> None:
    made = small_release()
    refused(
        made.with_released(name, changed(made.column(name), *CELLS[name])),
        refuse("column_changed", name, records=1),
    )


@pytest.mark.parametrize(("before", "after"), [(None, ""), ("", None), (0.0, -0.0), (None, float("nan"))])
def test_values_that_look_alike(before: Any, after: Any) -> None:
    kind = pa.string() if "" in (before, after) else pa.float64()
    made = small_release()
    made = replace(made, source=made.source.append_column("more", pa.array([before] * 12, kind)))
    values = pa.array([before] * 11 + [after], kind)
    made = replace(made, released=made.released.append_column("more", values))
    refused(made, refuse("column_changed", "more", records=1))


def test_an_identifier_that_must_not_be_named_a_key() -> None:
    made = small_release()
    refused(made.claiming(dropped=()), differ(missing=["name"]))


# --- strata ------------------------------------------------------------------------------------


def test_a_stratum_changed() -> None:
    made = small_release()
    refused(
        made.with_released("region", ["N"] * 3 + ["S"] * 9),
        refuse("column_changed", "region", records=3),
    )


SECTOR = ["A"] * 3 + ["B"] * 3 + ["A"] * 3 + ["C", "D", "D"]


def joined(sector: list[Any], region: list[str] | None = None) -> Made:
    """The last three records are of small strata: their sectors may be those of other records."""
    made = small_release()
    made = replace(
        made,
        source=made.source.append_column("sector", pa.array(SECTOR)),
        released=made.released.append_column("sector", pa.array(sector)),
    ).claiming(strata=("region", "sector"), small_strata="nearest")
    return made if region is None else made.with_released("region", region)


def test_codes_of_records_that_joined_a_group() -> None:
    region = small_release().column("region")
    assert region == ["N"] * 6 + ["S"] * 6
    verdict = joined(SECTOR[:9] + ["A"] * 3).verdict()
    assert verdict.safe
    assert verdict.changes.recoded == {"sector": 3}
    assert has(verdict.notes, note("recoded", "sector", cells={"sector": 3}))


def test_strata_left_small() -> None:
    refused(joined(SECTOR), BEYOND)


def test_a_combination_that_the_source_does_not_have() -> None:
    unknown = refuse("stratum_unknown", "region", "sector", records=3, k=3)
    refused(joined(SECTOR[:9] + ["C+D"] * 3), unknown)
    refused(joined(SECTOR[:9] + ["B"] * 3), unknown)  # the source has it elsewhere only
    refused(joined(SECTOR[:9] + ["D"] * 3), refuse("stratum_unknown", records=1))


def test_a_large_stratum_that_was_changed() -> None:
    left = refuse("stratum_left", "region", "sector", records=3, k=3)
    refused(joined(["B"] * 3 + SECTOR[3:9] + ["A"] * 3), left)
    refused(joined(SECTOR[:9] + ["A"] * 3, ["N"] * 3 + ["S"] * 9), left, refuse("stratum_unknown"))


def test_codes_of_another_type() -> None:
    made = joined(SECTOR[:9] + ["A"] * 3)
    numbers = pa.array([1] * 3 + [2] * 3 + [1] * 6)
    refused(
        made.with_released("sector", numbers),
        refuse("column_retyped", "sector", kind="int64", needed="large_string"),
    )


PAIRS = [at % 6 // 2 for at in range(24)]
"""Groups that share two records with each group of six."""


# --- confidential columns ----------------------------------------------------------------------


def test_a_homogeneous_group() -> None:
    made = small_release()
    values = [5.0] * 3 + made.column("turnover")[3:]
    made = made.with_source("turnover", values).with_released("turnover", values)
    refused(made, decide("distinct", "turnover", least=2, groups=1, masked=False))
    [found] = made.verdict().to_decide
    assert (found.figures["groups"], found.figures["records"]) == (1, 3)
    for accept in ("distinct", "distinct=turnover"):
        accepted = made.claiming(accept=(accept,)).verdict()
        assert accepted.safe
        assert accepted.accepted == (replace(found, action="accepted"),)
    assert not made.claiming(accept=("distinct=note",)).verdict().safe


def test_a_group_of_missing_values_is_homogeneous() -> None:
    made = small_release()
    values = [None] * 3 + made.column("turnover")[3:]
    refused(
        made.with_source("turnover", values).with_released("turnover", values),
        decide("distinct", groups=1),
    )
    values = [None, 1.0, 1.0, *made.column("turnover")[3:]]
    assert made.with_source("turnover", values).with_released("turnover", values).verdict().safe


def test_too_few_values_for_a_larger_least_number() -> None:
    made = small_release()
    values = [1.0, 1.0, 2.0, *made.column("turnover")[3:]]
    made = made.with_source("turnover", values).with_released("turnover", values)
    assert made.verdict().safe
    refused(made.claiming(min_distinct=3), decide("distinct", least=3, groups=1))


def test_masked_values_that_are_homogeneous() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    made = made.with_released("turnover", masked(made.column("turnover"), GROUPS))
    refused(made, decide("distinct", "turnover", least=2, groups=4, masked=True))


def test_an_own_subset_with_a_group_of_two() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    groups = [at % 4 for at in range(12)]
    made = made.with_released("turnover", masked(made.column("turnover"), changed(groups, 4, 1)))
    refused(made, refuse("combination_too_rare", "turnover", k=3), BEYOND)


def test_homogeneous_only_jointly() -> None:
    made = two_subsets(joint=True)
    employees = made.column("employees")
    # Employees alone now say less than both together: two groups become one.
    made = made.with_released("employees", employees[:3] * 2 + employees[6:]).claiming(mean_tolerance={})
    made = made.with_released("surface", made.column("surface")).claiming(min_distinct=4)
    groups = {each.figures["keys"]: each.figures["groups"] for each in open_in(made.verdict(), "distinct")}
    assert set(groups) == {
        ("region", "surface"),
        ("region", "employees"),
        ("region", "surface", "employees"),
    }
    assert groups["region", "employees"] == 2


def test_joint_combinations() -> None:
    refused(two_subsets(joint=False), decide("partial"))


def test_joint_combinations_of_two() -> None:
    n = 24
    source = pa.table({"a": [float(at) for at in range(n)], "b": [float(-at) for at in range(n)]})
    released = pa.table(
        {"a": masked(list(range(n)), [at // 6 for at in range(n)]), "b": masked(list(range(n)), PAIRS)}
    )
    made = Made(source, released, np.arange(n), Claims(k=3, subsets=(("a",), ("b",))))
    refused(made, decide("partial", unique=0))
    assert made.verdict().sentence == "k-anonymous per subset, NOT jointly (0 records unique)"
    assert made.verdict().joint == Count(("a", "b"), 12, 2, 24, 0)


# --- covariances -------------------------------------------------------------------------------


def with_covariances(decimals: int | None = None, weights: bool = False, groups: int = 12) -> Made:
    """Groups of five whose means were moved by the plain formula."""
    random = np.random.default_rng(5)
    n = 5 * groups
    values = random.lognormal(size=(n, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    weight = random.integers(3, 6, n).astype(float)
    labels = np.argsort(np.argsort(values.sum(axis=1))) // 5
    first = np.unique(labels, return_index=True)[1]
    after = moved(values, labels, weight if weights else None)[first][labels]
    after = after if decimals is None else after.round(decimals)
    source, released = (
        pa.table({"x": each[:, 0], "y": each[:, 1], "weight": weight}) for each in (values, after)
    )
    claims = Claims(
        k=5,
        subsets=(("x", "y"),),
        aggregate="covariances",
        weight="weight" if weights else None,
        rounding=dict.fromkeys("xy", 0.0 if decimals is None else 0.5 * 10.0**-decimals),
        mean_tolerance=dict.fromkeys("xy", 9.0),
    )
    return Made(source, released, np.arange(n), claims)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("decimals", [None, 3])
def test_broken_covariances(decimals: int | None, weights: bool) -> None:
    made = with_covariances(decimals, weights)
    assert made.verdict().safe
    assert "covariances_kept" in {each.rule for each in made.verdict().notes}
    not_kept, off_the_map = refuse("covariances_not_kept"), refuse("not_one_map")
    means_moved = refuse("moved_means_not_kept")
    x, y = (np.array(made.column(name)) for name in "xy")
    refused(made.with_released("x", np.where(x == x[0], x + 0.2, x)), off_the_map, not_kept, means_moved)
    centre = np.average(x, weights=made.column("weight") if weights else None)
    refused(made.with_released("x", centre + 0.99 * (x - centre)), not_kept)
    swapped = made
    for name, values in (("x", x), ("y", y)):
        other = values[x != x[0]][0]
        new = np.where(values == values[0], other, np.where(values == other, values[0], values))
        swapped = swapped.with_released(name, new)
    refused(swapped, off_the_map, *([not_kept, means_moved] if weights else []))
    means = made
    for name in "xy":
        own = made.source.column(name).to_pylist()
        means = means.with_released(
            name, masked(own, x.tolist(), made.column("weight") if weights else None)
        )
    refused(means, not_kept)
    refused(made.claiming(aggregate="mean"), refuse("not_the_mean"))


def test_broken_covariances_of_records_that_lack_a_column() -> None:
    """Those without y have a map of their own, of x alone."""
    random = np.random.default_rng(6)
    values = random.lognormal(size=(100, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    labels = np.concatenate(
        [np.argsort(np.argsort(half)) // 5 for half in (values[:60, 0], values[60:, 0])]
    )
    labels[60:] += 12
    after = values.copy()
    after[:60], after[60:, :1] = moved(values[:60], labels[:60]), moved(values[60:, :1], labels[60:])
    values[60:, 1] = after[60:, 1] = np.nan
    source, released = (
        pa.table({name: pa.array(own, from_pandas=True) for name, own in zip("xy", each.T, strict=True)})
        for each in (values, after)
    )
    claims = Claims(
        k=5,
        subsets=(("x", "y"),),
        aggregate="covariances",
        may_set_to_missing=True,
        rounding={"x": 0.0, "y": 0.0},
        mean_tolerance={"x": 9.0, "y": 9.0},
    )
    made = Made(source, released, np.arange(100), claims)
    assert made.verdict().safe
    assert has(made.verdict().notes, note("covariances_kept", maps=2))
    x = np.array(made.column("x"))
    few, lacking = np.arange(100) < 60, np.arange(100) >= 60
    for rows in (few, lacking):
        own = x[rows].mean()
        shrunk = np.where(rows, own + 0.99 * (x - own), x)
        refused(made.with_released("x", shrunk), refuse("covariances_not_kept"))
    together = np.array(x)
    together[few], together[lacking] = x[few] - 40.0 / 60.0, x[lacking] + 1.0
    assert together.mean() == pytest.approx(x.mean())
    refused(made.with_released("x", together), refuse("moved_means_not_kept"))


def test_covariances_of_too_few_records() -> None:
    assert with_covariances(groups=3).verdict().safe
    made = with_covariances(groups=3).claiming(subsets=(("x", "y", "weight"),), k=2, accept=("pairs",))
    made = made.claiming(rounding={"x": 9.0, "y": 9.0, "weight": 9.0})
    refused(made, refuse("covariances_of_too_few", records=15, statistics=6), BEYOND)


def test_clipped_values_that_lay_inside_or_lie_outside() -> None:
    plain = with_covariances()
    made = plain.claiming(clip=True, accept=("real-values",))
    for name in "xy":
        own = plain.source.column(name).to_numpy()
        made = made.with_released(name, np.clip(plain.column(name), own.min(), own.max()))
    assert made.verdict().safe
    assert has(made.verdict().notes, note("clipped"))
    refused(made.claiming(accept=()), decide("real_values", clipped=True))
    refused(made.with_released("x", plain.column("x")), refuse("not_one_map"))
    x = np.array(made.column("x"))
    inside = np.unique(x[(x > own.min()) & (x < own.max())])[1]
    ends = plain.source.column("x").to_numpy()
    for value in (ends.min(), ends.max()):
        refused(made.with_released("x", np.where(x == inside, value, x)), refuse("not_one_map"))


# --- claims ------------------------------------------------------------------------------------

CLAIMS: dict[str, dict[str, Any]] = {
    "k_below_2": {"k": 1},
    "no_keys": {"subsets": (), "strata": ()},
    "empty_subset": {"subsets": ((), ("surface",))},
    "unknown_column": {"confidential": ("profit",)},
    "two_roles": {"subsets": (("surface", "employees"), ("surface",))},
    "not_confidential": {"noised": ("open",)},
    "mean_of_dropped": {"mean_tolerance": {"name": 0.0}},
}


@pytest.mark.parametrize("reason", CLAIMS)
def test_claims_that_make_no_sense(reason: str) -> None:
    refused(small_release().claiming(**CLAIMS[reason]), refuse("claims_unusable", reason=reason))


def test_a_tolerance_that_is_no_number() -> None:
    refused(
        small_release().claiming(mean_tolerance={"surface": float("nan")}),
        refuse("mean_not_kept", "surface"),
    )


# --- own subsets -------------------------------------------------------------------------------

OWN = [at % 4 for at in range(12)]


def test_a_dominant_weight_in_an_own_subset() -> None:
    made = weighted([3.0] * 3 + [1.0] * 9).claiming(own_subsets=(("turnover",),), mean_tolerance={})
    made = made.with_released("turnover", masked(made.column("turnover"), OWN))
    refused(made, decide("dominated", "weight", keys=("turnover",), groups=3))


def test_a_value_without_source_in_an_own_subset() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    made = made.with_released("turnover", masked(made.column("turnover"), OWN))
    values = made.source.column("turnover").to_pylist()
    assert made.verdict().safe
    refused(
        made.with_source("turnover", changed(values, 5, None)),
        refuse("value_without_source", "turnover"),
        refuse("too_few_observed", k=3),
    )


# --- writers -----------------------------------------------------------------------------------

WRITERS: dict[str, tuple[Callable[[pa.Table], pa.Table], Finding]] = {
    "loses the last record": (
        lambda table: table.slice(0, 11),
        refuse("written_rows_differ", written=11, verified=12),
    ),
    "writes a record twice": (
        lambda table: table.take([*range(12), 0]),
        refuse("written_rows_differ", written=13),
    ),
    "loses a column": (lambda table: table.drop_columns(["open"]), differ(missing=["open"])),
    "reorders columns": (lambda table: table.select(table.column_names[::-1]), differ()),
    "reorders records": (
        lambda table: table.take([3, 1, 2, 0, *range(4, 12)]),
        refuse("written_differs", "note"),
    ),
    "loses a null": (
        lambda table: put(table, "note", ["NA", *table.column("note").to_pylist()[1:]]),
        refuse("written_differs", "note"),
    ),
    "cuts text": (lambda table: put(table, "note", [""] * 12), refuse("written_differs", "note")),
    "rounds": (
        lambda table: put(
            table, "surface", [round(value) for value in table.column("surface").to_pylist()]
        ),
        refuse("written_differs", "surface"),
    ),
    "cuts to single precision": (
        lambda table: put(table, "surface", table.column("surface").cast(pa.float32())),
        refuse("written_differs", "surface"),
    ),
    "writes the source's values": (
        lambda table: put(table, "surface", SURFACE),
        BEYOND,
    ),
    "keeps the identifier": (
        lambda table: table.add_column(0, "name", pa.array(["firm"] * 12)),
        differ(dropped=["name"]),
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_writers_that_change_something(name: str) -> None:
    made = small_release()
    write, finding = WRITERS[name]
    with unsafe(finding):
        check_written(made.released, write(made.released), made.verdict(), made.claims)


def test_a_csv_writer_of_six_digits() -> None:
    made = small_release()
    texts = [f"{value:.6g}" for value in made.column("surface")]
    with unsafe(refuse("written_differs", "surface")):
        check_written(
            made.released, put(as_csv(made.released), "surface", texts), made.verdict(), made.claims
        )


def test_a_shuffle_of_a_large_table_with_one_bit_changed() -> None:
    rng = np.random.default_rng(7)
    n, k = 3000, 3
    labels = rng.permutation(n) // k
    source = {name: rng.normal(size=n) for name in "abc"}
    released = {name: (np.bincount(labels, values) / k)[labels] for name, values in source.items()}
    rows = rng.permutation(n)
    claims = Claims(k=k, subsets=(("a", "b", "c"),), mean_tolerance=dict.fromkeys("abc", 0.0))
    tables = pa.table(source), pa.table(released).take(rows)
    assert verify(*tables, rows, claims).safe
    for name in "abc":
        values = tables[1].column(name).to_numpy().copy()
        values[1234] = np.nextafter(values[1234], 9.0)
        verdict = verify(tables[0], put(tables[1], name, values), rows, claims)
        assert verdict.subsets[0].unique == 1
        assert not verdict.safe
