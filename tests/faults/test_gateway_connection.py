"""The connection to a gateway breaks, the gateway goes, the kernel goes: each is told as it is, and nothing is guessed.

The servers and kernels are real; what breaks the connection is a proxy of the test's own.
"""

import logging
import os
import shutil
import signal
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest

from pisces.errors import DeadlineExceeded, KernelError, KernelGone, KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway import link as link_module
from pisces.kernels.gateway.continuity import MISSING
from pisces.kernels.gateway.external import ExternalBackend
from pisces.kernels.gateway.kernel import GatewayKernel
from pisces.kernels.gateway.websocket import WebSocket
from tests.fakes.cutting_proxy import CuttingProxy, cutting_proxy
from tests.fakes.drive import PATIENCE, Running, begin, eventually, ok, plain_environment, run, value
from tests.fakes.servers import KERNEL_GATEWAY, Server, ask, serving

WAIT_FOR = "import os, time\nwhile not os.path.exists({path!r}): time.sleep(0.01)\n"


@asynccontextmanager
async def kernel_at(url: str, token: str) -> AsyncIterator[GatewayKernel]:
    """A kernel that is up, and ended at the end."""
    backend = ExternalBackend(url, token)
    kernel = backend.kernel(LaunchSpec("python", "/", plain_environment()))
    try:
        await kernel.start(Deadline.after(PATIENCE))
        yield kernel
    finally:
        await kernel.shutdown()
        await backend.aclose()


@asynccontextmanager
async def behind_proxy(server: Server) -> AsyncIterator[tuple[GatewayKernel, CuttingProxy]]:
    """A kernel that is up, reached through a proxy."""
    async with cutting_proxy(server.url) as proxy, kernel_at(proxy.url, server.token) as kernel:
        yield kernel, proxy


@pytest.fixture(scope="session", params=["kernel_gateway", "jupyter_server", "enterprise_gateway"])
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


def is_idle(server: Server, kernel: GatewayKernel) -> bool:
    state: str = ask(server, f"/api/kernels/{kernel.transport.kernel_id}")["execution_state"]
    return state == "idle"


async def cut(proxy: CuttingProxy, server: Server, kernel: GatewayKernel) -> None:
    """Break the connection, and wait until both sides have noticed: what is said from then on is kept by the server."""
    await proxy.cut()
    made = kernel.transport._link._socket
    assert made is not None
    await eventually(lambda: made.closed)
    await eventually(lambda: ask(server, f"/api/kernels/{kernel.transport.kernel_id}")["connections"] == 0)


def lines(start: int, stop: int) -> str:
    return "".join(f"{number}\n" for number in range(start, stop))


async def test_a_cell_goes_on_over_a_connection_that_was_cut(server: Server, tmp_path: Path) -> None:
    go = tmp_path / "go"
    code = (
        "for n in range(20): print(n, flush=True)\n"
        + WAIT_FOR.format(path=str(go))
        + "for n in range(20, 60): print(n, flush=True)\n'end'"
    )
    async with behind_proxy(server) as (kernel, proxy):
        running = await begin(kernel, code)
        await running.prints(lines(0, 20))
        await cut(proxy, server, kernel)
        go.touch()
        ran = await running.finish()
        assert ran.stdout == lines(0, 60)
        assert ran.result == "'end'"
        assert (ran.done.status, ran.done.state, ran.done.notes) == ("ok", "kept", ())
        assert await value(kernel, "n") == "59"


