"""Files to try the pages with; nobody's data."""

from __future__ import annotations

import csv
import io

import numpy as np

from microagg import datasets

NAMES = {"companies": "companies.csv", "people": "people.csv"}
_PEOPLE = 1_000
_REGIONS = ("north", "east", "south", "west")


def companies() -> str:
    """Eleven companies, the example of VLDBJ06, as CSV."""
    table = datasets.sme()
    rows = zip(datasets.SME_COMPANIES, table.values.astype(int).tolist(), strict=True)
    return _csv(["company", *table.columns], [[name, *values] for name, values in rows])


def people() -> str:
    """A thousand people who do not exist, as CSV: numbers to mask, a region, an identifier, a sum."""
    draw = np.random.default_rng(2024)
    age = draw.integers(18, 91, _PEOPLE)
    wage = np.round(np.exp(draw.normal(7.4, 0.5, _PEOPLE)) * (age < 67), -1)
    pension = np.round((age >= 60) * draw.gamma(6.0, 200.0, _PEOPLE), -1)
    rent = np.round(250 + 0.18 * (wage + pension) + draw.normal(0, 90, _PEOPLE).clip(-200), 0)
    size = draw.poisson(1.1, _PEOPLE) + 1
    region = draw.choice(_REGIONS, _PEOPLE, p=(0.4, 0.25, 0.2, 0.15))
    weight = np.round(draw.uniform(80, 120, _PEOPLE), 1)
    names = ["person_id", "region", "age", "household", "wage", "pension", "income", "rent", "weight"]
    whole = (np.arange(_PEOPLE) + 100_001, age, size, wage, pension, wage + pension, rent)
    person, *others = (column.astype(int).tolist() for column in whole)
    ages, sizes, wages, pensions, incomes, rents = others
    columns = (person, region.tolist(), ages, sizes, wages, pensions, incomes, rents, weight.tolist())
    return _csv(names, [list(row) for row in zip(*columns, strict=True)])


def _csv(names: list[str], rows: list[list[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([names, *rows])
    return text.getvalue()


TEXTS = {"companies": companies, "people": people}
