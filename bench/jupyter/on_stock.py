"""Pisces as the client of a Kernel Gateway that somebody else has started, as it comes."""

import os

from bench.jupyter.stock import StockGateway
from bench.subjects.base import Received
from bench.subjects.pisces_subject import PiscesSubject


class OnStockSubject(PiscesSubject):
    """The whole tool, with an external gateway."""

    def __init__(self, interpreter: str, *options: str) -> None:
        self._gateway = StockGateway(interpreter, *options)
        os.environ["PI_PYTHON_GATEWAY_URL"] = self._gateway.url
        os.environ["PI_PYTHON_GATEWAY_TOKEN"] = self._gateway.token
        super().__init__(interpreter, backend="gateway")

    def received(self) -> Received:
        """A gateway as it comes drops most of what comes fast, so there may be no artifact."""
        assert self._printed is not None
        if self._printed.details.full_output_path is None and not self._printed.is_error:
            return Received(sum(len(cell.output) for cell in self._printed.details.cells))
        return super().received()

    async def stop(self) -> None:
        await super().stop()
        self._gateway.stop()
