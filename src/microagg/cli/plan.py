"""The command `microagg plan`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from microagg.assessment.before import risk_before
from microagg.cli.progress_bar import one_json
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.plan.file_format import file_options
from microagg.plan.plan_file import write_plan
from microagg.plan.plan_text import printable, zero_share
from microagg.plan.profile import Profile, profile
from microagg.read import microdata_from_file, origin_of
from microagg.settings.declared import PlanRun, Printing
from microagg.settings.options import take
from microagg.trials.drafting import PlanDraft, draft_plan
from microagg.wording import no_plan, note_missing_codes, plan_exists, visible
from microagg.write import check_output, write_text


def plan(given: dict[str, Any]) -> None:
    run, as_json = take(PlanRun, given), take(Printing, given).json
    file, output = Path(given.pop("file")), run.output
    to_file = output != Path("-")
    origin_of(file)  # a file that is not there is reported before a plan that is
    if to_file:
        if os.path.lexists(output) and not output.is_dir() and not run.force:
            raise plan_exists(str(output))
        check_output(output, run.force, file)
    accept = given.pop("accept", ())
    options_of_file = dict(given)
    microdata = microdata_from_file(file, file_options(given))
    columns = profile(microdata)
    drafted = draft_plan(microdata, columns, run.k, accept)
    if drafted.refusal:
        if to_file and not as_json:
            click.echo(profile_table(columns, drafted))
            click.echo()
        raise no_plan(drafted.refusal)
    roles = AssessmentPlan.of({}, drafted.settings, of_one_file=True)
    now = risk_before(microdata, roles, drafted.settings.get("drop", ()), in_pairs=False)
    settings = {"input": file, **options_of_file, **drafted.settings}
    folder = output.parent if to_file else Path()
    text = write_plan(settings, columns, drafted.suggestions, folder, (now.in_plan, *drafted.notes))
    if to_file:
        write_text(output, text, run.force)
    if as_json:
        where = {"plan": str(output)} if to_file else {"plan": None, "text": text}
        click.echo(one_json({**_profile_summary(columns, drafted), "now": now.as_dict(), **where}))
    elif to_file:
        click.echo(profile_table(columns, drafted))
        click.echo(f"\n{visible(now.in_plan)}")
        for note in microdata.origin.notes:
            click.echo(f"note: {note}")
        to = visible(str(output))
        click.echo(f"\nplan written to {to}: read it, change it, then microagg protect --plan {to}")
    else:
        click.echo(text, nl=False)


def _profile_summary(profile: Profile, drafted: PlanDraft) -> dict[str, object]:
    names = ("name", "kind", "distinct", "missing", "zeros", "decimals", "coded_missing")
    return {
        "records": profile.records,
        "columns": [
            {
                **{name: getattr(column, name) for name in names},
                "identifier": column.identifier or None,
                "missing_codes": list(column.missing_codes),
                "role": suggestion.role,
                "reason": suggestion.reason,
            }
            for column, suggestion in zip(profile, drafted.suggestions, strict=True)
        ],
        "identities": [{"total": each.total, "parts": list(each.parts)} for each in profile.identities],
        "identical": [list(names) for names in profile.identical],
        "settings": drafted.settings,
        "notes": list(drafted.notes),
    }


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
