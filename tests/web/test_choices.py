"""What is chosen on the pages becomes the settings of a plan, and messages name the controls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microagg import wording
from microagg.errors import DataError, SettingsError
from microagg.plan.protection import Protection
from microagg.settings.cures import cures_of
from microagg.settings.declared import ACCEPT, ACCEPTABLE, CONFIDENTIAL, FIRST, MORE, ON_PAGES, PLAN_OPTIONS
from microagg.verdict import Verdict, decide, unsafe_release
from microagg.web.choices import ROLES, Choices
from microagg.web.jobs import Job, Limits, Queue
from microagg.web.project import ChosenFile, Project, ReleasedFile
from microagg.web.step_pages import page
from microagg.web.uploads import safe_name


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


def test_what_is_chosen_is_of_the_right_kind(choices: Choices) -> None:
    for name, value in (("k", "5"), ("seconds", "2.5"), ("keep_order", True), ("method", "mdav+descent")):
        choices.set(name, value)
    choices.set("role", "keys 2", "b")
    choices.set("missing_codes", "9, 99", "a")
    choices.set("decimals", "1", "a")
    plan = choices.plan()
    assert plan["keys"] == [["a"], ["b"]]
    assert (plan["k"], plan["seconds"], plan["keep_order"]) == (5, 2.5, True)
    assert plan["missing_codes"] == {"a": [9, 99]}
    assert plan["decimals"] == {"a": 1}


def test_kinds_of_keys(choices: Choices) -> None:
    choices.set("kind", "nominal", "a")
    choices.set("ordinal", "low < high", "b")
    choices.set("kind", "nominal", "region")  # it is no key
    choices.set("kind", "other", "b")
    choices.set("importance", "a=2, b=0.5")
    plan = choices.plan()
    assert (plan["nominal"], plan["ordinal"]) == (["a"], {"b": ["low", "high"]})
    assert plan["importance"] == {"a": 2.0, "b": 0.5}
    again = Choices(choices.columns)
    again.load(plan)
    assert again.plan() == plan
    choices.set("kind", "", "b")
    assert "ordinal" not in choices.plan()
    choices.set("importance", "much")
    with pytest.raises(SettingsError, match="income=2"):
        choices.plan()


def test_defaults_are_not_given(choices: Choices) -> None:
    before = choices.plan()
    for name, value in (
        ("effort", "balanced"),
        ("small_strata", "refuse"),
        ("keep_order", False),
        ("noise", ""),
    ):
        choices.set(name, value)
    assert choices.plan() == before


def test_what_is_not_possible_is_refused_with_the_reason(choices: Choices) -> None:
    for text in ("many", "2.5"):
        choices.set("k", text)
        with pytest.raises(SettingsError, match="k must be a whole number, such as 3"):
            choices.plan()
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


def test_unknown_options_and_columns_do_nothing(choices: Choices) -> None:
    before = choices.plan()
    choices.set("__class__", "x")
    choices.set("role", "keys 1", "nowhere")
    choices.set("settings", "x", "a")
    assert choices.plan() == before


def test_every_option_has_one_control_and_every_control_a_label() -> None:
    forms = (FIRST, CONFIDENTIAL, MORE, ACCEPT)
    fields = [name for name, option in PLAN_OPTIONS.items() if option.form in forms]
    without = {"input", "output", "threads", "taxonomy"}
    by_column = {"missing_codes", "decimals", "nominal", "ordinal", *(role.split(" ")[0] for role in ROLES)}
    of_file = {"delimiter", "encoding", "decimal", "header", "sheet", "header_row"}
    assert set(fields) | without | by_column | of_file == set(PLAN_OPTIONS)
    assert all(PLAN_OPTIONS[name].label for name in set(PLAN_OPTIONS) - without)


def test_messages_name_controls_instead_of_options() -> None:
    with wording.shown_by(ON_PAGES):
        text = str(wording.strata_too_small(2, 5, 1, 3, ["region"]))
        assert "“Strata with fewer than k records: their records join the nearest group”" in text
        assert "--" not in text
        assert str(decide("pairs")).endswith("Or accept this: “Accept: pairs”.")
        assert "--" not in str(wording.missing_keys("a", 1, 2))
        assert "“Row with the names: 3”" in str(wording.title_above_names("a.csv", 3))
        assert "“Method” lists all" in str(wording.unknown_method("mdva", ["mdav"]))
    assert "`microagg methods` lists all" in str(wording.unknown_method("mdva", ["mdav"]))


@pytest.mark.parametrize("name", ["", "..", "/", "...csv", "\x00", "-"])
def test_any_name_is_made_a_name(name: str) -> None:
    made = safe_name(name)
    assert made
    assert made not in (".", "..", "-")
    assert "/" not in made


@pytest.mark.parametrize(
    ("name", "value"), [("k", 0), ("seconds", 0.0), ("noise", 0.0), ("min_distinct", 0)]
)
def test_zero_is_given_and_refused(choices: Choices, name: str, value: float) -> None:
    """It is not taken for an empty field."""
    choices.set(name, str(value))
    assert choices.plan()[name] == value
    with pytest.raises(SettingsError):
        choices.effective()


def test_options_without_effect_are_left_out(choices: Choices) -> None:
    for name, value in (("effort", "fast"), ("method", "mdav"), ("noise", "0.2"), ("p_percent", "20")):
        choices.set(name, value)
    protection, idle = choices.effective()
    assert sorted(idle) == ["effort", "noise", "p_percent"]
    assert protection.settings["method"] == "mdav"
    assert choices.get("effort") == "fast"  # and is in force again with another method


def test_choices_are_carried_over_by_the_names_of_columns(choices: Choices) -> None:
    choices.set("k", "5")
    choices.set("role", "drop", "a")
    choices.set("role", "pass", "b")
    columns = [{"name": name, "suggested": "keys", "missing": 0} for name in ("a", "c")]
    other = Choices.suggested(columns)
    other.take_over(choices.made())
    assert len(other.chosen) == 2
    assert other.roles == {"a": "drop", "c": "keys 1"}
    assert other.settings["k"] == 5


def test_a_plan_that_is_loaded_gives_the_same_plan(choices: Choices) -> None:
    for name, value in (("k", "5"), ("keep_order", "1"), ("method", "mdav"), ("small_strata", "nearest")):
        choices.set(name, value)
    choices.set("role", "keys 2", "b")
    choices.set("missing_codes", "9, 99", "a")
    plan = choices.plan()
    columns = [{"name": name, "suggested": "drop", "missing": 0} for name in choices.roles]
    other = Choices.suggested(columns)
    other.load(plan)
    assert other.plan() == plan
    with pytest.raises(DataError, match="No such column"):
        other.load({"k": 3, "keys": [["nowhere"]]})


@pytest.fixture
def released(choices: Choices) -> Project:
    """A run was stopped."""
    project = Project(Path(), Queue(Limits(2**30, 1.0)))
    project.source, project.choices = ChosenFile("a.csv", "a.csv", Path()), choices
    project.found = {"records": 9, "columns": [], "preview": []}
    asked = dict(Protection.of(choices.plan()).settings)
    answer = {
        "asked": asked, "file": "a-protected.csv", "files": {"internal-report": "internal-report.html"},
        "stopped": True, "cut_short": True, "bound": None, "loss": 1.0, "verdict": Verdict(3).as_dict(),
        "printed": "", "k": 3,
    }  # fmt: skip
    project.release = ReleasedFile("1", "2026-01-01 14:02", project.source, answer, Path())
    project.releases = [project.release]
    return project


def test_a_release_of_other_settings_is_marked_on_every_page(released: Project) -> None:
    assert "settings changed since" not in page(released, "hand-over")
    for value in ("4", "many"):
        released.choices.set("k", value)
        assert "settings changed since" in page(released, "hand-over")
        assert "Settings were changed" in page(released, "hand-over")
        assert "settings changed since" in page(released, "run")


def test_every_page_names_file_and_settings_and_release(released: Project) -> None:
    for step in ("run", "hand-over", "end"):
        shown = page(released, step)
        for part in (
            "a.csv",
            "9 records",
            "k = 3",
            "2 keys, strata by 1 column",
            "release of 14:02, k = 3",
        ):
            assert f"<span>{part}</span>" in shown


def test_a_curve_is_drawn_as_soon_as_there_is_one(released: Project) -> None:
    job = released.jobs["protect"] = Job("protect", {}, lambda _: None, state="running")
    for loss, curves in ((7.5, 0), (6.25, 1)):
        job.take(loss=loss)
        shown = page(released, "run")
        assert f"{loss} %" in shown
        assert shown.count("<figure>") == curves
    assert released.release is not None
    job.answer = {**released.release.answer, "loss": 6.5}
    assert "6.5 %" in page(released, "run")  # what is released, though the search has measured less


def test_all_steps_are_finished_once_the_release_was_downloaded(released: Project) -> None:
    assert released.release is not None
    for downloaded, finished in ((False, 4), (True, 6)):
        released.release.downloaded = downloaded
        assert page(released, "end").count("✓") == finished


def test_what_stands_beside_the_command_is_true(released: Project) -> None:
    """The command has what was asked for, and the note whether that may lead to other groups."""
    assert released.release is not None
    shown = page(released, "hand-over")
    assert "stopped early: the command goes on to its end, and may find other groups" in shown
    assert "--method=mdav" not in shown
    released.release.answer["stopped"] = False
    assert "The clock cut this run short" in page(released, "hand-over")
    assert "--repeat" not in page(released, "hand-over")
    released.release.answer["cut_short"] = False
    shown = page(released, "hand-over")
    assert "draws a seed of its own: the command may find other groups" in shown
    assert "--repeat" in shown
    released.release.answer["asked"]["seed"] = 7
    assert "other groups" not in page(released, "hand-over")


def test_a_release_says_that_a_run_is_under_way(released: Project) -> None:
    job = released.jobs["protect"] = Job("protect", {}, lambda _: None, state="running")
    assert "A run is under way" in page(released, "hand-over")
    assert "A run is under way" in page(released, "end")
    job.state = "stopped"
    assert "A run is under way" not in page(released, "hand-over")


def test_a_release_that_was_not_downloaded_is_named_before_the_end(released: Project) -> None:
    assert "Not downloaded yet" in page(released, "end")
    assert released.release is not None
    released.release.downloaded = True
    assert "Not downloaded yet" not in page(released, "end")


def test_a_result_says_how_near_to_the_optimum_it_is(released: Project, tmp_path: Path) -> None:
    assert released.release is not None
    released.release.folder = tmp_path
    (tmp_path / "internal-report.html").write_text("")
    released.release.answer |= {"groups": 3, "loss": 20.3418, "bound": 19.6361}
    sentence = "less than 19.6361 %; this release loses 20.3418 %, at most 3.59 % above the optimum."
    assert sentence in page(released, "result")


def test_a_comparison_keeps_what_was_typed_and_says_if_settings_changed(
    released: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert released.release is not None
    released.release.folder = tmp_path
    (tmp_path / "internal-report.html").write_text("")
    monkeypatch.setattr(released.queue, "submit", lambda _: None)
    released.compare({"k": "4, 6", "methods": "mdav", "max_risk": "0.25"})
    shown = page(released, "result", "compare")
    for value in ("4, 6", "mdav", "0.25"):
        assert f'value="{value}"' in shown
    row = {
        "k": 4, "method": "mdav", "subsets": "joint", "failure": "", "recommended": True,
        "undominated": True, "il": 1.0,
        "linkage_distance": 0.2, "aggregate": "mean",
    }  # fmt: skip
    job = released.jobs["compare"]
    assert job.arguments["tried"]["max_risk"] == 0.25
    job.state, job.answer = "done", {"strategies": [row], "rule": "", "loss": "il", "limit": 0.25}
    for name, value in (("k", "4"), ("method", "mdav")):  # of which it has its own
        released.choices.set(name, value)
    shown = page(released, "result", "compare")
    assert "since this comparison" not in shown
    assert "with at most 25 % of the records linked" in shown
    released.choices.set("role", "drop", "b")
    assert "since this comparison" in page(released, "result", "compare")


def test_a_comparison_of_what_groups_publish(
    released: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its columns are shown then, and taking a strategy takes what it publishes."""
    assert released.release is not None
    released.release.folder = tmp_path
    (tmp_path / "internal-report.html").write_text("")
    monkeypatch.setattr(released.queue, "submit", lambda _: None)
    typed = {"k": "4", "methods": "mdav", "max_risk": "0.25", "aggregate": "mean, median"}
    with pytest.raises(SettingsError):
        released.compare({**typed, "aggregate": "mean, nonsense"})
    released.compare(typed)
    job = released.jobs["compare"]
    assert job.arguments["tried"]["aggregate"] == ("mean", "median")
    row = {
        "k": 4, "method": "mdav", "subsets": "joint", "failure": "", "recommended": True,
        "undominated": True, "il": 1.0, "linkage_distance": 0.2, "aggregate": "mean",
        "two_way_tables": 12.5, "count_queries": 7.25, "largest_correlation_change": None,
    }  # fmt: skip
    other = {**row, "aggregate": "median", "recommended": False, "two_way_tables": 13.5}
    failed = {**other, "k": 5, "failure": "refused", "two_way_tables": None}
    rows = {"strategies": [row, other, failed], "rule": "", "loss": "two_way_tables", "limit": 0.25}
    job.state, job.answer = "done", rows
    shown = page(released, "result", "compare")
    for text in ("<td>12.5</td>", "<td>7.25</td>", 'name="aggregate" value="median"'):
        assert text in shown
    assert {row.count("</td>") for row in shown.split("<tr id=")[1:]} == {9}


def test_pages_name_no_option_of_the_command_line(released: Project) -> None:
    """But for the command that is shown as one."""
    for step in ("run", "hand-over", "end"):
        text = page(released, step).split("<pre")[0]
        assert not re.findall(r"(?<![<!-])--[a-z]", text)


FIGURES = {
    "groups": 2, "below": 2, "unique": 1, "k": 3, "keys": ("a",), "alone": 1, "column": "a",
    "by_shape": True, "kind": "equal", "others": ("b",), "records": 5, "of": 9, "share": 0.9, "chance": 0.3,
    "masked": False, "least": 2, "spellings": 0, "percent": 10.0,
}  # fmt: skip


@pytest.mark.parametrize("rule", ACCEPTABLE)
def test_every_open_decision_has_a_button_that_accepts_it(rule: str) -> None:
    error = unsafe_release([decide(rule.replace("-", "_"), "a", **FIGURES)])
    settings = [cure.get("settings", {}) for cure in cures_of(error)]
    assert [each["accept"].split("=")[0] for each in settings if "accept" in each] == [rule]
