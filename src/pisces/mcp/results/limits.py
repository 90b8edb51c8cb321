"""How large a result may be. Known clients take 25,000 tokens of text and one megabyte in all."""

from typing import Final

import msgspec

TEXT_BYTES: Final = 36_000
"""All text of a result, but for what is said of cuts: dense text has a token in one and a half bytes."""
NOTES_BYTES: Final = 3_000
"""What is said of cuts."""
PICTURES: Final = 8
"""How many pictures: each is up to 1,600 tokens for a model, and clients count them too."""
PICTURE_CHARACTERS: Final = 700_000
"""The base64 of all pictures together."""
DATA_BYTES: Final = 100_000
"""The JSON of the structured content, but for the text that it repeats."""
WHOLE_BYTES: Final = 1_000_000
"""A message as it goes over the wire."""
ENVELOPE_BYTES: Final = 20_000
"""What is around all that: the message itself, what is said of cuts (twice, escaped), and names."""
PAGE_BYTES: Final = 32 * 1024
"""What one read of a resource returns of a text."""
BLOB_BYTES: Final = 700_000
"""What one read of a resource returns of anything else, before it is made base64."""


def wire_size(value: object) -> int:
    """How many bytes a value of JSON types takes up in a message, escapes included. It has no lone surrogates."""
    return len(msgspec.json.encode(value))


def beginning(text: str, most: int) -> str:
    """As much of a text, from its beginning, as takes up no more than so many bytes of JSON."""
    room = most - 2
    while wire_size(text) - 2 > room:
        if room <= 0:
            return ""
        taken = text.encode("utf-8")
        # Some characters are escaped: what is left after a cut is measured anew, and cut again by as much.
        share = len(taken) * room // (wire_size(text) - 2)
        text = taken[: min(share, len(taken) - 1)].decode("utf-8", "ignore")
    return text
