"""Who may ask, and what comes of what they ask: every byte over a real connection."""

import json
import logging
import math
import os
import resource
import socket
from contextlib import AsyncExitStack

import anyio
import pytest
from anyio.abc import SocketStream

from pisces.bridge import connection, server
from pisces.bridge.server import Bridge
from tests.fakes.bridges import Client, bridged, free_port, http
from tests.fakes.drive import PATIENCE, eventually


async def test_a_call_with_the_token_of_its_session_is_carried_out() -> None:
    async with bridged() as there:
        there.open()
        assert await there.call() == {"ok": True, "value": {"x": 1}}


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x", "Bearer {shorter}"],
)
async def test_a_call_without_the_right_token_is_refused(authorization: str | None) -> None:
    async with bridged() as there:
        there.open()
        token = there.caller.token
        given = authorization and authorization.format(token=token, shorter=token[:-1])
        status, answer = await there.ask(there.request(authorization=given))
        assert (status, answer["ok"]) == (403, False)
        assert "token" in answer["error"]
        assert there.tools.called == []


async def test_a_token_in_the_address_counts_for_nothing() -> None:
    async with bridged() as there:
        there.open()
        target, body = f"/v1/tool?token={there.caller.token}", json.dumps(there.body()).encode()
        assert (await there.ask(http("POST", target, there.headers(authorization=None), body)))[0] == 403
        assert there.tools.called == []


async def test_the_token_of_one_session_does_not_open_another() -> None:
    async with bridged() as there:
        there.open()
        other = there.bridge.admit()
        status, answer = await there.ask(there.request(authorization=f"Bearer {other.token}"))
        assert (status, answer["error"]) == (403, "The token is that of another session")
        assert there.tools.called == []


async def test_a_session_that_has_ended_has_no_token_any_more() -> None:
    async with bridged() as there:
        there.open()
        there.bridge.dismiss(there.caller)
        assert (await there.ask(there.request()))[0] == 403


@pytest.mark.parametrize(
    "host", ["localhost:{port}", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}"]
)
async def test_only_the_loopback_address_and_our_port_are_answered_to(host: str) -> None:
    async with bridged() as there:
        there.open()
        status, answer = await there.ask(there.request(host=host.format(port=there.port)))
        assert (status, answer["ok"]) == (403, False)
        assert there.tools.called == []


async def test_the_address_that_is_configured_is_answered_to() -> None:
    async with bridged(url="https://Host.example:8443/tools/") as there:
        there.open()
        assert (await there.ask(there.request(host="host.example:8443")))[0] == 200
        assert (await there.ask(there.request()))[0] == 200
        elsewhere = there.bridge.environment_elsewhere(there.caller)
        assert elsewhere == {**there.variables, "PI_TOOL_BRIDGE_URL": "https://Host.example:8443/tools"}


async def test_without_an_address_nobody_elsewhere_is_told_anything() -> None:
    async with bridged() as there:
        assert there.bridge.environment_elsewhere(there.caller) == {}


@pytest.mark.parametrize("origin", ["null", "http://127.0.0.1", "https://evil.example"])
async def test_a_web_page_is_refused_whatever_it_knows(origin: str) -> None:
    async with bridged() as there:
        there.open()
        status, answer = await there.ask(there.request(origin=origin))
        assert (status, answer["error"]) == (403, "Web pages may not call tools")
        assert there.tools.called == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"name": "echo", "args": {}}',
        b'{"session": "SESSION", "args": {}}',
        b'{"session": "SESSION", "name": 1}',
        b'{"session": "SESSION", "name": "echo", "args": [1]}',
        b'{"session": "SESSION", "name": "echo", "args": {"x": NaN}}',
        b'{"session": "SESSION", "name": "echo", "run": 1}',
        b'{"session": "SESSION", "name": "echo", "more": 1}',
        b'{"session": "SESSION", "name": "echo", "args": {"x": "\\ud800"}}',
        b"[" * 100_000,
    ],
    ids=range(14),
)
async def test_a_body_that_is_no_call_is_refused_and_the_connection_goes_on(body: bytes) -> None:
    async with bridged() as there:
        there.open()
        client = await there.connect()
        async with client.stream:
            await client.stream.send(there.request(body.replace(b"SESSION", there.caller.id.encode())))
            status, answer = await client.answer()
            assert status == 400
            assert answer["error"].startswith("The body is no call of a tool: ")
            await client.stream.send(there.request())
            assert await client.answer() == (200, {"ok": True, "value": {"x": 1}})


@pytest.mark.parametrize(
    ("method", "target"),
    [("GET", "/"), ("GET", "/v1/tool"), ("POST", "/v1/tools"), ("PUT", "/v1/tool"), ("POST", "/v1/tool/../tool")],
)
async def test_anything_else_is_not_there(method: str, target: str) -> None:
    async with bridged() as there:
        assert (await there.ask(http(method, target, there.headers())))[0] == 404


