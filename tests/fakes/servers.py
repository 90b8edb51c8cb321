"""Real Jupyter servers for tests: a free port, a token, folders of their own; ended with all that they started."""

import json
import os
import secrets
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.fakes.drive import PATIENCE, plain_environment
from tests.leftovers import COOKIE

MARK = "PISCES_TEST_SERVER"
"""In the environment of a server and of every kernel below it, so that all of them are found at the end."""

ATTEMPTS = 3
"""Another program may take the port between its choice and its use."""


@dataclass(frozen=True)
class Kind:
    """How one kind of server is started."""

    name: str
    module: str
    options: Sequence[str]
    """With `{port}` where the port belongs."""
    token_variable: str
    """The token stays out of the command line, which every user of a machine can read."""
    inherited_variable: str = ""
    """What names the variables that a kernel gets of the server's, when the request for it has variables of its own."""


KERNEL_GATEWAY = Kind(
    "kernel gateway",
    "kernel_gateway",
    ("--KernelGatewayApp.ip=127.0.0.1", "--KernelGatewayApp.port={port}", "--KernelGatewayApp.port_retries=0"),
    "KG_AUTH_TOKEN",
    "KG_ENV_PROCESS_WHITELIST",
)
JUPYTER_SERVER = Kind(
    "jupyter server",
    "jupyter_server",
    (
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.open_browser=False",
        "--ServerApp.allow_root=True",
    ),
    "JUPYTER_TOKEN",
)
ENTERPRISE_GATEWAY = Kind(
    "enterprise gateway",
    "enterprise_gateway",
    (
        "--EnterpriseGatewayApp.ip=127.0.0.1",
        "--EnterpriseGatewayApp.port={port}",
        "--EnterpriseGatewayApp.port_retries=0",
    ),
    "EG_AUTH_TOKEN",
    "EG_INHERITED_ENVS",
)


@dataclass(frozen=True)
class Server:
    """One that answers."""

    url: str
    token: str
    pid: int
    interpreter: str
    log: Path


class NotUp(Exception):
    """A server ended, or did not answer in time; the message has the end of its log."""


@contextmanager
def serving(
    kind: Kind, interpreter: str, folder: Path, *, options: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """A server of this kind, as it comes but for `options` and `env`; `folder` is its home. Raises `NotUp`."""
    mark = uuid.uuid4().hex
    token = secrets.token_hex(16)
    environment = {**surroundings(folder), MARK: mark}
    if kind.inherited_variable:
        environment[kind.inherited_variable] = ",".join(environment)
    environment |= {kind.token_variable: token, **(env or {})}
    failures: list[str] = []
    for _ in range(ATTEMPTS):
        port = free_port()
        log = folder / f"server-{port}.log"
        command = [interpreter, "-m", kind.module, *(option.format(port=port) for option in kind.options), *options]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        server = Server(f"http://127.0.0.1:{port}", token, process.pid, interpreter, log)
        try:
            if answers(server, process):
                yield server
                return
        finally:
            end(process, mark)
        failures.append(log.read_text(encoding="utf-8", errors="replace")[-2000:])
    raise NotUp(f"the {kind.name} did not come up:\n" + "\n---\n".join(failures))


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a server: nothing of the caller's but the cookie of a test, and every folder its own."""
    folders = {name: folder / name.lower() for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    # Connection files: the folder is named by a user's other servers too.
    folders["JUPYTER_RUNTIME_DIR"] = folder / "runtime"
    folders["TMPDIR"] = folder / "tmp"  # Kernels that a test kills leave their temporary folders.
    for path in folders.values():
        path.mkdir(exist_ok=True)
    cookie = {COOKIE: os.environ[COOKIE]} if COOKIE in os.environ else {}
    return {**plain_environment(HOME=str(folder)), **{name: str(path) for name, path in folders.items()}, **cookie}


def free_port() -> int:
    """One that nobody listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def answers(server: Server, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until it answers as ours; False when it has ended or takes too long."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            ask(server, "/api/kernelspecs")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
        else:
            return True
    return False


def ask(server: Server, path: str, *, method: str = "GET", body: Any = None) -> Any:
    """What the server answers to a plain request with its token. Raises `HTTPError`."""
    headers = {"Authorization": f"token {server.token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data=data, headers=headers, method=method)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=PATIENCE) as response:
        return json.loads(response.read() or b"null")


def end(server: "subprocess.Popen[bytes]", mark: str) -> None:
    """End the server, which would restart its kernels, and then whatever carries its mark."""
    server.kill()
    server.wait()
    ended: list[psutil.Process] = []
    deadline = time.monotonic() + PATIENCE
    while (marked := processes_with(mark)) or any(map(is_alive, ended)):
        assert time.monotonic() < deadline, f"these cannot be ended: {marked or ended}"
        ended += marked
        for process in marked:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.01)


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that has ended and was not collected yet does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def processes_with(mark: str) -> list[psutil.Process]:
    """The processes that carry the mark of a server; one that is about to end shows no environment any more."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except (psutil.Error, OSError):
            # Someone else's, or gone while we looked.
            continue
    return found
