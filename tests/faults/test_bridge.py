"""Calls of tools when something ends at the wrong time, the cell, its kernel, its runtime, or when they are a thousand.

Runtimes and kernels are real.
"""

import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from pisces import Runtime
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.external import ExternalBackend
from tests.fakes.drive import PATIENCE, eventually, ok, plain_environment
from tests.fakes.runtimes import begin, call, details, kernel_of, runtime_on
from tests.fakes.servers import Server
from tests.frontends.command import Command

WAIT = "print('ready', flush=True); tool.wait()"
FINISHED = "The cell that made this call has finished"


class Waiting:
    """A tool that waits until a test lets it go, and knows whether it was stopped."""

    def __init__(self, runtime: Runtime) -> None:
        self.under_way = 0
        self.stopped = 0
        self.let_go = anyio.Event()
        runtime.register(self.wait)
        runtime.register(name="echo")(lambda n: n)

    async def wait(self) -> str:
        """Wait."""
        self.under_way += 1
        try:
            await self.let_go.wait()
        except BaseException:
            self.stopped += 1
            raise
        finally:
            self.under_way -= 1
        return "waited"


@pytest.fixture(params=["native", "zmq"])
async def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Runtime]:
    fixture = "plain_python" if request.param == "native" else "jupyter_python"
    async with runtime_on(request.getfixturevalue(fixture), tmp_path, backend=request.param, interrupt_grace=3) as made:
        yield made


@pytest.fixture
async def native(plain_python: str, tmp_path: Path) -> AsyncIterator[Runtime]:
    async with runtime_on(plain_python, tmp_path, interrupt_grace=3) as made:
        yield made


async def variables_of(runtime: Runtime) -> dict[str, str]:
    """What a cell knows of the bridge."""
    code = "import json, os; print(json.dumps({k: v for k, v in os.environ.items() if k.startswith('PI_TOOL_BRIDGE')}))"
    return dict(json.loads((await call(runtime, code)).text))


async def post(variables: dict[str, str], name: str = "echo", **body: Any) -> Any:
    """Call a tool from outside."""
    data = {"session": variables["PI_TOOL_BRIDGE_SESSION"], "name": name, "args": {"n": 1}, **body}
    request = urllib.request.Request(
        f"{variables['PI_TOOL_BRIDGE_URL']}/v1/tool",
        json.dumps(data).encode(),
        {"Authorization": f"Bearer {variables['PI_TOOL_BRIDGE_TOKEN']}"},
    )

    def ask() -> Any:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE) as response:
            return json.loads(response.read())

    return await to_thread.run_sync(ask)


async def test_a_thousand_calls_at_once_are_all_answered_and_rightly(runtime: Runtime) -> None:
    Waiting(runtime)
    code = (
        "import threading\nvalues = {}\n"
        "def ask(n):\n    values[n] = tool.echo(n=n)\n"
        "threads = [threading.Thread(target=ask, args=(n,)) for n in range(1000)]\n"
        "for t in threads: t.start()\nfor t in threads: t.join()\n"
        "len(values), all(values[n] == n for n in values)"
    )
    result = await call(runtime, code, timeout=120)
    assert result.text == "(1000, True)"
    assert sum(event.op == "tool" and event.data["ok"] for event in details(result).status_events) == 1000


async def test_a_thousand_coroutines_are_all_answered_and_rightly(runtime: Runtime) -> None:
    Waiting(runtime)
    code = "import asyncio\n(await asyncio.gather(*(tool.echo.aio(n=n) for n in range(1000)))) == list(range(1000))"
    assert (await call(runtime, code, timeout=120)).text == "True"


@pytest.mark.parametrize(
    "code",
    [
        WAIT,
        "print('ready', flush=True); parallel([tool.wait] * 3)",
        "import asyncio; print('ready', flush=True); await asyncio.gather(*(tool.wait.aio() for _ in range(3)))",
    ],
    ids=["alone", "parallel", "coroutines"],
)
async def test_an_interrupt_stops_the_cell_and_its_calls(runtime: Runtime, code: str) -> None:
    waiting, abort = Waiting(runtime), anyio.Event()
    async with anyio.create_task_group() as group:
        started = begin(group, runtime, code, abort=abort)
        await eventually(lambda: waiting.under_way == (1 if code == WAIT else 3))
        abort.set()
        result = await started.finish()
    assert details(result).outcome == "interrupted"
    assert kernel_of(result).state == "kept"
    await eventually(lambda: waiting.under_way == 0)
    assert waiting.stopped == (1 if code == WAIT else 3)
    assert (await call(runtime, "tool.echo(n=2)")).text == "2"


