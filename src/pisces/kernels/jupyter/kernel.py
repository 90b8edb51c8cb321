"""One kernel that speaks the Jupyter protocol, as the contract wants it, whatever carries its messages."""

import logging
from collections import deque
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar
from uuid import uuid4

import anyio
import msgspec

from pisces.environment.filter import PLAIN_MPLBACKEND
from pisces.errors import ArtifactError, DeadlineExceeded, KernelError, KernelGone, KernelStartError
from pisces.kernels.base import ExecuteRequest, LaunchSpec
from pisces.kernels.completing import Question
from pisces.kernels.deadline import Deadline
from pisces.kernels.jupyter.asides import Asides
from pisces.kernels.jupyter.execution import JupyterExecution
from pisces.kernels.jupyter.failed import FailedExecution
from pisces.kernels.jupyter.message import Message, MessageMaker
from pisces.kernels.jupyter.setup import CHANGES, EVERYTHING, IDENTITY, go_code, set_up_code
from pisces.kernels.jupyter.tracker import ExecutionTracker
from pisces.kernels.jupyter.transport import KernelEnded, LinkLost, Transport
from pisces.model.completion import Completion
from pisces.model.events import ProcessExit, Variable, VariableChanges

_log = logging.getLogger(__name__)
_startup = logging.getLogger("pisces.startup")

_T = TypeVar("_T")

_KEY = "pisces"
_ASK_AGAIN = 0.5
"""A kernel that has just been started may miss a first question, and we its answer: it is asked again."""
_QUICK_CAP = 3.0
"""For a question between cells, which a kernel that waits for one answers in milliseconds."""
_SEND_CAP = 3.0
"""A cell has been handed over when this is up, also to a network that does not take it on."""
_SLACK = 0.15
"""A start keeps the deadline by itself and says what it waited for; this is for one that does not."""
_KEPT = 1000
"""So many messages that come between cells are kept for the next one."""
_ARTIFACT_PIECE = 1 << 20
"""Bytes of a kept output in one message: servers close connections that send them 10 MiB at once."""


class _ArtifactQuestion(msgspec.Struct):
    id: str
    start: Annotated[int, msgspec.Meta(ge=0)]


