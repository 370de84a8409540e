"""Pages and forms as a browser without script has them: each page is the state, whoever asks."""

from __future__ import annotations

import html
import io
import json
import re
import tomllib

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.web.serving import Server, eventually, survey

STEPS = ("data", "roles", "protection", "run", "result", "hand-over")


@pytest.fixture(scope="module")
def released(server: Server) -> str:
    """The cookie of a session with a release in which one column is not protected."""
    cookie = server.opened(survey(400))
    assert server.post(cookie, "/roles", only="role.2", role__2="pass")[0] == 303
    assert server.post(cookie, "/protection", then="run", k=4, missing="by-pattern")[1] == "/run"
    server.shows(cookie, "/run", "See the result")
    return cookie


def test_a_step_that_cannot_be_shown_leads_to_the_first_that_can(server: Server) -> None:
    cookie = server.enter()
    for step in STEPS[1:]:
        status, headers, _ = server.get(f"/{step}", cookie)
        assert (status, headers["location"]) == (303, "/data")
    assert server.upload(cookie, "data.csv", survey(60).encode()) == (303, "/data")
    server.shows(cookie, "/data", "First 8 records")
    for step in STEPS[4:]:
        status, headers, _ = server.get(f"/{step}", cookie)
        assert (status, headers["location"]) == (303, "/protection")
    page = server.page(cookie, "/roles")
    assert 'href="/run"' in page
    assert 'href="/result"' not in page


def test_a_check_begins_whenever_the_page_is_asked_for(server: Server) -> None:
    """Also by a page that was asked for while the file was still being read."""
    cookie = server.enter()
    server.upload(cookie, "data.csv", survey(3000).encode())
    assert server.get("/protection", cookie)[0] == 303
    server.shows(cookie, "/data", "First 8 records")
    server.shows(cookie, "/protection", "This can be run:")


def test_what_is_not_protected_is_shown_wherever_the_verdict_is(server: Server, released: str) -> None:
    for path in ("/run", "/result", "/hand-over"):
        page = html.unescape(server.page(released, path))
        assert "Verified:" in page
        assert "Not protected:" in page
        unique = re.search(r"<b>income</b>: (\d+)", page)
        assert unique is not None
        assert int(unique[1]) > 100
    assert "means kept" in server.page(released, "/hand-over")


def test_two_values_of_the_loss_have_two_names(server: Server, released: str) -> None:
    page = server.page(released, "/result")
    assert "information loss" in page
    assert "loss as released" in page


def test_the_result_has_the_sections_of_the_report(server: Server, released: str) -> None:
    for part in ("verdict", "groups", "distributions", "measures", "columns", "repeat"):
        assert f'<section id="{part}"' in server.page(released, f"/result/{part}")
    plan = html.unescape(server.page(released, "/result/repeat"))
    assert 'input = "data.csv"' in plan


def test_no_page_has_options_of_the_command_line(server: Server, released: str) -> None:
    """But for the command that is shown as one."""
    parts = ("verdict", "groups", "measures", "columns")
    for path in (*STEPS, *(f"result/{part}" for part in parts), "result/compare", "end"):
        text = re.sub(r"<pre.*?</pre>|<!--.*?-->", "", server.page(released, f"/{path}"), flags=re.S)
        assert not re.findall(r"(?<![-\w])--[a-z]|(?<!\w)-k \d", re.sub(r"<[^>]+>", "", text)), path
        for word in ("of type", "index=False", "effort=", "pandas"):
            assert word not in text, path


def test_what_can_be_downloaded(server: Server, released: str) -> None:
    masked = pd.read_csv(io.StringIO(server.page(released, "/get/protected")))
    keys = [name for name in masked.columns if name != "income"]
    assert masked.groupby(keys).size().min() >= 4
    assert json.loads(server.page(released, "/get/record"))["plan"]["k"] == 4
    plan = tomllib.loads(server.page(released, "/get/plan"))
    assert plan["input"] == "data.csv"
    assert server.page(released, "/get/external-report?open").startswith("<!doctype html>")


