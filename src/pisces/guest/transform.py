"""Rewrites what is not Python in a cell (`%magic`, `!command`, `obj?`, prompts) to calls of the shell.

Special syntax counts only where a logical line begins, or right after its first assignment: never inside strings,
brackets or continued lines. Plain Python comes back unchanged, after a few quick searches and without being read.
Every line keeps its number, so that tracebacks point to what the user wrote.
"""

from __future__ import annotations

import re

from .lexer import read_logical_line

SHELL_NAME = "__pisces__"
"""The builtin by which rewritten code finds the shell."""

_ESCAPES = frozenset("%!?,;/")
_BLANK_LINES = re.compile(r"(?:[ \t\f]*(?:\r\n|[\r\n]))*")
_INDENT = re.compile(r"[ \t\f]*")
_LINE_START = re.compile(r"\n[ \t\f]*[%!?,;/]")
_LINE_END = re.compile(r"\?[ \t\f]*(?:[\r\n]|\Z)")
_ASSIGNMENT = re.compile(r"=[ \t\\\r\n]*[%!]")
_CLASSIC_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)[ \t]?", re.MULTILINE)
_NUMBERED_PROMPT = re.compile(r"^(?:(?:(?:\[nav\]|\[ins\])? )?In \[\d+\]: |[ \t]*\.{3,}: ?)", re.MULTILINE)
_MARGIN = re.compile(r"^[ \t]*(?=[^ \t\r\n])", re.MULTILINE)
_HELP_TARGET = re.compile(r"(%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?[0-9]+\])*)(\?\??)$")
_LONGEST_TARGET = 1000
_MAGIC_HELP = re.compile(r"%%\w+\?")
_JOINED = re.compile(r"\\\r?\n\Z")


def transform_cell(code: str) -> str:
    """The cell as Python: cleaned of prompts and of the indentation of the whole, its special syntax rewritten."""
    return rewrite_special_syntax(clean_cell(code))


def clean_cell(code: str) -> str:
    """The cell without the indentation that all its lines share, and without prompts that were pasted with it."""
    first = _first_line(code)
    start = code[first : first + 16]
    if start[:1] not in {" ", "\t"} and not start.startswith((">>>", "In [", "[", " In [")) and "...:" not in code:
        return code
    code = _dedented(code)
    text = code[_first_line(code) :]
    if text.startswith(">>>"):
        return _dedented(_CLASSIC_PROMPT.sub("", code))
    if _NUMBERED_PROMPT.match(text) or _second_line_has_prompt(text):
        return _NUMBERED_PROMPT.sub("", code)
    return code


def rewrite_special_syntax(code: str) -> str:
    """The cleaned cell with calls in place of its special syntax; the very same text where it has none."""
    first = _first_line(code)
    if code.startswith("%%", first) and not _MAGIC_HELP.match(code, first):
        return code[:first] + _cell_magic(code[first:])
    if not _may_be_special(code, first):
        return code
    rewritten = []
    position = first
    while position < len(code):
        text, end = _rewritten_line(code, position)
        rewritten.append(text)
        position = end
    return code[:first] + "".join(rewritten)


def _may_be_special(code: str, first: int) -> bool:
    """Whether the cell is worth reading. Searches for one character first: they cost next to nothing."""
    return (
        code[_indented(code, first) :][:1] in _ESCAPES
        or _LINE_START.search(code) is not None
        or ("?" in code and _LINE_END.search(code) is not None)
        or (("!" in code or "%" in code) and _ASSIGNMENT.search(code) is not None)
    )


def _rewritten_line(code: str, position: int) -> tuple[str, int]:
    """The logical line that begins at `position`, rewritten where it is special, and where the next one begins."""
    start = _indented(code, position)
    line = read_logical_line(code, start) if code[start : start + 1] not in _ESCAPES else None
    if line is not None and line.command < 0:
        call = _help_call(code[start : line.end]) if line.asks else None
        if call is None:
            return code[position : line.end], line.end
        return code[position:start] + call + _newlines(code, start, line.end), line.end
    at = start if line is None else line.command
    text, end = _joined_line(code, at)
    call = _help_call(code[start:at] + text)
    if call is None:
        call = _escaped_call(text) if line is None else code[start:at] + _assigned_call(text)
    if call is None:
        return code[position:end], end
    return code[position:start] + call + _newlines(code, at, end), end


