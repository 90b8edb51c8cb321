"""The addresses of resources: which thing is meant, and which part of it."""

from typing import Final, Literal
from urllib.parse import quote, unquote

import msgspec
from msgspec.structs import replace

from pisces.errors import ArtifactError, InvalidCall
from pisces.output.artifact_text import LineRange
from pisces.output.artifacts import parse_lines, parse_uri

SessionPart = Literal["notebook.ipynb", "variables"]
SESSION_PARTS: Final[tuple[SessionPart, ...]] = ("notebook.ipynb", "variables")
ARTIFACT_TEMPLATE: Final = "artifact://{id}{?lines,search,from}"
SESSION_TEMPLATE: Final = "session://{{id}}/{part}{{?kernel,from}}"

_ARTIFACT: Final = "artifact"
_SESSION: Final = "session"
_SHOWN: Final = 200
"""Characters of an address that an error repeats."""


class NoSuchResource(InvalidCall):
    """An address that names nothing, and never will."""


class ArtifactAddress(msgspec.Struct, frozen=True):
    """An artifact, or some of it."""

    id: str
    lines: LineRange | None = None
    search: str | None = None
    start: int = 0
    """Bytes of the part that is meant which have been read already."""

    def following(self, start: int) -> str:
        """The address of what comes after so many bytes."""
        return str(replace(self, start=start))

    def __str__(self) -> str:
        lines = None if self.lines is None else str(self.lines)
        return f"artifact://{self.id}{_query(lines=lines, search=self.search, start=self.start)}"


class SessionAddress(msgspec.Struct, frozen=True):
    """What can be read of a session."""

    session: str
    part: SessionPart
    kernel: str | None = None
    start: int = 0

    def following(self, start: int) -> str:
        """The address of what comes after so many bytes."""
        return str(replace(self, start=start))

    def __str__(self) -> str:
        return f"session://{_quoted(self.session)}/{self.part}{_query(kernel=self.kernel, start=self.start)}"


Address = ArtifactAddress | SessionAddress


def parse_address(uri: str) -> Address:
    """Understand the address of a resource. Raises `NoSuchResource`, and `InvalidCall` for a part that is misspelt."""
    scheme, separator, rest = uri.partition("://")
    place, _, query = rest.partition("?")
    place = place.rstrip("/")
    if separator and scheme == _ARTIFACT:
        return _artifact(place, _parameters(query, ("lines", "search", "from")))
    session, _, part = place.partition("/")
    if separator and scheme == _SESSION and session and part in SESSION_PARTS:
        given = _parameters(query, ("kernel", "from"))
        return SessionAddress(_decoded(session), part, given.get("kernel"), _start(given))
    templates = [ARTIFACT_TEMPLATE, *(SESSION_TEMPLATE.format(part=part) for part in SESSION_PARTS)]
    raise NoSuchResource(f"There is no resource {uri[:_SHOWN]!r}", hint=f"Resources: {', '.join(templates)}.")


def _artifact(place: str, given: dict[str, str]) -> ArtifactAddress:
    try:
        ref = parse_uri(f"artifact://{_decoded(place)[:_SHOWN]}")
        lines = parse_lines(given["lines"]) if given.get("lines") else ref.lines
    except ArtifactError as error:
        raise InvalidCall(str(error), hint=error.hint) from None
    return ArtifactAddress(ref.id, lines, given.get("search") or None, _start(given))


def _parameters(query: str, known: tuple[str, ...]) -> dict[str, str]:
    """The parameters of an address. A plus sign stays one: these are addresses, not forms."""
    given: dict[str, str] = {}
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        if name not in known:
            raise InvalidCall(f"Unknown parameter {name[:_SHOWN]!r} of an address. Known: {', '.join(known)}")
        given[name] = _decoded(value)
    return given


def _start(given: dict[str, str]) -> int:
    start = given.get("from") or "0"
    if not (start.isascii() and start.isdecimal() and len(start) <= 18):
        raise InvalidCall(f"Wrong value of `from` in an address: a number of bytes expected, got {start[:_SHOWN]!r}")
    return int(start)


def _decoded(text: str) -> str:
    return unquote(text, errors="replace")


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _query(*, start: int, **given: str | None) -> str:
    parts = [f"{name}={_quoted(value)}" for name, value in given.items() if value is not None]
    parts += [f"from={start}"] if start else []
    return f"?{'&'.join(parts)}" if parts else ""
