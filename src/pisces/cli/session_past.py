"""Sessions of the past, as their journals tell. No host is needed for them, and none is started."""

import os
from typing import Any, Final

import click
import msgspec

from pisces.cli.session_call import NoHost, manage
from pisces.cli.shown import as_json as result_as_json
from pisces.cli.shown import as_text
from pisces.errors import NoSuchSession
from pisces.host.protocol import printable
from pisces.journal.folder import JournalInfo, list_journals, newest_journal
from pisces.settings.paths import Paths
from pisces.tools.session_export import export_past, notebook_path
from pisces.tools.session_result import counted, moment

_SHOWN: Final = 50


def list_past(*, every: bool, as_json: bool) -> int:
    """List the sessions that have a journal, the newest first; the newest 50 unless `every`."""
    journals = Paths.locate(os.environ).journals
    found = list_journals(journals, limit=None if every else _SHOWN + 1)
    shown = found if every else found[:_SHOWN]
    more = len(found) > len(shown)
    if as_json:
        told = {"sessions": [_values(info) for info in shown], "more": more}
        click.echo(msgspec.json.encode(told).decode("utf-8"))
        return 0
    for info in shown:
        click.echo(_line(info))
    if more:
        click.echo(f"These are the newest {_SHOWN}; --all shows the others too.", err=True)
    if not shown:
        click.echo(f"There are no past sessions: {printable(str(journals))} has no journals.", err=True)
    return 0


def export_session(name: str, path: str, *, as_json: bool) -> int:
    """Write a session as a notebook: that of the host, or what the newest journal of that name has of it."""
    try:
        return manage("export", {"session": name, "path": path}, as_json=as_json)
    except NoHost:
        target = notebook_path(os.curdir, path)
        past = newest_journal(Paths.locate(os.environ).journals, name)
    if past is None:
        raise NoSuchSession(
            f"There is no session {name!r}, and no journal of one: the background host is not running.",
            hint="`pisces session past` lists the sessions that have a journal.",
        )
    result = export_past(past, target)
    click.echo(result_as_json(result) if as_json else as_text(result), nl=False)
    return 0


def _values(info: JournalInfo) -> dict[str, Any]:
    return {
        "name": info.session,
        "state": info.state,
        "began": moment(info.began),
        "ended": None if info.ended is None else moment(info.ended),
        "last_written": moment(info.last_written),
        "cells": info.cells,
        "folder": info.cwd,
        "journal": printable(str(info.path)),
    }


def _line(info: JournalInfo) -> str:
    parts = (
        counted(info.cells),
        f"began {moment(info.began)}",
        _end(info),
        f"in {info.cwd}",
        printable(str(info.path)),
    )
    return f"{info.session}: {'; '.join(parts)}"


def _end(info: JournalInfo) -> str:
    if info.ended is not None:
        return f"ended {moment(info.ended)}"
    if info.state == "live":
        return "live"
    unsure = ", and whether it goes on is not known" if info.state == "unknown" else ""
    return f"not closed, last written {moment(info.last_written)}{unsure}"
