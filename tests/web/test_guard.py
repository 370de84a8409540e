"""Who comes in: links that work once, cookies, names, origins; and what can be asked for then."""

from __future__ import annotations

import stat
from urllib.parse import urlsplit

import pytest

from tests.web.serving import Server, eventually, multipart, survey


def test_nothing_is_served_without_a_link(server: Server) -> None:
    for path in (
        "/",
        "/data",
        "/roles",
        "/result/risk",
        "/static/app.js",
        "/get/protected",
        "/events",
        "/end",
    ):
        status, headers, text = server.get(path)
        assert status == 403
        assert "Open the newest link" in text
        assert "set-cookie" not in headers


def test_a_wrong_token_is_refused(server: Server) -> None:
    for token in ("", "x", "x" * 32, "%00", server.link()[:-1].split("=")[1]):
        assert server.get(f"/?token={token}")[0] == 403


def test_a_link_lets_one_browser_in_and_the_next_is_printed(server: Server) -> None:
    used = server.link(len(server.links) - 1)
    status, headers, _ = server.get(f"/?{urlsplit(used).query}")
    assert status == 200
    cookie = headers["set-cookie"]
    for part in ("httponly", "samesite=strict", "path=/"):
        assert part in cookie.lower()
    assert server.get(f"/?{urlsplit(used).query}")[0] == 403
    assert server.get("/data", cookie.split(";")[0])[0] == 200
    newest = eventually(lambda: server.links[-1] if server.links[-1] != used else None)
    assert server.get(f"/?{urlsplit(newest).query}")[0] == 200


def test_a_cookie_must_be_one_of_this_server(server: Server) -> None:
    name = server.enter().split("=")[0]
    assert server.get("/", f"{name}=guessed")[0] == 403


@pytest.mark.parametrize("other", ['a={"x": 1}', "x=a b", "flag", "a[0]=1", "a/b=1", "a@b=1"])
def test_cookies_of_other_programs_do_not_matter(server: Server, other: str) -> None:
    assert server.get("/data", f"{other}; {server.enter()}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.nip.io:1", ""])
def test_other_names_are_refused(server: Server, host: str) -> None:
    cookie = server.enter()
    assert server.get("/data", cookie, host=host)[0] == 421


def test_this_machine_is_known_by_its_names(server: Server) -> None:
    cookie = server.enter()
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert server.get("/data", cookie, host=f"{host}:{server.port}")[0] == 200


def test_a_page_says_that_nothing_else_may_be_loaded(server: Server) -> None:
    _, headers, text = server.get("/data", server.enter())
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src")
    assert "form-action 'self'" in policy
    assert "unsafe-eval" not in policy
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert "http" not in text.replace("http-equiv", "")


def test_there_are_no_websockets(server: Server) -> None:
    headers = {"upgrade": "websocket", "connection": "Upgrade", "origin": server.address}
    headers |= {"sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
    for path in ("/", "/websocket"):
        assert server.request("GET", path, server.enter(), headers)[0] in (303, 400, 404)
    assert server.request("GET", "/events", None, headers)[0] == 403


FORMS = (
    "/data",
    "/open",
    "/roles",
    "/protection",
    "/run",
    "/suggestions",
    "/compare",
    "/end",
    "/plan",
    "/show",
)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "null", "https://evil.example", None]
)
def test_other_sites_can_send_no_form(server: Server, origin: str | None) -> None:
    cookie = server.enter()
    headers = {} if origin is None else {"origin": origin}
    for path in FORMS:
        assert server.request("POST", path, cookie, headers, b"k=2")[0] == 403
    assert server.get("/data", cookie)[0] == 200


def test_other_sites_cannot_listen(server: Server) -> None:
    assert server.get("/events", server.enter(), origin="http://evil.example")[0] == 403
    assert server.get("/events")[0] == 403


def test_other_sites_cannot_upload(server: Server) -> None:
    cookie = server.enter()
    headers, body = multipart("a.csv", b"a\n1\n")
    for origin in ({"origin": "http://evil.example"}, {"origin": "null"}, {}):
        assert server.request("POST", "/data", cookie, {**headers, **origin}, body)[0] == 403


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../../escaped.csv", "escaped.csv"),
        ("/etc/passwd.csv", "passwd.csv"),
        ("..\\..\\escaped.csv", "escaped.csv"),
        ("-rf.csv", "rf.csv"),
        (".hidden.csv", "hidden.csv"),
        ("bell\x07null\x00.csv", "bell_null_.csv"),
        ("~home.csv", "home.csv"),
        ("turned\u202evsc.csv", "turned_vsc.csv"),
        (f"{'long' * 100}.csv", f"{'long' * 29}.csv"),
    ],
)
def test_names_stay_inside_the_private_folder(server: Server, name: str, kept: str) -> None:
    before = set(server.temporary.rglob("*"))
    cookie = server.enter()
    assert server.upload(cookie, name, survey(20).encode()) == (303, "/data")
    server.shows(cookie, "/data", "First 8 records")
    sent = [path for path in server.temporary.rglob("*.csv") if path not in before]
    assert [path.name for path in sent] == [kept]
    new = [path for path in server.temporary.rglob("*") if path not in before and path.is_file()]
    assert all(path.is_relative_to(sent[0].parent.parent) for path in new)
    for folder in (sent[0].parent, sent[0].parent.parent, sent[0].parent.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sent[0].parent.parent.parent.name.startswith("microagg-serve-")


def test_a_format_that_is_not_known_is_refused(server: Server) -> None:
    cookie = server.enter()
    status, place = server.upload(cookie, "program.exe", b"MZ")
    assert status == 303
    assert "must end in one of .csv" in server.page(cookie, place)


@pytest.mark.parametrize(
    "path",
    ["/get/..%2f..%2fetc%2fpasswd", "/get/protected", "/get/plan", "/static/..%2fapp.py", "/static/app.py",
     "/get/internal-report", "/static/../../routes.py", "/nowhere", "/result/..%2fx", "/data/x",
     "/static/page.html", "/get/%2e%2e%2frelease.pickle", "/get/settings%00"],
)  # fmt: skip
def test_there_is_nothing_to_be_had_before_a_release(server: Server, path: str) -> None:
    assert server.get(path, server.enter())[0] == 404


def test_one_session_cannot_see_the_files_of_another(server: Server) -> None:
    one, other = server.enter(), server.enter()
    assert one != other
    assert server.upload(one, "mine.csv", survey(20).encode())[0] == 303
    assert "mine.csv" not in server.get("/data", other)[2]
