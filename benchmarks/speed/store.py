"""`results.jsonl`: one line for each case that was run; of several lines for one case the last counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.speed.cases import name_of

Line = dict[str, Any]
ROOT = Path(__file__).parents[2]


class Results:
    """The lines of a results file by the names of their cases."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, Line] = {}
        if path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                line = json.loads(text)
                self.lines[line["case"]] = line

    def add(self, line: Line) -> None:
        """Keep a line and write all of them, so that the file has one for each case."""
        self.lines[line["case"]] = line
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text("".join(json.dumps(kept) + "\n" for kept in self.lines.values()), encoding="utf-8")
        fresh.replace(self.path)

    def line(self, part: str, **settings: object) -> Line | None:
        """What a case measured; None if it was not run."""
        found = self.lines.get(name_of(part, **settings))
        return None if found is None or "not_run" in found else found

    def figure(self, what: str, part: str, **settings: object) -> float | None:
        """One figure of it."""
        found = self.line(part, **settings)
        return None if found is None else found.get(what)

    def reason(self, part: str, **settings: object) -> str:
        """Why there is no figure."""
        found = self.lines.get(name_of(part, **settings), {})
        return f"not run: {found['not_run']}" if "not_run" in found else "not run"
