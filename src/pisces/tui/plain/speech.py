"""What is said in lines: output of cells as its lines become whole, and sentences of ours between them."""

import sys
from collections.abc import Iterable
from typing import Final

from pisces.host.protocol import Piece
from pisces.output.sanitize import Sanitizer
from pisces.render.from_result import notice_from
from pisces.render.terminal_text import without_control
from pisces.render.traceback_heading import spoken
from pisces.render.view import STATES

_LONGEST_WAIT: Final = 64 * 1024
"""Characters of a line that are held back for its end."""


class Lines:
    """Text in pieces in, whole lines out. Of a line that is written over again and again, the last state counts."""

    def __init__(self) -> None:
        self._sanitizer = Sanitizer()
        self._rest = ""
        self._in_line = False
        """Whether the last that was passed on is a line without its end."""

    def feed(self, text: str) -> str:
        """The lines that are whole now, with their ends."""
        self._rest += self._sanitizer.feed(text)
        end = self._rest.rfind("\n") + 1
        if not end and len(self._rest) > _LONGEST_WAIT:
            end = len(self._rest)
        whole, self._rest = self._rest[:end], self._rest[end:]
        said = spoken(without_control(whole))
        if said:
            self._in_line = not said.endswith("\n")
        return said

    def finish(self) -> str:
        """The rest, as a line; of a line that was passed on without its end, that."""
        rest, self._rest = self._rest + self._sanitizer.finish(), ""
        open_line, self._in_line = bool(rest) or self._in_line, False
        self._sanitizer = Sanitizer()
        return without_control(rest) + "\n" if open_line else ""


class Speech:
    """Standard output. Nothing but characters and line ends is written."""

    def __init__(self) -> None:
        self._lines = Lines()
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # A real one has it.

    def hear(self, pieces: Iterable[Piece]) -> None:
        """Output of cells; an empty piece says that one begins. From any thread, one at a time."""
        said = ""
        for piece in pieces:
            said += self._lines.feed(piece.text) if piece.text else self._lines.finish()
        self._write(said)

    def say(self, *sentences: str) -> None:
        """Sentences of ours, or text of others, from the beginning of a line."""
        said = [without_control(each) for each in sentences if each]
        self._write(self._lines.finish() + "".join(f"{each}\n" for each in said))

    def tell(self, notices: Iterable[str]) -> None:
        """What became of the state, in words that cannot be missed; then the rest."""
        said = sorted(map(notice_from, notices), key=lambda notice: notice.kind not in STATES.values())
        self.say(*(notice.titled for notice in said))

    def _write(self, text: str) -> None:
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