async def test_a_timeout_stops_the_cell_and_its_call(runtime: Runtime) -> None:
    waiting = Waiting(runtime)
    await call(runtime, "1")  # So that the deadline is the cell's.
    result = await call(runtime, WAIT, timeout=2)
    assert (details(result).outcome, kernel_of(result).state) == ("timeout", "kept")
    await eventually(lambda: waiting.stopped == 1)


async def test_a_call_that_a_thread_makes_ends_with_the_cell(runtime: Runtime) -> None:
    waiting = Waiting(runtime)
    begun = (
        "import threading, time\nfailed = []\n"
        "def ask():\n    try: tool.wait()\n    except RuntimeError as error: failed.append(str(error))\n"
        "t = threading.Thread(target=ask); t.start()\n"
        "while not tool.echo(n=0) == 0 or {waits}: time.sleep(0.01)"
    )
    runtime.register(name="waits")(lambda: waiting.under_way)
    result = await call(runtime, begun.format(waits="tool.waits() == 0"))
    assert not result.is_error, result.text
    await eventually(lambda: waiting.stopped == 1)
    assert FINISHED in (await call(runtime, "t.join(); failed")).text


async def test_a_call_ends_with_the_kernel_that_made_it(runtime: Runtime) -> None:
    waiting = Waiting(runtime)
    code = (
        "import os, threading, time\nthreading.Thread(target=tool.wait, daemon=True).start()\n"
        "while tool.waits() == 0: time.sleep(0.01)\nos._exit(3)"
    )
    runtime.register(name="waits")(lambda: waiting.under_way)
    result = await call(runtime, code)
    assert details(result).outcome == "crashed"
    await eventually(lambda: waiting.stopped == 1)
    assert (await call(runtime, "tool.echo(n=2)")).text.endswith("2")


async def test_a_call_ends_with_the_process_that_made_it(native: Runtime) -> None:
    waiting = Waiting(native)
    native.register(name="waits")(lambda: waiting.under_way)
    code = (
        "import os, signal, time\npid = os.fork()\n"
        "if pid == 0:\n    tool.wait()\n    os._exit(0)\n"
        "while tool.waits() == 0: time.sleep(0.01)\n"
        "os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)\n"
        "while tool.waits(): time.sleep(0.01)"
    )
    result = await call(native, code)
    assert not result.is_error, result.text
    assert waiting.stopped == 1


async def test_a_process_of_an_earlier_cell_is_refused_in_a_later_one(native: Runtime, tmp_path: Path) -> None:
    Waiting(native)
    code = (
        "import os, time\npid = os.fork()\n"
        "if pid == 0:\n"
        "    while not os.path.exists('go'): time.sleep(0.01)\n"
        "    try:\n        said = str(tool.echo(n=1))\n"
        "    except RuntimeError as error:\n        said = str(error)\n"
        "    open('said', 'w').write(said)\n    os._exit(0)"
    )
    await call(native, code)
    result = await call(
        native, "open('go', 'w').close(); os.waitpid(pid, 0); print(open('said').read(), tool.echo(n=2))"
    )
    assert result.text.startswith(f"echo: {FINISHED}")
    assert result.text.endswith(" 2")


async def test_from_outside_a_call_gets_nowhere_without_a_cell_or_with_a_wrong_token(runtime: Runtime) -> None:
    Waiting(runtime)
    variables = await variables_of(runtime)
    assert FINISHED in (await post(variables))["error"]
    for change in ({"PI_TOOL_BRIDGE_TOKEN": "x"}, {"PI_TOOL_BRIDGE_SESSION": "x"}):
        with pytest.raises(urllib.error.HTTPError) as caught:
            await post({**variables, **change})
        assert caught.value.code == 403
        caught.value.close()


async def test_a_closed_session_and_a_reset_one(native: Runtime) -> None:
    Waiting(native)
    before = await variables_of(native)
    await call(native, "1", reset=True)
    assert await variables_of(native) == before
    await native.session("close")
    with pytest.raises(urllib.error.HTTPError) as caught:
        await post(before)
    caught.value.close()
    assert (await call(native, "tool.echo(n=2)")).text == "2"


