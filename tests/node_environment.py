"""The programs of others that speak MCP: the agents, the inspector, the SDK and the conformance suite, from npm.

They are in tests/node/package.json by exact version, are installed once and kept, and run on a Node from npm too.
Tests that use them are marked heavy.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.environments import CALLER, ENVIRONMENTS
from tests.source_tree import ROOT

SCRIPTS: Final = ROOT / "tests" / "node"
_PLATFORMS: Final = ("linux-x64", "linux-arm64")
"""Those for which npm has a Node 22."""
_NATIVE: Final = {"claude": "@anthropic-ai/claude-code-{platform}/claude"}
"""Programs whose package has no more than a note to run its set-up script, and what that script would link."""
_PACKAGED: Final = {
    "conformance": "@modelcontextprotocol/conformance/dist/index.js",
    "conformance-next": "@modelcontextprotocol/conformance-next/dist/index.js",
}
"""Programs of two packages that have the same name."""


def node_environment() -> Path:
    """The folder with `node_modules`, which is filled first if it is not complete.

    Skips the test where there is no npm, and where it cannot fetch anything.
    """
    if shutil.which("npm", path=CALLER.get("PATH")) is None:
        pytest.skip("there is no npm, which fetches the MCP clients of others")
    if _platform() not in _PLATFORMS:
        pytest.skip(f"npm has no Node 22 for {_platform()}")
    target = ENVIRONMENTS / "node"
    if (trouble := _make(target)) is not None:  # Its registry is a further one: who has that of pip may not have it.
        pytest.skip(f"npm could not fetch the MCP clients of others: {trouble}")
    return target


@cache
def _make(target: Path) -> str | None:
    """Fill the folder, once; what keeps it from being complete, or None."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.make_node_environment", str(target)],
        cwd=ROOT,
        env=CALLER,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return None if done.returncode == 0 else done.stderr.strip()[-300:]


def node() -> str:
    """The Node of the environment."""
    return str(node_environment() / "node_modules" / f"node-{_platform()}" / "bin" / "node")


def program(name: str) -> list[str]:
    """How to start a program, as in `claude`, `codex`, `gemini`, `mcp-inspector`, `conformance`."""
    modules = node_environment() / "node_modules"
    if name in _NATIVE:
        return [str(modules / _NATIVE[name].format(platform=_platform()))]
    return [node(), str(modules / _PACKAGED.get(name, f".bin/{name}"))]


def script(name: str, *arguments: str) -> list[str]:
    """How to run a script of tests/node. Start it in `node_environment()`: there it finds the packages it imports."""
    # A module that is a file looks for packages beside itself; one that is given as text, in the folder it runs in.
    text = (SCRIPTS / name).read_text(encoding="utf-8")
    return [node(), "--input-type=module", "--eval", text, "--", *arguments]


def surroundings(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of this process, with the environment's Node before any other, and with further ones."""
    found = os.pathsep.join([str(Path(node()).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": found, "NO_UPDATE_NOTIFIER": "1", **(variables or {})}


def _platform() -> str:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(os.uname().machine.lower(), os.uname().machine)
    return f"{sys.platform}-{machine}"
