"""`python.preload`: modules that are imported once for all kernels, and those that cannot be."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from pisces.errors import KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.native import zygote
from pisces.kernels.native.backend import NativeBackend
from pisces.kernels.native.kernel import NativeKernel
from tests.fakes.drive import eventually, ok, plain_environment, value
from tests.fakes.sleepers import supervisor_of, templates_below
from tests.integration.native.keeping import THE_KERNELS_OS, pid_of, soon
from tests.leftovers import COOKIE

Start = Callable[..., Awaitable[NativeKernel]]

WRITES_DOWN = (
    "import os\nwith open(os.environ['IMPORTS'], 'a', encoding='utf-8') as file: file.write(__name__ + '\\n')\n"
)


@pytest.fixture
async def start(backend: NativeBackend, plain_python: str, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts kernels that preload modules of the test's own folder."""
    kernels: list[NativeKernel] = []
    (tmp_path / "imports").touch()

    async def start_kernel(*preload: str) -> NativeKernel:
        own = {"PYTHONPATH": str(tmp_path), "IMPORTS": str(tmp_path / "imports"), COOKIE: os.environ[COOKIE]}
        environment = plain_environment(HOME=str(tmp_path), **own)
        kernel = backend.kernel(LaunchSpec(plain_python, str(tmp_path), environment, preload=preload))
        kernels.append(kernel)
        await kernel.start(soon())
        return kernel

    yield start_kernel
    for kernel in kernels:
        await kernel.shutdown()


@pytest.fixture
def module(tmp_path: Path) -> Callable[[str, str], None]:
    """Writes a module that can be preloaded, and that writes down each time it is imported."""

    def write(name: str, code: str) -> None:
        (tmp_path / f"{name}.py").write_text(WRITES_DOWN + code, encoding="utf-8")

    return write


def imports(folder: Path) -> list[str]:
    """The names of the modules that were imported, each as often as it was."""
    return (folder / "imports").read_text(encoding="utf-8").split()


async def test_a_module_may_ignore_the_signal_that_a_child_has_ended(
    start: Start, module: Callable[[str, str], None]
) -> None:
    module("ignoring", "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)")
    for _ in range(5):
        assert await value(await start("ignoring"), "1 + 1") == "2"


async def test_a_module_is_imported_once_and_shared(
    start: Start, module: Callable[[str, str], None], tmp_path: Path
) -> None:
    module("slow", "state = []")
    kernels = [await start("slow") for _ in range(3)]
    for kernel in kernels:
        ran = await ok(kernel, "import slow\nslow.state.append(1)")
        assert ran.done.notes == ()
    assert [await value(kernel, "slow.state") for kernel in kernels] == ["[1]", "[1]", "[1]"]
    assert imports(tmp_path) == ["slow"]


async def test_a_preloaded_module_is_no_variable(start: Start, module: Callable[[str, str], None]) -> None:
    module("slow", "")
    kernel = await start("slow")
    assert await value(kernel, "'slow' in globals()") == "False"
    assert await kernel.variables(soon()) == ()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise ValueError('broken on purpose')", "broken on purpose"),
        ("import a_module_that_is_not_there", "a_module_that_is_not_there"),
        ("raise SystemExit(3)", "SystemExit"),
    ],
)
async def test_a_module_that_cannot_be_imported_is_told_and_costs_nothing_else(
    start: Start, module: Callable[[str, str], None], code: str, told: str
) -> None:
    module("broken", code)
    module("fine", "")
    kernel = await start("broken", "fine")
    ran = await ok(kernel, "import sys\nprint('fine' in sys.modules)")
    assert ran.stdout == "True\n"
    (note,) = ran.done.notes
    assert "python.preload" in note
    assert "broken" in note
    assert told in note
    assert (await ok(kernel, "1")).done.notes == ()


async def test_a_module_that_starts_a_thread_is_left_out_and_told(
    start: Start, module: Callable[[str, str], None]
) -> None:
    thread = "import threading\nthreading.Thread(target=threading.Event().wait, name='mine', daemon=True).start()"
    module("threaded", thread)
    module("fine", "")
    kernel = await start("fine", "threaded")
    ran = await ok(kernel, "import sys\nprint('fine' in sys.modules, 'threaded' in sys.modules)")
    assert ran.stdout == "True False\n"
    (note,) = ran.done.notes
    assert "threaded" in note
    assert "thread" in note
    assert "mine" in note
    assert await value(kernel, "import threaded\n'threaded' in sys.modules") == "True"


async def test_a_module_that_hangs_is_left_out_and_told(
    start: Start, module: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote, "_WARM_UP_CAP", 5.0)
    module("hanging", "import time\ntime.sleep(300)")
    kernel = await start("hanging")
    ran = await ok(kernel, "x = 1")
    (note,) = ran.done.notes
    assert "hanging" in note
    assert "left out" in note


async def test_a_crash_of_the_import_costs_the_preload_and_not_the_kernel(
    start: Start, module: Callable[[str, str], None]
) -> None:
    module("crashing", "import os\nos._exit(9)")
    kernel = await start("crashing")
    (note,) = (await ok(kernel, "x = 1")).done.notes
    assert "crashing" in note


async def test_other_modules_to_preload_are_another_template(
    start: Start, module: Callable[[str, str], None], tmp_path: Path
) -> None:
    module("slow", "")
    with_it, without = await start("slow"), await start()
    assert await value(with_it, "'slow' in __import__('sys').modules") == "True"
    assert await value(without, "'slow' in __import__('sys').modules") == "False"
    assert imports(tmp_path) == ["slow"]


@pytest.mark.parametrize("which", ["True", "os.getsid(0) == os.getpid()"], ids=["first", "second"])
async def test_a_template_that_is_refused_a_process_says_so_and_is_asked_again(
    start: Start, module: Callable[[str, str], None], tmp_path: Path, which: str
) -> None:
    no_more = tmp_path / "no-more"
    refuse = f"if os.path.exists({str(no_more)!r}) and {which}: raise BlockingIOError(11, 'no more processes')"
    module(
        "scarce", f"{THE_KERNELS_OS}\nfork = os.fork\ndef refuse():\n    {refuse}\n    return fork()\nos.fork = refuse"
    )
    supervisor = supervisor_of(await pid_of(await start("scarce")))
    await eventually(lambda: len(templates_below(supervisor)) == 2)
    no_more.touch()
    await start("scarce")  # It is the copy that was made before.
    for _ in range(2):
        with pytest.raises(KernelStartError, match="no more processes"):
            await start("scarce")
    no_more.unlink()
    assert await value(await start("scarce"), "1 + 1") == "2"
    assert imports(tmp_path) == ["scarce"]
