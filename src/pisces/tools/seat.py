"""Where the kernel of a call comes from: which backend, whose Python or which kernelspec, begun with what."""

import os
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from pisces.environment.helper_cache import HelperCache
from pisces.environment.interpreter import Interpreter
from pisces.environment.modules import ModuleFolders
from pisces.environment.secret_names import has_denied_ending
from pisces.errors import DeadlineExceeded, InterpreterError, InvalidCall
from pisces.kernels.base import LaunchSpec, Offering
from pisces.kernels.deadline import Deadline
from pisces.kernels.registry import BackendChoice
from pisces.sessions.checkpoint_policy import CheckpointRule
from pisces.sessions.kernel_modules import KernelModules
from pisces.sessions.key import SessionKey
from pisces.sessions.stop import StopSignal
from pisces.sessions.terms import Terms
from pisces.tools.base import Services

_INTERPRETER: Final = re.compile(r"(python|pypy)[\d.]*w?(\.exe)?", re.IGNORECASE)
_JUPYTER_PATHS: Final = ("JUPYTER_PATH", "JUPYTER_DATA_DIR")
"""Where kernelspecs are looked for besides the usual places: whoever calls says it, and whoever starts needs it."""
_SPEC_LABEL: Final = "kernelspec {}"


class Seat(msgspec.Struct, frozen=True):
    """All that is known of a kernel before there is one, but for its folder."""

    choice: BackendChoice
    label: str
    """What runs the code, for readers, and for telling sessions apart."""
    spec: LaunchSpec

    def key(self, session: str, cwd: str) -> SessionKey:
        """The key of the session of this name that has such a kernel."""
        backend = "gateway" if self.choice.name == "external" else self.choice.name
        return SessionKey(session, cwd, self.label, backend, self.spec.kernelspec)

    def terms(self, services: Services, *, durable: bool) -> Terms:
        """On what terms a session has it. Raises `KernelError` when what it needs is not installed."""
        python, spec = services.settings.python, self.spec

        def launch(cwd: str) -> LaunchSpec:
            return msgspec.structs.replace(spec, cwd=cwd)

        mode = "off" if python.kernel_mode == "per-call" else python.checkpoint
        rule = CheckpointRule(mode, python.checkpoint_max_mb)
        modules = KernelModules(
            ModuleFolders.of(services.paths, services.cwd),
            HelperCache(services.paths.helpers),
            strict=python.modules.strict,
            seconds=python.modules.timeout,
        )
        return Terms(services.backends.get(self.choice), launch, rule, durable, modules, services.bridge)


async def find_seat(
    services: Services, kernel: str | None, stop: StopSignal, deadline: Deadline, *, ahead: bool = False
) -> Seat | None:
    """The seat of a call that asks for this kernel, or for none in particular; None if it was stopped first.

    With `ahead` there is no such call yet. Raises `InvalidCall` for a kernel that cannot be had, `InterpreterError`,
    and `NotUsedYet` ahead of a call.
    """
    choice = services.backend_choice
    if choice.name == "external":
        return _elsewhere(services, choice, kernel)
    there: Mapping[str, str] = {}
    if kernel is not None and not is_interpreter(kernel):
        found = await kernelspecs(services, stop, deadline)
        if found is None:
            return None
        there = found
        if (name := named_in(there, kernel)) is not None:
            return await kernelspec_seat(services, name, stop, deadline)
    try:
        interpreter = await _interpreter(services, kernel, stop, deadline, ahead=ahead)
    except InterpreterError as error:
        if kernel is None or is_interpreter(kernel):
            raise
        names = ", ".join(sorted(there)) or "none"
        hint = f"`kernel` is an interpreter or the name of a kernelspec. Installed kernelspecs: {names}."
        raise InterpreterError(f"{error} There is no kernelspec {kernel!r} either.", hint=hint) from error
    return None if interpreter is None else Seat(choice, interpreter.path, _spec(services, interpreter))


