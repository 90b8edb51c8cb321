"""What a person has typed: code for the kernel, or a command for the shell."""

import re
from typing import Final, Literal

import msgspec

Kind = Literal["python", "shell"]

_PREFIX: Final = re.compile(r"\s*(\$\$?|!!?)[ \t]*")


class Typed(msgspec.Struct, frozen=True):
    """One thing to run."""

    kind: Kind
    text: str


def split_prefix(text: str) -> tuple[Kind, str, str]:
    """What a text is, the sign that says so with the white space around it, and the rest.

    A sign may stand twice: elsewhere that keeps a line out of what a model is told, and here nothing is told to one.
    """
    found = _PREFIX.match(text)
    if found is None:
        return "python", "", text
    return "shell" if found[1][0] == "!" else "python", found[0], text[found.end() :]


def understood(text: str) -> Typed | None:
    """`$ code` is code, as everything else is; `! command` is for the shell. None where there is nothing to run.

    Of the rest only white space at its ends is dropped, and what indents it as a whole.
    """
    kind, prefix, rest = split_prefix(text)
    rest = rest.rstrip()
    if not prefix:
        rest = _without_common_indent(rest)
    return Typed(kind, rest) if rest else None


def _without_common_indent(text: str) -> str:
    """The text as if its first line began at the margin. Lines that are indented less stay as they are."""
    text = re.sub(r"\A(?:[ \t]*\n)+", "", text)
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    if not indent:
        return text
    return "\n".join(line.removeprefix(indent) for line in text.split("\n"))
