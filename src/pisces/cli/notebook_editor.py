"""A text in the user's own editor."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, Self

from pisces.errors import PiscesError

_USUAL_EDITORS: Final = ("sensible-editor", "nano", "vim", "vi")
_ENCODING: Final = "utf-8"


class EditedText:
    """A file with a text in it while entered. It is removed at the end, unless that is an error after an edit."""

    def __init__(self, text: str, name: str, environ: Mapping[str, str]) -> None:
        """`name` is that of the file: editors go by its ending."""
        self._text = text
        self._name = name
        self._environ = environ
        self._edited = False
        self.path = Path()
        """Where the file is."""

    def __enter__(self) -> Self:
        self.path = Path(tempfile.mkdtemp(prefix="pisces-cell-"), self._name)
        # Editors end the last line of a file: with a newline of ours for that, they leave the text as it is.
        self.path.write_bytes(self._text.encode(_ENCODING, "surrogatepass") + b"\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._edited:
            return
        shutil.rmtree(self.path.parent, ignore_errors=True)

    def edit(self) -> str:
        """Have the user edit it, and return what the user made of it. Raises `PiscesError`."""
        command = [*editor_of(self._environ), str(self.path)]
        before = signal.signal(signal.SIGINT, _left_to_the_editor)
        try:
            code = subprocess.call(command)
        except OSError as error:
            raise PiscesError(
                f"The editor {command[0]!r} cannot be started: {error.strerror}.", hint="Set EDITOR to another one."
            ) from error
        finally:
            signal.signal(signal.SIGINT, before)
        if code != 0:
            raise PiscesError(f"The editor {command[0]!r} ended with exit code {code}: nothing was changed.")
        try:
            text = self.path.read_bytes().decode(_ENCODING, "surrogatepass")
        except OSError as error:
            raise PiscesError(f"What the editor wrote cannot be read: {error}.") from error
        except UnicodeDecodeError as error:
            self._edited = True
            raise PiscesError(
                f"What the editor wrote is not UTF-8: {error}.",
                hint=f"Nothing was written. Your text is in {self.path}",
            ) from error
        text = text.removesuffix("\n")
        self._edited = text != self._text
        return text


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command that starts the user's editor. Raises `PiscesError` when there is none."""
    for name in ("VISUAL", "EDITOR"):
        if named := environ.get(name, "").strip():
            try:
                return shlex.split(named)
            except ValueError as error:
                raise PiscesError(f"The variable {name} is no command: {named!r} ({error}).") from None
    for editor in _USUAL_EDITORS:
        if found := shutil.which(editor):
            return [found]
    raise PiscesError("There is no editor.", hint="Set EDITOR, or give the source with -c, as a --file, or as -.")


def suffix_of(cell_type: str, language: str) -> str:
    """The ending of a file with the source of such a cell."""
    if cell_type != "code":
        return ".md" if cell_type == "markdown" else ".txt"
    return _SUFFIXES.get(language, f".{language}" if os.path.basename(language).isalnum() else ".txt")


_SUFFIXES: Final = {
    "python": ".py",
    "julia": ".jl",
    "javascript": ".js",
    "typescript": ".ts",
    "bash": ".sh",
    "rust": ".rs",
    "ruby": ".rb",
    "haskell": ".hs",
    "c++": ".cpp",
    "kotlin": ".kt",
    "ocaml": ".ml",
}
"""By language; of others the name is the ending, as with `r`, `sql` and `go`."""


def _left_to_the_editor(number: int, frame: FrameType | None) -> None:
    """Ctrl+C reaches both; what it means is for the editor to say."""
