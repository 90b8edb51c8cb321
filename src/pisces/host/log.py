"""The log of the background host: its standard error, which the client that started it sent to a file."""

import logging
import os

from pisces.environment.mask import SecretMask
from pisces.settings.switches import read_switches


def write_log() -> None:
    """Write what Pisces has to say to standard error, without secrets; more of it where a `PI_` switch asks for it."""
    switches = read_switches(os.environ)
    handler = logging.StreamHandler()
    handler.setFormatter(_Masking(SecretMask(os.environ)))
    ours = logging.getLogger("pisces")
    ours.addHandler(handler)
    ours.setLevel(logging.DEBUG if switches.debug or switches.ipc_trace else logging.INFO)
    if not switches.ipc_trace:
        logging.getLogger("pisces.ipc").setLevel(logging.INFO)


class _Masking(logging.Formatter):
    """One line per record with time, process and logger; secrets are masked, also in tracebacks."""

    def __init__(self, mask: SecretMask) -> None:
        super().__init__("%(asctime)s %(process)d %(name)s %(levelname)s %(message)s")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        return self._mask.text(super().format(record))
