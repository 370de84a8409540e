"""Releases broken on purpose, each in one way: the verifier must catch every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg import errors
from microagg.model import Claims
from microagg.verdict import Count
from microagg.verify import check_written, verify
from tests.unit.releases import EMPLOYEES, GROUPS, SURFACE, Made, masked, put, small_release, two_subsets
from tests.unit.test_verify import as_csv

BEYOND = "fewer than 3 records share"


def changed(values: list[Any], at: int, value: Any) -> list[Any]:
    return [*values[:at], value, *values[at + 1 :]]


def refused(made: Made, *words: str) -> None:
    """The verdict is unsafe, every failure has one of the words and each word has a failure.

    A class that is too small may also rest on too few values, and give confidential ones away.
    """
    verdict = made.verdict()
    assert not verdict.safe
    for word in words:
        assert any(word in failure for failure in verdict.failures), verdict.failures
    follows = ("rest on fewer than", "different values in") if BEYOND in words else ()
    for failure in verdict.failures:
        assert any(word in failure for word in words + follows), failure
    with pytest.raises(errors.UnsafeRelease) as caught:
        verdict.raise_if_unsafe()
    assert all(failure in str(caught.value) for failure in verdict.failures)


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
    refused(made.with_released("surface", [of[group] for group in GROUPS]), "2 groups publish in 'surface'")


def test_what_is_published_may_be_rounded_as_was_promised_and_no_further() -> None:
    made = small_release()
    shifted = [value + 0.004 for value in made.column("surface")]
    near = made.with_released("surface", shifted).claiming(mean_tolerance={"surface": 0.005})
    assert near.claiming(rounding={"surface": 0.005}).verdict().safe
    refused(near.claiming(rounding={"surface": 0.003}), "something other than the mean")


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
        made.with_released("surface", changed(values, 0, float(round(values[0])))), BEYOND, "rest on fewer"
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
    made = small_release().claiming(mean_tolerance={})
    refused(made.with_released("surface", [value] * 3 + made.column("surface")[3:]), "NaN or infinity in 3")


def test_nan_among_strata() -> None:
    made = small_release()
    codes = pa.array([float("nan")] * 6 + [1.0] * 6)
    refused(made.with_source("region", codes).with_released("region", codes), "NaN or infinity in 6")


def test_text_for_numbers() -> None:
    made = small_release()
    texts = pa.array([str(value) for value in made.column("surface")])
    refused(made.with_released("surface", texts), "holds no numbers")


def test_a_shifted_mean() -> None:
    made = small_release()
    shifted = [value + 1e-5 for value in made.column("surface")]
    refused(made.with_released("surface", shifted), "The mean of 'surface' changes by 1e-05")
    assert made.with_released("surface", shifted).claiming(mean_tolerance={"surface": 2e-5}).verdict().safe


def test_another_group_in_place_of_the_mean() -> None:
    made = small_release()
    values = made.column("employees")
    refused(made.with_released("employees", values[3:6] + values[3:]), "The mean of 'employees'")


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
    refused(plain, "The mean of 'surface'")
    refused(made.claiming(weight=None), "The mean of 'surface'", "The mean of 'employees'")


def test_a_dominant_weight() -> None:
    refused(
        weighted([1.0, 1.0, 1.0] * 3 + [1.0, 2.5, 1.0]), "In 1 group of region, surface and employees one"
    )
    assert weighted([1.0, 1.0, 1.0] * 3 + [1.0, 2.0, 1.0]).verdict().safe  # a half is allowed
    assert weighted([0.1, 0.2, 0.3] * 4).verdict().safe


@pytest.mark.parametrize("sign", [".", ","])
def test_weights_of_a_csv_file(sign: str) -> None:
    def as_text(made: Made) -> Made:
        texts = pa.array([str(weight).replace(".", sign) for weight in made.column("weight")])
        return made.with_source("weight", texts).with_released("weight", texts)

    assert as_text(weighted([1.0, 1.0, 1.5] * 4)).verdict().safe
    refused(as_text(weighted([1.0, 1.0, 2.5] * 4)), "In 4 groups of region, surface and employees one")
    made = weighted([1.0] * 12).claiming(mean_tolerance={})
    words = pa.array(["heavy", *["1"] * 11])
    refused(made.with_source("weight", words).with_released("weight", words), "Weight 'weight' of 12")


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf"), None])
def test_weights_that_are_none(weight: float | None) -> None:
    made = weighted([1.0] * 12).claiming(mean_tolerance={})
    weights = [weight] + [1.0] * 11
    refused(
        made.with_source("weight", weights).with_released("weight", weights),
        "Weight 'weight' of 1 released record is missing or not",
    )


# --- missing values ----------------------------------------------------------------------------


def test_a_value_where_the_source_has_none() -> None:
    made = small_release().with_source("surface", [*SURFACE[:11], None]).claiming(mean_tolerance={})
    refused(made, "a value where the source has none, in 1 record", "of 3 records rest on fewer than 3")


def test_a_mean_of_two_values_in_a_larger_group() -> None:
    made = small_release().claiming(mean_tolerance={}, k=2)
    made = made.with_source("surface", [*SURFACE[:10], None, None])
    refused(made, "a value where the source has none, in 2", "of 3 records rest on fewer than 2")


def test_a_missing_cell_apart_from_its_group() -> None:
    made = small_release()
    refused(
        made.with_released("surface", changed(made.column("surface"), 4, None)).claiming(mean_tolerance={}),
        BEYOND,
    )


def test_nan_in_the_source_counts_as_missing() -> None:
    made = small_release().with_source("surface", [*SURFACE[:11], float("nan")]).claiming(mean_tolerance={})
    refused(made, "a value where the source has none", "rest on fewer than 3")


@pytest.mark.parametrize("before", [None, 107.0])
def test_noise_that_moves_missing_values(before: float | None) -> None:
    made = small_release().claiming(noised=("turnover",))
    values = made.column("turnover")
    made = made.with_source("turnover", changed(values, 7, before))
    noisy = [value + 2.5 for value in values]
    made = made.with_released("turnover", changed(noisy, 7, 3.0 if before is None else None))
    refused(made, "missing in only one")


def test_noise_that_rounding_undoes() -> None:
    made = small_release().claiming(noised=("turnover",))
    values = made.column("turnover")
    for undone in (12, 7):
        shifts = [0.4 if at < undone else 2.5 for at in range(12)]
        noisy = [value + shift for value, shift in zip(values, shifts, strict=True)]
        refused(made.with_released("turnover", noisy), f"undone by rounding in {undone} of 12 records")
    shifts = [0.4 if at < 6 else 2.5 for at in range(12)]
    noisy = [value + shift for value, shift in zip(values, shifts, strict=True)]
    verdict = made.with_released("turnover", noisy).verdict()
    assert verdict.failures == ()
    assert any("undone by rounding in 6 of 12 records" in note for note in verdict.notes)


# --- rows --------------------------------------------------------------------------------------


def test_two_records_swapped() -> None:
    made = small_release()
    order = [0, 1, 3, 2, *range(4, 12)]
    refused(
        replace(made, released=made.released.take(order)),
        "'note' was to stay as it is, but 2 records are changed",
        "'turnover'",
        "'open'",
    )


def test_a_record_twice() -> None:
    made = small_release()
    rows = np.array([*range(12), 0])
    refused(replace(made, released=made.released.take(rows), rows=rows), "1 are released more than once")


def test_a_record_twice_in_place_of_another() -> None:
    made = small_release()
    rows = np.array([*range(11), 9])
    refused(replace(made, released=made.released.take(rows), rows=rows), "more than once")


ROWS = {
    "one too few": np.arange(11),
    "one too many": np.arange(13),
    "behind the end": np.array([*range(11), 12]),
    "before the start": np.array([-1, *range(11)]),
    "no whole numbers": np.arange(12.0),
    "truth values": np.ones(12, bool),
    "a matrix": np.arange(12)[:, None],
    "none": np.array([], np.int64),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_do_not_fit(name: str) -> None:
    made = replace(small_release(), rows=ROWS[name])
    refused(made, "do not fit the source")
    assert made.verdict().sentence.startswith("NOT verified")


def test_nothing_released() -> None:
    made = small_release()
    none = np.array([], np.int64)
    refused(replace(made, released=made.released.slice(0, 0), rows=none), "No record is left")


def test_a_suppressed_record_of_a_group_of_three() -> None:
    made = small_release()
    rows = np.arange(1, 12)
    refused(
        replace(made, released=made.released.take(rows), rows=rows).claiming(mean_tolerance={}),
        BEYOND,
    )


# --- columns -----------------------------------------------------------------------------------

COLUMNS: dict[str, tuple[Callable[[pa.Table], pa.Table], str]] = {
    "dropped": (lambda table: table.drop_columns(["note"]), "lacks 'note'"),
    "renamed": (
        lambda table: table.rename_columns({"note": "notes"}),
        "lacks 'note' and has 'notes' besides",
    ),
    "reordered": (lambda table: table.select([*table.column_names[::-1]]), "in another order"),
    "added": (lambda table: table.append_column("group", pa.array(GROUPS)), "has 'group' besides"),
    "twice": (lambda table: table.append_column("note", table.column("note")), "one of them twice"),
    "an identifier": (
        lambda table: table.add_column(0, "name", pa.array(["firm"] * 12)),
        "still has 'name', to be dropped",
    ),
    "a key dropped": (lambda table: table.drop_columns(["surface"]), "lacks 'surface'"),
    "cast": (
        lambda table: put(table, "turnover", table.column("turnover").cast(pa.float32())),
        "'turnover' was to stay as it is, but is released as float, not double",
    ),
    "cast to whole numbers": (
        lambda table: put(table, "turnover", table.column("turnover").cast(pa.int64())),
        "released as int64",
    ),
    "text as categories": (
        lambda table: put(table, "note", table.column("note").dictionary_encode()),
        "'note' was to stay as it is, but is released as dictionary",
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_do_not_fit(name: str) -> None:
    broken, word = COLUMNS[name]
    made = small_release()
    refused(replace(made, released=broken(made.released)), word)


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
        f"Column '{name}' was to stay as it is, but 1 record is changed",
    )


@pytest.mark.parametrize(("before", "after"), [(None, ""), ("", None), (0.0, -0.0), (None, float("nan"))])
def test_values_that_look_alike(before: Any, after: Any) -> None:
    kind = pa.string() if "" in (before, after) else pa.float64()
    made = small_release()
    made = replace(made, source=made.source.append_column("more", pa.array([before] * 12, kind)))
    values = pa.array([before] * 11 + [after], kind)
    made = replace(made, released=made.released.append_column("more", values))
    refused(made, "Column 'more' was to stay as it is, but 1 record is changed")


def test_an_identifier_that_must_not_be_named_a_key() -> None:
    made = small_release()
    refused(made.claiming(dropped=()), "lacks 'name'")


# --- strata ------------------------------------------------------------------------------------


def test_a_stratum_changed() -> None:
    made = small_release()
    refused(
        made.with_released("region", ["N"] * 3 + ["S"] * 9),
        "'region' was to stay as it is, but 3 records are changed",
    )


SECTOR = ["A"] * 3 + ["B"] * 3 + ["A"] * 3 + ["C", "D", "D"]


def merged(sector: list[Any]) -> Made:
    made = small_release()
    return replace(
        made,
        source=made.source.append_column("sector", pa.array(SECTOR)),
        released=made.released.append_column("sector", pa.array(sector)),
    ).claiming(strata=("region", "sector"), recoded=("sector",))


def test_a_merged_stratum_that_splits() -> None:
    assert merged([*SECTOR[:9], "C+D", "C+D", "C+D"]).verdict().safe
    refused(merged([*SECTOR[:9], "C+D", "C+D", "D"]), "has split 1 stratum", BEYOND)


def test_strata_left_small() -> None:
    refused(merged(SECTOR), BEYOND)


def test_a_stratum_renamed_without_merging() -> None:
    refused(merged(["Z"] * 3 + SECTOR[3:9] + ["C+D"] * 3), "'sector' was to stay as it is, but 3 records")


def test_another_column_recoded_along() -> None:
    made = merged([*SECTOR[:9], "C+D", "C+D", "C+D"])
    refused(made.with_released("region", ["N"] * 6 + ["S"] * 3 + ["T"] * 3), "'region' was to stay")


def test_codes_of_another_type() -> None:
    made = merged([*SECTOR[:9], "C+D", "C+D", "C+D"])
    numbers = pa.array([1] * 3 + [2] * 3 + [1] * 3 + [34] * 3)
    refused(made.with_released("sector", numbers), "is released as int64, not string")
    made = made.with_source("sector", pa.array([1] * 3 + [2] * 3 + [1] * 3 + [3, 4, 4]))
    assert made.with_released("sector", pa.array(list("111222111") + ["3+4"] * 3)).verdict().safe
    refused(made, "is released as string, not int64")


PAIRS = [at % 6 // 2 for at in range(24)]
"""Groups that share two records with each group of six."""


# --- confidential columns ----------------------------------------------------------------------


def test_a_homogeneous_group() -> None:
    made = small_release()
    values = [5.0] * 3 + made.column("turnover")[3:]
    made = made.with_source("turnover", values).with_released("turnover", values)
    refused(made, "'turnover' has fewer than 2 different values in 1 group")
    [found] = made.verdict().homogeneous
    assert (found.groups, found.records) == (1, 3)
    assert "--retry" in made.verdict().failures[0]
    assert "--accept-homogeneous" in made.verdict().failures[0]
    accepted = made.claiming(accept_homogeneous=True).verdict()
    assert accepted.safe
    assert accepted.homogeneous == (found,)
    assert any("--accept-homogeneous" in note for note in accepted.notes)


def test_a_group_of_missing_values_is_homogeneous() -> None:
    made = small_release()
    values = [None] * 3 + made.column("turnover")[3:]
    refused(made.with_source("turnover", values).with_released("turnover", values), "in 1 group")
    values = [None, 1.0, 1.0, *made.column("turnover")[3:]]
    assert made.with_source("turnover", values).with_released("turnover", values).verdict().safe


def test_too_few_values_for_a_larger_least_number() -> None:
    made = small_release()
    values = [1.0, 1.0, 2.0, *made.column("turnover")[3:]]
    made = made.with_source("turnover", values).with_released("turnover", values)
    assert made.verdict().safe
    refused(made.claiming(min_distinct=3), "fewer than 3 different values in 1 group")


def test_masked_values_that_are_homogeneous() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    made = made.with_released("turnover", masked(made.column("turnover"), GROUPS))
    refused(made, "'turnover', as masked, has fewer than 2 different values in 4 groups")
    assert made.verdict().homogeneous[0].released


def test_an_own_subset_with_a_group_of_two() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    groups = [at % 4 for at in range(12)]
    made = made.with_released("turnover", masked(made.column("turnover"), changed(groups, 4, 1)))
    refused(made, "combinations of turnover that fewer than 3", BEYOND)


def test_homogeneous_only_jointly() -> None:
    made = two_subsets(joint=True)
    employees = made.column("employees")
    # Employees alone now say less than both together: two groups become one.
    made = made.with_released("employees", employees[:3] * 2 + employees[6:]).claiming(mean_tolerance={})
    made = made.with_released("surface", made.column("surface")).claiming(min_distinct=4)
    keys = {found.keys for found in made.verdict().homogeneous}
    assert keys == {("region", "surface"), ("region", "employees"), ("region", "surface", "employees")}
    groups = {found.keys: found.groups for found in made.verdict().homogeneous}
    assert groups["region", "employees"] == 2


def test_joint_combinations() -> None:
    refused(two_subsets(joint=False), "--accept-partial")


def test_joint_combinations_of_two() -> None:
    n = 24
    source = pa.table({"a": [float(at) for at in range(n)], "b": [float(-at) for at in range(n)]})
    released = pa.table(
        {"a": masked(list(range(n)), [at // 6 for at in range(n)]), "b": masked(list(range(n)), PAIRS)}
    )
    made = Made(source, released, np.arange(n), Claims(k=3, subsets=(("a",), ("b",))))
    refused(made, "(0 records unique)")
    assert made.verdict().sentence == "k-anonymous per subset, NOT jointly (0 records unique)"
    assert made.verdict().joint == Count(("a", "b"), 12, 2, 24, 0)


# --- claims ------------------------------------------------------------------------------------

CLAIMS: dict[str, dict[str, Any]] = {
    "k is below 2": {"k": 1},
    "no keys": {"subsets": (), "strata": ()},
    "a subset has no columns": {"subsets": ((), ("surface",))},
    "the source does not have": {"confidential": ("profit",)},
    "two roles": {"subsets": (("surface", "employees"), ("surface",))},
    "a recoded column is no stratum": {"recoded": ("note",)},
    "is not confidential": {"noised": ("open",)},
    "of a dropped column": {"mean_tolerance": {"name": 0.0}},
}


@pytest.mark.parametrize("word", CLAIMS)
def test_claims_that_make_no_sense(word: str) -> None:
    refused(small_release().claiming(**CLAIMS[word]), word)


def test_a_tolerance_that_is_no_number() -> None:
    refused(small_release().claiming(mean_tolerance={"surface": float("nan")}), "The mean of 'surface'")


# --- own subsets -------------------------------------------------------------------------------

OWN = [at % 4 for at in range(12)]


def test_a_dominant_weight_in_an_own_subset() -> None:
    made = weighted([3.0] * 3 + [1.0] * 9).claiming(own_subsets=(("turnover",),), mean_tolerance={})
    made = made.with_released("turnover", masked(made.column("turnover"), OWN))
    refused(made, "In 3 groups of turnover one record")


def test_a_value_without_source_in_an_own_subset() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    made = made.with_released("turnover", masked(made.column("turnover"), OWN))
    values = made.source.column("turnover").to_pylist()
    assert made.verdict().safe
    refused(
        made.with_source("turnover", changed(values, 5, None)),
        "'turnover' is released with a value where the source has none",
        "rest on fewer than 3",
    )


# --- writers -----------------------------------------------------------------------------------

WRITERS: dict[str, tuple[Callable[[pa.Table], pa.Table], str]] = {
    "loses the last record": (lambda table: table.slice(0, 11), "has 11 records, the release 12"),
    "writes a record twice": (lambda table: table.take([*range(12), 0]), "has 13 records"),
    "loses a column": (lambda table: table.drop_columns(["open"]), "written file lacks 'open'"),
    "reorders columns": (lambda table: table.select(table.column_names[::-1]), "in another order"),
    "reorders records": (lambda table: table.take([3, 1, 2, 0, *range(4, 12)]), "'note'"),
    "loses a null": (
        lambda table: put(table, "note", ["NA", *table.column("note").to_pylist()[1:]]),
        "'note'",
    ),
    "cuts text": (lambda table: put(table, "note", [""] * 12), "'note'"),
    "rounds": (
        lambda table: put(
            table, "surface", [round(value) for value in table.column("surface").to_pylist()]
        ),
        "'surface'",
    ),
    "cuts to single precision": (
        lambda table: put(table, "surface", table.column("surface").cast(pa.float32())),
        "'surface'",
    ),
    "writes the source's values": (
        lambda table: put(table, "surface", SURFACE),
        "fewer than 3 records share",
    ),
    "keeps the identifier": (
        lambda table: table.add_column(0, "name", pa.array(["firm"] * 12)),
        "still has 'name'",
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_writers_that_change_something(name: str) -> None:
    made = small_release()
    write, word = WRITERS[name]
    with pytest.raises(errors.UnsafeRelease, match=word):
        check_written(made.released, write(made.released), made.verdict(), made.claims)


def test_a_csv_writer_of_six_digits() -> None:
    made = small_release()
    texts = [f"{value:.6g}" for value in made.column("surface")]
    with pytest.raises(errors.UnsafeRelease, match="'surface'"):
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
