"""Ctrl+Z, `bg` and `fg` in a shell: the status goes, and comes back when the terminal is ours again."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.drive import PATIENCE

SOURCE = Path(__file__).resolve().parents[2] / "src"
SCRIPT = """\
# %% First
import os, time
print("begun", flush=True)
def until(name):
    while not os.path.exists(os.path.join({folder!r}, name)):
        time.sleep(0.02)
until("speak")
print("spoken", flush=True)
time.sleep(0.3)
print("again", flush=True)
until("end")
# %% Second
1
"""
"""Between its words a status would be drawn several times."""
pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="tmux is not installed, and no package of Python brings it"
)


class Window:
    """A shell in a terminal that another program draws."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self._tmux = ["tmux", "-S", str(folder / "tmux.sock"), "-f", os.devnull]
        self._run("new-session", "-d", "-x", "70", "-y", "20", "env PS1='> ' bash --norc -i", env=environ)

    @property
    def lines(self) -> list[str]:
        made = self._run("capture-pane", "-p").splitlines()
        return [line.rstrip() for line in made if line.strip()]

    def type(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def until(self, seen: Callable[[list[str]], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not seen(self.lines):
            assert time.monotonic() < deadline, "\n".join(self.lines)
            time.sleep(0.05)

    def close(self) -> None:
        self._run("kill-server")

    def _run(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            [*self._tmux, *arguments], env=env, capture_output=True, check=True, text=True, encoding="utf-8", timeout=30
        )
        return done.stdout


@pytest.fixture
def window(plain_python: str, tmp_path: Path) -> Iterator[Window]:
    """A shell whose Pisces is this one."""
    environ = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "PI_SET__python__interpreter": plain_python,
        "LC_ALL": "C.UTF-8",
    }
    environ.pop("TMUX", None)
    made = Window(tmp_path, environ)
    yield made
    made.close()


def is_status(line: str) -> bool:
    return line[:1] in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" and bool(line)


def test_a_command_that_is_stopped_takes_its_status_away_and_draws_none_in_the_background(
    window: Window, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(tmp_path)), encoding="utf-8")
    window.type(shlex.join([sys.executable, "-m", "pisces", "run", str(script)]), "Enter")
    window.until(lambda lines: "begun" in lines and is_status(lines[-1]))
    window.type("C-z")
    window.until(lambda lines: lines[-1] == ">")
    assert not any(map(is_status, window.lines))
    window.type("bg", "Enter")
    window.until(lambda lines: lines[-1] == ">" and "> bg" in lines)
    (tmp_path / "speak").touch()
    window.until(lambda lines: "> spoken" in lines and "again" in lines)
    assert not any(map(is_status, window.lines))
    window.type("fg", "Enter")
    window.until(lambda lines: is_status(lines[-1]))
    window.resize(40, 15)
    window.until(lambda lines: is_status(lines[-1]) and len(lines[-1]) < 40 and sum(map(is_status, lines)) == 1)
    (tmp_path / "end").touch()
    window.until(lambda lines: lines[-1] == ">")
    assert window.lines[-2].startswith("✓ [2/2] Second")
    assert not any(map(is_status, window.lines))
