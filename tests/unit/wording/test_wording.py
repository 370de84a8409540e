"""Messages: names that are safe to show, options in the terms of each face, and the sentences."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import microagg
from microagg import errors, wording
from microagg.settings.declared import ON_PAGES
from microagg.verdict import Changes, Count, Finding, Verdict, decide, note, refuse, unsafe_release
from microagg.wording import findings, on_command_line
from microagg.wording.template import Template, figures_in

SOURCES = sorted(Path(microagg.__file__).parent.rglob("*.py"))
RULES = {
    name: rule
    for name, rule in vars(findings).items()
    if isinstance(rule, findings.Sentence | findings.Decision)
    or (inspect.isfunction(rule) and rule.__module__ == findings.__name__ and not name.startswith("_"))
}
TEMPLATES = {name: each for name, each in vars(wording).items() if isinstance(each, Template)}


# --- faces ---------------------------------------------------------------------------------------


def test_each_face_names_options_in_its_own_terms() -> None:
    error = wording.strata_too_small(2, 5, 1, 3, ["region"])
    start = "2 of 5 strata (region) have fewer than k = 3 records; the smallest has 1. Let their records "
    start += "join the nearest group "
    assert str(error) == (
        f'{start}(small_strata="nearest"), leave them out (small_strata="suppress"), or use coarser strata '
        "or a smaller k."
    )
    with wording.shown_by(on_command_line):
        assert str(error).startswith(f"{start}(--small-strata nearest), ")
    with wording.shown_by(ON_PAGES):
        label = "Strata with fewer than k records: their records join the nearest group"
        assert str(error).startswith(f"{start}(“{label}”), ")
    assert str(error).startswith(f'{start}(small_strata="nearest"), ')


@pytest.mark.parametrize(
    ("option", "value", "in_python", "on_the_command_line"),
    [
        ("k", 3, "k=3", "-k 3"),
        ("pass", None, "pass_", "--pass"),
        ("retry", True, "retry=True", "--retry"),
        ("decimal", ",", 'decimal=","', "--decimal ,"),
        ("sheet", "a b", 'sheet="a b"', "--sheet 'a b'"),
        ("missing_codes", {"a": "TEXT"}, 'missing_codes={"a": "TEXT"}', "--missing-codes a=TEXT"),
    ],
)
def test_options_with_values(option: str, value: Any, in_python: str, on_the_command_line: str) -> None:
    message = wording.Message(f"Use {wording.use(option, value)}.")
    assert str(message) == f"Use {in_python}."
    with wording.shown_by(on_command_line):
        assert str(message) == f"Use {on_the_command_line}."


def test_a_name_in_the_data_is_no_reference_to_an_option() -> None:
    name = wording.use("k", 3)
    assert str(wording.infinite_values(name, 1)) == (
        "Column '\\ue000[\"k\", 3]\\ue001' has 1 infinite value. Replace or remove such "
        "values, or leave the column out."
    )


def test_a_refusal_knows_its_kind_and_figures_also_when_it_comes_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(wording.missing_keys("a", 2, 9)))
    assert isinstance(error, errors.DataError)
    assert wording.kind_of(error) == "missing_keys"
    assert wording.message_of(error).figures == {"column": "a", "missing": 2, "n": 9}
    unsafe = pickle.loads(pickle.dumps(unsafe_release([refuse("nothing_released")])))
    assert unsafe.findings == (refuse("nothing_released"),)


def test_every_sentence_shows_names_safely() -> None:
    helpers = {f"microagg.wording.{module}" for module in ("message", "phrases", "template")}
    for name, function in vars(wording).items():
        if inspect.isfunction(function) and function.__module__ not in helpers:
            assert hasattr(function, "__wrapped__") or name.startswith("_"), name
    for template in TEMPLATES.values():
        specs = {field: spec for _, field, spec, _ in Formatter().parse(template.text)}
        numbers = {
            field for field, spec in specs.items() if re.search(r"^[,.>]|^g$|GB|GiB|share", spec or "")
        }
        numbers |= {
            str(spec).removeprefix("share in ") for spec in specs.values() if "share" in (spec or "")
        }
        figures: dict[str, Any] = dict.fromkeys(figures_in(template.text), "bell\x07")
        figures |= dict.fromkeys(numbers & set(figures), 2)
        for field in (field for field, spec in specs.items() if field and "explained" in (spec or "")):
            figures[field] = {"bell\x07": "bell\x07"}
        assert "\x07" not in str(template(**figures)), template.kind


# --- templates -----------------------------------------------------------------------------------


def test_templates_take_the_figures_that_they_show() -> None:
    assert len(TEMPLATES) > 200
    for name, template in TEMPLATES.items():
        assert template.kind == name
        assert set(figures_in(template.text)) == set(template.parameters), name


def test_every_use_of_a_template_gives_its_figures() -> None:
    used = set()
    for path in SOURCES:
        tree = ast.parse(path.read_text("utf-8"))
        imported = {
            name.name
            for each in ast.walk(tree)
            if isinstance(each, ast.ImportFrom) and str(each.module).startswith("microagg.wording")
            for name in each.names
        }
        for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
            _, prefix, name = ast.unparse(call.func).rpartition("wording.")
            if name not in TEMPLATES or not (name in imported or prefix):
                continue
            used.add(name)
            if any(isinstance(each, ast.Starred) for each in call.args):
                continue
            parameters = TEMPLATES[name].parameters
            given = [*parameters[: len(call.args)], *(str(each.arg) for each in call.keywords)]
            assert len(given) == len(call.args) + len(call.keywords), f"{path}:{call.lineno}"
            assert sorted(given) == sorted(parameters), f"{path}:{call.lineno}"
    assert used == set(TEMPLATES)


@pytest.mark.parametrize(
    ("text", "figures", "shown"),
    [
        ("{records:record} {records:is|are}", {"records": 1}, "1 record is"),
        ("{records:record} {records:is|are}", {"records": 2}, "2 records are"),
        ("{names:column}: {names:quoted}", {"names": ["a", "b"]}, "2 columns: 'a', 'b'"),
        ("{names:hinted in known}", {"names": ["ag"], "known": ["age"]}, "'ag' (did you mean age?)"),
        ("{name}{name:nearest in known}", {"name": "x", "known": ["age"]}, "x"),
        ("{limit:.0e} {value!r} {{}}", {"limit": 1e9, "value": "a"}, "1e+09 'a' {}"),
        ("{--k 3}, {--sheet=name}, {--keep_order true}", {"name": "a"}, 'k=3, sheet="a", keep_order=True'),
        ("{--noise <name>} {given:option}", {"given": "pass"}, "noise pass_"),
        (
            "a{path:? in {path:quoted}|}{n:>2?, many|, {n:few|no} }",
            {"path": ["b"], "n": 1},
            "a in 'b', few ",
        ),
        ("a{path:? in {path:quoted}|}{n:>2?, many|, {n:few|no} }", {"path": [], "n": 3}, "a, many"),
        ("{unique:share in all}", {"unique": 5, "all": 2000}, "5 of 2,000 records (0.25 %)"),
        ("\n    one\n    line", {}, "one line"),
    ],
)
def test_how_templates_show_figures(text: str, figures: dict[str, Any], shown: str) -> None:
    assert str(Template(lambda made: made, tuple(figures), text)(**figures)) == shown


# --- findings ------------------------------------------------------------------------------------


def calls_of_findings() -> list[tuple[str, str, set[str]]]:
    """Where a finding is made: place, rule and names of figures."""
    found = []
    for path in SOURCES:
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not call.args:
                continue
            rule = call.args[0]
            if call.func.id in ("refuse", "decide", "make", "note") and isinstance(rule, ast.Constant):
                figures = {str(keyword.arg) for keyword in call.keywords}
                found.append((f"{path.name}:{call.lineno}", str(rule.value), figures))
    return found


def test_every_finding_has_a_sentence_for_its_figures_and_every_sentence_a_finding() -> None:
    made = calls_of_findings()
    assert {rule for _, rule, _ in made} == set(RULES)
    for place, rule, figures in made:
        sentence = RULES[rule]
        if isinstance(sentence, findings.Sentence):
            assert figures == set(figures_in(sentence.text)) - {"column", "columns"}, place
            continue
        if isinstance(sentence, findings.Decision):
            continue  # the sentences of rules are asserted below
        parameters = list(inspect.signature(sentence).parameters.values())[1:]
        needed = {each.name for each in parameters if each.default is each.empty}
        assert needed <= figures <= {each.name for each in parameters}, place


SENTENCES: list[tuple[Finding, str]] = [
    (
        decide("partial", k=3, unique=1, below=2),
        "The release is k-anonymous per subset, NOT jointly (1 record unique): 2 records are in "
        "combinations "
        "of the keys of all subsets that fewer than 3 records share. Mask all keys together as one subset. "
        'Or accept this: accept="partial".',
    ),
    (
        decide(
            "distinct",
            "pay",
            keys=("age",),
            groups=1,
            records=3,
            least=3,
            masked=False,
            spellings=False,
        ),
        "Confidential column 'pay' has fewer than 3 different values in 1 group of age, with 3 records: "
        "whoever knows the group knows the value. Try other groups (retry=True). A larger k helps. So does "
        'a smaller min_distinct. Or accept this: accept="distinct=pay".',
    ),
    (
        replace(decide("pairs"), action="accepted"),
        "with k = 2, each member of a group can compute the other's values from the mean and its own",
    ),
    (
        refuse("respondents", "id", keys=("age", "sex"), k=3, below=1, alone=1, by_shape=False),
        "1 combination of age and sex is shared by fewer than 3 respondents (1 by one alone), as "
        "'id' shows: "
        "what is published there is nearly their own value. Combine the records of a respondent, or use a "
        "larger k or fewer strata. If every record is a respondent of its own, use "
        'respondent="none".',
    ),
    (
        decide("derived", "net", kind="sum", others=("gross", "tax"), records=95, of=100),
        "'net' was masked, but is a sum or difference of gross and tax, which are released "
        "unchanged: in 95 "
        "of 100 records its values can be computed. Leave out gross and tax, or mask them together with "
        "'net'. Or accept this: accept=\"derived=net\".",
    ),
    (
        refuse("derived", "age", kind="affine", others=("born",), records=100, of=100),
        "'age' was masked, but differs only in unit and zero point from born, which is released "
        "unchanged: in 100 of 100 records its values can be computed. Leave out born, or mask it together "
        "with 'age'.",
    ),
    (
        decide("predicted", "pay", share=0.8, chance=1 / 3),
        "Confidential column 'pay' follows from the keys so closely that 80 % of the records can be told "
        "from the others of their group by it, instead of 33 % by chance. Use a larger k, mask the column "
        '(confidential_as="subset"), or leave it out. Or accept this: accept="predicted=pay".',
    ),
    (
        decide("dominated", "sales", keys=("sales",), groups=2, percent=10.0),
        "In 2 groups of sales one record's amount of 'sales' can be estimated within 10 %. Try other "
        "groups "
        '(retry=True). Use a larger k. Or accept this: accept="dominated=sales".',
    ),
    (
        note("unchanged", "a", "b", records={"a": 1200, "b": 3}, of=4000),
        "values released unchanged, as their group publishes the same: 1,200 of a, 3 of b (of 4,000 "
        "records)",
    ),
    (
        note("covariances_kept", "age", maps=1, moved=2e-5),
        "mean and variance of age are those of the released records in the source, but for rounding (it "
        "moves a variance by 2e-05 of the product of two standard deviations at most): analysts may rely "
        "on them for all records together, not for parts of them",
    ),
    (
        note("values_given_up", k=3, lost={"a": 2, "b": 1}),
        "values set to missing, so that each pattern of missing values has 3 records: 2 of a, 1 of b",
    ),
    (
        note("plan_replaced", source="plan.toml", options=["k", "small_strata"]),
        "k, small_strata replace what the plan plan.toml has there.",
    ),
]


@pytest.mark.parametrize(("finding", "sentence"), SENTENCES, ids=[each.rule for each, _ in SENTENCES])
def test_sentences_of_findings(finding: Finding, sentence: str) -> None:
    assert str(finding) == sentence


def test_what_groups_publish_of_categories() -> None:
    kinds = {"region": "nominal", "level": "ordinal"}
    changes = Changes(masked=("age", "region", "level"), kinds=kinds)
    counted = Verdict(3, subsets=(Count(("age",), 1, 3, 0, 0),))
    said = {
        how: replace(counted, changes=replace(changes, categories=how, near_means=near)).changed
        for how, near in (("mode", ()), ("margins", ()), ("tables", ("age",)), ("existing", ()))
    }
    assert said == {
        "mode": "age is the mean of its group; level is the median level of its group; region is the most "
        "frequent category of its group",
        "margins": "age is the mean of its group; region and level are categories of groups, chosen so "
        "that categories stay as frequent as they are",
        "tables": "age is near the mean of its group, and region and level are categories of groups, "
        "chosen so that tables of two columns are kept",
        "existing": "age is the mean of its group; region and level are the nearest combinations that the "
        "source has",
    }


def test_what_groups_publish_of_several_columns_of_categories() -> None:
    changes = Changes(masked=("sex", "region"), kinds={"sex": "nominal", "region": "nominal"})
    counted = Verdict(3, subsets=(Count(("sex",), 1, 3, 0, 0),), changes=changes)
    assert counted.changed == "sex and region are the most frequent categories of groups"


def test_other_groups_are_not_proposed_once_they_have_been_tried() -> None:
    finding = decide("dominated", "w", keys=("a",), groups=2)
    assert "retry" in str(unsafe_release([finding]))
    again = str(unsafe_release([finding], attempts=15))
    assert again.startswith(
        "Nothing is released before this is decided, after 15 attempts with other seeds and methods. In"
    )
    assert "retry" not in again


def test_several_findings_are_a_list() -> None:
    text = str(unsafe_release([refuse("nothing_released"), refuse("rows_unknown")]))
    assert text.startswith("Nothing is released:\n- No record is left to release.")
    assert text.count("\n- ") == 2


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            wording.k_above_n(5, 1),
            "k is 5, but the data have only 1 record; a group needs at",
        ),
        (
            wording.unknown_columns(["surfce"], ["surface"]),
            "No such column: 'surfce' (did you mean surface?).",
        ),
        (
            wording.too_few_groups_for_covariances(["a", "b"], 2, 3),
            'aggregate="covariances" of a and b needs at least 3 groups, whose means vary in as many '
            "directions as the records do; there are 2 groups. Use a smaller k,",
        ),
        (
            wording.taxonomy_lacks_codes("job", 1, 5),
            "The taxonomy of column 'job' lacks 1 of the 5 codes that the column has. Add a row for each "
            "of them, with its parent, or name codes that mean missing (missing_codes).",
        ),
        (
            wording.not_numeric(["illness"], []),
            "Column 'illness' holds something other than numbers. Only numbers can be used here: convert",
        ),
        (wording.bad_weights("w", "negative", 1), "Column 'w' has 1 negative weight; every weight must be"),
        (wording.option_missing("k", 3), "k is not given. Give, for example, k=3."),
        (wording.cannot_write("out.csv", "No space left"), "out.csv was not written: No space left."),
    ],
)
def test_sentences_of_refusals(error: Exception, text: str) -> None:
    assert str(error).startswith(text)
