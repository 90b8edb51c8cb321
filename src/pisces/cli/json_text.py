"""What a command prints with `--json`."""

import json
from typing import Any

import msgspec


def json_line(value: Any) -> str:
    """A value as JSON on one line, whatever text is in it: names of files and cells of others need not be Unicode."""
    try:
        return msgspec.json.encode(value).decode("utf-8") + "\n"
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
    # Half a pair of surrogates has no UTF-8, but it has an escape, which is the same in Python and in JSON.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"
