"""Which session the UI begins with: that of the folder, or a new one that is named for it."""

import os
import re
from collections.abc import Iterable
from itertools import count

from pisces.host.protocol import SessionLine


def first_session(cwd: str, sessions: Iterable[SessionLine]) -> str:
    """The session of the host that was made in this folder, else a name for one that nobody has yet."""
    sessions = list(sessions)
    folder = os.path.realpath(cwd)
    here = [line.name for line in sessions if line.cwd == folder]
    name = _name_of(folder)
    if here:
        return name if name in here else here[0]
    taken = {line.name for line in sessions}
    return next(each for each in _numbered(name) if each not in taken)


def _name_of(folder: str) -> str:
    """Letters, digits and the like: what every command takes as the name of a session."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(folder)).strip("-.")[:40] or "main"


def _numbered(name: str) -> Iterable[str]:
    yield name
    for number in count(2):
        yield f"{name}-{number}"
