"""Who comes in: links that work once, cookies, names, origins; and what can be asked for then."""

from __future__ import annotations

import socket
import stat
from urllib.parse import urlsplit

import pytest

from tests.web.serving import PATIENCE, Server, eventually, survey


def test_nothing_is_served_without_a_link(server: Server) -> None:
    for path in (
        "/",
        "/roles",
        "/static/app.js",
        "/get/protected",
        "/lib/jquery-3.6.0/jquery-3.6.0.min.js",
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
    for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
        assert part in cookie
    assert server.get(f"/?{urlsplit(used).query}")[0] == 403
    assert server.get("/", cookie.split(";")[0])[0] == 200
    newest = eventually(lambda: server.links[-1] if server.links[-1] != used else None)
    assert server.get(f"/?{urlsplit(newest).query}")[0] == 200


def test_a_cookie_must_be_one_of_this_server(server: Server) -> None:
    name = server.enter().split("=")[0]
    assert server.get("/", f"{name}=guessed")[0] == 403


@pytest.mark.parametrize("other", ['a={"x": 1}', "x=a b", "flag", "a[0]=1", "a/b=1", "a@b=1"])
def test_cookies_of_other_programs_do_not_matter(server: Server, other: str) -> None:
    assert server.get("/", f"{other}; {server.enter()}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.nip.io:1", ""])
def test_other_names_are_refused(server: Server, host: str) -> None:
    cookie = server.enter()
    assert server.get("/", cookie, host=host)[0] == 421


def test_this_machine_is_known_by_its_names(server: Server) -> None:
    cookie = server.enter()
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert server.get("/", cookie, host=f"{host}:{server.port}")[0] == 200


def test_a_page_says_that_nothing_else_may_be_loaded(server: Server) -> None:
    _, headers, text = server.get("/", server.enter())
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self' 'sha256-")
    assert "unsafe-eval" not in policy
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "http" not in text.replace("http-equiv", "")


def handshake(server: Server, cookie: str | None, origin: str | None) -> str:
    """The first line of the answer to a websocket that wants to be opened."""
    lines = [
        "GET /websocket/ HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Upgrade: websocket",
        "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]  # fmt: skip
    lines += [f"Cookie: {cookie}"] if cookie else []
    lines += [f"Origin: {origin}"] if origin else []
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return line.recv(1000).decode("latin-1").split("\r\n")[0]


def test_websockets_need_a_cookie_and_our_own_origin(server: Server) -> None:
    cookie, ours = server.enter(), f"http://127.0.0.1:{server.port}"
    assert " 101 " in handshake(server, cookie, ours)
    for bad in ("http://evil.example", "http://127.0.0.1:1", "null", "https://evil.example", None):
        assert " 403 " in handshake(server, cookie, bad)
    assert " 403 " in handshake(server, None, ours)


def test_other_sites_cannot_upload(server: Server) -> None:
    cookie = server.enter()
    for origin in ("http://evil.example", "null"):
        headers = {"origin": origin}
        assert server.request("POST", "/upload?name=a.csv", cookie, headers, b"a\n1\n")[0] == 403
    assert server.request("POST", "/upload?name=a.csv", cookie, {}, b"a\n1\n")[0] == 403


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("..%2F..%2F..%2Fescaped.csv", "escaped.csv"),
        ("%2Fetc%2Fpasswd.csv", "passwd.csv"),
        ("..%5C..%5Cescaped.csv", "escaped.csv"),
        ("-rf.csv", "rf.csv"),
        (".hidden.csv", "hidden.csv"),
        ("line%0Abreak%00.csv", "line_break_.csv"),
        (f"{'long' * 100}.csv", f"{'long' * 29}.csv"),
    ],
)
def test_names_stay_inside_the_private_folder(server: Server, name: str, kept: str) -> None:
    before = set(server.temporary.rglob("*"))
    cookie = server.enter()
    assert server.upload(cookie, name, survey(20).encode()) == (204, "")
    new = [path for path in server.temporary.rglob("*") if path not in before and path.is_file()]
    assert [path.name for path in new] == [kept]
    for folder in (new[0].parent, new[0].parent.parent, new[0].parent.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert new[0].parent.parent.parent.name.startswith("microagg-serve-")


def test_a_format_that_is_not_known_is_refused(server: Server) -> None:
    status, text = server.upload(server.enter(), "program.exe", b"MZ")
    assert status == 422
    assert "must end in one of .csv" in text


@pytest.mark.parametrize(
    "path",
    ["/get/..%2f..%2fetc%2fpasswd", "/get/protected", "/get/plan", "/static/..%2fapp.py", "/static/app.py",
     "/get/internal-report", "/lib/../../app.py", "/nowhere", "/session/x/download/y"],
)  # fmt: skip
def test_there_is_nothing_to_be_had_before_a_release(server: Server, path: str) -> None:
    assert server.get(path, server.enter())[0] == 404


def test_one_session_cannot_see_the_files_of_another(server: Server) -> None:
    one, other = server.enter(), server.enter()
    assert one != other
    assert server.upload(one, "mine.csv", survey(20).encode())[0] == 204
    assert "mine.csv" not in server.get("/data", other)[2]
