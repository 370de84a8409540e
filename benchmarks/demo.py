"""`make demo`: a file of eleven companies (VLDBJ06, Table 1) from raw to protected, by the command line;
releases that are refused; and what the choice of a method is worth on more records.
"""

from __future__ import annotations

import csv
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

import microagg
from microagg import datasets

FOLDER = Path("build") / "demo"
COMMAND = Path(sys.executable).with_name("microagg")
METHODS = ["mdav", "cbfs", "npn-mhm", "mdav-mhm", "descent", "auto"]
ROLES = "--keys surface,employees --confidential turnover,net_profit --drop company"


def write_companies(path: Path) -> None:
    sme = datasets.sme()
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["company", *sme.columns])
        for name, record in zip(datasets.SME_COMPANIES, sme.values, strict=True):
            rows.writerow([name, *(int(value) for value in record)])


def run(console: Console, arguments: str, expected: int = 0) -> None:
    """One command as a user would type it, and what it says."""
    console.print(f"[bold]$ microagg {arguments}[/bold]", soft_wrap=True)
    done = subprocess.run(
        [COMMAND, *shlex.split(arguments)], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    console.print(done.stdout + done.stderr, markup=False, soft_wrap=True)
    if done.returncode != expected:
        sys.exit(f"the demo expected exit code {expected}, not {done.returncode}")


def show(console: Console, title: str, path: Path) -> None:
    grid = Grid(title=title, title_justify="left", title_style="bold")
    with path.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    for name in header:
        grid.add_column(name, justify="left" if name == "company" else "right")
    for row in rows:
        grid.add_row(*row)
    console.print(grid)


def compare(console: Console) -> None:
    census = datasets.census_like(10_000, seed=1)
    grid = Grid(title="10,000 generated persons, 13 keys, k = 5", title_justify="left", title_style="bold")
    grid.add_column("method")
    for heading in ("groups", "information loss", "seconds"):
        grid.add_column(heading, justify="right")
    for method in METHODS:
        result = microagg.partition(census, 5, method)
        grid.add_row(
            method, f"{len(result.sizes):,}", f"{result.information_loss:.3f} %", f"{result.seconds:.3f}"
        )
    console.print(grid)


def main() -> None:
    console = Console(highlight=False, width=100)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    write_companies(FOLDER / "companies.csv")
    show(
        console,
        "The file as it came: who knows a company's size finds its profit",
        FOLDER / "companies.csv",
    )
    console.print("\nWhat is in it, and a plan to start from:\n")
    run(console, "plan companies.csv -k 3")
    console.print("Protected: each size is now that of at least three companies (VLDBJ06, Table 2).\n")
    run(console, f"protect companies.csv -k 3 {ROLES} --decimals surface=2,employees=0 -o protected.csv")
    show(console, "The protected file", FOLDER / "protected.csv")
    console.print("\nWhat is not safe is refused, with exit code 3, and nothing is written:\n")
    apart = ROLES.replace("--keys surface,employees", "--keys surface --keys employees")
    run(console, f"protect companies.csv -k 3 {apart} -o apart.csv", expected=3)
    console.print("What was forgotten, too (exit code 2):\n")
    run(console, "protect companies.csv -k 3 --keys surface,employees -o careless.csv", expected=2)
    if list(FOLDER.glob("*apart*")) or list(FOLDER.glob("*careless*")):
        sys.exit("a refused release left a file behind")
    compare(console)
    console.print(
        "Information loss is the share of the data's variation that averaging removes (100·SSE/SST): a "
        "lower figure at the same k means better data at the same protection. The files are in "
        f"{FOLDER}; next: .venv/bin/microagg plan YOUR_FILE"
    )


if __name__ == "__main__":
    main()
