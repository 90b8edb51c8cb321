"""What a live kernel must do and know before it forks a checkpoint, told cheaply.

A copy has the memory of the process and only the thread that forked. Libraries differ in what they make of that: many
start their threads again, GNU OpenMP does when its pool was dissolved before, some hang or end the process. Those that
were tried are in tables here; a library that is in none of them is not taken for safe. Asking costs some microseconds
as long as neither the threads nor the modules have changed since the last time.
"""

from __future__ import annotations

import re
import sys

from . import ipython_scripts
from .native_threads import NativeThreads, is_python, library_name, own_path
from .other_threads import OtherThreads, name_of
from .stdlib import loaded_modules, open, os, threading  # noqa: A004  # A cell may replace the builtin.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TASKS = "/proc/self/task"
FLUSHER = "pisces-flusher"
_OWN_THREADS = (FLUSHER, "pisces-drain", "pisces-prober")
_ASYNCIO_THREADS = ("asyncio_", "asyncio-waitpid-")  # Its executor, and one for each child process before Python 3.12.
_HARD_PAUSE = 2  # omp_pause_hard: gives up the threads, keeps the settings.
_CUDA_DEVICES = ("/dev/nvidia-uvm", "/dev/kfd")  # Opened by a context, not by those who only look at the card.

_SAFE = re.compile(r"openblas|libgomp|libarrow|duckdb|onnxruntime|openvino|tokenizers|numexpr/|workqueue")
"""Libraries whose threads a copy starts again when they are needed, by a part of the path. Each is in the table of
docs/state.md, made and used before a crash and after it."""
_SAFE_NAMES = re.compile(r"jemalloc_bg_thd|polars-ooc-clea")
"""Threads that a copy can do without, whoever started them: they only tidy up."""
_LASTING = (
    (re.compile(r"polars"), re.compile(r"polars-\d"), "polars"),
    (re.compile(r"jax|xla_"), re.compile(r"tf_XLA"), "XLA"),
    (re.compile(r"tensorflow"), re.compile(r"tf_"), "TensorFlow"),
    (re.compile(r"cygrpc"), re.compile(r"event_engine|grpc_"), "gRPC"),
    (re.compile(r"libjvm"), re.compile(r"VM Thread"), "a Java virtual machine"),
)
"""Libraries that cannot go on in a copy: a part of the path, the beginning of the names of threads, what it is called.
"""
_LASTING_MODULES = {"polars": "polars", "jax": "XLA", "tensorflow": "TensorFlow", "grpc": "gRPC"}

_DEVICE_MODULES = frozenset({"torch", "cupy", "jax", "tensorflow", "numba.cuda", "pycuda", "cuda", "cudf"})


class _Findings:
    """What the last look found, and of what it holds."""

    def __init__(self) -> None:
        self.tasks: frozenset[str] | None = frozenset()
        self.modules = 0
        self.settled = False
        self.obstacle = ""
        self.lasting: list[str] = []
        """Libraries whose threads a copy cannot start again."""
        self.unknown: list[str] = []
        """Libraries with threads of which nobody knows what becomes of them in a copy."""
        self.nameless: list[int] = []
        """Threads of Python that `threading` does not know, by their ids."""


class _OpenMP:
    """The copies of GNU OpenMP in this process; wheels bring their own, so there may be several."""

    def __init__(self) -> None:
        self._modules = 0
        self._quiet: frozenset[str] | None = frozenset()
        self._pauses: dict[str, Callable[[int], int]] = {}
        self.without_pause = False

    def dissolve(self) -> None:
        """Give up the pool of the calling thread, in every copy; whoever needs it makes a new one (0.05 to 2 ms)."""
        tasks = _tasks()
        if tasks is None or len(tasks) == 1 or tasks == self._quiet:
            return
        if not self._pauses or self._modules != len(loaded_modules):
            self._modules = len(loaded_modules)
            self._find()
        for pause in self._pauses.values():
            pause(_HARD_PAUSE)
        self._quiet = _tasks() if self._pauses else tasks

    def _find(self) -> None:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            paths = {line.split(None, 5)[5].rstrip("\n") for line in file if "libgomp" in line}
        for path in paths.difference(self._pauses):
            self._bind(path)

    def _bind(self, path: str) -> None:
        import ctypes

        try:
            # Only a library that is loaded: its file may have been replaced, and a second copy would help nobody.
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        except OSError:
            return
        try:
            self._pauses[path] = library.omp_pause_resource_all
        except AttributeError:  # Before GCC 9.
            self.without_pause = True


