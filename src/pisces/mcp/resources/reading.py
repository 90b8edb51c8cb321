"""Resources: whole outputs, and sessions as notebooks and lists of variables, in pages that a client can hold.

Above is `server`. Everything here can be had with the `session` tool too: many models cannot read resources.
"""

import base64
from pathlib import Path
from typing import Final

import msgspec
from anyio import to_thread
from mcp_types import BlobResourceContents, TextResourceContents

from pisces.errors import ArtifactError, InvalidCall, NoSuchSession, PiscesError, SessionError
from pisces.journal.export import notebook_file
from pisces.kernels.base import Inspecting
from pisces.kernels.deadline import Deadline
from pisces.mcp.resources.pages import Page, page_of_data, page_of_file, page_of_lines
from pisces.mcp.resources.uris import Address, ArtifactAddress, NoSuchResource, SessionAddress, parse_address
from pisces.mcp.results.limits import BLOB_BYTES, PAGE_BYTES
from pisces.output.notice import format_size
from pisces.runtime import Runtime
from pisces.sessions.session import Session
from pisces.sessions.variables import VariableList
from pisces.tools.session_lookup import find_past_session, find_session

TEXT: Final = "text/plain"
NOTEBOOK: Final = "application/x-ipynb+json"
JSON: Final = "application/json"
MIME_TYPES: Final = {".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml", ".json": JSON, ".log": TEXT}
_BLOBS: Final = frozenset({".png", ".jpg", ".svg", ".bin"})
_PATIENCE: Final = 2.0
"""Seconds that a kernel has to say what variables there are: then it is what is known without it."""

Contents = TextResourceContents | BlobResourceContents


class Resources:
    """Reads the resources of a runtime that has been entered."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def read(self, uri: str, owner: str) -> Contents:
        """What an address names, or the first page of it.

        Raises `NoSuchResource`, and another `PiscesError` for what is there and cannot be read like that.
        """
        address = parse_address(uri)
        if isinstance(address, ArtifactAddress):
            if address.search is not None:
                return await self._matches(address, address.search, uri)
            return await to_thread.run_sync(self._artifact, address, uri)
        if address.part == "variables":
            data = await self._variables(address, owner)
            return _text(uri, JSON, page_of_data(data, address.start, PAGE_BYTES), address)
        data = await self._notebook(address, owner)
        besides = "; the session tool writes it to a file with action export"
        return _text(uri, NOTEBOOK, page_of_data(data, address.start, PAGE_BYTES), address, besides)

    def _artifact(self, address: ArtifactAddress, uri: str) -> Contents:
        path = self._path(address)
        by_part = address.lines is not None or address.start
        if path.suffix in _BLOBS and not by_part:
            return _blob(path, address.id, uri)
        mime_type = TEXT if by_part else MIME_TYPES.get(path.suffix, TEXT)
        return _text(uri, mime_type, _page_of_artifact(path, address), address)

    async def _matches(self, address: ArtifactAddress, pattern: str, uri: str) -> Contents:
        self._path(address)
        found = await self._runtime.artifacts.search(address.id, pattern, lines=address.lines)
        page = page_of_data(found.encode("utf-8", "replace"), address.start, PAGE_BYTES)
        return _text(uri, TEXT, page, address)

    def _path(self, address: ArtifactAddress) -> Path:
        try:
            return self._runtime.artifacts.path(address.id)
        except ArtifactError as error:
            raise NoSuchResource(str(error)) from None

    async def _variables(self, address: SessionAddress, owner: str) -> bytes:
        session = _found(self._runtime, address, owner)
        found = await _listed(session)
        lines = b",\n  ".join(msgspec.json.encode(variable) for variable in found.variables)
        head = msgspec.json.encode(
            {"session": session.key.id, "as_of_last_cell": not found.current, "complete": found.complete}
        )
        listed = b"[\n  " + lines + b"\n]" if lines else b"[]"
        return head[:-1] + b',"variables":' + listed + b"}\n"

    async def _notebook(self, address: SessionAddress, owner: str) -> bytes:
        try:
            session = _found(self._runtime, address, owner)
        except NoSuchResource:
            services = self._runtime.services
            past = await to_thread.run_sync(find_past_session, services, address.session, address.kernel)
            if past is None:
                raise
            return await to_thread.run_sync(notebook_file, past.path)
        journal = session.journal
        if journal.path is None:
            raise SessionError(f"What happens in session {session.key.id!r} is not written down: there is no notebook")
        journal.begin()
        journal.flush()
        return await to_thread.run_sync(notebook_file, journal.path)


def _found(runtime: Runtime, address: SessionAddress, owner: str) -> Session:
    try:
        return find_session(runtime.services, owner, address.session, address.kernel)
    except NoSuchSession as error:
        raise NoSuchResource(str(error), hint=error.hint) from None


async def _listed(session: Session) -> VariableList:
    """What the kernel says if it is there and free; a dead one is left for the next call to see to, and to tell of."""
    known, kernel, used = session.state.names.listed(), session.kernel, session.last_used
    if not isinstance(kernel, Inspecting) or not session.enter_turn_at_once():
        return known
    try:
        return VariableList(await kernel.variables(Deadline.after(_PATIENCE)))
    except PiscesError:
        return known
    finally:
        session.leave_turn()
        session.last_used = used  # A client that looks every second keeps no session from being idle.


def _page_of_artifact(path: Path, address: ArtifactAddress) -> Page:
    if address.lines is not None:
        return page_of_lines(path, address.id, address.lines, address.start, PAGE_BYTES)
    return page_of_file(path, address.start, PAGE_BYTES)


def _text(uri: str, mime_type: str, page: Page, address: Address, besides: str = "") -> TextResourceContents:
    """A page as text; some of a JSON text is none."""
    kind = mime_type if page.whole else TEXT
    return TextResourceContents(uri=uri, mime_type=kind, text=page.text(address.following, besides))


def _blob(path: Path, number: str, uri: str) -> BlobResourceContents:
    size = path.stat().st_size
    if size > BLOB_BYTES:
        raise InvalidCall(
            f"Artifact {number} is {format_size(size)}, more than the {format_size(BLOB_BYTES)} that are sent at once.",
            hint=f"Its file is {path}. The session tool shows pictures scaled down: action output, id {number}.",
        )
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return BlobResourceContents(uri=uri, mime_type=MIME_TYPES.get(path.suffix, "application/octet-stream"), blob=data)
