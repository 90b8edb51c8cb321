"""The pictures of a result, made as small as clients need them."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio
import msgspec

from pisces.model.results import ImageBlock
from pisces.output.images import for_model

_LEAST: Final = 4_000
"""Characters of base64 below which a picture shows nothing."""


class Pictures(msgspec.Struct, frozen=True):
    """What there is room for, in order."""

    shown: tuple[ImageBlock | None, ...]
    """None for what is left out."""
    smaller: tuple[int, ...]
    """The places of those that were made smaller."""


async def bounded_pictures(pictures: Sequence[ImageBlock], most: int, *, count: int) -> Pictures:
    """The first `count` pictures in so many characters of base64: the large ones share what the small ones leave.

    Pictures are scaled in a thread.
    """
    shown: list[ImageBlock | None] = [None] * len(pictures)
    smaller = []
    by_size = sorted(range(min(count, len(pictures))), key=lambda place: len(pictures[place].data))
    for done, place in enumerate(by_size):
        picture = pictures[place]
        share = most // (len(by_size) - done)
        if len(picture.data) <= share:
            shown[place] = picture
        elif share >= _LEAST:
            made = await anyio.to_thread.run_sync(partial(for_model, picture.data, picture.mime_type, most=share))
            if isinstance(made, ImageBlock):
                shown[place] = made
                smaller.append(place)
        kept = shown[place]
        most -= 0 if kept is None else len(kept.data)
    return Pictures(tuple(shown), tuple(sorted(smaller)))
