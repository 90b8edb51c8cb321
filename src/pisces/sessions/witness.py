"""Whoever wants to see all that happens in the cells of a call, as the kernel said it."""

from typing import Protocol

from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent, Done


class Witness(Protocol):
    """Is told while the cells run, in order, and must not take long. A cell that is run again begins again."""

    def began(self, record: CellRecord) -> None:
        """This cell begins."""
        ...

    def took(self, event: AnyEvent) -> None:
        """The cell that runs said this."""
        ...

    def ended(self, done: Done) -> None:
        """It is over, whatever became of it."""
        ...
