"""The second step: what each column holds and which role it has."""

from __future__ import annotations

from collections import Counter
from typing import Any

from htmltools import Tag, TagList, tags

from microagg import wording
from microagg.web.labels import ROLES
from microagg.web.project import Project
from microagg.web.views.parts import NO_SHINY_BINDING, counted, go, head, nothing_yet, options, says

SHORT = {
    "keys": "keys, masked",
    "each": "keys, each by itself",
    "strata": "strata",
    "confidential": "confidential",
    "weight": "weight",
    "pass": "released as they are",
    "drop": "not released",
}


def roles(project: Project) -> Tag | TagList:
    found = project.found
    if found is None:
        return nothing_yet("roles")
    lead = "By which columns could somebody be recognised? Suggestions are made; you decide."
    header = ("column", "holds", "distinct", "missing", "zeros", "role", "codes for missing", "decimals")
    return TagList(
        head("roles", lead),
        says(found["impossible"], False, "No roles that protect this file were found.")
        if found.get("impossible")
        else None,
        tags.div(
            tags.table(
                tags.thead(tags.tr(*(tags.th(name, scope="col", class_="text") for name in header))),
                tags.tbody(
                    *(_row(project, number, column) for number, column in enumerate(found["columns"]))
                ),
                class_="columns",
            ),
            class_="scroll",
            role="region",
            aria_label="Columns and their roles",
            tabindex="0",
        ),
        _between(found),
        *(tags.p(advice, class_="note") for advice in found.get("advice", ())),
        tags.details(tags.summary("What the roles mean"), tags.ul(*map(tags.li, _MEANINGS))),
    )


def _row(project: Project, number: int, column: dict[str, Any]) -> Tag:
    name, choices = column["name"], project.choices
    say = {"data_column": name, **NO_SHINY_BINDING}
    holds = column["kind"] + (", labelled" if column["label"] else "")
    role = tags.select(
        options(tuple(ROLES.items()), choices.roles.get(name, "")),
        id=f"role-{number}",
        data_word="role",
        aria_label=f"Role of {name}",
        aria_describedby=f"why-{number}",
        **say,
    )
    codes = tags.input(
        type="text",
        id=f"codes-{number}",
        value=choices.codes.get(name, ""),
        aria_describedby=f"why-{number}",
        data_word="missing_codes",
        aria_label=f"Codes for missing in {name}",
        autocomplete="off",
        **say,
    )
    decimals = tags.input(
        type="number",
        id=f"decimals-{number}",
        value=choices.decimals.get(name, ""),
        min="0",
        max="15",
        data_word="decimals",
        aria_label=f"Decimals of {name}",
        **say,
    )
    return tags.tr(
        tags.th(
            name, tags.small(column["label"]) if column["label"] else None, scope="row", class_="text name"
        ),
        tags.td(holds, class_="text", data_label="holds"),
        tags.td(f"{column['distinct']:,}", data_label="distinct"),
        tags.td(f"{column['missing']:,}", data_label="missing"),
        tags.td(f"{100 * column['zeros']:.1f} %" if column["numeric"] else "", data_label="zeros"),
        tags.td(role, tags.small(*_why(column), id=f"why-{number}"), class_="text", data_label="role"),
        tags.td(
            codes if column["numeric"] or column["kind"] == "text" else "",
            class_="text",
            data_label="codes for missing",
        ),
        tags.td(decimals if column["numeric"] else "", class_="text", data_label="decimals"),
    )


def _why(column: dict[str, Any]) -> list[Any]:
    said: list[Any] = [f"suggested: {column['suggested']} ({column['because']})"]
    if column["identifier"] and column["identifier"] != column["because"]:
        said.append(tags.strong(f" May identify: {column['identifier']}."))
    if column["codes"]:
        why = wording.note_missing_codes(
            "Likely codes for missing answers", column["codes"], column["coded"], column["called"]
        )
        said.append(f" {why} They are filled in: clear them if they are answers.")
    return said


def _between(found: dict[str, Any]) -> TagList | None:
    if not found["identities"] and not found["identical"]:
        return None
    return TagList(
        tags.h2("What holds in every record"),
        tags.ul(
            *(tags.li(f"{total} = {' + '.join(parts)}") for total, parts in found["identities"]),
            *(tags.li(f"{' = '.join(names)} (the same)") for names in found["identical"]),
        ),
        tags.p(
            "Means keep sums, up to rounding, if all terms are keys of one subset. Mask all terms or drop "
            "one: a single masked term can be computed from the others.",
            class_="note",
        ),
    )


_MEANINGS = (
    "Keys are numbers that others may know. Each combination of them will be shared by at least k records. "
    "Keys of a second subset are masked by themselves, and k holds for each subset.",
    "Strata stay as they are and count as keys: groups never cross them.",
    "Confidential columns are what others must not learn: each group must have several values of them.",
    "Drop what names a person or company. Pass what is no risk: nothing is claimed for it.",
)


def roles_state(project: Project) -> Tag | TagList:
    """How many columns have which role, and what the words by themselves forbid."""
    if project.found is None:
        return TagList()
    count = Counter(role.split(" ")[0] for role in project.choices.roles.values())
    shown = ", ".join(f"{SHORT[role]}: {number}" for role, number in count.items() if role in SHORT)
    return TagList(
        tags.p(f"{counted(sum(count.values()), 'column')} – {shown}", class_="note"),
        says(project.refusal, False, "Not yet:") if project.refusal else None,
        tags.p(go("protection", "Next: how to protect", main=True)),
    )
