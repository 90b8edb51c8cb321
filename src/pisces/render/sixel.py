"""Pictures as sixels, six rows of pixels to a line: what foot, mlterm and others show since the days of the VT340."""

import re
from typing import TYPE_CHECKING, Final

from pisces.render.blocks import Image
from pisces.render.half_blocks import opened

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MOST_COLOURS: Final = 64
"""Plots need few, photographs are good enough with these, and each costs a pass over every line."""
MOST_HEIGHT: Final = 800
_BAND: Final = 6
_REPEATED: Final = re.compile(rb"(.)\1{3,}", re.DOTALL)


def sixels(image: Image, most_width: int) -> str:
    """The sequence that draws a picture, at most so many pixels wide. Raises `BrokenImage`."""
    picture = opened(image, lambda width, height: _pixels(width, height, most_width)).quantize(MOST_COLOURS)
    size = f'"1;1;{picture.width};{picture.height}'
    return "".join(("\x1bP0;1q", size, _colours(picture), _bands(picture), "\x1b\\"))


def _pixels(width: int, height: int, most_width: int) -> tuple[int, int]:
    scale = min(1.0, most_width / width, MOST_HEIGHT / height)
    return max(1, int(width * scale)), max(1, int(height * scale))


def _colours(picture: "Picture") -> str:
    """The palette, in hundredths."""
    flat = picture.getpalette() or []
    triples = (flat[at : at + 3] for at in range(0, len(flat), 3))
    return "".join(
        f"#{number};2;{red * 100 // 255};{green * 100 // 255};{blue * 100 // 255}"
        for number, (red, green, blue) in enumerate(triples)
    )


def _bands(picture: "Picture") -> str:
    width, height = picture.size
    pixels = picture.tobytes()
    made: list[str] = []
    for top in range(0, height, _BAND):
        rows: dict[int, bytearray] = {}
        for bit in range(min(_BAND, height - top)):
            start = (top + bit) * width
            for column, colour in enumerate(pixels[start : start + width]):
                if colour not in rows:
                    rows[colour] = bytearray(b"?" * width)
                rows[colour][column] += 1 << bit
        made.append("$".join(f"#{colour}{_shortened(row)}" for colour, row in rows.items()))
    return "-".join(made)


def _shortened(row: bytearray) -> str:
    """A row in which what is repeated is counted."""
    short = _REPEATED.sub(lambda run: b"!%d%b" % (len(run[0]), run[1]), bytes(row))
    return short.decode("ascii")
