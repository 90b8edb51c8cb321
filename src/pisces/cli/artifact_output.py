"""Artifacts on the terminal: printed as they are read, so that no size is too large."""

import sys
import time
from pathlib import Path

import click
import msgspec

from pisces.errors import ArtifactError, InvalidCall
from pisces.output.artifact_file import state_of
from pisces.output.artifact_text import MISSING, LineRange, line_parts
from pisces.output.artifacts import ArtifactStore, parse_lines, parse_uri
from pisces.output.notice import format_size
from pisces.output.search import matching_lines, parse_pattern


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
    for number, part in line_parts(found.path, found.id, found.lines):
        if number == MISSING:
            output.flush()
            click.echo(part.decode().strip("\n"), err=True)
        else:
            output.write(part)
    output.flush()
    return 0


def print_matches(found: FoundArtifact, pattern: str) -> int:
    """Print each line that matches, as `<number>:<line>`; the exit code is 1 when there is none, as with grep."""
    try:
        wanted = parse_pattern(pattern)
    except InvalidCall as error:
        raise click.UsageError(error.explain()) from error
    count = 0
    for number, text in matching_lines(found.path, found.id, wanted, found.lines):
        if number == MISSING:
            click.echo(text, err=True)
            continue
        count += 1
        click.echo(f"{number}:{text}")
    if not count:
        click.echo(f"No line of artifact {found.id} matches {pattern!r}.", err=True)
    return 0 if count else 1


def list_artifacts(folder: Path) -> int:
    """One line for each artifact: id, size, age, session and kind."""
    files = ArtifactStore(folder).files()
    for file in files:
        number, _, kind = file.name.partition(".")
        try:
            state = state_of(file)
        except FileNotFoundError:  # Another process has just deleted it because it was old.
            continue
        size, age = format_size(state.size), _age(time.time() - state.modified)
        click.echo(f"{number:>6}  {size:>10}  {age:>8}  {file.parent.name}  {kind}")
    if not files:
        click.echo("There are no artifacts: no output has been cut.", err=True)
    return 0


def _age(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
