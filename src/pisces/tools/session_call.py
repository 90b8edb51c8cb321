"""One call of the `session` tool: which session it is about, how long it may take, and what does it.

Above is `session`; the other files of this name have the actions, by their subject.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from anyio import to_thread

from pisces.errors import DeadlineExceeded, InvalidCall, NoSuchSession, PiscesError
from pisces.kernels.deadline import Deadline
from pisces.model.results import TextBlock, ToolResult
from pisces.model.sessions import SessionAction, SessionDetails
from pisces.sessions.jobs import Job
from pisces.sessions.session import Session
from pisces.tools import session_jobs, session_state
from pisces.tools.base import CallContext, Services, error_result
from pisces.tools.bridge_calls import refuse_to_wait_for_itself
from pisces.tools.job_text import busy_notice
from pisces.tools.python import DEFAULT_TIMEOUT
from pisces.tools.python_params import MIN_TIMEOUT, seconds_of
from pisces.tools.schema import parse_params
from pisces.tools.session_export import export, export_past, notebook_path
from pisces.tools.session_list import list_sessions
from pisces.tools.session_lookup import find_past_session, find_running, find_session, shared_notice
from pisces.tools.session_output import OutputPart, artifact_output, job_output
from pisces.tools.session_params import SessionParams, check
from pisces.tools.session_result import told

T = TypeVar("T")

_NEED_THE_TURN: Final[tuple[SessionAction, ...]] = ("checkpoint", "restore", "undo", "branch", "close")
"""Actions that wait for the cell which runs in the session."""
_CHANGE_THE_STATE: Final[tuple[SessionAction, ...]] = ("checkpoint", "restore", "undo", "branch")
"""Actions whose caller reads what there is to say of the session; a look at it leaves that for the next cell."""


async def call_session(services: Services, params: Mapping[str, Any], context: CallContext) -> ToolResult:
    """Do what was asked. Raises `InvalidCall` for wrong parameters; what is not there is in the result."""
    parsed = parse_params(params, SessionParams)
    check(parsed)
    call = _SessionCall(services, parsed, context)
    try:
        return await call.run()
    except InvalidCall:
        raise
    except PiscesError as error:
        return error_result("\n".join([error.explain(), *call.why_not_in_time(error)]))


class _SessionCall:
    """One call: which session it is about, and how long it may take."""

    def __init__(self, services: Services, params: SessionParams, context: CallContext) -> None:
        self._services = services
        self._params = params
        self._context = context
        self._session: Session | None = None
        least = 0.0 if params.action == "wait" else MIN_TIMEOUT
        most = services.settings.python.max_timeout
        usual, longest = min(DEFAULT_TIMEOUT, most), context.longest(most)
        seconds = seconds_of(params.timeout, default=usual, least=least, most=longest)
        self._deadline = Deadline.after(seconds)

    async def run(self) -> ToolResult:
        """Do what the action says."""
        actions: dict[SessionAction, Callable[[], Awaitable[ToolResult]]] = {
            "list": self._list,
            "jobs": self._jobs,
            "wait": self._wait,
            "cancel": self._cancel,
            "output": self._output,
            "interrupt": self._interrupt,
            "close": self._close,
            "checkpoint": self._checkpoint,
            "restore": self._restore,
            "undo": self._undo,
            "branch": self._branch,
            "variables": self._variables,
            "export": self._export,
        }
        try:
            result = await actions[self._params.action]()
        except PiscesError as error:
            for note in self._take_notes():
                error.add_note(note)
            raise
        if notes := self._take_notes():
            result.content[0] = TextBlock("\n".join([result.text, *notes]))
        if self._session is not None and self._session.take_sharing(self._context.caller):
            result.content[0] = TextBlock(f"{shared_notice(self._session)}\n\n{result.text}")
        return result

    def _take_notes(self) -> list[str]:
        """What the session has to say besides, where the action is one that may have brought up a kernel."""
        return self._session.take_notes() if self._session and self._params.action in _CHANGE_THE_STATE else []

    def why_not_in_time(self, error: PiscesError) -> list[str]:
        """What held the session, where the time ran out."""
        if self._session is None or not isinstance(error, DeadlineExceeded):
            return []
        job = self._services.jobs.at_work_in(self._session)
        return [] if job is None else [busy_notice(job.info())]

    def _find(self) -> Session:
        name = self._params.session or self._context.default_session
        self._session = find_session(self._services, self._context.owner, name, self._params.kernel)
        if self._params.action in _NEED_THE_TURN and not self._params.drop:
            refuse_to_wait_for_itself(self._context, self._session.key)
            self._session.used_by(self._context.caller)
        return self._session

    def _job(self) -> Job:
        return self._services.jobs.get(_needed(self._params.job))

    async def _list(self) -> ToolResult:
        return list_sessions(self._services)

    async def _jobs(self) -> ToolResult:
        session = None if self._params.session is None else self._find()
        return session_jobs.list_jobs(self._services.jobs.listed(session))

    async def _wait(self) -> ToolResult:
        job = self._job()
        if job.running:
            refuse_to_wait_for_itself(self._context, job.subject.session.key)
        return await session_jobs.wait_for(job, self._deadline, self._context)

    async def _cancel(self) -> ToolResult:
        return await session_jobs.cancel(self._job(), self._deadline, self._context)

    async def _output(self) -> ToolResult:
        part = OutputPart(self._params.lines, self._params.search, self._deadline)
        if self._params.id is not None:
            return await artifact_output(self._services, self._params.id, part)
        return await job_output(self._services, self._job(), part, self._context.read_with)

    async def _checkpoint(self) -> ToolResult:
        name = _needed(self._params.name)
        if self._params.drop:
            return session_state.drop_checkpoint(self._find(), name)
        return await session_state.checkpoint(self._find(), name, self._deadline)

    async def _restore(self) -> ToolResult:
        return await session_state.restore(self._find(), self._params.name, self._deadline, self._context.owner)

    async def _undo(self) -> ToolResult:
        return await session_state.undo(self._find(), self._params.steps or 1, self._deadline, self._context.owner)

    async def _branch(self) -> ToolResult:
        session, owner = self._find(), self._context.owner
        return await session_state.branch(self._services, session, self._params.to, self._deadline, owner)

    async def _variables(self) -> ToolResult:
        return await session_state.variables(self._find(), self._deadline, self._context.owner)

    async def _export(self) -> ToolResult:
        target = notebook_path(self._services.cwd, _needed(self._params.path))
        try:
            session = self._find()
        except NoSuchSession:
            name = self._params.session or self._context.default_session
            past = await to_thread.run_sync(find_past_session, self._services, name, self._params.kernel)
            if past is None:
                raise
            return await to_thread.run_sync(export_past, past, target)
        return await export(session, target)

    async def _interrupt(self) -> ToolResult:
        name = self._params.session or self._context.default_session
        session = find_running(self._services, self._context.owner, name, self._params.kernel)
        details = SessionDetails(action="interrupt", session=session.key.id)
        stop, job = session.active_stop, self._services.jobs.at_work_in(session)
        if stop is None:
            return told(f"Nothing runs in session {session.key.id!r}.", details)
        stop.ask()
        details.job = None if job is None else job.info()
        which = "The running call" if job is None else job.id
        text = f"{which} in session {session.key.id!r} is being stopped; its own result says how it ended."
        return told(text, details)

    async def _close(self) -> ToolResult:
        session = self._find()
        job = self._services.jobs.at_work_in(session)
        # Another agent of the same owner has to be told as well that it is gone.
        await self._services.pool.close(session, "" if session.shared else self._context.owner)
        stopped = "" if job is None else f" {job.id} was ended with it."
        text = f"Session {session.key.id!r} is closed: its kernel, its state and its checkpoints are gone.{stopped}"
        return told(text, SessionDetails(action="close", session=session.key.id))


def _needed(value: T | None) -> T:
    """The value of a parameter that `check` has seen to be there."""
    assert value is not None
    return value
