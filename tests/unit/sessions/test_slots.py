"""How many kernels may be up: Jupyter's, which are dear, are counted apart from our own."""

from pathlib import Path

from pisces.kernels.base import KernelKind, LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.memory import MemoryBackend
from pisces.sessions.checkpoint_policy import CheckpointRule
from pisces.sessions.key import SessionKey
from pisces.sessions.pool import SessionPool
from pisces.sessions.session import Session
from pisces.sessions.terms import Terms
from tests.fakes.drive import PATIENCE
from tests.fakes.runtimes import call, scripted_runtime


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
