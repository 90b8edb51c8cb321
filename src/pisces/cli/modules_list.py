"""What `pisces modules list` shows."""

import os
from collections.abc import Iterable
from typing import Any

import click
import msgspec

from pisces.cli.json_text import json_line
from pisces.environment.helper_cache import HelperDoc
from pisces.environment.helper_source import helpers_in
from pisces.environment.modules import ModuleFile, ModuleFolders, read_module
from pisces.output.sanitize import clean
from pisces.runtime import working_folder
from pisces.settings.paths import Paths

_WARNING = (
    "Each is run in every kernel that starts in this folder, also what the project brings along. "
    "`pisces modules check` tries them."
)


def show_modules(cwd: str | None, *, as_json: bool) -> int:
    """Print every module that is found from this folder."""
    folders = ModuleFolders.of(Paths.locate(os.environ), working_folder(cwd))
    rows = [_row(file) for file in folders.files()]
    if as_json:
        click.echo(json_line(rows), nl=False)
    elif rows:
        _print(rows)
    else:
        click.echo(f"There are no extension modules. They are looked for in {folders.user} and {folders.project}.")
    return 0


def _row(file: ModuleFile) -> dict[str, Any]:
    source = read_module(file)
    return {
        "path": file.path,
        "origin": file.origin,
        "overridden": file.overridden,
        "problem": source.problem,
        "helpers": [msgspec.to_builtins(helper) for helper in helpers_in(source.text)],
    }


def _print(rows: list[dict[str, Any]]) -> None:
    width = max(len(row["path"]) for row in rows)
    for row in rows:
        click.echo(one_line(f"{row['path']:<{width}}  {row['origin']:<7}  {_remark(row)}"))
    click.echo(f"\n{_WARNING}")


def _remark(row: dict[str, Any]) -> str:
    if row["overridden"]:
        return "not loaded: the project has one of the same name"
    if row["problem"]:
        return f"cannot be loaded: {row['problem']}"
    return by_category(msgspec.convert(row["helpers"], list[HelperDoc]))


def one_line(text: str) -> str:
    """A line that a terminal can be given: names and categories may be somebody else's."""
    return clean(text.replace("\n", " ").replace("\r", " ")).rstrip()


def by_category(helpers: Iterable[HelperDoc]) -> str:
    """The names of helpers below their categories, in one line."""
    groups: dict[str, list[str]] = {}
    for helper in helpers:
        groups.setdefault(helper.category, []).append(helper.name)
    return "; ".join(f"{category}: {' '.join(names)}" for category, names in groups.items())