def test_a_plan_can_be_saved_and_loaded(server: Server) -> None:
    cookie = server.opened(survey(60))
    server.post(cookie, "/roles", only="role.1", role__1="drop")
    server.post(cookie, "/protection", only="k", k="5")
    plan = server.page(cookie, "/get/settings")
    assert tomllib.loads(plan)["drop"] == ["size"]
    other = server.opened(survey(60, seed=9))
    assert server.upload(other, "plan.toml", plan.encode(), "/plan") == (303, "/data")
    assert 'value="5"' in server.page(other, "/protection")
    assert tomllib.loads(server.page(other, "/get/settings")) == tomllib.loads(plan)
    for bad, reason in (
        (b"k = ", "is no TOML"),
        (b'k = 3\nkeys = ["nowhere"]', "No such column"),
        (b"x = 1", "x"),
    ):
        _, place = server.upload(other, "plan.toml", bad, "/plan")
        page = html.unescape(server.page(other, place))
        assert 'class="notice"' in page, reason
        assert str(server.temporary) not in page
    assert tomllib.loads(server.page(other, "/get/settings")) == tomllib.loads(plan)


def test_a_form_that_shows_old_choices_changes_nothing(server: Server) -> None:
    cookie = server.opened(survey(60))
    page = server.page(cookie, "/roles")
    version = re.search(r'name="version" value="(\w+)"', page)
    assert version is not None
    server.post(cookie, "/roles", only="role.1", role__1="drop")
    _, place = server.post(cookie, "/roles", version=version[1], role__1="keys 1", then="protection")
    assert "changed in another tab" in server.page(cookie, place)
    assert tomllib.loads(server.page(cookie, "/get/settings"))["drop"] == ["size"]


def test_a_refusal_has_buttons_that_settle_it(server: Server) -> None:
    cookie = server.opened(survey(400))
    server.post(cookie, "/protection", only="k", k="2")
    page = server.shows(cookie, "/protection", "each member of a group can compute")
    assert ">Run</button>" not in page
    assert 'name="accept" value="pairs"' in page
    server.post(cookie, "/protection", only="k", k="many")
    assert server.page(cookie, "/protection").count('name="k" value="3"') == 1
    server.post(cookie, "/protection", only="k", k="")
    assert server.page(cookie, "/protection").count('name="k" value="3"') == 1
    server.post(cookie, "/protection", only="k", k="3")
    server.post(cookie, "/protection", only="recipe", recipe="nonsense")
    assert 'name="method" value="auto"' in server.page(cookie, "/protection")
    server.post(cookie, "/protection", method="auto", then="protection")
    server.shows(cookie, "/protection", "This can be run:")
    server.post(cookie, "/protection", k="300", then="protection")
    page = server.shows(cookie, "/protection", "have fewer than k = 300 records")
    assert ">Run</button>" not in page
    assert 'name="small_strata" value="nearest"' in page
    server.post(cookie, "/protection", small_strata="nearest", then="protection")
    server.shows(cookie, "/protection", "This can be run:", "Not with these data:")
    server.post(cookie, "/protection", only="k", k="3")
    server.post(cookie, "/roles", only="role.3", role__3="keys 2")
    page = server.shows(cookie, "/protection", "NOT jointly")
    assert ">Run</button>" not in page
    assert '<input type="hidden" name="accept" value="partial' in page
    for column in range(5):
        server.post(cookie, "/roles", only="x", **{f"role.{column}": "drop"})
    assert "Take the suggested roles" in server.page(cookie, "/protection")


