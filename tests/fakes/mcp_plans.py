"""What every official client is asked to do with a server, and what each of them has to see.

The clients are programs of their own, because each needs an SDK of its own: see `mcp_2x_client` for what they do.
"""

import base64
import json
import re
import struct
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it has no types

from tests.fakes.mcp_clients import mcp_command, mcp_environment
from tests.fakes.mcp_http import Site

MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
TOOLS: Final = ["python", "notebook", "session"]
_PATIENCE: Final = 100.0
"""Seconds for a whole plan, on a busy machine."""


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


PICTURE: Final = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
)
"""One red pixel."""

_SHOW_PICTURE: Final = f"""
class Picture:
    def _repr_png_(self):
        return {PICTURE!r}
Picture()
"""
_ENDLESS: Final = "x += 1\nprint('begun', flush=True)\nwhile True: pass"


def python(code: str) -> list[Any]:
    """A call that runs one cell."""
    return ["python", {"cells": [{"code": code}]}]


def plan_for(server: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """What a client is to do. `mode` is for those that speak both eras."""
    calls = [python("x = 41"), python("x + 1"), python("1 / 0"), python(_SHOW_PICTURE), ["no-such-tool", {}]]
    after = [python("x"), python("for n in range(9000): print(n)")]
    return {
        "server": server,
        "mode": mode,
        "calls": calls,
        "endless": python(_ENDLESS),
        "until": "begun",
        "after": after,
        "read": "artifact://{id}?lines=6001-6002",
    }


def over_pipes(interpreter: str) -> dict[str, Any]:
    """A server that the client starts itself."""
    return {"command": mcp_command(), "env": mcp_environment(interpreter)}


def over_http(site: Site) -> dict[str, Any]:
    """A server that is there before its clients."""
    return {"url": site.url, "token": site.token}


def seen_by(command: Sequence[str], plan: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Have a client go through a plan; what it saw."""
    done = subprocess.run(
        [*command, json.dumps(plan)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PATIENCE,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-5000:]
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def check(seen: Mapping[str, Any], protocol: str) -> None:
    """That a client saw all it should: the same list for each of them."""
    assert (seen["protocol"], seen["server"], seen["pinged"]) == (protocol, "pisces", True)
    _check_tools(seen["tools"])
    output = {tool["name"]: tool["outputSchema"] for tool in seen["tools"]}["python"]
    bound, value, error, picture, unknown = seen["calls"]
    for result in (bound, value, error, picture, *seen["after"]):
        jsonschema.validate(result["structuredContent"], output)
    assert not bound.get("isError")
    assert (text_of(value), value["structuredContent"]["outcome"]) == ("42", "ok")
    assert error["isError"] is True
    assert "ZeroDivisionError" in text_of(error)
    assert pictures_of(picture) == [("image/png", PICTURE)]
    assert unknown["isError"] is True
    assert "There is no tool 'no-such-tool'. Tools: python, notebook, session" in text_of(unknown)
    assert re.fullmatch(r"running, \d+ s\nbegun", seen["progress"][-1])
    after, long = seen["after"]
    _check_resources(seen, long)
    assert re.search(r"\b42\b", text_of(after)), "what the cancelled cell did, and what was before it, is there"
    assert not after.get("isError")


def _check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    assert [tool["name"] for tool in tools] == TOOLS
    for tool in tools:
        assert tool["description"]
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            assert schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)


def _check_resources(seen: Mapping[str, Any], long: Mapping[str, Any]) -> None:
    assert [template["name"] for template in seen["templates"]] == ["artifact", "notebook", "variables"]
    assert "\n6000\n" not in text_of(long), "what was cut is what is read"
    (content,) = seen["read"]
    assert content["text"].splitlines() == ["6000", "6001"]


def text_of(result: Mapping[str, Any]) -> str:
    """All text of a result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def pictures_of(result: Mapping[str, Any]) -> list[tuple[str, bytes]]:
    """The pictures of a result: what each is, and its bytes."""
    images = [block for block in result["content"] if block["type"] == "image"]
    return [(image["mimeType"], base64.b64decode(image["data"])) for image in images]
