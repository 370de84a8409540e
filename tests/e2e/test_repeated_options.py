"""An option that is given again adds up, or is refused: nothing that was given is replaced silently."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import microagg
from microagg import SettingsError
from microagg.cli import entry
from tests.e2e.protecting import COMPANIES, protected, refused, rows_of, run, survey
from tests.refusals import rules

ROLES = ("--keys", "age,income", "--pass", "zeros,weight", "--rest", "pass")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return survey(tmp_path / "survey.csv")


def test_repeated_drop_adds_up(people: Path) -> None:
    output = people.with_name("out.csv")
    protected(
        people, "-k", 3, *ROLES, "--drop", "note", "--drop", "disease", "--pass", "region", "-o", output
    )
    assert list(rows_of(output)[0]) == ["region", "age", "income", "zeros", "weight"]


def test_repeated_pass_strata_and_confidential_add_up(people: Path) -> None:
    output = people.with_name("out.csv")
    lists = ("--strata", "region", "--strata", "weight", "--drop", "zeros")
    lists += ("--confidential", "disease", "--confidential", "note", "--accept=distinct")
    protected(people, "-k", 3, "--keys", "age,income", *lists, "-o", output)
    words = json.loads((people.parent / "microagg-internal" / "out.csv.microagg.json").read_text())["plan"]
    assert words["strata"] == ["region", "weight"]
    assert words["confidential"] == ["disease", "note"]


def test_repeated_each_adds_up_and_keys_stay_subsets(people: Path) -> None:
    given = ("--each", "age", "--each", "zeros", "--keys", "income", "--drop", "note,disease,weight")
    lists = (*given, "--pass", "region")
    protected(people, "-k", 3, *lists, "--accept=partial", "-o", people.with_name("out.csv"))
    words = json.loads((people.parent / "microagg-internal" / "out.csv.microagg.json").read_text())["plan"]
    assert words["each"] == ["age", "zeros"]
    assert words["keys"] == [["income"]]


def test_repeated_lists_add_up_on_other_commands(tmp_path: Path) -> None:
    source = tmp_path / "companies.csv"
    source.write_text(COMPANIES)
    two = ("--columns", "surface", "--columns", "employees")
    for command in ("partition", "bound"):
        shown = protected(source, "-k", 3, *two, "--json", command=command)
        assert json.loads(shown)["columns"] == ["surface", "employees"]
    proof = tmp_path / "proof.json"
    protected(source, "-k", 3, *two, "--certificate", proof, command="bound")
    assert "holds" in protected(proof, source, *two, command="verify-certificate")
    keys = ("--keys", "surface,employees")
    ways = ("-k", "3", "-k", "4", "--methods", "mdav", "--methods", "v-mdav", "--strata", "company")
    message = refused(2, tmp_path, source, *keys, *ways, "--strata", "turnover", command="compare")
    assert "company, turnover" in message
    found = json.loads(protected(source, *keys, *ways[:8], "--json", command="compare"))
    assert {(row["k"], row["method"]) for row in found["strategies"]} == {
        (k, method) for k in (3, 4) for method in ("mdav", "v-mdav")
    }
    both = ("--measures", "interval_sd", "--measures", "linkage_distance")
    done = run(source, source, *keys, *both, "--json", command="assess")
    assert set(json.loads(done.stdout)["measures"]) == {"interval_sd", "linkage_distance"}


@pytest.mark.parametrize(
    "twice",
    [
        ("-k", "3", "-k", "5"),
        ("--seed", "1", "--seed", "2"),
        ("-o", "a.csv", "-o", "b.csv"),
        ("-o", "a.csv", "--output", "b.csv"),
        ("--weight", "weight", "--weight", "zeros"),
        ("--seed", "1", "--seed", "1"),
        ("--delimiter", ",", "--delimiter", ";"),
        ("--plan", "a.toml", "--plan", "b.toml"),
    ],
    ids=" ".join,
)
def test_one_value_given_twice_is_refused(people: Path, twice: tuple[str, ...]) -> None:
    k = () if "-k" in twice else ("-k", "3")
    message = refused(2, people.parent, people, *k, "--keys", "age", *twice)
    assert "more than once" in message
    assert twice[0] in message


COMMANDS = entry.app.commands


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_one_value_given_twice_is_refused_on_every_command(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever options a command has, now or later."""
    found = COMMANDS[command].params
    files = ["there-is-none.csv" for each in found if not each.opts[0].startswith("-")]
    for option in found:
        if not option.opts[0].startswith("-") or option.multiple:
            continue
        if option.is_flag and not option.secondary_opts:
            continue
        name = max(option.opts, key=len)
        needed = ["-k", "3"] if name != "-k" and command in ("partition", "bound") else []
        given = [name] if option.is_flag else [name, "3"]
        monkeypatch.setattr("sys.argv", ["microagg", command, *files, *needed, *given, *given])
        assert entry.run(lambda: None) == entry.USAGE
        assert f"{name} is given more than once" in capsys.readouterr().err