class _LastFork:
    """The process that forked last, this one or the one it is a copy of, and the threads it had beside the main one."""

    pid = 0
    threads: list[str] = []  # noqa: RUF012  # Replaced, never changed.


_PROC_IS_RESTRICTED = not os.path.isdir("/proc/self/fd")
_findings = _Findings()
_native_threads = NativeThreads()
_openmp = _OpenMP()


def before_fork() -> None:
    """Make ready for a fork, in the thread that forks and just before it.

    Dissolves pools of GNU OpenMP, and notes which threads the copy will lack, for `lost_threads` in the copy.
    """
    _openmp.dissolve()
    _LastFork.pid, _LastFork.threads = os.getpid(), _other_threads()


def obstacle() -> str:
    """Why no checkpoint can be made now, as a clause; empty when one can."""
    return _look().obstacle


def may_have_obstacle() -> bool:
    """Whether a library is loaded, or the system is one, for which there may be an obstacle; asked after every cell."""
    return _PROC_IS_RESTRICTED or not _DEVICE_MODULES.isdisjoint(loaded_modules)


def by_value_reason() -> str:
    """Why a copy that is made now cannot be woken as it is, as a clause; empty when it can."""
    findings = _look()
    lasting = [*findings.lasting, *(["an old GNU OpenMP"] if _openmp.without_pause else [])]
    kinds = ((lasting, "a copy cannot start again"), (findings.unknown, "a copy may not start again"))
    return _listed([f"{_listed(names)} {_has(names)} threads that {what}" for names, what in kinds if names])


def with_threads_at_work(reason: str, names: Sequence[str]) -> str:
    """The same of a copy beside Python threads of these names that were in the middle of something."""
    at_work = f"{'thread' if len(names) == 1 else 'threads'} {_listed(names)} had not come to rest"
    return _listed([*filter(None, [reason]), at_work])


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def other_threads() -> OtherThreads:
    """The threads beside which a fork has to wait for its moment."""
    return OtherThreads(FLUSHER, _look().nameless)


def lost_threads() -> list[str]:
    """The Python threads that a copy made now would lack; in a copy, those that it does lack: `thread 'worker'`."""
    return _other_threads() if _LastFork.pid in {0, os.getpid()} else _LastFork.threads


def forget_threads(names: set[str]) -> None:
    """Have `lost_threads` leave these out, in a copy: what they did goes on with others."""
    texts = set(map(thread_text, names))
    _LastFork.threads = [text for text in _LastFork.threads if text not in texts]


def thread_text(name: str) -> str:
    """A thread, as `lost_threads` tells of it."""
    return f"thread {name!r}"


def _other_threads() -> list[str]:
    nameless = ["a thread that was started with _thread"] * len(_findings.nameless)
    if len(threading._active) == 1:  # type: ignore[attr-defined]  # Not in typeshed; there in 3.9 to 3.13.
        return nameless
    main = threading.main_thread()
    others = (thread for thread in threading.enumerate() if thread is not main and thread.is_alive())
    return [*(thread_text(name_of(thread)) for thread in others if not _is_expendable(thread)), *nameless]


