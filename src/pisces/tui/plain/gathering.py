"""Lines that are typed, or come from a pipe, put together to what can be run. No input and no output here."""

import ast
import codeop
import re
import warnings
from typing import Final

_GOES_ON: Final = re.compile(r"(?:else|elif|except|finally|case)\b|[)\]}]|#(?!\s*%%)|$")
"""What can begin a line at the left margin and still belong to the block before it."""
_OPEN: Final = re.compile(r"'([(\[{])' was never closed|unterminated triple-quoted")
"""What Python says of code that ends within a bracket, the innermost, or a string."""
_CLOSED_BY: Final[dict[str | None, tuple[str, ...]]] = {"(": (")",), "[": ("]",), "{": ("}",), None: ("'''", '"""')}
_MANY: Final = 50
"""Lines from which on only those are judged that can end something.

To judge is to compile all lines so far: a list of 1000 lines took 16 seconds.
"""
_CANNOT_PARSE: Final = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)


class Gathering:
    """Lines in, whole inputs out.

    A statement of one line is whole at once. A block is whole before a line at the left margin that does not belong to
    it, so that a file of Python can be piped in as it is; and after an empty line, where a person types.
    """

    def __init__(self, *, blank_ends: bool) -> None:
        self._lines: list[str] = []
        self._closers: tuple[str, ...] = ()
        """One of these must be in a line that ends what has begun; none where that is not known."""
        self._unjudged = False
        """Whether lines were taken without a look at what they make whole, or break."""
        self._blank_ends = blank_ends
        self._judge = codeop.CommandCompiler()
        self._judge.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

    @property
    def open(self) -> bool:
        """Whether something has begun that is not whole yet."""
        return bool(self._lines)

    @property
    def text(self) -> str:
        """What has begun."""
        return "\n".join(self._lines)

    def take(self, line: str) -> list[str]:
        """The next line, without its end; the inputs that are whole now."""
        if self._ends_nothing(line):
            self._lines.append(line)
            self._closers = () if self._may_close(line) else self._closers
            self._unjudged = True
            return []
        whole = self.finish() if self._stands_without(line) else []
        if not self._lines and not line.strip():
            return whole
        self._lines.append(line)
        return [*whole, *self.finish()] if self._is_whole() else whole

    def finish(self) -> list[str]:
        """What there is, whole or not; comments alone are nothing to run."""
        text = self.text.rstrip()
        something = any(line.strip() and not line.lstrip().startswith("#") for line in self._lines)
        self.drop()
        return [text] if something else []

    def drop(self) -> None:
        """Forget what has begun."""
        self._lines, self._closers, self._unjudged = [], (), False

    def _ends_nothing(self, line: str) -> bool:
        """Whether a line of many goes on with what has begun, as far as that can be told without a judge.

        From a pipe, what ends with an indented line can as well end before the next one at the left margin.
        """
        if len(self._lines) < _MANY or self._lines[0].startswith("%%"):
            return False
        if self._closers and not self._may_close(line):
            return True
        return not self._blank_ends and (line[:1].isspace() or not line)

    def _may_close(self, line: str) -> bool:
        return any(closer in line for closer in self._closers)

    def _stands_without(self, line: str) -> bool:
        """Whether what has begun is a block that is whole, and the line is not of it."""
        if not self._lines or line[:1].isspace():
            return False
        if self._unjudged and self._is_whole():
            return True
        if self._closers or _GOES_ON.match(line):
            return False
        return not self._lines[0].startswith("%%") and _parses(self._code)

    @property
    def _code(self) -> str:
        """What has begun, without the `$` that may stand before it."""
        text = self.text
        return text.lstrip().lstrip("$").lstrip() if text.lstrip().startswith("$") else text

    def _is_whole(self) -> bool:
        first = self._lines[0]
        if first.startswith("%%"):  # A cell magic: only its language knows.
            return len(self._lines) > 1 and not self._lines[-1].strip()
        if first.lstrip().startswith(("!", ":")):
            return True
        code = self._code if self._blank_ends else self._code.rstrip()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                whole = self._judge(code, "<input>", "single") is not None
        except _CANNOT_PARSE:
            return True  # The kernel may know it better: a magic, or a newer Python. Else it tells what is wrong.
        self._unjudged = False
        self._closers = _closers(code) if not whole and len(self._lines) >= _MANY else ()
        return whole


def _parses(code: str) -> bool:
    return _trouble(code) is None


def _closers(code: str) -> tuple[str, ...]:
    """What has to come for a bracket or a string that is open at the end; nothing where none is, or it is not told."""
    found = _OPEN.search(str(_trouble(code)))
    return _CLOSED_BY[found[1]] if found else ()


def _trouble(code: str) -> Exception | None:
    """Why code cannot be parsed; None where it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code + "\n", "<input>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except _CANNOT_PARSE as error:
        return error
    return None
