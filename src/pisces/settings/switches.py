"""The plain `PI_` variables, which are in no settings file: switches, and where an external gateway is."""

from collections.abc import Mapping
from typing import Final

import msgspec

_OFF: Final = frozenset({"", "0", "false", "no", "off"})


class Switches(msgspec.Struct, frozen=True):
    """What the environment turns on for this process."""

    skip_check: bool = False
    """`PI_PYTHON_SKIP_CHECK`: take the first interpreter that is there, without asking whether it works."""
    ipc_trace: bool = False
    """`PI_PYTHON_IPC_TRACE`: write every frame and message to the log, secrets masked."""
    debug_startup: bool = False
    """`PI_DEBUG_STARTUP`: tell the stages of the start, with times, on standard error."""
    debug: bool = False
    """`PI_DEBUG`: show the traceback of an error of ours."""
    gateway_url: str = ""
    """`PI_PYTHON_GATEWAY_URL`: the address of an external gateway."""
    gateway_token: str = ""
    """`PI_PYTHON_GATEWAY_TOKEN`: what it wants to see."""


def read_switches(environ: Mapping[str, str]) -> Switches:
    """Read the switches. Any value turns one on but the empty one, `0`, `false`, `no` and `off`."""

    def is_on(name: str) -> bool:
        return environ.get(name, "").strip().lower() not in _OFF

    return Switches(
        skip_check=is_on("PI_PYTHON_SKIP_CHECK"),
        ipc_trace=is_on("PI_PYTHON_IPC_TRACE"),
        debug_startup=is_on("PI_DEBUG_STARTUP"),
        debug=is_on("PI_DEBUG"),
        gateway_url=environ.get("PI_PYTHON_GATEWAY_URL", "").strip(),
        gateway_token=environ.get("PI_PYTHON_GATEWAY_TOKEN", "").strip(),
    )
