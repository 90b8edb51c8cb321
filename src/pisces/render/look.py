"""How something is to be shown: how wide, how much of it, and to whom it belongs."""

from typing import Literal

import msgspec

Variant = Literal["tool", "own"]
"""A tool's call, in blocks; or a person's own run, which begins with `>>>`."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Two looks that are equal make the same lines of the same view, so lines can be kept by it."""

    width: int = 80
    expanded: bool = False
    variant: Variant = "tool"
    coloured: bool = True
    dark: bool = True
    pictures: bool = True
    """Whether pictures are drawn with half blocks; otherwise they are named."""
    ascii: bool = False
    """Whether only ASCII can be shown, as where a terminal knows no UTF-8."""
    now: float = 0.0
    """The time, in seconds since the epoch, for cells that run; 0 for a picture that stands still."""
