"""What is run from here, and in which order."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pisces.errors import PiscesError
from pisces.model.results import Details, ToolResult
from pisces.tui.desk.desk import Desk
from pisces.tui.options import UiOptions


class _Calls:
    """A link to a host that ends each call when it is told to."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}

    def begin(self, tool: str, params: Mapping[str, Any], **_: object) -> "_Call":
        return _Call(self, str(params.get("code", params.get("command"))))

    async def hello(self) -> None:
        return None


class _Call:
    def __init__(self, calls: _Calls, code: str) -> None:
        self._calls, self._code = calls, code

    def cancel(self) -> None:
        self._calls.ends[self._code].set()

    async def result(self) -> ToolResult:
        self._calls.begun.append(self._code)
        await self._calls.ends.setdefault(self._code, asyncio.Event()).wait()
        return ToolResult(content=[], details=Details())


async def _settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_cells_come_to_the_host_one_after_the_other_and_commands_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    desk, calls = Desk(UiOptions(cwd=str(tmp_path))), _Calls()
    monkeypatch.setattr(desk, "link", calls)
    async with asyncio.TaskGroup() as group:
        for code in ("one", "two", "three"):
            group.create_task(desk.run(code))
        group.create_task(desk.run_shell("ls"))
        await _settled()
        assert calls.begun == ["one", "ls"]
        calls.ends["one"].set()
        await _settled()
        assert calls.begun == ["one", "ls", "two"]
        calls.ends["two"].set()
        await _settled()
        calls.ends["three"].set()
        calls.ends["ls"].set()
    assert calls.begun == ["one", "ls", "two", "three"]
    assert not desk.busy


async def test_a_desk_that_is_closed_leaves_nothing_that_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[str]()
    desk = Desk(UiOptions(cwd=str(tmp_path)), changed=lambda: told.append("changed"))
    asked, answer = asyncio.Event(), asyncio.Event()

    async def hello() -> None:
        asked.set()
        await answer.wait()
        raise PiscesError("The host cannot be had")

    monkeypatch.setattr(desk.link, "hello", hello)
    before = asyncio.all_tasks()
    desk.poll()
    await asked.wait()
    left = asyncio.all_tasks() - before
    desk.close()
    answer.set()
    await asyncio.wait(left)
    assert (len(left), told) == (1, [])
