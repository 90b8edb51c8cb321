"""For how long tools can be called: while the cell runs that calls them, and as long as it waits."""

from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from pisces.bridge import lease as leases
from pisces.bridge.lease import FINISHED
from tests.fakes.bridges import Bridged, bridged
from tests.fakes.drive import eventually

GONE = {"ok": False, "error": FINISHED}


async def test_between_cells_no_tool_can_be_called() -> None:
    async with bridged() as there:
        assert await there.call() == GONE
        there.open().close()
        assert await there.call() == GONE
        assert there.tools.called == []


async def test_a_call_of_an_earlier_cell_is_refused_in_a_later_one() -> None:
    async with bridged() as there:
        there.open("1").close()
        there.open("2")
        assert await there.call(run="1") == GONE
        assert (await there.call(run="2"))["ok"]
        assert there.tools.called == ["echo"]


async def test_a_call_that_does_not_know_its_cell_is_of_the_one_that_runs() -> None:
    async with bridged() as there:
        there.open("1")
        assert (await there.call())["ok"]


async def test_a_call_that_comes_before_the_cell_is_known_to_have_begun_is_carried_out() -> None:
    async with bridged() as there:
        there.open(None)
        assert (await there.call(run="1"))["ok"]


async def test_the_end_of_the_cell_stops_its_calls_and_answers_them() -> None:
    async with bridged() as there, anyio.create_task_group() as group:
        lease = there.open()
        answers = begin_waits(there, group, 3)
        await eventually(lambda: there.tools.under_way == 3)
        lease.close()
        await eventually(lambda: len(answers) == 3)
        assert answers == [GONE] * 3
        assert there.tools.aborted == 3


async def test_a_call_that_does_not_stop_by_itself_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "_GRACE", 0.05)
    async with bridged() as there, anyio.create_task_group() as group:
        there.tools.heeds_abort = False
        lease = there.open()
        answers = begin_waits(there, group, 1)
        await eventually(lambda: there.tools.under_way == 1)
        lease.close()
        await eventually(lambda: len(answers) == 1)
        assert answers == [GONE]
        assert (there.tools.aborted, there.tools.cancelled) == (1, 1)


async def test_a_caller_that_hangs_up_stops_its_call_and_no_other() -> None:
    async with bridged() as there, anyio.create_task_group() as group:
        there.open()
        answers = begin_waits(there, group, 1)
        await eventually(lambda: there.tools.under_way == 1)
        client = await there.connect()
        async with client.stream:
            await client.stream.send(there.request(there.body("wait")))
            await eventually(lambda: there.tools.under_way == 2)
        await eventually(lambda: there.tools.under_way == 1)
        assert there.tools.aborted == 1
        there.tools.let_go.set()
        await eventually(lambda: len(answers) == 1)
        assert answers == [{"ok": True, "value": {"x": 1}}]


async def test_calls_beyond_the_limit_wait_and_none_is_lost() -> None:
    async with bridged() as there, anyio.create_task_group() as group:
        there.open()
        answers = begin_waits(there, group, 150)
        await eventually(lambda: there.tools.under_way == 64)
        there.tools.let_go.set()
        await eventually(lambda: len(answers) == 150)
        assert all(answer["ok"] for answer in answers)
        assert there.tools.most_at_once == 64


async def test_calls_that_wait_are_not_begun_when_the_cell_has_ended() -> None:
    async with bridged() as there, anyio.create_task_group() as group:
        lease = there.open()
        answers = begin_waits(there, group, 70)
        await eventually(lambda: there.tools.under_way == 64)
        lease.close()
        await eventually(lambda: len(answers) == 70)
        assert answers == [GONE] * 70
        assert len(there.tools.called) == 64


async def test_a_cell_that_waits_for_another_keeps_it_from_no_slot() -> None:
    async with bridged() as there, anyio.create_task_group() as group:
        outer = there.open()
        begin_waits(there, group, 64)
        await eventually(lambda: there.tools.under_way == 64)
        inner = Bridged(there.bridge)
        inner.caller.open("another session", inner.tools, outer.chain)
        assert (await inner.call())["ok"]
        there.tools.let_go.set()


def begin_waits(there: Bridged, group: TaskGroup, count: int) -> list[Any]:
    """So many calls that wait, and the answers that have come."""
    answers: list[Any] = []

    async def wait() -> None:
        answers.append(await there.call("wait"))

    for _ in range(count):
        group.start_soon(wait)
    return answers
