"""A real terminal for tests: tmux with a server of the test's own. Keys go in, and what is on the screen comes out."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.fakes.drive import PATIENCE

_AFTERWARDS = 'echo "ended with $?"; stty -a | tr ";" "\\n" | tr " " "\\n" | grep -x -e echo -e -echo; exec cat'
"""What the pane shows when the program has ended: its exit code, and whether the terminal echoes again."""


class Tmux:
    """One pane of a terminal."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    @property
    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        return self._do("capture-pane", "-p", "-N").split("\n")[:-1]

    @property
    def text(self) -> str:
        """The same in one, without the blanks at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.lines)

    @property
    def coloured(self) -> str:
        """The same with the sequences that set colours."""
        return self._do("capture-pane", "-p", "-e")

    @property
    def title(self) -> str:
        """The title of the pane, which a program may set."""
        return self._do("display-message", "-p", "#{pane_title}").strip()

    @property
    def shows_other_screen(self) -> bool:
        """Whether the program has the screen for itself."""
        return self._do("display-message", "-p", "#{alternate_on}").strip() == "1"

    @property
    def process(self) -> int:
        """The id of the shell in the pane."""
        return int(self._do("display-message", "-p", "#{pane_pid}"))

    def write_over(self, text: str) -> None:
        """Have something else write on the screen, which is emptied for it."""
        device = self._do("display-message", "-p", "#{pane_tty}").strip()
        Path(device).write_text(f"\033[2J\033[H{text}", encoding="utf-8")
        self.until(text)

    def keys(self, *names: str) -> None:
        """Press keys, by tmux's names: `Enter`, `C-c`, `F1`."""
        self._do("send-keys", *names)

    def type(self, text: str) -> None:
        """Type a text."""
        self._do("send-keys", "-l", text)

    def run(self, code: str) -> None:
        """Type code, and press Enter."""
        self.type(code)
        self.keys("Enter")

    def paste(self, text: str) -> None:
        """Paste a text as terminals do, between marks, if the program has asked for them."""
        subprocess.run([*self._command, "load-buffer", "-"], input=text.encode(), check=True, timeout=PATIENCE)
        self._do("paste-buffer", "-p", "-d")

    def resize(self, width: int, height: int) -> None:
        """Give it another size."""
        self._do("resize-window", "-x", str(width), "-y", str(height))

    def until(self, wanted: str | Callable[[], object], *, within: float = PATIENCE) -> None:
        """Wait until a text is on the screen, or something is so."""
        end = time.monotonic() + within
        while not (wanted in self.text if isinstance(wanted, str) else wanted()):
            assert time.monotonic() < end, f"never came: {wanted}\n{self.text}"
            time.sleep(0.05)

    def begin(self, command: Sequence[str], folder: Path, size: tuple[int, int], variables: Mapping[str, str]) -> None:
        """Start the server, and the command in its pane."""
        # By `env`, because tmux sets a TERM of its own.
        named = ["env", *(f"{name}={value}" for name, value in variables.items())]
        script = f"trap : INT; echo it was here before; {shlex.join([*named, *command])}; {_AFTERWARDS}"
        made = ["new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "-c", str(folder)]
        self._do("-f", os.devnull, *made, "sh", "-c", script)

    def end(self) -> None:
        """End the server, and with it what runs in the pane."""
        try:
            started = psutil.Process(self.process).children(recursive=True)
        except psutil.NoSuchProcess:
            started = []
        subprocess.run([*self._command, "kill-server"], capture_output=True, check=False, timeout=PATIENCE)
        psutil.wait_procs(started, PATIENCE)

    @property
    def _command(self) -> list[str]:
        return ["tmux", "-u", "-S", str(self._socket)]

    def _do(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, check=False, timeout=PATIENCE, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def pisces_in_tmux(
    folder: Path, *arguments: str, size: tuple[int, int] = (100, 30), variables: Mapping[str, str] | None = None
) -> Iterator[Tmux]:
    """`pisces` in a terminal of that size. Whoever uses it ends the host: see the fixture `ui_home`."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed, and no package of Python brings it")
    # The path of a socket has to be short, and that of a test is not.
    with tempfile.TemporaryDirectory(prefix="pisces-tmux-") as short:
        terminal = Tmux(Path(short) / "s")
        try:
            wanted = {"TERM": "screen-256color", "LANG": "C.UTF-8", **(variables or {})}
            terminal.begin([sys.executable, "-m", "pisces", *arguments], folder, size, wanted)
            yield terminal
        finally:
            terminal.end()
