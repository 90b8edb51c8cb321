"""The life of a kernel process: wait for a request inside the event loop, run the cell outside of it, report.

Waiting happens in the loop, so that the user's tasks go on between cells. A cell itself runs while the loop does not,
so that `asyncio.run()` works in a cell; a top-level await runs the loop until it is done.
"""

from __future__ import annotations

import sys
from types import ModuleType

from . import cell_loop, checkpoint, fork_safety, forking, memory_limit, modules, prelude, processes, stdin
from .channel import FrameWriter
from .copied_descriptors import LettingGo, OpenFiles, let_go
from .databases import Databases
from .descriptors import opened_high, private_duplicate
from .interrupts import Interrupts
from .kernel import become_kernel
from .native_threads import leave_lost_stacks
from .other_threads import OtherThreadsBusy
from .outcomes import outcome_of, without_our_frames
from .own_children import OwnChildren
from .requests import RequestReader
from .shell_contract import CellOutcome, Shell
from .sleeper import Sleeper, say_failed
from .stdlib import _socket as socket
from .stdlib import asyncio, faulthandler, mmap, os, platform, resource, select, selectors, signal, time
from .streams import StandardStreams
from .variables import NamespaceWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, NoReturn

    from .sleeper import Woken

_SLATE_BYTES = 8


