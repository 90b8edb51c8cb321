"""Make objects in a real session, crash it, and see which of them are still good for something."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pisces.model.events import Restore
from pisces.model.results import ToolResult
from pisces.runtime import Runtime
from tests.fakes.runtimes import details, kernel_of, runtime_on
from tests.state.catalogue import Entry, Library, Way

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
USE_SECONDS = 20.0
SET_UP_SECONDS = 90.0
_MARK = "value: "


@dataclass(frozen=True)
class Answer:
    """What an object said when it was used: a value, or why there is none."""

    value: str | None
    trouble: str = ""


@dataclass(frozen=True)
class Finding:
    """What became of one entry."""

    library: Library
    entry: Entry
    way: Way
    undisturbed: Answer
    after_crash: Answer
    told: bool
    """Whether the restore named the variable among what is missing."""

    @property
    def problem(self) -> str:
        """What is not as the catalogue says, as a sentence; empty when all is well."""
        name = f"{self.library.name}: {self.entry.name}"
        expected = self.library.expected(self.entry)
        if self.undisturbed.value is None:
            return f"{name} does not work in an undisturbed session: {self.undisturbed.trouble}"
        if self.way != expected:
            said = self.after_crash.value or self.after_crash.trouble
            return f"{name}: expected {expected}, found {self.way}; undisturbed {self.undisturbed.value}, now {said}"
        if self.told != (expected == "not" and not self.entry.untold):
            return (
                f"{name}: the restore {'names it, though it is back' if self.told else 'does not name it as missing'}"
            )
        return ""


async def findings_for(library: Library, interpreter: str, folder: Path) -> list[Finding]:
    """Put the objects of a library through a crash, and compare them with those of a session that has none."""
    temporary = {"TMPDIR": str(folder)}
    async with runtime_on(interpreter, folder, environ=temporary, checkpoint="off") as runtime:
        undisturbed, _ = await _lives(runtime, library, crash=False)
    async with runtime_on(interpreter, folder, environ=temporary, checkpoint="always") as runtime:
        after_crash, restore = await _lives(runtime, library, crash=True)
    return [
        Finding(
            library,
            entry,
            way=_way(undisturbed[number], after_crash[number], restore),
            undisturbed=undisturbed[number],
            after_crash=after_crash[number],
            told=any(missing.startswith(f"{_variable(number)} ") for missing in (restore.missing if restore else ())),
        )
        for number, entry in enumerate(library.entries)
    ]


def problems(findings: Iterable[Finding]) -> list[str]:
    """All that is not as the catalogue says."""
    return [finding.problem for finding in findings if finding.problem]


def _way(undisturbed: Answer, after_crash: Answer, restore: Restore | None) -> Way:
    if restore is None or after_crash.value is None or after_crash.value != undisturbed.value:
        return "not"
    return restore.how


async def _lives(runtime: Runtime, library: Library, *, crash: bool) -> tuple[list[Answer], Restore | None]:
    """Make every object, use it, crash if that is wanted, and use it again."""
    if library.setup:
        ready = await runtime.python(code=library.setup, timeout=SET_UP_SECONDS)
        assert details(ready).outcome == "ok", ready.text
    made = [await _make(runtime, number, entry) for number, entry in enumerate(library.entries)]
    restore = await _crash(runtime) if crash else None
    used = [
        first if first.value is None else await _use(runtime, number, entry)
        for number, (entry, first) in enumerate(zip(library.entries, made, strict=True))
    ]
    return used, restore


def _variable(number: int) -> str:
    return f"object_{number}"


async def _make(runtime: Runtime, number: int, entry: Entry) -> Answer:
    made = await runtime.python(code=f"{entry.make}\n{_variable(number)} = x\ndel x", timeout=USE_SECONDS)
    if details(made).outcome != "ok":
        return Answer(None, f"it was not made: {_told(made)}")
    return await _use(runtime, number, entry)


async def _use(runtime: Runtime, number: int, entry: Entry) -> Answer:
    code = f"x = {_variable(number)}\nprint('{_MARK}' + ascii({entry.use}))\ndel x"
    used = await runtime.python(code=code, timeout=USE_SECONDS)
    values = [line.removeprefix(_MARK) for line in used.text.splitlines() if line.startswith(_MARK)]
    if details(used).outcome == "ok" and values:
        return Answer(values[-1])
    return Answer(None, f"{details(used).outcome}: {_told(used)}")


async def _crash(runtime: Runtime) -> Restore | None:
    crashed = await runtime.python(code=CRASH, timeout=USE_SECONDS)
    assert details(crashed).outcome == "crashed", crashed.text
    return kernel_of(crashed).restore


def _told(result: ToolResult) -> str:
    """The line that says most: the last that the cell put out, which is the exception where there was one."""
    outputs = [cell.output.strip() for cell in details(result).cells]
    return (outputs[-1] if outputs and outputs[-1] else result.text.strip()).rpartition("\n")[2]
