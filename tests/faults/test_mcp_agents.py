"""Several agents at one server: they work at the same time, and what one of them suffers is its own affair."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from mcp.client import Client
from mcp_types import CallToolResult

from pisces.runtime import Runtime
from tests.fakes.drive import DEAF, PATIENCE, eventually
from tests.fakes.mcp_clients import LEGACY, MODERN, python, text_of
from tests.fakes.mcp_http import Site, client_of, modern_cell, serving
from tests.fakes.runtimes import pool_of, runtime_on

GRACE = 0.5


@pytest.fixture
def grace() -> float:
    """How long cells may take to stop; a busy machine needs more than a test of deaf ones does."""
    return 10.0


@pytest.fixture
def runtime(plain_python: str, tmp_path: Path, grace: float) -> Runtime:
    """Real kernels, in the test's folder."""
    return runtime_on(plain_python, tmp_path, interrupt_grace=grace, max_sessions=32)


@pytest.fixture
async def site(runtime: Runtime) -> AsyncIterator[Site]:
    """A server for them."""
    async with serving(runtime) as found:
        yield found


@asynccontextmanager
async def two_agents(site: Site) -> AsyncIterator[tuple[Client, Client]]:
    """One of each era."""
    async with client_of(site, mode=LEGACY, program="one") as one, client_of(site, mode=MODERN, program="two") as two:
        yield one, two


def waits_for(mark: str) -> str:
    return f"import os\nwhile not os.path.exists({mark!r}): pass"


async def test_two_agents_work_at_the_same_time_each_in_a_session_of_its_own(site: Site) -> None:
    async with two_agents(site) as (one, two), anyio.create_task_group() as group:
        group.start_soon(python, one, f"{waits_for('of-two')}\nx = 1\nopen('of-one', 'w').close()")
        await python(two, f"open('of-two', 'w').close()\n{waits_for('of-one')}\nx = 2")
        assert text_of(await python(one, "x")) == "1"
        assert text_of(await python(two, "x")) == "2"
        assert text_of(await python(two, "import os; os._exit(3)")).startswith("[State: restored]")
        assert text_of(await python(one, "x")) == "1"


async def test_calls_in_a_session_that_two_share_wait_for_each_other_and_both_hear_of_a_loss(site: Site) -> None:
    async with two_agents(site) as (one, two):
        await python(one, "said = []", session="shared")
        async with anyio.create_task_group() as group:
            group.start_soon(add_slowly, one)
            group.start_soon(add_slowly, two)
        assert text_of(await python(two, "print(said)", session="shared")) == str([1, 2] * 20)
        crashed = await python(two, "import os; os._exit(3)", session="shared")
        told = await python(one, "len(said)", session="shared")
    assert text_of(crashed).startswith("[State: restored]")
    assert text_of(told).startswith("[State: restored]")
    assert text_of(told).endswith("40")


async def add_slowly(client: Client) -> None:
    """Each call adds a 1 and, a moment later, a 2: another call between them would be seen."""
    for _ in range(10):
        await python(client, "import time\nsaid.append(1)\ntime.sleep(0.01)\nsaid.append(2)", session="shared")


@pytest.mark.parametrize("grace", [GRACE])
@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_a_call_that_waits_already_is_told_what_the_cancelled_one_before_it_did_to_the_state(
    site: Site, tmp_path: Path, mode: str
) -> None:
    told: list[CallToolResult] = []

    async def next_call(client: Client) -> None:
        told.append(await python(client, "x"))

    async with client_of(site, mode=mode) as client:
        await python(client, "x = 1")
        async with anyio.create_task_group() as group:
            cancelled = anyio.CancelScope()
            group.start_soon(call_within, cancelled, client, f"x = 2\n{deaf_with('begun')}")
            await eventually((tmp_path / "begun").exists)
            group.start_soon(next_call, client)
            cancelled.cancel()
    (result,) = told
    assert text_of(result).startswith(f"[State: restored] The cell did not stop within {GRACE} seconds")
    assert text_of(result).endswith("1")


def deaf_with(mark: str) -> str:
    """A cell that says with a file that no interrupt stops it any more."""
    return DEAF.replace("time.sleep(60)", f"open({mark!r}, 'w').close(); time.sleep(60)")


async def call_within(scope: anyio.CancelScope, client: Client, code: str) -> None:
    with scope:
        await python(client, code)


async def test_ten_clients_that_vanish_in_the_middle_of_a_call_stop_nobody_else(
    site: Site, runtime: Runtime, tmp_path: Path
) -> None:
    async with client_of(site, program="stays") as client:
        await python(client, "x = 'here'")
        async with anyio.create_task_group() as group:
            async with AsyncExitStack() as vanishing:
                for number in range(10):
                    await vanishing.enter_async_context(calling(site, f"client-{number}", f"begun-{number}"))
                await eventually(lambda: len(list(tmp_path.glob("begun-*"))) == 10, within=PATIENCE)
                group.start_soon(python, client, f"open('stays', 'w').close()\n{waits_for('go')}\nx += ' still'")
                await eventually((tmp_path / "stays").exists)
            await eventually(lambda: sum(session.busy for session in pool_of(runtime).sessions) == 1)
            (tmp_path / "go").touch()
        assert text_of(await python(client, "print(x)")) == "here still"
    async with client_of(site, mode=MODERN, pisces_client="client-7") as back:
        assert text_of(await python(back, "print(mine)")) == "begun-7"


@asynccontextmanager
async def calling(site: Site, client: str, mark: str) -> AsyncIterator[SocketStream]:
    """A call on a connection that is cut without a word when the block ends."""
    body = modern_cell(f"mine = {mark!r}\nopen(mine, 'w').close()\nimport time\ntime.sleep(600)")
    headers = site.modern_headers("tools/call", "python", pisces_client=client, content_length=str(len(body)))
    head = [f"{name}: {value}" for name, value in headers.items()]
    async with await anyio.connect_tcp("127.0.0.1", site.port) as stream:
        lines = ["POST /mcp HTTP/1.1", f"host: 127.0.0.1:{site.port}", *head, "", ""]
        await stream.send("\r\n".join(lines).encode() + body)
        yield stream
