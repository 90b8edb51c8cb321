"""Sessions whose threads work without end, a model of what each of them should know, and what is done to both.

The model keeps what every variable should hold after every finished cell, and goes where a result says that the
session went: so it need not know which checkpoints were made, and sees a result that says something wrong. A call that
does not come back is a hang, of a live kernel or of a restored one; the failure says which, with the stacks of all
threads.
"""

import asyncio
import contextlib
import json
import os
import random
import re
import signal
from collections import Counter, deque
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pisces.kernels.native.kernel import NativeKernel
from pisces.model.events import Restore
from pisces.model.results import ToolResult
from pisces.model.sessions import SessionDetails, SessionInfo
from pisces.runtime import Runtime
from tests.fakes.drive import eventually
from tests.fakes.runtimes import details, kernel_of, pool_of

_T = TypeVar("_T")

HANG_SECONDS = 60.0
"""A call that takes longer hangs; each takes a second or two at most."""
LONGEST_CALL = 300
"""For the tool, in seconds: longer than ours, so that a hang is still there to be looked at."""

NAMES = "abcdefgh"
MOST_WORKERS = 10
MOST_SESSIONS = 3
MARKS = ("red", "green", "blue")
ENDS = {"SIGKILL": "os.kill(os.getpid(), 9)", "os._exit": "os._exit(7)", "os.abort": "os.abort()"}
REFUSED_UNDO = re.compile(r"is not kept|nothing to undo|cannot be undone")
CELLS_BACK = re.compile(r"No checkpoint was made .*?(?:the last one is (\d+) cells? back|there is none to go back to)")
FAILED = re.compile(r"The last checkpoint could not be made: .*")

Value = tuple[str, int]
"""A kind of `native_work.VALUES`, and the number that it was made of."""


class WrongState(AssertionError):
    """A session does not know what it should, and no result said so."""


class Hang(AssertionError):
    """A call does not come back."""


@dataclass(frozen=True)
class Moment:
    """What there should be after so many cells."""

    values: dict[str, Value]
    workers: tuple[str, ...] = ()
    doubtful: frozenset[str] = frozenset()
    """Names that were reported as missing: they may be there or not."""


@dataclass
class WorkingSession:
    """The model of one session."""

    name: str
    values: dict[str, Value] = field(default_factory=dict)
    workers: dict[str, str] = field(default_factory=dict)
    """The threads that work in the live kernel, each with its kind of work."""
    doubtful: frozenset[str] = frozenset()
    position: int = 0
    moments: dict[int, Moment] = field(default_factory=dict)
    marks: dict[str, tuple[int, dict[int, Moment]]] = field(default_factory=dict)
    came_back: str = ""
    """How its kernel came back, if it is a restored one."""
    cells_not_kept: int = 0
    """How many cells back the last result says that the last checkpoint is."""
    cells_since_certain: int = 0
    """How many cells back the last checkpoint is that was there before the last call."""
    told_of_failures: bool = False
    """Whether a result said that a checkpoint could not be made: each reason is told once in a session."""

    def finished(self, cells: int = 1) -> None:
        """So many more cells did what they should."""
        for _ in range(cells):
            self.position += 1
            self.moments[self.position] = self.now

    @property
    def now(self) -> Moment:
        return Moment(dict(self.values), tuple(self.workers), self.doubtful)

    def go_to(self, position: int, moments: dict[int, Moment], how: str, missing: Sequence[str] = ()) -> Moment:
        """The session went there, without what is missing. Returns what there was at that time."""
        self.position = position
        self.moments = {at: moment for at, moment in moments.items() if at <= position}
        there = self.moments.get(position, Moment({}))
        self.doubtful = there.doubtful.union(text.partition(" (")[0] for text in missing)
        self.values = {name: value for name, value in there.values.items() if name not in self.doubtful}
        self.workers, self.came_back, self.cells_not_kept = {}, how, 0
        return there


