"""Every setting: its name, type, default, what it allows and one line of documentation.

A setting is one field here; the loader, the error messages and the listing are derived from it. The Python name is
snake_case, the name that users write is camelCase: `python.kernel_mode` is `python.kernelMode`. A field marked
`USER_ONLY` cannot be set by a project's file, because a cloned repository must not unlock secrets, run code, or delete
what belongs to other projects.
"""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

USER_ONLY: Final = {"user_only": True}

_DAY: Final = 86_400
_MIB: Final = 1024 * 1024

ModuleName = Annotated[
    str,
    Meta(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)*$", extra={"several": 'names of modules, such as ["numpy", "os.path"]'}),
]
"""The name of a Python module, with dots."""
VariableName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        extra={"several": 'names of environment variables, such as ["NAME", "OTHER"]'},
    ),
]
"""The name of an environment variable."""


class _Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A table of settings, with the documented names as its keys."""


class EnvSettings(_Group, frozen=True):
    """`python.env`: what kernels see of the environment."""

    allow: Annotated[
        tuple[VariableName, ...],
        Meta(description="Names of further environment variables that kernels may see.", extra=USER_ONLY),
    ] = ()


ToolMode = Literal["both", "ipy-only", "bash-only"]
"""Which tools that run code an agent gets."""


class ModulesSettings(_Group, frozen=True):
    """`python.modules`: files whose names are in every kernel."""

    strict: Annotated[
        bool,
        Meta(description="Start no kernel when an extension module fails, instead of one without it."),
    ] = False
    timeout: Annotated[
        float,
        Meta(ge=0.1, le=600, description="Seconds that an extension module may take to load."),
    ] = 10.0


class PythonSettings(_Group, frozen=True):
    """`python`: kernels and sessions."""

    tool_mode: Annotated[
        ToolMode,
        Meta(description="Offer agents Python and bash, only Python, or only bash."),
    ] = "both"
    kernel_mode: Annotated[
        Literal["session", "per-call"],
        Meta(description="Keep one kernel for the session, or use a fresh one for each call."),
    ] = "session"
    backend: Annotated[
        Literal["auto", "native", "gateway", "zmq"],
        Meta(
            description="Which kind of kernel runs the code; auto: an external gateway where one is named, else native."
        ),
    ] = "auto"
    shared_gateway: Annotated[
        bool,
        Meta(description="Let the gateway backend use the shared local gateway; without it, it needs an external one."),
    ] = True
    interpreter: Annotated[
        str,
        Meta(description="The Python to use, as a path or a command; empty to look for one.", extra=USER_ONLY),
    ] = ""
    preload: Annotated[
        tuple[ModuleName, ...],
        Meta(description="Modules to import once, before there is a session; all kernels share them.", extra=USER_ONLY),
    ] = ()
    max_sessions: Annotated[
        Literal["auto"] | Annotated[int, Meta(ge=1, le=1024)],
        Meta(description="How many kernels may be up at once, of each kind; auto is 32 native ones and 4 of Jupyter."),
    ] = "auto"
    idle_timeout: Annotated[
        float,
        Meta(ge=0.1, le=365 * _DAY, description="Seconds after which an idle kernel that nobody holds is ended."),
    ] = 300.0
    named_idle_timeout: Annotated[
        float,
        Meta(
            ge=1,
            le=365 * _DAY,
            description="Seconds after which an idle session of the background host is ended.",
            extra=USER_ONLY,
        ),
    ] = 86_400.0
    max_timeout: Annotated[
        float,
        Meta(ge=1, le=7 * _DAY, description="The longest timeout, in seconds, that a call may ask for."),
    ] = 600.0
    interrupt_grace: Annotated[
        float,
        Meta(ge=0.1, le=600, description="Seconds for an interrupted cell to settle before its kernel is killed."),
    ] = 5.0
    checkpoint: Annotated[
        Literal["auto", "always", "off"],
        Meta(description="Keep the state of after each cell where that is cheap, in any case, or never."),
    ] = "auto"
    checkpoint_max_mb: Annotated[
        int,
        Meta(
            ge=1, le=1024 * 1024, description="Resident memory of a kernel, in MiB, above which its state is not kept."
        ),
    ] = 4096
    retry_on_crash: Annotated[
        Literal["safe", "once", "never"],
        Meta(description="Run again after a crash: only code that had not begun, any code once, or nothing."),
    ] = "safe"
    variables: Annotated[
        bool,
        Meta(description="Say in each result which variables the call added, changed and removed."),
    ] = True
    auto_background_ms: Annotated[
        int,
        Meta(ge=0, le=_DAY * 1000, description="A call that runs longer goes on in the background; 0 for never."),
    ] = 0
    memory_limit_mb: Annotated[
        int,
        Meta(ge=0, le=1024 * 1024, description="The most MiB that a kernel and all it starts may use; 0 for no limit."),
    ] = 0
    env: EnvSettings = EnvSettings()
    modules: ModulesSettings = ModulesSettings()


class NotebookSettings(_Group, frozen=True):
    """`notebook`: what there is for notebooks."""

    enabled: Annotated[bool, Meta(description="Offer the notebook tool to agents.")] = True


class BridgeSettings(_Group, frozen=True):
    """`bridge`: how cells reach the tools of their host."""

    url: Annotated[
        str,
        Meta(
            pattern=r"^$|^https?://[^\s/?#@]+(/[^\s?#]*)?$",
            description="Where kernels on other machines reach the tools of the host; empty if they cannot.",
            extra=USER_ONLY | {"one": "an address such as http://host:8123, or nothing"},
        ),
    ] = ""
    port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description="The port of the loopback address for calls of tools; 0 for any.",
            extra=USER_ONLY,
        ),
    ] = 0


class OutputSettings(_Group, frozen=True):
    """`output`: how much of an output is shown, and how long the whole of it is kept."""

    max_bytes: Annotated[
        int,
        Meta(ge=1024, le=64 * _MIB, description="The most bytes of output that a result shows."),
    ] = 51_200
    max_lines: Annotated[
        int,
        Meta(ge=10, le=1_000_000, description="The most lines of output that a result shows."),
    ] = 3_000
    head_bytes: Annotated[
        int,
        Meta(ge=0, le=64 * _MIB, description="Of those bytes, how many show the beginning; the others show the end."),
    ] = 20_480
    keep_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Days after which a kept output is marked, to be deleted a day later.",
            extra=USER_ONLY,
        ),
    ] = 14
    artifact_limit_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1024 * 1024,
            description="The most MiB of one output that are kept, half of them its beginning; 0 for no limit.",
            extra=USER_ONLY,
        ),
    ] = 1_024
    folder_limit_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1024 * 1024,
            description="The most MiB that all kept outputs take before the oldest are deleted; 0 for no limit.",
            extra=USER_ONLY,
        ),
    ] = 10_240

    @property
    def head_budget(self) -> int:
        """How many bytes the beginning gets in fact: at most half, so that the end is always shown too."""
        return min(self.head_bytes, self.max_bytes // 2)


class Settings(_Group, frozen=True):
    """All settings, checked. `Settings()` has the defaults."""

    python: PythonSettings = PythonSettings()
    notebook: NotebookSettings = NotebookSettings()
    bridge: BridgeSettings = BridgeSettings()
    output: OutputSettings = OutputSettings()


class SettingInfo(msgspec.Struct, frozen=True):
    """One setting, as the loader and the documentation need it."""

    name: str
    """The dotted name that users write."""
    attributes: tuple[str, ...]
    """The way to the value from a `Settings`."""
    type: Any
    default: Any
    description: str
    user_only: bool

    def value_in(self, settings: Settings) -> Any:
        """The value that these settings have for it."""
        value: Any = settings
        for attribute in self.attributes:
            value = getattr(value, attribute)
        return value


def _walk(group: type[msgspec.Struct], prefix: str, attributes: tuple[str, ...]) -> list[SettingInfo]:
    found: list[SettingInfo] = []
    for field in msgspec.structs.fields(group):
        name = f"{prefix}{field.encode_name}"
        path = (*attributes, field.name)
        if isinstance(field.type, type) and issubclass(field.type, _Group):
            found += _walk(field.type, f"{name}.", path)
        else:
            meta: Meta = field.type.__metadata__[0]
            user_only = bool((meta.extra or {}).get("user_only"))
            found.append(SettingInfo(name, path, field.type, field.default, meta.description or "", user_only))
    return found


SETTINGS: Final[dict[str, SettingInfo]] = {info.name: info for info in _walk(Settings, "", ())}
"""Every setting by its dotted name, in the order of the schema."""

GROUPS: Final = frozenset(
    ".".join(parts[:depth]) for parts in (name.split(".") for name in SETTINGS) for depth in range(1, len(parts))
)
"""The names of the tables that hold settings: `python`, `python.env`, `python.modules`, `notebook`, `bridge`, `output`.
"""
