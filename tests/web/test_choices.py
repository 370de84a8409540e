"""What is chosen on the pages becomes the words of a plan, and messages name the controls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microagg import wording
from microagg.errors import SettingsError
from microagg.plan.protection import Protection
from microagg.plan.settings import ACCEPT, CONFIDENTIAL, FIRST, MORE, PLAN_OPTIONS
from microagg.web.choices import Choices
from microagg.web.jobs import Job, Limits, Queue
from microagg.web.labels import PAGES, ROLES
from microagg.web.project import Project, Source
from microagg.web.site import safe_name
from microagg.web.views import data, hand_over, protection, result, roles


@pytest.fixture
def choices() -> Choices:
    names = {"id": "drop", "a": "keys", "b": "keys", "w": "weight", "region": "strata"}
    return Choices.suggested(
        {"name": name, "suggested": role, "missing": 5 if name == "b" else 0}
        for name, role in names.items()
    )


def test_suggestions_are_a_plan(choices: Choices) -> None:
    assert choices.plan() == {
        "k": 3,
        "missing": "by-pattern",
        "keys": [["a", "b"]],
        "strata": ["region"],
        "drop": ["id"],
        "weight": "w",
    }
    Protection.of(choices.plan())


def test_what_is_said_is_of_the_right_kind(choices: Choices) -> None:
    for word, value in (("k", "5"), ("seconds", "2.5"), ("shuffle", True), ("method", "mdav+descent")):
        choices.set(word, value)
    choices.set("role", "keys 2", "b")
    choices.set("missing_codes", "9, 99", "a")
    choices.set("decimals", "1", "a")
    words = choices.plan()
    assert words["keys"] == [["a"], ["b"]]
    assert (words["k"], words["seconds"], words["shuffle"]) == (5, 2.5, True)
    assert words["missing_codes"] == {"a": [9, 99]}
    assert words["decimals"] == {"a": 1}


def test_defaults_are_not_said(choices: Choices) -> None:
    before = choices.plan()
    for word, value in (
        ("effort", "balanced"),
        ("small_strata", "refuse"),
        ("shuffle", False),
        ("noise", ""),
    ):
        choices.set(word, value)
    assert choices.plan() == before


def test_what_is_not_possible_is_refused_in_words(choices: Choices) -> None:
    choices.set("k", "many")
    with pytest.raises(SettingsError, match="k is of type str"):
        Protection.of(choices.plan())
    choices.set("k", "3")
    choices.set("missing_codes", "9\r10", "a")
    with pytest.raises(SettingsError, match="numbers and texts separated by commas"):
        choices.plan()
    choices.set("missing_codes", "", "a")
    choices.set("decimals", "two", "a")
    with pytest.raises(SettingsError, match="a whole number, such as 2"):
        choices.plan()
    choices.set("decimals", "", "a")
    choices.set("role", "weight", "a")
    with pytest.raises(SettingsError, match="columns with the role weight"):
        choices.plan()


def test_unknown_words_and_columns_do_nothing(choices: Choices) -> None:
    before = choices.plan()
    choices.set("__class__", "x")
    choices.set("role", "keys 1", "nowhere")
    choices.set("settings", "x", "a")
    assert choices.plan() == before


def test_every_option_has_one_control_and_every_control_a_label() -> None:
    forms = [protection.options_in(form) for form in (FIRST, CONFIDENTIAL, MORE, ACCEPT)]
    fields = [name for form in forms for name in form]
    assert len(fields) == len(set(fields))
    without = {"input", "output", "threads"}
    by_column = {"missing_codes", "decimals", *(role.split(" ")[0] for role in ROLES)}
    of_file = {"delimiter", "encoding", "decimal", "header", "sheet", "header_row"}
    assert set(fields) | without | by_column | of_file == set(PLAN_OPTIONS)
    assert all(PLAN_OPTIONS[name].label for name in set(PLAN_OPTIONS) - without)


def test_messages_name_controls_instead_of_options() -> None:
    with wording.shown_by(PAGES):
        text = str(wording.strata_too_small(2, 5, 1, 3, ["region"]))
        assert "“Strata with fewer than k records: merge with other small ones”" in text
        assert "--" not in text
        assert str(wording.pairs()).endswith("or accept this with “Accept k = 2”.")
        assert "--" not in str(wording.missing_keys("a", 1, 2))
        assert "“Row with the names: 3”" in str(wording.title_above_names("a.csv", 3))


@pytest.mark.parametrize("name", ["", "..", "/", "...csv", "\x00", "-"])
def test_any_name_is_made_a_name(name: str) -> None:
    made = safe_name(name)
    assert made
    assert made not in (".", "..", "-")
    assert "/" not in made


def test_shiny_binds_no_control() -> None:
    """It would send each file a second time, to a folder of its own."""
    project = Project(Path(), Queue(Limits(2**30, 1.0)))
    column = {
        "name": "a", "kind": "numbers", "distinct": 9, "missing": 0, "zeros": 0.0, "numeric": True,
        "identifier": "", "codes": [], "label": "", "suggested": "keys", "because": "",
    }  # fmt: skip
    pages = [data.data(project, True)]
    look = Job("look", {}, "quick", lambda _: None, state="done")
    look.answer = {
        "columns": [column], "identities": [], "identical": [], "records": 9, "format": "CSV", "notes": [],
        "csv": {"delimiter": ","}, "preview": [["1"]],
    }  # fmt: skip
    project.source, project.jobs["look"] = Source("a.csv", "a.csv", Path()), look
    project.choices = Choices.suggested([column])
    pages += [data.data(project, True), roles.roles(project), protection.protection(project)]
    for page in map(str, pages):
        controls = re.findall(r"<(?:input|select)[^>]*>", page)
        assert controls
        assert all("data-shiny-no-bind-input" in control for control in controls)


@pytest.fixture
def released(choices: Choices) -> Project:
    """A run was stopped."""
    project = Project(Path(), Queue(Limits(2**30, 1.0)))
    project.source, project.choices = Source("a.csv", "a.csv", Path()), choices
    project.jobs["look"] = Job(
        "look", {}, "quick", lambda _: None, state="done", answer={"records": 9, "stamp": None}
    )
    asked = dict(Protection.of(choices.plan()).settings)
    project.release = {
        "asked": asked, "words": asked, "file": "a-protected.csv", "sentence": "", "stopped": True,
        "cut_short": True,
    }  # fmt: skip
    return project


def test_a_release_of_other_settings_says_so(released: Project) -> None:
    assert result.changed_since(released) is None
    released.say("k", "4")
    assert "Settings were changed" in str(result.changed_since(released))
    released.say("k", "many")
    assert "Settings were changed" in str(result.changed_since(released))
    assert 'id="changed"' in str(hand_over.hand_over(released))


def test_what_is_said_beside_the_command_is_true(released: Project) -> None:
    """The command says what was asked for, and the note whether that may lead to other groups."""
    assert released.release is not None
    page = str(hand_over.hand_over(released))
    assert "stopped early: the command goes on to its end, and may find other groups" in page
    assert "--method=mdav" not in page
    released.release["stopped"] = False
    assert "The clock cut this run short" in str(hand_over.hand_over(released))
    released.release["cut_short"] = False
    assert "other groups" not in str(hand_over.hand_over(released))


def test_a_release_says_that_a_run_is_under_way(released: Project) -> None:
    job = released.jobs["protect"] = Job("protect", {}, "long", lambda _: None, state="running")
    said = str(result.changed_since(released))
    assert "A run is under way" in said
    assert "Settings were changed" not in said
    released.say("k", "4")
    said = str(result.changed_since(released))
    assert "A run is under way" in said
    assert "Settings were changed" in said
    job.state = "stopped"
    assert "A run is under way" not in str(result.changed_since(released))


def test_a_comparison_of_other_settings_says_so(released: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(released.queue, "submit", lambda _: None)
    released.compare([3], ["mdav"])
    row = {
        "k": 3, "method": "mdav", "failure": "", "recommended": True, "undominated": True,
        result.LOSS: 1.0, result.RISK: 1.0,
    }  # fmt: skip
    job = released.jobs["compare"]
    job.state, job.answer = "done", {"strategies": [row], "rule": "", "limit": 1.0}
    for word, value in (("k", "4"), ("method", "mdav")):  # of which it has its own
        released.say(word, value)
    assert "Settings were changed" not in str(result.compare_state(released))
    released.say("role", "drop", "b")
    assert "Settings were changed" in str(result.compare_state(released))
    released.say("missing_codes", "nine", "a")
    assert "Settings were changed" in str(result.compare_state(released))
