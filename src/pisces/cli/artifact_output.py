"""Artifacts on the terminal: printed as they are read, so that no size is too large."""

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from pisces.errors import ArtifactError
from pisces.output.artifact_text import LineRange
from pisces.output.artifacts import ArtifactStore, parse_lines, parse_uri
from pisces.output.notice import format_size

_BLOCK: Final = 1024 * 1024
"""A line that is longer comes in parts."""


class FoundArtifact(msgspec.Struct, frozen=True):
    """A file, and the lines of it that are wanted."""

    id: str
    path: Path
    lines: LineRange


def find_artifact(folder: Path, address: str, span: str | None) -> FoundArtifact:
    """The artifact of an id or an `artifact://` address. What is misspelt is bad use; what is not there, an error."""
    try:
        ref = parse_uri(address if "://" in address else f"artifact://{address}")
        lines = ref.lines if span is None else parse_lines(span)
    except ArtifactError as error:
        raise click.UsageError(error.explain()) from error
    if ref.lines is not None and span is not None:
        raise click.UsageError(f"Lines were given twice: {ref.lines} and {span}.")
    return FoundArtifact(ref.id, ArtifactStore(folder).path(ref.id), lines or LineRange(first=1))


def print_lines(found: FoundArtifact) -> int:
    """Print the lines, byte for byte."""
    output = sys.stdout.buffer
    for _, part in _parts(found):
        output.write(part)
    output.flush()
    return 0


def print_matches(found: FoundArtifact, pattern: str) -> int:
    """Print each line that matches, as `<number>:<line>`; the exit code is 1 when there is none, as with grep."""
    try:
        matches = re.compile(pattern).search
    except re.error as error:
        raise click.UsageError(
            f"Not a regular expression: {pattern!r} ({error}). Escape special characters with a backslash."
        ) from error
    last_match = 0
    for number, part in _parts(found):
        text = part.decode("utf-8", "replace").removesuffix("\n")
        if number != last_match and matches(text):
            last_match = number
            click.echo(f"{number}:{text}")
    if not last_match:
        click.echo(f"No line of artifact {found.id} matches {pattern!r}.", err=True)
    return 0 if last_match else 1


def list_artifacts(folder: Path) -> int:
    """One line for each artifact: id, size, age, session and kind."""
    files = [file for file in folder.glob("*/*.*.*") if file.name.partition(".")[0].isdecimal()]
    for file in sorted(files, key=lambda file: int(file.name.partition(".")[0]), reverse=True):
        number, _, kind = file.name.partition(".")
        status = file.stat()
        size, age = format_size(status.st_size), _age(time.time() - status.st_mtime)
        click.echo(f"{number:>6}  {size:>10}  {age:>8}  {file.parent.name}  {kind}")
    if not files:
        click.echo("There are no artifacts: no output has been cut.", err=True)
    return 0


def _parts(found: FoundArtifact) -> Iterator[tuple[int, bytes]]:
    """The wanted lines with their numbers. Raises `ArtifactError` if the file ends before the first of them."""
    first, last = found.lines.first, found.lines.last
    number, at_line_start = 1, True
    with found.path.open("rb") as file:
        while (last is None or number <= last) and (part := file.readline(_BLOCK)):
            if number >= first:
                yield number, part
            at_line_start = part.endswith(b"\n")
            number += at_line_start
    total = number - at_line_start
    if first > max(total, 1):
        raise ArtifactError(
            f"Artifact {found.id} has {total} lines; line {first} is past its end.",
            hint=f"Read up to {max(1, total - 99)}-{total}.",
        )


def _age(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
