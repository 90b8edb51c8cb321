"""Find the snippets of the documentation that are marked for running, with the output that they promise.

A block is marked by a word after its language. `python run` is a program, and a block `text output` right after it is
what the program prints. `console run` has commands after `$ `, continued after `> `, each with its output below it.
With `run jupyter` the user's Python has Jupyter in it. In output, `...` stands for anything.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """One marked block, and where it is."""

    page: Path
    line: int
    language: str
    body: str
    output: str = ""
    """What a program prints; commands have their output in the body."""
    jupyter: bool = False
    """Whether it needs a Python that has Jupyter."""

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A command of a console block, and what it prints."""

    command: str
    output: str


def snippets_of(page: Path) -> list[Snippet]:
    """The marked blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Snippet] = []
    for fence in _FENCE.finditer(text):
        language, _, mark = fence["info"].strip().partition(" ")
        line = text.count("\n", 0, fence.start()) + 1
        if mark in ("run", "run jupyter"):
            found.append(Snippet(page, line, language, fence["body"], jupyter=mark.endswith("jupyter")))
        elif mark == "output":
            found[-1] = replace(found[-1], output=fence["body"])
        elif mark:
            raise ValueError(f"{page}:{line}: a block can be marked `run`, `run jupyter` or `output`, not {mark!r}")
    return found


def steps_of(console: str) -> Iterator[Step]:
    """The commands of a console block with what each is to print."""
    command: list[str] = []
    output: list[str] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            if command:
                yield Step("\n".join(command), "\n".join(output))
            command, output = [line[2:]], []
        elif line.startswith("> ") and not output:
            command.append(line[2:])
        else:
            output.append(line)
    if command:
        yield Step("\n".join(command), "\n".join(output))
