"""`make demo`: the SME example of VLDBJ06 and a generated data set through several methods."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Grid

import microagg
from microagg import datasets
from microagg.model import Table

SME_METHODS = ["mdav", "cbfs", "md", "mdav-mhm", "auto"]
CENSUS_METHODS = [
    "mdav",
    "cbfs",
    "centroid",
    "npn-mhm",
    "mdav-mhm",
    "cbfs+mhm:cyclic=yes",
    "descent",
    "auto",
]


def show(console: Console, title: str, data: Table, k: int, methods: list[str]) -> None:
    grid = Grid(title=title, title_justify="left", title_style="bold")
    grid.add_column("method")
    for heading in ("groups", "smallest group", "information loss", "seconds"):
        grid.add_column(heading, justify="right")
    for method in methods:
        result = microagg.partition(data, k, method)
        proven = " (optimal)" if result.gap is not None and result.gap < 1e-6 else ""
        grid.add_row(
            method,
            f"{len(result.sizes):,}",
            str(result.sizes.min()),
            f"{result.information_loss:.3f} %{proven}",
            f"{result.seconds:.3f}",
        )
    console.print(grid)


def show_masked(console: Console) -> None:
    sme = datasets.sme()
    keys = sme.select("surface", "employees")
    result = microagg.partition(keys, 3)
    grid = Grid(title="The optimum, published (VLDBJ06, Table 2)", title_justify="left", title_style="bold")
    for heading in ("group", "surface", "employees", "turnover", "net profit"):
        grid.add_column(heading, justify="right")
    for label, masked, record in zip(result.labels, result.aggregate(keys), sme.values, strict=True):
        grid.add_row(
            str(label + 1), f"{masked[0]:.2f}", f"{masked[1]:.0f}", f"{record[2]:,.0f}", f"{record[3]:,.0f}"
        )
    console.print(grid)


def main() -> None:
    console = Console(highlight=False, width=100)
    sme = datasets.sme().select("surface", "employees")
    show(console, "11 companies, keys surface and employees, k = 3", sme, 3, SME_METHODS)
    show_masked(console)
    census = datasets.census_like(10_000, seed=1)
    show(console, "10,000 generated persons, 13 attributes, k = 5", census, 5, CENSUS_METHODS)
    console.print(
        "Every record is published as the mean of a group of at least k similar records; information "
        "loss is the share of the data's variation that this removes (100·SSE/SST): a lower figure at "
        "the same k means better data at the same protection. Next: .venv/bin/microagg methods, "
        ".venv/bin/microagg partition FILE.csv -k 3"
    )


if __name__ == "__main__":
    main()
