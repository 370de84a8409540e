"""`microagg protect` as a process: the story, every option with its effect, plans, records, formats."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import feather, parquet

import microagg
from microagg.plan.plan_file import read_plan
from tests.bad_files import write_excel
from tests.e2e.fork_server import outcome
from tests.e2e.protecting import (
    COMPANIES,
    COMPANY_ROLES,
    SURVEY,
    column,
    digest,
    listing,
    mode,
    protected,
    record_of,
    refused,
    rows_of,
    run,
    smallest_class,
    survey,
    survey_rows,
    write_rows,
)

# --- the story --------------------------------------------------------------------------------


def test_companies_are_published_as_in_the_paper(tmp_path: Path) -> None:
    """VLDBJ06, Table 2."""
    source = tmp_path / "companies.csv"
    source.write_text(COMPANIES)
    shown = protected(
        source, "-k", 3, *COMPANY_ROLES, "--decimals", "surface=2,employees=0", "--keep-order"
    )
    path = tmp_path / "companies-protected.csv"
    rows = rows_of(path)
    assert list(rows[0]) == ["surface", "employees", "turnover", "profit"]
    assert Counter((row["surface"], row["employees"]) for row in rows) == {
        ("747.5", "46"): 4,
        ("756.67", "8"): 3,
        ("322.5", "33"): 4,
    }
    assert column(path, "profit") == column(source, "profit")
    assert "at least 3 records share every combination of surface and employees" in shown
    assert "makes unique:\n  turnover  11 of 11 records" in shown
    assert str(path) in shown
    assert "records are in the order of the source" in shown


def test_one_json_object_says_it_all(tmp_path: Path) -> None:
    source = survey(tmp_path / "survey.csv")
    path = tmp_path / "out.csv"
    found = json.loads(protected(source, "-k", 3, "--keys", "age,income", "-o", path, "--json"))
    assert found["output"] == str(path)
    assert Path(found["record"]) == tmp_path / "microagg-internal" / "out.csv.microagg.json"
    assert found["k"] == 3
    assert 0.0 < found["information_loss"] < 100.0
    assert found["groups"] > 1
    assert found["verdict"]["safe"] is True
    assert {entry["column"] for entry in found["verdict"]["not_protected"]["columns"]} == {*SURVEY} - {
        "age",
        "income",
    }


# --- every option, and its effect ---------------------------------------------------------------


def released(folder: Path, options: str) -> tuple[Path, Path, str]:
    """The source, its release with these options, and what was printed."""
    source, path = survey(folder / "survey.csv"), folder / "out.csv"
    shown = protected(source, "-o", path, *options.split())
    assert len(rows_of(path)) == 24
    return source, path, shown


def test_subsets_are_masked_by_themselves(tmp_path: Path) -> None:
    _, path, shown = released(tmp_path, "-k 4 --keys age --keys income --strata region --accept=partial")
    rows = rows_of(path)
    assert smallest_class(rows, "region", "age") >= 4
    assert smallest_class(rows, "region", "income") >= 4
    assert smallest_class(rows, "region", "age", "income") < 4
    assert "k-anonymous per subset, NOT jointly" in shown
    assert "\naccepted: the release is k-anonymous per subset" in shown


def test_each_column_by_itself_dropped_and_shuffled(tmp_path: Path) -> None:
    source, path, shown = released(tmp_path, "-k 3 --each age,income --accept=partial --drop note,disease")
    rows = rows_of(path)
    assert list(rows[0]) == ["region", "age", "income", "zeros", "weight"]
    assert smallest_class(rows, "age") >= 3
    assert smallest_class(rows, "income") >= 3
    # 24! orders: it will not be the old one.
    assert column(path, "zeros") != column(source, "zeros")
    assert sorted(column(path, "zeros")) == sorted(column(source, "zeros"))
    assert "order of the source" not in shown


def test_weighted_totals_are_kept(tmp_path: Path) -> None:
    source, path, _ = released(tmp_path, "-k 4 --keys age,income --weight weight --keep-order")

    def total(of: Path) -> float:
        return sum(float(row["weight"]) * (float(row["age"]) - 98765432) for row in rows_of(of))

    assert total(path) == pytest.approx(total(source), abs=0.5)
    assert column(path, "weight") == column(source, "weight")


def test_missing_codes_become_missing_and_are_grouped(tmp_path: Path) -> None:
    source, path, _ = released(
        tmp_path, "-k 3 --keys age,zeros --missing-codes zeros=0,-9 --missing by-pattern --keep-order"
    )
    zeros = column(path, "zeros")
    assert [value == "" for value in zeros] == [value == "0" for value in column(source, "zeros")]
    assert smallest_class(rows_of(path), "age", "zeros") >= 3


def test_zeros_stay_zeros(tmp_path: Path) -> None:
    source, path, _ = released(tmp_path, "-k 3 --keys age,zeros --zeros apart --keep-order")
    zeros = column(path, "zeros")
    assert [value == "0" for value in zeros] == [value == "0" for value in column(source, "zeros")]


def test_medians_and_a_named_method(tmp_path: Path) -> None:
    _, path, shown = released(
        tmp_path, "-k 4 --keys age,income --aggregate median --accept=real-values --method mdav"
    )
    assert smallest_class(rows_of(path), "age", "income") >= 4
    assert all(float(age) * 2 == int(float(age) * 2) for age in column(path, "age"))
    assert "by mdav" in shown
    assert "medians are published" in shown


def test_decimals(tmp_path: Path) -> None:
    _, path, _ = released(tmp_path, "-k 3 --keys age,income --decimals age=0 --decimals income=1")
    assert all("." not in age for age in column(path, "age"))
    assert all(len(income.partition(".")[2]) <= 1 for income in column(path, "income"))


def test_groups_have_several_confidential_values(tmp_path: Path) -> None:
    _, path, _ = released(tmp_path, "-k 5 --keys age --confidential disease --min-distinct 3 --retry")
    values: dict[str, set[str]] = {}
    for row in rows_of(path):
        values.setdefault(row["age"], set()).add(row["disease"])
    assert min(map(len, values.values())) >= 3


def test_homogeneous_groups_are_accepted(tmp_path: Path) -> None:
    source, path, shown = released(
        tmp_path, "-k 3 --keys age --confidential note --min-distinct 24 --accept=distinct --keep-order"
    )
    assert "\naccepted: confidential column 'note'" in shown
    assert column(path, "note") == column(source, "note")


def test_noise(tmp_path: Path) -> None:
    source, path, shown = released(
        tmp_path, "-k 3 --keys age --confidential income --confidential-as noise --noise 0.5 --keep-order"
    )
    assert column(path, "income") != column(source, "income")
    assert "gives no k-anonymity" in shown


def test_confidential_columns_as_a_subset(tmp_path: Path) -> None:
    _, path, _ = released(tmp_path, "-k 3 --keys age --confidential income --confidential-as subset")
    assert smallest_class(rows_of(path), "income") >= 3


def test_pairs_scale_effort_seed_and_threads(tmp_path: Path) -> None:
    _, path, shown = released(
        tmp_path, "-k 2 --accept=pairs --keys age,income --scale rank --effort fast --seed 7 --threads 1"
    )
    assert smallest_class(rows_of(path), "age", "income") == 2
    record = record_of(path)
    assert record["seed"] == 7
    assert record["plan"] == {
        "k": 2,
        "keys": [["age", "income"]],
        "rest": "pass",
        "accept": ["pairs"],
        "scale": "rank",
        "effort": "fast",
        "seed": 7,
        "threads": 1,
    }
    assert "each member of a group can compute the other's values" in shown


def test_a_bound_and_the_groups(tmp_path: Path) -> None:
    _, path, shown = released(
        tmp_path, "-k 3 --keys age,income --seconds 600 --certify --pass note --labels --keep-order"
    )
    record = record_of(path)
    assert 0.0 < record["bound_loss"] <= record["information_loss"]
    assert "proven optimal" in shown
    groups = path.parent / "microagg-internal" / f"{path.name}.groups.csv"
    assert mode(groups) == 0o600
    by_group: dict[str, set[str]] = {}
    for row in rows_of(groups):
        assert row["columns"] == "age;income"
        by_group.setdefault(row["group"], set()).add(column(path, "age")[int(row["record"]) - 1])
    assert len(by_group) == record["tasks"][0]["groups"]
    assert all(len(values) == 1 for values in by_group.values())


def test_respondents_rest_and_amounts(tmp_path: Path) -> None:
    rows = [[at // 3, 98765432 + 1000 * at, at % 2] for at in range(60)]
    source = write_rows(tmp_path / "firms.csv", ["firm_id", "sales", "even"], rows)
    options = ("-k", 3, "--keys", "sales", "--method", "mdav")
    assert "'even'" in refused(2, tmp_path, source, *options, "--drop", "firm_id", "--rest", "refuse")
    message = refused(3, tmp_path, source, *options, "--rest", "drop")
    assert "shared by fewer than 3 respondents" in message
    assert "--respondent none" in message
    assert "respondents" in refused(3, tmp_path, source, *options, "--respondent", "firm_id")
    path = tmp_path / "out.csv"
    protected(source, *options, "--respondent", "none", "--rest", "drop", "-o", path)
    assert set(rows_of(path)[0]) == {"sales"}
    amounts = ("--amounts", "sales", "--respondent", "none", "--rest", "drop", "-o", path, "--force")
    assert "verified" in protected(source, *options, *amounts, "--p-percent", "20")
    message = refused(3, tmp_path, source, *options, *amounts, "--p-percent", "99.999")
    assert "can be estimated within" in message
    shown = json.loads(run(source, *options, *amounts, "--p-percent", "99.999", "--json").stdout)
    assert [each["rule"] for each in shown["verdict"]["to_decide"]] == ["dominated"]
    more = ("--p-percent", "99.999", "--accept", "dominated=sales")
    assert "accepted" in protected(source, *options, *amounts, *more)


def test_keys_of_any_kind(tmp_path: Path) -> None:
    jobs, levels = ("clerk", "nurse", "smith"), ("low", "medium", "high")
    rows = [
        [
            20 + at,
            jobs[at * at % 3],
            levels[at % 3],
            f"{1960 + at % 40}-05-{at % 28 + 1:02d}",
            at % 4 // 2,
            at % 5,
        ]
        for at in range(120)
    ]
    names = ["age", "job", "level", "born", "married", "region"]
    source = write_rows(tmp_path / "people.csv", names, rows)
    kinds = ("--ordinal", "level=low<medium<high", "--nominal", "region", "--resolution", "born=month")
    options = ("-k", 3, "--keys", ",".join(names), *kinds, "--importance", "age=2")
    protected(source, *options, "-o", tmp_path / "out.csv")
    released = rows_of(tmp_path / "out.csv")
    assert smallest_class(released, *names) >= 3
    for at, name in enumerate(names):
        if name not in ("age", "born"):
            assert {row[name] for row in released} <= {str(row[at]) for row in rows}, name
    assert all(re.fullmatch(r"\d{4}-\d{2}(-01)?", row["born"]) for row in released)


def test_combinations_that_exist(tmp_path: Path) -> None:
    jobs = ("clerk", "nurse", "smith")
    rows = [[20 + at * 7 % 50, jobs[at * at % 3], at % 4, at * at % 5] for at in range(120)]
    source = write_rows(tmp_path / "people.csv", ["age", "job", "region", "size"], rows)
    options = ("-k", 4, "--keys", "age,job,region,size", "--nominal", "region,size")
    protected(source, *options, "--categories", "existing", "-o", tmp_path / "out.csv")
    known = {tuple(map(str, row[1:])) for row in rows}
    assert {(row["job"], row["region"], row["size"]) for row in rows_of(tmp_path / "out.csv")} <= known


def test_covariances_within_the_range(tmp_path: Path) -> None:
    rows = [[at * 37 % 101 / 10, at * 53 % 97 / 10 + at / 30] for at in range(150)]
    source = write_rows(tmp_path / "people.csv", ["x", "y"], rows)
    options = ("-k", 5, "--keys", "x,y", "--aggregate", "covariances", "--keep-order")
    protected(source, *options, "-o", tmp_path / "kept.csv")
    protected(source, *options, "--clip", "--accept", "real-values", "-o", tmp_path / "clipped.csv")

    def spread(path: Path) -> float:
        return statistics.pstdev(map(float, column(path, "x")))

    assert spread(tmp_path / "kept.csv") == pytest.approx(spread(source), rel=1e-3)
    low, high = min(x for x, _ in rows), max(x for x, _ in rows)
    assert all(low <= float(x) <= high for x in column(tmp_path / "clipped.csv", "x"))


def test_every_option_of_the_help_is_tried() -> None:
    shown = protected("--help")
    offered = {word.rstrip(",") for word in shown.split() if word.startswith("--")} - {"--help"}
    here = "".join(
        Path(__file__).with_name(name).read_text()
        for name in (
            "test_protect_command.py",
            "test_report_command.py",
            "test_first_row_command.py",
            "test_taxonomy_command.py",
        )
    )
    assert not offered - set(re.findall(r"--[a-z-]+", here))


def test_engines(tmp_path: Path) -> None:
    """Those of Spark are tried in tests/spark."""
    source = survey(tmp_path / "survey.csv")
    options = (source, "-k", "3", "--keys", "age,income")
    assert "verified" in protected(*options, "--engine", "local", "-o", tmp_path / "out.csv")
    assert "only with --engine spark" in refused(2, tmp_path, *options, "--master", "local[1]")
    assert "engine" in refused(2, tmp_path, *options, "--engine", "other")


def test_a_release_is_repeated(tmp_path: Path) -> None:
    source = survey(tmp_path / "survey.csv")
    roles = ("-k", "3", "--keys", "age", "--drop", "zeros")
    confidential = ("--confidential", "income", "--confidential-as", "noise", "--pass", "disease")
    protected(source, *roles, *confidential, "-o", tmp_path / "out.csv")
    record = tmp_path / "microagg-internal" / "out.csv.microagg.json"
    again = outcome("protect", "--repeat", record, "-o", tmp_path / "again.csv")
    assert again.returncode == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    other = protected(source, *roles, *confidential, "-o", tmp_path / "other.csv")
    assert "verified" in other
    assert (tmp_path / "other.csv").read_bytes() != (tmp_path / "out.csv").read_bytes()
    beside = outcome("protect", source, "--repeat", record, "--seed", "1", "-o", tmp_path / "no.csv")
    assert (beside.returncode, (tmp_path / "no.csv").exists()) == (2, False)
    source.write_text(source.read_text().replace("n0", "n9"))
    changed = outcome("protect", "--repeat", record, "-o", tmp_path / "no.csv")
    assert (changed.returncode, (tmp_path / "no.csv").exists()) == (2, False)


@pytest.mark.parametrize("policy", ["nearest", "suppress"])
def test_small_strata(tmp_path: Path, policy: str) -> None:
    rows = [["big", 98765432 + at] for at in range(9)]
    rows += [["C", 98765400 + at] for at in range(2)] + [["D", 98765500 + at] for at in range(2)]
    source = write_rows(tmp_path / "strata.csv", ["size", "x"], rows)
    options = (source, "-k", 3, "--keys", "x", "--strata", "size")
    message = refused(2, tmp_path, *options)
    assert "2 of 3 strata (size) have fewer than k = 3 records" in message
    assert "--small-strata nearest" in message
    protected(*options, "--small-strata", policy, "-o", tmp_path / "out.csv")
    codes = Counter(column(tmp_path / "out.csv", "size"))
    assert codes == ({"big": 13} if policy == "nearest" else {"big": 9})


def test_a_csv_file_keeps_its_dialect(tmp_path: Path) -> None:
    source = tmp_path / "dialect.csv"
    lines = ["größe;gewicht;text", *(f'{at},25;{at * at % 7};"a;""{at % 3}"""' for at in range(1, 13))]
    source.write_bytes("\r\n".join([*lines, ""]).encode("latin-1"))
    options = ("--delimiter", ";", "--encoding", "latin-1", "--decimal", ",", "--keep-order")
    protected(source, "-k", 3, "--keys", "größe,gewicht", "-o", tmp_path / "out.csv", *options)
    text = (tmp_path / "out.csv").read_bytes().decode("latin-1")
    assert text.splitlines()[0] == "größe;gewicht;text"
    rows = [line.split(";", 2) for line in text.splitlines()[1:]]
    assert [row[2] for row in rows] == [f'"a;""{at % 3}"""' for at in range(1, 13)]
    total = sum(float(row[0].replace(",", ".")) for row in rows)
    assert total == pytest.approx(sum(at + 0.25 for at in range(1, 13)), abs=0.1)
    assert any("," in row[0] for row in rows)


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "mark.csv"
    source.write_bytes(
        b"\xef\xbb\xbf" + b"x,y\r\n" + b"".join(b"%d,%d\r\n" % (at, at % 4) for at in range(9))
    )
    protected(source, "-k", 3, "--keys", "x,y")
    content = (tmp_path / "mark-protected.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfx,y\r\n")
    assert content.count(b"\n") == content.count(b"\r\n") == 10


