"""Rc files that do not behave, programs that ask, and hosts that die: no command hangs, and nothing lives on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from pisces.environment.shell_snapshot import SNAPSHOT_VARIABLE
from pisces.guest import shell_capture, shell_snapshot
from pisces.kernels.deadline import Deadline
from pisces.model.events import Status
from pisces.runtime import Runtime
from tests.fakes.drive import PATIENCE, eventually
from tests.fakes.runtimes import details, runtime_on
from tests.fakes.shells import environment_with_rc, write_rc
from tests.integration.native.processes import alive, pids_in
from tests.source_tree import ROOT

HANGS = "echo $$ > $HOME/pid; sleep 300"


async def bash(runtime: Runtime, command: str, timeout: float = 25) -> str:  # noqa: ASYNC109 - what the tool calls it
    with anyio.fail_after(PATIENCE):
        return (await runtime.tool("bash", {"command": command, "timeout": timeout})).text


def take(env: Mapping[str, str]) -> tuple[str, float]:
    """The warning of the first command, and how long that took to be ready."""
    began = time.monotonic()
    command = shell_snapshot.shell_command("echo on", env)
    assert command.args[1:] == ["-c", "--", "echo on"]
    assert "BASH_ENV" not in command.env
    return command.warning, time.monotonic() - began


@pytest.mark.parametrize(
    ("rc", "why"),
    [
        (HANGS, "it did not end within 2 seconds"),
        ("while :; do :; done", "it did not end within 2 seconds"),
        ("cat /dev/zero > /dev/null", "it did not end within 2 seconds"),
        ("trap '' INT TERM HUP; sleep 300", "it did not end within 2 seconds"),
        ("exec sh", "it ended the shell"),
        ("exec sleep 300", "it did not end within 2 seconds"),
        ("exit 3", "it ended the shell"),
        ("kill -9 $$", "it ended the shell"),
    ],
    ids=["hangs", "loops", "reads", "deaf", "exec", "exec-hangs", "exit", "killed"],
)
def test_an_rc_file_that_gives_no_shell_is_told_once_remembered_and_left_out(tmp_path: Path, rc: str, why: str) -> None:
    env = environment_with_rc(tmp_path, rc)
    warning, took = take(env)
    assert warning.startswith(f"No snapshot of your shell was taken from {tmp_path}/.bashrc: {why}.")
    assert took < shell_capture.SECONDS * 5
    again, took = take(env)
    assert again == ""
    assert took < shell_capture.SECONDS
    assert Path(env[SNAPSHOT_VARIABLE]).read_text(encoding="utf-8").startswith(shell_snapshot.FAILED)


@pytest.mark.parametrize(
    "rc",
    [
        "read -p 'Name? ' name",
        "read name < /dev/tty",
        "ssh-add < /dev/null 2> /dev/null; stty sane",
        "no-such-program; false; cd /no/such",
        "yes | head -c 1000000; yes | head -c 1000000 >&2",
        "trap 'sleep 300' EXIT",
        "trap 'echo $BASH_COMMAND; false' DEBUG",
        "printf() { echo mine; }; declare() { :; }; alias set='echo no'",
        "readonly PATH IFS",
        "exec > /dev/null 2>&1 < /dev/null",
        "umask 777",
        "if then",
        "IFS=:",
        "alias() { :; }; shopt() { :; }",
    ],
    ids=[
        "asks",
        "asks-tty",
        "stty",
        "fails",
        "prints",
        "exit-trap",
        "debug-trap",
        "shadows",
        "readonly",
        "exec",
        "umask",
        "syntax",
        "ifs",
        "shadows-more",
    ],
)
def test_an_rc_file_that_asks_fails_or_prints_still_gives_its_functions(tmp_path: Path, rc: str) -> None:
    env = environment_with_rc(tmp_path, f"f() {{ echo f; }}\n{rc}")
    command = shell_snapshot.shell_command("f", env)
    assert command.warning == ""
    done = subprocess.run(
        command.args, env=command.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == (b"f\n", b"")


def test_a_folder_that_cannot_be_written_is_no_reason_to_wait(tmp_path: Path) -> None:
    env = environment_with_rc(tmp_path, HANGS)
    (tmp_path / ".pisces").write_text("", encoding="utf-8")
    warning, took = take(env)
    assert "it cannot be kept in" in warning
    assert took < shell_capture.SECONDS
    assert not (tmp_path / "pid").exists()


async def test_a_hanging_rc_file_costs_its_time_once_and_is_told_by_the_tool_that_met_it(
    plain_python: str, tmp_path: Path
) -> None:
    write_rc(tmp_path / "home", HANGS)
    async with runtime_on(plain_python, tmp_path) as runtime:
        first, second = await bash(runtime, "echo on"), await bash(runtime, "echo on")
    assert first.startswith("on\n\nNo snapshot of your shell was taken from")
    assert second == "on"
    assert alive([int((tmp_path / "home" / "pid").read_text(encoding="ascii"))]) == []


async def test_a_hanging_rc_file_is_told_in_the_event_of_the_helper_that_met_it(
    plain_python: str, tmp_path: Path
) -> None:
    write_rc(tmp_path / "home", HANGS)
    async with runtime_on(plain_python, tmp_path) as runtime:
        with anyio.fail_after(PATIENCE):
            result = await runtime.python(code="for _ in range(2): run('echo on')", timeout=25)
    first, second = details(result).status_events
    assert isinstance(first, Status)
    assert first.data["snapshot"].startswith("No snapshot of your shell was taken from")
    assert second.data == {"cmd": "echo on", "code": 0, "output": "on\n"}
    assert result.text == "on\non"


async def test_a_timeout_while_the_rc_file_hangs_ends_that_too(plain_python: str, tmp_path: Path) -> None:
    write_rc(tmp_path / "home", HANGS)
    async with runtime_on(plain_python, tmp_path) as runtime:
        await runtime.interpreters.find(None, Deadline.never())
        text = await bash(runtime, "echo on", timeout=1)
        assert alive([int((tmp_path / "home" / "pid").read_text(encoding="ascii"))]) == []
    assert "Command timed out after 1 seconds" in text


async def test_what_a_command_left_is_named_when_it_is_gone_with_its_kernel(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path, checkpoint="always") as runtime:
        # Until it is `sleep`, it is a copy of bash, and by that name it would be kept.
        started = "sleep 300 > /dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do :; done; echo pids $!"
        left = await runtime.python(code=f"r = run({started!r})")
        (pid,) = pids_in(left.text)
        crashed = await runtime.python(code="import os; os.kill(os.getpid(), 9)")
        assert alive([pid]) == []
    assert f"Not back: child process 'sleep' ({pid})." in crashed.text


# An interactive program takes the terminal; one that asks blocks for ever.
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("tty", "not a tty"),
        ("(: < /dev/tty) 2> /dev/null || echo none", "none"),
        ("ps -o tty= -p $$ | tr -d ' '", "?"),
        ("cat; read line || echo end", "end"),
        ("python3 -c 'input()' 2>&1 | tail -n 1", "EOFError: EOF when reading a line"),
        ("python3 -c 'import getpass; getpass.getpass()' 2>&1 | tail -n 1", "EOFError"),
        ("echo text | ${PAGER:-more}", "text"),
        ("git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty 2>&1 | tail -n 1", "message"),
        ("ls /proc/self/fd", "0\n1\n2\n3"),
    ],
    ids=["tty", "terminal", "controlling", "read", "input", "getpass", "pager", "editor", "descriptors"],
)
async def test_a_program_that_asks_gets_an_end_and_no_terminal(
    plain_python: str, tmp_path: Path, command: str, said: str
) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        text = await bash(runtime, command)
    assert said in text
    assert "timed out" not in text


HOST = """
import anyio, sys
from pathlib import Path
from pisces.runtime import Runtime
from pisces.tools.base import CallContext
async def main():
    async with Runtime(cwd=sys.argv[1]) as runtime:
        left = await runtime.bash("setsid sleep 300 & echo pids $!")
        print(left.text.splitlines()[0], flush=True)
        def tell(update):
            if "ready" in update.tail:
                print(update.tail.replace("ready", ""), flush=True)
        await runtime.bash("setsid sleep 301 & a=$!; sleep 302 & echo pids $$ $a $!; echo ready; wait", on_update=tell)
anyio.run(main)
"""


# Orphans after the host was killed with SIGKILL; only the direct child is ended.
async def test_all_commands_end_with_a_host_that_is_killed(plain_python: str, tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PI_SET__python__interpreter": plain_python}
    host = subprocess.Popen(  # noqa: ASYNC220 - nothing else goes on in this test
        [sys.executable, "-c", HOST, str(tmp_path)],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert host.stdout is not None
    pids = pids_in(host.stdout.readline()) + pids_in(host.stdout.readline())
    assert alive(pids) == pids
    host.send_signal(signal.SIGKILL)
    host.communicate(timeout=PATIENCE)
    await eventually(lambda: alive(pids) == [])


async def test_a_tether_that_is_killed_takes_its_command_along(plain_python: str, tmp_path: Path) -> None:
    async with runtime_on(plain_python, tmp_path) as runtime:
        command = "setsid sleep 300 & echo pids $$ $!; kill -9 $PPID; sleep 301"
        text = await bash(runtime, command)
        await eventually(lambda: alive(pids_in(text)) == [])
        assert await bash(runtime, "echo on") == "on"
    assert "Command exited with code 137" in text
