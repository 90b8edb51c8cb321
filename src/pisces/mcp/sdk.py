"""Whether the SDK is there: it comes with the extra `pisces-runtime[mcp]`, which not everybody installs."""

import sys
from importlib.util import find_spec

from pisces.errors import PiscesError


def require_sdk() -> None:
    """Raises `PiscesError` that says how to get it, where there is none or one of before version 2. Loads nothing."""
    if find_spec("mcp_types") is None:
        raise PiscesError(
            "The MCP SDK is not in the environment of Pisces.",
            hint=f"Install it: {sys.executable} -m pip install 'mcp>=2.2,<3'",
        )
