"""Who is let in over HTTP, and by which names the server may be called."""

import socket
from pathlib import Path

import pytest

from pisces.errors import InvalidCall
from pisces.mcp.http.endpoint import Endpoint, Listening
from pisces.mcp.http.guard import LARGEST_BODY, Guard, Head
from pisces.mcp.http.token import TOKEN_VARIABLE, Token, find_token

SECRET = "a-secret-of-some-length"
NAMES = ("127.0.0.1:8787", "localhost:8787", "[::1]:8787")


def head(method: str = "POST", path: str = "/mcp", **headers: str | list[str] | None) -> Head:
    """One that is let in, but for what the test changes; a list is a header that is there more than once."""
    usual = {"host": "127.0.0.1:8787", "authorization": f"Bearer {SECRET}", "content-type": "application/json"}
    wanted = {**usual, **{name.replace("_", "-"): value for name, value in headers.items()}}
    pairs = []
    for name, value in wanted.items():
        pairs += [(name, each) for each in (value if isinstance(value, list) else [value]) if each is not None]
    return Head(method, path, tuple(pairs))


def status(asked: Head) -> int | None:
    refusal = Guard(NAMES, Token(SECRET, "the test")).refusal(asked)
    return None if refusal is None else refusal.status


@pytest.mark.parametrize("host", [*NAMES, "LocalHost:8787"])
@pytest.mark.parametrize("origin", [None, "http://127.0.0.1:8787", "http://localhost:8787"])
def test_whoever_knows_the_name_and_the_token_is_let_in(host: str, origin: str | None) -> None:
    assert status(head(host=host, origin=origin)) is None


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.:8787",
        "rebind.test:8787",
        "127.0.0.1.rebind.test:8787",
        "127.0.0.1:8787.rebind.test",
        "user@127.0.0.1:8787",
        "[::1]",
        ["127.0.0.1:8787", "rebind.test:8787"],
        ["rebind.test:8787", "127.0.0.1:8787"],
    ],
    ids=str,
)
def test_a_request_by_another_name_is_refused_though_it_has_the_token(host: str | list[str] | None) -> None:
    assert status(head(host=host)) == 403


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://rebind.test:8787",
        "http://127.0.0.1",
        "http://127.0.0.1:3000",
        "http://localhost:8788",
        "http://127.0.0.1:8787.rebind.test",
        "file://",
        "chrome-extension://abcdefghijklmnop",
        ["http://127.0.0.1:8787", "http://rebind.test"],
    ],
    ids=str,
)
def test_a_web_page_is_refused_though_it_has_the_token(origin: str | list[str]) -> None:
    assert status(head(origin=origin)) == 403


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {SECRET}x",
        f"Bearer {SECRET[:-1]}",
        f"Bearer {SECRET.upper()}",
        f"Basic {SECRET}",
        SECRET,
        "Bearer \u00e9" + SECRET,
        [f"Bearer {SECRET}", "Bearer other"],
    ],
    ids=repr,
)
def test_without_the_token_nobody_is_let_in(authorization: str | list[str] | None) -> None:
    guard = Guard(NAMES, Token(SECRET, "the test"))
    refusal = guard.refusal(head(authorization=authorization, path="/nowhere"))
    assert refusal is not None
    assert (refusal.status, refusal.text, refusal.headers) == (401, "", (("WWW-Authenticate", "Bearer"),))


def test_names_are_judged_before_the_token() -> None:
    assert status(head(host="rebind.test:8787", authorization=None)) == 403
    assert status(head(origin="null", authorization=None)) == 403


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (head(path="/"), 404),
        (head(path="/mcp/"), 404),
        (head(method="OPTIONS"), 405),
        (head(method="HEAD"), 405),
        (head(method="PUT"), 405),
        (head(content_type=None), 415),
        (head(content_type="text/plain"), 415),
        (head(content_type="text/plain; application/json"), 415),
        (head(content_type=["application/json", "text/plain"]), 415),
        (head(content_type="application/json; charset=utf-8"), None),
        (head(content_length=str(LARGEST_BODY)), None),
        (head(content_length=str(LARGEST_BODY + 1)), 413),
        (head(method="GET", content_type=None), None),
        (head(method="DELETE", content_type=None), None),
    ],
)
def test_what_is_asked_for_has_to_be_there(asked: Head, answer: int | None) -> None:
    assert status(asked) == answer