def test_odd_names_of_columns(tmp_path: Path) -> None:
    names = ['with "quotes"', "a, b", "two\nlines", "x=1", "größe ∑"]
    rows = [[at, at % 5, at * 3 % 7, at % 2, f"t{at % 3}"] for at in range(12)]
    source = write_rows(tmp_path / "odd.csv", names, rows)
    quoted = '"with ""quotes""","a, b","two\nlines",x=1'
    options = ("--importance", "x=1=2", "--decimals", '"a, b=1"', "--missing-codes", "a, b=99")
    protected(source, "-k", 3, "--keys", quoted, "-o", tmp_path / "out.csv", *options)
    assert list(rows_of(tmp_path / "out.csv")[0]) == names
    assert smallest_class(rows_of(tmp_path / "out.csv"), *names[:4]) >= 3


# --- standard input, force, places ----------------------------------------------------------------


def test_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    text = survey(tmp_path / "survey.csv").read_text()
    assert "-o protected.csv" in refused(2, tmp_path, "-", "-k", 3, "--keys", "age", given=text)
    protected("-", "-k", 3, "--keys", "age", "-o", path, given=text)
    assert smallest_class(rows_of(path), "age") >= 3
    record = record_of(path)
    assert record["input"]["name"] == "standard input"
    assert record["input"]["digest"] == digest(tmp_path / "survey.csv")
    assert "input" not in read_plan(tmp_path / "microagg-internal" / "out.csv.plan.toml")


