"""Background hosts for tests: ended after the test, found by their records, and of another version if need be."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from pisces.host.files import HostFiles, HostRecord
from pisces.host.start import find_host
from pisces.settings.paths import Paths
from tests.fakes.drive import PATIENCE
from tests.frontends.command import Command

OTHER_VERSION = "0.0.7"

_PATCHED = f"import pisces._version; pisces._version.__version__ = {OTHER_VERSION!r}; "
_CLIENT = _PATCHED + "import sys; from pisces.cli.main import main; sys.exit(main(sys.argv[1:]))"
_HOST = _PATCHED + "import sys; from pisces.host.life import live; live(int(sys.argv[1]))"


def files() -> HostFiles:
    """The files of the test's own host."""
    return HostFiles.locate(Paths.locate(os.environ), os.environ)


def record() -> HostRecord:
    """The host that was started last."""
    found = files().record()
    assert found is not None, "no host has been started"
    return found


def kill_host() -> None:
    """End the host as the system does when memory is short, and wait until it has gone."""
    process = psutil.Process(record().pid)
    process.kill()
    gone(process.pid)


def gone(pid: int) -> None:
    """Wait until a process has ended. Whoever adopted it may take its time to notice that."""
    until = time.monotonic() + PATIENCE
    while _is_alive(pid):
        assert time.monotonic() < until, f"process {pid} has not ended"
        time.sleep(0.01)


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def end_host(pisces: Command) -> None:
    """End the host of a test, if there is one."""
    if files().record() is not None:
        done = pisces("host", "stop", "--force")
        assert done.returncode == 0, done.stderr
        gone(record().pid)


def stop_host() -> None:
    """The same from within, which is quicker. A host that does not answer is for `end_host`."""
    client = find_host(os.environ)
    if client is not None:
        client.stop(with_sessions=True)
        client.close()
        gone(client.hello.pid)


def starts() -> int:
    """How many hosts have come up in the test's home."""
    return files().log.read_text(encoding="utf-8").count("listening at")


def of_another_version(*arguments: str, interpreter: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of another version of Pisces."""
    return subprocess.run(
        [sys.executable, "-c", _CLIENT, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=_environment(interpreter),
        timeout=PATIENCE,
        check=False,
    )


@contextmanager
def host_of_another_version(interpreter: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A host of another version of Pisces, that listens."""
    files().agent.mkdir(parents=True, exist_ok=True)
    reading, writing = os.pipe()
    host = subprocess.Popen(
        [sys.executable, "-c", _HOST, str(writing)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_environment(interpreter),
        pass_fds=[writing],
    )
    try:
        os.close(writing)
        assert os.read(reading, 1000) == b"\n"
        yield host
    finally:
        os.close(reading)
        host.terminate()
        host.wait(PATIENCE)


def _environment(interpreter: str) -> Mapping[str, str]:
    source = str(Path(__file__).resolve().parents[2] / "src")
    return {**os.environ, "PYTHONPATH": source, "PI_SET__python__interpreter": interpreter}
