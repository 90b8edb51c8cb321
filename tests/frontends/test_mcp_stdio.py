"""`pisces mcp` at the end of two pipes, with the official client: what results look like, and which tools there are."""

import os
import pty
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent

from tests.fakes.mcp_clients import LEGACY, MODERN, call, pisces_mcp, python, text_of
from tests.fakes.mcp_wire import EACH_ERA, Era, wired
from tests.frontends.command import PATIENCE, Command

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SHOWS_A_PICTURE = f"""
import base64
class Dot:
    def _repr_png_(self): return base64.b64decode({DOT!r})
print('before')
display(Dot())
print('after')
"""


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_variables_stay_from_call_to_call_and_errors_are_exactly_what_did_not_go_well(
    plain_python: str, tmp_path: Path, mode: str
) -> None:
    results: dict[str, CallToolResult] = {}
    async with pisces_mcp(plain_python, "--cwd", str(tmp_path), mode=mode) as client:
        results["ok"] = await python(client, "x = 20")
        results["error"] = await python(client, "x += 1\n1 / 0")
        results["timeout"] = await python(client, "import time; time.sleep(60)", timeout=1)
        results["crashed"] = await python(client, "import os; os._exit(3)")
        results["killed"] = await python(client, "import os; os.kill(os.getpid(), 11)")
        results["refused"] = await call(client, "python", cells=3)
        results["no such tool"] = await call(client, "bash", command="ls")
        results["no such session"] = await call(client, "session", action="interrupt", session="nowhere")
        results["last"] = await python(client, "print(x * 2)")
    assert [name for name, result in results.items() if not result.is_error] == ["ok", "last"]
    assert outcomes(results) == {
        "ok": "ok",
        "error": "error",
        "timeout": "timeout",
        "crashed": "crashed",
        "killed": "crashed",
        "refused": "refused",
        "no such tool": "refused",
        "no such session": "refused",
        "last": "ok",
    }
    assert text_of(results["last"]) == "42"
    assert "ZeroDivisionError" in text_of(results["error"])
    assert "Command timed out after 1 seconds" in text_of(results["timeout"])
    assert text_of(results["crashed"]).startswith("[State: restored] ")
    assert text_of(results["killed"]).startswith("[State: restored] The kernel was ended by SIGSEGV.")
    assert text_of(results["refused"]).startswith("Error: ")
    assert text_of(results["no such tool"]) == "Error: There is no tool 'bash'. Tools: python, notebook, session"


def outcomes(results: dict[str, CallToolResult]) -> dict[str, Any]:
    return {name: (result.structured_content or {}).get("outcome") for name, result in results.items()}


@pytest.mark.parametrize(
    ("program", "option", "has_data"),
    [
        ("some-agent", "auto", True),
        ("claude-code", "auto", False),
        ("claude-code", "always", True),
    ],
)
async def test_data_is_for_clients_whose_model_still_sees_text_and_pictures(
    plain_python: str, tmp_path: Path, program: str, option: str, has_data: bool
) -> None:
    options = ("--cwd", str(tmp_path), "--structured", option)
    async with pisces_mcp(plain_python, *options, program=program) as client:
        tools = (await client.list_tools()).tools
        result = await python(client, SHOWS_A_PICTURE)
    assert [tool.output_schema is not None for tool in tools] == [has_data] * 3
    assert (result.structured_content is not None) is has_data
    first, picture = result.content
    assert isinstance(picture, ImageContent)
    assert (first.type, picture.mime_type, picture.data) == ("text", "image/png", DOT)
    assert text_of(result).splitlines()[0] == "before"
    assert text_of(result).splitlines()[-1] == "after"