def test_force_replaces_the_output_and_its_record(tmp_path: Path) -> None:
    source = survey(tmp_path / "survey.csv")
    path = tmp_path / "out.csv"
    path.write_text("precious")
    command = (source, "-k", 3, "--keys", "age", "-o", path)
    assert "exists already" in refused(2, tmp_path, *command)
    protected(*command, "--force", "--labels")
    assert smallest_class(rows_of(path), "age") >= 3
    protected(*command[:2], 4, *command[3:], "--force")
    assert smallest_class(rows_of(path), "age") >= 4
    assert record_of(path)["plan"]["k"] == 4
    assert not [name for name in listing(tmp_path) if "/." in f"/{name}"]


def test_internal_files_are_for_their_owner_and_never_beside_the_release(tmp_path: Path) -> None:
    source = survey(tmp_path / "survey.csv")
    path = tmp_path / "out.csv"
    command = (source, "-k", 3, "--keys", "age", "-o", path)
    assert "must not be in" in refused(2, tmp_path, *command, "--record", tmp_path)
    missing = tmp_path / "nowhere" / "secrets"
    assert "There is no folder" in refused(2, tmp_path, *command, "--record", missing)
    folder = tmp_path / "secrets"
    shown = protected(*command, "--record", folder, "--labels")
    assert str(folder) in shown
    assert mode(folder) == 0o700
    names = {"out.csv.microagg.json", "out.csv.plan.toml", "out.csv.groups.csv"}
    assert {file.name for file in folder.iterdir()} == names
    assert {mode(file) for file in folder.iterdir()} == {0o600}
    assert {entry.name for entry in tmp_path.iterdir()} == {"survey.csv", "out.csv", "secrets"}
    assert record_of(path, folder)["output"]["digest"] == digest(path)


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o444, 0o777])
def test_the_output_is_not_wider_than_the_input(tmp_path: Path, permissions: int) -> None:
    source = survey(tmp_path / "survey.csv")
    source.chmod(permissions)
    protected(source, "-k", 3, "--keys", "age", "-o", tmp_path / "out.parquet", umask=0o002)
    assert mode(tmp_path / "out.parquet") == permissions & 0o664


