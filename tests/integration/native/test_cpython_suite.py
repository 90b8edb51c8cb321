"""A checkpoint is invisible to the code beside it: CPython's own tests fare the same with checkpoints and without.

Each test class is a cell, with cells and a checkpoint before it; with checkpoints, the kernel is killed after every
fourth class, and what comes back runs the next ones. The quick parts are for every change; the whole of
each module is run by `make test-heavy`. What is compared is how each test ended, not that it succeeded: some need a
network, or another kind of machine, in either case.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scripts.find_cpython_suite import find_suite
from scripts.make_environment import SetUpFailed
from tests.fakes.runtimes import runtime_on
from tests.integration.native.cpython_cells import Outcomes, SuiteSession

ASYNCIO = [
    "base_events",
    "buffered_proto",
    "context",
    "events",
    "futures",
    "futures2",
    "locks",
    "pep492",
    "protocols",
    "queues",
    "runners",
    "selector_events",
    "sendfile",
    "server",
    "sock_lowlevel",
    "streams",
    "subprocess",
    "taskgroups",
    "tasks",
    "threads",
    "timeouts",
    "transports",
    "unix_events",
    "waitfor",
]
MULTIPROCESSING = "multiprocessing by fork"
NOT_HERE = frozenset({"ThreadedVSOCKSocketStreamTest"})  # Waits for ever on virtual machines, in any Python.
MOST_RUNS = 3
CLASSES_TO_A_CRASH = 4


@dataclass(frozen=True)
class Part:
    """Test classes of one module: those that are named, or all that match and are no exceptions."""

    module: str
    classes: tuple[str, ...] = ()
    only: str = ""
    without: frozenset[str] = field(default=NOT_HERE)

    def has(self, kind: str) -> bool:
        """Whether this class of the module is part of it."""
        return kind not in self.without and re.search(self.only, kind) is not None

    @property
    def tests(self) -> str:
        """The module that has to be installed."""
        return "test._test_multiprocessing" if self.module == MULTIPROCESSING else self.module


QUICK = (
    Part("test.test_subprocess", ("RunFuncTestCase", "ContextManagerTests", "MiscTests")),
    Part("test.test_asyncio.test_events", ("EPollEventLoopTests",)),
    Part("test.test_asyncio.test_subprocess", ("SubprocessPidfdWatcherTests",)),
    Part("test.test_asyncio.test_unix_events"),
    Part("test.test_threading", ("EventTests", "LockTests", "ThreadingExceptionTests", "TimerTests")),
    Part("test.test_sqlite3", ("test_dbapi.ThreadTests", "test_transactions.TransactionTests")),
    Part(MULTIPROCESSING, ("WithProcessesTestQueue",)),
)
POOLS = "test.test_concurrent_futures"
WHOLE = (
    Part("test.test_tempfile"),
    Part("test.test_subprocess"),
    Part("test.test_socket"),
    Part("test.test_threading"),
    Part(POOLS, only=r"\b(Future|ThreadPool|ProcessPoolFork(?!server|Wait|AsCompleted))"),
    Part("test.test_sqlite3"),
    *(Part(f"test.test_asyncio.test_{name}") for name in ASYNCIO),
    Part(MULTIPROCESSING),
)


def _name(part: Part) -> str:
    return part.module.replace(" ", "-")


@pytest.mark.parametrize("part", QUICK, ids=_name)
async def test_the_tests_of_cpython_see_no_checkpoint(part: Part, plain_python: str, tmp_path: Path) -> None:
    await _compare(part, _tested_python(part, plain_python), tmp_path)


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", WHOLE, ids=_name)
async def test_all_tests_of_a_module_of_cpython_see_no_checkpoint(
    part: Part, plain_python: str, tmp_path: Path
) -> None:
    await _compare(part, _tested_python(part, plain_python), tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_pools_of_all_kinds_of_processes_see_no_checkpoint(plain_python: str, tmp_path: Path) -> None:
    part = Part(POOLS)
    await _compare(part, _tested_python(part, plain_python), tmp_path)


def _tested_python(part: Part, interpreter: str) -> str:
    """An interpreter that was installed with this part of CPython's own tests."""
    try:
        return find_suite(interpreter, "test.support", part.tests)
    except SetUpFailed as why:
        pytest.skip(str(why))


async def _compare(part: Part, interpreter: str, folder: Path) -> None:
    """Run the part in both ways; classes that differ run again, because a busy machine makes differences too."""
    kinds, differing = part.classes, {}
    for attempt in range(MOST_RUNS):
        plain = await _run(part, kinds, interpreter, folder, checkpoint="off")
        beside = await _run(part, kinds, interpreter, folder, checkpoint="always")
        # From the second run on, a class that hangs by itself now and then may be the only one left.
        assert attempt or any(outcome == "ok" for told in plain.values() for outcome in told.values()), plain
        kinds = tuple(kind for kind in plain if _ends(plain[kind]) != _ends(beside[kind]))
        differing = {kind: (_unlike(plain[kind], beside[kind]), _unlike(beside[kind], plain[kind])) for kind in kinds}
        if not kinds:
            return
    pytest.fail(f"tests differ, without checkpoints and with them: {differing}", pytrace=False)


async def _run(
    part: Part, kinds: tuple[str, ...], interpreter: str, folder: Path, *, checkpoint: str
) -> dict[str, Outcomes]:
    """What became of the tests of each class, in a session of its own."""
    async with runtime_on(interpreter, folder, environ={"TMPDIR": str(folder)}, checkpoint=checkpoint) as runtime:
        session = SuiteSession(runtime)
        await session.begin()
        wanted = kinds or tuple(filter(part.has, await session.classes(part.module)))
        # Classes that differed may have done so because of the crash before them: then each gets one.
        to_a_crash = 1 if kinds and kinds != part.classes else CLASSES_TO_A_CRASH
        told = {}
        for number, kind in enumerate(wanted):
            if checkpoint == "always" and number % to_a_crash == 0:
                await session.crash_and_come_back()
            told[kind] = await session.outcomes(part.module, kind)
        if checkpoint == "always":
            await session.crash_and_come_back()
        return told


def _ends(outcomes: Outcomes) -> Outcomes:
    """How each test ended, without what it said: that has ids and times in it."""
    return {test: outcome.partition(":")[0] for test, outcome in outcomes.items()}


def _unlike(these: Outcomes, others: Outcomes) -> Outcomes:
    ends, other_ends = _ends(these), _ends(others)
    return {test: outcome for test, outcome in these.items() if ends[test] != other_ends.get(test)}
