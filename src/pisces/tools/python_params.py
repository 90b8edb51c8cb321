"""What the `python` tool can be asked, and what is wrong with it where something is."""

import math
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from pisces.errors import InvalidCall
from pisces.model.cells import Cell
from pisces.tools.schema import UNLISTED

MIN_TIMEOUT = 1.0
_KERNEL = "Path of another interpreter, or name of a Jupyter kernelspec."


class PythonParams(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the `python` tool."""

    cells: Annotated[list[Cell], Meta(min_length=1)] | None = None
    code: Annotated[str, Meta(description="One cell.")] | None = None
    timeout: float | None = None
    cwd: str | None = None
    workdir: Annotated[str, Meta(description=UNLISTED)] | None = None
    reset: bool = False
    session: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    kernel: Annotated[str, Meta(min_length=1, description=_KERNEL)] | None = None
    background: bool = False


def cells_of(params: PythonParams) -> list[Cell]:
    """The cells to run. Raises `InvalidCall` when there are none, or two ways of giving something were used."""
    if params.cells is not None and params.code is not None:
        raise InvalidCall("Give either `cells` or `code`, not both")
    if params.cwd is not None and params.workdir is not None:
        raise InvalidCall("Give either `cwd` or `workdir`, not both")
    if params.cells is not None:
        return params.cells
    if params.code is not None:
        return [Cell(params.code)]
    raise InvalidCall('`cells` is missing: give at least one cell, as [{"code": "…"}]')


def folder_of(params: PythonParams, base: str) -> str | None:
    """The folder that was asked for, taken from `base`. Raises `InvalidCall` when it cannot be used."""
    return folder_at(params.cwd if params.cwd is not None else params.workdir, base)


def folder_at(asked: str | None, base: str) -> str | None:
    """The same for a folder by its name; None where none was asked for."""
    if asked is None:
        return None
    try:
        folder = Path(base, Path(asked).expanduser()).resolve()
        exists, is_folder = folder.exists(), folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidCall(f"Wrong value for `cwd`: {asked!r} cannot be used as a folder ({error})") from None
    if not exists:
        raise InvalidCall(f"Working directory does not exist: {folder}")
    if not is_folder:
        raise InvalidCall(f"Working directory is not a directory: {folder}")
    return str(folder)


def seconds_of(asked: float | None, *, default: float, least: float, most: float, place: str = "timeout") -> float:
    """A timeout within its range. Raises `InvalidCall` for what is no number, given at this place."""
    if asked is None:
        return default
    if math.isnan(asked):
        raise InvalidCall(f"Wrong value for `{place}`: a number of seconds is needed, got NaN")
    return min(max(asked, least), most)
