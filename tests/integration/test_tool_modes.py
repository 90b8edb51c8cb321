"""Which tools an agent is offered: what the settings allow, and what can be had at the moment."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from pisces.runtime import Runtime
from pisces.tools.base import CallContext
from tests.fakes.runtimes import runtime_on

FILES = {"read", "write", "edit"}
PYTHON = {"python", "eval", "session", "notebook"}


@pytest.mark.parametrize(
    ("mode", "tools"),
    [("both", {"bash"} | PYTHON | FILES), ("ipy-only", PYTHON | FILES), ("bash-only", {"bash"} | FILES)],
)
async def test_the_mode_decides_which_tools_there_are(
    plain_python: str, tmp_path: Path, mode: str, tools: set[str]
) -> None:
    async with runtime_on(plain_python, tmp_path, tool_mode=mode) as runtime:
        offer = await runtime.offer()
        assert (set(offer.tools), set(runtime.tools)) == (tools, tools)
        assert (offer.mode, offer.warning) == (mode, "")


async def test_a_tool_that_the_mode_leaves_out_says_so(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path, environ={"PI_PY": "bash"}) as runtime:
        result = await runtime.tool("python", {"code": "1"})
    assert result.is_error
    assert result.text.startswith("Error: There is no tool 'python' here: `python.toolMode` is `bash-only`. Tools: ")


async def test_without_a_working_python_only_bash_is_left_and_the_warning_says_why(tmp_path: Path) -> None:
    async with runtime_on(str(tmp_path / "no-python"), tmp_path) as runtime:
        offer = await runtime.offer()
        assert set(offer.tools) == {"bash"} | FILES
        assert offer.mode == "bash-only"
        assert "only bash and the file tools are offered" in offer.warning
        assert "no-python" in offer.warning
        said = await offer.tools["bash"].call({"command": "echo it works"}, CallContext())
        assert said.text == "it works"


async def test_what_was_mended_is_found_the_next_time(plain_python: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    async with runtime_on(str(python), tmp_path) as runtime:
        assert (await runtime.offer()).mode == "bash-only"
        python.symlink_to(plain_python)
        mended = await runtime.offer()
        assert (mended.mode, mended.warning) == ("both", "")


async def test_a_check_that_is_switched_off_is_not_made(tmp_path: Path) -> None:
    environ = {"PI_PYTHON_SKIP_CHECK": "1"}
    async with runtime_on(str(tmp_path / "no-python"), tmp_path, environ=environ) as runtime:
        assert (await runtime.offer()).mode == "both"


@pytest.mark.parametrize(
    ("backend", "remedy"),
    [
        ("zmq", "-m pip install ipykernel"),
        ("gateway", "-m pip install jupyter_kernel_gateway ipykernel"),
    ],
)
async def test_a_backend_that_lacks_its_packages_is_found_out_before(
    plain_python: str, tmp_path: Path, backend: str, remedy: str
) -> None:
    async with runtime_on(plain_python, tmp_path, backend=backend) as runtime:
        offer = await runtime.offer()
    assert offer.mode == "bash-only"
    assert remedy in offer.warning


@pytest.mark.parametrize("backend", ["zmq", "gateway"])
async def test_a_backend_that_has_its_packages_is_offered(jupyter_python: str, tmp_path: Path, backend: str) -> None:
    async with runtime_on(jupyter_python, tmp_path, backend=backend) as runtime:
        assert (await runtime.offer()).warning == ""


async def test_a_gateway_that_is_switched_off_is_found_out_before(jupyter_python: str, tmp_path: Path) -> None:
    async with runtime_on(jupyter_python, tmp_path, backend="gateway", shared_gateway=False) as runtime:
        assert "local gateways are disabled" in (await runtime.offer()).warning


async def test_an_external_gateway_that_is_not_there_is_found_out_before(tmp_path: Path) -> None:
    environ = {"PI_PYTHON_GATEWAY_URL": "http://127.0.0.1:9"}
    async with runtime_on("", tmp_path, environ=environ) as runtime:
        offer = await runtime.offer()
    assert offer.mode == "bash-only"
    assert "External gateway at http://127.0.0.1:9 is not reachable" in offer.warning


async def test_the_default_list_of_tools_stays_below_8000_bytes(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        before = _as_listed(runtime)
        assert (await runtime.python(code="1")).text == "1"
        for listed in (before, _as_listed(runtime)):
            assert len(msgspec.json.encode(listed)) < 8000
            assert all(tool["description"] for tool in listed)


def _as_listed(runtime: Runtime) -> list[Mapping[str, object]]:
    """The tools as an MCP client gets them."""
    return [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.schema}
        for tool in runtime.tools.values()
    ]
