"""The papers' figures beside ours (`tables.toml`)."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from benchmarks import papers

import microagg
from microagg import datasets
from tests.campaigns import only_in_all
from tests.papers import figures
from tests.papers.figures import APART, DATA, EQUAL, NEAR, PENDING, REASONS, Entry

DOCUMENT = figures.load()
HEADING = "| kind | reason | figures |"

needs_data = pytest.mark.skipif(
    not figures.reference_files_are_here(),
    reason="the reference data sets are not here: set MICROAGG_DATA to their folder",
)


only_recorded = pytest.mark.skip(reason="a recorded run: python -m benchmarks.papers --recorded")


def marks(data: str, cost: str) -> list[pytest.MarkDecorator]:
    lacks = DATA[data].lacks()
    found = [pytest.mark.skipif(bool(lacks), reason=lacks)] * bool(lacks)
    found += [pytest.mark.long] * (cost != "fast")
    return found + [only_in_all] * (cost == "slowest") + [only_recorded] * (cost == "recorded")


def name_of(table: Entry) -> str:
    words = [table["paper"], table["table"], table["data"], table.get("measure", "loss")]
    return "-".join(word.replace(" ", "_") for word in words)


def name_in(table: Entry, figure: Entry) -> str:
    """The name of a figure."""
    words = [name_of(table), figure["method"], figure.get("pick", ""), str(figure["k"])]
    return "-".join(word for word in words if word)


FIGURES = [
    pytest.param(table, cost, id=f"{name_of(table)}-{cost}", marks=marks(table["data"], cost))
    for table in DOCUMENT["table"]
    for cost in dict.fromkeys(figures.cost(table, figure) for figure in table["figures"])
]
RELATIONS = [
    pytest.param(
        relation,
        id=f"{relation['paper']}-{relation['data']}-{relation['claim']}",
        marks=marks(relation["data"], relation.get("cost", "fast")),
    )
    for relation in DOCUMENT["relation"]
]
RECOMPUTED = [
    pytest.param(table["data"], method, int(k), value, id=f"{table['data']}-{method}-{k}")
    for table in DOCUMENT["recomputed"]
    for method, values in table.items()
    if method != "data"
    for k, value in values.items()
]


@pytest.mark.parametrize(("table", "cost"), FIGURES)
def test_figures(table: Entry, cost: str) -> None:
    own = [figure for figure in table["figures"] if figures.cost(table, figure) == cost]
    computed = [(name_in(table, figure), figures.compute(table, figure)) for figure in own]
    assert computed == [(name_in(table, figure), figure["ours"]) for figure in own]


def test_differences_are_explained() -> None:
    wrong = {}
    for table in DOCUMENT["table"]:
        for figure in table["figures"]:
            if fault := unexplained(table, figure):
                wrong[name_in(table, figure)] = fault
    assert wrong == {}


def unexplained(table: Entry, figure: Entry) -> str:
    """What is wrong with the explanation of a figure; nothing if all is right."""
    if figure["ours"] == PENDING:
        return "run python -m benchmarks.papers --slow --record"
    agreement = figures.agreement(table, figure)
    if "reads" in figure or agreement == EQUAL:
        return "it needs no reason of its own" if "why" in figure else ""
    if agreement == APART and figures.reason(table, figure).partition(":")[0] not in REASONS:
        return "it needs a reason"
    return ""


@pytest.mark.parametrize(
    ("published", "ours", "agreement"),
    [
        ("16.9326", "16.932599", EQUAL),
        ("16.9326", "16.932651", NEAR),
        ("14.2239", "14.2139", NEAR),
        ("14.2239", "14.2138", APART),
        ("2.49", "2.4931", EQUAL),
        ("30.7", "30.6510", EQUAL),
        ("30.7", "30.6490", APART),
    ],
)
def test_agreement_is_to_the_printed_digit(published: str, ours: str, agreement: str) -> None:
    assert figures.agreement_of({}, Decimal(published), Decimal(ours)) == agreement


def test_other_measures_agree_to_the_printed_digit_only() -> None:
    assert figures.agreement_of({"measure": "optima"}, 37, 36) == APART
    assert figures.agreement_of({"measure": "mean deviation"}, Decimal("0.83"), Decimal("0.8351")) == APART


def test_a_reading_stands_beside_the_figure_that_it_reads() -> None:
    for table in DOCUMENT["table"]:
        found = [
            id(reading)
            for figure in table["figures"]
            if "reads" not in figure
            for reading in figures.readings(table, figure)
        ]
        expected = [id(figure) for figure in table["figures"] if "reads" in figure]
        assert sorted(found) == sorted(expected), (table["paper"], table["table"], table["data"])


def test_the_summary_counts_a_printed_figure_once_and_equal_ones_first() -> None:
    rows = [line for line in papers.summary(DOCUMENT).splitlines() if line.startswith("| ")]
    counts = {
        row.split(" | ")[0][2:]: int(row.split(" | ")[1][:-2]) for row in rows[1 : rows.index(HEADING)]
    }
    printed = [
        (table, figure)
        for table in DOCUMENT["table"]
        for figure in table["figures"]
        if "reads" not in figure
    ]
    assert next(iter(counts)) == EQUAL
    assert sum(counts.values()) == len(printed)
    assert counts[EQUAL] == sum(figures.best_agreement(*one) == EQUAL for one in printed)


@pytest.mark.parametrize("relation", RELATIONS)
def test_relation(relation: Entry) -> None:
    assert figures.failing(relation) == relation["fails"]


def test_failing_relations_are_explained() -> None:
    for relation in DOCUMENT["relation"]:
        assert relation["fails"] != PENDING, "run python -m benchmarks.papers --slow --record"
        explained = relation.get("why", "").partition(":")[0] in REASONS
        assert explained == bool(relation["fails"]), relation["claim"]


def test_every_method_is_in_the_catalogue() -> None:
    named = {figure["method"] for table in DOCUMENT["table"] for figure in table["figures"]}
    for relation in DOCUMENT["relation"]:
        named.update(relation["left"], relation["right"])
    for method in sorted(named):
        figures.check_method(method)


def test_the_file_has_its_own_layout() -> None:
    text = figures.FILE.read_text(encoding="utf-8")
    assert figures.dump(figures.parse(text), figures.header_of(text)) == text


def test_the_page_says_what_the_file_says() -> None:
    assert papers.PAGE.read_text(encoding="utf-8") == papers.page(DOCUMENT)


@needs_data
@pytest.mark.parametrize(("data", "method", "k", "value"), RECOMPUTED)
def test_recomputed(data: str, method: str, k: int, value: Decimal) -> None:
    decimals = -value.as_tuple().exponent
    assert Decimal(f"{figures.losses(data, method, k)[0]:.{decimals}f}") == value


@needs_data
@pytest.mark.parametrize("data", ["tarragona", "census", "eia"])
@pytest.mark.parametrize("method", ["mdav", "cbfs", "md"])
def test_mhm_never_loses(data: str, method: str) -> None:
    for k in (3, 4, 5, 10):
        assert figures.run(data, 1, f"{method}-mhm", k).sse <= figures.run(data, 1, method, k).sse


def test_sme_example() -> None:
    """VLDBJ06, Tables 1 and 2: the optimum of the two keys, and the masked table as printed."""
    keys = datasets.sme().select("surface", "employees")
    result = microagg.partition(keys, 3, "exhaustive")
    assert result.sst == pytest.approx(22.0, rel=1e-12)
    assert round(result.sse, 4) == 7.4848
    assert round(result.information_loss, 4) == 34.0218
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 1, 0, 2]
    assert result.gap == pytest.approx(0.0, abs=1e-9)
    masked = result.aggregate(keys)
    surface, employees = {0: 747.5, 1: 756.67, 2: 322.5}, {0: 46, 1: 8, 2: 33}
    for label, (area, staff) in zip(result.labels, masked, strict=True):
        assert round(area, 2) == surface[label]
        assert round(staff) == employees[label]


def test_the_claim_of_table_4_on_a_stand_in() -> None:
    """Variable group sizes pay where the data are clustered: on three clusters of 3, 3 and 5 records, as in
    VLDBJ06's Figure 3 (whose points exist only as a picture), fixed sizes must break a cluster up.
    """
    rng = np.random.default_rng(4)
    centres = np.repeat([[0.0, 4.0], [0.0, -4.0], [14.0, 0.0]], [3, 3, 5], axis=0)
    points = centres + rng.normal(scale=0.7, size=centres.shape)
    best = microagg.partition(points, 3, "exhaustive", scale="none")
    for method in ("md", "mdav", "cbfs"):
        fixed = microagg.partition(points, 3, method, scale="none")
        refined = microagg.partition(points, 3, f"{method}-mhm", scale="none")
        assert refined.sse == pytest.approx(best.sse)
        assert fixed.sse > 2 * refined.sse
