"""HTML as markdown, by a library that is loaded only when there is some."""

import re
from typing import Final

_INLINE_DATA: Final = re.compile(r"\(data:([\w.+/-]*)[^)\s]*")


def to_markdown(html: str) -> str:
    """The text of some HTML, with tables as tables; scripts, styles and the bytes of data URLs are dropped.

    What the library refuses is returned as it came, under a line that says why.
    """
    from html_to_markdown import ConversionError, ConversionOptions, convert

    try:
        result = convert(html, ConversionOptions(extract_metadata=False, br_in_tables=True))
    except ConversionError as error:
        return f"[text/html could not be converted: {error}]\n{html}"
    return _INLINE_DATA.sub(r"(data:\1", result.content or "").strip("\n")