def test_levels_whose_order_nobody_knows_are_settled_by_a_button(server: Server) -> None:
    cookie = server.opened(survey(400))
    server.post(cookie, "/roles", role__4="keys 1", kind__4="ordinal")
    page = server.shows(cookie, "/protection", "does not say in which order")
    assert ">Run</button>" not in page
    assert 'name="kind.4" value="nominal"' in page
    assert 'name="role.4" value="drop"' in page
    server.post(cookie, "/protection", ordinal__4="north < east", then="protection")
    page = server.shows(cookie, "/protection", "not among its levels")
    assert 'name="kind.4" value="nominal"' in page
    server.post(cookie, "/protection", kind__4="nominal", then="protection")
    server.shows(cookie, "/protection", "This can be run:")
    server.post(cookie, "/suggestions", then="protection")
    server.shows(cookie, "/protection", "This can be run:")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/protection", {"k": "x" * 10_000, "only": "k"}),
        ("/protection", {"method": "<script>", "only": "method"}),
        ("/roles", {"role.99": "keys 1"}),
        ("/roles", {"role.x": "keys 1", "role.": "", "missing_codes.-1": "9"}),
        ("/roles", {"role.0": "no such role", "only": "1"}),
        ("/protection", {"__class__": "1", "role.nowhere": "drop", "x": "y"}),
        ("/compare", {"k": "a", "methods": "", "max_risk": "nan"}),
        ("/protection", {}),
        ("/protection", {"then": "run", "k": "1"}),
        ("/show", {"release": "nowhere"}),
        ("/example", {"name": "../../etc/passwd"}),
        ("/reread", {"delimiter": "too long", "header_row": "-3"}),
        ("/stop", {}), ("/discard", {}), ("/prove", {}), ("/cancel", {}),
        ("/suggestions", {"then": "//evil"}),
    ],
)  # fmt: skip
def test_a_malformed_form_hurts_nobody(server: Server, path: str, fields: dict[str, str]) -> None:
    cookie = server.opened(survey(30))
    status, place = server.post(cookie, path, **fields)
    assert status == 303
    assert place.startswith("/")
    assert not place.startswith("//")
    for step in ("/data", "/roles", "/protection", "/run"):
        assert server.get(step, cookie)[0] in (200, 303)
    server.post(cookie, "/cancel")
    server.post(cookie, "/suggestions")
    assert server.get("/roles", cookie)[0] == 200


def test_bytes_that_are_no_form_are_refused(server: Server) -> None:
    cookie = server.enter()
    form = {"origin": server.address, "content-type": "application/x-www-form-urlencoded"}
    for path, headers, body in (
        ("/roles", form, b"\xff\xfe=%zz"),
        ("/data", form, b"file=x"),
        ("/data", {**form, "content-type": "multipart/form-data"}, b"--x"),
        ("/data", {**form, "content-type": "multipart/form-data; boundary=x"}, b"nothing of the kind"),
        ("/data", {**form, "content-type": "multipart/form-data; boundary=x"}, b"--x--\r\n"),
    ):
        status, answered, _ = server.request("POST", path, cookie, headers, body)
        assert status == 303
        assert "notice=" in answered["location"]
    assert not [path for folder in server.folders for path in folder.rglob("x")]


def test_an_ended_session_shows_nothing_in_other_tabs(server: Server) -> None:
    cookie = server.released(survey(60))
    assert "Not downloaded yet:" in server.page(cookie, "/end")
    status, _, page = server.request("POST", "/end", cookie, {"origin": server.address})
    assert status == 200
    assert "The session has ended" in page
    for path in ("/data", "/result", "/hand-over", "/get/protected", "/events"):
        assert server.get(path, cookie)[0] == 403
    again = re.search(r'href="(/\?token=[^"]+)"', page)
    assert again is not None
    status, headers, _ = server.get(again[1])
    assert status == 200
    fresh = headers["set-cookie"].split(";")[0]
    assert "Choose the file to protect" in server.page(fresh, "/data")
    assert server.get(again[1])[0] == 403


def test_numbers_stand_right_and_dates_have_no_time_of_day(server: Server) -> None:
    book = openpyxl.Workbook()
    book.active.append(["day", "name", "amount"])
    for at in range(20):
        book.active.append([pd.Timestamp("2022-06-16") + pd.Timedelta(days=at), f"n{at % 3}", at * 1.5])
    file = io.BytesIO()
    book.save(file)
    cookie = server.enter()
    server.upload(cookie, "book.xlsx", file.getvalue())
    page = server.shows(cookie, "/data", "First 8 records")
    assert "2022-06-16<" in page
    assert "00:00:00" not in page
    assert '<th scope="col" class="text">name</th><th scope="col">amount</th>' in page


def test_a_taken_strategy_can_be_run(server: Server) -> None:
    """Also where an option has no effect on its method."""
    cookie = server.opened(survey(60))
    server.post(cookie, "/protection", only="effort", effort="fast")
    assert server.post(cookie, "/protection", k="5", method="mdav") == (303, "/protection")
    page = server.shows(cookie, "/protection", "This can be run:", "Not like this:", "Not with these data:")
    assert "This can be run:" in page
    assert "Without effect, and left out: Effort" in page


