"""`!command` and its kin, with real processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from pisces.guest.commands import expand
from tests.source_tree import ROOT
from tests.unit.guest.recording import RecordedShell

pytestmark = pytest.mark.processes


def test_a_child_writes_where_the_cell_writes(shell: RecordedShell, capfd: pytest.CaptureFixture[str]) -> None:
    shell.ok("print('before')\n!echo out; echo err >&2\nprint('after')")
    captured = capfd.readouterr()
    assert captured.out == "before\nout\nafter\n"
    assert captured.err == "err\n"


def test_a_child_writes_into_what_stands_for_stdout(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.ok("!printf '\\377é'; echo err >&2")
    captured = capsys.readouterr()
    assert captured.out == "\ufffdé"
    assert captured.err == "err\n"


def test_the_exit_code_is_kept(shell: RecordedShell) -> None:
    shell.ok("!exit 3")
    assert shell.namespace["_exit_code"] == 3
    shell.ok("x = !true")
    assert shell.namespace["_exit_code"] == 0


def test_a_child_has_no_input(shell: RecordedShell) -> None:
    shell.ok("x = !cat; echo end")
    assert shell.namespace["x"] == ["end"]


def test_the_lines_of_a_command_are_a_list(shell: RecordedShell) -> None:
    shell.ok("x = !printf 'a b\\nc\\n'; echo d >&2")
    lines = shell.namespace["x"]
    assert lines == ["a b", "c", "d"]
    assert (lines.n, lines.s, lines.l) == ("a b\nc\nd", "a b c d", ["a b", "c", "d"])
    assert shell.ok("!!echo x") == "['x']"


def test_a_command_in_a_function_sees_its_variables(shell: RecordedShell) -> None:
    shell.ok("def f(word):\n    x = !echo {word * 2} $word\n    return x")
    assert shell.ok("f('ab')") == "['abab ab']"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo {x} $x", "echo 5 5"),
        ("echo {x + 1:>3} {name!r} {d['k']}", "echo   6 'n' v"),
        ("echo $o.real $$x {{x}}", "echo 5 $x {x}"),
        ("echo ${x} ${HOME} $HOME $1 {} {nope}", "echo ${x} ${HOME} $HOME $1 {} {nope}"),
        ("awk '{print}' | awk '{print $1}'", "awk '{print}' | awk '{print $1}'"),
        ("echo {1/0} {x", "echo {1/0} {x"),
        ("find . -exec echo {} \\;", "find . -exec echo {} \\;"),
    ],
)
def test_variables_are_put_in_and_the_rest_is_left_to_the_shell(text: str, expected: str) -> None:
    assert expand(text, {"x": 5, "o": 5, "name": "n", "d": {"k": "v"}}, None) == expected


def test_a_script_of_the_shell_runs_whole(shell: RecordedShell, capfd: pytest.CaptureFixture[str]) -> None:
    shell.ok("%%bash one 'two three'\nread line || echo no input\necho $# \"$2\"\nif true; then\n  echo {x}\nfi")
    assert capfd.readouterr().out == "no input\n2 two three\n{x}\n"
    shell.ok("%%sh -e\necho $0")
    assert capfd.readouterr().out == "sh\n"


def test_a_long_script_runs_too(shell: RecordedShell, capfd: pytest.CaptureFixture[str]) -> None:
    shell.ok("%%bash\n" + "# filler\n" * 30_000 + "echo end")
    assert capfd.readouterr().out == "end\n"


def test_a_script_that_fails_is_an_error(shell: RecordedShell) -> None:
    outcome = shell.error("%%bash\nexit 4")
    assert (outcome.ename, outcome.exit_code) == ("CalledProcessError", None)
    assert "exit status 4" in outcome.evalue
    shell.ok("%%bash --no-raise-error\nexit 4")
    assert shell.namespace["_exit_code"] == 4


def test_pip_is_that_of_this_interpreter(shell: RecordedShell, capfd: pytest.CaptureFixture[str]) -> None:
    shell.ok("%pip --version")
    assert f"python {sys.version_info[0]}.{sys.version_info[1]}" in capfd.readouterr().out
    shell.ok("%pip no-such-command>=1")
    assert shell.namespace["_exit_code"] != 0
    assert not Path("=1").exists()


def test_a_shell_that_is_none_is_not_asked(
    shell: RecordedShell, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHELL", "/usr/sbin/nologin")
    shell.ok("!echo fine")
    assert capfd.readouterr().out == "fine\n"


INTERRUPTED = """
import os, signal, sys, threading, time
from tests.unit.guest.recording import RecordedShell

def waits_for_the_child():
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None and frame.f_code.co_name != "wait":
        frame = frame.f_back
    return frame is not None

signal.signal(signal.SIGINT, signal.default_int_handler)
shell = RecordedShell()
def interrupt():
    with open("child", encoding="ascii") as fifo:
        fifo.readline()
    while not waits_for_the_child():  # The child may be ready before `Popen` has returned.
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
os.mkfifo("child")
threading.Thread(target=interrupt).start()
outcome = shell.run("!trap '' INT; echo ready > child; exec sleep 600")
print(outcome.status, *outcome.traceback, sep="\\n")
"""


def test_an_interrupt_ends_the_child(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    status, *traceback = done.stdout.splitlines()
    assert status == "interrupted"
    assert [line for line in traceback if line.startswith("  File")] == ['  File "<cell 1>", line 1, in <module>']
    assert traceback[-1] == "KeyboardInterrupt"
