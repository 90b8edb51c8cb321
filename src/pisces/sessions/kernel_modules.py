"""Starting a fresh kernel with the extension modules of its user and its project.

Each module is one execution that nobody sees. One that fails costs the kernel nothing; one that never ends, or that
ends the process, costs a second start, without it.
"""

from collections.abc import Callable, Sequence
from typing import Final

import anyio
import msgspec

from pisces.environment.helper_cache import HelperCache, HelperDoc, KnownHelpers, content_key
from pisces.environment.helper_source import prelude_source
from pisces.environment.modules import ModuleFolders, ModuleSource, read_module
from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.base import Kernel, Prepared
from pisces.kernels.deadline import Deadline
from pisces.output.sanitize import clean
from pisces.sessions.unseen import Said, run_unseen

_FAILURE_MIME: Final = "application/x-pisces-module-failure"
_HELPERS_MIME: Final = "application/x-pisces-helpers"
_GUEST: Final = "__import__('sys').modules['_pisces_guest.modules']"
_STRICT_HINT: Final = "Mend the module or take it away; `python.modules.strict=false` starts kernels without it."


class KernelModules(msgspec.Struct, frozen=True):
    """Which modules the kernels of a session load, and what a failure means."""

    folders: ModuleFolders
    cache: HelperCache
    """Where it is kept which helpers there are."""
    strict: bool = False
    """Whether one that fails keeps the kernel from starting."""
    seconds: float = 10.0
    """How long one may take."""

    @property
    def too_long(self) -> str:
        """What is said of one that took longer."""
        return f"TimeoutError: it had not ended after {self.seconds:g} seconds"


class ModuleOutcome(msgspec.Struct, kw_only=True):
    """What became of one module."""

    path: str
    problem: str = ""
    """Why it was not loaded; empty if it was."""
    line: int | None = None
    """The line that it failed at, where that is known."""
    printed: str = ""
    """The beginning of what it said."""
    more: list[str] = msgspec.field(default_factory=list)
    """What the kernel had to say besides."""

    @property
    def explained(self) -> str:
        """Why it was not loaded, and where."""
        return f"{self.problem} (line {self.line})" if self.line is not None else self.problem

    @property
    def notes(self) -> list[str]:
        """All of it, for the reader of a result."""
        failed = [f"Extension module {self.path} was not loaded: {self.explained}"] if self.problem else []
        said = [f"Extension module {self.path} printed: {self.printed}"] if self.printed else []
        return [*failed, *said, *self.more]


async def start_with_modules(
    make: Callable[[], Kernel], modules: KernelModules | None, deadline: Deadline
) -> tuple[Kernel, list[ModuleOutcome]]:
    """A kernel that is up and has loaded its modules, and what became of each. Raises as `Kernel.start`.

    Only kernels with our own code inside load any. When this raises, or is cancelled, nothing is left behind.
    """
    deadly: dict[str, ModuleOutcome] = {}
    while True:
        kernel = make()
        await kernel.start(deadline)
        if modules is None or not isinstance(kernel, Prepared) or not kernel.has_guest:
            return kernel, []
        try:
            outcomes = await _Loading(kernel, modules, deadly, deadline).run()
        except BaseException:
            await _end(kernel)
            raise
        if outcomes is not None:
            return kernel, outcomes
        await _end(kernel)


class _Loading:
    """One attempt to load all modules into one kernel. Those that ended an earlier one are not tried again."""

    def __init__(
        self, kernel: Kernel, modules: KernelModules, deadly: dict[str, ModuleOutcome], deadline: Deadline
    ) -> None:
        self._kernel = kernel
        self._modules = modules
        self._deadly = deadly
        self._deadline = deadline

    async def run(self) -> list[ModuleOutcome] | None:
        """What became of each; None when one of them has ended the kernel.

        Raises `KernelStartError` for a failure in strict mode, and `DeadlineExceeded`.
        """
        sources = [read_module(file) for file in self._modules.folders.in_force()]
        outcomes: list[ModuleOutcome] = []
        for source in sources:
            outcome = self._deadly.get(source.path) or await self._load(source)
            if outcome.problem and self._modules.strict:
                where = f"It failed at line {outcome.line}. " if outcome.line is not None else ""
                raise KernelStartError(
                    f"Failed to load Python module {source.path}: {outcome.problem}", hint=f"{where}{_STRICT_HINT}"
                )
            outcomes.append(outcome)
            if source.path in self._deadly and not await self._kernel.is_alive():
                return None
        if any(not outcome.problem for outcome in outcomes):
            await self._conclude(sources, complete=not any(outcome.problem for outcome in outcomes))
        return outcomes

    async def _load(self, source: ModuleSource) -> ModuleOutcome:
        outcome = ModuleOutcome(path=source.path, problem=source.problem)
        if source.problem:
            return outcome
        said = await self._run(f"{_GUEST}.attempt({source.path!r}, {source.text!r})", source.path)
        outcome.printed = said.printed
        outcome.more += said.done.notes if said.done is not None else ()
        failure = _failure(said)
        if said.died:
            unstopped = f"{self._modules.too_long}, and would not stop"
            outcome.problem = unstopped if said.late else f"the kernel {said.died} under it"
            self._deadly[source.path] = outcome
        elif failure is not None:
            outcome.problem, outcome.line = (self._modules.too_long if said.late else failure.text), failure.line
        elif said.late:
            seconds = self._modules.seconds
            outcome.more.append(f"Extension module {source.path} took over {seconds:g} seconds and was interrupted.")
        return outcome

    async def _conclude(self, sources: list[ModuleSource], *, complete: bool) -> None:
        """What modules bound is no variable of the user's; and which helpers there are now is kept."""
        said = await self._run(f"{_GUEST}.conclude()", "")
        failure = _failure(said)
        if said.died or failure is not None:
            why = f"it {said.died}" if failure is None else failure.text
            raise KernelStartError(f"The kernel did not settle after it had loaded extension modules: {why}", hint="")
        helpers = said.answer(_HELPERS_MIME, tuple[HelperDoc, ...])
        if helpers is not None:
            self._modules.cache.put(helpers_key(sources), KnownHelpers(helpers, complete))

    async def _run(self, code: str, path: str) -> Said:
        said = await run_unseen(self._kernel, code, self._deadline, cap=self._modules.seconds)
        if said.done is None:
            waited_for = f": the extension module {path} had not ended" if path else ""
            raise DeadlineExceeded(f"The kernel did not start within {self._deadline.seconds:g} seconds{waited_for}")
        return said


class _Failure(msgspec.Struct, frozen=True):
    """What a module raised, as the kernel tells it."""

    ename: str
    evalue: str = ""
    line: int | None = None

    @property
    def text(self) -> str:
        """For a reader, in one line."""
        said = " ".join(clean(self.evalue).split())
        return f"{self.ename}: {said}" if said else self.ename


def _failure(said: Said) -> _Failure | None:
    told = said.answer(_FAILURE_MIME, _Failure)
    if told is None and said.error is not None:
        return _Failure(said.error.ename, said.error.evalue)
    if told is None and said.done is not None and said.done.status == "interrupted":
        return _Failure("KeyboardInterrupt")
    return told


def helpers_key(sources: Sequence[ModuleSource]) -> str:
    """What the helpers of a kernel are known by that loads these."""
    return content_key([prelude_source(), *(source.text for source in sources)])


async def _end(kernel: Kernel) -> None:
    """End it and all that belongs to it, whatever happens to the call meanwhile."""
    with anyio.CancelScope(shield=True):
        await kernel.kill()
        await kernel.shutdown()
