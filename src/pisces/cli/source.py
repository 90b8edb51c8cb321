"""Where the code of `pisces run` comes from: `-c`, a file, or standard input."""

import io
from collections.abc import Sequence

from pisces.cli.celltext import split_cells
from pisces.cli.given_text import checked, read_given, refuse_both
from pisces.errors import InvalidCall
from pisces.model.cells import Cell

_WAYS = 'Give a file, `-` for standard input, or code: pisces run -c "1 + 1".'


def read_cells(file: str | None, codes: Sequence[str]) -> list[Cell]:
    """The cells to run. Raises `InvalidCall` when there are none, or when it is not clear which are meant."""
    if codes:
        refuse_both(file)
        return [Cell(checked(code, "What -c gives")) for code in codes]
    name, content = read_given(file, _WAYS)
    cells = split_cells(_decode(content, name))
    if not cells:
        raise InvalidCall(f"There is no code in {name}.", hint=_WAYS)
    return cells


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
