"""Options are declared once: what is written by hand beside the declarations says the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest
from benchmarks import options_page

import microagg
from microagg.settings import declared as settings
from microagg.settings.declared import PLAN_OPTIONS, label_of, options_of_command
from microagg.settings.options import REQUIRED, Option, options_of

PROTECT = {name: each for name, each in PLAN_OPTIONS.items() if name not in ("input", "output")}
FACES: dict[Callable[..., object], tuple[dict[str, Option], set[str], set[str]]] = {
    microagg.protect: (PROTECT, {"data", "plan", "repeat", "progress"}, set()),
    microagg.assess: (
        options_of_command("assess"),
        {"original", "protected", "progress"},
        {"all", "details", "report", "json"},
    ),
    microagg.compare: (
        options_of_command("compare"),
        {"data", "progress"},
        {"output", "map", "force", "json"},
    ),
    microagg.verify_release: (options_of_command("verify"), {"file", "progress"}, {"json"}),
    microagg.partition: (
        {**options_of(settings.MethodSettings), "k": options_of_command("partition")["k"]},
        {"data", "progress"},
        set(),
    ),
    microagg.lower_bound: (
        options_of_command("bound"),
        {"data", "progress"},
        {"columns", "labels", "certificate", "json", *options_of(settings.FileSettings)},
    ),
}
"""Options of a function, its other arguments, and options of the command that the function has not."""

DRAWING_SEEDS = (microagg.protect, microagg.compare)
"""Who take None for a seed that is not given; `compare` has 0 then."""


@pytest.mark.parametrize("function", FACES, ids=lambda function: function.__name__)
def test_signatures_have_the_options(function: Callable[..., object]) -> None:
    options, others, not_here = FACES[function]
    parameters = inspect.signature(function).parameters
    expected = {each.attribute for name, each in options.items() if name not in not_here}
    assert set(parameters) - others == expected
    for name, each in options.items():
        if name in not_here:
            continue
        default = parameters[each.attribute].default
        if default is inspect.Parameter.empty:
            assert each.default is REQUIRED
        elif name == "seed":
            assert default == (None if function in DRAWING_SEEDS else 0)
        elif default is not None or function in (microagg.partition, microagg.lower_bound):
            assert default == each.default, name  # None elsewhere: not given, so that a plan may have it


@pytest.mark.parametrize("function", FACES, ids=lambda function: function.__name__)
def test_annotations_have_the_choices(function: Callable[..., object]) -> None:
    options, _, not_here = FACES[function]
    hints = get_type_hints(function)
    for name, each in options.items():
        literals = _literals(hints[each.attribute]) if name not in not_here else set()
        if literals:
            assert literals == set(each.kind.choices), name


def _literals(hint: Any) -> set[str]:
    if isinstance(hint, str):
        return {hint}
    return {literal for part in get_args(hint) for literal in _literals(part)}


def test_fields_have_the_choices_of_their_kinds() -> None:
    for name in ("small_strata", "missing", "aggregate", "zeros", "confidential_as"):
        hint = get_type_hints(settings.ProtectionSettings)[name]
        assert get_args(hint) == tuple(PLAN_OPTIONS[name].kind.choices)


def test_the_reference_page_is_current() -> None:
    written = options_page.PAGE.read_text(encoding="utf-8")
    assert written == options_page.page(), "python -m benchmarks.options_page"


def test_every_default_and_example_is_possible() -> None:
    for name, each in PLAN_OPTIONS.items():
        assert each.shown is not None, name
        each.kind.check(name, each.shown)
        assert each.help.endswith(".")


def test_labels() -> None:
    assert label_of("small_strata") == "Strata with fewer than k records"
    assert label_of("small_strata", "suppress") == "suppress: leave their records out"
    assert label_of("small_strata", "nonsense") is None
    assert label_of("nonsense") is None


@pytest.mark.parametrize("name", PLAN_OPTIONS)
def test_what_is_written_as_arguments_is_read_again(name: str) -> None:
    """The command that the browser shows is the plan that it used."""
    option = PLAN_OPTIONS[name]
    value = True if option.shown is False else option.shown
    flag = option.flags[-1]
    texts = [each.removeprefix(flag).removeprefix("=") for each in option.kind.arguments(flag, value)]
    if option.kind.repeatable:
        assert option.kind.check(name, option.kind.parse(name, texts)) == option.kind.check(name, value)
    elif option.kind.value_type is bool:
        assert texts == [""]
    else:
        assert option.kind.value_type(texts[0]) == value
