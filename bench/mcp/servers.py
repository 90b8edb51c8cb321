"""The MCP servers that are compared, and how each is started and asked for the value of `1+1`."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.mcp.jupyter_lab import jupyter_lab
from bench.sandbox import ROOT, Sandbox

OURS = "Pisces, IPython's shell"
OURS_OFF = "Pisces, IPython's shell, checkpoint off"
OURS_PLAIN = "Pisces, built-in shell"
NOTHING = "same SDK, does nothing"
JUPYTER = "jupyter-mcp-server, JupyterLab beside it"
IPYBOX = "ipybox"
PEERS = (JUPYTER, IPYBOX)

_ENVIRONMENTS = {JUPYTER: "jupyter-mcp", IPYBOX: "ipybox"}
_PACKAGES = {JUPYTER: ("jupyter-mcp-server", "mcp"), IPYBOX: ("ipybox", "mcp")}


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """One of those that are compared."""

    command: tuple[str, ...]
    environ: dict[str, str]
    folder: Path
    tool: str = "python"
    laboratory: Path | None = None
    """The `jupyter` of the JupyterLab that a user has to start for it."""

    @contextmanager
    def with_what_it_needs(self) -> Iterator[dict[str, str]]:
        """While what it needs beside it is up: its environment."""
        if self.laboratory is None:
            yield self.environ
        else:
            with jupyter_lab(self.laboratory, self.folder, self.environ) as found:
                yield {**self.environ, **found}


def servers(sandbox: Sandbox) -> dict[str, McpServer]:
    """By name, in the order of the table. The peers may not be there: see `why_not`."""
    folder = sandbox.root / "mcp"
    folder.mkdir(exist_ok=True)
    environ = {name: value for name, value in sandbox.environ.items() if name != "PYTHONPATH"}
    ours = {
        OURS: {"PI_SET__python__interpreter": sandbox.ipython},
        OURS_OFF: {"PI_SET__python__interpreter": sandbox.ipython, "PI_SET__python__checkpoint": "off"},
        OURS_PLAIN: {"PI_SET__python__interpreter": sandbox.plain},
    }
    nothing = str(ROOT / "bench" / "programs" / "mcp_nothing.py")
    lab, box = _programs(JUPYTER), _programs(IPYBOX)
    return {
        **{
            name: McpServer(
                command=(sys.executable, "-I", "-m", "pisces", "mcp"), environ={**environ, **settings}, folder=folder
            )
            for name, settings in ours.items()
        },
        NOTHING: McpServer(command=(sys.executable, "-I", nothing), environ=environ, folder=folder),
        JUPYTER: McpServer(
            command=(str(lab / "jupyter-mcp-server"),),
            environ=_found_first(lab, environ),
            folder=folder,
            tool="execute_code",
            laboratory=lab / "jupyter",
        ),
        IPYBOX: McpServer(
            command=(str(box / "ipybox"), "--workspace", str(folder)),
            environ=_found_first(box, environ),
            folder=folder,
            tool="execute_ipython_cell",
        ),
    }


def why_not(server: McpServer) -> str | None:
    """Why a peer cannot be run, as far as that is seen without starting it."""
    missing = not Path(server.command[0]).exists()
    return f"there is no {Path(server.command[0]).name} in its environment, {_made_by(server)}" if missing else None


def versions(name: str) -> str:
    """The versions of a peer and of the SDK that it is built on."""
    packages = _PACKAGES[name]
    code = f"from importlib.metadata import version; print(', '.join(f'{{n}} {{version(n)}}' for n in {packages!r}))"
    interpreter = _programs(name) / "python"
    done = subprocess.run([interpreter, "-c", code], capture_output=True, encoding="utf-8", timeout=60, check=True)
    return done.stdout.strip().replace(", mcp", " on mcp")


def _programs(name: str) -> Path:
    return ROOT / ".envs" / _ENVIRONMENTS[name] / "bin"


def _made_by(server: McpServer) -> str:
    environment = Path(server.command[0]).parents[1].name
    return (
        f"which `scripts/make_environment.py .envs/{environment} --requirements requirements/{environment}.txt` makes"
    )


def _found_first(programs: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """As in an environment that was activated: what these programs start, they look for in PATH."""
    return {**environ, "PATH": f"{programs}:{environ.get('PATH', '')}"}
