"""Rules that give a masked key are found, with their exceptions, and none where columns are unrelated."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.verify.derived import Derivation, derivations
from microagg.verify.derived.chance import chance_of_codes, chance_of_rule, log_choices, log_orders
from microagg.verify.derived.lines import line, longest_rise, narrowest
from microagg.verify.derived.readings import read
from tests.campaigns import at_length

Random = np.random.Generator
Columns = dict[str, np.ndarray]
Made = tuple[np.ndarray, Columns]
"""A key and the columns that give it."""


def amounts(random: Random, n: int, decimals: int = 2) -> np.ndarray:
    return np.round(random.lognormal(9, 1, n), decimals)


def with_exceptions(random: Random, values: np.ndarray) -> np.ndarray:
    """In three records of a hundred."""
    wrong = random.permutation(len(values))[: len(values) * 3 // 100]
    changed = values.copy()
    changed[wrong] += random.integers(5, 50, len(wrong))
    return changed


def copy(random: Random, n: int) -> Made:
    key = amounts(random, n)
    return key, {"a": key.copy()}


def copy_with_exceptions(random: Random, n: int) -> Made:
    key = random.integers(0, 40, n).astype(float)
    return key, {"a": with_exceptions(random, key)}


def single_precision(random: Random, n: int) -> Made:
    key = amounts(random, n)
    return key, {"a": key.astype(np.float32)}


def number_as_text(random: Random, n: int) -> Made:
    key = amounts(random, n)
    return key, {"a": np.array([f" {value:.2f}" for value in key])}


def number_inside_text(random: Random, n: int) -> Made:
    key = random.permutation(np.arange(10_000, 10_000 + n)).astype(float)
    return key, {"a": np.array([f"c{value:.0f}" for value in key])}


def thousands(random: Random, n: int) -> Made:
    key = amounts(random, n)
    return key, {"a": np.array([f"${value:,.2f}" for value in key])}


def decimal_comma(random: Random, n: int) -> Made:
    key = amounts(random, n, 1)
    texts = [f"{value:,.1f} €".translate(str.maketrans(",.", ".,")) for value in key]
    return key, {"a": np.array(texts)}


def birth_year(random: Random, n: int) -> Made:
    key = random.integers(16, 95, n).astype(float)
    return key, {"a": (2024 - key).astype(np.int32)}


def birth_year_with_exceptions(random: Random, n: int) -> Made:
    key = random.integers(16, 95, n).astype(float)
    return key, {"a": with_exceptions(random, 2024 - key)}


def other_unit(random: Random, n: int) -> Made:
    key = np.round(random.normal(75, 14, n), 1)
    return key, {"a": key / 0.45359237}


def other_rounded_unit(random: Random, n: int) -> Made:
    fahrenheit = np.rint(random.normal(60, 18, n))
    return np.rint((fahrenheit - 32) * 5 / 9), {"a": fahrenheit}


def age_at_a_date(random: Random, n: int) -> Made:
    birth = random.integers(-15_000, 13_000, n)
    return np.floor((19_800 - birth) / 365.25), {"a": birth.astype("datetime64[D]")}


def logarithm(random: Random, n: int) -> Made:
    key = amounts(random, n)
    return key, {"a": np.log(key)}


def reciprocal_with_exceptions(random: Random, n: int) -> Made:
    key = amounts(random, n)
    return key, {"a": with_exceptions(random, 1000 / key)}


def size_class(random: Random, n: int) -> Made:
    amount = random.lognormal(9, 1, n)
    limits = np.quantile(amount, np.linspace(0.04, 0.96, 23))
    return np.searchsorted(limits, amount).astype(float), {"a": amount}


def name_of_a_level(random: Random, n: int) -> Made:
    key = random.integers(1, 6, n)
    return key.astype(float), {"a": np.array(["none", "primary", "middle", "high", "college"])[key - 1]}


def municipality(random: Random, n: int) -> Made:
    place = random.integers(0, max(n // 15, 3), n)
    regions = random.permutation(np.arange(max(n // 15, 3)) % 7)
    return regions[place].astype(float), {"a": np.array([f"M{at}" for at in range(n)])[place]}


def one_for_each_level(random: Random, n: int) -> Made:
    key = random.integers(1, 5, n)
    return key.astype(float), {f"a{level}": (key == level).astype(int) for level in (1, 2, 3)}


def levels_reached(random: Random, n: int) -> Made:
    key = random.integers(0, 4, n)
    return key.astype(float), {f"a{level}": np.where(key >= level, "yes", "no") for level in (1, 2, 3)}


def total(random: Random, n: int) -> Made:
    parts = {f"a{at}": amounts(random, n) for at in range(4)}
    return np.round(sum(parts.values()), 2), parts


def part_with_exceptions(random: Random, n: int) -> Made:
    key, b, c = (random.integers(0, 900, n).astype(float) for _ in range(3))
    return key, {"total": with_exceptions(random, key + b + c), "b": b, "c": c}


def rounded_total(random: Random, n: int) -> Made:
    parts = [random.lognormal(9, 1, n) for _ in range(3)]
    return np.rint(sum(parts)), {f"a{at}": np.rint(part) for at, part in enumerate(parts)}


def rest_of_a_hundred(random: Random, n: int) -> Made:
    shares = random.dirichlet([2, 3, 4], n)
    a, b = np.round(100 * shares[:, 0], 1), np.round(100 * shares[:, 1], 1)
    return np.round(100 - a - b, 1), {"a": a, "b": b}


def last_of_a_code(random: Random, n: int) -> Made:
    code = random.integers(0, 4, n)
    return (code == 0).astype(float), {f"a{at}": (code == at).astype(int) for at in (1, 2, 3)}


def total_with_blanks(random: Random, n: int) -> Made:
    parts = [np.where(random.random(n) < 0.3, np.nan, amounts(random, n)) for _ in range(3)]
    return np.round(np.nansum(parts, axis=0), 2), {f"a{at}": part for at, part in enumerate(parts)}


CASES: dict[Callable[[Random, int], Made], str] = {
    copy: "equal",
    copy_with_exceptions: "equal",
    single_precision: "equal",
    number_as_text: "equal",
    number_inside_text: "equal",
    thousands: "equal",
    decimal_comma: "equal",
    birth_year: "affine",
    birth_year_with_exceptions: "affine",
    other_unit: "affine",
    other_rounded_unit: "affine",
    age_at_a_date: "affine",
    logarithm: "monotone",
    reciprocal_with_exceptions: "monotone",
    size_class: "monotone",
    name_of_a_level: "code",
    municipality: "code",
    one_for_each_level: "dummies",
    levels_reached: "dummies",
    total: "sum",
    part_with_exceptions: "sum",
    rounded_total: "sum",
    rest_of_a_hundred: "sum",
    last_of_a_code: "sum",
    total_with_blanks: "sum",
}
SIZES = (80, 100, 150, 300, 700, 1500, 4000, 9000, 11_000, 30_000)
FEW_SIZES = (80, 100, 700, 1500, 11_000)


def unrelated(random: Random, n: int, columns: int) -> Columns:
    """Of all kinds, half of them without a repetition."""
    kinds: list[Callable[[], np.ndarray]] = [
        lambda: random.normal(size=n),
        lambda: random.integers(0, 2, n),
        lambda: random.permutation(n),
        lambda: random.integers(0, 7, n),
        lambda: np.array([f"p{at}" for at in random.permutation(n)]),
        lambda: np.array(["no", "yes", "unknown"])[random.integers(0, 3, n)],
        lambda: random.lognormal(8, 2, n).round(2),
        lambda: np.full(n, 3.0),
        lambda: random.permutation(n) / 8,
        lambda: (random.random(n) < 0.02).astype(float),
        lambda: np.where(random.random(n) < 0.3, np.nan, random.normal(size=n)),
        lambda: random.integers(0, max(n // 12, 1), n),
    ]
    return {f"u{at}": kinds[at % len(kinds)]() for at in range(columns)}


@pytest.mark.parametrize("sizes", [FEW_SIZES, pytest.param(SIZES, marks=at_length)], ids=["few", "all"])
@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_what_gives_a_key_is_found(make: Callable[[Random, int], Made], sizes: tuple[int, ...]) -> None:
    for seed, n in enumerate(SIZES):
        if n not in sizes:
            continue
        random = np.random.default_rng(1000 + seed)
        key, columns = make(random, n)
        exact = "exceptions" not in make.__name__
        gaps = random.random(n) < (0.1 if seed % 3 == 1 else 0.0)
        table = pa.table({**unrelated(random, n, 3 + seed), **columns})
        names = random.permutation(table.column_names).tolist()
        others = table.select(names)
        keys = pa.table({"key": pa.array(np.where(gaps, np.nan, key)), "other": random.normal(size=n)})
        found = derivations(keys, others)
        where = f"{make.__name__} in {n} records"
        assert [(each.key, set(each.columns), each.kind) for each in found] == [
            ("key", set(columns), CASES[make])
        ], where
        assert found[0].of == n - gaps.sum(), where
        assert (found[0].records == found[0].of) == exact, where
        assert found[0].records >= 0.95 * found[0].of, where


def test_unrelated_columns_give_nothing() -> None:
    sizes = (6, 7, 8, 10, 12, 15, 20, 30, 60, 150, 400, 1000, 10_000)
    for seed in range(4 * len(sizes)):
        random = np.random.default_rng(seed)
        n = sizes[seed % len(sizes)]
        columns = pa.table(unrelated(random, n, 18))
        order = random.permutation(columns.column_names).tolist()
        numeric = [name for name in order if not pa.types.is_string(columns[name].type)]
        keys = columns.select(numeric[:5]).cast(pa.schema([(name, pa.float64()) for name in numeric[:5]]))
        assert derivations(keys, columns.drop_columns(numeric[:5])) == [], f"seed {seed}, {n} records"


def test_ranks_and_coins_of_few_records_prove_nothing() -> None:
    ranks = np.arange(6.0)
    assert derivations(pa.table({"a": ranks}), pa.table({"b": ranks})) == []
    coins = np.array([0.0, 1.0] * 6)
    assert derivations(pa.table({"a": coins}), pa.table({"b": coins})) == []
    salaries = np.array([2310.0, 1850.5, 4120.75, 2999.0, 3560.2, 1790.1])
    assert derivations(pa.table({"a": salaries}), pa.table({"b": salaries})) == [
        Derivation("a", ("b",), "equal", 6, 6)
    ]
    coins = np.tile(coins, 10)
    assert derivations(pa.table({"a": coins}), pa.table({"b": coins})) == [
        Derivation("a", ("b",), "equal", 120, 120)
    ]


def test_rare_values_are_not_guessed() -> None:
    """Two columns that are nearly always 0 agree nearly always, related or not."""
    random = np.random.default_rng(0)
    key = (random.random(5000) < 0.02).astype(float)
    allowance = np.where(random.random(5000) < 0.4, key, (random.random(5000) < 0.02).astype(float))
    assert (key == allowance).mean() > 0.95
    assert derivations(pa.table({"key": key}), pa.table({"a": allowance})) == []
    assert derivations(pa.table({"key": key}), pa.table({"a": key})) != []


def test_codes_that_occur_once_prove_nothing() -> None:
    random = np.random.default_rng(0)
    key = np.where(np.arange(1000) < 910, 0.0, np.rint(random.lognormal(4, 1, 1000)))
    column = np.where(np.arange(1000) < 910, np.nan, random.normal(size=1000))
    assert derivations(pa.table({"key": key}), pa.table({"a": pa.array(column, from_pandas=True)})) == []
    level = np.where(np.arange(1000) == 7, 99, random.integers(0, 5, 1000))
    assert derivations(
        pa.table({"key": level * 1.0}), pa.table({"a": [f"L{100 - at}" for at in level]})
    ) == [Derivation("key", ("a",), "code", 1000, 1000)]


def test_a_constant_key_and_empty_columns_give_nothing() -> None:
    random = np.random.default_rng(0)
    keys = pa.table({"constant": np.ones(300), "empty": pa.nulls(300, pa.float64())})
    others = pa.table(
        {
            "one": np.ones(300),
            "random": random.normal(size=300),
            "none": pa.nulls(300, pa.float64()),
            "blank": pa.nulls(300, pa.string()),
            "lists": pa.array([[1, 2]] * 300),
        }
    )
    assert derivations(keys, others) == []
    varied = pa.table({"key": random.normal(size=300)})
    assert derivations(varied, others) == []
    assert derivations(varied, others.select([])) == []
    assert derivations(varied.slice(0, 0), others.slice(0, 0)) == []


def test_columns_that_add_up_to_one_are_added_to_no_sum() -> None:
    random = np.random.default_rng(0)
    before = random.integers(0, 30, 400)
    code = random.integers(0, 9, 400)
    others = {"before": before, **{f"occupation{at}": (code == at).astype(int) for at in range(9)}}
    found = derivations(pa.table({"after": before + 1.0}), pa.table(others))
    assert found == [Derivation("after", ("before",), "affine", 400, 400)]


def test_a_term_that_is_rarely_there() -> None:
    random = np.random.default_rng(0)
    a, b = amounts(random, 100_000), amounts(random, 100_000)
    rare = np.zeros(100_000)
    rare[[4321, 77_777]] = 5.0, 7.0
    found = derivations(pa.table({"total": a + b + rare}), pa.table({"a": a, "rare": rare, "b": b}))
    assert found == [Derivation("total", ("a", "rare", "b"), "sum", 100_000, 100_000)]


def test_sums_among_dependent_columns() -> None:
    """A difference that some orders of the columns hide."""
    random = np.random.default_rng(0)
    a, b, c = (amounts(random, 500) for _ in range(3))
    others = {"c": c, "a": a, "difference": a - b, "ab": a + b, "all": a + b + c}
    found = derivations(pa.table({"b": b}), pa.table(others))
    assert [(each.kind, each.records) for each in found] == [("sum", 500)]


def test_huge_infinite_and_tiny_numbers() -> None:
    random = np.random.default_rng(0)
    for scale in (1e-300, 1e-12, 1e150, 1e300):
        key = scale * random.lognormal(0, 1, 200)
        infinite = np.where(np.arange(200) == 5, np.inf, random.normal(size=200))
        others = pa.table({"copy": key, "infinite": infinite, "wide": random.normal(size=200) * 1e300})
        assert derivations(pa.table({"key": key}), others) == [
            Derivation("key", ("copy",), "equal", 200, 200)
        ]


@pytest.mark.filterwarnings("error")
def test_sums_beside_numbers_of_any_size() -> None:
    random = np.random.default_rng(1)
    one, other = (random.lognormal(3, 1, 60).round(2) for _ in range(2))
    wide = {f"size {size}": size * random.normal(size=60) for size in (1e-310, 1e-300, 1e300)}
    for scale in (1e-310, 1e-300, 1e-150, 1.0, 1e150, 1e300):
        columns = {"one": scale * one, "other": scale * other}
        key = pa.table({"key": columns["one"] + columns["other"]})
        assert [each.kind for each in derivations(key, pa.table(columns))] == ["sum"]
        found = derivations(key, pa.table(columns | wide))
        assert {each.columns for each in found} <= {("one", "other")}


def test_equal_columns_far_from_zero_are_added_to_no_sum() -> None:
    for seed in range(10):
        random = np.random.default_rng(seed)
        far = 1e10 + random.normal(size=60).round(3)
        others = pa.table({"far": far, "copy": far, "code": random.integers(0, 4, 60)})
        assert derivations(pa.table({"key": random.normal(size=60)}), others) == [], seed


def test_long_numbers_of_one_kind_are_not_equal() -> None:
    random = np.random.default_rng(0)
    one, other = (random.permutation(5_550_000_000 + np.arange(1000.0)) for _ in range(2))
    assert derivations(pa.table({"one": one}), pa.table({"other": other})) == []


def test_categories_and_dates_as_keys() -> None:
    random = np.random.default_rng(0)
    places = np.array([f"Place {at}" for at in random.permutation(300)])
    days = random.integers(0, 20_000, 300).astype("datetime64[D]")
    sexes = np.array(["m", "f"])[random.integers(0, 2, 300)]
    keys = pa.table({"place": pa.array(places).dictionary_encode(), "day": days, "sex": sexes})
    others = pa.table({"name": np.char.upper(places), "text": days.astype(str), "male": sexes == "m"})
    assert [(each.key, each.columns, each.kind, each.records) for each in derivations(keys, others)] == [
        ("place", ("name",), "equal", 300),
        ("day", ("text",), "monotone", 300),
        ("sex", ("male",), "code", 300),
    ]


def test_readings_of_text() -> None:
    texts = pa.array(
        ["c12345", "-3.5", "id-7", "1,234.5", "1.234,5", "2001-05-17", "1e3", "", None, "x1y2"]
    )
    assert read(texts, "point").tolist()[:4] == [12345.0, -3.5, 7.0, 1234.5]
    assert np.isnan(read(texts, "point")[[5, 7, 8, 9]]).all()
    assert read(texts, "point")[6] == 1000.0
    assert read(texts, "comma")[4] == 1234.5
    assert read(texts, "digits")[5] == 20010517.0


# --- parts ---------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60))
def test_longest_rise(values: list[int]) -> None:
    found = longest_rise(np.array(values, dtype=float))
    chosen = [values[at] for at in found]
    assert list(found) == sorted(set(found.tolist()))
    assert chosen == sorted(chosen)
    lengths = [1] * len(values)
    for at in range(len(values)):
        before = [lengths[other] for other in range(at) if values[other] <= values[at]]
        lengths[at] = 1 + max(before, default=0)
    assert len(chosen) == max(lengths)


@given(st.floats(-50, 50), st.floats(-1000, 1000), st.integers(0, 2**32 - 1))
def test_lines_ignore_exceptions(slope: float, height: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = np.sort(random.normal(size=200))
    y = height + slope * x
    y[random.permutation(200)[:8]] += 1000.0
    found = line(x, y)
    assert found == pytest.approx((slope, height), abs=1e-6)


@given(st.floats(-5, 5), st.integers(0, 2**32 - 1))
def test_the_narrowest_line(slope: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.uniform(-10, 10, 100)
    y = np.rint(slope * x)
    found, height = narrowest(x, y, slope)
    assert np.abs(y - height - found * x).max() <= 0.5 + 1e-9


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8).filter(lambda values: len(set(values)) > 1))
def test_chance_is_the_share_of_orders(values: list[int]) -> None:
    """Of all orders of the values, those that a rule gives are no larger a share."""
    orders = set(permutations(values))
    counts = np.unique(values, return_counts=True)[1]
    assert np.exp(log_orders(counts)) == pytest.approx(len(orders))
    for wrong in (0, 1):
        near = sum(sum(a != b for a, b in zip(order, values, strict=True)) <= wrong for order in orders)
        assert near / len(orders) <= np.exp(chance_of_rule(0.0, counts, wrong)) * (1 + 1e-9)
    in_pairs = sum(
        all(order[at] == order[at + 1] for at in range(0, len(values) - 1, 2)) for order in orders
    )
    shares = counts / counts.sum()
    drawn_in_pairs = (shares**2).sum() ** (len(values) // 2)
    codes = -(-len(values) // 2)
    bound = np.exp(chance_of_codes(codes, counts, 0)) * (1 + 1e-9)
    assert min(in_pairs / len(orders), drawn_in_pairs) <= bound


def test_choices() -> None:
    assert np.exp(log_choices(10, 3)) == pytest.approx(120)
    assert log_choices(5, 0) == log_choices(5, 5) == 0.0
