"""Calls of the background host from an event loop: each has a connection and a thread of its own."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec

from pisces.errors import PiscesError
from pisces.host.client import HostClient, HostEnding, HostGone, HostSilent, disconnected, python_result, unanswered
from pisces.host.protocol import Call, Hello, Piece, Place, Told
from pisces.host.start import find_host, have_host
from pisces.kernels.completing import Question
from pisces.model.completion import Completion
from pisces.model.results import ToolResult

OnPieces = Callable[[list[Piece]], None]
OnTold = Callable[[Told], None]

_MOST_CALLS: Final = 64
_MOST_QUESTIONS: Final = 8
"""Threads that may wait for a host that does not answer, beside those of calls."""
_COMPLETE_SECONDS: Final = 1.5
_READ_WITH: Final = "Run `pisces artifact {id}`"
LONG: Final = 7 * 86_400.0
"""Seconds for what a person runs: they see it, and can stop it."""


class HostLink:
    """The host of this user, as it is called from one folder. It is started when there is a first call in a session."""

    def __init__(self, cwd: str, settings: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> None:
        self._environ = dict(os.environ if environ is None else environ)
        self._place = Place.here(cwd, dict(settings))
        self._threads = anyio.CapacityLimiter(_MOST_CALLS)
        self._askers = anyio.CapacityLimiter(_MOST_QUESTIONS)
        self._asking: _Asking | None = None

    def begin(
        self,
        tool: str,
        params: Mapping[str, Any],
        on_output: OnPieces | None = None,
        *,
        on_told: OnTold | None = None,
    ) -> "RunningCall":
        """A call that can be cancelled; nothing happens before its result is asked for.

        In another thread, `on_output` hears all that the cells say, and `on_told`, now and then, the newest of it.
        """
        call = Call(
            tool=tool,
            params=dict(params),
            place=self._place,
            stream=on_output is not None,
            newest=on_told is not None,
            read_with=_READ_WITH,
            attended=True,
        )
        return RunningCall(call, self._environ, self._threads, on_output=on_output, on_told=on_told)

    async def call(self, tool: str, params: Mapping[str, Any]) -> ToolResult:
        """Call a tool, and wait for its result. Raises `PiscesError` when it is refused."""
        return await self.begin(tool, params).result()

    async def complete(self, session: str, code: str, cursor: int) -> Completion:
        """What could stand at the cursor, in code for a session of the host; nothing where that cannot be told soon.

        Who asks again while an answer is awaited has no use for it any more: that one is then empty.
        """
        asking, self._asking = self._asking, _Asking(self._environ, Question.about(code, cursor))
        if asking is not None:
            asking.give_up()
        asking = self._asking
        with anyio.move_on_after(_COMPLETE_SECONDS):
            try:
                return await anyio.to_thread.run_sync(
                    asking.answer, session, abandon_on_cancel=True, limiter=self._askers
                )
            finally:
                asking.give_up()
        return Completion()

    async def hello(self) -> Hello | None:
        """What the host says of itself; None when there is none. Nothing is started."""
        return await anyio.to_thread.run_sync(self._hello, limiter=self._threads)

    def _hello(self) -> Hello | None:
        client = find_host(self._environ)
        if client is None:
            return None
        client.close()
        return client.hello


class _Asking:
    """A question about a cursor, under way."""

    def __init__(self, environ: Mapping[str, str], question: Question) -> None:
        self._environ = environ
        self._question = question
        self._client: HostClient | None = None
        self._given_up = False

    def give_up(self) -> None:
        """Nobody waits for the answer. From any thread."""
        self._given_up = True
        if self._client is not None:
            self._client.hang_up()

    def answer(self, session: str) -> Completion:
        """What the host says; nothing without one, or from one of another version."""
        question = self._question
        try:
            client = self._client = find_host(self._environ)
        except PiscesError:
            return Completion()  # It is for who runs a cell to hear of it.
        if client is None:
            return Completion()
        try:
            if self._given_up or not client.is_of_this_version:
                return Completion()
            found = client.complete(session, question.code, question.cursor, _COMPLETE_SECONDS)
            return Completion(found.matches, found.start + question.offset, found.end + question.offset)
        except PiscesError:
            return Completion()
        finally:
            client.close()


class RunningCall:
    """One call under way."""

    def __init__(
        self,
        call: Call,
        environ: Mapping[str, str],
        threads: anyio.CapacityLimiter,
        *,
        on_output: OnPieces | None,
        on_told: OnTold | None,
    ) -> None:
        self._call = call
        self._environ = environ
        self._on_output = on_output
        self._on_told = on_told
        self._threads = threads
        self._client: HostClient | None = None
        self._cancelled = False
        self._abandoned = False

    def cancel(self) -> None:
        """Stop it; the result still comes, and says so. From any thread."""
        self._cancelled = True
        if self._client is not None:
            self._client.cancel()

    async def result(self) -> ToolResult:
        """Carry it out. Raises `PiscesError` when it is refused.

        Cancelling the wait cancels the call, and what became of it is then told with the session's next call.
        """
        try:
            return await anyio.to_thread.run_sync(self._run, abandon_on_cancel=True, limiter=self._threads)
        except anyio.get_cancelled_exc_class():
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Nobody will read the answer: the host is to know that, and keeps what there is to tell for the next call."""
        self._abandoned = self._cancelled = True
        if self._client is not None:
            self._client.hang_up()

    def _run(self) -> ToolResult:
        while True:
            if self._abandoned:
                raise PiscesError("Nobody waits for this call any more.")  # No host is started for nobody.
            client = self._client = have_host(self._environ)
            if self._abandoned:
                client.hang_up()
            elif self._cancelled:
                client.cancel()
            try:
                return _typed(client.call(self._call, self._on_output, self._on_told), self._call.tool)
            except HostEnding:
                continue  # It was about to end when we came; the next one is ours.
            except (HostGone, HostSilent) as error:
                return _without_answer(self._call, error)
            finally:
                client.close()


def _typed(raw: msgspec.Raw, tool: str) -> ToolResult:
    if tool in ("python", "bash"):
        return python_result(raw)
    return msgspec.json.decode(raw, type=ToolResult)


def _without_answer(call: Call, error: HostGone | HostSilent) -> ToolResult:
    session = str(call.params.get("session", ""))
    if call.tool not in ("python", "notebook"):
        raise PiscesError(f"{error} Whether it was done is not known.", hint=error.hint)
    return unanswered(session, error) if isinstance(error, HostSilent) else disconnected(session)
