"""Which files git would leave out: the rules of .gitignore files, of a repository and of the user.

The user's own file is the one that git looks for by default; another that is named by `core.excludesFile` in git's
configuration is not looked for. Whether a file is tracked makes no difference.
"""

from __future__ import annotations

import os
import stat

from .ignore_rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Ignoring:
    """The rules that count in one folder, each with the way from where they are written to there, innermost first."""

    def __init__(self, layers: tuple[tuple[Rules, str], ...] = ()) -> None:
        self._layers = layers
        self._files = [(rules.files.within(way), rules.takes_in) for rules, way in layers]
        self._folders = [(rules.folders.within(way), rules.takes_in) for rules, way in layers]

    def leaves_out(self, name: str, is_folder: bool) -> bool:
        """Whether git would leave out what has this name here; links to folders are not folders."""
        key = name if name.isascii() else _as_bytes(name)
        for last, takes_in in self._folders if is_folder else self._files:
            number = last(key)
            if number >= 0:
                return not takes_in[number]
        return False

    def below(self, name: str) -> Ignoring:
        """What counts in a folder in this one, but for rules that are written there."""
        key = _as_bytes(name) + "/"
        return Ignoring(tuple((rules, way + key) for rules, way in self._layers))

    def and_rules(self, path: str) -> Ignoring:
        """What counts here if rules are read from this file too. Raises `OSError` when it cannot be read.

        A link is not followed, as git does not.
        """
        found = _rules_in(path, links=False)
        return Ignoring(((found, ""), *self._layers)) if found else self


def of_repository(root: str) -> Ignoring:
    """What counts in the root of a repository, but for its .gitignore: its own file of rules, and the user's."""
    found = (_optional(os.path.join(_git_folder(root), "info", "exclude")), _users())
    return Ignoring(tuple((rules, "") for rules in found if rules))


def outside() -> Ignoring:
    """What counts in a folder that is in no repository, but for its .gitignore: the user's rules."""
    users = _users()
    return Ignoring(((users, ""),) if users else ())


def at(folder: str, failed: Callable[[str], object]) -> Ignoring:
    """What counts in a folder, but for its own .gitignore. `failed` is told of a file that cannot be read.

    A folder that is itself left out was asked for nevertheless: then no rule counts that is written outside of it.
    """
    folder = os.path.realpath(folder)
    root = _root(folder)
    if root is None:
        return outside()
    found = of_repository(root)
    place = root
    for name in os.path.relpath(folder, root).split(os.sep) if folder != root else ():
        try:
            found = found.and_rules(os.path.join(place, ".gitignore"))
        except OSError:
            failed(os.path.join(place, ".gitignore"))
        if name == ".git" or found.leaves_out(name, is_folder=True):
            return Ignoring()
        found, place = found.below(name), os.path.join(place, name)
    return found


def _root(folder: str) -> str | None:
    """The root of the repository that a folder is in."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _git_folder(root: str) -> str:
    """Where the repository keeps what its working trees share; `.git` may be a file that says where."""
    place = os.path.join(root, ".git")
    if os.path.isfile(place):
        place = os.path.join(root, _one_line(place).partition("gitdir: ")[2])
    shared = os.path.join(place, "commondir")
    return os.path.join(place, _one_line(shared)) if os.path.isfile(shared) else place


def _one_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read().rstrip(b"\r\n").replace(b"\0", b""))
    except OSError:
        return ""


def _users() -> Rules | None:
    """The user's rules for all repositories."""
    settings = os.environ.get("XDG_CONFIG_HOME")
    if not settings:
        home = os.environ.get("HOME")
        if not home:
            return None
        settings = os.path.join(home, ".config")
    return _optional(os.path.join(settings, "git", "ignore"))


def _optional(path: str) -> Rules | None:
    try:
        return _rules_in(path, links=True)
    except OSError:
        return None


def _rules_in(path: str, *, links: bool) -> Rules | None:
    """The rules in a file; None if it is not there, is no file, or has none."""
    try:
        mode = (os.stat if links else os.lstat)(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        return None
    with open(path, "rb") as file:
        return Rules(file.read()) or None


def _as_bytes(name: str) -> str:
    """A name with one character for each of its bytes."""
    return os.fsencode(name).decode("latin-1")
