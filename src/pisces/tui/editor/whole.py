"""Whether what has been typed is whole, so that Enter runs it, and how far the next line is indented.

It is judged by the text alone and not by a parser: the kernel may be of another Python than this program, and takes
magics too. What is merely wrong counts as whole: the kernel says best what is wrong with it.
"""

import re
from typing import Final

import msgspec

from pisces.tui.desk.typed import split_prefix

INDENT: Final = "    "

_TOKEN: Final = re.compile(r"\"\"\"|'''|[\"'#()\[\]{}\n]|\\.?", re.DOTALL)
_CLOSES: Final = {")": "(", "]": "[", "}": "{"}
_ESCAPES: Final = re.compile(r"[ \t]*(?:[!%?]|[\w.,*\[\]()][\w.,*\[\]() ]*=[ \t]*[!%])")
"""A line for IPython: a command, a magic, a question, or what one of them gives."""
_LEAVES: Final = re.compile(r"\s*(?:return|pass|raise|break|continue)\b")
_SPACE: Final = re.compile(r"[ \t]*")


class Reading(msgspec.Struct):
    """What is open at the end of a text."""

    quote: str = ""
    """The triple quote that was not closed."""
    brackets: str = ""
    """Those that were not closed, the innermost last."""
    continued: bool = False
    """Whether the last line ends in a backslash that joins the next one to it."""
    code_end: str = ""
    """The last character that is neither white space nor in a comment."""
    wrong: bool = False
    """Whether a bracket was closed that was not open: no more text can mend that."""

    @property
    def is_open(self) -> bool:
        """Whether a string or a bracket is."""
        return bool(self.quote or self.brackets)

    @property
    def goes_on(self) -> bool:
        """Whether more has to come; after the head of a block, too."""
        return self.is_open or self.continued or self.code_end == ":"


def is_whole(text: str) -> bool:
    """Whether Enter at the end of this text is to run it."""
    kind, _, code = split_prefix(text)
    lines = code.split("\n")
    if kind == "shell":
        return not lines[-1].endswith("\\")
    if code.lstrip().startswith("%%"):
        return len(lines) > 1 and not lines[-1].strip()
    reading = read(code)
    return reading.wrong or not (reading.goes_on or _in_block(lines))


def next_indent(before: str) -> str:
    """What a new line begins with, after the text before the cursor."""
    line = before.rpartition("\n")[2]
    own = _SPACE.match(line)
    indent = own[0] if own else ""
    kind, _, code = split_prefix(before)
    if kind == "shell" or code.lstrip().startswith("%%"):
        return indent
    reading = read(code)
    if reading.quote:
        return indent
    if _opens(line, reading):
        return indent + INDENT
    if not reading.is_open and _LEAVES.match(line):
        return one_level_less(indent)
    return indent


def one_level_less(indent: str) -> str:
    """This white space without its last level."""
    if indent.endswith("\t"):
        return indent[:-1]
    return indent[: (len(indent) - 1) // len(INDENT) * len(INDENT)] if indent else ""


def read(code: str) -> Reading:
    """Go through the code once, past its strings and comments."""
    reading, stack, at = Reading(), list[str](), 0
    while at < len(code):
        if not stack and (skipped := _line_of_ipython(code, at)):
            at = skipped
            reading.code_end = ""
            continue
        found = _TOKEN.search(code, at)
        if found is None:
            break
        reading.code_end = _last(code, at, found.start(), reading.code_end)
        at = _past(code, found, stack, reading)
        if reading.wrong or reading.quote:
            break
    if not reading.quote:
        reading.code_end = _last(code, at, len(code), reading.code_end)
    reading.brackets = "".join(stack)
    return reading


def _line_of_ipython(code: str, at: int) -> int:
    """Where the line that begins here ends, if it is one that Python would not understand; else 0."""
    if at and code[at - 1] != "\n":
        return 0
    end = code.find("\n", at)
    end = len(code) if end < 0 else end
    return end + 1 if _ESCAPES.match(code, at, end) else 0


def _past(code: str, found: re.Match[str], stack: list[str], reading: Reading) -> int:
    """Where to go on after a token, having noted what it does."""
    token = found[0]
    match token[0]:
        case "#":
            end = code.find("\n", found.end())
            return len(code) if end < 0 else end
        case "(" | "[" | "{":
            stack.append(token)
            reading.code_end = token
        case ")" | "]" | "}":
            reading.wrong = not stack or stack.pop() != _CLOSES[token]
            reading.code_end = token
        case "\\":
            reading.continued = found.end() == len(code) and token in ("\\", "\\\n")
            reading.code_end = "\\"
        case "\n":
            pass
        case _:
            reading.code_end = token
            return _past_string(code, found, reading)
    return found.end()


def _past_string(code: str, found: re.Match[str], reading: Reading) -> int:
    quote, at = found[0], found.end()
    ends = re.compile(r"\\.|" + quote + ("" if len(quote) == 3 else r"|\n"), re.DOTALL)
    while (end := ends.search(code, at)) is not None:
        at = end.end()
        if end[0] == quote:
            return at
        if end[0] == "\n":
            return at - 1
    if len(quote) == 3:
        reading.quote = quote
    elif code.endswith("\\"):
        reading.continued = True
    return len(code)


def _last(code: str, start: int, end: int, before: str) -> str:
    return code[start:end].rstrip()[-1:] or before


def _in_block(lines: list[str]) -> bool:
    """Whether the last line belongs to a block that may go on, or to a decorator that something has to follow."""
    last = lines[-1]
    return last.startswith("@") or (len(lines) > 1 and bool(last.strip()) and last[0] in " \t")


def _opens(line: str, reading: Reading) -> bool:
    if reading.is_open:
        return bool(line.strip()) and reading.code_end in tuple("([{")
    return reading.code_end == ":" and bool(line.strip())
