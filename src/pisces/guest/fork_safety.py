"""What a live kernel must do and know before it forks a checkpoint, told cheaply.

A copy has the memory of the process and only the thread that forked. Libraries differ in what they make of that: most
start their threads again, GNU OpenMP does when its pool was dissolved before, some hang or end the process. Asking
costs some microseconds as long as neither the threads nor the modules have changed since the last time.
"""

from __future__ import annotations

import re

from . import ipython_scripts
from .stdlib import loaded_modules, open, os, threading  # noqa: A004  # A cell may replace the builtin.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_TASKS = "/proc/self/task"
_OWN_THREADS = ("pisces-flusher", "pisces-drain")
_ASYNCIO_THREADS = ("asyncio_", "asyncio-waitpid-")  # Its executor, and one for each child process before Python 3.12.
_HARD_PAUSE = 2  # omp_pause_hard: gives up the threads, keeps the settings.
_CUDA_DEVICES = ("/dev/nvidia-uvm", "/dev/kfd")  # Opened by a context, not by those who only look at the card.

_LASTING_THREADS = (
    # The pool of polars, not `polars-ooc-clea`, which is there after the import and does not matter.
    (re.compile(r"polars-\d"), "polars"),
    (re.compile(r"tf_XLA"), "XLA"),
    (re.compile(r"tf_"), "TensorFlow"),
    (re.compile(r"event_engine|grpc_"), "gRPC"),
    (re.compile(r"tokio-r"), "a tokio runtime"),
    (re.compile(r"VM Thread"), "a Java virtual machine"),
)
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


_findings = _Findings()
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


def may_use_a_device() -> bool:
    """Whether a library is loaded that could have an obstacle; asked after every cell."""
    return not _DEVICE_MODULES.isdisjoint(loaded_modules)


def by_value_reason() -> str:
    """Which library cannot go on in a copy, as a clause; empty when the copy can be woken as it is."""
    libraries = [*_look().lasting, *(["an old GNU OpenMP"] if _openmp.without_pause else [])]
    if not libraries:
        return ""
    if len(libraries) == 1:
        return f"{libraries[0]} has threads that a copy cannot start again"
    return f"{', '.join(libraries[:-1])} and {libraries[-1]} have threads that a copy cannot start again"


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
    if len(threading._active) == 1:  # type: ignore[attr-defined]  # Not in typeshed; there in 3.9 to 3.13.
        return []
    main = threading.main_thread()
    others = (thread for thread in threading.enumerate() if thread is not main and thread.is_alive())
    return [thread_text(_name_of(thread)) for thread in others if not _is_expendable(thread)]


def _name_of(thread: threading.Thread) -> str:
    try:
        return str(thread.name)
    except BaseException:  # A class of the user's may have a `name` of its own.
        return "without a name"


def _is_expendable(thread: threading.Thread) -> bool:
    """Whether nobody misses it: ours, those of event loops that a copy makes anew, tqdm's that only watches.

    asyncio's threads that wait for a child process need no mention either: the process itself is reported as lost.
    """
    name = _name_of(thread)
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
    _findings.lasting = _find_lasting(tasks)
    return _findings


def _find_obstacle() -> str:
    torch_cuda = loaded_modules.get("torch.cuda")
    if torch_cuda is not None and _says_yes(torch_cuda, "is_initialized"):
        return "a CUDA context is live"
    try:
        descriptors = os.listdir("/proc/self/fd")
    except OSError:
        return ""
    for descriptor in descriptors:
        try:
            if os.readlink("/proc/self/fd/" + descriptor).startswith(_CUDA_DEVICES):
                return "a CUDA context is live"
        except OSError:
            pass  # The one that listed the folder is closed by now.
    return ""


def _find_lasting(tasks: frozenset[str] | None) -> list[str]:
    if tasks is None:
        found = [label for module, label in _LASTING_MODULES.items() if module in loaded_modules]
    else:
        names = _thread_names(tasks)
        found = [label for pattern, label in _LASTING_THREADS if any(map(pattern.match, names))]
    if "XLA" in found and "TensorFlow" in found and "tensorflow" not in loaded_modules:
        found.remove("TensorFlow")  # Their threads have the same beginning.
    if "polars" in found and "a tokio runtime" in found:
        found.remove("a tokio runtime")  # It is that of polars.
    if _numba_would_end_the_copy():
        found.append("numba")
    return found


def _thread_names(tasks: frozenset[str]) -> set[str]:
    names = set()
    for task in tasks:
        try:
            with open(f"{_TASKS}/{task}/comm", encoding="utf-8", errors="replace") as file:
                names.add(file.read())
        except OSError:
            pass  # It has ended.
    return names


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
