"""`plan` suggests nothing unsafe, and what it suggests runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import microagg
from microagg import read
from microagg.column_names import confidential_matter, names_an_amount, weight_name
from microagg.errors import DecisionNeeded
from microagg.model import Microdata, StatisticalLabels
from microagg.plan.missing_codes import likely_missing_codes
from microagg.plan.plan_file import write_plan
from microagg.plan.profile import profile
from microagg.plan.suggestions import kind_as_key, suggest
from microagg.trials.drafting import MOST_UNIQUE, PlanDraft, draft_plan
from microagg.web import work
from microagg.web.choices import Choices
from tests.unit.plan.test_profile import as_csv, of, roles_of, suggestions_of, typed

N = 400


def random(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def drafted(columns: Mapping[str, object] | Microdata, k: int = 3) -> PlanDraft:
    microdata = columns if isinstance(columns, Microdata) else typed(columns)
    return draft_plan(microdata, profile(microdata), k)


def drafted_roles(columns: Mapping[str, object], k: int = 3) -> dict[str, str]:
    return {each.column: each.role for each in drafted(columns, k).suggestions}


def release(columns: Mapping[str, object], k: int = 3) -> microagg.Release:
    """By the suggested plan."""
    return microagg.protect(pd.DataFrame(columns), **_keywords(drafted(columns, k).settings))


def _keywords(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {("pass_" if name == "pass" else name): value for name, value in settings.items()}


# --- labels are codes only where nearly all values have one ------------------------------------


def typed_ages(labels: dict[float, str], measure: str = "unknown", **more: Any) -> Microdata:
    ages = random().integers(18, 90, N).astype(float)
    ages[:9] = 99.0
    found = StatisticalLabels(value_labels={"age": labels}, measures={"age": measure}, **more)
    return typed({"age": ages}, found)


def kind_of_ages(labels: dict[float, str], measure: str = "unknown", **more: Any) -> str:
    found, roles = suggestions_of(typed_ages(labels, measure, **more))
    return f"{roles['age'].role}: {kind_as_key(found['age'])}"


def test_a_label_on_a_missing_code_makes_no_codes() -> None:
    assert kind_of_ages({99.0: "Refused"}) == "keys: number"
    assert kind_of_ages({99.0: "Refused"}, missing_ranges={"age": [{"lo": 99, "hi": 99}]}) == "keys: number"
    assert kind_of_ages({89.0: "89 or older", 18.0: "18 or younger"}) == "keys: number"


def test_labels_on_nearly_all_values_make_codes() -> None:
    assert kind_of_ages({float(age): f"{age} years" for age in range(18, 90)}).endswith(": nominal")
    answers = [1.0, 2.0, 3.0, 9.0] * 100
    labels = StatisticalLabels(value_labels={"x": {1: "a", 2: "b", 3: "c"}})
    assert roles_of(typed({"x": [*answers, 1.0], "y": [*answers, 2.0]}, labels))["x"] == "strata"


def test_the_measurement_level_of_the_file_is_used() -> None:
    assert kind_of_ages({}, "scale") == "keys: number"
    assert kind_of_ages({}, "ordinal") == "keys: number"
    assert kind_of_ages({}, "nominal").endswith(": nominal")
    codes = StatisticalLabels(
        value_labels={"sex": {1: "m", 2: "f"}}, measures={"sex": "scale", "region": "scale"}
    )
    found = roles_of(typed({"sex": [1, 2] * 200, "region": np.arange(N) % 40}, codes))
    assert found == {"sex": "keys", "region": "keys"}


def test_spss_files_keep_age_masked(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": random().integers(18, 90, N), "sex": [1, 2] * (N // 2)})
    frame.loc[:7, "age"] = 99
    pyreadstat.write_sav(
        frame,
        str(tmp_path / "s.sav"),
        variable_value_labels={"age": {99: "Refused"}, "sex": {1: "m", 2: "f"}},
        missing_ranges={"age": [{"lo": 99, "hi": 99}]},
        variable_measure={"age": "scale", "sex": "nominal"},
    )
    found = drafted(read.microdata_from_file(tmp_path / "s.sav"))
    assert (found.settings["keys"], found.settings["nominal"]) == ([["age", "sex"]], ["sex"])


# --- kinds of keys -----------------------------------------------------------------------------


def test_categories_that_people_are_distinguished_by_are_keys() -> None:
    some = random().choice(["p", "q", "r"], N)
    english = ("sex", "region", "education", "occupation", "marital.status", "race", "nationality")
    for name in (
        *english,
        "Geschlecht",
        "Bildung",
        "Beruf",
        "sexe",
        "ocupacion",
        "estado_civil",
        "regione",
    ):
        settings = drafted({name: some, "x": random().normal(size=N)}).settings
        assert (settings["keys"], settings["nominal"]) == ([[name, "x"]], [name]), name


def test_levels_are_in_order_where_the_file_or_a_scale_has_one() -> None:
    draws = random()
    levels = ["tertiary", "primary", "secondary"]
    frame = pd.DataFrame(
        {
            "education": draws.choice(levels, N),
            "age_group": draws.choice(["18-24", "65+", "25-64"], N),
            "degree": pd.Categorical(draws.choice(["x", "y", "z"], N), ["z", "x", "y"], ordered=True),
        }
    )
    settings = drafted(read.microdata_of(frame)).settings
    assert settings["ordinal"] == {
        "education": ["primary", "secondary", "tertiary"],
        "age_group": ["18-24", "25-64", "65+"],
        "degree": [],
    }
    assert microagg.protect(frame, **_keywords(settings)).verdict.safe


def test_labels_of_codes_are_levels() -> None:
    labels = StatisticalLabels(
        value_labels={"education": {1: "low", 2: "high", 3: "medium"}, "degree": {1: "a", 2: "b", 3: "c"}},
        measures={"degree": "ordinal"},
    )
    codes = random().integers(1, 4, (2, N))
    settings = drafted(typed({"education": codes[0], "degree": codes[1]}, labels)).settings
    assert settings["ordinal"] == {"education": ["low", "medium", "high"], "degree": []}


def test_very_many_categories_are_left_out() -> None:
    jobs = [f"job {at % 200}" for at in range(N)]
    found = {each.column: each for each in drafted({**person(), "job": jobs}).suggestions}
    assert found["job"].role == "drop"
    assert found["job"].reason.startswith("200 categories")


def test_dates_are_keys() -> None:
    columns = {"birth": pd.date_range("1950-01-01", periods=N, freq="D"), "x": random().normal(size=N)}
    settings = drafted(read.microdata_of(pd.DataFrame(columns))).settings
    assert settings == {"k": 3, "keys": [["birth", "x"]]}


# --- missing codes are in force ----------------------------------------------------------------


def ages_with_999(n: int = N) -> dict[str, object]:
    ages = random(3).integers(18, 90, n)
    ages[::20] = 999
    return {"age": ages, "rent": np.round(random(4).lognormal(6, 0.5, n), 1)}


def test_missing_codes_are_in_force_in_the_plan() -> None:
    columns = ages_with_999()
    settings = drafted(columns).settings
    assert settings["missing_codes"] == {"age": [999]}
    assert settings["missing"] == "by-pattern"
    assert pd.Series(release(columns).data["age"]).max() < 100


def test_the_plan_says_why_a_number_is_taken_for_a_missing_code() -> None:
    microdata = typed(ages_with_999())
    found = profile(microdata)
    made = draft_plan(microdata, found, 3)
    text = write_plan(made.settings, found, made.suggestions, notes=made.notes)
    assert "\nmissing_codes = { age = [999] }" in text
    assert '# "age": 999 in 20 records: they look like codes' in text
    assert "remove\n# them here" in text or "remove them here" in text


def test_the_browser_has_missing_codes_in_force(tmp_path: Path) -> None:
    columns = ages_with_999()
    pd.DataFrame(columns).to_csv(tmp_path / "data.csv", index=False)
    choices = looked_at(tmp_path)
    assert choices.get("missing_codes", "age") == "999"
    assert choices.plan()["missing_codes"] == {"age": [999]}
    assert choices.plan()["missing"] == "by-pattern"
    made = microagg.protect(tmp_path / "data.csv", **_keywords(choices.plan()))
    assert max(made.data["age"].drop_null().to_pylist()) < 100
    choices.set("missing_codes", "", "age")
    assert "missing_codes" not in choices.plan()


def test_suggested_codes_give_way_where_a_column_is_not_masked(tmp_path: Path) -> None:
    pd.DataFrame(ages_with_999()).to_csv(tmp_path / "data.csv", index=False)
    choices = looked_at(tmp_path)
    choices.set("role", "drop", "age")
    assert "missing_codes" not in choices.plan()
    choices.set("missing_codes", "", "age")
    choices.set("missing_codes", "999", "age")  # what was typed is not dropped without a word
    assert choices.plan()["missing_codes"] == {"age": [999]}


def test_single_digits_at_the_thin_end_of_counts_are_answers() -> None:
    children = np.array([0, 1, 2, 3, 4, 5, 9], dtype=float)
    assert likely_missing_codes(children, np.array([90, 70, 60, 20, 8, 4, 2])) == ()
    assert likely_missing_codes(children, np.array([90, 70, 60, 20, 8, 4, 31])) == (9,)
    assert likely_missing_codes(np.array([2.0, 4.0, 5.0, 6.0, 9.0]), np.full(5, 30)) == ()


def test_labels_that_say_that_there_is_no_answer() -> None:
    values = [*range(1, 97), 97, 97, 98] * 3
    labels = StatisticalLabels(value_labels={"x": {97: "Refused", 98: "Don't know", 1: "lowest"}})
    found = profile(typed({"x": values}, labels))["x"]
    assert found.missing_codes == (97, 98)
    assert (found.coded_missing, found.called_missing) == (9, True)


# --- numbers of persons and households ---------------------------------------------------------


UNITS = """
    nr id hid pid fcode dcode ori_hid caseid person household household_id utilityid firm subject
    respondent haushalt menage hogar famiglia pidp pnr persnr lfdnr hhnr