async def test_who_asks_for_the_head_alone_gets_that_and_leaves_no_error_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with bridged() as there:
        client = await there.connect()
        async with client.stream:
            await client.stream.send(http("HEAD", "/v1/tools", there.headers(authorization=None)))
            received = b""
            with anyio.fail_after(PATIENCE):
                async for piece in client.stream:
                    received += piece
        assert received.startswith(b"HTTP/1.1 404 ")
        assert received.endswith(b"\r\n\r\n")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("name", ["../x", "", "a/b", "\0", "__class__", "x" * 1000])
async def test_a_name_is_only_ever_looked_up(name: str) -> None:
    async with bridged() as there:
        there.open()
        assert await there.call(name) == {"ok": False, "error": f"There is no tool {name!r}"}


async def test_the_tools_are_listed_for_who_may_call_them() -> None:
    async with bridged() as there:
        assert await there.ask(http("GET", "/v1/tools", there.headers())) == (200, {"ok": True, "tools": {}})
        there.open()
        listed = {"ok": True, "tools": {"echo": "Says it again.", "wait": "Waits."}}
        assert await there.ask(http("GET", "/v1/tools", there.headers())) == (200, listed)
        assert (await there.ask(http("GET", "/v1/tools", there.headers(authorization=None))))[0] == 403


@pytest.mark.parametrize("how", ["told", "in pieces"])
async def test_a_body_that_is_too_large_is_refused(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LARGEST", 100_000)
    async with bridged() as there:
        there.open()
        body = json.dumps(there.body(args={"x": "y" * 300_000})).encode()
        headers: dict[str, str | None] = {}
        if how == "in pieces":
            headers = {"transfer-encoding": "chunked"}
            body = (
                b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:99_000], body[99_000:])) + b"0\r\n\r\n"
            )
        status, answer = await there.ask(there.request(body, **headers))
        assert (status, answer["error"]) == (413, "The body is larger than 100000 bytes")
        assert there.tools.called == []


async def test_what_is_large_but_allowed_goes_through_both_ways() -> None:
    async with bridged() as there:
        there.open()
        answer = await there.call(args={"x": "y" * 8_000_000})
        assert len(answer["value"]["x"]) == 8_000_000


@pytest.mark.parametrize("sent", [b"POST /v1/tool HT", b"POST /v1/tool HTTP/1.1\r\nhost: a\r\n"])
async def test_half_a_request_is_waited_for_only_for_a_while(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_FIRST_SECONDS", 0.1)
    async with bridged() as there:
        client = await there.connect()
        async with client.stream:
            await client.stream.send(sent)
            assert (await client.answer())[0] == 408
            assert await client.is_closed()


async def test_half_a_body_is_waited_for_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PIECE_SECONDS", 0.1)
    async with bridged() as there:
        client = await there.connect()
        async with client.stream:
            await client.stream.send(there.request()[:-3])
            assert (await client.answer())[0] == 408
            assert await client.is_closed()


async def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_FIRST_SECONDS", 0.1)
    async with bridged() as there:
        client = await there.connect()
        async with client.stream:
            assert await client.is_closed()


async def test_a_connection_that_says_nothing_more_is_closed_a_little_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_HEAD_SECONDS", 0.1)
    async with bridged() as there:
        there.open()
        client = await there.connect()
        async with client.stream:
            await client.stream.send(there.request())
            assert (await client.answer())[0] == 200
            assert await client.is_closed()


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"POST /v1/tool HTTP/1.1\r\n\r\n"]
)
async def test_what_is_no_http_is_answered_once(sent: bytes) -> None:
    async with bridged() as there:
        client = await there.connect()
        async with client.stream:
            await client.stream.send(sent)
            status, answer = await client.answer()
            assert status in (400, 505)
            assert answer["error"].startswith("This is no request: ")
            assert await client.is_closed()


async def test_several_requests_go_over_one_connection_also_when_sent_at_once() -> None:
    async with bridged() as there:
        there.open()
        client = await there.connect()
        async with client.stream:
            await client.stream.send(b"".join(there.request(there.body(args={"n": n})) for n in range(3)))
            answers = [await client.answer() for _ in range(3)]
        assert answers == [(200, {"ok": True, "value": {"n": n}}) for n in range(3)]


async def test_what_is_sent_while_a_call_runs_is_carried_out_once() -> None:
    async with bridged() as there:
        there.open()
        client = await there.connect()
        async with client.stream:
            # With the first comes all of the second, and half of the third: what is left of that comes later.
            later = there.request(there.body(args={"n": 2}))
            waits, second = there.request(there.body("wait")), there.request(there.body(args={"n": 1}))
            await client.stream.send(waits + second + later[:50])
            await eventually(lambda: there.tools.under_way == 1)
            await client.stream.send(later[50:])
            there.tools.let_go.set()
            answers = [await client.answer() for _ in range(3)]
            assert [answer["value"] for _, answer in answers] == [{"x": 1}, {"n": 1}, {"n": 2}]
            await client.stream.send_eof()
            assert await client.is_closed()
        assert there.tools.called == ["wait", "echo", "echo"]


