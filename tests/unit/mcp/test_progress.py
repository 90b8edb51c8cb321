"""What a client hears while a call runs."""

import anyio
import pytest

from pisces.mcp import progress
from pisces.mcp.progress import CallProgress
from pisces.model.cells import CellRecord, CellStatus
from pisces.model.results import Update
from tests.fakes.drive import PATIENCE


class Heard:
    """The notifications of one call; a test waits for some number of them."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.words: list[str] = []
        self._more = anyio.Event()

    async def __call__(self, value: float, total: float | None, words: str) -> None:
        assert total is None
        self.values.append(value)
        self.words.append(words)
        self._more.set()

    async def until(self, count: int) -> None:
        with anyio.fail_after(PATIENCE):
            while len(self.words) < count:
                self._more = anyio.Event()
                await self._more.wait()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundredth of the usual times."""
    monkeypatch.setattr(progress, "_NEWS", progress._NEWS / 100)
    monkeypatch.setattr(progress, "_SILENCE", progress._SILENCE / 100)


def cells(*statuses: CellStatus) -> tuple[CellRecord, ...]:
    return tuple(CellRecord(index=index, code="", status=status) for index, status in enumerate(statuses))


async def told(update: Update | None) -> str:
    """What is told after this update."""
    heard = Heard()
    call = CallProgress(heard)
    if update is not None:
        call.update(update)
    async with anyio.create_task_group() as group:
        group.start_soon(call.tell)
        await heard.until(1)
        group.cancel_scope.cancel()
    return heard.words[0]


async def test_a_silent_call_is_told_of_again_and_again_with_values_that_rise() -> None:
    heard = Heard()
    async with anyio.create_task_group() as group:
        group.start_soon(CallProgress(heard).tell)
        await heard.until(4)
        group.cancel_scope.cancel()
    assert heard.values == sorted(set(heard.values))
    assert heard.words[:4] == ["running, 0 s"] * 4


async def test_much_news_is_told_at_a_bearable_pace() -> None:
    heard = Heard()
    call = CallProgress(heard)
    async with anyio.create_task_group() as group:
        group.start_soon(call.tell)
        await heard.until(1)
        for number in range(1000):
            call.update(Update(cells=cells("running"), tail=f"{number}\n"))
            await anyio.lowlevel.checkpoint()
        await heard.until(len(heard.words) + 1)
        group.cancel_scope.cancel()
    assert len(heard.words) < 500
    assert heard.words[-1].endswith("\n999")


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (None, "running, 0 s"),
        (Update(cells=cells("pending"), tail=""), "waiting, 0 s"),
        (Update(cells=cells("running"), tail="one\ntwo\n"), "running, 0 s\none\ntwo"),
        (Update(cells=cells("complete", "running"), tail=""), "cell 2/2, 0 s"),
        (Update(cells=cells("complete"), tail="end\n"), "running, 0 s\nend"),
        (Update(cells=cells("running"), tail="".join(f"{n}\n" for n in range(99))), "running, 0 s\n94\n95\n96\n97\n98"),
        (Update(cells=cells("running"), tail="x" * 5000), "running, 0 s\n" + "x" * 1000),
    ],
    ids=["nothing", "waiting", "lines", "second-of-two", "finishing", "last-lines", "long-line"],
)
async def test_the_words_say_what_runs_and_end_with_its_last_lines(update: Update | None, words: str) -> None:
    assert await told(update) == words


async def test_a_client_that_cannot_be_told_is_left_alone() -> None:
    async def broken(value: float, total: float | None, words: str) -> None:
        raise ConnectionError("gone")

    with anyio.fail_after(PATIENCE):
        await CallProgress(broken).tell()


async def test_news_is_told_without_waiting_for_the_time_of_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SILENCE", 10 * PATIENCE)
    assert (await told(Update(tail="new\n", cells=cells("running")))).endswith("\nnew")