"""


@pytest.mark.parametrize("name", UNITS.split())
def test_repeating_numbers_of_units_are_dropped(name: str) -> None:
    numbers = np.repeat(random().permutation(5000)[: N // 4] + 12, 4)
    assert drafted_roles({name: numbers, "x": random().normal(size=N)})[name] == "drop"


@pytest.mark.parametrize("name", ["nr_children", "persons", "number_of_rooms", "families", "children"])
def test_counts_are_no_numbers_of_units(name: str) -> None:
    assert roles_of(typed({name: random().integers(0, 60, N)}))[name] == "keys"


def test_distinct_whole_numbers_are_not_keys() -> None:
    draws = random()
    for numbers in (
        draws.choice(14_000, 420, replace=False) + 61_382,
        draws.choice(5_000_000, 420, replace=False) + 1,
        draws.permutation(420) + 7,
    ):
        assert of(numbers, "district").identifier
        assert roles_of(typed({"district": numbers})) == {"district": "drop"}


def test_amounts_that_are_distinct_stay_keys() -> None:
    draws = random()
    skewed = np.unique(np.rint(draws.lognormal(12, 1, N)))
    even = draws.choice(900_000, N, replace=False) + 100_000
    assert roles_of(typed({"x": skewed})) == {"x": "keys"}
    assert roles_of(typed({"expend": even})) == {"expend": "keys"}
    assert roles_of(typed({"x": even // 10 * 10})) == {"x": "keys"}
    assert roles_of(typed({"x": even - 500_000})) == {"x": "keys"}
    along = {"x": even, "y": even / 7.3 + draws.normal(0, 5000, N)}
    assert roles_of(typed(along)) == {"x": "keys", "y": "keys"}
    assert roles_of(typed({"x": [100, 205, 317, 422, 539]})) == {"x": "keys"}  # too few to tell


# --- a survey weight by name and shape ---------------------------------------------------------


def test_the_weight_of_a_body_is_no_survey_weight() -> None:
    kilograms = np.round(random().normal(80, 16, N).clip(35, 180), 1)
    assert roles_of(typed({"weight": kilograms})) == {"weight": "keys"}
    assert roles_of(typed({"wt": random().normal(3.2, 0.9, N).clip(1.5, 5.5)})) == {"wt": "keys"}
    assert roles_of(typed({"birth_weight": random().normal(3300, 500, N)})) == {"birth_weight": "keys"}
    assert roles_of(typed({"weight": random().integers(1, 8, N)})) != {"weight": "weight"}


def test_survey_weights_have_their_name_and_shape() -> None:
    spread = random().lognormal(10, 0.6, N)
    for name in ("weight", "fnlwgt", "AFNLWGT", "poids", "gewicht", "pond", "survey_weight"):
        assert roles_of(typed({name: spread})) == {name: "weight"}
    assert roles_of(typed({"weight": spread / spread.mean()})) == {"weight": "weight"}
    assert roles_of(typed({"WEIGHT": random().choice([112.7, 190.5, 231.5, 420.0], N)})) == {
        "WEIGHT": "weight"
    }
    assert roles_of(typed({"height": spread})) == {"height": "keys"}
    assert weight_name("bodyweight_kg") == ""


def test_weights_that_would_dominate_groups_are_not_used() -> None:
    columns = {"x": random().normal(size=N), "weight": random(2).lognormal(10, 1.2, N)}
    found = {each.column: each for each in drafted(columns).suggestions}
    assert found["weight"].role == "drop"
    assert "more than half of the weight" in found["weight"].reason
    even = {"x": columns["x"], "weight": random(2).uniform(0.9, 1.1, N)}
    assert drafted(even).settings["weight"] == "weight"
    assert drafted(even).settings["retry"] is True
    assert release(even).verdict.safe


# --- confidential matters ----------------------------------------------------------------------

CONFIDENTIAL = """
    diagnosis Diagnose main_disease hiv HIV_status illness icd10 ICD disability income INCOME hh_income
    annualSalary wage lwage wages earnings debt debts religion vote criminal_record sexual_orientation
    Krankheit Behinderung Einkommen Gehalt Lohn Schulden Vermögen Konfession Wahlentscheidung
    maladie revenu salaire dette handicap enfermedad ingresos salario deuda discapacidad malattia reddito
    stipendio faminc
