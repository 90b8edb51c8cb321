"""Where each session of the host lives: the folder, the environment and the settings of the call that made it.

A session is found by its name alone. So that it does not change under the feet of whoever uses it, a later call from
another folder runs in it as it is.
"""

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pisces.errors import InvalidCall
from pisces.host.protocol import Place, printable, unpack_environ
from pisces.kernels.registry import BackendChoice
from pisces.runtime import Runtime, working_folder
from pisces.sessions.kernel_records import KernelRecord
from pisces.sessions.key import SessionKey
from pisces.settings.load import load_settings
from pisces.tools.base import Services, Tool
from pisces.tools.registry import ALL_TOOLS, make_tools

_BACKEND = "python.backend"
_INTERPRETER = "python.interpreter"
_REMEMBERED = 1000


class Home(msgspec.Struct, frozen=True):
    """What a session has from its first call."""

    cwd: Path
    settings: Mapping[str, Any]
    """What options of that call set."""
    services: Services
    """What its calls work with."""
    visitors: set[Path]
    """The other folders that it has been called from."""
    kernel: str | None = None
    """The kernel that it was made with, where that call named one."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools, as they are called from there."""
        return make_tools(self.services)

    def visit(self, place: Place) -> str | None:
        """A sentence for the first call from each folder that is not the session's own; None for all others."""
        here = Path(os.fsdecode(place.cwd))
        if here == self.cwd or here in self.visitors:
            return None
        self.visitors.add(here)
        made = f"The session was made in {self.cwd}: its settings and its interpreter count, not those of {here}."
        return printable(made)


