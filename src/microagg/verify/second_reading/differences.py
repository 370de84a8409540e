"""What differs between two readings of a source."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from microagg.verdict import Finding, refuse


@dataclass(slots=True)
class Differences:
    """Counted by column; `names`, `rows`: whether those differ, so that cells cannot be compared."""

    cells: Counter[str] = field(default_factory=Counter)
    names: bool = False
    rows: tuple[int, int] | None = None
    """Records of the first and of the second reading."""

    def findings(self) -> list[Finding]:
        if self.names:
            return [refuse("source_names_differ")]
        if self.rows is not None:
            first, second = self.rows
            return [refuse("source_rows_differ", first=first, second=second)]
        return [refuse("source_cells_differ", name, records=n) for name, n in self.cells.items() if n]