def test_methods_that_do_the_same_at_every_effort_can_be_compared(server: Server) -> None:
    cookie = server.opened(survey(60))
    server.post(cookie, "/protection", only="effort", effort="fast")
    server.post(cookie, "/run")
    server.shows(cookie, "/run", "See the result")
    form = {"k": "3", "methods": "mdav", "max_risk": "0.5"}
    assert server.post(cookie, "/compare", **form) == (303, "/result/compare")
    assert "Recommended:" in server.shows(cookie, "/result/compare", "Recommended:", "Not compared:")


def test_progress_is_streamed(server: Server) -> None:
    import http.client

    cookie = server.opened(survey(60))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/events", headers={"cookie": cookie})
    answer = connection.getresponse()
    assert answer.getheader("content-type", "").startswith("text/event-stream")
    first = json.loads(answer.readline().removeprefix(b"data: "))
    server.post(cookie, "/protection", only="k", k="4")
    answer.readline()
    second = json.loads(answer.readline().removeprefix(b"data: "))
    assert second["version"] > first["version"]
    connection.close()


def wide(columns: int) -> str:
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(draw.normal(50, 10, (80, columns)).round(2))
    frame.columns = [f"a_rather_long_name_{at}" for at in range(columns)]
    return frame.to_csv(index=False)


def test_a_verdict_on_many_columns_is_short(server: Server) -> None:
    cookie = server.opened(wide(40))
    server.post(cookie, "/protection", then="run", k=3, method="mdav")
    page = server.shows(cookie, "/run", "See the result")
    assert "every combination of" in page
    eventually(lambda: len(server.page(cookie, "/result")) < 60_000)


def test_a_mean_that_moved_with_values_set_to_missing_is_not_called_kept(server: Server) -> None:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"age": draw.integers(18, 90, 80), "cost": draw.gamma(3, 900, 80).round(1)})
    frame["bmi"] = draw.normal(25, 4, 80).round(1)
    frame.loc[:19, ["cost", "bmi"]] = np.nan
    frame.loc[20, "cost"] = np.nan  # nobody else lacks the cost alone
    frame.loc[20, "bmi"] = 60.0
    cookie = server.opened(frame.to_csv(index=False))
    for at in range(3):
        server.post(cookie, "/roles", **{f"role.{at}": "keys 1"})
    server.post(cookie, "/protection", then="run", k=3, missing="by-pattern", method="mdav")
    page = server.shows(cookie, "/run", "See the result")
    assert "1 value set to missing" in page
    masked = pd.read_csv(io.StringIO(server.page(cookie, "/get/protected")))
    assert masked["bmi"].notna().sum() == frame["bmi"].notna().sum() - 1
    assert abs(masked["bmi"].mean() / frame["bmi"].mean() - 1) > 0.001
    printed = html.unescape(server.page(cookie, "/hand-over"))
    report = html.unescape(server.page(cookie, "/result/verdict"))
    for kept in (*re.findall(r"means kept.*?:(.*)", printed), *re.findall(r"Kept: (.*?)\.</p>", report)):
        assert "bmi" not in kept
    assert re.search(r"bmi +.* with the 1 set to missing the column's mean is [\d.]+ % lower", printed)


def test_a_text_file_with_the_ending_of_a_workbook_is_read_by_a_button(server: Server) -> None:
    cookie = server.enter()
    server.upload(cookie, "people.xlsx", survey(30).encode())
    page = server.shows(cookie, "/data", "people.xlsx cannot be used as it is")
    assert 'name="ending" value=".csv"' in page
    assert server.post(cookie, "/reread", ending=".csv") == (303, "/data")
    assert "people.csv" in server.shows(cookie, "/data", "First 8 records")


@pytest.mark.parametrize("name", ["empty.csv", "empty.xlsx", "empty.parquet", "empty.dta"])
def test_an_empty_file_is_refused_and_what_was_there_stays(server: Server, name: str) -> None:
    cookie = server.opened(survey(30))
    server.post(cookie, "/roles", role__1="drop")
    server.upload(cookie, name, b"")
    page = server.shows(cookie, "/data", f"{name} cannot be used as it is")
    assert "no records" in page
    assert "Go on with data.csv" in page
    server.post(cookie, "/cancel")
    assert "First 8 records" in server.page(cookie, "/data")
    assert tomllib.loads(server.page(cookie, "/get/settings"))["drop"] == ["size"]


