"""What could stand at the cursor is told between cells, and asking leaves no trace."""

import anyio
import pytest

from pisces.errors import KernelGone
from pisces.kernels.base import Completing, Kernel
from pisces.kernels.deadline import Deadline
from pisces.model.completion import Completion
from tests.fakes.drive import PATIENCE, ok, run, value

SLOW = """
import time
class Slow:
    def __dir__(self):
        time.sleep({seconds})
        return ["later"]
slow = Slow()
"""


async def complete(kernel: Kernel, code: str, cursor: int | None = None, *, seconds: float = PATIENCE) -> Completion:
    assert isinstance(kernel, Completing)
    return await kernel.complete(code, len(code) if cursor is None else cursor, Deadline.after(seconds))


async def completed(kernel: Kernel, code: str, cursor: int | None = None) -> set[str]:
    """The code as it could go on."""
    found = await complete(kernel, code, cursor)
    return {code[: found.start] + match + code[found.end :] for match in found.matches}


async def test_a_name_that_a_cell_has_bound_is_told(kernel: Kernel) -> None:
    await ok(kernel, "zebra_count = 5")
    assert "zebra_count" in await completed(kernel, "zebra_")
    assert await completed(kernel, "no_such_name_anywhere") == set()


async def test_places_are_counted_in_characters(kernel: Kernel) -> None:
    await ok(kernel, "zebra_count = 5")
    code = "'\N{SNAKE}é' + zebra_ + 1"
    found = await complete(kernel, code, len(code) - 4)
    assert (found.matches, found.start, found.end) == (("zebra_count",), 7, 13)


async def test_only_what_is_before_the_cursor_counts(kernel: Kernel) -> None:
    await ok(kernel, "zebra_count = 5; zebra_stripes = 6")
    assert {"zebra_count", "zebra_stripes"} <= set((await complete(kernel, "zebra_c", 6)).matches)


@pytest.mark.parametrize("cursor", [-1, 10**9])
async def test_a_cursor_outside_of_the_code_stands_at_its_nearer_end(kernel: Kernel, cursor: int) -> None:
    await ok(kernel, "zebra_count = 5")
    found = await complete(kernel, "zebra_c", cursor)
    assert (found.matches == ("zebra_count",)) == (cursor > 0)


async def test_a_megabyte_of_code_and_half_a_character_are_fine(kernel: Kernel) -> None:
    await ok(kernel, "zebra_count = 5")
    code = "x = 'abc'\n" * 100_000 + "'\ud800'; zebra_c"
    found = await complete(kernel, code, seconds=5 * PATIENCE)
    assert (found.matches, found.start, found.end) == (("zebra_count",), len(code) - 7, len(code))


@pytest.mark.needs_shell
async def test_attributes_keys_modules_and_arguments_are_told(kernel: Kernel) -> None:
    await ok(kernel, "import os\nstripes = {'alpha': 1}\ndef graze(*, meadow=1): pass")
    assert "os.path.join" in await completed(kernel, "os.path.jo")
    assert any(text.startswith("stripes['alpha") for text in await completed(kernel, "stripes['al"))
    assert "import collections" in await completed(kernel, "import collec")
    assert "graze(meadow=" in await completed(kernel, "graze(mea")


async def test_asking_leaves_no_trace(kernel: Kernel) -> None:
    before = await ok(kernel, "zebra_count = 5; zebra_count", inspect=True)
    assert await completed(kernel, "zebra_c")
    after = await ok(kernel, "zebra_count", inspect=True)
    assert (after.stdout, after.stderr, after.done.notes) == ("", "", ())
    assert before.done.execution_count is not None
    assert after.done.execution_count == before.done.execution_count + 1
    assert after.done.variables is None or not (after.done.variables.added or after.done.variables.changed)


@pytest.mark.needs_shell
async def test_the_last_value_and_the_tasks_of_the_user_stay_as_they_are(fresh: Kernel) -> None:
    ticks = "import asyncio\nasync def tick():\n    while True:\n        await asyncio.sleep(0.01)\n        n[0] += 1"
    await ok(fresh, f"{ticks}\nn = [0]\ntask = asyncio.ensure_future(tick())\nawait asyncio.sleep(0)")
    await ok(fresh, "6 * 7")
    for _ in range(3):
        assert await completed(fresh, "asyncio.ensure_f")
    assert await value(fresh, "_") == "42"
    assert await value(fresh, "seen = n[0]; await asyncio.sleep(0.2); n[0] > seen") == "True"
    await ok(fresh, "task.cancel()")


@pytest.mark.needs_shell
@pytest.mark.parametrize(
    "does",
    ["raise ValueError('no names')", "raise SystemExit(3)", "print('heard'); return ['name']", "return [1, None]"],
)
async def test_an_object_that_is_asked_for_its_names_may_do_what_it_likes(fresh: Kernel, does: str) -> None:
    await ok(fresh, f"class Odd:\n    def __dir__(self):\n        {does}\nodd = Odd()")
    await complete(fresh, "odd.")
    assert (await ok(fresh, "odd_sum = 1 + 1; odd_sum")).result == "2"


@pytest.mark.needs_shell
async def test_an_answer_that_does_not_come_in_time_is_empty_and_the_next_cell_runs(fresh: Kernel) -> None:
    await ok(
        fresh,
        SLOW.format(seconds=1.5),
    )
    assert await complete(fresh, "slow.", seconds=0.1) == Completion()
    ran = await ok(fresh, "6 * 7")
    assert (ran.result, ran.done.notes) == ("42", ())
    assert "slow" in await completed(fresh, "slo")


@pytest.mark.needs_shell
async def test_who_stops_waiting_leaves_nothing_that_confuses_the_next_question(fresh: Kernel) -> None:
    await ok(
        fresh,
        SLOW.format(seconds=0.5),
    )
    with anyio.move_on_after(0.1) as waiting:
        await complete(fresh, "slow.")
    assert waiting.cancelled_caught
    assert await completed(fresh, "slo") == {"slow"}
    assert (await ok(fresh, "1 + 1")).result == "2"


@pytest.mark.needs_process
async def test_a_dead_kernel_says_so(fresh: Kernel) -> None:
    ran = await run(fresh, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert ran.done.status == "crashed"
    with pytest.raises(KernelGone):
        await complete(fresh, "x")


@pytest.mark.needs_shell
@pytest.mark.needs_process
async def test_a_kernel_that_dies_of_the_question_is_gone(fresh: Kernel) -> None:
    await ok(fresh, "import os\nclass Bomb:\n    def __dir__(self):\n        os._exit(3)\nbomb = Bomb()")
    with pytest.raises(KernelGone):
        await complete(fresh, "bomb.")
    assert not await fresh.is_alive()
