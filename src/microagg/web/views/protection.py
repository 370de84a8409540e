"""The third step: k, policies and the method, with the refusals of a run before it is run."""

from __future__ import annotations

from htmltools import Tag, TagList, tags
from shiny import ui

from microagg.plan.words import WORDS
from microagg.web.labels import LABELS, OPTIONS
from microagg.web.project import Project
from microagg.web.views.parts import NO_SHINY_BINDING as OURS
from microagg.web.views.parts import button, counted, go, head, nothing_yet, options, says, under_way

FIRST = ("k", "small_strata", "missing")
CONFIDENTIAL = ("confidential_as", "noise", "min_distinct", "retry", "accept_homogeneous")
MORE = ("zeros", "aggregate", "scale", "seconds", "seed", "shuffle", "certify")
ACCEPTED = ("allow_pairs", "accept_partial", "accept_real_values")


def protection(project: Project) -> Tag | TagList:
    """The form. Its words and their meanings are those of a plan."""
    if project.found is None:
        return nothing_yet("protection")
    has_confidential = "confidential" in project.choices.roles.values()
    return TagList(
        head("protection", "At least k records will share each combination of the keys. How large is k?"),
        tags.div(
            tags.div(
                tags.fieldset(
                    tags.legend("Groups"),
                    tags.div(*(field(project, word) for word in FIRST), class_="fields"),
                    method(project),
                    ui.output_ui("about_method"),
                ),
                _folded(project, "Confidential columns", CONFIDENTIAL, has_confidential),
                _folded(project, "More settings", MORE, False),
                _folded(project, "Accept what would be refused", ACCEPTED, False),
            ),
            class_="form",
        ),
    )


def _folded(project: Project, title: str, words: tuple[str, ...], is_open: bool) -> Tag:
    said = any(word in project.choices.settings for word in words)
    return tags.details(
        tags.summary(title),
        tags.div(*(field(project, word) for word in words), class_="fields"),
        open="" if is_open or said else None,
        class_="folded",
    )


def field(project: Project, word: str) -> Tag:
    """The control of a word, with its label and meaning."""
    value = project.choices.settings.get(word)
    label = tags.label(LABELS[word], for_=word)
    if word in OPTIONS:  # which explain themselves
        return tags.div(label, _select(word, str(value or WORDS[word].shown.strip('"'))))
    kind = WORDS[word].kind
    about = {"id": word, "data_word": word, "aria_describedby": f"{word}-help", **OURS}
    help_ = tags.p(WORDS[word].meaning.replace("\n", " "), id=f"{word}-help", class_="note")
    if kind == "truth value":
        box = tags.input(type="checkbox", checked="" if value else None, **about)
        return tags.div(tags.div(box, label, class_="box"), help_)
    control = tags.input(
        type="number",
        value="" if value is None else str(value),
        placeholder=WORDS[word].shown if WORDS[word].is_default else "",
        min="0",
        step="any" if kind == "number" else "1",
        **about,
    )
    return tags.div(label, control, help_)


def _select(word: str, chosen: str) -> Tag:
    return tags.select(
        options(tuple(OPTIONS[word].items()), chosen),
        id=word,
        data_word=word,
        **OURS,
    )


def method(project: Project) -> Tag:
    """All methods of the catalogue, and a place for recipes."""
    from microagg.methods.catalogue import METHODS

    chosen = str(project.choices.settings.get("method", "auto"))
    known = chosen in METHODS
    names = [*METHODS, *([] if known else [chosen])]
    return tags.div(
        field(project, "effort"),
        tags.div(
            tags.label(LABELS["method"], for_="method"),
            tags.select(
                options(tuple((name, name) for name in names), chosen),
                id="method",
                data_word="method",
                aria_describedby="method-help",
                **OURS,
            ),
        ),
        tags.div(
            tags.label("or a recipe, such as cbfs+mhm", for_="recipe"),
            tags.input(
                type="text",
                id="recipe",
                data_word="method",
                value="" if known else chosen,
                autocomplete="off",
                **OURS,
            ),
        ),
        class_="fields",
    )


def about_method(project: Project) -> Tag:
    """One line about the method that is chosen, from the catalogue."""
    from microagg.methods.catalogue import ALIASES, METHODS

    name = str(project.choices.settings.get("method", "auto")).split("+")[0].split(":")[0]
    entry = METHODS.get(ALIASES.get(name, name))
    if entry is None:
        return tags.p("", id="method-help", class_="note")
    text = f"{name}: {entry.summary}. Sensible up to {entry.largest_n:,} records; {entry.guarantee}."
    return tags.p(text, id="method-help", class_="note")


def check_state(project: Project) -> Tag | TagList:
    """What stands against a run, or what it would work on."""
    if project.found is None:
        return TagList()
    if project.refusal:
        return TagList(says(project.refusal, False, "Not like this:"), _change_roles())
    job = project.jobs.get("check")
    if job is None or job.active:
        return TagList(
            tags.p("Checking the settings against the data …", class_="note", role="status"),
            _start(project),
        )
    if job.state != "done":
        return TagList(says(job.message, False, "Not with these data:"), _change_roles())
    found = job.answer
    parts = [counted(found["records"], "record")]
    if found["strata"] > 1:
        parts.append(f"in {found['strata']:,} strata, the smallest with {found['smallest']:,}")
    if found["suppressed"]:
        parts.append(f"{counted(found['suppressed'], 'record')} left out")
    if found["given_up"]:
        parts.append(f"{counted(sum(found['given_up'].values()), 'value')} given up for patterns")
    text = f"{', '.join(parts)}: groups of {project.choices.settings.get('k', '?')} or more can be formed."
    return TagList(says(text, True, "This can be run:"), _start(project))


def _start(project: Project) -> Tag:
    if under_way(project):
        return tags.p(go("run", "A run is under way", main=True))
    return tags.p(button("run", "Run", main=True))


def _change_roles() -> Tag:
    return tags.p(go("roles", "Change roles"))
