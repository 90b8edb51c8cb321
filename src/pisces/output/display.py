"""What a MIME bundle has to show: its text, and besides the text its JSON, pictures and status."""

import json
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from pisces.model.events import Bundle, Status
from pisces.model.mime import JPEG, JSON, PNG, STATUS_ALIASES, SVG, TEXT_HTML, TEXT_MARKDOWN, TEXT_PLAIN
from pisces.output import images
from pisces.output.html import to_markdown
from pisces.output.sanitize import clean

_UNDERSTOOD = frozenset({TEXT_MARKDOWN, TEXT_PLAIN, TEXT_HTML, JSON, PNG, JPEG, SVG, *STATUS_ALIASES})


class Picture(msgspec.Struct, frozen=True):
    """A picture as it came, base64, with the size that its header gives."""

    mime_type: str
    data: str
    width: int
    height: int


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle, interpreted."""

    text: str = ""
    """Clean, ready for the sink; without a newline at its end."""
    is_markdown: bool = False
    json: Any | UnsetType = UNSET
    """The value to show as a tree. UNSET when there is none: null is a value too."""
    images: tuple[Picture, ...] = ()
    svg: str | None = None
    """To be kept as an artifact."""
    status: Status | None = None


def interpret(bundle: Bundle) -> Shown:
    """Take from a bundle all that can be shown.

    The text is its markdown, else its plain text, else its HTML as markdown. What is malformed never raises: the text
    says what it was, and the rest is still shown.
    """
    if len(bundle) == 1 and type(plain := bundle.get(TEXT_PLAIN)) is str:
        return Shown(text=clean(plain.removesuffix("\n")))  # By far the most common bundle.
    status_key = next((key for key in bundle if key in STATUS_ALIASES), None)
    if status_key is not None:
        return _status(status_key, bundle)
    notes: list[str] = []
    text, is_markdown = _text(bundle, notes)
    svg = _as_text(bundle.get(SVG), SVG, notes)
    pictures = _pictures(bundle, notes)
    if bundle and _UNDERSTOOD.isdisjoint(bundle):
        text = json.dumps(dict(bundle), ensure_ascii=False, default=str)
    return Shown(
        text=clean("\n".join(part for part in (text, *notes) if part)),
        is_markdown=is_markdown,
        json=bundle.get(JSON, UNSET),
        images=pictures,
        svg=svg,
    )


def _status(mime_type: str, bundle: Bundle) -> Shown:
    status = Status.from_bundle(bundle)
    if status is None:
        return Shown(text=clean(f'[{mime_type} cannot be shown: not an object with an "op"]'))
    return Shown(status=status)


def _text(bundle: Bundle, notes: list[str]) -> tuple[str, bool]:
    for mime_type in (TEXT_MARKDOWN, TEXT_PLAIN, TEXT_HTML):
        text = _as_text(bundle.get(mime_type), mime_type, notes)
        if text is None:
            continue
        if mime_type == TEXT_HTML:
            text = to_markdown(clean(text))
        return text.removesuffix("\n"), mime_type != TEXT_PLAIN
    return "", False


def _as_text(data: Any, mime_type: str, notes: list[str]) -> str | None:
    """Text, which may come as a list of lines as it does in notebooks; None if it is missing or is none."""
    if data is None or isinstance(data, str):
        return data
    if isinstance(data, list) and all(isinstance(line, str) for line in data):
        return "".join(data)
    notes.append(f"[{mime_type} cannot be shown: text expected, got {type(data).__name__}]")
    return None


def _pictures(bundle: Bundle, notes: list[str]) -> tuple[Picture, ...]:
    found = []
    for mime_type in (PNG, JPEG):
        data = _as_text(bundle.get(mime_type), mime_type, notes)
        if data is None:
            continue
        try:
            info = images.inspect(images.decode(data))
        except images.BrokenImage as error:
            notes.append(f"[{mime_type} cannot be shown: {error}]")
        else:
            encoded = "".join(data.split())
            found.append(Picture(mime_type=info.mime_type, data=encoded, width=info.width, height=info.height))
    return tuple(found)
