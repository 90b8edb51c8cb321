"""Where the code of `pisces run` comes from: `-c`, a file, or standard input."""

import io
import sys
from collections.abc import Sequence

from pisces.cli.celltext import split_cells
from pisces.errors import InvalidCall
from pisces.model.cells import Cell

_STANDARD_INPUT = "-"
_WAYS = 'Give a file, `-` for standard input, or code: pisces run -c "1 + 1".'


def read_cells(file: str | None, codes: Sequence[str]) -> list[Cell]:
    """The cells to run. Raises `InvalidCall` when there are none, or when it is not clear which are meant."""
    if codes:
        if file is not None:
            raise InvalidCall(f"Both a file ({file}) and -c were given.", hint="Give one of them.")
        return [Cell(_checked(code)) for code in codes]
    if file is None and sys.stdin is not None and sys.stdin.isatty():
        raise InvalidCall("There is nothing to run.", hint=_WAYS)
    if file is None or file == _STANDARD_INPUT:
        name, content = "standard input", sys.stdin.buffer.read() if sys.stdin is not None else b""
    else:
        name, content = file, _read(file)
    cells = split_cells(_decode(content, name))
    if not cells:
        raise InvalidCall(f"There is no code in {name}.", hint=_WAYS)
    return cells


def _checked(code: str) -> str:
    try:
        code.encode("utf-8")
    except UnicodeEncodeError as error:  # Python keeps the bytes of an argument that are none as halves of surrogates.
        raise InvalidCall(f"What -c gives is not UTF-8, from character {error.start} on.", hint="Use UTF-8.") from error
    return code


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise InvalidCall(f"Cannot read {file}: {error.strerror or error}.", hint=_WAYS) from error


def _decode(content: bytes, name: str) -> str:
    """Source text as Python reads it: UTF-8, or the encoding that one of its first two lines names."""
    encoding = "utf-8-sig"
    try:
        if b"coding" in b"".join(content.split(b"\n", 2)[:2]):
            from tokenize import detect_encoding  # only few files name an encoding

            encoding = detect_encoding(io.BytesIO(content).readline)[0]
        text = content.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise InvalidCall(
            f"{name} is not text that Python can read: {error}.",
            hint="Save it as UTF-8, or name its encoding in its first line: # coding: latin-1",
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
