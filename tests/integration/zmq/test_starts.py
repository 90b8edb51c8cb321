"""A start is bounded, can be cancelled at every moment, says why it failed, and then leaves nothing behind."""

import json
import resource
import signal
import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import anyio
import psutil
import pytest

from pisces.errors import DeadlineExceeded, KernelStartError
from pisces.kernels.base import LaunchSpec
from pisces.kernels.deadline import Deadline
from pisces.kernels.zmq.transport import ZmqTransport
from tests.fakes.drive import PATIENCE
from tests.integration.zmq.conftest import InstallKernel, MakeSpec, Start
from tests.leftovers import open_descriptors

pytestmark = pytest.mark.usefixtures("nothing_is_left")

SCRIPT = [sys.executable, "-c"]
THROUGH_A_SHELL = ["sh", "-c", 'exec "$0" -m ipykernel_launcher -f "$1"', sys.executable, "{connection_file}"]


@pytest.fixture
def nothing_is_left(temporary: Path, no_descriptor_is_left: None) -> Iterator[None]:
    """No process, no descriptor and no folder, as soon as the call has returned."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    assert {child.pid for child in psutil.Process().children(recursive=True)} - before == set()
    assert list(temporary.iterdir()) == []


async def fail_to_open(spec: LaunchSpec, deadline: Deadline | None = None) -> str:
    """The text of the error."""
    with pytest.raises(KernelStartError) as caught:
        await ZmqTransport(spec).open(deadline or Deadline.after(PATIENCE))
    return str(caught.value)


async def test_an_interpreter_that_is_missing_is_named(make_spec: MakeSpec) -> None:
    text = await fail_to_open(make_spec(interpreter="/missing/python"))
    assert text == "Cannot run /missing/python: No such file or directory"


async def test_an_interpreter_without_ipykernel_is_told_what_to_do(make_spec: MakeSpec, plain_python: str) -> None:
    text = await fail_to_open(make_spec(interpreter=plain_python))
    assert text == f"ipykernel not installed. Run: {plain_python} -m pip install ipykernel"


async def test_a_kernel_that_dies_at_its_start_is_told_with_its_last_words(
    make_spec: MakeSpec, install_kernel: InstallKernel
) -> None:
    talk = "import sys; print('y' * 100_000, file=sys.stderr); sys.exit('it hurts')"
    install_kernel("dying", [*SCRIPT, talk])
    text = await fail_to_open(make_spec("dying"))
    assert text.startswith("The kernel exited with code 1 before it was ready: y")
    assert text.endswith("it hurts")
    assert len(text) < 3000


async def test_a_kernel_that_is_killed_at_its_start_is_told_so(
    make_spec: MakeSpec, install_kernel: InstallKernel
) -> None:
    install_kernel("killed", [*SCRIPT, "import os; os.kill(os.getpid(), 11)"])
    text = await fail_to_open(make_spec("killed"))
    assert text == "The kernel was ended by SIGSEGV before it was ready: it said nothing"


async def test_a_kernel_that_is_not_installed_is_told_with_those_that_are(
    make_spec: MakeSpec, install_kernel: InstallKernel
) -> None:
    install_kernel("other", [*SCRIPT, ""])
    with pytest.raises(KernelStartError, match="no Jupyter kernel named 'cobol'") as caught:
        await ZmqTransport(make_spec("cobol")).open(Deadline.after(PATIENCE))
    assert "other" in caught.value.hint


async def test_without_time_nothing_is_started(make_spec: MakeSpec) -> None:
    transport = ZmqTransport(make_spec())
    with pytest.raises(DeadlineExceeded, match="did not start within 0 seconds"):
        await transport.open(Deadline.after(0))
    assert transport.pid == 0


async def test_a_kernel_that_never_listens_is_given_up_at_the_deadline(
    make_spec: MakeSpec, install_kernel: InstallKernel
) -> None:
    install_kernel("silent", [*SCRIPT, "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(600)"])
    with anyio.fail_after(PATIENCE):
        with pytest.raises(DeadlineExceeded, match=r"silent did not start within 0\.3 seconds"):
            await ZmqTransport(make_spec("silent")).open(Deadline.after(0.3))


@pytest.mark.parametrize("after", [0.0, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2])
async def test_a_start_that_is_cancelled_leaves_nothing(make_spec: MakeSpec, after: float) -> None:
    transport = ZmqTransport(make_spec())
    with anyio.move_on_after(after):
        await transport.open(Deadline.after(PATIENCE))
    await transport.kill()


async def test_a_folder_that_is_missing_does_not_keep_a_kernel_from_starting(start: Start) -> None:
    client = await start(cwd="/missing/folder")
    assert await client.value("import os; os.getcwd()") == "'/'"
    await client.transport.shutdown()


async def test_the_kernel_has_the_folder_and_the_environment_it_was_given(
    start: Start, make_spec: MakeSpec, tmp_path: Path
) -> None:
    env = {**make_spec().env, "GIVEN": "\udcff", "BOTH": "env"}
    client = await start(env=env, injected={"BOTH": "injected"})
    assert await client.value("import os; os.getcwd()") == repr(str(tmp_path))
    assert await client.value("os.environ['BOTH'], os.environb[b'GIVEN']") == "('injected', b'\\xff')"
    assert await client.value("'PYTHONSAFEPATH' in os.environ") == "False"
    await client.transport.shutdown()


async def test_the_kernel_does_not_inherit_how_we_treat_signals(
    make_spec: MakeSpec, install_kernel: InstallKernel
) -> None:
    tell = """
