"""Where lines come from: a person at a terminal, with what readline offers, or a pipe."""

import io
import sys
from collections.abc import Callable, Iterable
from typing import Final

from pisces.model.completion import Completion

Complete = Callable[[str, int], Completion]
"""What could stand at a place of a text."""

_APART: Final = " \t\n()[]{}=+-*/%&|^~<>,;:!@#\"'`\\"
_IN_LINE: Final = 500
"""How many lines of before can be had back with the arrow keys."""


class Pipe:
    """Lines of a program or a file; none where standard input is closed."""

    is_person = False

    def __init__(self) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")

    def next_line(self, prompt: str, before: str) -> str | None:
        """The next line without its end; None when there is none."""
        line = sys.stdin.readline() if sys.stdin is not None else ""
        return line.rstrip("\r\n") if line else None


class Person:
    """Lines that somebody types."""

    is_person = True

    def __init__(self, complete: Complete, names: Iterable[str]) -> None:
        self._complete = complete
        self._names = tuple(names)
        self._before = ""
        self._found: list[str] = []
        # Whatever bytes a terminal sends, they end nothing: those that are no text are marked.
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="surrogateescape")
        try:
            import readline
        except ImportError:  # Not every Python has it; then lines are typed without it.
            self._readline = None
            return
        self._readline = readline
        readline.set_completer(self._candidate)
        readline.set_completer_delims(_APART)
        readline.set_history_length(_IN_LINE)
        for setting in ("tab: complete", "set enable-bracketed-paste off", "set bell-style none"):
            readline.parse_and_bind(setting)

    def next_line(self, prompt: str, before: str) -> str | None:
        """The next line; None for Ctrl+D. `before` is what was typed of the same input. Raises `KeyboardInterrupt`."""
        self._before = before
        try:
            line = input(prompt)
        except EOFError:
            sys.stdout.write("\n")
            return None
        return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def remember(self, inputs: Iterable[str]) -> None:
        """Inputs of before, for the arrow keys, line by line; the newest last."""
        lines = [line for text in inputs for line in text.splitlines() if line.strip()]
        if self._readline is not None:
            for line in lines[-_IN_LINE:]:
                self._readline.add_history(line)

    def _candidate(self, text: str, number: int) -> str | None:
        if number == 0:
            self._found = self._candidates()
        return self._found[number] if number < len(self._found) else None

    def _candidates(self) -> list[str]:
        assert self._readline is not None
        line, begin, end = self._readline.get_line_buffer(), self._readline.get_begidx(), self._readline.get_endidx()
        if line.startswith(":") and begin <= 1:
            return [name for name in self._names if f":{name}".startswith(line[:end])]
        before = f"{self._before}\n" if self._before else ""
        completion = self._complete(before + line, len(before) + end)
        return candidates(completion, line, begin, shift=len(before))


def candidates(completion: Completion, line: str, begin: int, *, shift: int) -> list[str]:
    """The matches as what stands in place of the word that begins at `begin`, which is what readline replaces."""
    start = completion.start - shift
    if start >= begin:
        return [line[begin:start] + match for match in completion.matches]
    said = line[max(0, start) : begin]
    return [match[len(said) :] for match in completion.matches if match.startswith(said)]
