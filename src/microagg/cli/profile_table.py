"""A profile as people read it in a terminal."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from microagg.plan.plan_text import printable, zero_share
from microagg.plan.profile import Profile
from microagg.trials.drafting import PlanDraft
from microagg.wording import note_missing_codes


def profile_table(profile: Profile, drafted: PlanDraft) -> str:
    """What each column holds, its suggested role and why; then what holds between columns."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("column", "holds"):
        table.add_column(title, overflow="fold")
    for title in ("distinct", "missing", "zeros"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("role", no_wrap=True)
    table.add_column("because")
    for column, suggestion in zip(profile, drafted.suggestions, strict=True):
        cells = (
            printable(column.name),
            column.kind,
            f"{column.distinct:,}",
            f"{column.missing:,}",
            zero_share(column),
            suggestion.role,
            suggestion.reason,
        )
        table.add_row(*map(Text, cells))  # names may look like Rich's own markup
    console = Console(width=None if sys.stdout.isatty() else 120)
    with console.capture() as text:  # Rich would leave with a code of its own when the reader has gone
        console.print(table)
    rows = [line.rstrip() for line in text.get().rstrip("\n").split("\n")]
    return "\n".join([*rows, *_between_columns(profile, drafted)])


def _between_columns(profile: Profile, drafted: PlanDraft) -> list[str]:
    lines = []
    for identity in profile.identities:
        lines.append(
            f"in every record: {printable(identity.total)} = {' + '.join(map(printable, identity.parts))}"
        )
    for names in profile.identical:
        lines.append(f"the same in every record: {' = '.join(map(printable, names))}")
    for name in drafted.settings.get("missing_codes", {}):
        column = profile[name]
        note = note_missing_codes(
            printable(name), column.missing_codes, column.coded_missing, column.called_missing
        )
        lines.append(f"likely codes for a missing answer in {note} The plan takes them for missing.")
    lines += drafted.notes
    return ["", *lines] if lines else []