def test_a_switch_given_twice_is_harmless(people: Path) -> None:
    output = people.with_name("out.csv")
    drop = ("--drop", "note,disease,region")
    protected(people, "-k", 3, *ROLES, *drop, "--keep-order", "--keep-order", "-o", output)


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        (("--drop", "note", "--drop", "note"), "named twice in drop"),
        (("--drop", "note", "--pass", "note"), "named in drop and in pass"),
        (("--keys", "age", "--keys", "age"), "named twice in keys"),
        (("--drop", "note", "--drop", ""), "at least one column name"),
    ],
)
def test_a_column_in_two_roles_is_refused(people: Path, lists: tuple[str, ...], says: str) -> None:
    assert says in refused(2, people.parent, people, "-k", 3, "--keys", "income", *lists)


@pytest.mark.parametrize(
    "roles",
    [
        {"drop": ["note", "note"]},
        {"drop": ["note"], "pass_": ["note"]},
        {"strata": "region", "confidential": ["region"]},
        {"each": ["income"]},
        {"weight": "income"},
    ],
    ids=str,
)
def test_a_column_in_two_roles_is_refused_in_python(people: Path, roles: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="named"):
        microagg.protect(people, 3, rest="pass", keys=["income", "age"], **roles)  # type: ignore[arg-type]
    if "drop" not in roles:
        with pytest.raises(SettingsError, match="named"):
            microagg.assess(people, people, keys=["income", "age"], **roles)  # type: ignore[arg-type]


def test_an_option_beside_a_plan_says_what_it_replaces(people: Path) -> None:
    plan = people.with_name("plan.toml")
    plan.write_text(
        'input = "survey.csv"\noutput = "out.csv"\nk = 3\nkeys = [["age", "income"]]\n'
        'drop = ["note", "disease"]\npass = ["region", "weight", "zeros"]\n'
    )
    assert "replace" not in protected("--plan", plan, "--drop", "note,disease")
    shown = protected("--plan", plan, "--drop", "note", "-k", 4, "--rest", "pass", "--force")
    assert f"note: -k, --drop replace what the plan {plan} has there." in shown
    assert "disease" in rows_of(people.with_name("out.csv"))[0]


def test_what_is_given_in_python_beside_a_plan_is_noted(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('k = 3\nkeys = [["a", "b"]]\n')
    frame = pd.DataFrame({"a": range(9), "b": range(9, 0, -1)})
    release = microagg.protect(frame, rest="pass", keys=["a"], pass_=["b"], plan=tmp_path / "plan.toml")
    assert "plan_replaced" in rules(release.verdict.notes)
    release = microagg.protect(frame, plan=tmp_path / "plan.toml")
    assert "plan_replaced" not in rules(release.verdict.notes)
