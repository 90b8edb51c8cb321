"""Calls that come to the host: each finds the home of its session, runs, and is answered with what became of it."""

from collections.abc import Sequence

import anyio
import msgspec

from pisces.errors import PiscesError
from pisces.host.connection import Connection
from pisces.host.homes import Homes
from pisces.host.left import OWNER, LeftSessions
from pisces.host.losses import Losses
from pisces.host.protocol import Call, Cancel, Complete, NotUnderstood, Output, Piece, SessionLine, Told
from pisces.model.cells import CellRecord
from pisces.model.completion import Completion
from pisces.model.results import Details, TextBlock, ToolResult, Update
from pisces.model.sessions import SessionDetails
from pisces.runtime import Runtime
from pisces.sessions.kernel_records import KernelRecord
from pisces.sessions.key import SessionKey
from pisces.sessions.progress import OnOutput, OnUpdate
from pisces.sessions.recovery import StateNews
from pisces.sessions.transcript import OutputPiece
from pisces.tools.base import DEFAULT_SESSION, CallContext, error_result
from pisces.tools.session_result import told
from pisces.tools.untold import leave_untold


class HostCalls:
    """The sessions of the host, as its clients use them."""

    def __init__(self, runtime: Runtime, losses: Losses) -> None:
        self._runtime = runtime
        self._losses = losses
        self._homes = Homes(runtime)
        self._left = LeftSessions(runtime, self._homes)
        runtime.pool.on_new = lambda session: losses.made(session.key)

    @property
    def sessions(self) -> tuple[SessionLine, ...]:
        """The sessions that there are. One whose kernel never came up, and has no call, is none."""
        found = [session for session in self._runtime.pool.sessions if session.generation or session.busy]
        stays = {session.key.id: session.source.can_leave(session.kernel) for session in found}
        return tuple(SessionLine(name, self._homes.cwd_of(name), stays[name]) for name in sorted(stays))

    @property
    def names(self) -> set[str]:
        """Their names."""
        return {line.name for line in self.sessions}

    @property
    def unclosed(self) -> list[str]:
        """The names of those that somebody still counts on, also of those that were ended to make room."""
        return sorted({*self._homes.names, *self.names})

    async def answer(self, call: Call, connection: Connection) -> ToolResult:
        """Carry out a call. `Cancel`, or the end of the connection, stops it.

        Raises the `PiscesError` of a tool that refuses the call.
        """
        abort = anyio.Event()
        context = CallContext(
            owner=OWNER,
            on_output=_sender(connection, abort) if call.stream else None,
            on_update=_teller(connection, abort) if call.newest else None,
            abort=abort,
            unread=lambda: connection.gone,
            read_with=call.read_with,
            keep_going=call.keep_going,
            durable=True,
            attended=call.attended,
            announce_new=not call.attended,  # A person sees in which session a cell runs.
        )
        refusal: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(_watch, connection, abort)
            try:
                result = await self._dispatch(call, context)
                if connection.gone:  # Nobody is there to read what became of the state.
                    leave_untold(self._runtime.pool, result, OWNER)
                return result
            except Exception as error:  # noqa: BLE001 - raised outside: the group would wrap it
                refusal = error
            finally:
                group.cancel_scope.cancel()
                self._runtime.pool.disconnect(OWNER)
                self._losses.follow(self.unclosed)
        assert refusal is not None
        raise refusal

    async def complete(self, request: Complete, connection: Connection) -> Completion:
        """What could stand at the cursor; nothing any more for a client that hangs up."""
        gone, found = anyio.Event(), Completion()
        async with anyio.create_task_group() as group:
            group.start_soon(_watch, connection, gone)

            async def give_up() -> None:
                await gone.wait()
                group.cancel_scope.cancel()

            group.start_soon(give_up)
            found = await self._runtime.complete(request.code, request.cursor, session=request.session)
            group.cancel_scope.cancel()
        return found

    async def _dispatch(self, call: Call, context: CallContext) -> ToolResult:
        if call.tool == "bash":
            return await self._homes.tools_at(call.place)["bash"].call(call.params, context)
        if not _runs_cells(call):
            return await self._manage(call, context)
        name = str(call.params.get("session") or DEFAULT_SESSION)
        why = self._losses.of(name)
        ran = None if why is None else self._losses.kernel_of(name)
        home = self._homes.enter(name, call.place, call.params.get("kernel"), ran)
        params = call.params if home.kernel is None else {**call.params, "kernel": home.kernel}
        if why is not None:
            context = msgspec.structs.replace(context, announce_new=False)  # An earlier host had it.
        self._losses.follow({*self.unclosed, name})  # Should we be killed meanwhile, it is known that it was there.
        try:
            result = await home.tools[call.tool].call(params, context)
        finally:
            for made in self.names & {name, *self._run_clean_for(name)}:
                self._homes.keep(made, home, self.names)
        if "cwd" not in call.params and (sentence := home.visit(call.place)) is not None:
            result = _with_notice(result, sentence)
        if why is not None and self._losses.of(name) is not None and name in self.names:
            result = (
                result if self._found_again(name) else with_loss(result, why, _runs(ran, self._losses.kernel_of(name)))
            )
            self._losses.told(name)
        return result

    def _run_clean_for(self, name: str) -> set[str]:
        """The sessions in which notebooks were run from scratch beside this one."""
        sessions = self._runtime.pool.sessions
        return {other.key.id for other in sessions if other.runs_clean_for and other.runs_clean_for.id == name}

    def _found_again(self, name: str) -> bool:
        """Whether the session of an earlier host is there after all, because its kernel lives elsewhere.

        One whose kernel was looked for, and was gone, has said so itself.
        """
        return any(session.key.id == name and session.source.looked for session in self._runtime.pool.sessions)

    async def _manage(self, call: Call, context: CallContext) -> ToolResult:
        """A call about sessions, not in one."""
        name, action = str(call.params.get("session", "")), call.params.get("action")
        if name and name not in self.names and (left := self._left.of(name)) is not None:
            result = await self._manage_left(left, call)
            if result is not None:
                return result
        why = self._losses.of(name)
        if action == "close" and why is not None and name not in self.names:
            self._losses.told(name)
            return told(f"Session {name!r} was lost: {why}.", SessionDetails(action="close", session=name))
        before = self.names
        result = await self._runtime.tool(call.tool, call.params, context=context)
        if name in before and name not in self.names:
            self._homes.leave(name)
        if action == "branch" and isinstance(result.details, SessionDetails):
            self._homes.share(name, result.details.session)
            self._losses.told(result.details.session)  # There was one of that name, and it is nobody's loss any more.
        if action == "list" and isinstance(result.details, SessionDetails):
            self._add_lost(result, result.details)
        if result.is_error and why is not None and name not in self.names:
            result = _with_notice(result, f"{why}.")  # Nobody may read it: the next cell there says it too.
        return result

    def _add_lost(self, result: ToolResult, details: SessionDetails) -> None:
        """Name the lost sessions below those that there are."""
        lost = self._losses.listed(self.names)
        if lost:
            left = {record.session.id for record in self._runtime.records.all()}
            details.lost = [session for session in lost if session.id not in left]
        if details.lost:
            there = [result.text] if details.sessions else []
            result.content[0] = TextBlock("\n".join([*there, *(lost.line for lost in details.lost)]))

    async def _manage_left(self, left: KernelRecord, call: Call) -> ToolResult | None:
        """A call about a session whose kernel an earlier host left on its gateway.

        None when the session is there now, or need not be: then it can be carried out as any other.
        """
        name, action = left.session.id, call.params.get("action")
        if action == "export":
            return None
        result: ToolResult | None = None
        try:
            if action == "close":
                result = await self._left.close(left, call)
            elif action == "interrupt":
                result = await self._left.interrupt(left, call)
            else:
                home = await self._left.bring_back(left, call)
                self._homes.keep(name, home, self.names)
        except PiscesError as error:
            return error_result(error.explain())
        self._losses.told(name)
        return result


