"""Make objects in a real session, crash it, and see which of them are still good for something."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import anyio

from pisces.model.events import Restore
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from tests.fakes.runtimes import details, kernel_of, runtime_on
from tests.state.catalogue import Entry, Library, Way
from tests.state.working_threads import BEGIN, THREAD, Work

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
MAKE_SECONDS = 60.0
USE_SECONDS = 20.0
SET_UP_SECONDS = 90.0
MOST_SECONDS = 300.0
"""For all that is tried with one library."""
GRACE_SECONDS = 2
MOST_HANGS = 2
"""After so many between two crashes, what is left until the next is not tried: each costs its whole timeout."""
CELLS_BESIDE = 3
"""How many cells run, and end in a checkpoint, while a thread works."""
_MARK = "value: "
_NOT_MADE = "it was not made"

CameBack = Literal["exact", "by_value", "older", "not"]
"""How a state came back that was kept while a thread worked; `older` is one of some cells before, and said so."""


@dataclass(frozen=True)
class Answer:
    """What an object said when it was used: a value, or why there is none."""

    value: str | None
    trouble: str = ""
    hung: bool = False
    untried: bool = False
    """Whether enough had hung before it."""


@dataclass(frozen=True)
class Finding:
    """What became of one entry."""

    library: Library
    entry: Entry
    way: Way
    undisturbed: Answer
    after_crash: Answer
    how: Way
    """How the whole state came back."""
    missing: str | None
    """What the restore says of the variable among what is missing; None when it does not name it."""

    @property
    def told(self) -> bool:
        """Whether the restore named the variable among what is missing."""
        return self.missing is not None

    @property
    def is_otherwise(self) -> bool:
        """Whether it came back in another way than the catalogue expects."""
        return self.way != self.library.expected(self.entry)

    @property
    def grave_problem(self) -> str:
        """What must not be, whatever the catalogue expects, as a sentence; empty when all is well."""
        name = f"{self.library.name}: {self.entry.name}"
        if self.undisturbed.value is None:
            return f"{name} does not work in an undisturbed session: {self.undisturbed.trouble}"
        if self.after_crash.untried:
            return f"{name}: {self.after_crash.trouble}"
        if self.after_crash.hung and not self.told:
            return f"{name} hangs, and the restore does not name it: {self.after_crash.trouble}"
        if self.told and self.way != "not":
            return f"{name}: the restore names it, though it is back"
        if not self.told and self.way == "not" and not self.entry.untold:
            return f"{name}: the restore does not name it as missing; {self._values}"
        return ""

    @property
    def problem(self) -> str:
        """What must not be, or is not as the catalogue says, as a sentence; empty when all is well."""
        if self.grave_problem or not self.is_otherwise:
            return self.grave_problem
        expected = self.library.expected(self.entry)
        named = f"; the restore says: {self.missing}" if self.missing else ""
        return f"{self.library.name}: {self.entry.name}: expected {expected}, found {self.way}; {self._values}{named}"

    @property
    def _values(self) -> str:
        return f"undisturbed {self.undisturbed.value}, now {self.after_crash.value or self.after_crash.trouble}"


@dataclass(frozen=True)
class Beside:
    """How the state of a library came back that was kept while a thread did some work."""

    library: Library
    work: Work
    came_back: CameBack
    troubles: tuple[str, ...] = ()
    """Each thing that hung, was wrong without being named, or kept the live kernel from going on."""

    @property
    def problem(self) -> str:
        """What must not be, as a sentence; empty when all is well."""
        if not self.troubles:
            return ""
        return f"{self.library.name}, while a thread works ({self.work.name}): {'; '.join(self.troubles)}"


@dataclass
class Outcome:
    """What a session with the objects of one library went through."""

    library: Library
    findings: list[Finding] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    cut_short: str = ""
    """Why there is no more, as a sentence."""

    @property
    def problems(self) -> list[str]:
        """All that is not as the catalogue says, and all that must not be."""
        return self._told([found.problem for found in self.findings])

    @property
    def grave_problems(self) -> list[str]:
        """All that must not be, whatever the catalogue says."""
        return self._told([found.grave_problem for found in self.findings])

    def _told(self, of_findings: list[str]) -> list[str]:
        told = (*of_findings, *(beside.problem for beside in self.beside), self.cut_short)
        return [problem for problem in told if problem]


class SessionFailed(Exception):
    """A session cannot be gone on with; the message says why."""


async def outcome_for(library: Library, interpreter: str, folder: Path, works: Sequence[Work] = ()) -> Outcome:
    """Put the objects of a library through crashes, and compare them with those of a session that has none.

    The first crash is that of a quiet session. One more follows for each kind of work, which a thread does meanwhile;
    after one that went wrong, the next has a new session.
    """
    outcome = Outcome(library)
    with anyio.move_on_after(MOST_SECONDS) as scope:
        try:
            async with _session_of(library, interpreter, folder, "off") as session:
                await session.make()
                undisturbed = [await session.use() for _ in range(1 + len(works))]
            await _crash_quietly_and_beside(outcome, undisturbed, works, interpreter, folder)
        except SessionFailed as failure:
            outcome.cut_short = f"{library.name}: {failure}"
    if scope.cancelled_caught:
        outcome.cut_short = f"{library.name} was cut short after {MOST_SECONDS:.0f} s"
    return outcome


async def _crash_quietly_and_beside(
    outcome: Outcome, undisturbed: list[list[Answer]], works: Sequence[Work], interpreter: str, folder: Path
) -> None:
    library, remaining = outcome.library, list(works)
    while remaining or not outcome.findings:
        async with _session_of(library, interpreter, folder, "always") as session:
            await session.make()
            values = iter(undisturbed)
            if not outcome.findings:
                restore = await session.crash()
                if restore is None or restore.cells_lost:
                    lost = f"{restore.cells_lost} cells were" if restore else "the state was"
                    raise SessionFailed(f"{lost} lost in a crash of a quiet session")
                outcome.findings += _compared(library, next(values), await session.use(), restore)
            while remaining:
                found = await _beside(session, remaining.pop(0), outcome.findings, next(values))
                outcome.beside.append(found)
                if found.troubles:
                    break


@asynccontextmanager
async def _session_of(library: Library, interpreter: str, folder: Path, checkpoint: str) -> AsyncIterator["_Session"]:
    environ = {"TMPDIR": str(folder)}
    options = {"checkpoint": checkpoint, "interrupt_grace": GRACE_SECONDS}
    async with runtime_on(interpreter, folder, environ=environ, **options) as runtime:
        yield _Session(runtime, library)


def _compared(
    library: Library, undisturbed: Sequence[Answer], after_crash: Sequence[Answer], restore: Restore
) -> list[Finding]:
    return [
        Finding(
            library,
            entry,
            way=_way(undisturbed[number], after_crash[number], restore),
            undisturbed=undisturbed[number],
            after_crash=after_crash[number],
            how=restore.how,
            missing=_said_of(_variable(number), restore),
        )
        for number, entry in enumerate(library.entries)
    ]


def _way(undisturbed: Answer, after_crash: Answer, restore: Restore) -> Way:
    if after_crash.value is None or after_crash.value != undisturbed.value:
        return "not"
    return restore.how


def _said_of(variable: str, restore: Restore) -> str | None:
    return next((said for said in restore.missing if said.startswith(f"{variable} ")), None)


async def _beside(
    session: "_Session", work: Work, findings: Iterable[Finding], undisturbed: Sequence[Answer]
) -> Beside:
    """Crash the session while a thread works in it, and see that nothing hangs, and nothing is wrong without a word."""
    library = session.library
    troubles = await session.work(work)
    restore = await session.crash()
    if restore is None:
        return Beside(library, work, "not", (*troubles, "the state was lost"))
    came_back: CameBack = "older" if restore.cells_lost else restore.how
    if troubles:
        return Beside(library, work, came_back, tuple(troubles))
    if restore.cells_lost > CELLS_BESIDE + 1:
        troubles.append(f"{restore.cells_lost} cells were lost, more than there were since the thread began")
    if not restore.cells_lost and f"thread '{THREAD}'" not in restore.missing:
        troubles.append("the thread is not named as missing")
    if restore.how == "exact" and restore.cells_lost <= CELLS_BESIDE:
        troubles += await session.work_again()
    for finding, before, now in zip(findings, undisturbed, await session.use(), strict=True):
        expected = before.value if finding.way != "not" else None
        if finding.entry.untold and session.came_by_value:
            expected = None
        if now.hung:
            troubles.append(f"{finding.entry.name} hangs: {now.trouble}")
        elif expected not in {None, now.value} and not now.untried and not session.is_known_missing(finding.entry):
            troubles.append(
                f"{finding.entry.name} should be {expected}, is {now.value or now.trouble}, and no word of it"
            )
    return Beside(library, work, came_back, tuple(troubles))


@dataclass
class _Session:
    """A session with the objects of a library, each in a variable."""

    runtime: Runtime
    library: Library
    first: list[Answer] = field(default_factory=list)
    """What each object said when it had been made."""
    hangs: int = 0
    """How many cells hung since the last crash."""
    missing: set[str] = field(default_factory=set)
    came_by_value: bool = False
    """Whether it ever came back by value."""

    async def make(self) -> None:
        """Make every object, and use it once."""
        if self.library.setup:
            ready = await self.runtime.python(code=self.library.setup, timeout=SET_UP_SECONDS)
            if details(ready).outcome != "ok":
                raise SessionFailed(f"what comes first does not run: {_told(ready)}")
        for number, entry in enumerate(self.library.entries):
            made = await self._answer(f"{entry.make}\n{_variable(number)} = x\ndel x", MAKE_SECONDS)
            if made.value is None:
                self.first.append(Answer(None, f"{_NOT_MADE}: {made.trouble}", made.hung))
            else:
                self.first.append(await self._use(number, entry))

    async def use(self) -> list[Answer]:
        """Use every object that could be made and used at first."""
        return [
            first if first.value is None else await self._use(number, entry)
            for number, (entry, first) in enumerate(zip(self.library.entries, self.first, strict=True))
        ]

    async def crash(self) -> Restore | None:
        """Kill the kernel; how its state came back, or None when it did not."""
        crashed = await self._run(CRASH)
        if details(crashed).outcome != "crashed":
            raise SessionFailed(f"the kernel did not crash when it should: {_told(crashed)}")
        self.hangs = 0
        return kernel_of(crashed).restore

    async def work(self, work: Work) -> list[str]:
        """Begin the work in a thread, and run some cells beside it; what went wrong with them first."""
        self.hangs = 0
        for cell in (work.setup + BEGIN, *["work_round()"] * CELLS_BESIDE):
            answer = await self._answer(cell)
            if answer.value is None:
                return [f"the live kernel does not go on: {answer.trouble}"]
        return []

    async def work_again(self) -> list[str]:
        """Do the work in the main thread after the thread is gone."""
        answer = await self._answer("work_round()")
        return [] if answer.value is not None else [f"its work does not go on: {answer.trouble}"]

    def is_known_missing(self, entry: Entry) -> bool:
        """Whether the variable of the entry was named as missing before."""
        return _variable(self.library.entries.index(entry)) in self.missing

    async def _use(self, number: int, entry: Entry) -> Answer:
        return await self._answer(f"x = {_variable(number)}\nprint({_MARK!r} + ascii({entry.use}))\ndel x")

    async def _answer(self, code: str, seconds: float | None = None) -> Answer:
        if self.hangs >= MOST_HANGS:
            return Answer(None, f"not tried, because {MOST_HANGS} before it hung", untried=True)
        result = await self._run(code, seconds)
        values = [line.partition(_MARK)[2] for line in result.text.splitlines() if _MARK in line]
        outcome = details(result).outcome
        if outcome == "ok":
            return Answer(values[-1] if values else "")
        hung = outcome == "timeout"
        self.hangs += hung
        return Answer(None, f"{outcome}: {_told(result)}", hung)

    async def _run(self, code: str, seconds: float | None = None) -> ToolResult:
        """Run a cell, and remember which variables are said to be missing: nothing can be expected of them any more."""
        result = await self.runtime.python(code=code, timeout=seconds or USE_SECONDS)
        restore = kernel_of(result).restore
        if restore is not None:
            self.missing.update(said.partition(" ")[0] for said in restore.missing)
            self.came_by_value |= restore.how == "by_value"
        return result


def _variable(number: int) -> str:
    return f"object_{number}"


def _told(result: ToolResult) -> str:
    """The line that says most: the last that the cell put out, which is the exception where there was one."""
    outputs = [cell.output.strip() for cell in details(result).cells]
    return (outputs[-1] if outputs and outputs[-1] else result.text.strip()).rpartition("\n")[2]
