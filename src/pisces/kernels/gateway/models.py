"""What is said to a Jupyter server, and what it answers: the part of its REST interface that matters here."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import msgspec

_SAID_LIMIT = 500


class KernelModel(msgspec.Struct, frozen=True):
    """A kernel, as a server sees it."""

    id: str
    name: str = ""
    """Of its kernelspec."""
    execution_state: str | None = None
    connections: int | None = None
    last_activity: str | None = None


class SpecFile(msgspec.Struct, frozen=True):
    """How a kernelspec describes itself."""

    language: str = ""
    display_name: str = ""


class SpecEntry(msgspec.Struct, frozen=True):
    """One kernelspec."""

    spec: SpecFile = SpecFile()


class Kernelspecs(msgspec.Struct, frozen=True):
    """What kernels a server can start."""

    kernelspecs: Mapping[str, SpecEntry]
    default: str | None = None


class KernelWish(msgspec.Struct, frozen=True):
    """A kernel to be started."""

    name: str
    """Of its kernelspec."""
    path: str = ""
    """The folder to start in; empty for the server's own choice."""
    env: Mapping[str, str] = {}
    """Only for servers that keep it to this kernel."""
    kernel_id: str = msgspec.field(default_factory=lambda: str(uuid4()))
    """The id to give it. A server that does so lets us end a kernel whose creation was never answered."""

    def again(self) -> "KernelWish":
        """The same for another kernel."""
        return msgspec.structs.replace(self, kernel_id=str(uuid4()))

    def body(self) -> dict[str, Any]:
        """What is posted."""
        body: dict[str, Any] = {"name": self.name, "kernel_id": self.kernel_id}
        if self.path:
            body["path"] = self.path
        if self.env:
            # Enterprise Gateway takes the id from here.
            body["env"] = {**self.env, "KERNEL_ID": self.kernel_id}
        return body


def said_in(body: bytes) -> str:
    """What a server says about an error, in one line; empty if it says nothing that can be read."""
    try:
        said = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return ""
    trace = str(said.get("traceback") or "").strip().splitlines()
    texts = (str(said.get("message") or ""), str(said.get("reason") or ""), trace[-1] if trace else "")
    return ": ".join(dict.fromkeys(text for text in texts if text))[:_SAID_LIMIT]
