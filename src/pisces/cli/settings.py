"""`pisces settings`: what is set, and by whom."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pisces.settings.describe import allowed_values, nearest_name, show_value
from pisces.settings.load import Origin, load_settings
from pisces.settings.schema import SettingInfo

_Row = tuple[SettingInfo, Any, Origin]


@click.command(short_help="List the settings, and where each comes from.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def settings(name: str | None, *, as_json: bool) -> int:
    """List every setting with its value and the place that it comes from, for the folder at hand.

    With NAME, show that one and what it can be set to. Values come from the defaults, your own file
    (~/.pisces/agent/settings.toml), the project's file (.pisces/settings.toml) and the environment, the later over the
    earlier.

    \b
      pisces settings
      pisces settings python.kernelMode
      PI_SET__output__maxLines=500 pisces settings output.maxLines
    """
    rows = list(load_settings(Path.cwd(), os.environ).rows())
    if name is not None:
        rows = [_find(rows, name)]
    if as_json:
        _print_json(rows, one=name is not None)
    elif name is not None:
        _print_one(*rows[0])
    else:
        _print_all(rows)
    return 0


def _find(rows: Sequence[_Row], name: str) -> _Row:
    for row in rows:
        if row[0].name == name:
            return row
    near = nearest_name(name)
    raise click.UsageError(
        f"There is no setting {name!r}. "
        + (f"Did you mean {near!r}?" if near else "`pisces settings` lists all of them.")
    )


def _print_all(rows: Sequence[_Row]) -> None:
    names = max(len(info.name) for info, _, _ in rows)
    values = [show_value(value) for _, value, _ in rows]
    width = max(map(len, values))
    for (info, _, origin), value in zip(rows, values, strict=True):
        click.echo(f"{info.name:<{names}}  {value:<{width}}  {origin}")


def _print_one(info: SettingInfo, value: Any, origin: Origin) -> None:
    click.echo(f"{info.name} = {show_value(value)}")
    click.echo(f"  {info.description}")
    click.echo(f"  From: {origin}. Allowed: {allowed_values(info)}. Default: {show_value(info.default)}.")
    if info.user_only:
        click.echo("  A project's file cannot set it.")


def _print_json(rows: Sequence[_Row], *, one: bool) -> None:
    import msgspec

    plain = [
        {
            "name": info.name,
            "value": value,
            "default": info.default,
            "layer": origin.layer,
            "where": origin.where,
            "description": info.description,
            "allowed": allowed_values(info),
        }
        for info, value, origin in rows
    ]
    click.echo(msgspec.json.encode(plain[0] if one else plain).decode("utf-8"))
