"""JSON with comments as people lay it out, and worse: values with a text of each, at random."""

import json
from typing import Any

from hypothesis import strategies as st

KEYS = st.sampled_from(["mcpServers", "pisces", "a", "b//c", 'q"', "/*", "ü"])
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 10),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from(["", "x", "// no comment", '{"a": 1}', "}", "\n\t", "é"]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
SERVERS = st.dictionaries(KEYS, VALUES, max_size=3)
"""What the servers of a client may be listed as."""
_GAPS = st.sampled_from(["", "", "", " ", "\n", "\r\n", "\t", "/* } */", " // ] , {\n", "//\r\n", "/*\n*/ ", "\n  "])


@st.composite
def laid_out(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> tuple[str, Any]:
    """A text, and the value that it holds."""
    value = draw(values)
    return draw(_GAPS) + _text(draw, value) + draw(_GAPS), value


def _text(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        members = [f"{json.dumps(key)}{draw(_GAPS)}:{draw(_GAPS)}{_text(draw, each)}" for key, each in value.items()]
        return "{" + _joined(draw, members) + "}"
    if isinstance(value, list):
        return "[" + _joined(draw, [_text(draw, each) for each in value]) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def _joined(draw: st.DrawFn, parts: list[str]) -> str:
    if not parts:
        return draw(_GAPS)
    text = ",".join(draw(_GAPS) + part + draw(_GAPS) for part in parts)
    return text + ("," + draw(_GAPS) if draw(st.booleans()) else "")
