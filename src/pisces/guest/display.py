"""What an object looks like: its MIME bundle, and `display()` for the user.

`_repr_mimebundle_` comes first, the `_repr_*_` methods fill in what it left out, and the text is always there. A
method that raises is named on stderr and left out: it never breaks the cell.
"""

from __future__ import annotations

import builtins
import sys

from .json_safe import json_safe, safe_text
from .pretty import pretty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .shell_contract import Channel

__all__ = ["DisplayHandle", "bundle_of", "clear_output", "display", "install", "json_safe", "show_on", "update_display"]

_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), range})
_CONTAINERS = frozenset({dict, list, tuple, set, frozenset})
_SHOWN_AS_JSON = frozenset({dict, list, tuple})
_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_pdf_", "application/pdf"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
    ("_repr_javascript_", "application/javascript"),
)
_channels: list[Channel] = []


def show_on(channel: Channel) -> None:
    """Send what is displayed to this channel from now on."""
    _channels[:] = [channel]


def install() -> None:
    """Give `display` and its companions to all code, as builtins."""
    for function in (display, update_display, clear_output):
        setattr(builtins, function.__name__, function)


def bundle_of(
    value: Any, *, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The MIME bundle of any object and its metadata, both safe for strict JSON."""
    data: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    kind = type(value)
    if kind not in _ATOMS and kind not in _CONTAINERS and not isinstance(value, type):
        _add_rich(value, data, metadata)
    if "text/plain" not in data:
        data["text/plain"] = _plain(value)
    if include is not None:
        wanted = _as_set(include)
        data = {mime: item for mime, item in data.items() if mime in wanted}
    if exclude is not None:
        unwanted = _as_set(exclude)
        data = {mime: item for mime, item in data.items() if mime not in unwanted}
    return {mime: _encoded(mime, item) for mime, item in data.items()}, json_safe(metadata) if metadata else metadata


def display(
    *objects: Any,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    metadata: dict[str, Any] | None = None,
    transient: dict[str, Any] | None = None,
    display_id: str | bool | None = None,
    raw: bool = False,
    clear: bool = False,
    **options: Any,
) -> DisplayHandle | None:
    """Show objects, each in the richest forms that it has; a plain dict, list or tuple also as JSON.

    With `raw` the objects are MIME bundles themselves. `display_id=True` makes an id (a text is taken as it is), and
    the handle that comes back can `update` what was shown. `clear` takes back the cell's output first.
    """
    update = bool(options.pop("update", False))
    if options:
        raise TypeError(f"display() got an unexpected keyword argument {next(iter(options))!r}")
    if transient and display_id is None:
        display_id = transient.get("display_id")
    if update and not display_id:
        raise TypeError("display_id is required to update a display")
    identity = _new_id() if display_id is True else display_id or None
    if clear:
        clear_output(wait=True)
    for value in objects:
        data, extra = _raw(value) if raw else _shown(value, include, exclude)
        if data:
            merged = json_safe({**extra, **metadata}) if metadata else extra
            _channels[0].display(data, merged, identity, update)
    return DisplayHandle(identity) if identity else None


def update_display(value: Any, *, display_id: str, **options: Any) -> None:
    """Show `value` in place of what was displayed under `display_id`."""
    display(value, display_id=display_id, update=True, **options)


def clear_output(wait: bool = False) -> None:
    """Take back what the cell has shown so far; with `wait`, only when there is something new to show."""
    _channels[0].clear_output(bool(wait))


class DisplayHandle:
    """Something shown under an id: show more under it, or replace it."""

    def __init__(self, display_id: str | None = None) -> None:
        self.display_id = _new_id() if display_id is None else display_id

    def display(self, value: Any, **options: Any) -> None:
        """Show a new display under the same id."""
        display(value, display_id=self.display_id, **options)

    def update(self, value: Any, **options: Any) -> None:
        """Replace every display under this id."""
        update_display(value, display_id=self.display_id, **options)

    def __repr__(self) -> str:
        return f"<DisplayHandle display_id={self.display_id}>"


def _shown(
    value: Any, include: Iterable[str] | None, exclude: Iterable[str] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    wanted = None if include is None else {*_as_set(include), "text/plain"}
    unwanted = _as_set(exclude or ())
    data, metadata = bundle_of(value, include=wanted, exclude=unwanted)
    mime = "application/json"
    if type(value) in _SHOWN_AS_JSON and mime not in unwanted and (wanted is None or mime in wanted):
        data[mime] = json_safe(value)
    return data, metadata


def _as_set(mimes: Iterable[str]) -> set[str]:
    return {mimes} if isinstance(mimes, str) else set(mimes)


def _raw(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise TypeError(f"display(raw=True) takes MIME bundles: dicts from MIME type to data, not {kind}")
    return {safe_text(str(mime)): _encoded(str(mime), item) for mime, item in value.items()}, {}


def _add_rich(value: Any, data: dict[str, Any], metadata: dict[str, Any]) -> None:
    if _answers_to_any_name(value):
        return
    bundle = _ask(value, "_repr_mimebundle_", include=None, exclude=None)
    if bundle is not None:
        more, extra = bundle if isinstance(bundle, tuple) and len(bundle) == 2 else (bundle, None)
        if isinstance(more, dict):
            data.update((str(mime), item) for mime, item in more.items())
        if isinstance(extra, dict):
            metadata.update(extra)
    for method, mime in _METHODS:
        if mime in data:
            continue
        answer = _ask(value, method)
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict):
            answer, metadata[mime] = answer
        if answer is not None:
            data[mime] = answer
    _add_figure(value, data)


def _answers_to_any_name(value: Any) -> bool:
    """Proxies and mocks have every attribute: their `_repr_*_` methods are not meant."""
    try:
        return hasattr(value, "_pisces_no_object_has_this_")
    except Exception:  # It has code of its own for names, and that failed.
        return True


def _add_figure(value: Any, data: dict[str, Any]) -> None:
    """A matplotlib figure has no `_repr_png_` of its own."""
    if "matplotlib.figure" not in sys.modules or "image/png" in data:
        return
    from . import figures

    try:
        data.update(figures.bundle_if_figure(value))
    except Exception as failure:  # Drawing runs code of the user's.
        _note(value, "savefig", failure)


def _ask(value: Any, method: str, **arguments: Any) -> Any:
    """What the method answers; None where there is none, or where it failed."""
    try:
        function = getattr(value, method, None)
        return function(**arguments) if callable(function) else None
    except NotImplementedError:  # How a class says that it has no such representation.
        return None
    except Exception as failure:  # code of the user: the display goes on without it
        _note(value, method, failure)
        return None


def _plain(value: Any) -> str:
    try:
        return pretty(value)
    except Exception as failure:  # the same
        _note(value, "__repr__", failure)
        return f"<{type(value).__name__} object at {id(value):#x}>"


def _note(value: Any, method: str, failure: Exception) -> None:
    from .tracebacks import describe

    ename, evalue, _ = describe(failure)
    sys.stderr.write(f"{type(value).__name__}.{method} raised {ename}: {evalue}\n")


def _encoded(mime: str, item: Any) -> Any:
    if isinstance(item, str):
        return safe_text(item)
    if isinstance(item, (bytes, bytearray, memoryview)):
        from binascii import b2a_base64

        return b2a_base64(item, newline=False).decode("ascii")
    return json_safe(item) if mime.endswith("json") or not isinstance(item, (list, tuple)) else _joined(item)


def _joined(lines: Any) -> Any:
    """Text may come as a list of lines, as in notebook files."""
    return safe_text("".join(lines)) if all(isinstance(line, str) for line in lines) else json_safe(lines)


def _new_id() -> str:
    import os

    return os.urandom(16).hex()
