"""One call of the `session` tool in the background host, and what is shown of it.

A host is started for it only where the kernel of the session was left on a gateway by an earlier one.
"""

import os
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from pisces.cli.cells_to_run import EXIT_CODES, READ_WITH, TIMED_OUT
from pisces.cli.main import FAILED
from pisces.cli.shown import as_text
from pisces.cli.signals import StopSignals
from pisces.errors import PiscesError
from pisces.host.client import HostClient, HostEnding, HostGone, HostSilent
from pisces.host.files import HostFiles
from pisces.host.protocol import Call, Place
from pisces.host.start import OtherVersion, find_host, have_host
from pisces.model.results import TextBlock, ToolResult
from pisces.settings.paths import Paths

if TYPE_CHECKING:
    from pisces.cli.blocking_terminal import BlockingTerminal
    from pisces.model.sessions import LostSession
    from pisces.sessions.kernel_records import KernelRecord

_NO_HOST: Final = "There is no session: the background host is not running."


class NoHost(PiscesError):
    """There is no host, so there is no session; nothing was done."""

    def __init__(self) -> None:
        super().__init__(_NO_HOST, hint="`pisces run --session NAME` starts it, and makes a session.")


def manage(action: str, params: Mapping[str, Any], *, as_json: bool, plain: bool = False, cancels: bool = False) -> int:
    """Do something about a session, show the answer, and return the exit code. Raises `NoHost`.

    At a terminal the answer is laid out for a person, unless it is to be `plain`.
    """
    client = _host()
    if client is None:
        name = params.get("session")
        lost = action == "close" and any(session.id == name for session in _lost())
        if not lost and not any(record.session.id == name for record in _left_on_gateways()):
            raise NoHost
        client = have_host(os.environ)
    raw, signalled = _call(client, action, params, waited_for=None if as_json or plain else _waited_for(action, params))
    _print(raw, as_json=as_json, plain=plain)
    return signalled or _exit_code(msgspec.json.decode(raw), cancels=cancels)


def list_all(*, as_json: bool, plain: bool = False) -> int:
    """List the sessions; where no host runs, there are none, and that is no error."""
    client = _host()
    if client is None:
        lost = _lost()
        text = "\n".join(session.line for session in lost) or _NO_HOST
        details = {"action": "list", "sessions": [], **({"lost": lost} if lost else {})}
        if as_json or lost or not _left_on_gateways():
            _print(msgspec.json.encode(ToolResult(content=[TextBlock(text)], details=details)), as_json=as_json)
        _tell_left((), as_json=as_json)
        return 0
    there = [line.name for line in client.hello.sessions]
    raw, signalled = _call(client, "list", {})
    _print(raw, as_json=as_json, plain=plain)
    _tell_left(there, as_json=as_json)
    return signalled or 0


def _tell_left(there: Collection[str], *, as_json: bool) -> None:
    """Name the sessions that no host has, but whose kernels were left on a gateway."""
    for record in () if as_json else _left_on_gateways():
        if record.session.id not in there:
            click.echo(f"{record.session.id}: left on {record.ticket.place}; in {record.session.cwd}")


def _lost() -> "list[LostSession]":
    """The sessions of a host that has ended unexpectedly, where no other has taken its place."""
    files = HostFiles.locate(Paths.locate(os.environ), os.environ)
    record = files.record()
    if record is None or record.is_running:  # One that is just ending has not written down why.
        return []
    from pisces.host.losses import lost_sessions

    left = [record.session.id for record in _left_on_gateways()]
    return [session for session in lost_sessions(files.sessions_file) if session.id not in left]


def _left_on_gateways() -> "list[KernelRecord]":
    folder = Paths.locate(os.environ).kernels
    if not folder.is_dir():
        return []  # As a rule; it costs nothing to see.
    from pisces.sessions.kernel_records import KernelRecords

    return KernelRecords(folder).all()


def close_all(*, as_json: bool) -> int:
    """Close every session there is."""
    client = _host()
    names = [] if client is None else [line.name for line in client.hello.sessions]
    if client is not None:
        client.close()
    names += [record.session.id for record in _left_on_gateways() if record.session.id not in names]
    names += [session.id for session in _lost()]
    if not names:
        click.echo("There is no session to close.", err=True)
    return max((manage("close", {"session": name}, as_json=as_json) for name in names), default=0)


def _host() -> HostClient | None:
    client = find_host(os.environ)
    if client is not None and not client.is_of_this_version:
        client.close()
        raise OtherVersion(client.hello)
    return client


def _waited_for(action: str, params: Mapping[str, Any]) -> str | None:
    """What a person sees below while an action takes its time."""
    return f"{action} {params['job']}" if action in ("wait", "cancel") and os.isatty(1) else None


def _call(
    client: HostClient, action: str, params: Mapping[str, Any], *, waited_for: str | None = None
) -> tuple[bytes, int | None]:
    """The answer, and the exit code of a signal that came meanwhile. The connection is closed."""
    place = Place.here(os.getcwd(), {})
    call = Call(tool="session", params={"action": action, **params}, place=place, read_with=READ_WITH)
    status = None if waited_for is None else _status(waited_for)
    with StopSignals(client.cancel, farewell=(lambda: None) if status is None else status.clear) as signals:
        try:
            with status or nullcontext():
                return bytes(client.call(call)), signals.exit_code
        except HostEnding:
            raise NoHost from None
        except HostSilent as silent:
            raise PiscesError(f"{silent} Whether `{action}` was done is not known.", hint=silent.hint) from None
        except HostGone:
            raise PiscesError(
                f"The background host ended before it had answered: whether `{action}` was done is not known.",
                hint="Its sessions are gone with it. `pisces run --session NAME` starts another one.",
            ) from None
        finally:
            client.close()


def _status(what: str) -> "BlockingTerminal | None":
    from pisces.cli.blocking_terminal import waiting

    return waiting(what)


def _print(raw: bytes, *, as_json: bool, plain: bool = False) -> None:
    if as_json:
        click.echo(raw.decode("utf-8"))
        return
    if not plain and os.isatty(1):
        from pisces.cli.session_shown import shown

        laid_out = shown(raw)
        if laid_out is not None:
            click.echo(laid_out, nl=False)
            return
    result = msgspec.json.decode(raw, type=ToolResult)
    click.echo(as_text(result), nl=False, err=result.is_error and result.details is None)


def _exit_code(result: Mapping[str, Any], *, cancels: bool) -> int:
    details = result.get("details") or {}
    outcome = (details.get("result") or {}).get("outcome")
    if details.get("action") == "wait" and details.get("job") and outcome is None:
        return TIMED_OUT
    if cancels and details.get("job"):
        return 0 if outcome is not None else TIMED_OUT
    if outcome is not None:
        return EXIT_CODES.get(outcome, FAILED)
    return FAILED if result.get("is_error") else 0
