"""The start of the local gateway in the user's interpreter, and the process that sees to its end.

`python <guest> gateway` reads one line of JSON from its standard input (never from its arguments: it has the token),
leaves its parent behind, and becomes two processes. The keeper waits for the other, which serves; when that has ended,
however it did, the keeper ends all that it started and goes. Should the keeper be killed, the server ends in good
order. The port is open before we are there: we are given the socket that listens on it, so nobody can take it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from . import processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

NEEDED = ("kernel_gateway", "ipykernel")
"""What the user's interpreter has to have."""
OLDEST = 3
"""The first major version of Kernel Gateway that can be configured as we do."""
_ROUNDS = 50


def main() -> None:
    """Become the gateway. What the one who starts it has to know is written to the descriptor that it names."""
    processes.set_dumpable(False)  # The order has the token. Kernels run other programs, and are open to their user.
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    _let_go_of_input()
    if os.fork():
        os._exit(0)  # Who started us has no child to wait for.
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    processes.become_subreaper()
    keeper = os.getpid()
    server = os.fork()
    if server == 0:
        _serve(order, keeper)
    for descriptor in (order["socket"], order["ready"]):
        os.close(descriptor)
    _keep(server)


def missing() -> list[str]:
    """Which of the packages that it needs are not there."""
    from importlib.util import find_spec

    return [name for name in NEEDED if find_spec(name) is None]


def check() -> None:
    """Print which packages are missing, and the versions of those that are there, as JSON."""
    lacking = missing()
    packages = {"kernel_gateway": "jupyter_kernel_gateway", "ipykernel": "ipykernel"}
    versions = {name: _version(package) for name, package in packages.items() if name not in lacking}
    print(json.dumps({"missing": lacking, "versions": versions, "problem": "" if lacking else _too_old()}))


def tell(descriptor: int, message: dict[str, Any]) -> None:
    """Say something to whoever starts us, who may have gone."""
    try:
        os.write(descriptor, json.dumps(message).encode("ascii") + b"\n")
        os.close(descriptor)
    except OSError:
        pass


def _serve(order: dict[str, Any], keeper: int) -> NoReturn:
    code = 1
    try:
        processes.end_with(keeper, signal.SIGTERM)
        lacking = missing()
        if lacking:
            tell(order["ready"], {"missing": lacking})
        else:
            from .gateway_imports import import_quickly

            import_quickly("_pisces_guest.gateway_app").run(order, keeper)
            code = 0
    except BaseException as error:  # The process ends here whatever happened; the log has the rest.
        import traceback

        traceback.print_exc()
        tell(order["ready"], {"error": _too_old() or f"{type(error).__name__}: {error}"})
    finally:
        sys.stderr.flush()
        os._exit(code)


def _too_old() -> str:
    """What to do about a gateway that is older than what it is asked to do; empty if it is not."""
    version = _version("jupyter_kernel_gateway")
    major = version.partition(".")[0]
    if not major.isdigit() or int(major) >= OLDEST:
        return ""
    upgrade = f"{sys.executable} -m pip install --upgrade jupyter_kernel_gateway"
    return f"jupyter_kernel_gateway {version} is too old, {OLDEST}.0 or newer is needed. Run: {upgrade}"


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _keep(server: int) -> NoReturn:
    """Wait for the end of the server, then end everything that it started: whatever loses its parent becomes ours."""
    signal.signal(signal.SIGTERM, lambda signum, frame: _forward(server))
    try:
        while True:
            pid, _ = os.waitpid(-1, 0)
            if pid == server:
                break
        for _ in range(_ROUNDS):
            below = processes.descendants(os.getpid())
            for pid in below:
                processes.kill(pid)
            if not below and not _reap():
                break
            time.sleep(0.01)
    finally:
        os._exit(0)


def _forward(server: int) -> None:
    try:
        os.kill(server, signal.SIGTERM)
    except ProcessLookupError:
        pass


def _reap() -> bool:
    """Collect a child that has ended; False when there are no children any more."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _let_go_of_input() -> None:
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
