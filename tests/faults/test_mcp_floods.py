"""A client of `pisces mcp` that sends too much, or what is no message: each request is answered once."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.fakes.drive import eventually
from tests.fakes.mcp_wire import EACH_ERA, Wire, text_of, wired
from tests.frontends.command import Command

MEGABYTE = 1 << 20
ROOM = 250 * MEGABYTE
"""More than the server needs for anything here, and less than it would if it kept what it is sent."""


@pytest.fixture(params=EACH_ERA)
def wire(request: pytest.FixtureRequest, plain_python: str, tmp_path: Path) -> Iterator[Wire]:
    """A client of each era, whose session has an `x`, and has it in the end."""
    with wired(Command(plain_python), "--cwd", str(tmp_path), era=request.param) as wire:
        wire.run("x = 'here'")
        yield wire
        assert text_of(wire.run("print(x)")) == "here"
        assert psutil.Process(wire.process.pid).memory_info().rss < ROOM
        wire.hang_up()
        assert wire.wait() == 0, wire.errors


@pytest.mark.heavy
async def test_each_of_2000_calls_at_once_is_answered_once(wire: Wire, tmp_path: Path) -> None:
    held = wire.python("import os\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): pass", number="held")
    await eventually((tmp_path / "begun").exists)
    sent = [wire.python("x", number=f"call {number}") for number in range(1999)]
    wire.until(lambda: len(refused(wire)) >= 1999 - 256)
    (tmp_path / "go").touch()
    results = [wire.result(number) for number in (held, *sent)]
    assert len(refused(wire)) == 2000 - 256
    assert {text_of(result) for result in refused(wire)} == {
        "Error: 256 calls are waiting already. Wait for some of them, then try again."
    }
    assert sum(not result["isError"] for result in results) == 256
    answers = Counter(each["id"] for each in wire.received if "id" in each and each["id"] != "init")
    assert set(answers.values()) == {1}
    assert len(answers) == 2001


def refused(wire: Wire) -> list[dict[str, object]]:
    """The results of calls that were refused."""
    return [each["result"] for each in list(wire.received) if each.get("result", {}).get("isError")]


def test_what_is_no_message_is_refused_by_its_id_and_harms_nobody(wire: Wire) -> None:
    before = len(wire.received)
    wire.send_bytes(b"".join(b"no message %d {[\n" % number for number in range(10_000)))
    for line in NO_MESSAGES:
        wire.send_bytes(line + b"\n")
    wire.run("x")
    answers = [each for each in wire.received[before:] if "error" in each]
    assert [(each["id"], each["error"]["code"]) for each in answers] == [
        ("together", -32600),
        (7, -32600),
        ("list", -32600),
        ("deep", -32600),
    ]
    assert {each["error"]["message"] for each in answers} == {"This is no message of the protocol"}
    assert wire.errors == ""


NO_MESSAGES = [
    b"",
    b"\r",
    b"null",
    b"{}",
    b"\xff\xfe\x00{}",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":"nobody asked","result":{}}',
    b'[{"jsonrpc":"2.0","id":"together","method":"ping"}]',
    b'{"jsonrpc":"1.0","id":7,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"list","method":"tools/call","params":[1]}',
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":"deep","method":"ping","params":' + b'{"a":' * 9_000 + b"1" + b"}" * 9_001,
]


def test_half_a_character_as_javascript_writes_it_is_read(wire: Wire) -> None:
    number = wire.python("ascii('\ud83d!')")
    assert text_of(wire.result(number)) == r'"' + r"'\\ufffd!'" + r'"'


def test_a_request_with_odd_parameters_or_a_huge_id_is_answered(wire: Wire) -> None:
    for number in ("x" * MEGABYTE, 10**30, -1, ""):
        assert wire.answer(wire.request("tools/list", number=number))["result"]["tools"]
    assert wire.answer(wire.request("no/such/method"))["error"]["code"] == -32601
    assert wire.answer(wire.request("tools/call", {"name": 7}))["error"]["code"] == -32602
    assert wire.answer(wire.call("python", "x"))["error"]["code"] == -32602


@pytest.mark.parametrize("last", [False, True], ids=["id-first", "id-last"])
def test_a_message_of_100_megabytes_is_refused_by_its_id(wire: Wire, last: bool) -> None:
    number, rest = '"id":"big"', '"method":"tools/call","params":{"text":"'
    begin = f"{{{rest}" if last else f'{{"jsonrpc":"2.0",{number},{rest}'
    end = f'"}},"jsonrpc":"2.0",{number}}}\n' if last else '"}}\n'
    wire.send_bytes(begin.encode())
    for _ in range(100):
        wire.send_bytes(b"x" * MEGABYTE)
    wire.send_bytes(end.encode())
    error = wire.answer("big")["error"]
    assert error == {"code": -32600, "message": "The message is longer than 64 MB: it was not read"}


@pytest.mark.heavy
def test_a_client_that_only_sends_is_not_read_for_ever(plain_python: str, tmp_path: Path) -> None:
    with wired(Command(plain_python), "--cwd", str(tmp_path), reading=False) as wire:
        assert wire.process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode() + b"\n"
        sent = wire.send_while_there_is_room(line * 100, at_most=1000)
        assert 0 < sent < 1000
        assert psutil.Process(wire.process.pid).memory_info().rss < ROOM


@pytest.mark.parametrize("method", ["tools/call", pytest.param("tools/list", marks=pytest.mark.heavy)])
def test_a_request_before_the_handshake_does_not_end_the_server(plain_python: str, tmp_path: Path, method: str) -> None:
    with wired(Command(plain_python), "--cwd", str(tmp_path), era="modern") as wire:
        params = {"name": "python", "arguments": {"code": "1"}}
        wire.send({"jsonrpc": "2.0", "id": "early", "method": method, "params": params})
        wire.era = "handshake"
        assert wire.answer("early")
        wire.shake_hands()
        assert text_of(wire.run("1 + 1")) == "2"
