"""Profiles of columns, and the roles they suggest."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.arrow_types import DATES
from microagg.identifiers import identifying_name, nearly_unique
from microagg.model import CsvFormat, Microdata, Origin, StatisticalLabels
from microagg.plan.identities import Identity
from microagg.plan.missing_codes import likely_missing_codes
from microagg.plan.profile import ColumnProfile, Profile, likely_identifiers, profile
from microagg.plan.suggestions import Suggestion, settings_of_plan, suggest

RANDOM = np.random.default_rng(6)


def typed(columns: Mapping[str, object], labels: StatisticalLabels | None = None) -> Microdata:
    """As from a file whose columns have types."""
    return Microdata(pa.table(dict(columns)), Origin("Parquet", "data.parquet", labels=labels))


def as_csv(columns: Mapping[str, Sequence[str | None]], decimal: str = ".") -> Microdata:
    """As from a CSV file: text."""
    table = pa.table({name: pa.array(values, pa.large_string()) for name, values in columns.items()})
    return Microdata(table, Origin("CSV", "data.csv", csv=CsvFormat(";", "utf-8", decimal)))


def of(values: object, name: str = "x") -> ColumnProfile:
    return profile(typed({name: values}))[name]


def of_csv(values: Sequence[str | None], name: str = "x", decimal: str = ".") -> ColumnProfile:
    return profile(as_csv({name: values}, decimal))[name]


# --- columns ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, None], "whole numbers"),
        ([1.0, 2.0, float("nan")], "whole numbers"),
        ([1.5, 2.0], "numbers"),
        (["a", "b"], "text"),
        (["1", "2"], "text"),
        (pa.array(["a", "b"], pa.string_view()), "text"),
        (pa.array([1, 2]).dictionary_encode(), "whole numbers"),
        ([datetime.timedelta(1)], "dates"),
        ([{"a": 1}], "other"),
        (pa.array(["a", "b"]).dictionary_encode(), "text"),
        ([datetime.date(2020, 1, 1)], "dates"),
        ([datetime.datetime(2020, 1, 1)], "dates"),
        ([datetime.time(1, 2)], "dates"),
        ([True, False], "truth values"),
        ([None, None], "empty"),
        (pa.array([None], pa.float64()), "empty"),
        (pa.array([None], pa.string()), "empty"),
        ([[1], [2]], "other"),
        ([b"a", b"b"], "other"),
    ],
)
def test_kind_of_typed_columns(values: object, kind: str) -> None:
    assert of(values).kind == kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", None, "NA"], "whole numbers"),
        (["1.00", "2"], "whole numbers"),
        (["1.5", " 2"], "numbers"),
        (["0", "0.5", "-0.25"], "numbers"),
        (["1", "x"], "text"),
        (["01", "2"], "text"),  # a code
        (["2020-01-31", "2020/2/1"], "dates"),
        (["31.12.2020", None], "dates"),
        (["2020-01-31T12:30:00Z"], "dates"),
        (["12:30", "9:05:01"], "dates"),
        (["true", "False", "TRUE"], "truth values"),
        (["yes", "no"], "text"),
        ([None, "NA", ""], "empty"),
        ([], "empty"),
    ],
)
def test_kind_of_csv_columns(values: Sequence[str | None], kind: str) -> None:
    assert of_csv(values).kind == kind


def test_decimal_comma() -> None:
    found = of_csv(["1,25", "2", None], decimal=",")
    assert (found.kind, found.decimals, found.missing) == ("numbers", 2, 1)
    assert of_csv(["1,25", "2"]).kind == "text"


def test_counts() -> None:
    found = of_csv(["0", "0.0", "1.25", "NA", None, "-3"])
    assert found.distinct == 3
    assert found.missing == 2
    assert found.zeros == 0.5
    assert found.decimals == 2
    assert found.rarest == 1
    text = of_csv(["a", "a", "b", "b", "b", None])
    assert (text.distinct, text.missing, text.rarest, text.decimals) == (2, 1, 2, None)


def test_numbers_beyond_doubles_stay_distinct() -> None:
    assert of([2**60, 2**60 + 1]).distinct == 2
    assert of_csv([str(2**60), str(2**60 + 1)]).distinct == 2


def test_infinities_are_no_mishap() -> None:
    assert of([1.0, float("inf"), 2.0, -float("inf")]).distinct == 4
    assert not of([1.0, float("inf")]).positive


def test_numbers_as_text_are_noted() -> None:
    assert of(["1", "2"]).numbers_as_text
    assert not of(["1", "b"]).numbers_as_text
    assert not of_csv(["01", "2"]).numbers_as_text


def test_what_the_file_says_of_its_numbers() -> None:
    labels = StatisticalLabels(missing_ranges={"x": [{"lo": 90, "hi": 99}, -1]})
    found = profile(typed({"x": [1, 2, 95, -1, 3]}, labels))["x"]
    assert (found.distinct, found.missing) == (3, 2)
    weeks = pa.field("week", pa.float64(), metadata={DATES: b"1"})
    table = pa.table([pa.array([1.0, 2.0])], schema=pa.schema([weeks]))
    week = profile(Microdata(table, Origin("Stata", "data.dta")))["week"]
    assert (week.kind, week.levels) == ("dates", ())


def test_no_records() -> None:
    found = profile(typed({"x": pa.array([], pa.float64())}))
    assert found.records == 0
    assert [column.kind for column in found] == ["empty"]


# --- identifiers ------------------------------------------------------------------------------

IDENTIFYING = """
    id ID id2 UTILITYID custid person_id PersonID personID personid PERSONID company.id hhid
    ID_ménage identifiant ssn SSN DNI iban IBAN passport_no tax_id email e-mail E_Mail emailAddress
    phone phone1 telephone_number Tel Telefonnummer Name last_name LastName firstname Vorname
    nachname prénom Nazwisko Adresse address street_address Straße Kundennummer customer_no
    CustomerNumber account_number patientnr cognome