class ShellChannel:
    """What a shell may say to the host while a cell runs."""

    def __init__(self, frames: FrameWriter, interrupts: Interrupts) -> None:
        self._frames = frames
        self._interrupts = interrupts

    def display(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str | None, update: bool) -> None:
        """Show a MIME bundle."""
        self._frames.send_in_order("display", bundle=data, metadata=metadata, display_id=display_id, update=update)

    def result(self, data: dict[str, Any], metadata: dict[str, Any], execution_count: int) -> None:
        """Show the value of the cell's last expression."""
        self._frames.send_in_order("result", hold=True, bundle=data, metadata=metadata, execution_count=execution_count)

    def clear_output(self, wait: bool) -> None:
        """Take back the cell's output so far."""
        self._frames.send_in_order("clear", wait=wait)

    def run_async(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a top-level await to its end."""
        return self._interrupts.run(coroutine)


class _BeforeFork:
    """What is known of the kernel right before a checkpoint is forked, for the copy."""

    def __init__(self, own_set: int, own_children: Callable[[], list[int] | None]) -> None:
        self._own_set = own_set
        self._own_children = own_children
        self.letting_go: LettingGo | None = None

    def look(self) -> None:
        """Called in the kernel, again when the fork had to wait."""
        self.facts = checkpoint.facts_before_fork(own_children=self._own_children())
        self.files = OpenFiles(own_set=self._own_set)
        if self.files.has_channels and self.letting_go is None:
            self.letting_go = LettingGo()

    def let_go(self, host: socket.socket) -> None:
        """In the copy: hold nothing that the kernel, or who is connected to it, could notice."""
        try:
            let_go(self.files, keep={host.fileno(), *(self.letting_go.fds if self.letting_go is not None else ())})
        except Exception:
            os._exit(1)  # What it still shares could do harm: rather no checkpoint, as the host sees at once.
        if self.letting_go is not None:
            self.letting_go.done()


class KernelLoop:
    """One kernel process, from its first request to its last.

    It is made without a host, so that everything about it can be ready before there is one. `attach` gives it one, and
    another each time the process has slept in between.
    """

    def __init__(self) -> None:
        nowhere = os.open(os.devnull, os.O_RDWR)
        self._trace = private_duplicate(nowhere)
        faulthandler.enable(file=self._trace, all_threads=False)
        self._slate: mmap.mmap | bytearray = bytearray(_SLATE_BYTES)
        self._databases = Databases()
        self._streams = StandardStreams()
        self._streams.install()
        self._own_children = OwnChildren()
        self._streams.flusher.chore = self._own_children.collect
        self._streams.before_child = self._own_children.wait
        self._frames = FrameWriter(nowhere, self._streams)
        self._requests = RequestReader()
        os.close(nowhere)
        cell_loop.install()
        self._interrupts = Interrupts(self._streams.order.guard)
        self._interrupts.install()
        stdin.install(lambda prompt, password: self._frames.send("input", prompt=prompt, password=password))
        self._waiting: list[dict[str, Any]] = []
        self._shell, self._shell_note = _make_shell(ShellChannel(self._frames, self._interrupts))
        given = self._shell.given
        prelude.give(given, self._publish, lambda: str(self._frames.cell or ""))
        self._watch = NamespaceWatch(self._shell.namespace, given, self._streams.order.guard)
        modules.expect(self._shell.namespace, given, self._watch.reset, self._frames.silent)

    def _publish(self, bundle: dict[str, Any]) -> None:
        """Show what a helper tells, whatever captures the displays of the cell."""
        self._frames.send_in_order("display", bundle=bundle, metadata={}, display_id=None, update=False)

    def warm_up(self) -> None:
        """Run a cell that nobody sees, so that nothing is done for the first time when somebody waits for it."""
        # Not silent, and of no value: all is done as for a cell whose result is shown, and nothing stays.
        self._shell.run_cell("None", silent=False, store_history=False)
        self._watch.changes()
        asyncio.SelectorEventLoop().close()

    def attach(self, woken: Woken, missing: list[str] | None = None) -> None:
        """Serve the host behind these descriptors: control, frames, stdout, stderr, trace, slate."""
        control, frames, stdout, stderr, trace, slate = woken.fds
        self._pid = os.getpid()
        self._own_children.pids.clear()
        os.dup2(trace, self._trace, inheritable=False)
        self._streams.attach(stdout, stderr, woken.message["nonce"])
        self._frames.attach(frames)
        self._requests.attach(control)
        signal.set_wakeup_fd(-1)  # A loop that has gone may have wanted to be woken through a socket of its own.
        with opened_high():  # Memory that is mapped keeps a duplicate of its descriptor.
            self._slate = mmap.mmap(slate, _SLATE_BYTES)
            self._open_loop()
        for fd in woken.fds:
            os.close(fd)
        self._waiting = []
        facts = {"shell": self._shell.name, "version": platform.python_version(), "note": self._shell_note}
        self._frames.send("ready", missing=missing or [], **facts)

    def run(self) -> None:
        """Serve requests until the host asks for the end or goes away."""
        while True:
            while not self._waiting:
                self._wait()
            request = self._waiting.pop(0)
            kind = request["type"]
            if kind == "exit":
                return
            if kind == "execute":
                self._execute(request)
            elif kind == "checkpoint":
                self._checkpoint(wanted=request["wanted"])
            elif kind == "variables":
                self._frames.send("variables", variables=self._watch.everything())
            elif kind == "complete":
                self._complete(request)
            elif kind == "load":
                self._load(request["execution_count"])

    def _checkpoint(self, *, wanted: bool) -> None:
        """Fork a copy that sleeps. This returns in the kernel and, later, in every kernel that the copy becomes.

        Where other threads run, it waits for a moment at which a fork does them no harm. If nobody `wanted` the copy,
        it does not wait for long, and less when there is a request.
        """
        began = time.perf_counter()
        if not self._requests.fds:  # The system drops a descriptor on its way to a process that can have no more.
            self._frames.send("checkpointed", blocked_us=0, problem="the kernel has no file descriptor left")
            return
        host = socket.socket(fileno=self._requests.fds.pop(0))
        host.setblocking(True)  # Whatever `socket.setdefaulttimeout` says: a copy may sleep for days.
        problem = fork_safety.obstacle()
        others, before = fork_safety.other_threads(), _BeforeFork(self._own_set, self._children_of_ours)
        if not problem:
            try:
                with self._streams.quiet(), self._own_children.unheard():
                    requests = None if wanted else self._requests.fileno()
                    between = forking.fork_aside(fork=lambda: others.fork(before.look, requests))
                    self._own_children.pids += [between] if between else []
            except BaseException as error:
                if os.getpid() != self._pid:
                    os._exit(1)  # A copy that is not whole must not take itself for the kernel.
                problem = _why_no_copy(error)
            else:
                if between == 0:
                    before.let_go(host)
                    if others.at_work:
                        reason = before.facts["by_value"]
                        before.facts["by_value"] = fork_safety.with_threads_at_work(reason, others.at_work)
                    self._sleep(host, before.facts, before.files)
                    return
        if before.letting_go is not None:
            before.letting_go.wait()
        if problem:
            say_failed(host, problem)
        host.close()
        blocked_us = round((time.perf_counter() - began - others.waited) * 1e6)
        self._frames.send("checkpointed", blocked_us=blocked_us, problem=problem)

    def _children_of_ours(self) -> list[int] | None:
        """Child processes that are not the user's; None if there can be no others."""
        return self._own_children.pids if self._streams.order.children else None

    def _sleep(self, host: socket.socket, facts: dict[str, Any], files: OpenFiles) -> None:
        """In the copy: until it is woken, and goes on as a kernel."""
        facts["execution_count"] = self._shell.execution_count
        imports = checkpoint.give_up_imports()
        facts["threads"] = [*facts["threads"], *imports]
        self._streams.attach_to_nothing()  # Code of the user's may run here and print, when its variables are saved.
        processes.be_worth_keeping()
        memory_limit.lift()
        leave_lost_stacks()
        woken = Sleeper(host, facts, self.save).sleep()
        become_kernel(woken.message)
        self._databases = files.databases
        databases = self._databases.resume(self._shell.namespace)
        variables = checkpoint.lost_variables(self._shell.namespace, self._shell.given.ours(), self._loop)
        others = [*fork_safety.lost_threads(), *imports, *facts["children"], *checkpoint.give_up_tasks(self._loop)]
        self.attach(woken, [*others, *files.lost, *databases, *variables])

    def save(self, fd: int) -> None:
        """Write the user's variables to a file, for a kernel that cannot be this one."""
        from . import by_value

        ours = self._shell.given.ours()
        by_value.save(self._shell.namespace, ours, fd, remade=modules.names() & ours)

    def _load(self, execution_count: int) -> None:
        """Take over the variables of a checkpoint that could not go on itself."""
        from . import by_value

        fd = self._requests.fds.pop(0)
        missing, problem = [], ""
        try:
            missing = by_value.load(self._shell.namespace, fd)
        except ValueError as error:
            problem = str(error)
        os.close(fd)
        self._shell.count_from(execution_count)
        self._watch.changes()
        self._frames.send("loaded", missing=missing, problem=problem)

    def _complete(self, request: dict[str, Any]) -> None:
        """Say what could stand at a cursor."""
        from .completing import completion

        found = completion(self._shell, request["code"], request["cursor"], self._streams.order.guard)
        self._frames.send("completed", **found)

    def _open_loop(self) -> None:
        selector = selectors.DefaultSelector()
        self._loop = self._interrupts.loop = asyncio.SelectorEventLoop(selector)
        self._loop.add_reader(self._requests.fileno(), self._on_request)
        self._own_set = selector.fileno()
        self._poll = select.poll()
        for fd in (self._requests.fileno(), self._own_set):
            self._poll.register(fd, select.POLLIN)

    def _replace_loop(self) -> None:
        """A script that ends with `loop.close()` means its own work, not the cells to come. Nor can they have a loop
        that the cell left running in a greenlet, where nobody else can run it.
        """
        if self._loop.is_running():
            self._loop.remove_reader(self._requests.fileno())
        with opened_high():
            self._open_loop()

    def _wait(self) -> None:
        """Until a request has come; the user's tasks go on meanwhile."""
        try:
            # If nothing of the user's waits, the loop need not be started, which halves the time to begin a cell.
            has_come = self._loop_is_idle() and self._requests.fileno() in [fd for fd, _ in self._poll.poll()]
            if not has_come:
                self._loop.run_forever()
        except BaseException as error:
            # A task that the user left running ended so, or a handler of theirs for a signal; the kernel does not.
            import traceback

            text = traceback.format_exception_only(type(error), error)[-1].rstrip()
            self._streams.stderr.write(f"Between cells, a task or a signal handler raised {text}\n")
        else:
            if has_come:
                self._on_request()

    def _loop_is_idle(self) -> bool:
        """Whether the loop has nothing to do before one of its descriptors has; False when it cannot be told."""
        return not getattr(self._loop, "_ready", True) and not getattr(self._loop, "_scheduled", True)

    def _on_request(self) -> None:
        requests = self._requests.read()
        if requests is None:
            requests = [{"type": "exit"}]
        self._waiting += requests
        if self._waiting and self._loop.is_running():
            self._loop.stop()

    def _execute(self, request: dict[str, Any]) -> None:
        if self._streams.order.children:
            self._own_children.wait()
        try:
            asyncio.set_event_loop(self._loop)  # The cell before may have set another one.
        except Exception:
            pass  # A policy that refuses it. Run the cell all the same: it may set a better one.
        cell_loop.begin(self._loop)
        self._frames.cell = request["id"]
        self._streams.begin_cell()
        for lost in self._databases.settle():
            self._streams.stderr.write(f"Not back: {lost}\n")
        memory_limit.enforce()
        outcome = self._run_cell(request)
        memory_limit.ease()
        if os.getpid() != self._pid:
            _end_forked_process(outcome)
        cell_loop.end()
        prelude.end_cell()
        self._streams.reopen()
        if self._loop.is_closed() or self._loop.is_running():
            self._replace_loop()
        if outcome.status != "ok":
            traceback = [*outcome.traceback, *memory_limit.remark(outcome.ename)]
            self._frames.send_in_order("error", ename=outcome.ename, evalue=outcome.evalue, traceback=traceback)
        self._streams.end_cell()
        variables = self._watch.changes() if request.get("inspect") else None
        self._frames.send_in_order(
            "done",
            status=outcome.status,
            execution_count=None if request.get("silent") else self._shell.execution_count,
            exit_code=outcome.exit_code,
            variables=variables,
            faults=resource.getrusage(resource.RUSAGE_SELF).ru_minflt,
            obstacle=fork_safety.obstacle() if fork_safety.may_have_obstacle() else "",
        )

    def _run_cell(self, request: dict[str, Any]) -> CellOutcome:
        outcome = None
        try:
            self._interrupts.begin_cell()
            try:
                # Memory that the host shares: it can tell a cell that has begun from one that has not, also after a
                # crash, without being woken for it (64 µs). From here on it may interrupt, and that is the cell's.
                self._slate[:] = request["id"].to_bytes(8, "little")
                outcome = self._prepare(request) or self._shell.run_cell(
                    request["code"],
                    silent=bool(request.get("silent")),
                    store_history=bool(request.get("store_history", True)),
                )
            finally:
                self._interrupts.end_cell()
        except KeyboardInterrupt:
            # It came when the cell was over, or before it had begun.
            self._interrupts.end_cell()
        except BaseException as error:
            # The shell had no memory left to deal with it, or works with a part of Python that the cell has broken.
            outcome = outcome_of(error)
        if outcome is not None and outcome.ename == "CancelledError" and self._interrupts.came:
            # IPython reports how the task ended; it was an interrupt that cancelled it.
            return CellOutcome.interrupted([*outcome.traceback[:-1], "KeyboardInterrupt"])
        return outcome or CellOutcome.interrupted()

    def _prepare(self, request: dict[str, Any]) -> CellOutcome | None:
        """Set the variables and the folder that the request names; what cannot be set is the cell's error."""
        try:
            if request.get("env"):
                os.environ.update(request["env"])
            if request.get("cwd"):
                os.chdir(request["cwd"])
        except (OSError, ValueError) as error:
            without_our_frames(error.__traceback__)
            return outcome_of(error)
        return None


def _why_no_copy(error: BaseException) -> str:
    """Other threads left no moment for a fork, the system refused it, or the user's code that runs at one raised."""
    if isinstance(error, OtherThreadsBusy):
        return str(error)
    raised = outcome_of(error)
    what = "the system refused" if isinstance(error, OSError) else f"code at the fork raised {raised.ename}"
    return f"{what}: {raised.evalue}".removesuffix(": ")


def _end_forked_process(outcome: CellOutcome) -> NoReturn:
    """A process that the cell forked has come to the cell's end: it ends as a script would, and answers nobody."""
    try:
        if outcome.status != "ok" and outcome.exit_code is None:
            print(*outcome.traceback, sep="\n", file=sys.stderr)
        sys.stdout.flush()
    finally:  # Whatever the cell has made of the streams: this process must not take itself for the kernel.
        os._exit(outcome.status != "ok" if outcome.exit_code is None else outcome.exit_code & 0xFF)


def _make_shell(channel: ShellChannel) -> tuple[Shell, str]:
    """IPython's shell where the user has IPython, else our own; and why not IPython's, when that is not plain."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main
    note = ""
    try:
        from .ipython_shell import IPythonShell

        return IPythonShell(main, channel), note
    except ModuleNotFoundError as error:
        if error.name != "IPython":
            note = f"IPython could not be imported: {error}"
    except Exception as error:  # A broken installation of the user's must not cost the kernel.
        note = f"IPython could not be started: {type(error).__name__}: {error}"
    from .builtin_shell import BuiltinShell

    return BuiltinShell(main.__dict__, channel), note