# --- records and plans ----------------------------------------------------------------------------


def test_the_record_accounts_for_the_run(tmp_path: Path) -> None:
    source = survey(tmp_path / "survey.csv")
    path = tmp_path / "out.csv"
    protected(source, "-k", 3, "--keys", "age,income", "--strata", "region", "--seed", 5, "-o", path)
    record = record_of(path)
    assert record["format"] == "microagg run record"
    assert record["version"] == 2
    assert record["software"]["microagg"] == microagg.__version__
    assert set(record["software"]) == {"microagg", "numpy", "pyarrow", "python"}
    assert record["input"] == {
        "name": str(source),
        "path": str(source),
        "format": "CSV",
        "reading": {"delimiter": ",", "encoding": "utf-8", "decimal": "."},
        "digest": digest(source),
        "records": 24,
        "columns": SURVEY,
    }
    assert record["output"]["name"] == "out.csv"
    assert record["output"]["digest"] == digest(path)
    assert record["plan"] == {
        "k": 3,
        "keys": [["age", "income"]],
        "strata": ["region"],
        "rest": "pass",
        "seed": 5,
    }
    assert record["seed"] == 5
    assert re.fullmatch("[0-9a-f]{64}", record["key"])
    assert record["rows_left_out"] == []
    assert [task["stratum"] for task in record["tasks"]] == [0, 1]
    assert all(task["recipe"] and task["reason"] and not task["truncated"] for task in record["tasks"])
    assert record["information_loss"] > 0
    assert record["bound_loss"] is None or record["bound_loss"] <= record["information_loss"]
    assert record["verdict"]["safe"] is True
    assert record["verdict"]["counted"]["subsets"][0]["columns"] == ["region", "age", "income"]
    assert record["verdict"]["counted"]["subsets"][0]["smallest"] >= 3
    assert record["seconds"] > 0