async def kernelspecs(services: Services, stop: StopSignal, deadline: Deadline) -> Mapping[str, str] | None:
    """The kernelspecs that can be had: the language of each, by name; None if the call was stopped first.

    Those of the server, where that is elsewhere; else those that are installed here, and in the environment of the
    Python that is configured. Raises `KernelStartError` and `InterpreterError`.
    """
    choice = services.backend_choice.for_kernelspecs()
    if choice.name == "external":
        return await _kernelspecs_elsewhere(services, choice, stop, deadline)
    interpreter = await _interpreter(services, None, stop, deadline)
    if interpreter is None:
        return None
    from pisces.kernels.zmq.kernelspecs import installed

    # A gateway of ours, which is shared, has the environment of kernels, not that of the caller.
    environ = services.environ if choice.name == "zmq" else services.interpreters.environment(interpreter)
    return {found.name: found.language for found in installed(interpreter.path, environ)}


async def _kernelspecs_elsewhere(
    services: Services, choice: BackendChoice, stop: StopSignal, deadline: Deadline
) -> Mapping[str, str] | None:
    backend = services.backends.get(choice)
    assert isinstance(backend, Offering), backend
    try:
        with stop.scope():
            return await backend.kernelspecs(deadline)
    except DeadlineExceeded:
        return None
    return None


def named_in(there: Mapping[str, str], name: str) -> str | None:
    """Which of these kernelspecs has this name, exactly or but for its case."""
    return name if name in there else next((known for known in sorted(there) if known.lower() == name.lower()), None)


async def kernelspec_seat(services: Services, name: str, stop: StopSignal, deadline: Deadline) -> Seat | None:
    """The seat of a kernel that is known by its kernelspec; None if the call was stopped first."""
    choice = services.backend_choice.for_kernelspecs()
    if choice.name == "external":
        return _elsewhere(services, choice, name)
    interpreter = await _interpreter(services, None, stop, deadline)
    if interpreter is None:
        return None
    return Seat(choice, _SPEC_LABEL.format(name), _spec(services, interpreter, kernelspec=name))


def is_interpreter(kernel: str) -> bool:
    """Whether this is meant as a path or a command that leads to a Python, not as the name of a kernelspec."""
    return os.sep in kernel or kernel.startswith("~") or _INTERPRETER.fullmatch(kernel) is not None


def labels_of(services: Services, kernel: str) -> tuple[str, ...]:
    """How a session may be labelled that was made with this kernel; nothing is run to find out."""
    path = services.interpreters.path_of(kernel)
    return kernel, path, _SPEC_LABEL.format(kernel.lower()), f"{services.backend_choice.url} {kernel}"


def _elsewhere(services: Services, choice: BackendChoice, kernel: str | None) -> Seat:
    if kernel is not None and (os.sep in kernel or kernel.startswith("~")):
        raise InvalidCall(
            f"Wrong value for `kernel`: an external gateway has no interpreter {kernel!r}",
            hint="Give the name of one of its kernelspecs, or leave `kernel` out.",
        )
    label = f"{choice.url} {kernel}" if kernel else choice.url
    # By these Enterprise Gateway is told what a kernel gets: memory, processors, a namespace.
    wishes = {name: value for name, value in services.environ.items() if _is_wish(name)}
    limit = services.settings.python.memory_limit_mb
    spec = LaunchSpec(label, "", wishes, memory_limit_mb=limit, kernelspec=kernel or "", artifacts=services.artifacts)
    return Seat(choice, label, spec)


def _is_wish(name: str) -> bool:
    return name.startswith("KERNEL_") and not has_denied_ending(name)


def _spec(services: Services, interpreter: Interpreter, *, kernelspec: str = "") -> LaunchSpec:
    python, interpreters = services.settings.python, services.interpreters
    env: Mapping[str, str] = interpreters.environment(interpreter)
    if kernelspec:
        env = {**env, **{name: services.environ[name] for name in _JUPYTER_PATHS if name in services.environ}}
    return LaunchSpec(
        interpreter.path,
        services.cwd,
        env,
        injected=interpreters.injected,
        preload=python.preload,
        memory_limit_mb=python.memory_limit_mb,
        kernelspec=kernelspec,
        artifacts=services.artifacts,
    )


async def _interpreter(
    services: Services, named: str | None, stop: StopSignal, deadline: Deadline, *, ahead: bool = False
) -> Interpreter | None:
    interpreter = services.interpreters.known(named)
    if interpreter is not None:
        return interpreter
    try:
        with stop.scope():
            interpreter = await services.interpreters.find(named, deadline, ahead=ahead)
    except DeadlineExceeded:
        return None
    return interpreter