def test_the_tools_are_those_that_were_asked_for_as_far_as_the_settings_allow_them(
    pisces: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_SET__python__toolMode", "ipy-only")
    with wired(pisces, "--tools", "+bash", "--tools", "+edit,+read") as wire:
        listed = wire.result(wire.request("tools/list"))
        wire.hang_up()
        assert wire.wait() == 0
    assert [tool["name"] for tool in listed["tools"]] == ["python", "notebook", "session", "read", "edit"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tools", "python,session"), "Error: The settings allow none of the tools python, session\n"),
        (("--tools", "nope"), "Error: There is no tool 'nope'. Tools: python, notebook, session, bash, "),
        (("--cwd", "/nowhere"), "Error: Working directory does not exist or is not a directory: /nowhere\n"),
    ],
    ids=["no-tool", "unknown-tool", "no-folder"],
)
def test_a_server_that_cannot_be_says_why_in_one_sentence_and_exits_with_2(
    pisces: Command, arguments: tuple[str, ...], said: str
) -> None:
    done = pisces("mcp", *arguments, variables={"PI_SET__python__toolMode": "bash-only"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [(), ("--tools", "+eval"), ("--tools", "all")], ids=["usual", "plus", "all"])
async def test_without_python_bash_and_the_file_tools_are_served(
    plain_python: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    variables = {"PI_PY": "0"}
    async with pisces_mcp(plain_python, "--cwd", str(tmp_path), *arguments, variables=variables) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["bash", "read", "write", "edit"]
        await call(client, "write", path="a.txt", content="one\n")
        said = await call(client, "bash", command="cat a.txt")
        refused = await python(client, "1")
    assert text_of(said) == "one"
    assert refused.is_error
    assert text_of(refused) == (
        "Error: There is no tool 'python' here: `python.toolMode` is `bash-only`. Tools: bash, read, write, edit"
    )


def test_a_python_that_cannot_be_had_is_told_with_the_call_and_used_once_it_is_there(
    plain_python: str, tmp_path: Path
) -> None:
    missing = tmp_path / "python"
    with wired(Command(str(missing)), "--tools", "+bash,+read", era="modern") as wire:
        before = wire.result(wire.request("tools/list"))
        refused = wire.run("1 + 1")
        os.symlink(plain_python, missing)
        mended = wire.run("1 + 1")
        assert wire.result(wire.request("tools/list")) == before
        wire.hang_up()
        assert wire.wait() == 0
    assert refused["isError"]
    text = refused["content"][0]["text"]
    assert text.startswith(f"Error: The interpreter of `python.interpreter` ({missing}) does")
    assert text.endswith("\nTools that need no kernel: notebook (to read and edit), bash, read.")
    assert (mended["isError"], mended["content"][0]["text"]) == (False, "2")


@pytest.mark.parametrize("era", EACH_ERA)
def test_a_silent_cell_is_told_of_all_the_time_with_its_last_lines_to_whoever_asked(
    pisces: Command, tmp_path: Path, era: Era
) -> None:
    waits = "import os, time\nfor n in range(9): print(n)\nwhile not os.path.exists('go'): time.sleep(0.01)"
    with wired(pisces, "--cwd", str(tmp_path), era=era) as wire:
        number = wire.python(waits, meta={"progressToken": "mine"})
        unasked = wire.python("1")
        wire.until(lambda: len(wire.progress()) >= 4)
        (tmp_path / "go").touch()
        assert not wire.result(number)["isError"]
        assert not wire.result(unasked)["isError"]
        moments = [when for when, each in zip(wire.times, wire.received, strict=True) if "method" in each]
    told = wire.progress()
    assert {each["progressToken"] for each in told} == {"mine"}
    assert max(later - before for before, later in pairwise(moments)) < 10  # They come every two seconds.
    assert all(later["progress"] > before["progress"] for before, later in pairwise(told))
    assert told[-1]["message"].split("\n")[1:] == ["4", "5", "6", "7", "8"]


def test_a_person_who_starts_it_hears_what_it_is_for_and_can_end_it(pisces: Command) -> None:
    ours, theirs = pty.openpty()
    try:
        process = pisces.start("mcp", stdin=theirs, stdout=theirs)
        os.write(ours, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        shown = b""
        while b'"result":{}' not in shown:
            shown += os.read(ours, 1024)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert os.get_blocking(theirs)  # Others at the same terminal wait for it as before.
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 130
    assert b"`pisces mcp install CLIENT` sets one up" in errors


async def test_models_are_told_of_no_tool_that_they_do_not_have(plain_python: str, tmp_path: Path) -> None:
    said: dict[str, str] = {}
    for tools in ("python,session", "python", "read"):
        async with pisces_mcp(plain_python, "--tools", tools, "--cwd", str(tmp_path), mode=LEGACY) as client:
            said[tools] = client.instructions or ""
    assert "`session` tool" in said["python,session"]
    assert "`python`" in said["python"]
    assert "`session`" not in said["python"]
    assert not said["read"]


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
@pytest.mark.parametrize("parent", ["parent", None], ids=["with ids", "one without an id"])
async def test_two_agents_of_one_client_are_told_that_they_share_a_session(
    plain_python: str, mode: str, parent: str | None
) -> None:
    async with pisces_mcp(plain_python, mode=mode) as client:

        async def cell(agent: str | None) -> str:
            meta: Any = {"threadId": agent} if agent else None
            return text_of(await client.call_tool("python", {"code": "6 * 7"}, meta=meta))

        said = [await cell(agent) for agent in (parent, parent, "child", parent, "child")]
    told = [text.startswith("Another agent uses session 'default' too") for text in said]
    assert told == [False, False, True, True, False]


async def test_the_first_result_of_a_mistyped_session_names_the_one_that_was_meant(plain_python: str) -> None:
    async with pisces_mcp(plain_python) as client:
        first = await python(client, "x = 1")
        await python(client, "x = 1", session="train")
        mistyped = await python(client, "x", session="trian")
        failed = await call(client, "session", action="branch", session="trian", to="train")
        elsewhere = await call(client, "session", action="branch", session="trainn", to="new")
        listed = text_of(await call(client, "session", action="list"))
    assert text_of(first) == "(no output)"
    assert text_of(mistyped).startswith("This is a new session 'trian'. Existing sessions: 'train', 'default'.\n")
    assert failed.is_error
    assert "There is no session 'trainn'. Sessions: train, trian, default" in text_of(elsewhere)
    assert [line.partition(":")[0] for line in listed.splitlines()] == ["default", "train", "trian"]
