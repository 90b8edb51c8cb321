"""How many kernels may be up: Jupyter's, which are dear, are counted apart from our own."""

from pathlib import Path

from pisces.errors import KernelStartError
from pisces.kernels.base import KernelKind, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import MemoryBackend
from pisces.sessions.checkpoint_policy import CheckpointRule
from pisces.sessions.key import SessionKey
from pisces.sessions.pool import SessionPool
from pisces.sessions.session import Session
from pisces.sessions.terms import Terms
from tests.fakes.assignments import keeping_runtime
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import call, details, scripted_runtime


class JupyterLike(MemoryBackend):
    """Counted as Jupyter's kernels are."""

    kind: KernelKind = "jupyter"


async def begun(pool: SessionPool, name: str, backend: MemoryBackend) -> Session:
    """A session that has a kernel of this backend."""
    terms = Terms(backend, lambda cwd: LaunchSpec("memory", cwd, {}), CheckpointRule("off", 0))
    session = pool.session(SessionKey(name, "/", "memory"), "owner", terms)
    await session.ensure_kernel(Deadline.after(PATIENCE))
    return session


async def test_a_kernel_of_one_kind_takes_no_room_from_the_other() -> None:
    pool = SessionPool(max_kernels={"native": 1, "jupyter": 1}, idle_timeout=60)
    ours, theirs = MemoryBackend({}), JupyterLike({})
    first = await begun(pool, "first", ours)
    second = await begun(pool, "second", theirs)
    assert (await first.has_kernel(), await second.has_kernel()) == (True, True)
    third = await begun(pool, "third", theirs)
    alive = [await session.has_kernel() for session in (first, second, third)]
    await pool.aclose()
    assert alive == [True, False, True]


async def test_four_jupyter_kernels_may_be_up_and_more_of_our_own(tmp_path: Path) -> None:
    up: list[int] = []
    for backend in (MemoryBackend({"x": []}), JupyterLike({"x": []})):
        async with scripted_runtime(backend, tmp_path) as runtime:
            for number in range(5):
                await call(runtime, "x", session=f"s{number}")
            up.append(sum([await kernel.is_alive() for kernel in backend.kernels]))
    assert up == [5, 4]


async def test_an_action_that_starts_a_kernel_says_which_session_it_ended_for_room(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, max_sessions=1) as runtime:
        for name in ("first", "second"):
            await call(runtime, "a = 1", session=name)
            assert "ended" not in (await runtime.session("undo", session=name)).text
        await call(runtime, "a = 1", session="second")
        kept = await runtime.session("checkpoint", session="first", name="here")
        after = await call(runtime, "a = 1", session="first")
    assert "Session 'second' was ended to make room for this one: at most 1 kernels may be up" in kept.text
    assert "second" not in after.text


async def test_a_branch_says_which_sessions_were_ended_for_it_and_for_its_origin(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, max_sessions=2) as runtime:
        await call(runtime, "a = 1", session="origin")
        await runtime.session("undo", session="origin")
        for name in ("first", "second"):
            await call(runtime, "a = 1", session=name)
        branched = await runtime.session("branch", session="origin", to="branch")
    assert not branched.is_error, branched.text
    assert [name for name in ("first", "second") if f"Session {name!r} was ended" in branched.text] == [
        "first",
        "second",
    ]


async def test_a_call_that_ends_a_session_and_has_no_kernel_after_all_says_so(tmp_path: Path) -> None:
    fails: list[KernelStartError] = []

    async def on_start() -> None:
        for error in fails:
            raise error

    async with scripted_runtime(MemoryBackend({"x": []}, on_start=on_start), tmp_path, max_sessions=1) as runtime:
        await call(runtime, "x", session="first")
        fails.append(KernelStartError("no more processes"))
        failed = await call(runtime, "x", session="second")
        fails.clear()
        after = await call(runtime, "x", session="second")
    assert failed.is_error
    assert "Session 'first' was ended to make room for this one" in failed.text
    assert "first" not in after.text


async def test_a_call_that_becomes_a_job_says_in_its_result_which_session_was_ended(tmp_path: Path) -> None:
    async with scripted_runtime({"x": []}, tmp_path, max_sessions=1) as runtime:
        await call(runtime, "x", session="first")
        begun = await call(runtime, "x", session="second", background=True)
        job = details(begun).job
        assert job is not None
        ended = await runtime.session("wait", job=job.id)
    assert "Session 'first' was ended to make room for this one" in begun.text + ended.text


async def test_an_action_on_a_session_that_was_ended_for_room_says_why_it_is_not_there(tmp_path: Path) -> None:
    async with keeping_runtime(tmp_path, max_sessions=1) as runtime:
        for name in ("first", "second"):
            await call(runtime, "a = 1", session=name)
        undone = await runtime.session("undo", session="first")
        after = await call(runtime, "b = 1", session="first")
    assert (
        "There is no session 'first'. The session was ended to make room: 1 kernels may be up. Sessions:" in undone.text
    )
    assert after.text.startswith("[State: lost] The session was ended to make room")
