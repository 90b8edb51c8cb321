"""What the schema of nbformat 4.5 allows: the members of each kind of cell and output, and the values they may have."""

import re
from collections.abc import Callable
from typing import Any, Final

Check = Callable[[Any], bool]

_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
JSON_TYPE: Final = re.compile(r"application/(.*\+)?json")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_count(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def is_texts(value: Any) -> bool:
    """Whether it is a list of lines."""
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(".+", value) is not None


def _is_tags(value: Any) -> bool:
    return is_texts(value) and len(set(value)) == len(value) and all(tag and "," not in tag for tag in value)


def _is_scrolled(value: Any) -> bool:
    return isinstance(value, bool) or value == "auto"


def _is_times(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(time, str) for time in value.values())


def _is_kernelspec(value: Any) -> bool:
    return isinstance(value, dict) and _is_text(value.get("name")) and _is_text(value.get("display_name"))


def _is_language_info(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_text(value.get("name")):
        return False
    texts = ("file_extension", "mimetype", "pygments_lexer")
    return isinstance(value.get("codemirror_mode", ""), str | dict) and all(
        _is_text(value.get(key, "")) for key in texts
    )


def _is_attachments(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(bundle, dict) and all(fits_type(mime, data) for mime, data in bundle.items())
        for bundle in value.values()
    )


def fits_type(mime: str, value: Any) -> bool:
    """Whether a bundle may have this value of this type: JSON may be anything, all else is text."""
    return isinstance(value, str) or is_texts(value) or JSON_TYPE.fullmatch(mime) is not None


_ANY_CELL: Final[dict[str, Check]] = {"jupyter": _is_object, "name": _is_name, "tags": _is_tags}
METADATA: Final[dict[str, dict[str, Check]]] = {
    "notebook": {
        "kernelspec": _is_kernelspec,
        "language_info": _is_language_info,
        "title": _is_text,
        "authors": _is_list,
    },
    "code": {**_ANY_CELL, "collapsed": _is_bool, "scrolled": _is_scrolled, "execution": _is_times},
    "markdown": _ANY_CELL,
    "raw": {**_ANY_CELL, "format": _is_text},
}
"""The metadata whose values are not free."""
_TEXT_CELL: Final[dict[str, tuple[Check, Any]]] = {"metadata": (_is_object, {}), "source": (_is_text, "")}
MUST: Final[dict[str, dict[str, tuple[Check, Any]]]] = {
    "code": {**_TEXT_CELL, "outputs": (_is_list, []), "execution_count": (_is_count, None)},
    "markdown": _TEXT_CELL,
    "raw": _TEXT_CELL,
    "stream": {"name": (_is_text, "stdout"), "text": (_is_text, "")},
    "error": {"ename": (_is_text, ""), "evalue": (_is_text, ""), "traceback": (is_texts, [])},
    "display_data": {"data": (_is_object, {}), "metadata": (_is_object, {})},
    "execute_result": {"data": (_is_object, {}), "metadata": (_is_object, {}), "execution_count": (_is_count, None)},
}
"""What each kind of cell and output must have, and what it has where that is missing."""
MAY: Final[dict[str, dict[str, Check]]] = {
    "code": {"id": _is_id},
    "markdown": {"id": _is_id, "attachments": _is_attachments},
    "raw": {"id": _is_id, "attachments": _is_attachments},
}
"""What each kind of cell may have besides."""
CELLS: Final = frozenset({"code", "markdown", "raw"})
OUTPUTS: Final = frozenset({"stream", "error", "display_data", "execute_result"})
