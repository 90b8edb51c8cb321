"""What a tool is, and what a call of one gets to work with."""

from collections.abc import Callable, Collection, Container, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
import msgspec

from pisces.bridge.lease import Lease
from pisces.bridge.server import Bridge
from pisces.environment.lookup import InterpreterLookup
from pisces.files.seen import SeenFiles
from pisces.kernels.registry import BackendChoice, Backends
from pisces.model.results import TextBlock, ToolResult
from pisces.output.artifacts import ArtifactStore
from pisces.sessions.jobs import Jobs
from pisces.sessions.pool import SessionPool
from pisces.sessions.progress import OnOutput, OnUpdate
from pisces.settings.paths import Paths
from pisces.settings.schema import Settings
from pisces.tools.bash_commands import Commands

DEFAULT_SESSION: Final = "default"
"""The session of a call that names none."""
NEED_NO_KERNEL: Final = ("bash", "read", "write", "edit")
"""The tools that work where Python cannot be used."""
_LONGEST_ATTENDED: Final = 7 * 86_400.0
"""Seconds that may be asked for by somebody who sees the call run: the most that `python.maxTimeout` can be."""


class Services(msgspec.Struct, frozen=True):
    """What the runtime lends to its tools."""

    settings: Settings
    cwd: str
    pool: SessionPool
    artifacts: ArtifactStore
    interpreters: InterpreterLookup
    jobs: Jobs
    backends: Backends
    backend_choice: BackendChoice
    environ: Mapping[str, str]
    """The environment of whoever calls, not filtered: where Jupyter's paths are named."""
    journals: Path
    """The folder of what happened in each session, those of the past included."""
    paths: Paths
    """Where Pisces keeps what it keeps."""
    seen: SeenFiles
    """Which version of each file its readers know."""
    commands: Commands
    """Commands of the shell that run, and what they have left."""
    bridge: Bridge | None = None
    """Over which cells call tools."""
    functions: "Mapping[str, Tool]" = {}
    """The tools that the program brings which embeds us."""
    for_cells: "Mapping[str, Tool]" = {}
    """What only cells can call: the program's model."""


class CallContext(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, and how they want to hear of it."""

    owner: str = "runtime"
    caller: str = ""
    """Which of the owner's agents or clients calls, by an id; empty where that is not known."""
    default_session: str = DEFAULT_SESSION
    """The session that this caller means when it names none."""
    on_update: OnUpdate | None = None
    """Hears how things stand, every now and then."""
    on_output: OnOutput | None = None
    """Gets the output itself, every character once and in order, while the cells run."""
    abort: anyio.Event | None = None
    """Set it to stop the call; the result then says `interrupted`."""
    unread: Callable[[], bool] | None = None
    """Says, when the cells have run, that nobody will read the result: the next call says what became of the state."""
    max_text: int | None = None
    """How many bytes of text, in JSON, this caller takes of one result, where that is less than a result may have."""
    read_with: str = "Read artifact://{id}"
    """The way to an artifact that this caller has, for the notice under a cut output."""
    tools: Collection[str] = ()
    """The tools that this caller has, for the refusal of a call whose kernel cannot be had; empty where unknown."""
    keep_going: bool = False
    """Run the cells after a failed one too."""
    durable: bool = False
    """Whether the session is to outlive this process, where its kernel can."""
    lasting: bool = True
    """Whether anything can be called after this call; False where the runtime ends with it, and would end a job."""
    callers: tuple[Lease, ...] = ()
    """The cells that wait for this call, outermost first, where it comes from a cell."""
    announce_new: bool = True
    """Whether the first result of a new session says that it is new: its name may be mistyped."""
    attended: bool = False
    """Whether a person sees it run and can stop it: then no setting limits the time that it may ask for."""

    @property
    def reader(self) -> str:
        """Who has seen what of a file: each agent knows only what it has read itself."""
        return f"{self.owner} {self.caller}".rstrip()

    def longest(self, usual: float) -> float:
        """The most seconds that this call may ask for, where `usual` is the limit for others."""
        return max(usual, _LONGEST_ATTENDED) if self.attended else usual


class Tool(Protocol):
    """One thing that can be called by name."""

    @property
    def name(self) -> str:
        """The name it is called by."""
        ...

    @property
    def description(self) -> str:
        """What a model reads before it uses the tool."""
        ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its parameters."""
        ...

    async def call(self, params: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Run it. Raises `InvalidCall` for wrong parameters, before anything is done."""
        ...


def way_to_artifacts(tools: Container[str]) -> str:
    """The way to a whole output that a caller with these tools has, with `{id}` for the artifact's id."""
    ways = {
        "read": CallContext().read_with,
        "session": 'Use the session tool with action "output" and id {id}',
        "python": "Use output({id}) in a cell",
    }
    return next((way for tool, way in ways.items() if tool in tools), "Run `pisces artifact {id}`")


def tools_without_kernel(tools: Collection[str]) -> str:
    """A sentence with those of the tools that work without a kernel; empty where none does."""
    named = ["notebook (to read and edit)"] if "notebook" in tools else []
    named += [name for name in NEED_NO_KERNEL if name in tools]
    return f"Tools that need no kernel: {', '.join(named)}." if named else ""


def error_result(message: str) -> ToolResult:
    """The result of a call that was refused, or could not be carried out."""
    return ToolResult(content=[TextBlock(f"Error: {message}")], is_error=True)
