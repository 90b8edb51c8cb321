"""A notebook of an old format, written in nbformat 4.5."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from pisces.errors import FileError, FileMissing, NotebookError
from pisces.files.whole_file import locked, read_whole
from pisces.notebooks.old_formats import VERSION, upgrade, version_of
from pisces.notebooks.outline import outline_of
from pisces.notebooks.style import Style

_NEWEST = ".".join(map(str, VERSION))


def upgrade_notebook(path: str, output: str | None) -> int:
    """Write a notebook in the newest format, in place or elsewhere, and say so. Raises `NotebookError`, `FileError`."""
    elsewhere = output is not None and Path(output).resolve() != Path(path).resolve()
    if output is not None and elsewhere:
        return _into(path, output)
    with locked(Path(path)) as file:
        if file.version is None:
            raise _missing(path)
        before, made = _upgraded(file.read(), path)
        if made is not None:
            file.replace([made])
    return _tell(path, before, written=None if made is None else path)


def _into(path: str, output: str) -> int:
    try:
        data, _ = read_whole(Path(path))
    except FileMissing:
        raise _missing(path) from None
    before, made = _upgraded(data, path)
    if made is not None:
        with locked(Path(output)) as file:
            if file.version is not None:
                raise FileError(f"{output} is there already; nothing was written.", hint="Choose another name.")
            file.replace([made])
    return _tell(path, before, written=None if made is None else output)


def _upgraded(data: bytes, path: str) -> tuple[str, bytes | None]:
    """The version of a notebook, and its file in the newest one; None where it is that already."""
    outline_of(data, path)  # It says what is wrong with a file that is no JSON.
    try:
        notebook: dict[str, Any] = json.loads(data.decode("utf-8-sig"))
        version = version_of(notebook)
        made = upgrade(notebook, ids=lambda: uuid4().hex[:8]) if version != VERSION else None
    except (NotebookError, ValueError, RecursionError) as error:
        hint = error.hint if isinstance(error, NotebookError) else ""
        raise NotebookError(f"{path} cannot be upgraded: {error}", hint=hint) from None
    return f"{version[0]}.{version[1]}", None if made is None else Style().encode(made) + b"\n"


def _tell(path: str, before: str, *, written: str | None) -> int:
    if written is None:
        click.echo(f"{path} is in nbformat {before} already; nothing was written.")
    elif written == path:
        click.echo(f"Upgraded {path} from nbformat {before} to {_NEWEST}.")
    else:
        click.echo(f"Upgraded {path} from nbformat {before} to {_NEWEST}, in {written}.")
    return 0


def _missing(path: str) -> NotebookError:
    return NotebookError(f"Notebook not found: {path}")