def test_columns_that_can_have_no_categories_do_not_stop_the_others(server: Server) -> None:
    table = pa.table(
        {"age": [at % 9 for at in range(30)], "rent": [1.5 * at for at in range(30)], "pair": [[1, 2]] * 30}
    )
    file = io.BytesIO()
    parquet.write_table(table, file)
    cookie = server.enter()
    server.upload(cookie, "people.parquet", file.getvalue())
    server.shows(cookie, "/data", "First 8 records")
    server.shows(cookie, "/protection", "This can be run:")


@pytest.mark.parametrize("records", [1, 2])
def test_a_file_of_too_few_records_is_refused_without_a_button_that_cannot_help(
    server: Server, records: int
) -> None:
    cookie = server.enter()
    server.upload(cookie, "few.csv", "\n".join(["a,b", *["1,2"] * records]).encode())
    page = server.shows(cookie, "/data", "few.csv cannot be used as it is")
    assert "Give at least 3 records" in page
    assert "/protection" not in page.split("<main")[1]


def test_suggested_roles_that_protect_nothing_are_no_way_out(server: Server) -> None:
    cookie = server.opened("\n".join(["a,b", *["1,1"] * 30]))
    assert "No roles that protect this file were found." in server.page(cookie, "/roles")
    assert "Nothing in this file can be masked" in server.page(cookie, "/roles")
    page = server.page(cookie, "/protection")
    assert "No column is named to be masked" in page
    assert "Take the suggested roles" not in page


def test_roles_says_how_many_records_the_keys_make_unique(server: Server) -> None:
    rows = [f"{at},{at % 10}" for at in range(40)]
    cookie = server.opened("\n".join(["income,size", *rows]))
    for column, role in enumerate(("keys 1", "keys 1")):
        server.post(cookie, "/roles", **{f"role.{column}": role})
    assert "40 of 40 records" in server.shows(cookie, "/roles", "unique now.")
    server.post(cookie, "/roles", role__0="drop")
    assert "0 of 40 records" in server.shows(cookie, "/roles", "This column makes")


def test_settings_that_cannot_be_used_cannot_be_saved_but_say_why(server: Server) -> None:
    cookie = server.opened(survey(30))
    server.post(cookie, "/protection", k="many")
    status, headers, _ = server.get("/get/settings", cookie)
    assert status == 303
    assert "must be a whole number" in server.page(cookie, headers["location"])


def test_a_method_that_does_not_exist_leads_to_the_list_of_methods(server: Server) -> None:
    cookie = server.opened(survey(30))
    server.post(cookie, "/protection", recipe="nonsense")
    page = html.unescape(server.page(cookie, "/protection"))
    assert "“Method” lists all of them" in page
    assert "microagg methods" not in page


def test_levels_without_an_order_are_settled_by_a_button(server: Server) -> None:
    towns = ("Ulm", "Gera", "Brig")
    rows = [f"{at % 40},{towns[at % 3]}" for at in range(120)]
    cookie = server.opened("\n".join(["age,town", *rows]))
    server.post(cookie, "/roles", role__0="keys 1", role__1="keys 1", kind__1="ordinal")
    settled = ('name="kind.1" value="nominal"', 'name="role.1" value="drop"')
    page = server.shows(cookie, "/protection", "the file does not say in which order")
    assert all(button in page for button in settled)
    server.post(cookie, "/roles", ordinal__1="Ulm < Gera")
    page = server.shows(cookie, "/protection", "not among its levels")
    assert settled[0] in page
    server.post(cookie, "/protection", kind__1="nominal", then="protection")
    server.shows(cookie, "/protection", "This can be run:")


def test_files_of_the_pages_are_asked_for_once(server: Server) -> None:
    cookie = server.enter()
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', server.page(cookie, "/data")):
        assert "?" in address  # another one when the file is another
        assert "max-age" in server.get(address, cookie)[1]["cache-control"]
