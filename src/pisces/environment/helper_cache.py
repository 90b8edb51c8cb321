"""What kernels told of the helpers they have, kept on disk by the content of the sources that made them.

Losing it costs nothing but the names of modules' helpers in the description of a tool, until the next kernel starts.
"""

import hashlib
import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from pisces.settings.paths import make_private
from pisces.settings.private_file import write_whole

_log = logging.getLogger(__name__)

_KEPT: Final = 32
"""So many answers are kept: one for each project with modules of its own, and the last few versions of each."""


class HelperDoc(msgspec.Struct, frozen=True):
    """One helper, as a reader needs it."""

    name: str
    category: str
    signature: str = ""
    doc: str = ""


class KnownHelpers(msgspec.Struct, frozen=True):
    """All helpers of a kernel, in the order it gave them."""

    helpers: tuple[HelperDoc, ...]
    complete: bool = True
    """False when a module could not be loaded: another kernel may have more."""


def content_key(sources: Iterable[str]) -> str:
    """What stands for these sources, in this order."""
    digest = hashlib.sha256()
    for source in sources:
        content = source.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(content) + content)
    return digest.hexdigest()


class HelperCache:
    """One folder of answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> KnownHelpers | None:
        """The answer for these sources; None if there is none, or none that can be read."""
        try:
            return msgspec.json.decode(self._file(key).read_bytes(), type=KnownHelpers)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.debug("what is known of the helpers was not read: %s", error)
            return None

    def put(self, key: str, known: KnownHelpers) -> None:
        """Keep an answer. A cache that cannot be written is told to the log and to nobody else."""
        try:
            make_private(self._folder)
            write_whole(self._file(key), msgspec.json.encode(known))
            self._prune()
        except OSError as error:
            _log.debug("what is known of the helpers was not kept: %s", error)

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _prune(self) -> None:
        """Delete the oldest answers that are too many, and what writers left that never finished."""
        with os.scandir(self._folder) as entries:
            by_age = sorted(entries, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
        for entry in by_age[_KEPT:]:
            os.unlink(entry.path)
