"""The newest text of something that was run from here.

Journals hold back the end of a long text until the cell is over; to whoever runs the cell, the host tells it at once.
"""

from pisces.host.protocol import Told


class LiveText:
    """Filled in the thread of the call, read in that of the screen."""

    def __init__(self) -> None:
        self.times = 0
        """How often something was told."""
        self._told = Told(False, "")

    @property
    def began(self) -> bool:
        """Whether what runs has begun; until then it may wait for its turn."""
        return self._told.begun

    @property
    def text(self) -> str:
        """The newest of what it said."""
        return self._told.tail

    def hear(self, told: Told) -> None:
        """How it stands now."""
        self._told = told
        self.times += 1