import json, os, signal, sys
state = {n.name: signal.getsignal(n) == signal.SIG_IGN for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
def open_as(fd):
    try: return os.readlink(f'/proc/self/fd/{fd}')
    except OSError: return '/'
kept = [fd for fd in range(3, 200) if open_as(fd)[0] != '/']
sys.exit(json.dumps({'ignored': [n for n, i in state.items() if i], 'mask': list(signal.pthread_sigmask(0, [])),
    'leads': os.getsid(0) == os.getpid() == os.getpgrp(), 'stdin': os.readlink('/proc/self/fd/0'), 'kept': kept}))
"""
    install_kernel("telling", [*SCRIPT, tell])
    usual = {signum: signal.signal(signum, signal.SIG_IGN) for signum in (signal.SIGINT, signal.SIGHUP)}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    try:
        text = await fail_to_open(make_spec("telling"))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for signum, handler in usual.items():
            signal.signal(signum, handler)
    told = json.loads(text.partition("ready: ")[2])
    assert told == {"ignored": [], "mask": [], "leads": True, "stdin": "/dev/null", "kept": []}


async def test_a_kernel_that_may_know_no_socket_files_gets_ports(start: Start, install_kernel: InstallKernel) -> None:
    install_kernel("through-a-shell", THROUGH_A_SHELL)
    client = await start("through-a-shell")
    assert await client.value("get_ipython().kernel.parent.transport") == "'tcp'"
    assert client.transport.interpreter == "through-a-shell"
    await client.transport.shutdown()


async def test_a_kernel_whose_port_was_taken_is_started_again_on_others(
    start: Start, install_kernel: InstallKernel, tmp_path: Path
) -> None:
    failed = tmp_path / "failed"
    complain = f'if [ ! -e {failed} ]; then touch {failed}; echo "Address already in use" >&2; exit 1; fi; '
    install_kernel("unlucky", [*THROUGH_A_SHELL[:2], complain + THROUGH_A_SHELL[2], *THROUGH_A_SHELL[3:]])
    client = await start("unlucky")
    assert failed.exists()
    assert await client.value("1 + 1") == "2"
    await client.transport.shutdown()


async def test_a_kernel_whose_ports_are_always_taken_is_given_up(
    make_spec: MakeSpec, install_kernel: InstallKernel
) -> None:
    install_kernel("unlucky", ["sh", "-c", 'echo "Address already in use" >&2; exit 1'])
    assert "Address already in use" in await fail_to_open(make_spec("unlucky"))


async def test_a_kernel_that_wants_to_be_asked_gets_no_signal(start: Start, install_kernel: InstallKernel) -> None:
    install_kernel("asked", [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                   interrupt_mode="message")  # fmt: skip
    client = await start("asked")
    # In a loop: one interrupt is sent, and one that comes in the moment before code blocks in the system is not seen.
    request = await client.send("import time; print('ready', flush=True)\nwhile True: time.sleep(0.05)")
    await client.prints("ready")
    assert not await client.transport.interrupt()
    await client.transport.send(client.make.interrupt())
    said = await client.rest(request)
    assert [message.content["ename"] for message in said if message.type == "error"] == ["KeyboardInterrupt"]
    await client.transport.shutdown()


@pytest.mark.parametrize(
    ("name", "code", "kind"), [("bash", "echo $((40 + 2))", "stream"), ("deno", "40 + 2", "execute_result")]
)
async def test_kernels_of_other_languages_run(
    jupyter_python: str, start: Start, name: str, code: str, kind: str
) -> None:
    client = await start(name, interpreter=jupyter_python)
    await client.send(code)
    said = await client.until(lambda message: message.type == kind)  # Deno may show a value after it said it was idle.
    assert "42" in json.dumps(said[-1].content)
    await client.transport.shutdown()


@pytest.mark.parametrize("free", [0, 3, 10, 20])
async def test_without_descriptors_a_start_is_refused_and_the_host_lives(make_spec: MakeSpec, free: int) -> None:
    transport = ZmqTransport(make_spec())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unused = (number for number in count() if number not in open_descriptors())
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(islice(unused, free, None)), hard))
    try:
        with pytest.raises(KernelStartError, match="Too many open files") as caught:
            await transport.open(Deadline.after(PATIENCE))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "ulimit -n" in caught.value.hint