def test_nothing_allows_a_page_anything() -> None:
    guard = Guard(NAMES, Token(SECRET, "the test"))
    for asked in (head(method="OPTIONS"), head(origin="null"), head(authorization=None)):
        refusal = guard.refusal(asked)
        assert refusal is not None
        assert not [name for name, _ in refusal.headers if name.lower().startswith("access-control")]


def listening(**wanted: str | tuple[str, ...]) -> Listening:
    found = Endpoint(token=Token(SECRET, "the test"), port=0, **wanted).listen()  # type: ignore[arg-type]  # by name
    found.close()
    return found


def test_on_this_machine_the_names_are_those_of_this_machine() -> None:
    found = listening()
    assert found.is_local
    assert found.names == {f"{name}:{found.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    assert found.url == f"http://127.0.0.1:{found.port}/mcp"


def test_beyond_this_machine_further_names_have_to_be_given() -> None:
    found = listening(host="0.0.0.0", further_names=("Box.example", "proxy.example:443"))
    assert not found.is_local
    assert {"box.example", f"box.example:{found.port}", "proxy.example:443"} <= found.names
    assert f"127.0.0.1:{found.port}" in found.names
    assert f"0.0.0.0:{found.port}" not in found.names


@pytest.mark.parametrize("name", ["http://box.example/mcp", "*", "", "box example", "2001:db8::1", "box:", "@box"])
def test_a_further_name_that_no_request_can_have_is_refused(name: str) -> None:
    with pytest.raises(InvalidCall, match="No request can call this server"):
        listening(further_names=("box.example:443", "[2001:db8::1]:8787", name))


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("host", "here"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("[::1]", "[::1]")])
def test_the_address_that_is_shown_is_one_of_its_names(host: str, here: str) -> None:
    if ":" in host and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    found = listening(host=host)
    assert found.url == f"http://{here}:{found.port}/mcp"
    assert f"{here}:{found.port}" in found.names


def test_an_address_of_another_machine_is_said_with_the_remedy() -> None:
    with pytest.raises(InvalidCall, match=r"of 192\.0\.2\.1") as refused:  # It is for examples, and nobody's.
        listening(host="192.0.2.1")
    assert "--host" in refused.value.hint
    assert "--port" not in refused.value.hint


def test_a_port_that_is_taken_is_said_with_the_remedy() -> None:
    first = Endpoint(token=Token(SECRET, "the test"), port=0).listen()
    try:
        with pytest.raises(InvalidCall, match=f"port {first.port} of 127.0.0.1") as refused:
            Endpoint(token=Token(SECRET, "the test"), port=first.port).listen()
    finally:
        first.close()
    assert "--port 0" in refused.value.hint


def test_a_name_that_leads_nowhere_is_said() -> None:
    with pytest.raises(InvalidCall, match="no address of the name 'no such host'"):
        listening(host="no such host")


def test_the_token_of_the_file_goes_before_that_of_the_variable(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    environ = {TOKEN_VARIABLE: "another-secret-of-length"}
    assert find_token(str(file), environ).value == SECRET
    assert environ == {}


def test_the_mark_and_the_line_ends_that_editors_write_are_not_of_the_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"\xef\xbb\xbf" + SECRET.encode() + b"\r\n")
    assert find_token(str(file), {}).value == SECRET


def test_the_variable_is_taken_out_of_the_environment() -> None:
    environ = {TOKEN_VARIABLE: SECRET, "PATH": "/bin"}
    assert find_token(None, environ).value == SECRET
    assert environ == {"PATH": "/bin"}


def test_each_made_token_is_another_and_cannot_be_guessed() -> None:
    first, second = find_token(None, {}), find_token(None, {})
    assert first.value != second.value
    assert len(first.value) >= 43


@pytest.mark.parametrize("value", ["", "short", "with a blank in the middle", "l" * 1025, "é" * 20], ids=len)
def test_a_token_that_cannot_be_used_is_refused_and_not_shown(value: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(value, encoding="utf-8")
    with pytest.raises(InvalidCall) as refused:
        find_token(str(file), {})
    assert not value or value not in refused.value.explain()


def test_a_token_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match="No such file"):
        find_token(str(tmp_path / "none"), {})


def test_a_token_does_not_show_itself() -> None:
    assert SECRET not in f"{Token(SECRET, 'a file')!r} {Endpoint(token=Token(SECRET, 'a file'))}"