"""
ORDINARY = """
    age sex turnover sales revenue profit employees surface price hours education party_size invoice include
    incident health_insurance_office valid region salad devote
"""


@pytest.mark.parametrize("name", CONFIDENTIAL.split())
def test_names_of_confidential_matters(name: str) -> None:
    assert confidential_matter(name)


@pytest.mark.parametrize("name", ORDINARY.split())
def test_ordinary_names_are_not_confidential(name: str) -> None:
    assert not confidential_matter(name)


def person(n: int = N) -> dict[str, object]:
    draws = random(7)
    return {
        "age": draws.integers(18, 90, n),
        "rooms": draws.integers(1, 60, n),
        "income": np.round(draws.lognormal(8, 1, n), 2),
    }


def test_incomes_of_persons_are_confidential_and_those_of_businesses_keys() -> None:
    assert drafted_roles(person()) == {"age": "keys", "rooms": "keys", "income": "confidential"}
    draws = random()
    business = {name: draws.lognormal(8, 1, N) for name in ("turnover", "employees", "net_income")}
    assert set(drafted_roles(business).values()) == {"keys"}


def test_a_confidential_column_that_groups_give_away_is_masked_or_dropped() -> None:
    heaps = np.where(random().random(N) < 0.9, 0.0, random(2).lognormal(8, 1, N))
    found = drafted({**person(), "debt": heaps, "hiv": ["no"] * 390 + ["yes"] * 10})
    roles = {each.column: each for each in found.suggestions}
    assert (roles["debt"].role, roles["hiv"].role) == ("keys", "keys")
    assert found.settings["nominal"] == ["hiv"]
    assert "would share its value" in roles["hiv"].reason
    assert release({**person(), "debt": heaps, "hiv": ["no"] * 390 + ["yes"] * 10}).verdict.safe


# --- what is released as it is -----------------------------------------------------------------


def test_a_passed_column_that_makes_more_than_one_record_in_twenty_unique_is_dropped() -> None:
    draws = random(9)
    rare = ["rare", *["common"] * (N - 1)]
    columns = {**person(), "hobby": [f"hobby {at}" for at in draws.integers(0, 60, N)], "seldom": rare}
    found = {each.column: each for each in drafted(columns).suggestions}
    assert (found["hobby"].role, found["seldom"].role) == ("drop", "pass")
    made = release(columns)
    assert all(
        entry.unique <= MOST_UNIQUE * N for entry in made.verdict.not_counted if entry.column == "seldom"
    )


def test_the_uniqueness_that_is_judged_is_that_of_a_release() -> None:
    columns = {"x": random().normal(size=N), "y": random(2).normal(size=N), "many": np.arange(N) % 97 // 2}
    names = [f"club {at}" for at in np.asarray(columns.pop("many"))]
    found = {each.column: each for each in drafted({**columns, "club": names}).suggestions}
    assert found["club"].role == "drop"
    made = microagg.protect(
        pd.DataFrame({**columns, "club": names}),
        k=3,
        rest="pass",
        keys=["x", "y"],
        pass_=["club"],
        method="mdav",
    )
    unique = {entry.column: entry.unique for entry in made.verdict.not_counted}["club"]
    assert f"would make {unique} of {N} records unique" in found["club"].reason


def test_columns_that_are_too_much_together_are_named() -> None:
    n = 3000
    rare = {f"g{at}": np.where(np.arange(n) % 101 == at, f"v{at}", "usual") for at in range(8)}
    for values in rare.values():
        values[:2] = "a", "b"  # too rare for strata
    found = drafted({"x": random(5).normal(size=n), **rare})
    assert found.settings["pass"] == list(rare)
    assert any("together make" in note for note in found.notes)


def test_a_text_for_each_value_of_a_key_is_dropped() -> None:
    n = 4000
    years = random().integers(0, 40, n)
    columns = {"years": years, "stage": [f"stage {year}" for year in years]}
    found = {each.column: each for each in drafted(columns).suggestions}
    assert found["years"].role == "keys"
    assert found["stage"].role == "drop"
    assert "stands for one of years" in found["stage"].reason


def test_a_confidential_column_from_which_a_key_follows_is_masked() -> None:
    income = np.round(random().lognormal(8, 1, N), 2)
    found = drafted_roles({"age": person()["age"], "income": income, "x": 2.0 * income + 7.0})
    assert found == {"age": "keys", "income": "keys", "x": "keys"}


def test_of_keys_that_are_functions_of_each_other_one_is_masked() -> None:
    """Sum and sum of squares of three whole numbers mostly have one solution."""
    exper = random().integers(0, 50, N)
    price = np.round(random(2).lognormal(5, 1, N), 2)
    columns = {
        "exper": exper,
        "expersq": exper**2,
        "price": price,
        "lprice": np.log(price),
        "cents": 100 * price,
    }
    found = {each.column: each for each in drafted(columns).suggestions}
    masked = [name for name, each in found.items() if each.role == "keys"]
    assert masked == ["exper", "price", "cents"]
    assert "a function of exper" in found["expersq"].reason
    assert drafted_roles({"x": exper, "y": 50 - exper, "z": random(3).integers(0, 50, N)}).keys() == {
        "x",
        "y",
        "z",
    }


def test_a_column_is_not_dropped_for_a_key_that_is_missing_in_some_record() -> None:
    wage = random().lognormal(2, 1, N)
    wage[:2] = np.nan
    city = np.array(["yes", "no"] * (N // 2))
    found = {each.column: each for each in drafted({"wages per hour": wage, "city": city}).suggestions}
    assert "stands for one of" not in found["city"].reason


def test_a_single_masked_term_of_a_sum_is_not_left_alone() -> None:
    wage, rent = (np.round(random(seed).lognormal(8, 1, N), 2) for seed in (1, 2))
    found = drafted_roles({"wage": wage, "rent": rent, "income": np.round(wage + rent, 2)})
    assert set(found.values()) == {"keys"}


# --- the plan runs, or says why not ------------------------------------------------------------


def test_a_file_of_categories_alone_is_protected() -> None:
    columns = {"sex": ["m", "f"] * 200, "job": ["a", "b", "c", "d", "a"] * 80}
    assert drafted(columns).settings == {"k": 3, "keys": [["sex", "job"]], "nominal": ["sex", "job"]}
    assert release(columns).verdict.safe


def test_a_file_of_names_alone_is_refused_at_once() -> None:
    found = drafted({"name": [f"name {at}" for at in range(N)]})
    assert found.refusal
    assert not any(each.role == "keys" for each in found.suggestions)


def test_yes_and_no_as_numbers_are_masked_if_there_is_nothing_else() -> None:
    columns = {f"q{at}": random(at).integers(0, 2, N) for at in range(4)}
    found = drafted(columns)
    assert found.settings["keys"] == [list(columns)]
    assert found.settings["nominal"] == list(columns)
    assert release(columns).verdict.safe


def test_pairs_are_refused_by_plan_as_by_protect() -> None:
    microdata = typed(person())
    with pytest.raises(DecisionNeeded, match=r"accept=.pairs"):
        draft_plan(microdata, profile(microdata), 2)
    found = draft_plan(microdata, profile(microdata), 2, accept=["pairs"])
    assert microagg.protect(pd.DataFrame(person()), **_keywords(found.settings)).verdict.safe


def test_keys_that_are_never_observed_together_give_way() -> None:
    a, b = np.full(10, np.nan), np.full(10, np.nan)
    a[:9], b[9:] = random().normal(size=9), 1.5
    c = np.where(np.arange(10) < 9, 2.5, np.nan)
    columns = {"a": a, "b": b, "c": c + random(3).normal(size=10)}
    found = drafted(columns)
    assert not found.refusal
    assert release(columns).verdict.safe


@pytest.mark.parametrize("seed", range(25))
def test_suggested_plans_run(seed: int) -> None:
    """Files of all kinds of columns, in odd shapes."""
    draws = random(seed)
    n = int(draws.integers(6, 200))
    kinds = {
        "age": lambda: draws.integers(18, 90, n),
        "income": lambda: np.where(draws.random(n) < 0.3, 0, np.round(draws.lognormal(8, 1, n))),
        "illness": lambda: draws.choice(["none", "flu", "other"], n, p=[0.8, 0.15, 0.05]),
        "region": lambda: draws.choice(["n", "s", None], n, p=[0.5, 0.3, 0.2]),
        "weight": lambda: draws.lognormal(5, 1, n),
        "code": lambda: draws.integers(1, 40, n),
        "gaps": lambda: np.where(draws.random(n) < 0.6, np.nan, draws.normal(size=n)),
        "answer": lambda: draws.choice([1, 2, 3, 4, 99], n),
        "yes": lambda: draws.random(n) < 0.5,
        "infinite": lambda: np.where(draws.random(n) < 0.05, np.inf, draws.normal(size=n)),
        "nothing": lambda: [None] * n,
        "id": lambda: draws.permutation(n),
    }
    chosen = draws.choice(list(kinds), int(draws.integers(1, 9)), replace=False)
    columns = {str(name): kinds[str(name)]() for name in chosen}
    k = int(draws.integers(3, 6))
    source = read.microdata_of(pd.DataFrame(columns))
    found = draft_plan(source, profile(source), k)
    if found.refusal:
        assert not any(each.role == "keys" for each in found.suggestions)
    else:
        made = microagg.protect(pd.DataFrame(columns), **_keywords(found.settings), effort="fast")
        assert made.verdict.safe


# --- strata with missing values; the browser's suggestions -------------------------------------


def test_missing_values_are_a_stratum_of_their_own() -> None:
    some = ["a", "b", None, "c"] * 100
    found, roles = suggestions_of(as_csv({"s": some, "x": [str(at / 7) for at in range(N)]}))
    assert found["s"].missing == 100
    assert roles["s"].role == "strata"
    one = [None, *["a", "b", "c"] * 133]
    assert "fewer than 3 records miss it" in suggestions_of(as_csv({"s": one}))[1]["s"].reason
    assert release({"s": some, "x": random().normal(size=N)}).verdict.safe


class Silence:
    """The line of a job to nobody."""

    def begin(self, *_: object) -> None:
        """Nothing is shown."""


def looked_at(folder: Path) -> Choices:
    arguments = {
        "name": "data.csv",
        "path": "data.csv",
        "home": folder,
        "csv": {},
        "cache": folder,
    }
    answer = work.look(arguments, Silence())  # type: ignore[arg-type]
    return Choices.suggested(answer["columns"], answer["settings"])


def test_the_browser_suggests_what_plan_suggests(tmp_path: Path) -> None:
    draws = random(11)
    columns = {
        **ages_with_999(),
        **{"income": np.round(draws.lognormal(8, 1, N), 2), "nr": np.repeat(np.arange(N // 4), 4)},
        "town": [f"town {at}" for at in draws.integers(0, 60, N)],
        "sex": ["m", "f"] * (N // 2),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "data.csv", index=False)
    choices = looked_at(tmp_path)
    microdata = read.microdata_from_file(tmp_path / "data.csv")
    assert choices.plan() == draft_plan(microdata, profile(microdata), 3).settings


def test_what_was_suggested_and_cannot_act_gives_way_in_the_browser() -> None:
    columns = [{"name": "a", "suggested": "keys", "missing": 0},
               {"name": "b", "suggested": "confidential", "missing": 0}]  # fmt: skip
    choices = Choices.suggested(columns, {"retry": True})
    assert choices.plan()["retry"] is True
    choices.set("role", "keys 1", "b")
    assert "retry" not in choices.plan()


def test_suggestions_by_columns_alone_try_nothing() -> None:
    microdata = typed(person())
    assert {each.role for each in suggest(microdata, profile(microdata), 3)} == {"keys", "confidential"}
    assert names_an_amount("STATETAX")
