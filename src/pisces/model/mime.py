"""The MIME types that Pisces treats in a way of its own."""

from typing import Final

TEXT_PLAIN: Final = "text/plain"
TEXT_MARKDOWN: Final = "text/markdown"
TEXT_HTML: Final = "text/html"
JSON: Final = "application/json"
PNG: Final = "image/png"
JPEG: Final = "image/jpeg"
SVG: Final = "image/svg+xml"
STATUS: Final = "application/x-pisces-status"
"""What helpers inside a kernel emit to say what they did: an object with an `op` key."""
STATUS_ALIASES: Final = frozenset({STATUS, "application/x-omp-status"})
"""Every name under which a status is accepted; only `STATUS` is ever emitted."""
