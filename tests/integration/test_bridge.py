"""Cells call tools of their host: on every backend that can reach it, with the settings of their session."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pisces import Runtime
from pisces.kernels.deadline import Deadline
from pisces.kernels.gateway.coordinator import shutdown_shared_gateway
from pisces.kernels.gateway.record import gateway_folders
from pisces.model.results import ImageBlock, TextBlock, ToolResult
from tests.fakes.bridges import free_port
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import call, details, runtime_on
from tests.fakes.servers import Server

BACKENDS = ["native-builtin", "native-ipython", "zmq", "gateway-local"]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CURL = """
import os, subprocess
body = '{"session": "%s", "name": "lookup", "args": {"name": "curl"}}' % os.environ["PI_TOOL_BRIDGE_SESSION"]
ask = ["curl", "-sS", "-H", "Authorization: Bearer " + os.environ["PI_TOOL_BRIDGE_TOKEN"], "-d", body]
print(subprocess.run([*ask, os.environ["PI_TOOL_BRIDGE_URL"] + "/v1/tool"], capture_output=True, text=True).stdout)
"""


@pytest.fixture(params=BACKENDS)
async def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Runtime]:
    """One that has a tool of its own, on each backend of this machine."""
    backend: str = request.param
    fixture = {"native-builtin": "plain_python", "native-ipython": "ipython_python"}.get(backend, "jupyter_python")
    name = "gateway" if backend == "gateway-local" else backend.partition("-")[0]
    made = runtime_on(request.getfixturevalue(fixture), tmp_path, backend=name)
    async with with_lookup(made):
        yield made
    for folder in gateway_folders(made.paths):
        await shutdown_shared_gateway(folder, Deadline.after(PATIENCE))


@pytest.fixture
async def native(plain_python: str, tmp_path: Path) -> AsyncIterator[Runtime]:
    async with with_lookup(runtime_on(plain_python, tmp_path)) as made:
        yield made


@asynccontextmanager
async def with_lookup(runtime: Runtime) -> AsyncIterator[Runtime]:
    @runtime.register
    async def lookup(name: str, limit: int = 3) -> dict[str, Any]:
        """Find a thing."""
        return {"name": name, "limit": limit}

    async with runtime:
        yield runtime


async def ran(runtime: Runtime, code: str, **params: Any) -> str:
    """The text of a cell that went well."""
    result = await call(runtime, code, **params)
    assert not result.is_error, result.text
    return result.text


async def test_a_cell_calls_tools_of_its_host(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    result = await call(runtime, "t = tool.read(path='a.txt'); print(t, t.details['lines'])")
    assert result.text.split() == ["1", "one", "2", "two", "2"]
    (event,) = details(result).status_events
    assert (event.op, event.data["name"], event.data["ok"]) == ("tool", "read", True)
    assert await ran(runtime, "tool['lookup'](name='x')['limit']") == "3"
    assert await ran(runtime, "sorted(set(dir(tool)) & {'read', 'python', 'lookup'})") == "['lookup', 'python', 'read']"


async def test_what_goes_wrong_names_the_tool_and_the_kernel_goes_on(runtime: Runtime) -> None:
    for code, why in (
        ("tool.raed(path='a')", "ToolError: raed: There is no tool 'raed'. Did you mean `read`? Tools: "),
        ("tool['../x']()", "ToolError: ../x: There is no tool '../x'. Tools: "),
        ("tool.read(pth='a')", "ToolError: read: Unknown parameter `pth`. Did you mean `path`?"),
        ("tool.read(path='missing')", "ToolError: read: "),
        ("tool.lookup(name=1)", "ToolError: lookup: Wrong value for `name`: Expected `str`, got 1"),
        ("tool.read('a')", "TypeError: read: tools take arguments by name only"),
    ):
        result = await call(runtime, code)
        assert result.is_error
        assert why in result.text
        assert "host_tools.py" not in result.text
        (event,) = details(result).status_events
        assert why in event.data["error"]
    assert await ran(runtime, "1+1") == "2"


async def test_threads_and_coroutines_call_side_by_side(runtime: Runtime) -> None:
    result = await call(runtime, "parallel([lambda n=n: tool.lookup(name=str(n))['name'] for n in range(40)])[-1]")
    assert result.text == "'39'"
    events = details(result).status_events
    assert sorted(event.op for event in events) == ["parallel", *["tool"] * 40]
    code = "import asyncio\nlen(await asyncio.gather(*(tool.lookup.aio(name=str(n)) for n in range(40))))"
    assert await ran(runtime, code) == "40"


async def test_a_picture_becomes_a_display_of_the_cell(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PNG)
    result = await call(runtime, "print(tool.read(path='dot.png'))")
    assert "1 x 1 pixels" in result.text
    (image,) = details(result).images
    assert (image.mime_type, image.cell) == ("image/png", 0)


async def test_a_process_that_a_cell_started_calls_too(runtime: Runtime) -> None:
    assert await ran(runtime, CURL) == '{"ok":true,"value":{"name":"curl","limit":3}}'


async def test_a_thread_of_an_earlier_cell_counts_for_the_cell_that_runs(runtime: Runtime) -> None:
    await ran(
        runtime,
        "import threading, time\ngo, got = threading.Event(), []\n"
        "def late():\n    go.wait(30)\n    got.append(tool.lookup(name='late')['name'])\n"
        "t = threading.Thread(target=late); t.start()",
    )
    assert await ran(runtime, "go.set(); t.join(); got") == "['late']"


async def test_a_call_runs_in_the_folder_and_with_the_settings_of_its_session(native: Runtime, tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("found", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    assert "found" in await ran(native, "import os; os.chdir('sub'); print(tool.read(path='here.txt'))")


async def test_a_tool_of_the_program_may_return_a_whole_result(native: Runtime) -> None:
    @native.register
    def shoot() -> ToolResult:
        """Take a picture."""
        picture = ImageBlock(base64.b64encode(PNG).decode("ascii"), "image/png")
        return ToolResult(content=[TextBlock("taken"), picture], details={"at": 1})

    result = await call(native, "shot = tool.shoot(); print(shot, shot.details)")
    assert result.text == "taken {'at': 1}"
    assert len(details(result).images) == 1


async def test_a_cell_asks_the_model_of_its_host_and_agents_do_not_see_it(plain_python: str, tmp_path: Path) -> None:
    async def model(prompt: str) -> str:
        return prompt.upper()

    made = runtime_on(plain_python, tmp_path)
    async with Runtime(cwd=tmp_path, settings=made.settings, environ=made.environ, model=model) as runtime:
        assert await ran(runtime, "tool.model(prompt='hello')") == "'HELLO'"
        assert "model" not in runtime.tools


async def test_a_cell_runs_cells_in_another_session_and_these_may_call_again(native: Runtime) -> None:
    inner = "tool.lookup(name='inner')['name']"
    assert await ran(native, f"tool.python(code={inner!r}, session='b')") == repr("'inner'")
    outer = "print(tool.python(code='for n in range(3): print(n)', session='b'))"
    assert await ran(native, outer) == "0\n1\n2"


async def test_a_cell_that_fails_in_another_session_is_an_error_with_its_text(native: Runtime) -> None:
    code = (
        "try:\n    tool.python(code='1/0', session='b')\nexcept RuntimeError as e:\n    print(e.details['outcome'], e)"
    )
    text = await ran(native, code)
    assert text.startswith("error python: Traceback")
    assert "ZeroDivisionError" in text


@pytest.mark.parametrize(
    "asked",
    [
        "tool.python(code='1')",
        "tool.python(code='1', background=True)",
        "tool.eval(cells=[{'language': 'py', 'code': '1'}])",
        "tool.session(action='undo')",
        "tool.session(action='restore')",
        "tool.session(action='checkpoint', name='a')",
        "tool.session(action='branch', to='b')",
        "tool.session(action='close')",
    ],
)
async def test_a_cell_that_would_wait_for_itself_is_refused_at_once(native: Runtime, asked: str) -> None:
    result = await call(native, asked, timeout=20)
    assert "A cell of session 'default' waits for this call" in result.text
    assert details(result).outcome == "error"
    assert await ran(native, "1+1") == "2"


async def test_a_cell_may_ask_about_its_own_session_what_needs_no_turn(native: Runtime) -> None:
    await ran(native, "x = 1")
    assert "x: int" in await ran(native, "print(tool.session(action='variables'))")
    assert "default" in await ran(native, "print(tool.session(action='list'))")


async def test_a_session_further_up_the_chain_is_refused_too(native: Runtime) -> None:
    inner = "tool.python(code='1', session='default')"
    result = await call(native, f"tool.python(code={inner!r}, session='b')", timeout=20)
    assert "A cell of session 'default' waits for this call" in result.text
    notebook = "tool.session(action='undo', session='default')"
    result = await call(native, f"tool.python(code={notebook!r}, session='b')", timeout=20)
    assert "A cell of session 'default' waits for this call" in result.text


async def test_a_job_that_a_cell_began_outlives_it_and_may_come_back_to_its_session(native: Runtime) -> None:
    later = (
        "while True:\n    try:\n        print(tool.python(code='41+1'))\n        break\n    except RuntimeError: pass"
    )
    began = await ran(native, f"print(tool.python(code={later!r}, session='b', background=True).details['job']['id'])")
    result = await native.session("wait", job=began)
    assert not result.is_error, result.text
    assert result.text.endswith("42")


async def test_waiting_for_a_job_of_one_s_own_session_is_refused(native: Runtime) -> None:
    code = "tool.session(action='wait', job='job-1')"
    result = await native.python(code=code, background=True)
    assert details(result).job is not None
    waited = await native.session("wait", job="job-1")
    assert "A cell of session 'default' waits for this call" in waited.text


async def test_sessions_that_a_cell_made_end_with_its_own(native: Runtime) -> None:
    await ran(native, "tool.python(code='x = 1', session='b')")
    await ran(native, "y = 2", session="c")
    await ran(native, "tool.python(code='x = 1', session='c')")
    assert {session.key.id for session in native.pool.sessions} == {"default", "b", "c"}
    await native.session("close")
    assert {session.key.id for session in native.pool.sessions} == {"c"}


async def test_in_per_call_mode_a_cell_has_tools_and_may_run_others(plain_python: str, tmp_path: Path) -> None:
    async with with_lookup(runtime_on(plain_python, tmp_path, kernel_mode="per-call")) as runtime:
        assert await ran(runtime, "tool.python(code='1+1')") == "'2'"


async def test_a_kernel_elsewhere_says_that_it_cannot_and_what_to_do(
    kernel_gateway: Server, plain_python: str, tmp_path: Path
) -> None:
    environ = {"PI_PYTHON_GATEWAY_URL": kernel_gateway.url, "PI_PYTHON_GATEWAY_TOKEN": kernel_gateway.token}
    async with with_lookup(runtime_on(plain_python, tmp_path, environ=environ)) as runtime:
        result = await call(runtime, "tool.read(path='a')")
        assert "ToolsUnreachable: read: this kernel knows no way to the tools of its host." in result.text
        assert "bridge.url" in result.text
        assert await ran(runtime, "import os; [n for n in os.environ if 'BRIDGE' in n]") == "[]"


async def test_a_kernel_elsewhere_reaches_the_host_at_the_address_that_is_configured(
    kernel_gateway: Server, plain_python: str, tmp_path: Path
) -> None:
    port = free_port()
    environ = {
        "PI_PYTHON_GATEWAY_URL": kernel_gateway.url,
        "PI_PYTHON_GATEWAY_TOKEN": kernel_gateway.token,
        "PI_SET__bridge__url": f"http://localhost:{port}/",
        "PI_SET__bridge__port": str(port),
    }
    async with with_lookup(runtime_on(plain_python, tmp_path, environ=environ)) as runtime:
        assert await ran(runtime, "tool.lookup(name='far')['name']") == "'far'"
        assert await ran(runtime, "import os; os.environ['PI_TOOL_BRIDGE_URL']") == f"'http://localhost:{port}'"


async def test_a_cell_of_another_language_reaches_the_host_too(jupyter_python: str, tmp_path: Path) -> None:
    curl = (
        'curl -sS -H "Authorization: Bearer $PI_TOOL_BRIDGE_TOKEN" -d '
        """'{"session": "'$PI_TOOL_BRIDGE_SESSION'", "name": "lookup", "args": {"name": "bash"}}' """
        "$PI_TOOL_BRIDGE_URL/v1/tool"
    )
    async with with_lookup(runtime_on(jupyter_python, tmp_path)) as runtime:
        assert await ran(runtime, curl, kernel="bash") == '{"ok":true,"value":{"name":"bash","limit":3}}'


async def test_a_branch_and_a_restored_kernel_have_the_variables_of_their_session(native: Runtime) -> None:
    ask = "import os; os.environ['PI_TOOL_BRIDGE_SESSION'], tool.lookup(name='x')['name']"
    first = await ran(native, ask)
    await native.session("branch", to="b")
    branched = await ran(native, ask, session="b")
    crashed = await call(native, "import os; os._exit(3)")
    assert details(crashed).outcome == "crashed"
    again = await ran(native, ask)
    assert again.endswith(first)
    assert branched != first
    assert branched.endswith("'x')")
