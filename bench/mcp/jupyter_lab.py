"""JupyterLab, which jupyter-mcp-server needs beside it: started as its manual says, and ended."""

import secrets
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 60.0
_LOOK_SECONDS = 0.01


@contextmanager
def jupyter_lab(program: Path, folder: Path, environ: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """While it is up: the variables that tell jupyter-mcp-server of it. Raises `RuntimeError` when it fails."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    url, token = f"http://127.0.0.1:{port}", secrets.token_hex(16)
    options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}")
    process = subprocess.Popen(
        [program, "lab", *options],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_up(process, f"{url}/api?token={token}")
        yield {"JUPYTER_URL": url, "JUPYTER_TOKEN": token}
    finally:
        _end(process)


def _wait_until_up(process: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while not _answers(address):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("JupyterLab does not come up")
        time.sleep(_LOOK_SECONDS)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS):
            return True
    except urllib.error.URLError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Its kernels end with it, when it is asked to end."""
    process.terminate()
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