async def test_a_client_that_waits_for_leave_to_send_its_body_gets_it() -> None:
    async with bridged() as there:
        there.open()
        request = there.request(expect="100-continue")
        head, _, body = request.partition(b"\r\n\r\n")
        client = await there.connect()
        async with client.stream:
            await client.stream.send(head + b"\r\n\r\n")
            assert await client.answer() == (100, None)
            await client.stream.send(body)
            assert await client.answer() == (200, {"ok": True, "value": {"x": 1}})


async def test_an_old_client_is_answered_and_let_go() -> None:
    async with bridged() as there:
        there.open()
        client = await there.connect()
        async with client.stream:
            await client.stream.send(there.request().replace(b"HTTP/1.1", b"HTTP/1.0"))
            assert (await client.answer())[0] == 200
            assert await client.is_closed()


async def test_nothing_of_a_request_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with bridged() as there:
        there.open()
        await there.call("broken")
        await there.ask(there.request(b"{"))
        await there.ask(there.request(host="evil.example"))
        client = await there.connect()
        async with client.stream:
            await client.stream.send(there.request()[:-3])
        assert there.caller.token not in caplog.text


async def test_a_port_that_is_taken_is_told_to_the_cells() -> None:
    port = free_port()
    async with bridged(port=port) as first, anyio.create_task_group() as group:
        assert first.port == port
        second = Bridge(group, port=port)
        told = second.environment(second.admit())
        assert list(told) == ["PI_TOOL_BRIDGE_ERROR"]
        assert f"port {port}" in told["PI_TOOL_BRIDGE_ERROR"]
        assert "bridge.port" in told["PI_TOOL_BRIDGE_ERROR"]


async def test_kernels_elsewhere_are_told_of_a_port_that_is_taken_too() -> None:
    port = free_port()
    async with bridged(port=port), anyio.create_task_group() as group:
        second = Bridge(group, port=port, url="https://host.example")
        told = second.environment_elsewhere(second.admit())
        assert f"port {port}" in told["PI_TOOL_BRIDGE_ERROR"]


async def test_a_host_without_descriptors_listens_when_it_has_some_again() -> None:
    async with anyio.create_task_group() as group:
        bridge = Bridge(group)
        caller = bridge.admit()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            told = bridge.environment(caller)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert list(told) == ["PI_TOOL_BRIDGE_ERROR"]
        assert "Too many open files" in told["PI_TOOL_BRIDGE_ERROR"]
        assert "PI_TOOL_BRIDGE_URL" in bridge.environment(caller)
        group.cancel_scope.cancel()


async def test_connections_are_taken_again_when_there_are_descriptors_again(caplog: pytest.LogCaptureFixture) -> None:
    async with bridged() as there:
        there.open()
        await there.call()  # What is opened once is open.
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        raw = socket.socket()
        free = os.dup(raw.fileno())
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
        try:
            raw.connect(("127.0.0.1", there.port))
            raw.sendall(there.request())
            await eventually(lambda: "could not be taken" in caplog.text)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        client = Client(await SocketStream.from_socket(raw))
        async with client.stream:
            assert await client.answer() == (200, {"ok": True, "value": {"x": 1}})


@pytest.mark.parametrize("refused", [False, True], ids=["silent", "refused"])
async def test_connections_without_a_token_keep_no_cell_out(refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_FIRST_SECONDS", math.inf)
    monkeypatch.setattr(connection, "_LINGER_SECONDS", math.inf)
    monkeypatch.setattr(server, "_CONNECTIONS", 4)
    monkeypatch.setattr(server, "_SILENT", 4)
    async with bridged() as there, AsyncExitStack() as ending:
        there.open()
        strangers = []
        for _ in range(10):
            stranger = await there.connect()
            await ending.enter_async_context(stranger.stream)
            strangers.append(stranger)
            if refused:
                await stranger.stream.send(there.request(authorization=None))
        with anyio.fail_after(PATIENCE):
            assert await there.call() == {"ok": True, "value": {"x": 1}}
            for stranger in strangers[:6]:
                while not await stranger.is_closed():
                    pass


async def test_so_many_callers_are_served_at_once_and_the_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_CONNECTIONS", 2)
    async with bridged() as there, anyio.create_task_group() as group:
        there.open()
        for _ in range(5):
            group.start_soon(there.call, "wait")
        await eventually(lambda: there.tools.under_way == 2)
        await anyio.wait_all_tasks_blocked()
        assert there.tools.most_at_once == 2
        there.tools.let_go.set()
    assert there.tools.called == ["wait"] * 5
