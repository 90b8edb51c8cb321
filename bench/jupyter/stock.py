"""Kernel Gateway as it comes, and a client as Jupyter Server itself has it: websocket-client, with JSON in text frames.

Only the standard library is needed for the gateway; the client is for the interpreter that has websocket-client.
"""

import atexit
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from typing import Any

UNLIMITED = "--ZMQChannelsWebsocketConnection.limit_rate=False"
_SECONDS = 60.0
_LOOK_SECONDS = 0.005


class StockGateway:
    """`python -m kernel_gateway`, from its start to its end."""

    def __init__(self, interpreter: str, *options: str) -> None:
        """Returns when it has answered for the first time."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.token = secrets.token_hex(16)
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [interpreter, "-m", "kernel_gateway", f"--KernelGatewayApp.port={port}", *options],
            env={**os.environ, "KG_AUTH_TOKEN": self.token},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(self.stop)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # A host that does not get to its end is terminated.
        deadline = time.monotonic() + _SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError("the gateway does not come up")
            time.sleep(_LOOK_SECONDS)

    def _answers(self) -> bool:
        try:
            ask(self.url, self.token, "/api/kernelspecs")
        except urllib.error.URLError:
            return False
        return True

    def stop(self) -> None:
        """End it in good order, with its kernels. It can be called more than once."""
        self._process.terminate()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class StockClient:
    """One kernel on a gateway."""

    def __init__(self, url: str, token: str) -> None:
        """Start a kernel, and return when it can be sent a cell."""
        import websocket  # type: ignore[import-not-found]  # It is in the other interpreter.

        self._url, self._token = url, token
        self._session = uuid.uuid4().hex
        self._kernel = ask(url, token, "/api/kernels", method="POST", body={"name": "python3"})["id"]
        self._socket = websocket.create_connection(
            f"{url.replace('http', 'ws')}/api/kernels/{self._kernel}/channels?session_id={self._session}",
            header=[f"Authorization: token {token}"],
            timeout=_SECONDS,
            enable_multithread=True,
        )

    def evaluate(self, code: str) -> str:
        """The representation of an expression's value."""
        result = ""
        for message in self._run(code):
            if message["msg_type"] == "execute_result":
                result = message["content"]["data"]["text/plain"]
        return result

    def print_much(self, code: str) -> int:
        """How much came of what the code printed, which is ASCII."""
        return sum(len(message["content"]["text"]) for message in self._run(code) if _is_output(message))

    def stop(self) -> None:
        """End the kernel."""
        self._socket.close()
        ask(self._url, self._token, f"/api/kernels/{self._kernel}", method="DELETE")

    def _run(self, code: str) -> Iterator[dict[str, Any]]:
        """All that is said about a cell, until its reply and its idle status have both come."""
        request = {
            "channel": "shell",
            "header": {
                "msg_id": uuid.uuid4().hex,
                "msg_type": "execute_request",
                "session": self._session,
                "username": "bench",
                "date": "2026-01-01T00:00:00Z",
                "version": "5.3",
            },
            "parent_header": {},
            "metadata": {},
            "content": {"code": code, "silent": False, "store_history": True, "allow_stdin": False},
            "buffers": [],
        }
        self._socket.send(json.dumps(request))
        awaited = {"execute_reply", "idle"}
        while awaited:
            message = json.loads(self._socket.recv())
            if message["parent_header"].get("msg_id") == request["header"]["msg_id"]:  # type: ignore[index]  # a dict
                awaited -= {message["msg_type"], message["content"].get("execution_state")}
                yield message


def _is_output(message: dict[str, Any]) -> bool:
    """Not what the gateway itself writes in the place of output that it has dropped."""
    return message["msg_type"] == "stream" and "rate exceeded" not in message["content"]["text"][:100]


def ask(url: str, token: str, path: str, *, method: str = "GET", body: Any = None) -> Any:
    """What the gateway answers."""
    request = urllib.request.Request(
        url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"token {token}"},
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as response:
        return json.loads(response.read() or b"null")
