"""The commands that helpers are compared with, texts to compare them on, and users who may do less."""

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

PLAIN = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
WORDS = [
    "a",
    "b",
    "ab",
    "B",
    "é",
    "漢",
    "",
    " x ",
    "\t",
    "a b",
    "a\r",
    "\x0b",
    "\x0c",
    "\x85",
    "\u2028",
    "🙂",
    "1",
    "\\",
]
LINES = st.lists(st.sampled_from(WORDS) | st.text("ab c", max_size=3), max_size=8)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


def answer(*command: str, given: str = "", cwd: Path | None = None) -> str:
    """What a command says that must go well."""
    done = subprocess.run(command, input=given.encode(), capture_output=True, env=PLAIN, cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def each_raises(kind: type[Exception], words: str, *calls: Callable[[], Any]) -> None:
    """Each of the calls fails this way."""
    for call in calls:
        with pytest.raises(kind, match=words):
            call()


def put(path: Path, text: str) -> Path:
    """Write a file without any helper."""
    path.write_bytes(text.encode())
    return path


def snapshot(root: Path) -> dict[str, tuple[str, ...]]:
    """All that is below a folder: of what kind, with which mode, and what is in it."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        name = path.relative_to(root).as_posix()
        if stat.S_ISLNK(mode):
            found[name] = ("link", os.readlink(path))
        elif stat.S_ISDIR(mode):
            found[name] = ("folder", oct(mode))
        else:
            found[name] = ("file", oct(mode), path.read_text(encoding="utf-8"))
    return found


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """Be no longer root, whom no mode stops; who is not root stays who he is."""
    if os.geteuid() != 0:
        yield
        return
    group = os.getegid()
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)


@contextmanager
def public_folder(path: Path) -> Iterator[Path]:
    """A folder that somebody else can get to, if the one above it can be entered."""
    opened = [folder for folder in path.parents if not folder.stat().st_mode & stat.S_IXOTH]
    modes = [folder.stat().st_mode for folder in opened]
    for folder in opened:
        folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    try:
        yield path
    finally:
        for folder, mode in zip(opened, modes, strict=True):
            folder.chmod(mode)