class WorkingSessions:
    """Does things to sessions and compares each with its model."""

    def __init__(
        self,
        runtime: Runtime,
        works: dict[str, object],
        values: list[str],
        choices: random.Random,
        counts: Counter[str],
    ) -> None:
        self._runtime = runtime
        self._folder = runtime.cwd
        self.works = works
        self._values = values
        self._random = choices
        self._counts = counts
        self._number = 0
        self._last_steps: deque[str] = deque(maxlen=15)
        self.sessions: dict[str, WorkingSession] = {}
        self.hang_seconds = HANG_SECONDS
        self.setup = ""
        """A cell that each session begins with, besides the import of the work."""

    async def step(self) -> None:
        """One random thing in one random session."""
        if not self.sessions:
            await self.open()
        session = self._random.choice(list(self.sessions.values()))
        acts = {
            self.assign: 5, self.back_to_back: 2, self.work_for_a_while: 3, self.compute: 3, self.fail: 1, self.mark: 2,
            self.undo: 3, self.crash: 2, self.kill: 1,
            self.restore: 2 * bool(session.marks),
            self.branch: len(self.sessions) < MOST_SESSIONS,
            self.close: len(self.sessions) > 1,
            self.start: 3 * (len(session.workers) < MOST_WORKERS),
            self.stop: bool(session.workers),
        }  # fmt: skip
        (act,) = self._random.choices(list(acts), list(acts.values()))
        await act(session)
        self._counts[f"step: {act.__name__}"] += 1

    async def open(self) -> WorkingSession:
        """A new session, with nothing in it but the work."""
        self._number += 1
        session = self.sessions[f"session {self._number}"] = WorkingSession(f"session {self._number}")
        await self._prepare(session)
        return session

    async def assign(self, session: WorkingSession) -> None:
        """A cell makes a value."""
        name, value = self._any_value()
        session.values[name] = value
        await self.run_cell(session, _assignment(name, value))

    async def back_to_back(self, session: WorkingSession) -> None:
        """Several cells in one call; the next begins when the checkpoint has been made."""
        codes = []
        for _ in range(self._random.randrange(2, 6)):
            name, value = self._any_value()
            codes.append(_assignment(name, value))
            session.values[name] = value
            session.finished()
        await self.run_cell(session, *codes, counted=True)

    async def work_for_a_while(self, session: WorkingSession) -> None:
        """A cell of 50 to 200 ms, in native code beside that of the threads."""
        kind = self._any_work()
        seconds = self._random.uniform(0.05, 0.2)
        await self.run_cell(session, f"work.work_for({seconds:.3f}, {kind!r}, {self.works[kind]!r})")

    async def compute(self, session: WorkingSession) -> None:
        """A cell with one round of work."""
        kind = self._any_work()
        await self.run_cell(session, f"work.compute({kind!r}, {self.works[kind]!r})")

    async def fail(self, session: WorkingSession) -> None:
        """A cell that raises counts, and keeps what it did."""
        name, value = self._any_value()
        session.values[name] = value
        code = f"{_assignment(name, value)}; raise ValueError('on purpose')"
        result = await self._call(session, self._run(session, [code]))
        self._expect(details(result).outcome == "error" and kernel_of(result).state == "kept", "a cell failed", result)
        session.finished()
        self._hear(session, result)

    async def start(self, session: WorkingSession) -> None:
        """One more thread that works."""
        await self.start_worker(session, self._any_work())

    async def start_worker(self, session: WorkingSession, kind: str) -> None:
        """A thread for this kind of work."""
        self._number += 1
        name = f"{kind} {self._number}"
        session.workers[name] = kind
        await self.run_cell(session, f"work.start({name!r}, {kind!r}, {self.works[kind]!r})")
        self._counts[f"thread: {kind}"] += 1

    async def stop(self, session: WorkingSession) -> None:
        """One thread fewer."""
        name = self._random.choice(list(session.workers))
        del session.workers[name]
        await self.run_cell(session, f"work.stop({name!r})")

    async def mark(self, session: WorkingSession) -> None:
        """A named checkpoint."""
        name = self._random.choice(MARKS)
        result = await self._act(session, "checkpoint", name=name)
        if result.is_error:
            self._counts[f"named checkpoint refused: {_without_numbers(result.text)}"] += 1
            return
        self._counts["named checkpoint made"] += 1
        session.marks[name] = (session.position, dict(session.moments))

    async def restore(self, session: WorkingSession) -> None:
        """Go to a named checkpoint, back or forward."""
        name = self._random.choice(list(session.marks))
        position, moments = session.marks[name]
        result = await self._act(session, "restore", name=name)
        self._expect(not result.is_error, f"the checkpoint {name!r} was not gone to", result)
        await self._went(session, result, position, moments)

    async def undo(self, session: WorkingSession) -> None:
        """Take cells back, where the state of before them is kept."""
        steps = self._random.randrange(1, 4)
        result = await self._act(session, "undo", steps=steps)
        if result.is_error:
            self._expect(REFUSED_UNDO.search(result.text) is not None, "undo did not work", result)
            self._counts["undo refused"] += 1
            return
        await self._went(session, result, session.position - steps, session.moments)

    async def branch(self, session: WorkingSession) -> None:
        """A second session with the same state."""
        self._number += 1
        name = f"session {self._number}"
        result = await self._act(session, "branch", to=name)
        if result.is_error:
            self._counts[f"branch refused: {_without_numbers(result.text)}"] += 1
            return
        self.sessions[name] = branch = WorkingSession(name, position=session.position)
        await self._went(branch, result, session.position, session.moments, branch=True)

    async def close(self, session: WorkingSession) -> None:
        """End a session."""
        result = await self._act(session, "close")
        self._expect(not result.is_error, "a session could not be closed", result)
        del self.sessions[session.name]

    async def crash(self, session: WorkingSession) -> None:
        """A cell ends the process: the session comes back."""
        how = self._random.choice(list(ENDS))
        name, value = self._any_value()
        info = await self._info(session)
        result = await self._call(session, self._run(session, [f"import os; {_assignment(name, value)}; {ENDS[how]}"]))
        self._expect(details(result).outcome == "crashed", f"a cell ended by {how} did not crash", result)
        self._counts[f"crash: {how}"] += 1
        await self._came_back(session, result, info)

    async def kill(self, session: WorkingSession) -> None:
        """The process is killed between two calls: the next one finds it restored."""
        info = await self._info(session)
        pid = self._pid(session)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        session.came_back = "after a kill between two calls,"
        result = await self._call(session, self._run(session, ["0"]))
        self._expect(details(result).outcome == "ok", "the first cell after a kill failed", result)
        self._counts["crash: SIGKILL between calls"] += 1
        # The copy of after the last cell may have been under way.
        session.cells_not_kept = max(session.cells_not_kept, session.cells_since_certain)
        await self._came_back(session, result, info, finished=1)

    async def check(self, session: WorkingSession) -> None:
        """Every variable is there and right, or was named as missing; every library computes; every thread works."""
        if "work" in session.doubtful:
            await self.run_cell(session, _SETUP)
        look = f"work.look(globals(), {session.values!r}, {NAMES!r}, {str(self._folder)!r})"
        forget = f"for name in {sorted(session.doubtful.intersection(NAMES))!r}: globals().pop(name, None)"
        check = f"work.check({self.works!r}, {list(session.workers)!r}, {str(self._folder)!r})"
        doubtful, session.doubtful = session.doubtful, frozenset()
        await self.run_cell(session, f"{look}\n{forget}\n{check}")
        report = json.loads((self._folder / "report.json").read_text(encoding="utf-8"))
        for what in ("absent", "wrong", "unexpected"):
            unnamed = [f"{name} {session.values.get(name, '')}" for name in report[what] if name not in doubtful]
            if unnamed:
                found = f"{what}, and not reported as missing: {', '.join(unnamed)}"
                raise WrongState(f"{self._kernel_of(session)} is wrong: {found}\n{self._way()}")
        self._counts["variables compared"] += len(session.values)
        self._counts["variables named as missing"] += len(doubtful.intersection(NAMES))

    async def _prepare(self, session: WorkingSession) -> None:
        await self.run_cell(session, _SETUP)
        if self.setup:
            await self.run_cell(session, self.setup)

    async def _came_back(
        self, session: WorkingSession, result: ToolResult, before: SessionInfo | None, finished: int = 0
    ) -> None:
        """After a death: the session is where the result says, and knows what it should know there."""
        kernel = kernel_of(result)
        if kernel.state == "lost":
            kept = 0 if before is None else before.automatic_checkpoints
            self._expect(kept == 0, f"the state is lost, although there were {kept} checkpoints", result)
            self._counts["restore: lost, for want of a checkpoint"] += 1
            session.go_to(0, session.moments, "from nothing, because it was lost,")
            await self._prepare(session)
            await self.check(session)
            return
        self._expect(kernel.state == "restored" and kernel.restore is not None, "a dead kernel is not back", result)
        restore: Restore = kernel.restore  # type: ignore[assignment]  # Expected in the line before.
        self._hear(session, result, crashed=True)
        told = restore.cells_lost <= session.cells_not_kept or session.told_of_failures
        self._expect(told, f"{restore.cells_lost} cells are lost, and nothing said that they were not kept", result)
        self._counts[f"restore: {restore.how}, {restore.cells_lost} cells lost"] += 1
        position = session.position - restore.cells_lost
        there = session.go_to(position, session.moments, f"{restore.how}, after a crash,", restore.missing)
        session.cells_not_kept = 0  # What it came back from is there still.
        if finished:
            session.finished(finished)
            self._hear(session, result)
        self._expect_threads_named(there, restore.missing, result)
        await self.check(session)

    async def _went(
        self,
        session: WorkingSession,
        result: ToolResult,
        position: int,
        moments: dict[int, Moment],
        *,
        branch: bool = False,
    ) -> None:
        """After undo, restore and branch: the session is where it was asked to go."""
        told = result.details
        assert isinstance(told, SessionDetails)
        self._expect(branch or told.cells == position, f"the session is not after {position} cells", result)
        self._counts[f"{told.action}: {told.how or 'exact'}"] += 1
        there = session.go_to(position, moments, f"{told.how}, by {told.action},", told.missing)
        if told.how == "fresh":
            await self._prepare(session)
        else:
            self._expect_threads_named(there, told.missing, result)
        if branch:
            session.moments[position] = session.now  # It keeps a checkpoint of how it begins.
        await self.check(session)

    def _expect_threads_named(self, there: Moment, missing: Sequence[str], result: ToolResult) -> None:
        unnamed = [name for name in there.workers if f"thread {name!r}" not in missing]
        self._expect(not unnamed, f"threads are gone and not named: {', '.join(unnamed)}", result)

    async def run_cell(self, session: WorkingSession, *codes: str, counted: bool = False) -> None:
        """Run a cell that succeeds, or several in one call; `counted` where the model has counted them."""
        result = await self._call(session, self._run(session, list(codes)))
        expected = details(result).outcome == "ok" and kernel_of(result).state == "kept"
        self._expect(expected, f"a cell of {session.name} failed", result)
        if not counted:
            session.finished(len(codes))
        self._hear(session, result)

    def _hear(self, session: WorkingSession, result: ToolResult, *, crashed: bool = False) -> None:
        """What the result says about the checkpoint of after its last cell, or before the one that crashed."""
        notices = "\n".join(details(result).notices)
        if failed := FAILED.search(notices):
            session.told_of_failures = True
            self._counts[f"told: {_without_numbers(failed[0])}"] += 1
        if crashed:
            return
        found = CELLS_BACK.search(notices)
        session.cells_since_certain = session.cells_not_kept + len(details(result).cells)
        session.cells_not_kept = 0 if found is None else int(found[1] or session.position)
        if found is None:
            self._counts["call whose state was kept"] += 1
        else:
            self._counts[f"call whose state was not kept: {_without_numbers(found[0])}"] += 1

    def _run(self, session: WorkingSession, codes: list[str]) -> Awaitable[ToolResult]:
        self._last_steps.append(f"{session.name}: {' | '.join(codes)}"[:300])
        cells = [{"code": code} for code in codes]
        return self._runtime.python(cells=cells, session=session.name, timeout=LONGEST_CALL)

    async def _act(self, session: WorkingSession, action: str, **params: Any) -> ToolResult:
        self._last_steps.append(f"{session.name}: {action} {params or ''}")
        more = {} if action == "close" else {"timeout": LONGEST_CALL}
        return await self._call(
            session, self._runtime.session(action, session=session.name, **more, **params), f"during {action}"
        )

    async def _info(self, session: WorkingSession) -> SessionInfo | None:
        listed = await self._call(session, self._runtime.session("list"))
        return next((info for info in listed.details.sessions if info.id == session.name), None)

    async def _call(self, session: WorkingSession, call: Awaitable[_T], during: str = "in a cell") -> _T:
        """What the call comes to; raises `Hang` with all that can be seen if it does not."""
        task = asyncio.ensure_future(call)
        done, _ = await asyncio.wait({task}, timeout=self.hang_seconds)
        if done:
            return task.result()
        seen = await self._seen_of_a_hang(session)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        raise Hang(f"{self._kernel_of(session)} hung {during} for {self.hang_seconds:g} s.\n{seen}\n{self._way()}")

    def _kernel_of(self, session: WorkingSession) -> str:
        if session.came_back:
            return f"A restored kernel ({session.came_back} in {session.name})"
        return f"The live kernel (of {session.name})"

    async def _seen_of_a_hang(self, session: WorkingSession) -> str:
        """Where each thread of the kernel is, as Python and as the system see it."""
        pid = self._pid(session)
        trying = self._folder / "trying.txt"
        tried = trying.read_text(encoding="utf-8") if trying.exists() else "nothing yet"
        if pid is None:
            return f"It has no process. The last check tried: {tried}."
        stacks = stacks_of(self._folder)
        size = stacks.stat().st_size if stacks.exists() else 0
        tasks = _tasks(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR1)
        with contextlib.suppress(AssertionError):
            await eventually(lambda: stacks.exists() and stacks.stat().st_size > size)
        text = stacks.read_bytes()[size:].decode(errors="replace") if stacks.exists() else ""
        return f"The last check tried: {tried}.\n{tasks}\n{text or 'It does not answer a signal.'}"

    def _pid(self, session: WorkingSession) -> int | None:
        for found in pool_of(self._runtime).sessions:
            if found.key.id == session.name and isinstance(found.kernel, NativeKernel):
                process = found.kernel._process
                return None if process is None or not process.alive else process._pid
        return None

    def _expect(self, condition: bool, otherwise: str, result: ToolResult) -> None:
        if not condition:
            raise WrongState(f"{otherwise}:\n{result.text[-4000:]}\n{result.details}\n{self._way()}")

    def _way(self) -> str:
        return "The last steps:\n" + "\n".join(f"  {step}" for step in self._last_steps)

    def _any_value(self) -> tuple[str, Value]:
        return self._random.choice(NAMES), (self._random.choice(self._values), self._random.randrange(1, 1000))

    def _any_work(self) -> str:
        return self._random.choice(list(self.works))


_SETUP = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport native_work as work"


def stacks_of(folder: Path) -> Path:
    """The file that kernels in this folder write their stacks to."""
    return folder / "stacks.txt"


def _assignment(name: str, value: Value) -> str:
    return f"{name} = work.made{value!r}"


def _without_numbers(text: str) -> str:
    """The first line of a text as a reason that can be counted."""
    return re.sub(r"[\d,.]*\d", "N", text.strip().partition("\n")[0])[:200]


def _tasks(pid: int) -> str:
    lines = []
    with contextlib.suppress(OSError):
        for task in sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda path: int(path.name)):
            seen = [_read(task / name) for name in ("comm", "wchan", "syscall")]
            state = re.search(r"State:\s*(.*)", _read(task / "status"))
            lines.append(f"  {task.name} {seen[0]}: {state[1] if state else '?'}, in {seen[1]}, {seen[2]}")
    return "\n".join(lines) or "Its process is gone."


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        return type(error).__name__