def _is_expendable(thread: threading.Thread) -> bool:
    """Whether nobody misses it: ours, those of event loops that a copy makes anew, tqdm's that only watches.

    asyncio's threads that wait for a child process need no mention either: the process itself is reported as lost.
    """
    name = name_of(thread)
    if name in _OWN_THREADS or name.startswith(_ASYNCIO_THREADS) or ipython_scripts.runs_scripts(thread):
        return True
    return type(thread).__module__.partition(".")[0] == "tqdm"


def _tasks() -> frozenset[str] | None:
    """The ids of all native threads; None where the system does not list them."""
    try:
        return frozenset(os.listdir(_TASKS))
    except OSError:
        return None


def _look() -> _Findings:
    tasks, modules = _tasks(), len(loaded_modules)
    same = tasks == _findings.tasks and modules == _findings.modules
    if same and _findings.settled:
        return _findings
    _findings.tasks, _findings.modules = tasks, modules
    # A thread names itself a moment after it has begun: its name is believed when it was looked at twice.
    _findings.settled = same
    _findings.obstacle = _find_obstacle()
    _find_native_threads(_findings)
    return _findings


def _find_obstacle() -> str:
    torch_cuda = loaded_modules.get("torch.cuda")
    if torch_cuda is not None and _says_yes(torch_cuda, "is_initialized"):
        return "a CUDA context is live"
    try:
        descriptors = os.listdir("/proc/self/fd")
    except OSError:
        return "/proc/self/fd cannot be read on this system"
    for descriptor in descriptors:
        try:
            if os.readlink("/proc/self/fd/" + descriptor).startswith(_CUDA_DEVICES):
                return "a CUDA context is live"
        except OSError:
            pass  # The one that listed the folder is closed by now.
    return ""


def _find_native_threads(findings: _Findings) -> None:
    lasting: set[str] = set()
    unknown: set[str] = set()
    nameless: list[int] = []
    if findings.tasks is None:
        lasting.update(label for module, label in _LASTING_MODULES.items() if module in loaded_modules)
    else:
        known = {thread.native_id for thread in list(threading._active.values())}  # type: ignore[attr-defined]  # As above.
        tasks = [task for task in map(int, findings.tasks) if task != os.getpid() and task not in known]
        for task, path in _native_threads.paths(tasks).items():
            name, file = _thread_name(task), own_path(path)
            label = next((label for part, start, label in _LASTING if _belongs(file, name, part, start)), "")
            if label:
                lasting.add(label)
            elif is_python(path):
                nameless.append(task)
            elif name and not _SAFE.search(file) and not _SAFE_NAMES.match(name):
                unknown.add(library_name(path))
    if _numba_would_end_the_copy():
        lasting.add("numba")
    if nameless and not sys._current_frames().keys() - threading._active.keys():  # type: ignore[attr-defined]  # As above.
        nameless = []  # They run no code any more, and are about to end.
    findings.lasting, findings.unknown, findings.nameless = sorted(lasting), sorted(unknown), nameless


def _belongs(file: str, name: str, part: re.Pattern[str], start: re.Pattern[str]) -> bool:
    """Whether a thread is one of the library whose files have this part; by its name where the file is not known."""
    if not file:
        return bool(start.match(name))
    return bool(part.search(file)) and not _SAFE_NAMES.match(name)


def _thread_name(task: int) -> str:
    """The name that Linux knows a thread by; empty when it has ended."""
    try:
        with open(f"{_TASKS}/{task}/comm", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _numba_would_end_the_copy() -> bool:
    """Whether numba's layer on GNU OpenMP runs: it remembers the process, and ends every other one that uses it."""
    pool = loaded_modules.get("numba.np.ufunc.omppool")
    layer = loaded_modules.get("numba.np.ufunc.parallel")
    started = bool(getattr(layer, "_is_initialized", False))
    return started and getattr(pool, "openmp_vendor", None) == "GNU"


def _says_yes(module: object, question: str) -> bool:
    try:
        return bool(getattr(module, question)())
    except Exception:  # A library's, half imported or not as we know it: it does not say yes.
        return False