def test_a_run_is_repeated_from_its_plan(tmp_path: Path) -> None:
    source = survey(tmp_path / "survey.csv")
    path = tmp_path / "out.csv"
    options = ("--strata", "region", "--seed", 3, "--decimals", "income=1", "--missing-codes", "zeros=0")
    options = (*options, "--missing", "by-pattern", "--keep-order")
    protected(source, "-k", 3, "--keys", "age,income,zeros", *options, "-o", path)
    plan = tmp_path / "microagg-internal" / "out.csv.plan.toml"
    first = path.read_bytes()
    assert "exists already" in refused(2, tmp_path, "--plan", plan)
    path.unlink()
    protected("--plan", plan, "--force", folder=Path("/"))
    assert path.read_bytes() == first
    protected("--plan", plan, "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == first
    assert record_of(path)["plan"] == record_of(tmp_path / "again.csv")["plan"]


def test_a_suggested_plan_can_be_run_and_options_win_over_it(tmp_path: Path) -> None:
    rows = [
        [40_000 + at, f"zone-{at % 2}", 98765432 + at * 7 % 31, 98765432 + at * 5 % 23] for at in range(60)
    ]
    source = write_rows(tmp_path / "data.csv", ["PersonID", "region", "costs", "rents"], rows)
    plan = tmp_path / "plan.toml"
    protected(source, "-o", plan, command="plan")
    protected("--plan", plan)
    path = tmp_path / "data-protected.csv"
    assert list(rows_of(path)[0]) == ["region", "costs", "rents"]
    assert smallest_class(rows_of(path), "region", "costs", "rents") in (3, 4, 5)
    protected("--plan", plan, "-k", 6, "-o", tmp_path / "six.csv", "--seed", 9)
    assert smallest_class(rows_of(tmp_path / "six.csv"), "region", "costs", "rents") >= 6
    assert record_of(tmp_path / "six.csv")["plan"]["k"] == 6


# --- formats --------------------------------------------------------------------------------------


def frame() -> pd.DataFrame:
    made = pd.DataFrame(survey_rows(), columns=SURVEY)
    return made.assign(income=made["income"].astype(float))


def frame_of(path: Path) -> pd.DataFrame:
    """A file of any format that is written, read without microagg."""
    if path.suffix in (".csv", ".tsv", ".txt"):
        return pd.read_csv(path, sep=None, engine="python")
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix in (".feather", ".arrow"):
        return pd.read_feather(path)
    if path.suffix == ".xlsx":
        return pd.read_excel(path)
    reader = {".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}.get(
        path.suffix, pyreadstat.read_sav
    )
    return reader(str(path))[0]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("in.csv", "out.parquet"),
        ("in.parquet", "out.feather"),
        ("in.feather", "out.xlsx"),
        ("in.xlsx", "out.dta"),
        ("in.dta", "out.sav"),
        ("in.sav", "out.xpt"),
        ("in.xpt", "out.zsav"),
        ("in.zsav", "out.tsv"),
        ("in.tsv", "out.arrow"),
        ("in.arrow", "out.csv"),
    ],
)
def test_every_format_in_and_out(tmp_path: Path, given: str, wanted: str) -> None:
    source, table = tmp_path / given, frame()
    if source.suffix in (".csv", ".tsv"):
        table.to_csv(source, index=False, sep="," if source.suffix == ".csv" else "\t")
    elif source.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pandas(table), source)
    elif source.suffix in (".feather", ".arrow"):
        feather.write_feather(table, str(source))
    elif source.suffix == ".xlsx":
        write_excel(source, [SURVEY, *table.itertuples(index=False)])
    elif source.suffix == ".dta":
        pyreadstat.write_dta(table, source)
    elif source.suffix == ".xpt":
        pyreadstat.write_xport(table, source)
    else:
        pyreadstat.write_sav(table, source, compress=source.suffix == ".zsav")
    path = tmp_path / wanted
    keys = ("--keys", "age,income", "--strata", "region")
    protected(source, "-k", 3, *keys, "--keep-order", "--output", path)
    released = frame_of(path)
    assert list(released.columns) == SURVEY
    for name in ("region", "zeros", "weight", "disease", "note"):
        # What is not masked is text in CSV files, and stays so.
        before = table[name].astype(str) if source.suffix in (".csv", ".tsv") else table[name]
        assert released[name].tolist() == before.tolist()
    for name in ("age", "income"):
        assert released[name].mean() == pytest.approx(table[name].mean(), abs=0.01)
    assert released.groupby(["region", "age", "income"]).size().min() >= 3


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_labels_survive(tmp_path: Path, ending: str) -> None:
    table = frame().assign(region=[at % 2 + 1 for at in range(24)])
    labels = {name: f"the {name} of all" for name in SURVEY}
    codes = {"region": {1: "up", 2: "down"}, "weight": {1: "light", 3: "heavy"}}
    writer, reader = (
        (pyreadstat.write_dta, pyreadstat.read_dta)
        if ending == ".dta"
        else (pyreadstat.write_sav, pyreadstat.read_sav)
    )
    source = tmp_path / f"in{ending}"
    writer(table, source, file_label="a survey", column_labels=labels, variable_value_labels=codes)
    keys = ("--keys", "age,income", "--strata", "region")
    protected(source, "-k", 3, *keys, "--drop", "note", "--keep-order")
    released, meta = reader(str(tmp_path / f"in-protected{ending}"))
    assert meta.file_label == "a survey"
    assert meta.column_names_to_labels == {name: labels[name] for name in SURVEY if name != "note"}
    assert meta.variable_value_labels == codes
    assert released["region"].tolist() == table["region"].tolist()
    assert released.groupby(["region", "age", "income"]).size().min() >= 3


def test_a_format_that_is_only_read_is_released_as_another_of_its_program(tmp_path: Path) -> None:
    source = tmp_path / "in.por"
    pyreadstat.write_por(frame()[["age", "zeros"]], source)
    message = refused(2, tmp_path, source, "-k", 3, "--keys", "AGE", "-o", tmp_path / "o.por")
    assert "SPSS portable files can only be read" in message
    assert run(source, "-k", 3, "--keys", "AGE").returncode == 0
    assert (tmp_path / "in-protected.sav").exists()


def test_a_release_goes_to_a_file(tmp_path: Path) -> None:
    message = refused(2, tmp_path, survey(tmp_path / "in.csv"), "-k", 3, "--keys", "age", "-o", "-")
    assert "cannot be written to standard output" in message