async def test_all_that_was_said_while_nobody_was_connected_comes_once_and_in_order(
    kernel_gateway: Server, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    code = "print('before', flush=True)\n" + WAIT_FOR.format(path=str(go)) + "for n in range(500): print(n, flush=True)"
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        running = await begin(kernel, code)
        await running.prints("before\n")
        proxy.refusing = True
        await cut(proxy, kernel_gateway, kernel)
        async with anyio.create_task_group() as group:
            # It goes on receiving, and finds nobody.
            group.start_soon(running.finish)
            refused = proxy.accepted
            await eventually(lambda: proxy.accepted > refused)
            go.touch()
            # The cell has ended, and its whole output waits in the gateway.
            await eventually(lambda: is_idle(kernel_gateway, kernel))
            proxy.refusing = False
        ran = await running.finish()
        assert ran.stdout == "before\n" + lines(0, 500)
        assert ran.done.status == "ok"


async def test_a_wait_that_was_cancelled_while_the_connection_was_down_goes_on_connecting(
    kernel_gateway: Server, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        running = await begin(kernel, WAIT_FOR.format(path=str(go)) + "'there'")
        await running.started()
        proxy.refusing = True
        await proxy.cut()
        with anyio.move_on_after(0.5) as scope:
            await running.finish()
        assert scope.cancelled_caught
        proxy.refusing = False
        go.touch()
        ran = await running.finish()
        assert (ran.result, ran.done.status) == ("'there'", "ok")


async def test_output_that_was_under_way_when_the_connection_broke_is_said_to_be_missing(
    server: Server, tmp_path: Path
) -> None:
    lost, go = tmp_path / "lost", tmp_path / "go"
    code = (
        "print('first', flush=True)\n"
        + WAIT_FOR.format(path=str(lost))
        + "print('second', flush=True)\n"
        + WAIT_FOR.format(path=str(go))
        + "print('third', flush=True)"
    )
    async with behind_proxy(server) as (kernel, proxy):
        running = await begin(kernel, code)
        await running.prints("first\n")
        proxy.swallowing = True
        lost.touch()
        await eventually(lambda: proxy.swallowed > 0)
        await cut(proxy, server, kernel)
        proxy.swallowing = False
        go.touch()
        ran = await running.finish()
        assert ran.stdout == "first\nthird\n"
        assert ran.done.status == "ok"
        assert MISSING in ran.done.notes


async def test_the_end_of_a_cell_that_was_lost_is_not_waited_for(kernel_gateway: Server, tmp_path: Path) -> None:
    go = tmp_path / "go"
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        await ok(kernel, "x = 1")
        running = await begin(kernel, "print('begun', flush=True)\n" + WAIT_FOR.format(path=str(go)) + "x = 2")
        await running.prints("begun\n")
        proxy.swallowing = True
        go.touch()
        await eventually(lambda: is_idle(kernel_gateway, kernel))
        await eventually(lambda: proxy.swallowed > 0)
        await proxy.cut()
        proxy.swallowing = False
        ran = await running.finish()
        assert (ran.done.status, ran.done.state) == ("disconnected", "unknown")
        assert "not known" in " ".join(ran.done.notes)
        # The kernel is there, and the same.
        assert await value(kernel, "x") == "2"


async def test_a_cell_that_was_being_sent_is_not_sent_again(kernel_gateway: Server, tmp_path: Path) -> None:
    ran_file = tmp_path / "ran"
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        await ok(kernel, "1")
        proxy.stall()
        running = await begin(kernel, f"open({str(ran_file)!r}, 'a').write('x')")
        await proxy.cut()
        proxy.go_on()
        ran = await running.finish()
        assert (ran.done.status, ran.done.state) == ("disconnected", "unknown")
        assert not ran_file.exists()
        assert await value(kernel, "1 + 1") == "2"


async def test_a_connection_that_went_between_cells_is_made_again_before_the_next(kernel_gateway: Server) -> None:
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        await ok(kernel, "x = 5")
        await cut(proxy, kernel_gateway, kernel)
        ran = await run(kernel, "x")
        assert (ran.result, ran.done.status, ran.done.state) == ("5", "ok", "kept")


async def test_a_connection_that_died_in_silence_is_found_out_before_a_cell_is_sent(
    kernel_gateway: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        await ok(kernel, "x = 5")
        answers = WebSocket.answers
        asked: list[bool] = []

        async def stalled(made: WebSocket, within: float) -> bool:
            proxy.stall()
            asked.append(await answers(made, 0.2))
            proxy.go_on()
            return asked[-1]

        with monkeypatch.context() as patch:
            patch.setattr(WebSocket, "answers", stalled)
            patch.setattr(link_module, "_SILENCE", 0.0)
            running = await begin(kernel, "x")
        ran = await running.finish()
        assert asked == [False]
        assert (ran.result, ran.done.status) == ("5", "ok")


async def test_a_gateway_that_stays_away_is_told_and_found_again_later(
    kernel_gateway: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual = link_module._TRIES_CAP
    monkeypatch.setattr(link_module, "_TRIES_CAP", 0.5)
    go = tmp_path / "go"
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        running = await begin(kernel, WAIT_FOR.format(path=str(go)) + "x = 7")
        await running.started()
        proxy.refusing = True
        await proxy.cut()
        ran = await running.finish()
        assert (ran.done.status, ran.done.state) == ("disconnected", "unknown")
        assert "is lost (External gateway at" in " ".join(ran.done.notes)
        with pytest.raises(KernelError, match="is lost"):
            await run(kernel, "1")
        monkeypatch.setattr(link_module, "_TRIES_CAP", usual)
        proxy.refusing = False
        go.touch()
        await eventually(lambda: is_idle(kernel_gateway, kernel))
        assert await value(kernel, "x") == "7"


async def test_a_kernel_that_somebody_else_ended_in_a_cell_is_told_to_be_gone(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "_SILENCE", 0.2)
    async with kernel_at(server.url, server.token) as kernel:
        # It says nothing on its way: the shell is blocked, and the control thread ends with it.
        running = await begin(kernel, "import time; print('on', flush=True); time.sleep(600)")
        await running.prints("on\n")
        ask(server, f"/api/kernels/{kernel.transport.kernel_id}", method="DELETE")
        ran = await running.finish()
        assert (ran.done.status, ran.done.state) == ("crashed", "lost")
        assert ran.done.process_exit is not None
        assert not await kernel.is_alive()


async def test_a_kernel_that_somebody_else_ended_between_cells_is_gone_before_the_next_is_sent(
    kernel_gateway: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kernel_at(kernel_gateway.url, kernel_gateway.token) as kernel:
        await ok(kernel, "x = 1")
        ask(kernel_gateway, f"/api/kernels/{kernel.transport.kernel_id}", method="DELETE")
        monkeypatch.setattr(link_module, "_SILENCE", 0.0)
        with pytest.raises(KernelGone, match=r"no such kernel any more|has ended"):
            await run(kernel, "x")


async def test_a_kernel_that_was_restarted_while_the_connection_was_down_is_not_taken_for_the_same(
    server: Server, tmp_path: Path
) -> None:
    async with behind_proxy(server) as (kernel, proxy):
        await ok(kernel, "x = 1")
        proxy.refusing = True
        await cut(proxy, server, kernel)
        ask(server, f"/api/kernels/{kernel.transport.kernel_id}/restart", method="POST", body={})
        proxy.refusing = False
        with pytest.raises(KernelGone, match="restarted by the gateway"):
            await run(kernel, "x")


async def test_a_gateway_that_is_killed_in_a_cell_leaves_its_fate_unknown(
    jupyter_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "_TRIES_CAP", 0.5)
    with serving(KERNEL_GATEWAY, jupyter_python, tmp_path) as server:
        async with kernel_at(server.url, server.token) as kernel:
            running = await begin(kernel, "import time; print('on', flush=True); time.sleep(600)")
            await running.prints("on\n")
            psutil.Process(server.pid).kill()
            ran = await running.finish()
            assert (ran.done.status, ran.done.state) == ("disconnected", "unknown")
            assert "is not reachable: Connection refused" in " ".join(ran.done.notes)


async def test_killing_is_not_held_up_by_a_gateway_that_hangs(
    jupyter_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(KERNEL_GATEWAY, jupyter_python, tmp_path) as server:
        async with kernel_at(server.url, server.token) as kernel:
            running = await begin(kernel, "import time; print('on', flush=True); time.sleep(600)")
            await running.prints("on\n")
            os.kill(server.pid, signal.SIGSTOP)
            try:
                with anyio.fail_after(15):
                    await kernel.kill()
                ran = await running.finish()
                assert (ran.done.status, ran.done.state) == ("disconnected", "unknown")
            finally:
                os.kill(server.pid, signal.SIGCONT)


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_a_server_whose_token_is_not_known_says_what_to_set(server: Server, token: str) -> None:
    backend = ExternalBackend(server.url, token)
    kernel = backend.kernel(LaunchSpec("python", "/", plain_environment()))
    with pytest.raises(KernelStartError) as failure:
        await kernel.start(Deadline.after(PATIENCE))
    await backend.aclose()
    assert str(failure.value) == (
        f"External gateway at {server.url} requires authentication. Set PI_PYTHON_GATEWAY_TOKEN."
    )


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine, which no system trusts, and its key in the same file."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    whole, key = folder / "both.pem", folder / "key.pem"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=pisces test"]
    extensions = ["-addext", "subjectAltName=IP:127.0.0.1"]
    command = [program, "req", *options, *extensions, "-keyout", str(key), "-out", str(whole)]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    with whole.open("a", encoding="ascii") as file:
        file.write(key.read_text(encoding="ascii"))
    return whole


def serving_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_a_gateway_that_the_system_does_not_trust_is_not_spoken_to(
    kernel_gateway: Server, certificate: Path
) -> None:
    async with cutting_proxy(kernel_gateway.url, tls=serving_tls(certificate)) as proxy:
        with pytest.raises(KernelStartError, match="is not reachable: its certificate is not trusted"):
            async with kernel_at(proxy.url, kernel_gateway.token):
                pass


async def test_a_gateway_behind_tls_that_is_trusted_runs_cells(
    kernel_gateway: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with (
        cutting_proxy(kernel_gateway.url, tls=serving_tls(certificate)) as proxy,
        kernel_at(proxy.url, kernel_gateway.token) as kernel,
    ):
        assert proxy.url.startswith("https:")
        assert await value(kernel, "len('x' * 1000)") == "1000"
        ran = await run(kernel, "print('x' * 500_000)")
        assert len(ran.stdout) == 500_001


async def test_the_trace_has_every_message_and_no_log_has_the_token(
    kernel_gateway: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with kernel_at(kernel_gateway.url, kernel_gateway.token) as kernel:
        await ok(kernel, "print('traced' + ' text')")
    trace = "\n".join(record.getMessage() for record in caplog.records if record.name == "pisces.ipc")
    assert "host to gateway: " in trace
    assert "gateway to host: " in trace
    assert "traced text" in trace
    assert "DELETE /api/kernels/" in trace
    assert kernel_gateway.token not in caplog.text


async def test_a_start_that_runs_out_of_time_or_is_cancelled_leaves_no_kernel(kernel_gateway: Server) -> None:
    backend = ExternalBackend(kernel_gateway.url, kernel_gateway.token)
    for seconds in (0.01, 0.05, 0.1, 0.2):
        kernel = backend.kernel(LaunchSpec("python", "/", plain_environment()))
        with pytest.raises((DeadlineExceeded, KernelStartError)):
            await kernel.start(Deadline.after(seconds))
        kernel = backend.kernel(LaunchSpec("python", "/", plain_environment()))
        with anyio.move_on_after(seconds):
            await kernel.start(Deadline.after(PATIENCE))
            await kernel.shutdown()
    await backend.aclose()
    # That none is left is what every test here is checked for.


async def test_a_kernel_outlives_its_client_and_is_found_again(server: Server) -> None:
    first = ExternalBackend(server.url, server.token)
    spec = LaunchSpec("python", "/", plain_environment())
    kernel = first.kernel(spec)
    await kernel.start(Deadline.after(PATIENCE))
    await ok(kernel, "x = 41")
    ticket = kernel.ticket
    assert ticket is not None
    assert server.token not in str(ticket)
    await kernel.detach()
    await kernel.shutdown()  # It does nothing to the kernel any more.
    await first.aclose()
    second = ExternalBackend(server.url, server.token)
    found = second.returning(spec, ticket)
    await found.start(Deadline.after(PATIENCE))
    assert await value(found, "x + 1") == "42"
    await found.shutdown()
    gone = second.returning(spec, ticket)
    with pytest.raises(KernelGone, match="no such kernel any more"):
        await gone.start(Deadline.after(PATIENCE))
    await second.aclose()


async def test_a_kernel_that_does_not_answer_in_time_when_its_client_returns_is_left_alone(
    kernel_gateway: Server, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    backend = ExternalBackend(kernel_gateway.url, kernel_gateway.token)
    spec = LaunchSpec("python", "/", plain_environment())
    kernel = backend.kernel(spec)
    await kernel.start(Deadline.after(PATIENCE))
    running: Running = await begin(kernel, WAIT_FOR.format(path=str(go)) + "x = 3")
    await running.started()
    ticket = kernel.ticket
    assert ticket is not None
    await kernel.detach()
    early = backend.returning(spec, ticket)
    with pytest.raises(DeadlineExceeded):
        await early.start(Deadline.after(0.5))
    go.touch()
    found = backend.returning(spec, ticket)
    await found.start(Deadline.after(PATIENCE))
    assert await value(found, "x") == "3"
    await found.shutdown()
    await backend.aclose()


async def test_a_kill_is_told_at_once_to_whoever_tries_to_connect(
    kernel_gateway: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "_TRY_CAP", 600.0)
    monkeypatch.setattr(link_module, "_TRIES_CAP", 600.0)
    async with behind_proxy(kernel_gateway) as (kernel, proxy):
        running = await begin(kernel, "import time; print('on', flush=True); time.sleep(600)")
        await running.prints("on\n")
        proxy.stall()  # Who connects waits, and is not refused.
        await proxy.cut()
        tries = proxy.accepted
        with anyio.fail_after(7):  # One attempt goes on for 10 seconds.
            async with anyio.create_task_group() as group:
                group.start_soon(running.finish)
                await eventually(lambda: proxy.accepted > tries)
                await kernel.kill()
        ran = await running.finish()
        assert (ran.done.status, ran.done.state) == ("disconnected", "unknown")
        proxy.go_on()
