"""One object on its way: made, kept, looked at, changed, and brought back by one of the systems."""

import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal, Protocol

import anyio
import msgspec

from bench.state.objects.case import Case

Way = Literal["back", "anew"]
"""Back to before the change in a kernel that lives; or in a new process, when the kernel has been killed."""

WAYS: tuple[Way, ...] = ("back", "anew")
SET_UP_SECONDS = 90.0
CELL_SECONDS = 20.0
AT_A_TIME = 2
_LOOKED, _TOOK, _THERE = "looked: ", "took: ", "there: "


class CellAnswer(msgspec.Struct):
    """How a cell ended: what it printed, or why it did not end well."""

    printed: str = ""
    trouble: str = ""
    seconds: float = 0.0
    hung: bool = False

    def value(self, mark: str) -> str | None:
        """What stands behind the mark, in the last line that has it; None when the cell failed."""
        found = [line.removeprefix(mark) for line in self.printed.splitlines() if line.startswith(mark)]
        return found[-1] if found and not self.trouble else None


class WayBack(msgspec.Struct):
    """What a system said of a way back, and how long it took."""

    reported: bool
    """Whether it said that the variable is not as it was, or that it could not go back."""
    said: str
    seconds: float
    hung: bool = False


class Session(Protocol):
    """A kernel whose state a system keeps."""

    async def run(self, code: str, seconds: float) -> CellAnswer: ...

    async def mark(self) -> None:
        """Remember the state of now, which the last cell left."""
        ...

    def kept_bytes(self) -> int:
        """How much it takes to keep the state of the mark."""
        ...

    async def bring_back(self, way: Way) -> WayBack:
        """Bring the state of the mark back."""
        ...

    def warned(self) -> str:
        """What the system said to the cells before, of its own accord."""
        ...


Sessions = Callable[[Path], AbstractAsyncContextManager[Session]]
"""Opens a session in a folder of its own."""


class Found(msgspec.Struct, kw_only=True):
    """What became of an object."""

    kind: str
    name: str
    way: Way
    before: str | None = None
    """What it was; None when it could not be made or looked at, so that nothing was tried."""
    after: str | None = None
    there: bool = False
    reported: bool = False
    hung: bool = False
    keep_ms: float | None = None
    back_ms: float | None = None
    kept_bytes: int = 0
    said: str = ""
    """For who looks into it: what the system said, and how the look failed."""


async def travel_all(cases: Iterable[Case], sessions: Sessions) -> list[Found]:
    """Every case both ways, a few at a time."""
    found: list[list[Found]] = []
    limit = anyio.CapacityLimiter(AT_A_TIME)
    async with anyio.create_task_group() as group:
        for case in cases:
            ways: list[Found] = []
            found.append(ways)
            group.start_soon(_travel_both, case, sessions, ways, limit)
    return [one for ways in found for one in ways]


async def _travel_both(case: Case, sessions: Sessions, ways: list[Found], limit: anyio.CapacityLimiter) -> None:
    async with limit:
        ways.append(await _try(case, sessions, "back", None))
        if ways[0].before is not None:
            ways.append(await _try(case, sessions, "anew", ways[0].before))


async def _try(case: Case, sessions: Sessions, way: Way, before: str | None) -> Found:
    """The object on one way; not tried where there is no session for it, since the others are worth having then."""
    try:
        return await _travel(case, sessions, way, before)
    except RuntimeError as error:
        return Found(kind=case.kind, name=case.name, way=way, said=f"there is no session: {error}")


async def _travel(case: Case, sessions: Sessions, way: Way, before: str | None) -> Found:
    """As `_try`. `before` is what the object was on another way: then it is neither looked at nor changed."""
    found = Found(kind=case.kind, name=case.name, way=way, before=before)
    with tempfile.TemporaryDirectory(prefix="pisces-bench-case-", ignore_cleanup_errors=True) as folder:
        async with sessions(Path(folder)) as session:
            if not await _make(case, session, found):
                return found
            if before is None:
                looked = await _look(case, session)
                found.before = looked.value(_LOOKED)
                if found.before is None:
                    found.said = f"not looked at: {looked.trouble}"
                    return found
                changed = await session.run(case.change, CELL_SECONDS)
                if changed.trouble:
                    found.before, found.said = None, f"not changed: {changed.trouble}"
                    return found
            await _bring_back(case, session, found)
    return found


async def _make(case: Case, session: Session, found: Found) -> bool:
    """Whether the object was made. How long it took to keep it is what two cells took beyond the code itself."""
    ready = await session.run(case.setup or "pass", SET_UP_SECONDS)
    made = ready if ready.trouble else await session.run(_clocked(case.make), CELL_SECONDS)
    took = made.value(_TOOK)
    if took is None:
        found.said, found.hung = f"not made: {made.trouble}", made.hung
        return False
    await session.mark()
    after = await session.run("pass", CELL_SECONDS)
    found.keep_ms = (made.seconds + after.seconds - float(took)) * 1e3
    found.kept_bytes = session.kept_bytes()
    return True


def _clocked(code: str) -> str:
    return (
        f"import time as _time\n_began = _time.perf_counter()\n{code}\nprint('{_TOOK}', _time.perf_counter() - _began)"
    )


async def _look(case: Case, session: Session) -> CellAnswer:
    return await session.run(f"print('{_LOOKED}' + ascii({case.look}))", CELL_SECONDS)


async def _bring_back(case: Case, session: Session, found: Found) -> None:
    back = await session.bring_back(found.way)
    found.back_ms = back.seconds * 1e3
    there = await session.run(f"print('{_THERE}', globals().get('x') is not None)", CELL_SECONDS)
    looked = await _look(case, session)
    found.after = looked.value(_LOOKED)
    found.there = (there.value(_THERE) or "").strip() == "True"
    found.hung = back.hung or there.hung or looked.hung
    warned = session.warned()
    found.reported = back.reported or bool(warned)
    found.said = "; ".join(text for text in (back.said, warned, looked.trouble) if text)