async def test_a_cell_that_a_cell_runs_is_stopped_with_it(native: Runtime) -> None:
    waiting, abort = Waiting(native), anyio.Event()
    async with anyio.create_task_group() as group:
        started = begin(group, native, f"tool.python(code={WAIT!r}, session='b')", abort=abort)
        await eventually(lambda: waiting.under_way == 1)
        abort.set()
        assert details(await started.finish()).outcome == "interrupted"
    await eventually(lambda: waiting.stopped == 1)
    after = await call(native, "tool.echo(n=2)", session="b")
    assert (after.text, kernel_of(after).state) == ("2", "kept")


async def test_a_cancelled_task_stops_the_calls_of_its_cell(native: Runtime) -> None:
    waiting = Waiting(native)
    async with anyio.create_task_group() as group:
        started = begin(group, native, WAIT)
        await eventually(lambda: waiting.under_way == 1)
        started.scope.cancel()
    await eventually(lambda: waiting.stopped == 1)
    assert (await call(native, "tool.echo(n=2)")).text == "2"


async def test_a_runtime_that_is_left_while_a_cell_waits_for_a_tool_ends(plain_python: str, tmp_path: Path) -> None:
    with anyio.fail_after(PATIENCE):
        runtime = runtime_on(plain_python, tmp_path, interrupt_grace=1)
        async with anyio.create_task_group() as group, runtime:
            waiting = Waiting(runtime)
            group.start_soon(partial(call, runtime, WAIT, timeout=300))
            await eventually(lambda: waiting.under_way == 1)
    assert waiting.stopped == 1


async def test_a_tool_that_blocks_a_thread_holds_up_neither_the_cell_nor_the_end(native: Runtime) -> None:
    let_go, begun = threading.Event(), threading.Event()

    @native.register
    def block() -> None:
        """Block."""
        begun.set()
        let_go.wait(PATIENCE)

    abort = anyio.Event()
    async with anyio.create_task_group() as group:
        started = begin(group, native, "tool.block()", abort=abort)
        await eventually(begun.is_set)
        abort.set()
        assert details(await started.finish()).outcome == "interrupted"
    let_go.set()


@pytest.mark.parametrize("backend", ["native", "zmq"])
def test_the_token_is_not_in_the_log_of_all_that_is_sent(
    backend: str, jupyter_python: str, own_home: Path, tmp_path: Path
) -> None:
    code = "open('t', 'w').write(env('PI_TOOL_BRIDGE_TOKEN')); tool.nothing()"
    variables = {"PI_PYTHON_IPC_TRACE": "1", "PI_SET__python__backend": backend}
    done = Command(jupyter_python)("run", "-c", code, cwd=tmp_path, variables=variables)
    token = (tmp_path / "t").read_text(encoding="utf-8")
    log = (own_home / ".pisces" / "logs" / "pisces.log").read_text(encoding="utf-8")
    assert "PI_TOOL_BRIDGE_TOKEN" in log
    assert token not in log
    assert len(token) > 32
    assert "nothing: There is no tool 'nothing'" in done.stdout + done.stderr
    kept = [path for path in (own_home / ".pisces").rglob("*") if path.is_file()]
    assert not [path for path in kept if token.encode() in path.read_bytes()]


async def test_the_token_is_in_no_list_of_processes(runtime: Runtime) -> None:
    token = (await variables_of(runtime))["PI_TOOL_BRIDGE_TOKEN"]
    assert not [line for line in command_lines() if token in line]


def command_lines() -> list[str]:
    """Those of all processes."""
    lines = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", encoding="utf-8", errors="replace") as file:
                    lines.append(file.read())
            except OSError:
                continue  # It has ended meanwhile.
    return lines


async def test_a_kernel_that_was_left_on_a_gateway_learns_where_its_host_is_now(kernel_gateway: Server) -> None:
    backend = ExternalBackend(kernel_gateway.url, kernel_gateway.token)
    first = LaunchSpec("python", "/", plain_environment(), injected_elsewhere={"PI_TOOL_BRIDGE_URL": "http://then"})
    now = LaunchSpec("python", "/", plain_environment(), injected_elsewhere={"PI_TOOL_BRIDGE_URL": "http://now"})
    kernel = backend.kernel(first)
    await kernel.start(Deadline.after(PATIENCE))
    ticket = kernel.ticket
    assert ticket is not None
    await kernel.detach()
    found = backend.returning(now, ticket)
    await found.start(Deadline.after(PATIENCE))
    assert (await ok(found, "import os; os.environ['PI_TOOL_BRIDGE_URL']")).result == "'http://now'"
    await found.shutdown()
    await backend.aclose()
