"""The tools of the host as a cell has them, against a bridge on a real socket."""

import asyncio
import json
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from pisces.bridge.lease import Lease
from pisces.bridge.wire import Answer, Picture
from pisces.guest.prelude import host_connections, names, running, status
from pisces.guest.prelude.host_tools import HostText, HostTool, ToolError, ToolsUnreachable
from tests.fakes.bridges import Bridged, ScriptedTools, bridged, free_port
from tests.fakes.drive import PATIENCE, eventually

VARIABLES = ("PI_TOOL_BRIDGE_URL", "PI_TOOL_BRIDGE_TOKEN", "PI_TOOL_BRIDGE_SESSION", "PI_TOOL_BRIDGE_ERROR")


class RichTools(ScriptedTools):
    """Tools that answer in every way there is."""

    async def call(self, name: str, args: Mapping[str, Any], lease: Lease, abort: anyio.Event) -> Answer:
        if name == "text":
            return Answer(value="the text", details={"lines": 1})
        if name == "picture":
            return Answer(value="a picture", images=[Picture("image/png", "aGk=")], details=None)
        if name == "fail":
            return Answer(error="It went wrong", details={"exit": 3})
        return await super().call(name, args, lease, abort)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield
    host_connections._own.close_idle()


@pytest.fixture
async def host(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bridged]:
    async with bridged() as there:
        for name, value in there.variables.items():
            monkeypatch.setenv(name, value)
        there.tools = RichTools()
        there.open()
        yield there


async def in_thread(function: Callable[[], Any]) -> Any:
    with anyio.fail_after(PATIENCE):
        return await to_thread.run_sync(function, abandon_on_cancel=True)


async def test_a_text_has_details_and_is_a_text(host: Bridged) -> None:
    text = await in_thread(HostTool("text"))
    assert isinstance(text, HostText)
    assert (text, text.upper(), text.details) == ("the text", "THE TEXT", {"lines": 1})


@pytest.mark.parametrize("value", [None, True, 1.5, "a text", [1, {"a": None}], {}])
async def test_a_value_comes_back_as_it_is(host: Bridged, value: Any) -> None:
    returned = await in_thread(lambda: HostTool("echo")(x=value))
    assert returned == {"x": value}
    assert not isinstance(returned["x"], HostText)


async def test_pictures_are_shown_in_the_cell(host: Bridged) -> None:
    shown: list[dict[str, Any]] = []
    before = list(status._publishers)
    status.publish_with(shown.append)
    try:
        assert await in_thread(HostTool("picture")) == "a picture"
    finally:
        status._publishers[:] = before
    assert shown[0] == {"image/png": "aGk="}


async def test_each_call_is_told_once(host: Bridged, events: list[dict[str, Any]]) -> None:
    await in_thread(HostTool("text"))
    with pytest.raises(ToolError):
        await in_thread(HostTool("fail"))
    assert [{name: event[name] for name in event if name != "ms"} for event in events] == [
        {"op": "tool", "name": "text", "ok": True},
        {"op": "tool", "name": "fail", "ok": False, "error": "ToolError: fail: It went wrong"},
    ]
    assert all(event["ms"] >= 0 for event in events)


async def test_what_fails_says_which_tool_it_was(host: Bridged) -> None:
    with pytest.raises(ToolError, match=r"^fail: It went wrong$") as caught:
        await in_thread(HostTool("fail"))
    assert caught.value.details == {"exit": 3}


async def test_arguments_are_given_by_name(host: Bridged) -> None:
    with pytest.raises(TypeError, match=r"^echo: tools take arguments by name only"):
        HostTool("echo")("x")
    with pytest.raises(TypeError, match=r"^a tool is known by its name, not by 3"):
        HostTool(3)  # type: ignore[arg-type]  # What a cell may do all the same.


@pytest.mark.parametrize("value", [object(), float("nan"), b"bytes", {1, 2}])
async def test_what_is_no_json_is_refused_before_it_is_sent(host: Bridged, value: Any) -> None:
    with pytest.raises(TypeError, match=r"^echo: the arguments cannot be sent as JSON"):
        await in_thread(lambda: HostTool("echo")(x=value))
    assert host.tools.called == []


async def test_a_path_is_sent_as_its_text(host: Bridged) -> None:
    assert await in_thread(lambda: HostTool("echo")(path=Path("/a/b"))) == {"path": "/a/b"}


async def test_the_tools_are_listed(host: Bridged) -> None:
    assert await in_thread(lambda: dir(names.tool)) == ["echo", "wait"]
    assert repr(names.tool["a-b"]) == "tool['a-b']"


