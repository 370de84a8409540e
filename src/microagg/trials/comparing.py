"""Strategies tried on the same data, side by side: what each loses and risks, and which one to take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa
from pyarrow import csv

from microagg import __version__, read, wording
from microagg.assessment import notebook
from microagg.assessment.assessment import aligned
from microagg.measure import MEASURES
from microagg.measure.explain import measure_named
from microagg.methods.run import Watcher
from microagg.model import Microdata, positions_of
from microagg.plan.strategies import Strategy
from microagg.prepare.key_columns import has_categories
from microagg.report import charts
from microagg.settings.declared import VARIED
from microagg.trials.strategy_runs import try_all
from microagg.write import Journal

LOSS, RISK = "il", "linkage_distance"
"""What is weighed against each other."""

LOSS_OF_TABLES = "two_way_tables"
"""The loss where strategies differ in what a group publishes: by `il`, means and modes would always win."""

USUAL = (LOSS, RISK, "il1s", "correlations", "interval_sd")
"""Measures of every comparison of keys that hold numbers, in the order of its columns."""

USUAL_OF_CATEGORIES = (LOSS, RISK, "changed_cells", "two_way_tables", "count_queries")
"""The same where some keys hold categories."""

OF_REPRESENTATIVES = (LOSS_OF_TABLES, "count_queries", "largest_correlation_change")
"""Measures beside these where strategies differ in what a group publishes."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """All strategies with what they lose and risk.

    `table`: one row for each, as an Arrow table; `frame`: the same in the kind of frame that was given;
    `rule`: how one was chosen; `loss`: the measure that was weighed against the risk; `limit`: the largest
    risk, in its measure's unit;
    `known`: how many were computed in an earlier run; `seconds`: of this run.
    Columns: k, method, subsets, and what groups publish; the measures by name; `smallest`: records
    of the rarest combination of all keys; `seconds`; `recipe`: what made the groups; `needs`: rules that
    `protect` would have to accept; `failure`: why there are no numbers; `undominated`: no other has less
    loss without more risk, or less risk without more loss; `recommended`: the one that the rule chooses.
    """

    rows: tuple[Mapping[str, Any], ...]
    measures: tuple[str, ...]
    rule: str
    loss: str
    limit: float
    known: int
    seconds: float
    source: Microdata

    @cached_property
    def table(self) -> pa.Table:
        kinds = {
            "k": pa.int64(),
            "method": pa.string(),
            **dict.fromkeys(VARIED, pa.string()),
            **dict.fromkeys(self.measures, pa.float64()),
            "smallest": pa.int64(),
            "seconds": pa.float64(),
            "recipe": pa.string(),
            "needs": pa.string(),
            "failure": pa.string(),
            "undominated": pa.bool_(),
            "recommended": pa.bool_(),
        }
        return pa.table(
            {name: pa.array([row.get(name) for row in self.rows], kind) for name, kind in kinds.items()}
        )

    @cached_property
    def frame(self) -> Any:
        """The table in the kind of frame that was given; an Arrow table for files."""
        return read.frame_of_kind(self.source, self.table)

    @property
    def recommended(self) -> Mapping[str, Any]:
        """The row that the rule chooses."""
        return next(row for row in self.rows if row["recommended"])

    def csv(self) -> str:
        """The table as the text of a CSV file."""
        sink = pa.BufferOutputStream()
        csv.write_csv(self.table, sink, csv.WriteOptions(quoting_style="needed"))
        return sink.getvalue().to_pybytes().decode()

    def svg(self) -> str:
        """The risk-utility map of all strategies, as the text of an SVG file."""
        axes = {name: axis_title(name) for name in (self.loss, RISK)}
        return charts.as_file(charts.risk_map(self.rows, axes, self.limit))

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain values that `json.dump` takes."""
        return {"rule": self.rule, "loss": self.loss, "strategies": self.table.to_pylist()}

    def __str__(self) -> str:
        head, *rows = self._cells()
        shown = [self._heading, *aligned([head, *rows], left=self._texts(head)), ""]
        return wording.visible_lines("\n".join([*shown, *self._remarks()]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        head, *rows = self._cells()
        table = notebook.table(head, rows, left=self._texts(head))
        return notebook.paragraph(self._heading) + table + notebook.items(self._remarks())

    @property
    def _heading(self) -> str:
        earlier = f", {self.known} of them in an earlier run" if self.known else ""
        return f"{len(self.rows)} strategies in {self.seconds:.2f} s{earlier}"

    @cached_property
    def _differing(self) -> list[str]:
        return charts.varying(self.rows)

    def _texts(self, head: Sequence[str]) -> tuple[int, ...]:
        """The columns that hold no numbers."""
        return (*range(1, 2 + len(self._differing)), len(head) - 1)

    def _cells(self) -> list[list[str]]:
        """The names of the columns, and a row for each strategy."""
        units = {name: MEASURES[name].unit for name in self.measures}
        heads = ["k", "method", *self._differing]
        heads += [f"{name} %" if unit == "%" else name for name, unit in units.items()]
        lines = [[*heads, ""]]
        for row in self.rows:
            cells = [str(row[name]) for name in ("k", "method", *self._differing)]
            if row["failure"]:
                lines.append([*cells, *("–" for _ in self.measures), "failed"])
                continue
            cells += ["–" if row[name] is None else f"{row[name]:.4g}" for name in self.measures]
            mark = "recommended" if row["recommended"] else "undominated" if row["undominated"] else ""
            lines.append([*cells, mark])
        return lines

    def _remarks(self) -> list[str]:
        """Which one to take and why, and what has failed."""
        best = self.recommended
        remarks = [f"recommended: {self._named(best)}: {self.rule}"]
        if best["needs"]:
            remarks.append(wording.note_needs(best["needs"]))
        failures = {row["failure"]: row for row in self.rows if row["failure"]}
        for failure, row in failures.items():
            remarks.append(f"failed: {self._named(row)}: {failure}")
        return remarks

    def _named(self, row: Mapping[str, Any]) -> str:
        published = "".join(f", {name}={row[name]}" for name in self._differing if name != "subsets")
        split = f" ({row['subsets']})" if "subsets" in self._differing else ""
        return f"k = {row['k']}, {row['method']}{published}{split}"


def check_compared_measures(names: Sequence[str]) -> None:
    """`SettingsError` for names that no measure has."""
    for name in names:
        measure_named(name, MEASURES)


def journal_in(folder: Path) -> Journal:
    """Where finished strategies are kept; `OutputError` if nothing can be written there."""
    journal = Journal(folder / "compare.jsonl")
    journal.check()
    return journal


def compare(
    source: Microdata,
    strategies: Sequence[Strategy],
    *,
    max_risk: float,
    measures: Sequence[str] = (),
    journal: Journal | None = None,
    again: bool = False,
    threads: int | None = None,
    progress: Watcher | None = None,
) -> Comparison:
    """Protect the data by every strategy, in parallel, and measure each release; nothing is written.

    What a journal knows is not computed again, unless `again`; what is found is added to it at once. If no
    strategy succeeds, the first one's error is raised.
    """
    started = monotonic()
    source = _only_needed(source, strategies[0])
    usual = USUAL_OF_CATEGORIES if has_categories(source, strategies[0].protection) else USUAL
    are_alike = all(each.publishes == strategies[0].publishes for each in strategies)
    names = tuple(dict.fromkeys((*usual, *(() if are_alike else OF_REPRESENTATIVES), *measures)))
    digest = _digest(source)
    keys = [_key(digest, strategy, names) for strategy in strategies]
    known = {} if journal is None or again else journal.entries()
    found: dict[str, Mapping[str, Any]] = {key: known[key] for key in keys if key in known}
    left = {key: each for key, each in zip(keys, strategies, strict=True) if key not in found}
    failed: dict[str, Exception] = {}
    for key, row in try_all(source, left, names, len(keys), threads, progress):
        if isinstance(row, Exception):
            failed[key] = row
            continue
        found[key] = row
        if journal is not None:
            journal.add(key, row)
    if not found:
        raise failed[keys[0]]
    rows = [
        {
            "k": strategy.k,
            "method": strategy.method,
            "subsets": strategy.split,
            **strategy.publishes,
            **dict.fromkeys((*names, "smallest", "seconds", "recipe", "needs"), None),
            **found.get(key, {}),
            "failure": str(failed[key]) if key in failed else None,
        }
        for key, strategy in zip(keys, strategies, strict=True)
    ]
    has_tables = all(row.get(LOSS_OF_TABLES) is not None for row in found.values())
    loss = LOSS_OF_TABLES if has_tables and not are_alike else LOSS
    judged, rule = judge(rows, max_risk, loss)
    return Comparison(
        rows=tuple(judged),
        measures=names,
        rule=rule,
        loss=loss,
        limit=_limit(max_risk),
        known=len(keys) - len(left),
        seconds=monotonic() - started,
        source=source,
    )


def axis_title(name: str) -> str:
    measure = MEASURES[name]
    return f"{measure.title} ({name}{f', {measure.unit}' if measure.unit else ''})"


def _limit(max_risk: float) -> float:
    return max_risk * (100.0 if MEASURES[RISK].unit == "%" else 1.0)


def judge(
    rows: Sequence[Mapping[str, Any]], max_risk: float, loss_measure: str = LOSS
) -> tuple[list[dict[str, Any]], str]:
    """The rows with `undominated` and `recommended`, and the rule that was followed.

    The least loss among those with a risk of at most `max_risk`; if there are none, the least risk. Of
    equals the one with the largest k.
    """
    usable = [at for at, row in enumerate(rows) if row[loss_measure] is not None and row[RISK] is not None]
    points = {at: (float(rows[at][RISK]), float(rows[at][loss_measure])) for at in usable}
    undominated = {
        at
        for at, (risk, loss) in points.items()
        if not any(
            other_risk <= risk and other_loss <= loss and (other_risk, other_loss) != (risk, loss)
            for other_risk, other_loss in points.values()
        )
    }
    fit = [at for at in usable if points[at][0] <= _limit(max_risk)]
    if fit:
        best = min(fit, key=lambda at: (points[at][1], points[at][0], -rows[at]["k"]))
    else:
        best = min(usable, key=lambda at: (*points[at], -rows[at]["k"]))
    rule = wording.rule_of_choice(loss_measure, RISK, max_risk, len(fit), len(rows))
    judged = [
        {**row, "undominated": at in undominated, "recommended": at == best} for at, row in enumerate(rows)
    ]
    return judged, rule


def _only_needed(source: Microdata, strategy: Strategy) -> Microdata:
    """Only the columns that have a role: what is not released needs none."""
    named = [column for column, _ in strategy.protection.columns_by_role()]
    positions_of(named, source.table.column_names)
    kept = [name for name in source.table.column_names if name in named]
    return replace(source, table=source.table.select(kept))


def _digest(source: Microdata) -> str:
    csv = source.origin.csv
    digest = hashlib.sha256((csv.decimal or "" if csv is not None else "").encode())
    for name in source.table.column_names:  # one after the other, for the sake of memory
        column = source.table.select([name]).combine_chunks()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, column.schema) as stream:
            stream.write_table(column)
        digest.update(sink.getvalue())
    return digest.hexdigest()


def _key(digest: str, strategy: Strategy, measures: Sequence[str]) -> str:
    """What a result depends on; threads never change it."""
    options = {name: value for name, value in strategy.protection.settings.items() if name != "threads"}
    settings = [__version__, digest, options, list(measures)]
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