class JupyterKernel:
    """Fulfils `Kernel` and `Completing`; for kernels that run Python, `Inspecting` too; `Prepared` and `Mortal`."""

    def __init__(self, transport: Transport, spec: LaunchSpec, *, backend: str, nonce: str = "") -> None:
        """`nonce` is that of a kernel which has been set up before: start then finds out whether it is still there."""
        self.transport = transport
        self.backend = backend
        self.is_python = False
        self.language = ""
        self.nonce = nonce
        """What a Python kernel is known by: another process under the same id does not have it."""
        self._spec = spec
        self._make = MessageMaker(transport.client)
        self._execution: JupyterExecution | None = None
        self._kept: deque[Message] = deque(maxlen=_KEPT)
        self._left_out = 0
        self._asides = Asides(transport, self._make, self._hear)
        self._notes: list[str] = []
        self._exit: ProcessExit | None = None
        self._up = False
        self._unsure = False
        self._count = 0

    @property
    def interpreter(self) -> str:
        """See `kernels.base.Kernel`."""
        return self.transport.interpreter

    @property
    def has_guest(self) -> bool:
        """See `kernels.base.Prepared`."""
        return self.is_python

    async def start(self, deadline: Deadline) -> None:
        """See `kernels.base.Kernel`."""
        try:
            with deadline.scope(slack=_SLACK) as scope:
                await self.transport.open(deadline)
                await self._meet()
            if scope.cancelled_caught:
                raise DeadlineExceeded(f"The kernel did not start within {deadline.seconds:g} seconds")
        except LinkLost as error:
            await self._give_up()
            raise KernelStartError(str(error), hint=error.hint) from error
        except BaseException:
            await self._give_up()
            raise
        self._up = True

    async def _give_up(self) -> None:
        with anyio.CancelScope(shield=True):
            await self.transport.kill()
            await self.transport.shutdown()

    async def _meet(self) -> None:
        """Learn what it is, and prepare it."""
        info = await self._introduce()
        language = info.get("language_info")
        self.language = str(language.get("name", "")) if isinstance(language, dict) else ""
        self.is_python = self.language == "python"
        _startup.debug("kernel answers")
        if self.is_python and self.nonce:
            await self._recognise()
            if self._injected:  # An earlier process left it, with the variables of then.
                await self._ask(go_code(None, self._injected), {})
        elif self.is_python:
            await self._prepare()
        if self.is_python:
            self.transport.take_as_read()
        _startup.debug("kernel ready")

    async def _introduce(self) -> Mapping[str, Any]:
        """Ask until it answers, and until what it publishes is heard too."""
        asked: set[str] = set()
        heard = False
        info: Mapping[str, Any] | None = None
        while info is None or not heard:
            question = self._make.kernel_info()
            asked.add(question.id)
            await self.transport.send(question)
            with anyio.move_on_after(_ASK_AGAIN):
                while info is None or not heard:
                    message = await self.transport.receive()
                    if message.parent in asked:
                        heard |= message.channel == "iopub"
                        info = message.content if message.type == "kernel_info_reply" else info
        return info

    async def _prepare(self) -> None:
        nonce = uuid4().hex
        local = self.transport.shares_machine
        env = {**(self._spec.env if local else {}), **self._injected}
        if env.get("MPLBACKEND") == PLAIN_MPLBACKEND:
            del env["MPLBACKEND"]  # The kernel shows figures itself.
        reply = await self._ask(set_up_code(nonce, self._spec.cwd, env, shares_machine=local), {_KEY: IDENTITY})
        answer = _answer(reply)
        if not isinstance(answer, dict) or answer.get("nonce") != nonce:
            # It is a Python, but not one that can be prepared: plain cells run all the same.
            _log.warning("the kernel could not be prepared: %s", reply.get("evalue") or reply)
            self.is_python = False
            self._notes.append(
                "The kernel could not be prepared: variables are not reported, and input is not refused."
            )
            return
        self.nonce = nonce
        self._notes += [str(note) for note in answer.get("notes") or ()]

    @property
    def _injected(self) -> Mapping[str, str]:
        """The variables of Pisces itself that make sense where the kernel runs."""
        return self._spec.injected if self.transport.shares_machine else self._spec.injected_elsewhere

    async def _recognise(self) -> None:
        """Make sure that this is the process that was prepared. Raises `KernelEnded`."""
        answer = _answer(await self._ask("", {_KEY: IDENTITY}))
        if not isinstance(answer, dict) or answer.get("nonce") != self.nonce:
            self.died(ProcessExit(cause="was replaced by a fresh one under the same id"))
            raise KernelEnded("The kernel has been replaced by a fresh one under the same id")

    async def execute(self, request: ExecuteRequest) -> "JupyterExecution | FailedExecution":
        """See `kernels.base.Kernel`."""
        self._listen()
        self._living()
        try:
            if self._unsure:
                await self._make_sure()
            failed = await self._go(request)
            if failed is not None:
                return failed
            inspect = request.inspect and self.is_python
            message = self._make.execute(
                request.code,
                silent=request.silent,
                store_history=request.store_history,
                expressions={_KEY: CHANGES} if inspect else None,
            )
            counted = request.store_history and not request.silent
            await self.transport.ready()
            self._execution = JupyterExecution(self, message, inspect=inspect, counted=counted)
            self._execution.take_kept(self._kept)
            self._kept.clear()
            self._asides.cell_follows()
            # Up to here, whoever gives up knows that nothing was sent. From here on it is, whoever gives up.
            with anyio.move_on_after(_SEND_CAP, shield=True):
                await self.transport.send(message)
        except LinkLost as error:
            self._unsure = True
            raise KernelError(str(error), hint=error.hint) from error
        return self._execution

    async def _make_sure(self) -> None:
        """The connection was lost: is it the same kernel, and does it wait for a cell?"""
        with anyio.move_on_after(_QUICK_CAP):
            if self._execution is not None and self._execution.interrupts:
                await self.transport.interrupt()  # That did not get through then.
            if self.is_python:
                await self._recognise()
            else:
                await self._introduce()
            self._unsure = False
            return
        raise KernelError(
            "The kernel does not answer since the connection to it was lost; a cell may still be running there",
            hint="Try again later, or call with reset: true for a fresh kernel.",
        )

    async def _go(self, request: ExecuteRequest) -> FailedExecution | None:
        """Go to the folder of the cell, and set its variables; what the cell comes to if that fails."""
        if request.cwd is None and not request.env:
            return None
        if not self.is_python:
            self._notes.append(f"The folder was not changed: that is not known for {self.language or 'this kernel'}.")
            return None
        reply = await self._ask(go_code(request.cwd, request.env or {}), {})
        if reply.get("status") == "ok":
            return None
        return FailedExecution(str(reply.get("ename")), str(reply.get("evalue")), self.take_notes())

    async def interrupt(self) -> None:
        """See `kernels.base.Kernel`."""
        if self._execution is not None and not self._execution.done:
            await self._execution.interrupt()

    async def signal(self, *, again: bool) -> str:
        """Interrupt what runs; a second time by every way there is. The id of a question that is answered after it.

        That wakes an event loop that has not seen the interrupt. Empty where nothing is asked.
        """
        try:
            if not await self.transport.interrupt() or again:
                await self.transport.send(self._make.interrupt())
            return await self.ask_who_it_is() if self.is_python else ""
        except (KernelEnded, LinkLost) as error:
            _log.debug("the cell could not be interrupted: %s", error)  # Whoever receives hears of it.
            return ""

    async def ask_who_it_is(self) -> str:
        """Ask something that every kernel answers as soon as it is idle; the id of the question."""
        question = self._make.kernel_info()
        await self.transport.send(question)
        return question.id

    async def refuse_input(self, request: Message) -> None:
        """Answer a prompt with nothing."""
        await self.transport.send(self._make.input_reply(request))

    async def send_artifact(self, request: Message, asked: str) -> None:
        """Answer a prompt with a piece of a kept output of this session."""
        piece = await anyio.to_thread.run_sync(self._artifact_piece, asked)
        await self.transport.send(self._make.input_reply(request, piece))

    def _artifact_piece(self, asked: str) -> str:
        spec = self._spec
        try:
            question = msgspec.json.decode(asked, type=_ArtifactQuestion)
            if spec.artifacts is None:
                raise ArtifactError("the artifacts are files of this machine")
            name, place, data = spec.artifacts.piece(spec.session, question.id, question.start, _ARTIFACT_PIECE)
        except (ArtifactError, OSError, msgspec.DecodeError) as error:
            return msgspec.json.encode({"error": str(error)}).decode()
        return msgspec.json.encode({"name": name, "place": place, "data": data}).decode()

    def changes_in(self, reply: Mapping[str, Any]) -> VariableChanges | None:
        """What a reply says about the names; None if it does not, as that of a cell that failed."""
        return _converted(_answer(reply), VariableChanges)

    async def ask_changes(self) -> VariableChanges | None:
        """The same, asked for by itself; None if the kernel does not answer at once."""
        try:
            with anyio.move_on_after(_QUICK_CAP):
                return self.changes_in(await self._ask("", {_KEY: CHANGES}))
        except LinkLost as error:
            _log.debug("the names could not be asked for: %s", error)
        return None

    async def variables(self, deadline: Deadline) -> tuple[Variable, ...]:
        """See `kernels.base.Inspecting`. Raises `KernelError` where the kernel runs no Python."""
        self._listen()
        self._living()
        if not self.is_python:
            raise KernelError(f"Variables of a {self.language or 'foreign'} kernel cannot be listed")
        try:
            with deadline.scope():
                found = _converted(_answer(await self._ask("", {_KEY: EVERYTHING})), tuple[Variable, ...])
                return found or ()
        except LinkLost as error:
            self._unsure = True
            raise KernelError(str(error), hint=error.hint) from error
        raise DeadlineExceeded("The kernel did not list its variables in time")

    async def complete(self, code: str, cursor: int, deadline: Deadline) -> Completion:
        """See `kernels.base.Completing`."""
        self._listen()
        self._living()
        try:
            with deadline.scope():
                return await self._asides.ask(Question.about(code, cursor))
        except LinkLost as error:
            self._unsure = True
            _log.debug("what could stand at the cursor could not be asked: %s", error)
        return Completion()

    def _hear(self, message: Message) -> None:
        """Take in a message between cells. Raises `KernelEnded` if it says that there is no kernel any more."""
        tracker = ExecutionTracker("", self._make.session)
        tracker.take(message)
        if tracker.exit is not None:
            self.died(tracker.exit)
            raise KernelEnded(f"The kernel {tracker.exit.describe()}", exit=tracker.exit)
        self._keep(message)

    async def _ask(self, code: str, expressions: Mapping[str, str]) -> Mapping[str, Any]:
        """Run something of ours between cells and wait for its reply; other messages are kept for the next cell."""
        await self.transport.ready()
        question = self._make.execute(code, silent=True, expressions=expressions, stdin=False)
        tracker = ExecutionTracker(question.id, self._make.session)
        await self.transport.send(question)
        while not tracker.finished:
            message = await self.transport.receive()
            tracker.take(message)
            if tracker.exit is not None:
                self.died(tracker.exit)
                raise KernelEnded(f"The kernel {tracker.exit.describe()}", exit=tracker.exit)
            if message.parent != question.id:
                self._keep(message)
        return tracker.reply or {}

    def _listen(self) -> None:
        """Take in what came since the last cell: output for the next one, and news of the kernel's death."""
        if not self._up or (self._execution is not None and not self._execution.done):
            return
        tracker = ExecutionTracker("", self._make.session)
        while (message := self.transport.receive_nowait()) is not None:
            tracker.take(message)
            self._keep(message)
        if tracker.exit is not None:
            self.died(tracker.exit)

    def _keep(self, message: Message) -> None:
        """For the next cell, unless it is none of its business; what is too much for that is counted."""
        if not self._asides.take(message):
            self._left_out += len(self._kept) == _KEPT
            self._kept.append(message)

    def died(self, how: ProcessExit) -> None:
        """It is certain that what the kernel knew is gone."""
        self._exit = self._exit or how

    def unsure(self) -> None:
        """The connection is lost: before the next cell, see whether the kernel is still the same."""
        self._unsure = True

    def take_notes(self) -> tuple[str, ...]:
        """What there is to tell with the next result; told once."""
        notes, self._notes = self._notes, []
        if self._left_out:
            notes.append(f"{self._left_out} messages that came between the cells were too many to keep, and left out.")
            self._left_out = 0
        return (*notes, *self.transport.take_notes())

    def count_went_back(self, count: int | None) -> bool:
        """Whether the number of this cell is below that of the one before: then it is not the same kernel."""
        if not isinstance(count, int):
            return False
        before, self._count = self._count, count
        return count < before

    def _living(self) -> None:
        if not self._up or self.ended is not None:
            raise KernelGone("The kernel has ended")

    async def is_alive(self) -> bool:
        """See `kernels.base.Kernel`."""
        self._listen()
        return self._up and self.ended is None

    @property
    def ended(self) -> ProcessExit | None:
        """See `kernels.base.Mortal`."""
        return self._exit or self.transport.ended

    async def kill(self) -> None:
        """See `kernels.base.Kernel`."""
        await self.transport.kill()

    async def shutdown(self) -> None:
        """See `kernels.base.Kernel`."""
        await self.transport.shutdown()
        self._up = False


def _answer(reply: Mapping[str, Any]) -> Any:
    """The value of our expression in a reply; None if it has none."""
    expressions = reply.get("user_expressions")
    answer = expressions.get(_KEY) if isinstance(expressions, dict) else None
    data = answer.get("data") if isinstance(answer, dict) else None
    return data.get("application/json") if isinstance(data, dict) else None


def _converted(value: Any, kind: type[_T]) -> _T | None:
    if value is None:
        return None
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        _log.warning("a kernel's answer was not understood: %s", error)
        return None