async def test_a_proxy_is_not_asked(host: Bridged, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert await in_thread(HostTool("echo")) == {}


async def test_a_cell_says_which_it_is(host: Bridged) -> None:
    before = list(running._known_by)
    running.known_by(lambda: "7")
    try:
        host.open("7")
        assert await in_thread(HostTool("echo")) == {}
        host.open("8")
        with pytest.raises(ToolError, match=r"^echo: The cell that made this call has finished"):
            await in_thread(HostTool("echo"))
    finally:
        running._known_by[:] = before


def test_without_a_way_to_the_host_it_is_said_what_to_do(events: list[dict[str, Any]]) -> None:
    with pytest.raises(ToolsUnreachable, match=r"^read: this kernel knows no way .* the setting bridge\.url$"):
        HostTool("read")(path="a")
    assert dir(names.tool) == []
    (event,) = events
    assert (event["name"], event["ok"]) == ("read", False)
    assert "bridge.url" in event["error"]


def test_a_host_that_could_not_listen_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_TOOL_BRIDGE_ERROR", "the host cannot listen")
    with pytest.raises(ToolsUnreachable, match=r"^read: the host cannot listen$"):
        HostTool("read")(path="a")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:{port}", "no host answers at"),
        ("nonsense", "is no address of a host"),
        ("http://127.0.0.1:{port}x", "failed"),
    ],
)
def test_a_host_that_is_not_there_is_named(url: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES[1:3]:
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PI_TOOL_BRIDGE_URL", url.format(port=free_port()))
    with pytest.raises(ToolsUnreachable, match=why):
        HostTool("read")(path="a")


async def test_a_kernel_that_the_host_does_not_know_is_told_so(host: Bridged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_TOOL_BRIDGE_TOKEN", "stale")
    with pytest.raises(ToolsUnreachable, match=r"^echo: the host refused the call: The token is missing or wrong"):
        await in_thread(HostTool("echo"))


class _Strange(BaseHTTPRequestHandler):
    """Something else that listens where the host should."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>")

    def log_message(self, *args: object) -> None:
        pass


def test_what_is_no_host_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES[1:3]:
        monkeypatch.setenv(name, "x")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Strange) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv("PI_TOOL_BRIDGE_URL", f"http://127.0.0.1:{server.server_port}")
        try:
            with pytest.raises(ToolsUnreachable, match=r"is no host of this kernel \(status 200\)"):
                HostTool("read")(path="a")
        finally:
            server.shutdown()


async def test_one_process_has_sixteen_connections_and_more_callers_wait(host: Bridged) -> None:
    values: list[Any] = []
    threads = [threading.Thread(target=lambda: values.append(HostTool("wait")(x=1))) for _ in range(40)]
    for thread in threads:
        thread.start()
    await eventually(lambda: host.tools.under_way == host_connections.MOST)
    host.tools.let_go.set()
    for thread in threads:
        await in_thread(thread.join)
    assert values == [{"x": 1}] * 40
    assert host.tools.most_at_once == host_connections.MOST


async def test_connections_are_used_again_and_closed_when_the_cell_has_ended(host: Bridged) -> None:
    await in_thread(lambda: [HostTool("echo")() for _ in range(5)])
    own = host_connections._own.connections
    assert own is not None
    (idle,) = own._idle
    running.ended()
    assert (own._idle, idle[0].sock) == ([], None)
    assert await in_thread(HostTool("echo")) == {}


async def test_the_timeout_of_a_cells_sockets_does_not_end_a_call(host: Bridged) -> None:
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        await in_thread(HostTool("echo"))
    finally:
        socket.setdefaulttimeout(before)
    own = host_connections._own.connections
    assert own is not None
    assert own._idle[0][0].sock.gettimeout() is None


async def test_a_connection_that_nobody_used_for_long_is_not_trusted(
    host: Bridged, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_thread(HostTool("echo"))
    own = host_connections._own.connections
    assert own is not None
    connection, since = own._idle[0]
    own._idle[0] = (connection, since - 3600)
    assert await in_thread(HostTool("echo")) == {}
    assert connection.sock is None


def seen_in_a_fork(own: host_connections.Connections) -> list[bool]:
    """Whether a forked process has no connections, a lock that is free, and has closed its copy of its parent's."""
    reading, writing = os.pipe()
    (idle,) = own._idle
    pid = os.fork()
    if pid == 0:
        try:
            state = [host_connections._own.connections is None, not host_connections._own.lock.locked()]
            os.write(writing, json.dumps([*state, idle[0].sock is None]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    with open(reading, "rb") as file:
        seen: list[bool] = json.loads(file.read())
        return seen


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
async def test_a_forked_process_has_connections_of_its_own(host: Bridged) -> None:
    await in_thread(HostTool("echo"))
    own = host_connections._own.connections
    assert own is not None
    assert await in_thread(partial(seen_in_a_fork, own)) == [True, True, True]
    assert await in_thread(HostTool("echo")) == {}


async def test_coroutines_call_side_by_side(host: Bridged) -> None:
    with anyio.fail_after(PATIENCE):
        values = await asyncio.gather(*(HostTool("echo").aio(n=n) for n in range(50)))
    assert values == [{"n": n} for n in range(50)]
    await eventually(lambda: not [thread for thread in threading.enumerate() if thread.name == "pisces-worker"])


async def test_a_coroutine_that_is_cancelled_stops_its_call(host: Bridged) -> None:
    task = asyncio.ensure_future(HostTool("wait").aio())
    await eventually(lambda: host.tools.under_way == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: host.tools.under_way == 0)
    assert host.tools.aborted == 1


async def test_a_call_that_is_given_up_while_it_connects_is_not_sent(host: Bridged) -> None:
    exchange = host_connections.Exchange("POST", "/v1/tool", host.caller.token, json.dumps(host.body()).encode())

    class Connecting(HTTPConnection):
        def connect(self) -> None:
            exchange.give_up()
            super().connect()

    connection = Connecting("127.0.0.1", host.port)
    try:
        with pytest.raises(ConnectionAbortedError):
            await in_thread(partial(exchange.over, connection, ""))
    finally:
        connection.close()
    assert host.tools.called == []


async def test_a_call_whose_host_goes_away_says_that_it_is_not_known_what_became_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures: list[BaseException] = []

    def call() -> None:
        try:
            HostTool("wait")()
        except ToolsUnreachable as error:
            failures.append(error)

    async with bridged() as there:
        for name, value in there.variables.items():
            monkeypatch.setenv(name, value)
        there.open()
        thread = threading.Thread(target=call)
        thread.start()
        await eventually(lambda: there.tools.under_way == 1)
    await in_thread(thread.join)
    assert "Whether the tool was called is not known" in str(failures[0])


def test_a_tool_is_looked_for_when_it_is_called_not_before() -> None:
    assert callable(names.tool.anything)
    with pytest.raises(AttributeError):
        _ = names.tool._private