class Homes:
    """The homes of all sessions, by name."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._homes: dict[str, Home] = {}

    @property
    def names(self) -> list[str]:
        """Every session that was made and not closed since, also one that has been ended to make room."""
        return list(self._homes)

    def cwd_of(self, name: str) -> str:
        """The folder that a session was made in, as text."""
        home = self._homes.get(name)
        return "" if home is None else printable(str(home.cwd))

    def enter(self, name: str, place: Place, kernel: str | None = None, ran: SessionKey | None = None) -> Home:
        """The home of a session, or one from the place of this call: `keep` that once there is a session.

        `kernel` is the one that the call names; `ran` is what a lost session of this name ran. Raises `InvalidCall`
        when the call wants what cannot be had, and `SettingsError`.
        """
        home = self._homes.get(name)
        if home is None:
            return self._make(place, self._runtime.records.of(name), kernel, ran)
        _refuse_change(name, "backend", place.settings.get(_BACKEND), home.settings.get(_BACKEND))
        _refuse_change(name, "kernel", kernel, home.kernel)
        _refuse_interpreter(name, place.settings.get(_INTERPRETER), home)
        return home

    def keep(self, name: str, home: Home, sessions: Collection[str]) -> None:
        """The session has been made, and these are all that there are.

        Those that were ended to make room keep their homes for when they are asked for again, up to a number.
        """
        self._homes.setdefault(name, home)
        ended = [name for name in self._homes if name not in sessions]
        for oldest in ended[:-_REMEMBERED]:
            del self._homes[oldest]

    def share(self, parent: str, name: str) -> None:
        """A new session has the home of another."""
        if parent in self._homes:
            self._homes[name] = self._homes[parent]

    def leave(self, name: str) -> None:
        """The session has been closed."""
        self._homes.pop(name, None)

    def tools_at(self, place: Place) -> Mapping[str, Tool]:
        """The tools as they are called from a place, for calls in no session. Raises `SettingsError`."""
        cwd, environ = working_folder(os.fsdecode(place.cwd)), unpack_environ(place.environ)
        return make_tools(self._runtime.services_at(cwd, environ, {**place.settings, **ALL_TOOLS}))

    def _make(self, place: Place, left: KernelRecord | None, kernel: str | None, ran: SessionKey | None) -> Home:
        """The home of a new session; one that an earlier host had, and whose kernel lives elsewhere, is still there."""
        cwd, environ = working_folder(os.fsdecode(place.cwd)), unpack_environ(place.environ)
        settings: Mapping[str, Any] = place.settings
        if left is not None:
            cwd, settings = _as_it_was(left, settings)
            _refuse_change(left.session.id, "kernel", kernel, left.session.kernelspec or None)
            kernel = left.session.kernelspec or None
        elif ran is not None and kernel is None and _INTERPRETER not in settings:
            settings, kernel = {**_leading_to(ran), **settings}, ran.kernelspec or None
        loaded = load_settings(cwd, environ, settings)
        if left is not None:
            _refuse_elsewhere(left.session, BackendChoice.of(loaded))
        if loaded.settings.python.kernel_mode == "per-call":
            raise InvalidCall(
                "A session keeps its state between calls, but `python.kernelMode` is `per-call` here.",
                hint="Leave --session out, or change it: `pisces settings python.kernelMode` says where it is set.",
            )
        # Only commands come here.
        services = self._runtime.services_at(cwd, environ, {**settings, **ALL_TOOLS})
        home = Home(cwd, settings, services, set(), kernel)
        if left is not None:
            _refuse_interpreter(left.session.id, place.settings.get(_INTERPRETER), home)
        return home


def _as_it_was(left: KernelRecord, settings: Mapping[str, Any]) -> tuple[Path, Mapping[str, Any]]:
    """The folder, there or not, and the settings that lead to a kernel which was left, wherever this call is from."""
    session = left.session
    _refuse_change(session.id, "backend", settings.get(_BACKEND), session.backend)
    found = {_BACKEND: session.backend, **({_INTERPRETER: left.ticket.python} if left.ticket.python else {})}
    return Path(session.cwd), {**settings, **found}


def _leading_to(ran: SessionKey) -> Mapping[str, Any]:
    """The settings that lead to the interpreter of a lost session, if it is one of this machine and still there."""
    if ran.kernelspec or not os.access(ran.interpreter, os.X_OK):
        return {}
    return {_INTERPRETER: ran.interpreter, **({} if ran.backend == "native" else {_BACKEND: ran.backend})}


def _refuse_interpreter(session: str, wanted: object, home: Home) -> None:
    given = home.settings.get(_INTERPRETER)
    if wanted is None or given is None or not _is_same(home.services.interpreters.path_of, str(wanted), str(given)):
        _refuse_change(session, "interpreter", wanted, given)


def _is_same(path_of: Callable[[str], str], wanted: str, given: str) -> bool:
    """Whether both lead to one Python. That of a virtual environment is a link to another one, in its own folder."""
    one, other = path_of(wanted), path_of(given)
    return all(os.path.realpath(part(one)) == os.path.realpath(part(other)) for part in (str, os.path.dirname))


def _refuse_elsewhere(left: SessionKey, choice: BackendChoice) -> None:
    """A session whose kernel was left on one gateway is not looked for on another."""
    lives = left.interpreter.partition(" ")[0] if left.interpreter.startswith("http") else ""
    if lives != choice.url:
        where = f"on the gateway at {lives}" if lives else "on the local gateway"
        named = f"names {choice.url}" if choice.url else "is not set"
        fix = f"Set PI_PYTHON_GATEWAY_URL={lives}" if lives else "Unset PI_PYTHON_GATEWAY_URL"
        raise InvalidCall(
            f"The kernel of session {left.id!r} is {where}, but PI_PYTHON_GATEWAY_URL {named}.",
            hint=f"{fix}, use another name, or give the session up: pisces session close {left.id}",
        )


def _refuse_change(session: str, what: str, wanted: object, given: object) -> None:
    if wanted is None or wanted == given:
        return
    article = "an" if what == "interpreter" else "a"
    was = f"was made with {given}" if given else f"was made without naming {article} {what}"
    raise InvalidCall(
        f"Session {session!r} cannot change to the {what} {wanted}: it {was}.",
        hint=f"Use another name, or end it first: pisces session close {session}",
    )
