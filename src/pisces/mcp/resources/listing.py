"""The lists of resources that a client gets, in pages."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from mcp_types import ListResourcesResult, ListResourceTemplatesResult, Resource, ResourceTemplate

from pisces.errors import InvalidCall
from pisces.mcp.resources.reading import JSON, MIME_TYPES, NOTEBOOK
from pisces.mcp.resources.uris import ARTIFACT_TEMPLATE, SESSION_TEMPLATE, ArtifactAddress, SessionAddress
from pisces.mcp.results.bounded_data import storable
from pisces.output.artifact_file import state_of
from pisces.output.artifacts import ArtifactStore, id_of

PAGE: Final = 50
"""Sessions and artifacts on one page."""
_SESSION: Final = "session "
_ARTIFACT: Final = "artifact "


def listed_templates() -> ListResourceTemplatesResult:
    """What addresses there can be."""
    return ListResourceTemplatesResult(
        resource_templates=[
            ResourceTemplate(
                name="artifact",
                uri_template=ARTIFACT_TEMPLATE,
                description="A whole output, in pages; lines is 100-200, 100- or 100, search a regular expression.",
            ),
            ResourceTemplate(
                name="notebook",
                uri_template=SESSION_TEMPLATE.format(part="notebook.ipynb"),
                description="The cells that lead to the present state of a session, with their outputs.",
                mime_type=NOTEBOOK,
            ),
            ResourceTemplate(
                name="variables",
                uri_template=SESSION_TEMPLATE.format(part="variables"),
                description="The names in a session, with types and sizes.",
                mime_type=JSON,
            ),
        ]
    )


def listed_resources(sessions: set[str], artifacts: ArtifactStore, cursor: str | None) -> ListResourcesResult:
    """A page of the sessions, then of the artifacts, the newest first. Raises `InvalidCall` for a bad cursor."""
    entries = _entries(sessions, artifacts, cursor)
    page = list(islice(entries, PAGE))
    more = next(entries, None) is not None
    return ListResourcesResult(
        resources=[resource for _, resources in page for resource in resources],
        next_cursor=storable(page[-1][0]) if more else None,
    )


def _entries(sessions: set[str], artifacts: ArtifactStore, cursor: str | None) -> Iterator[tuple[str, list[Resource]]]:
    """Each with the cursor of what comes after it."""
    if cursor is not None and not cursor.startswith((_SESSION, _ARTIFACT)):
        raise InvalidCall(f"Not a cursor of this list: {cursor[:80]!r}")
    if cursor is None or cursor.startswith(_SESSION):
        after = None if cursor is None else cursor.removeprefix(_SESSION)
        for name in sorted(sessions):
            if after is None or name > after:
                yield _SESSION + name, _of_session(name)
    before = None
    if cursor is not None and cursor.startswith(_ARTIFACT):
        number = cursor.removeprefix(_ARTIFACT)
        if not (number.isascii() and number.isdecimal() and len(number) <= 18):
            raise InvalidCall(f"Not a cursor of this list: {cursor[:80]!r}")
        before = int(number)
    for file in artifacts.files():
        if before is None or id_of(file) < before:
            yield f"{_ARTIFACT}{id_of(file)}", _of_artifact(file)


def _of_session(session: str) -> list[Resource]:
    name = storable(session)
    return [
        Resource(
            name=f"{name}/notebook.ipynb",
            uri=str(SessionAddress(name, "notebook.ipynb")),
            description=f"Session {name!r} as a notebook.",
            mime_type=NOTEBOOK,
        ),
        Resource(
            name=f"{name}/variables",
            uri=str(SessionAddress(name, "variables")),
            description=f"The variables of session {name!r}.",
            mime_type=JSON,
        ),
    ]


def _of_artifact(file: Path) -> list[Resource]:
    number, tool = str(id_of(file)), file.name.split(".")[1]
    try:
        size = state_of(file).size
    except FileNotFoundError:  # It was deleted just now.
        return []
    return [
        Resource(
            name=file.name,
            uri=str(ArtifactAddress(number)),
            title=f"Artifact {number}",
            description=f"Output of {tool} in session {file.parent.name}.",
            mime_type=MIME_TYPES.get(file.suffix),
            size=size,
        )
    ]
