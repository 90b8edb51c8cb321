"""Running `pisces` as a user does: as a process, to its end or step by step."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fakes.terminals import Terminal

PATIENCE = 100.0
"""Seconds after which a command that has not ended never will: longer than any of them gives itself."""


class Command:
    """Starts `python -m pisces` with the environment of the test."""

    def __init__(self, interpreter: str) -> None:
        self._interpreter = interpreter

    def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        cwd: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run it to its end, with further variables in its environment."""
        done = subprocess.run(
            self._command(arguments),
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env=self._environment(variables or {}),
            timeout=PATIENCE,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        )

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Start it and leave it running, with pipes for its output; the test waits for its end."""
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        # Unbuffered: what `readline` had read ahead into a buffer would be missing from `communicate`.
        return subprocess.Popen(self._command(arguments), env=self._environment({}), bufsize=0, **settings)

    def at_terminal(
        self, *arguments: str, variables: Mapping[str, str] | None = None, columns: int = 80, rows: int = 24
    ) -> Terminal:
        """Start it at a terminal of its own."""
        named = {"TERM": "xterm-256color", "NO_COLOR": "", "PYTHONIOENCODING": "utf-8", **(variables or {})}
        return Terminal(self._command(arguments), self._environment(named), columns=columns, rows=rows)

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "pisces", *arguments]

    def _environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        source = str(Path(__file__).resolve().parents[2] / "src")
        return {**os.environ, "PYTHONPATH": source, "PI_SET__python__interpreter": self._interpreter, **variables}
