"""Before a fork a kernel knows what a copy will lack, and asking costs next to nothing."""

import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from pisces.guest import fork_safety
from tests.unit.guest.forked_process import run_forking

processes = pytest.mark.processes


@pytest.fixture(autouse=True)
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been looked at before."""
    monkeypatch.setattr(fork_safety, "_findings", fork_safety._Findings())
    monkeypatch.setattr(fork_safety, "_openmp", fork_safety._OpenMP())


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The name of each native thread, and the file of the library that started it."""
    found: list[tuple[str, str]] = []

    def paths(tasks: Iterable[int]) -> dict[int, str]:
        return {task: found[task - 1][1] for task in tasks}

    monkeypatch.setattr(fork_safety, "_tasks", lambda: frozenset(str(n + 1) for n in range(len(found))))
    monkeypatch.setattr(fork_safety, "_thread_name", lambda task: found[task - 1][0])
    monkeypatch.setattr(fork_safety._native_threads, "paths", paths)
    return found


def test_a_plain_process_can_be_copied() -> None:
    assert fork_safety.obstacle() == ""
    assert fork_safety.by_value_reason() == ""


PACKAGES = "/home/polars/.venv/lib/python3.11/site-packages"


@pytest.mark.parametrize(
    ("threads", "reason"),
    [
        (
            [("polars-0", f"{PACKAGES}/_polars_runtime/_polars.abi3.so")],
            "polars has threads that a copy cannot start again",
        ),
        ([("polars-ooc-clea", f"{PACKAGES}/_polars_runtime/_polars.abi3.so")], ""),
        ([("jemalloc_bg_thd", f"{PACKAGES}/pyarrow/libarrow.so.2600")], ""),
        ([("python", f"{PACKAGES}/numpy.libs/libscipy_openblas64_-32a4b2a6.so"), ("python", "/lib/libgomp.so.1")], ""),
        ([("tf_XLAEigen", "")], "XLA has threads that a copy cannot start again"),
        (
            [("python", "/usr/lib/jvm/lib/server/libjvm.so")],
            "a Java virtual machine has threads that a copy cannot start again",
        ),
        (
            [("event_engine", f"{PACKAGES}/grpc/_cython/cygrpc.so"), ("polars-1", "")],
            "gRPC and polars have threads that a copy cannot start again",
        ),
        (
            [("python", f"{PACKAGES}/rustworkx/rustworkx.abi3.so")],
            "rustworkx has threads that a copy may not start again",
        ),
        ([("python", f"{PACKAGES}/pyzmq.libs/libzmq-2f.so.5")], "pyzmq has threads that a copy may not start again"),
        ([("python", f"{PACKAGES}/_kuzu.cpython-311.so")], "kuzu has threads that a copy may not start again"),
        ([("python", "/opt/conda/lib/libfast.so.3")], "libfast has threads that a copy may not start again"),
        ([("python", "")], "a library has threads that a copy may not start again"),
        (
            [("python", f"{PACKAGES}/blake3/blake3.so"), ("tf_XLAEigen", "")],
            "XLA has threads that a copy cannot start again and blake3 has threads that a copy may not start again",
        ),
    ],
)
def test_a_library_is_safe_only_if_it_is_known_to_be(
    native: list[tuple[str, str]], threads: list[tuple[str, str]], reason: str
) -> None:
    native += threads
    assert fork_safety.by_value_reason() == reason


def test_a_name_that_comes_late_is_seen(native: list[tuple[str, str]]) -> None:
    native.append(("jemalloc_bg_thd", ""))
    assert fork_safety.by_value_reason() == ""
    native[0] = ("polars-0", "")
    assert fork_safety.by_value_reason() != ""


def test_numba_is_named_once_its_layer_on_gnu_openmp_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = SimpleNamespace(_is_initialized=False)
    monkeypatch.setitem(sys.modules, "numba.np.ufunc.parallel", layer)
    monkeypatch.setitem(sys.modules, "numba.np.ufunc.omppool", SimpleNamespace(openmp_vendor="GNU"))
    assert fork_safety.by_value_reason() == ""
    layer._is_initialized = True
    assert fork_safety.by_value_reason() == "numba has threads that a copy cannot start again"


def test_a_live_cuda_context_is_an_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = ModuleType("torch.cuda")
    cuda.is_initialized = lambda: True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    assert fork_safety.obstacle() == "a CUDA context is live"


def test_threads_of_the_user_are_named_and_ours_is_not() -> None:
    gate = threading.Event()
    before = fork_safety.lost_threads()
    started = [threading.Thread(target=gate.wait, name=name) for name in ("worker", "pisces-flusher", "asyncio_0")]
    for thread in started:
        thread.start()
    try:
        assert [text for text in fork_safety.lost_threads() if text not in before] == ["thread 'worker'"]
    finally:
        gate.set()
        for thread in started:
            thread.join()


@processes
def test_a_copy_still_knows_the_threads_it_lost(tmp_path: Path) -> None:
    program = """
gate = threading.Event()
threading.Thread(target=gate.wait, name="worker", daemon=True).start()
def look():
    return fork_safety.lost_threads()
report(in_a_copy(look))
"""
    assert run_forking(program, cwd=tmp_path) == ["thread 'worker'"]


def test_asking_again_is_cheap() -> None:
    def ask() -> float:
        began = time.perf_counter()
        fork_safety.before_fork()
        fork_safety.obstacle()
        fork_safety.by_value_reason()
        fork_safety.lost_threads()
        return time.perf_counter() - began

    for _ in range(2):
        ask()
    assert min(ask() for _ in range(200)) < 0.0002  # Measured: 19 µs with one thread, 50 µs with 17.