def _runs_cells(call: Call) -> bool:
    """Whether it is a call in a session, not one about sessions."""
    return call.tool in ("python", "notebook")


async def _watch(connection: Connection, abort: anyio.Event) -> None:
    """Stop the call when the client says so or hangs up."""
    while not abort.is_set():
        try:
            request = await connection.receive()
        except NotUnderstood:
            request = None
        if request is None or isinstance(request, Cancel):
            abort.set()


def _sender(connection: Connection, abort: anyio.Event) -> OnOutput:
    last: CellRecord | None = None

    async def send(pieces: Sequence[OutputPiece]) -> None:
        nonlocal last
        told = list[Piece]()
        for record, text in pieces:
            before = None if text or last is None or last is record else (last.status, last.duration_ms)
            told.append(Piece(record.index, record.title, text, before))
            last = record
        await connection.send(Output(told))
        if connection.gone:
            abort.set()

    return send


def _teller(connection: Connection, abort: anyio.Event) -> OnUpdate:
    async def tell(update: Update) -> None:
        await connection.send(Told(any(cell.status != "pending" for cell in update.cells), update.tail))
        if connection.gone:
            abort.set()

    return tell


def with_loss(result: ToolResult, why: str, runs: str = "") -> ToolResult:
    """The result of the first call in a fresh session that takes the place of a lost one."""
    if not isinstance(result.details, Details):
        return result
    notice = f"[State: lost] {StateNews.lost(why).text}{runs}"
    details = result.details
    details.notices = [notice, *details.notices]
    if details.kernel is not None:
        details.kernel = msgspec.structs.replace(details.kernel, state="lost")
    content = [TextBlock(f"{notice}\n\n{result.text}"), *result.content[1:]]
    return ToolResult(content=content, details=details, is_error=result.is_error)


def _runs(before: SessionKey | None, now: SessionKey | None) -> str:
    """What a session runs in the place of a lost one, as a further sentence; empty where that is not known."""
    if before is None or now is None:
        return ""
    if before.interpreter == now.interpreter:
        return f" The session runs {now.interpreter}, as before."
    return f" The session ran {before.interpreter}, and now runs {now.interpreter}."


def _with_notice(result: ToolResult, sentence: str) -> ToolResult:
    if isinstance(result.details, Details):
        result.details.notices.append(sentence)
    result.content[0] = TextBlock(f"{result.text}\n\n{sentence}")
    return result
