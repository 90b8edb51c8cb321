"""The one object behind every front end: settings, sessions, artifacts and tools, entered and left in one task."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, overload

import anyio
import msgspec
from anyio.abc import TaskGroup

from pisces.bridge.server import Bridge
from pisces.environment.lookup import InterpreterLookup
from pisces.errors import InvalidCall, PiscesError, SessionError
from pisces.files.seen import SeenFiles
from pisces.journal.folder import prune_journals
from pisces.journal.session_journal import Journals
from pisces.kernels.base import Backend, KernelKind
from pisces.kernels.deadline import Deadline
from pisces.kernels.registry import BackendChoice, Backends
from pisces.model.completion import Completion
from pisces.model.results import ToolResult
from pisces.output.artifacts import ArtifactStore
from pisces.sessions.beside import in_own_task
from pisces.sessions.jobs import Jobs
from pisces.sessions.kernel_records import KernelRecords
from pisces.sessions.pool import SessionPool
from pisces.sessions.progress import OnUpdate
from pisces.settings.load import LoadedSettings, load_settings
from pisces.settings.paths import Paths
from pisces.settings.schema import Settings
from pisces.tools.base import DEFAULT_SESSION, CallContext, Services, Tool, error_result
from pisces.tools.bash_commands import Commands
from pisces.tools.offer import Offer, make_offer
from pisces.tools.preflight import warm_up
from pisces.tools.registry import BUILT_IN, make_tools, no_such_tool
from pisces.tools.session_lookup import find_session

_AUTO_KERNELS: dict[KernelKind, int] = {"native": 32, "jupyter": 4}
_DAY = 86_400.0
_LEAST_IDLE = 30.0
"""What kernels share is kept for at least so long: it must not be given up while the first of them comes up."""

_COMPLETE_SECONDS = 1.0  # Somebody waits at the keyboard.
_MODEL = "model"

_log = logging.getLogger(__name__)
logging.getLogger("pisces").addHandler(logging.NullHandler())  # Or a program that set up no log has it on its screen.

_F = TypeVar("_F", bound=Callable[..., Any])


class Runtime:
    """A Python that remembers.

        async with Runtime(cwd=".") as rt:
            result = await rt.python(code="x = 41")
            result = await rt.python(code="x + 1")
            print(result.text)

    Leaving it ends every kernel. Enter and leave it in the same task.
    """

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        settings: Mapping[str, Any] | Settings | None = None,
        environ: Mapping[str, str] | None = None,
        backend: Backend | None = None,
        session_idle: float | None = None,
        model: Callable[..., Any] | None = None,
    ) -> None:
        """`settings` are laid over the files and the environment; `backend` takes the place of the configured one.

        `session_idle` is how many seconds a session stays that nobody is connected to; `python.idleTimeout` if None.
        `model` is a function, async or not, that asks a language model: cells call it as `tool.model(prompt=…)`.
        """
        self.cwd = working_folder(cwd)
        self.environ = dict(os.environ if environ is None else environ)
        self.loaded: LoadedSettings = load_settings(self.cwd, self.environ, settings)
        self.paths = Paths.locate(self.environ)
        self.artifacts = ArtifactStore(
            self.paths.artifacts,
            limit=self.settings.output.artifact_limit_mb << 20,
            folder_limit=self.settings.output.folder_limit_mb << 20,
        )
        self.records = KernelRecords(self.paths.kernels)
        self.interpreters = InterpreterLookup(self.cwd, self.environ, self.loaded, self.paths)
        self._given_backend = backend
        self._session_idle = self.settings.python.idle_timeout if session_idle is None else session_idle
        self._functions: dict[str, Tool] = {}
        self._for_cells: dict[str, Tool] = {}
        if model is not None:
            from pisces.tools.function_tool import FunctionTool

            self._for_cells[_MODEL] = FunctionTool(model, name=_MODEL)
        self._backends: Backends | None = None
        self._pool: SessionPool | None = None
        self._tasks: TaskGroup | None = None
        self._services: Services | None = None
        self._tools: dict[str, Tool] = {}

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools, by name."""
        return self._tools

    @overload
    def register(self, function: _F) -> _F: ...
    @overload
    def register(self, *, name: str = "", description: str = "") -> Callable[[_F], _F]: ...
    def register(self, function: Any = None, *, name: str = "", description: str = "") -> Any:
        """Make a function a tool, as a decorator: `@rt.register`, or `@rt.register(name="other")`.

        Its parameters are those of the function, its description is the docstring. It may be async; one that is not
        runs in a thread. It is in `rt.tools`, and cells call it as `tool.name(…)`. Raises `InvalidCall` for a name that
        is taken, and for a function that cannot be called with JSON.
        """

        def decorate(function: _F) -> _F:
            from pisces.tools.function_tool import FunctionTool

            tool = FunctionTool(function, name=name, description=description)
            if tool.name in BUILT_IN or tool.name in self._functions or tool.name == _MODEL:
                raise InvalidCall(f"There is a tool {tool.name!r} already", hint="Give this one another `name`.")
            self._functions[tool.name] = self._tools[tool.name] = tool
            return function

        return decorate if function is None else decorate(function)

    @property
    def pool(self) -> SessionPool:
        """The sessions of a runtime that has been entered."""
        return self._entered().pool

    @property
    def services(self) -> Services:
        """What the tools of a runtime that has been entered work with."""
        return self._entered()

    def services_at(self, cwd: Path, environ: Mapping[str, str], settings: Mapping[str, Any] | None = None) -> Services:
        """What tools work with that are called from elsewhere: the settings and the interpreter of that place.

        The sessions are those of this runtime; how many there may be, and for how long, is its own settings' affair.
        Raises `SettingsError`.
        """
        loaded = load_settings(cwd, environ, settings)
        return msgspec.structs.replace(
            self._entered(),
            settings=loaded.settings,
            cwd=str(cwd),
            interpreters=InterpreterLookup(cwd, environ, loaded, self.paths),
            backend_choice=BackendChoice.of(loaded),
            environ=environ,
        )

    async def __aenter__(self) -> Self:
        python = self.settings.python
        idle = max(python.idle_timeout, _LEAST_IDLE)
        self._backends = Backends(self.paths, idle=idle, cull=python.named_idle_timeout, given=self._given_backend)
        most = python.max_sessions
        self._pool = SessionPool(
            max_kernels=_AUTO_KERNELS if most == "auto" else dict.fromkeys(_AUTO_KERNELS, most),
            idle_timeout=self._session_idle,
            journals=Journals(self.paths.journals),
            records=self.records,
        )
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        bridge = Bridge(self._tasks, port=self.settings.bridge.port, url=self.settings.bridge.url)
        jobs = Jobs(self._tasks, leave=self._pool.leave)
        self._services = Services(
            settings=self.settings,
            cwd=str(self.cwd),
            pool=self._pool,
            artifacts=self.artifacts,
            interpreters=self.interpreters,
            jobs=jobs,
            backends=self._backends,
            backend_choice=BackendChoice.of(self.loaded),
            environ=self.environ,
            journals=self.paths.journals,
            paths=self.paths,
            seen=SeenFiles(),
            commands=Commands(),
            bridge=bridge,
            functions=self._functions,
            for_cells=self._for_cells,
        )
        self._tools = make_tools(self._services)
        self._tasks.start_soon(self._pool.maintain)
        self._tasks.start_soon(self._prune)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._tasks is not None and self._pool is not None and self._backends is not None
        async with AsyncExitStack() as ending:
            # The group does not get to see the body's exception: it would wrap it.
            ending.push_async_callback(self._tasks.__aexit__, None, None, None)
            ending.callback(self._tasks.cancel_scope.cancel)
            with anyio.CancelScope(shield=True):
                async with AsyncExitStack() as kernels:  # Whatever one of them raises, the others end too.
                    kernels.push_async_callback(self._entered().commands.aclose)
                    kernels.push_async_callback(self._backends.aclose)
                    kernels.push_async_callback(self._pool.aclose)

    async def python(
        self,
        *,
        cells: Sequence[Mapping[str, Any]] | None = None,
        code: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the name that every caller of the tool uses
        cwd: str | os.PathLike[str] | None = None,
        reset: bool = False,
        session: str | None = None,
        kernel: str | None = None,
        background: bool = False,
        on_update: OnUpdate | None = None,
        abort: anyio.Event | None = None,
        keep_going: bool = False,
    ) -> ToolResult:
        """Run cells. Raises `InvalidCall` for wrong parameters only: a cell that fails is a result.

        `on_update` is called while the cells run. Set `abort` to stop them: the result then says `interrupted`.
        Cancelling the task stops them too, waits until they have settled, and goes on cancelling. With `background`
        the result is there at once, its `details.job` names the job, and `session` waits for it.
        """
        given = {
            "cells": None if cells is None else list(cells),
            "code": code,
            "timeout": timeout,
            "cwd": None if cwd is None else os.fspath(cwd),
            "session": session,
            "kernel": kernel,
        }
        params: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        params |= {name: True for name, wanted in (("reset", reset), ("background", background)) if wanted}
        context = CallContext(on_update=on_update, abort=abort, keep_going=keep_going)
        return await self._call("python", params, context)

    async def eval(
        self,
        cells: Sequence[Mapping[str, Any]],
        *,
        session: str | None = None,
        on_update: OnUpdate | None = None,
        abort: anyio.Event | None = None,
        keep_going: bool = False,
    ) -> ToolResult:
        """Run cells in several languages. Raises `InvalidCall` for wrong parameters only, as `python` does.

        Each cell says its `language`; `py` is the Python of `python`, with the same state.
        """
        params: dict[str, Any] = {"cells": list(cells)} | ({} if session is None else {"session": session})
        context = CallContext(on_update=on_update, abort=abort, keep_going=keep_going)
        return await self._call("eval", params, context)

    async def bash(
        self,
        command: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the name that every caller of the tool uses
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        on_update: OnUpdate | None = None,
        abort: anyio.Event | None = None,
    ) -> ToolResult:
        """Run a command of the shell. Raises `InvalidCall` for wrong parameters only: one that fails is a result.

        What it leaves in the background ends with the runtime.
        """
        given = {"timeout": timeout, "cwd": None if cwd is None else os.fspath(cwd), "env": env}
        params = {"command": command, **{name: value for name, value in given.items() if value is not None}}
        return await self._call("bash", params, CallContext(on_update=on_update, abort=abort))

    async def complete(self, code: str, cursor: int, *, session: str | None = None) -> Completion:
        """What could stand at the cursor, in characters of the code. Nothing is started, and a second is the most.

        A session without a kernel tells nothing; one in which a cell runs, names only.
        """
        try:
            found = find_session(self._entered(), CallContext().owner, session or DEFAULT_SESSION)
        except SessionError:
            return Completion()
        return await found.complete(code, cursor, Deadline.after(_COMPLETE_SECONDS))

    async def session(self, action: str, **params: Any) -> ToolResult:
        """Look at sessions, their state and their jobs, or act on them: what the `session` tool does.

        Raises `InvalidCall` for wrong parameters only.
        """
        return await self._call("session", {"action": action, **params}, CallContext())

    async def notebook(
        self,
        action: str,
        notebook_path: str | os.PathLike[str],
        *,
        on_update: OnUpdate | None = None,
        abort: anyio.Event | None = None,
        **params: Any,
    ) -> ToolResult:
        """Read, change or run cells of a notebook: what the `notebook` tool does.

        Raises `InvalidCall` for wrong parameters only.
        """
        given = {"action": action, "notebook_path": os.fspath(notebook_path), **params}
        return await self._call("notebook", given, CallContext(on_update=on_update, abort=abort))

    async def warm_up(self) -> None:
        """Begin what the first call would have to wait for, where that can be done ahead. What fails, fails there."""
        try:
            await warm_up(self._entered())
        except PiscesError as error:
            _log.info("nothing was started ahead: %s", error)

    async def offer(self) -> Offer:
        """What to offer an agent whose session begins now: the tools that the settings allow and that can be had.

        Where Python cannot be had, only bash is left, and `warning` says why and how to mend it.
        """
        return await make_offer(self._entered())

    async def leave(self, owner: str) -> None:
        """This owner is done: its sessions that nobody else holds end; one in which a job of its runs, after that."""
        services = self._entered()
        services.jobs.hold_sessions_of(owner)
        await services.pool.leave(owner)

    async def tool(self, name: str, params: Mapping[str, Any], *, context: CallContext | None = None) -> ToolResult:
        """Call any tool by name. It never raises for a bad call: the result then has `is_error` and says why."""
        try:
            return await self._call(name, params, context or CallContext())
        except PiscesError as error:
            return error_result(error.explain())

    async def _prune(self) -> None:
        """Delete the artifacts and journals that have been kept for long enough, now and once a day."""
        while True:
            await self._prune_folder("artifacts", self.paths.artifacts, self.artifacts.prune)
            await self._prune_folder("journals", self.paths.journals, partial(prune_journals, self.paths.journals))
            await anyio.sleep(_DAY)

    async def _prune_folder(self, what: str, folder: Path, prune: Callable[[float], int]) -> None:
        if os.path.isdir(folder):  # noqa: ASYNC240 - a first start has nothing to delete, and needs no thread for that
            try:
                await anyio.to_thread.run_sync(prune, self.settings.output.keep_days)
            except OSError as error:
                _log.warning("old %s were not deleted: %s", what, error)

    def _entered(self) -> Services:
        if self._services is None:
            raise InvalidCall("The runtime has not been entered: use `async with Runtime() as rt`")
        return self._services

    async def _call(self, name: str, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        return await in_own_task(partial(self._tool(name).call, params, context))

    def _tool(self, name: str) -> Tool:
        self._entered()
        tool = self._tools.get(name)
        if tool is None:
            raise no_such_tool(name, self._tools, self.settings)
        return tool


def working_folder(cwd: str | os.PathLike[str] | None) -> Path:
    """The folder to work in, whole. Raises `InvalidCall` when it cannot be one."""
    try:
        folder = Path(cwd or ".").resolve()
        str(folder).encode("utf-8")  # Results and journals are JSON, which has no other names.
    except (OSError, RuntimeError, ValueError) as error:
        shown = ascii(str(cwd))[1:-1] if cwd else "the current one"
        raise InvalidCall(f"Working directory cannot be used: {shown} ({error})") from None
    if not folder.is_dir():
        raise InvalidCall(f"Working directory does not exist or is not a directory: {folder}")
    return folder


def run(code: str, **options: Any) -> ToolResult:
    """Run one piece of code in a kernel of its own and wait for it. Takes what `Runtime.python` takes, and `cwd`."""
    if options.get("background"):
        raise InvalidCall("`background` needs a runtime that stays: use `async with Runtime() as rt`")

    async def once() -> ToolResult:
        settings = {"python.autoBackgroundMs": 0}  # The runtime ends with the call, and would take a job with it.
        async with Runtime(cwd=options.pop("cwd", None), settings=settings) as runtime:
            return await runtime.python(code=code, **options)

    return anyio.run(once)