"""
ORDINARY = """
    paid PREPAID steroid liquid width valid covid grid acid antacid uricacid yngkid eyelid idle media
    income age sex region region_name CountryName amount turnover number_of_children family_size employees
    fiscal surface account_balance unit_price policy rent state hours hotel telecom anonymous
"""


@pytest.mark.parametrize("name", IDENTIFYING.split())
def test_identifying_names(name: str) -> None:
    assert identifying_name(name, text=True)


@pytest.mark.parametrize("name", ORDINARY.split())
def test_ordinary_names(name: str) -> None:
    assert not identifying_name(name, text=True)


def test_numbers_are_no_names() -> None:
    assert identifying_name("nombre", text=True)
    assert not identifying_name("nombre_enfants", text=False)
    assert not identifying_name("mail_items", text=False)
    assert identifying_name("phone", text=False)


def test_nearly_unique() -> None:
    assert nearly_unique(95, 100)
    assert not nearly_unique(94, 100)
    assert not nearly_unique(1, 1)


def test_identifiers_by_content() -> None:
    assert of([f"code {at}" for at in range(100)]).identifier
    assert of(RANDOM.permutation(1000) + 5000).identifier  # a running number
    assert of(RANDOM.choice(900_000, 1000, replace=False) + 100_000).identifier  # six digits each
    assert not of(RANDOM.normal(size=1000)).identifier
    assert not of(np.rint(RANDOM.lognormal(12, 2, 1000))).identifier  # amounts
    assert not of(["a", "b"] * 50).identifier
    assert not of([0, 1] * 50, "has_phone").identifier
    assert not of([True, False], "email").identifier
    assert of([1, 2, 3, 1, 2, 3], "household_id").identifier


def test_columns_that_need_a_role() -> None:
    n = 100
    microdata = typed(
        {
            "amount": RANDOM.normal(size=n),
            "running": np.arange(n),
            "day": pa.array(np.arange(n), pa.int32()).cast(pa.date32()),
            "few": ["a", "b"] * 50,
            "person_id": [1, 2, 3, 4] * 25,
            "rounded": np.arange(n) // 2,
            "empty": pa.nulls(n),
        }
    )
    found = likely_identifiers(microdata, microdata.table.column_names)
    assert list(found) == ["running", "day", "person_id"]
    assert all(found.values())
    assert likely_identifiers(microdata, ["few"]) == {}


# --- missing codes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 3, 4, 5, 9], (9,)),
        ([1, 2, 3, 4, 5, 8, 9], (8, 9)),
        ([*range(18, 91), 99], (99,)),
        ([*range(18, 91), 97, 98, 99], (97, 98, 99)),
        ([*range(0, 5000, 7), 99999], (99999,)),
        ([-999, -50, -20, -3, 0, 4, 55], (-999,)),
        ([-1, 0, 1, 2, 3], (-1,)),
        ([-9, -8, 0, 1, 2, 40], (-9, -8)),
        ([-9, 1, 2, 3, 4, 99], (-9, 99)),
        ([*range(100)], ()),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], ()),
        ([-2, -1, 0, 1, 2], ()),
        ([-1, 0, 1], ()),
        ([0, 1, 9], ()),
        ([*range(0, 5000, 7), 999], ()),
        ([1, 2, 3, 4, 50], ()),
        ([], ()),
    ],
)
def test_missing_codes(values: list[int], codes: tuple[int, ...]) -> None:
    distinct = np.unique(np.array(values, dtype=float))
    assert likely_missing_codes(distinct, np.full(len(distinct), 2)) == codes


def test_a_code_is_repeated() -> None:
    assert of([1, 2, 3, 4, 5, 999]).missing_codes == ()
    assert of([1, 2, 3, 4, 5, 999, 999]).missing_codes == (999,)
    assert of([1.5, 2.5, 3.5, 4.5, 999.0, 999.0]).missing_codes == ()


# --- identities -------------------------------------------------------------------------------


def amounts(n: int = 500, places: int = 2) -> np.ndarray:
    return np.round(RANDOM.lognormal(8, 1, n), places)


def identities_of(**columns: np.ndarray) -> tuple[Identity, ...]:
    return profile(typed(columns)).identities


def test_totals() -> None:
    a, b, c, d = (amounts() for _ in range(4))
    found = identities_of(total=np.round(a + b + c, 2), a=a, b=b, c=c, d=d)
    assert found == (Identity("total", ("a", "b", "c")),)


def test_differences_are_sums() -> None:
    sales, costs = amounts(), amounts()
    found = identities_of(sales=sales, costs=costs, profit=sales - costs)
    assert found == (Identity("sales", ("costs", "profit")),)


def test_totals_of_totals() -> None:
    a, b, c, d = (amounts() for _ in range(4))
    found = identities_of(a=a, b=b, ab=a + b, c=c, d=d, cd=c + d, all=a + b + c + d)
    assert set(found) == {
        Identity("ab", ("a", "b")),
        Identity("cd", ("c", "d")),
        Identity("all", ("ab", "cd")),
    }


def test_a_difference_that_another_order_hides() -> None:
    a, b = amounts(), amounts()
    found = identities_of(a=a, sum=a + b, difference=a - b, b=b)
    assert set(found) == {Identity("sum", ("a", "b")), Identity("a", ("difference", "b"))}


def test_totals_rounded_by_themselves() -> None:
    a, b, c = (RANDOM.lognormal(8, 1, 500) for _ in range(3))
    found = identities_of(a=np.rint(a), b=np.rint(b), c=np.rint(c), total=np.rint(a + b + c))
    assert found == (Identity("total", ("a", "b", "c")),)


def test_a_part_that_is_rarely_there() -> None:
    a, b = amounts(100_000), amounts(100_000)
    rare = np.zeros(100_000)
    rare[[4321, 77_777]] = 5.0, 7.0
    assert identities_of(a=a, b=b, rare=rare, total=a + b) == (Identity("total", ("a", "b")),)
    with_it = identities_of(a=a, b=b, rare=rare, total=a + b + rare)
    assert with_it == (Identity("total", ("a", "b", "rare")),)


def test_one_record_is_an_exception() -> None:
    a, b = amounts(50_000), amounts(50_000)
    total = a + b
    total[31_415] += 1
    assert identities_of(a=a, b=b, total=total) == ()


def test_no_false_alarms() -> None:
    n = 200
    coins = {f"coin{at}": RANDOM.integers(0, 2, n) for at in range(6)}
    assert identities_of(**coins) == ()
    a = amounts(n)
    assert identities_of(a=a, zero=np.zeros(n), one=np.ones(n), a_one=a + 1) == ()
    assert identities_of(a=a, copy=a, zero=np.zeros(n)) == ()
    assert identities_of(a=a, double=2 * a, b=amounts(n)) == ()
    few = [1.0, 2.0, 3.0]
    assert identities_of(a=np.array(few), b=np.array(few[::-1]), c=np.full(3, 4.0)) == ()


def test_missing_values_make_no_identity() -> None:
    a, b = amounts(), amounts()
    total = a + b
    total[3] = np.nan
    assert identities_of(a=a, b=b, total=total) == ()


def test_identical_columns() -> None:
    a = amounts()
    names = np.array(["x", "y"] * 250)
    with_gaps = np.where(a > 1000, a, np.nan)
    found = profile(
        typed({"a": a, "s": names, "b": a, "t": names, "m": with_gaps, "n": with_gaps, "one": np.ones(500)})
    )
    assert found.identical == (("a", "b"), ("s", "t"), ("m", "n"))
    assert found.identities == ()


# --- suggestions ------------------------------------------------------------------------------


def suggestions_of(microdata: Microdata, k: int = 3) -> tuple[Profile, dict[str, Suggestion]]:
    found = profile(microdata)
    return found, {each.column: each for each in suggest(microdata, found, k)}


def roles_of(microdata: Microdata, k: int = 3) -> dict[str, str]:
    return {name: each.role for name, each in suggestions_of(microdata, k)[1].items()}


def survey(n: int = 600) -> dict[str, object]:
    return {
        "person_id": np.arange(n),
        "region": [f"region {at % 7}" for at in range(n)],
        "sex": [1 + at % 2 for at in range(n)],
        "income": RANDOM.lognormal(8, 1, n),
        "age": RANDOM.integers(18, 90, n),
        "poids": RANDOM.uniform(1, 3, n),
        "town": [f"town {at % 200}" for at in range(n)],
        "job": ["rare", *["common"] * (n - 1)],
        "country": ["same"] * n,
        "born": [datetime.date(1950, 1, 1) + datetime.timedelta(int(day)) for day in RANDOM.permutation(n)],
        "nothing": pa.nulls(n),
    }


def test_roles() -> None:
    assert roles_of(typed(survey())) == {
        "person_id": "drop",
        "region": "keys",
        "sex": "keys",
        "income": "confidential",
        "age": "keys",
        "poids": "weight",
        "town": "drop",
        "job": "keys",
        "country": "pass",
        "born": "keys",
        "nothing": "pass",
    }


def test_every_suggestion_has_a_reason() -> None:
    _, found = suggestions_of(typed(survey()))
    assert all(each.reason for each in found.values())


def test_words() -> None:
    microdata = typed(survey())
    found = profile(microdata)
    assert settings_of_plan(suggest(microdata, found, 3), found, 3) == {
        "k": 3,
        "keys": [["region", "sex", "age", "job", "born"]],
        "nominal": ["region", "sex", "job"],
        "confidential": ["income"],
        "drop": ["person_id", "town"],
        "pass": ["country", "nothing"],
        "weight": "poids",
        "retry": True,
    }


def test_missing_keys_are_grouped_by_pattern() -> None:
    microdata = typed({"x": [1.5, None, 2.5, 3.5]})
    found = profile(microdata)
    assert settings_of_plan(suggest(microdata, found, 3), found, 3) == {
        "k": 3,
        "keys": [["x"]],
        "missing": "by-pattern",
    }


def test_strata_together_have_k_records() -> None:
    half = ["a"] * 6 + ["b"] * 6
    crossed = [*["c"] * 5, "d", *["c"] * 2, *["d"] * 4]  # one record of a and d
    found = roles_of(typed({"half": half, "crossed": crossed}))
    assert sorted(found.values()) == ["pass", "strata"]
    assert roles_of(typed({"half": half, "crossed": ["c", "d"] * 6})) == dict.fromkeys(
        ("half", "crossed"), "strata"
    )


def test_larger_k_makes_fewer_strata() -> None:
    assert roles_of(typed({"s": ["a", "b"] * 5}), 5) == {"s": "strata"}
    assert roles_of(typed({"s": ["a", "b"] * 5}), 6) == {"s": "pass"}


def test_labelled_numbers_are_codes() -> None:
    values = [1.0] * 50 + [2.0] * 50 + [3.0]
    assert roles_of(typed({"x": values})) == {"x": "keys"}
    labels = StatisticalLabels(value_labels={"x": {1: "a", 2: "b", 3: "c"}})
    assert roles_of(typed({"x": values}, labels)) == {"x": "pass"}


def test_two_values() -> None:
    assert roles_of(typed({"x": [0.5] * 5 + [1.5] * 5})) == {"x": "keys"}
    assert roles_of(typed({"x": [0] * 5 + [1] * 5})) == {"x": "strata"}
    assert roles_of(typed({"x": [0] * 9 + [1]})) == {"x": "pass"}


def test_weights() -> None:
    several = typed({"weight": [1.5, 2.5, 3.5], "wgt": [1.5, 2.5, 3.5]})
    assert roles_of(several) == {"weight": "weight", "wgt": "keys"}
    assert roles_of(typed({"weight": [0, 2, 5.5]})) == {"weight": "keys"}
    assert roles_of(typed({"survey_weight_2": [1, 2.5, 5]})) == {"survey_weight_2": "weight"}
    assert roles_of(typed({"AFNLWGT": [1, 2.5, 5]})) == {"AFNLWGT": "weight"}
    assert roles_of(typed({"weighty": [1, 2.5, 5]})) == {"weighty": "keys"}


def test_companies() -> None:
    """The papers' example is small, and its whole numbers are amounts."""
    microdata = as_csv(
        {
            "name": [f"company {at}" for at in range(11)],
            "surface": ["790", "710", "730", "810", "950", "510", "400", "330", "510", "760", "50"],
            "employees": ["55", "44", "32", "17", "3", "25", "45", "50", "5", "52", "12"],
        }
    )
    assert roles_of(microdata) == {"name": "drop", "surface": "keys", "employees": "keys"}


@given(
    st.dictionaries(
        st.text(min_size=1),
        st.lists(st.none() | st.text() | st.sampled_from(["1", "2.5", "NA", "9"]), min_size=6, max_size=6),
        max_size=5,
    )
)
def test_anything_has_a_profile(columns: dict[str, list[str | None]]) -> None:
    microdata = as_csv(columns)
    found, suggestions = suggestions_of(microdata)
    assert list(suggestions) == list(columns)
    for column in found:
        assert 0 <= column.distinct <= 6 - column.missing
        assert (column.kind == "empty") == (column.distinct == 0)
