"""A client of `pisces mcp` that does not wait for an answer any more: the cell stops, the state stays."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.drive import DEAF, eventually
from tests.fakes.mcp_wire import EACH_ERA, Era, Wire, text_of, wired
from tests.frontends.command import Command

GRACE = 0.5
SLACK = 10.0
"""Seconds by which a busy machine may be late: far below what a cell here would go on for."""


@pytest.fixture
def grace() -> float:
    """How long cells may take to stop; a busy machine needs more than a test of deaf ones does."""
    return SLACK


@pytest.fixture
def pisces(plain_python: str, monkeypatch: pytest.MonkeyPatch, grace: float) -> Command:
    """`pisces`, whose cells have so long to stop."""
    monkeypatch.setenv("PI_SET__python__interruptGrace", str(grace))
    return Command(plain_python)


@pytest.fixture(params=EACH_ERA)
def wire(request: pytest.FixtureRequest, pisces: Command, tmp_path: Path) -> Iterator[Wire]:
    """A client of each era, whose session has an `x`."""
    with wired(pisces, "--cwd", str(tmp_path), era=request.param) as wire:
        assert not wire.run("x = 1\nfrom pathlib import Path")["isError"]
        yield wire
        wire.hang_up()
        assert wire.wait() == 0, wire.errors


async def begun(wire: Wire, tmp_path: Path, code: str) -> object:
    """A call whose cell has come to where it touches the mark; its id."""
    mark = tmp_path / "begun"
    mark.unlink(missing_ok=True)
    number = wire.python(code.replace("<begun>", f"Path({str(mark)!r}).touch()"))
    await eventually(mark.exists)
    return number


async def test_a_cancelled_cell_stops_and_the_state_stays(wire: Wire, tmp_path: Path) -> None:
    number = await begun(wire, tmp_path, "x = 2\n<begun>\nwhile True: pass")
    wire.cancel(number)
    wire.cancel(number)
    began = time.monotonic()
    after = wire.run("x")
    assert time.monotonic() - began < 2 * SLACK
    assert (text_of(after), after["structuredContent"]["generation"]) == ("2", 1)
    wire.cancel(number)
    assert text_of(wire.run("x")) == "2"
    assert number not in answered(wire)


@pytest.mark.parametrize("grace", [GRACE])
async def test_what_a_cancelled_call_did_to_the_state_is_told_with_the_next(wire: Wire, tmp_path: Path) -> None:
    number = await begun(wire, tmp_path, "x = 2\n" + DEAF.replace("time.sleep(60)", "<begun>; time.sleep(60)"))
    wire.cancel(number)
    began = time.monotonic()
    after = wire.run("x")
    assert time.monotonic() - began < GRACE + SLACK
    assert text_of(after).startswith(
        "[State: restored] The cell did not stop within 0.5 seconds of being interrupted, so the kernel was killed."
    )
    assert text_of(after).endswith("1")
    assert (after["isError"], after["structuredContent"]["state"]) == (False, "restored")
    assert text_of(wire.run("x")) == "1"
    assert number not in answered(wire)


async def test_a_call_that_is_cancelled_while_it_waits_never_runs(wire: Wire, tmp_path: Path) -> None:
    first = await begun(wire, tmp_path, "<begun>\nwhile not Path('go').exists(): pass")
    waiting = wire.python("x = 'ran'")
    last = wire.python("x")
    wire.cancel(waiting)
    wire.result(wire.call("session", {"action": "list"}))  # It was sent after the cancellation, and so was read after.
    (tmp_path / "go").touch()
    assert not wire.result(first)["isError"]
    assert text_of(wire.result(last)) == "1"
    assert waiting not in answered(wire)


@pytest.mark.parametrize("era", EACH_ERA)
def test_a_call_that_is_cancelled_while_its_kernel_starts_leaves_none_behind(
    pisces: Command, tmp_path: Path, era: Era
) -> None:
    with wired(pisces, "--cwd", str(tmp_path), era=era) as wire:
        wire.cancel(wire.python("open('ran', 'w').close()", number="first"))
        after = wire.run("print('here')")
        wire.hang_up()
        assert wire.wait() == 0, wire.errors
    assert (text_of(after), after["structuredContent"]["generation"]) == ("here", 1)
    assert "first" not in answered(wire)


def answered(wire: Wire) -> list[object]:
    """The ids that have an answer."""
    return [each["id"] for each in wire.received if "id" in each]
