"""What a result has no room for is kept as artifacts, and the result says where."""

import base64
import binascii
from typing import Final

import anyio
import msgspec

from pisces.model.mime import JPEG, PNG
from pisces.output.artifacts import ArtifactStore

_EXTENSIONS: Final = {PNG: "png", JPEG: "jpg"}


class Kept(msgspec.Struct, frozen=True):
    """Something that was to be kept."""

    id: str = ""
    folder: str = ""
    trouble: str = ""
    """Why it could not be kept; empty if it was."""


class Keeping:
    """Keeps what the results of one server have no room for."""

    def __init__(self, artifacts: ArtifactStore, read_with: str) -> None:
        """`read_with` is the way to an artifact that clients have, with `{id}` for its id."""
        self._artifacts = artifacts
        self._read_with = read_with

    async def text(self, session: str, tool: str, text: str, extension: str = "log") -> Kept:
        """Keep a text."""
        return await self._keep(session, tool, text.encode("utf-8", "replace"), extension)

    async def picture(self, session: str, tool: str, data: str, mime_type: str) -> Kept:
        """Keep a picture, given as base64."""
        try:
            raw = base64.b64decode(data)
        except (binascii.Error, ValueError) as error:
            return Kept(trouble=f"its base64 is broken ({error})")
        return await self._keep(session, tool, raw, _EXTENSIONS.get(mime_type, "bin"))

    def way_to(self, kept: Kept) -> str:
        """A sentence, without its end, that says how to get at what was kept."""
        return f"It could not be kept: {kept.trouble}" if kept.trouble else self._read_with.format(id=kept.id)

    async def _keep(self, session: str, tool: str, data: bytes, extension: str) -> Kept:
        def write() -> Kept:
            try:
                number = self._artifacts.add_bytes(session or "mcp", tool or "mcp", data, extension=extension)
            except OSError as error:
                return Kept(trouble=error.strerror or str(error))
            return Kept(number, str(self._artifacts.path(number).parent))

        return await anyio.to_thread.run_sync(write)
