"""The helpers of a kernel by category, in the few words that the description of a tool has room for.

What a kernel has told is believed first. Before one has, the sources say nearly the same without being run.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

from pisces.environment.helper_cache import HelperCache, HelperDoc, KnownHelpers
from pisces.environment.helper_source import helpers_in, prelude_source
from pisces.environment.modules import ModuleFile, ModuleFolders, ModuleSource, read_module
from pisces.output.sanitize import clean
from pisces.sessions.kernel_modules import helpers_key

_HEAD: Final = "Helpers in every kernel (`help(name)` tells more): "
_MOST_BYTES: Final = 900
_LONGEST_NAME: Final = 60
_LONGEST_CATEGORY: Final = 30
_CUT: Final = "…"


class HelperDocs:
    """Which helpers the kernels of one project have. It may be asked often: what has not changed is not read again."""

    def __init__(self, folders: ModuleFolders, cache: HelperCache) -> None:
        self._folders = folders
        self._cache = cache
        self._files: Sequence[ModuleFile] | None = None
        self._sources: Sequence[ModuleSource] = ()
        self._key = ""
        self._guess: KnownHelpers | None = None
        self._told = ""

    def line(self) -> str:
        """Their names by category, in one line of at most 900 bytes."""
        files = self._folders.in_force()
        if files != self._files:
            self._look(files)
        if self._told:
            return self._told
        known = self._cache.get(self._key)
        if known is not None and known.complete:
            self._told = helpers_line(known.helpers)
            return self._told
        return helpers_line((known or self._guessed()).helpers)

    def _look(self, files: Sequence[ModuleFile]) -> None:
        sources = [read_module(file) for file in files]
        self._files, self._key = files, helpers_key(sources)
        self._guess, self._told = None, ""
        self._sources = sources

    def _guessed(self) -> KnownHelpers:
        """What the sources say; that of the prelude alone is as good as a kernel's word, and kept like that."""
        if self._guess is None:
            self._guess = _read_off(self._sources)
            self._sources = ()
            if self._guess.complete:
                self._cache.put(self._key, self._guess)
        return self._guess


def _read_off(sources: Sequence[ModuleSource]) -> KnownHelpers:
    texts = [prelude_source(), *(source.text for source in sources)]
    found = {helper.name: helper for text in texts for helper in helpers_in(text)}
    return KnownHelpers(tuple(found.values()), complete=not sources)


def prelude_line() -> str:
    """The line of kernels that load no modules."""
    return helpers_line(_read_off(()).helpers)


def helpers_line(helpers: Iterable[HelperDoc]) -> str:
    """The names by category, in the order they are given in; what there is no room for is left out, and that is seen.

    Both may come from a repository that somebody else has written, and stand where a model reads: they are short, and
    nothing but names.
    """
    groups: dict[str, list[str]] = {}
    for helper in helpers:
        if helper.name.isidentifier() and len(helper.name) <= _LONGEST_NAME:
            groups.setdefault(_category(helper.category), []).append(helper.name)
    text = _HEAD
    for number, (category, names) in enumerate(groups.items()):
        for part in itertools.chain([f"{'; ' if number else ''}{category}:"], (f" {name}" for name in names)):
            if len(f"{text}{part}{_CUT}".encode()) > _MOST_BYTES:
                return f"{text}{_CUT}"
            text += part
    return f"{text}."


def _category(category: str) -> str:
    words = " ".join(clean(category).split())
    plain = "".join(letter for letter in words if letter.isalnum() or letter in " /&+-_")
    return plain[:_LONGEST_CATEGORY].strip() or "Other"