def _first_line(code: str) -> int:
    """Where the first line begins that is not blank."""
    blank = _BLANK_LINES.match(code)
    return blank.end() if blank else 0


def _indented(code: str, position: int) -> int:
    """Where the text begins of the line that begins at `position`."""
    indent = _INDENT.match(code, position)
    return indent.end() if indent else position


def _newlines(code: str, start: int, end: int) -> str:
    """As many as were replaced, so that what follows keeps its line number."""
    return "\n" * max(1, code.count("\n", start, end))


def _joined_line(code: str, position: int) -> tuple[str, int]:
    """The text from `position` on with the lines joined that end in a backslash, and where the next line begins."""
    parts = []
    while True:
        newline = code.find("\n", position)
        end = len(code) if newline < 0 else newline + 1
        part = code[position:end]
        position = end
        if not _JOINED.search(part) or position == len(code):
            parts.append(part.rstrip())
            return " ".join(parts), position
        parts.append(part.rstrip()[:-1])


def _escaped_call(text: str) -> str | None:
    """The call for a line that begins with an escape character; None where it is no command after all."""
    escape = text[:2] if text[:2] in {"!!", "??"} else text[:1]
    content = text[len(escape) :]
    name, _, arguments = content.partition(" ")
    if escape == "%":
        return _call("run_line_magic", name, arguments)
    if escape in {"!", "!!"}:
        return _call("system" if escape == "!" else "getoutput", content)
    if escape in {"?", "??"}:
        return _inspection(content, escape) if content else _call("show_usage")
    return _quoted_call(escape, name, arguments)


def _quoted_call(escape: str, name: str, arguments: str) -> str | None:
    """`,f a b` is `f("a", "b")`, `;f a b` is `f("a b")` and `/f a b` is `f(a, b)`."""
    if escape == ",":
        return '{}("{}")'.format(name, '", "'.join(arguments.split()))
    if escape == ";":
        return f'{name}("{arguments}")'
    return "{}({})".format(name, ", ".join(arguments.split())) if name else None


def _assigned_call(text: str) -> str:
    """The call for what stands right of an assignment: `!command` or `%magic`."""
    if text.startswith("!"):
        return _call("getoutput", text[1:])
    name, _, arguments = text[1:].partition(" ")
    return _call("run_line_magic", name, arguments)


def _help_call(text: str) -> str | None:
    # The search takes time by the square of a word's length, and commands have long ones.
    target = _HELP_TARGET.search(text.rstrip()[-_LONGEST_TARGET:])
    return None if target is None else _inspection(target.group(1), target.group(2))


def _inspection(target: str, escape: str) -> str:
    magic = "pinfo2" if escape == "??" else "psearch" if "*" in target else "pinfo"
    return _call("run_line_magic", magic, target)


def _cell_magic(text: str) -> str:
    line, newline, body = text.partition("\n")
    name, _, arguments = line[2:].rstrip().partition(" ")
    if body and not body.endswith("\n"):
        body += "\n"
    return _call("run_cell_magic", name, arguments, body) + newline


def _call(method: str, *arguments: str) -> str:
    return f"{SHELL_NAME}.{method}({', '.join(map(repr, arguments))})"


def _dedented(code: str) -> str:
    margins = _MARGIN.findall(code)
    margin: str = min(margins, default="")
    while margin and not all(one.startswith(margin) for one in margins):
        margin = margin[:-1]
    return re.sub("^" + margin, "", code, flags=re.MULTILINE) if margin else code


def _second_line_has_prompt(text: str) -> bool:
    """The first prompt is often lost when a cell is copied; inside brackets `...:` may be a slice."""
    if text.startswith("%%"):
        return False
    second = read_logical_line(text, 0).end
    return text.count("\n", 0, second) == 1 and _NUMBERED_PROMPT.match(text, second) is not None
