"""The `session` tool on the state: checkpoints, restore, undo, branch and variables, on scripted kernels."""

from pathlib import Path

from pisces.kernels.base import Revival
from pisces.kernels.memory import CheckpointingMemoryKernel, MemoryBackend
from pisces.model.events import Variable
from pisces.sessions.recovery import BY_VALUE_LACKS
from tests.fakes.remembering import remembering
from tests.fakes.runtimes import call, scripted_runtime
from tests.unit.tools.test_session_tool import ask, told

NOT_TAKEN_BACK = "Files, the network and child processes were not taken back"


def keeping(*missing: str, by_value: bool = False) -> MemoryBackend:
    return MemoryBackend(remembering, revival=Revival("by_value" if by_value else "exact", missing))


async def test_undo_takes_the_last_cell_back_and_says_where_the_end_is(tmp_path: Path) -> None:
    async with scripted_runtime(keeping(), tmp_path) as runtime:
        for code in ("x = 1", "x = 2", "x = 3"):
            await call(runtime, code)
        first = await ask(runtime, "undo")
        assert (await call(runtime, "x")).text == "2"
        second = await ask(runtime, "undo", steps=2)
        assert (await call(runtime, "x")).text == "1"
        last = await ask(runtime, "undo", steps=2)
        none = await ask(runtime, "undo")
    assert first.text.startswith("Took back the last cell of session 'default'. It stands after 2 cells.")
    assert NOT_TAKEN_BACK in first.text
    assert (told(first).cells_taken_back, told(first).cells, told(first).how) == (1, 2, "exact")
    assert told(second).cells_taken_back == 2
    assert "This is the end: undo can go no further back. It goes on with a fresh kernel" in last.text
    assert (told(last).how, told(last).cells) == ("fresh", 0)
    assert "Error: There is nothing to undo in this session" in none.text


async def test_a_named_checkpoint_can_be_gone_back_to_and_dropped(tmp_path: Path) -> None:
    async with scripted_runtime(keeping(), tmp_path) as runtime:
        await call(runtime, "x = 1")
        made = await ask(runtime, "checkpoint", name="clean")
        await call(runtime, ["x = 2", "x = 3"])
        back = await ask(runtime, "restore", name="clean")
        assert (await call(runtime, "x")).text == "1"
        wrong = await ask(runtime, "restore", name="dirty")
        dropped = await ask(runtime, "checkpoint", name="clean", drop=True)
        gone = await ask(runtime, "restore", name="clean")
    assert made.text.startswith("Checkpoint 'clean' of session 'default' made, after 1 cell.")
    assert back.text.startswith("Session 'default' is at the checkpoint 'clean', 2 cells back. It stands after 1 cell.")
    assert NOT_TAKEN_BACK in back.text
    assert (told(back).checkpoint, told(back).cells_taken_back) == ("clean", 2)
    assert "There is no checkpoint named 'dirty'. Named checkpoints: 'clean'" in wrong.text
    assert not dropped.is_error
    assert "There is no checkpoint named 'clean'. Named checkpoints: none" in gone.text


async def test_what_did_not_come_back_is_named(tmp_path: Path) -> None:
    async with scripted_runtime(keeping("y", by_value=True), tmp_path) as runtime:
        await call(runtime, "y = 1")
        await call(runtime, "x = 2")
        result = await ask(runtime, "undo")
    assert f"The variables came back by value, in a fresh kernel; {BY_VALUE_LACKS}. Not back: y." in result.text
    assert (told(result).how, told(result).missing) == ("by_value", ["y"])


async def test_an_undo_that_would_have_to_go_further_back_says_where_it_could_go(tmp_path: Path) -> None:
    backend = keeping()
    async with scripted_runtime(backend, tmp_path) as runtime:
        await call(runtime, "x = 1")
        kernel = backend.kernels[0]
        assert isinstance(kernel, CheckpointingMemoryKernel)
        kernel.refusal = "the test does not want one"
        await call(runtime, ["x = 2", "x = 3"])
        kernel.refusal = ""
        result = await ask(runtime, "undo")
        further = await ask(runtime, "undo", steps=2)
    assert result.is_error
    assert result.text.splitlines() == [
        "Error: The state of before the last cell is not kept.",
        "undo with steps: 2 takes the session back to where it stood after 1 cell.",
    ]
    assert further.text.startswith("Took back the last 2 cells of session 'default'. It stands after 1 cell.")


async def test_a_branch_has_the_state_and_goes_its_own_way(tmp_path: Path) -> None:
    async with scripted_runtime(keeping(), tmp_path) as runtime:
        await call(runtime, "x = 1")
        named, unnamed = await ask(runtime, "branch", to="trial"), await ask(runtime, "branch")
        taken = await ask(runtime, "branch", to="trial")
        await call(runtime, "x = 5", session="trial")
        values = [(await call(runtime, "x", session=name)).text for name in ("default", "trial", "default-2")]
    assert named.text.startswith("Session 'trial' has the state of 'default' after 1 cell.")
    assert (told(named).session, told(unnamed).session) == ("trial", "default-2")
    assert values == ["1", "5", "1"]
    assert "There is a session named 'trial' already" in taken.text


async def test_variables_are_told_by_type_and_size(tmp_path: Path) -> None:
    async with scripted_runtime(keeping(), tmp_path) as runtime:
        await call(runtime, "x = 1")
        now = await ask(runtime, "variables")
        await call(runtime, "wait", background=True)
        meanwhile = await ask(runtime, "variables")
        await ask(runtime, "cancel", job="job-1")
    assert (now.text, told(now).variables) == ("x: int", [Variable("x", "int")])
    assert meanwhile.text.splitlines() == ["[As of the last finished cell.]", "x: int"]
    assert (told(now).as_of_last_cell, told(meanwhile).as_of_last_cell) == (False, True)


async def test_a_kernel_that_cannot_keep_its_state_says_so(tmp_path: Path) -> None:
    async with scripted_runtime(MemoryBackend(remembering), tmp_path) as runtime:
        await call(runtime, "x = 1")
        results = [
            await ask(runtime, "checkpoint", name="a"),
            await ask(runtime, "branch"),
            await ask(runtime, "restore"),
            await ask(runtime, "undo"),
        ]
        assert (await call(runtime, "x")).text == "1"
    assert all(result.is_error for result in results)
    assert "Kernels of the backend 'memory' cannot keep their state here" in results[0].text
