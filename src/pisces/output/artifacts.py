"""Whole outputs as files that only their owner can read, each under a number that is never given twice."""

import errno
import os
import re
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from pisces.errors import ArtifactError
from pisces.output.artifact_text import LineRange, read_text, search_text

_CLAIMS: Final = ".ids"
_SCHEME: Final = "artifact://"
_NAME_LENGTH: Final = 64
_SECONDS_PER_DAY: Final = 86400


class ArtifactRef(msgspec.Struct, frozen=True):
    """What an `artifact://` address names: a whole artifact, or some of its lines."""

    id: str
    lines: LineRange | None = None


class ArtifactWriter:
    """An artifact that is being written; it owns the descriptor until it is closed."""

    def __init__(self, artifact_id: str, path: Path) -> None:
        self.id = artifact_id
        self.path = path
        self._file = open(_create_private(path), "wb", buffering=0)  # noqa: SIM115 - `close` closes it

    def write(self, data: bytes, /) -> None:
        """Append all of the data. Raises OSError, for instance on a full disk."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def close(self) -> None:
        """Release the descriptor; a second call does nothing."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ArtifactStore:
    """The artifacts below one folder: `<root>/<session>/<id>.<tool>.log`.

    Ids count up over all sessions. Several processes may use the same folder at once: an id is claimed by making a
    file of that name exclusively, so no two ever get the same one. Nothing is made before the first artifact.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def new(self, session: str, tool: str, *, extension: str = "log") -> ArtifactWriter:
        """Start an artifact. The caller closes it. Raises OSError when it cannot be made."""
        artifact_id = self._claim()
        folder = self._root / safe_name(session)
        path = folder / f"{artifact_id}.{safe_name(tool)}.{safe_name(extension)}"
        _make_private(folder)
        try:
            return ArtifactWriter(artifact_id, path)
        except FileNotFoundError:  # pruning took the empty folder away just now
            _make_private(folder)
            return ArtifactWriter(artifact_id, path)

    def add_bytes(self, session: str, tool: str, data: bytes, *, extension: str) -> str:
        """Keep some data as an artifact of its own and return its id."""
        with self.new(session, tool, extension=extension) as writer:
            writer.write(data)
        return writer.id

    def path(self, artifact_id: str) -> Path:
        """The file of an artifact. Raises `ArtifactError` if there is none, or if the id is not a number."""
        number = _number(artifact_id)
        found = next(self._root.glob(f"*/{number}.*"), None)
        if found is None:
            available = ", ".join(str(id_of(file)) for file in self.files()[:10]) or "none"
            raise ArtifactError(f"Artifact {number} not found. Available: {available}")
        return found

    def read(self, artifact_id: str, *, lines: LineRange | None = None, search: str | None = None) -> str:
        """The text of an artifact: all of it, some lines, or the lines that a regular expression matches.

        Memory stays bounded whatever the size of the file. Raises `ArtifactError` for what cannot be read that way.
        """
        path = self.path(artifact_id)
        name = str(_number(artifact_id))
        if search is not None:
            return search_text(path, name, search, lines)
        return read_text(path, name, lines)

    def files(self) -> list[Path]:
        """The files of all artifacts, the newest id first."""
        found = [path for path in self._root.glob("*/*.*.*") if path.name.partition(".")[0].isdecimal()]
        return sorted(found, key=id_of, reverse=True)

    def prune(self, keep_days: float) -> int:
        """Delete the artifacts last written more than that many days ago; returns how many there were."""
        oldest = time.time() - keep_days * _SECONDS_PER_DAY
        stale = [path for path in self.files() if _is_older(path, oldest)]
        for path in stale:
            path.unlink(missing_ok=True)
        for folder in {path.parent for path in stale}:
            remove_if_empty(folder)
        # The newest claim stays for ever: without it, ids would begin anew and old addresses would name new files.
        for number in sorted(self._claimed())[:-1]:
            claim = self._root / _CLAIMS / str(number)
            if _is_older(claim, oldest):
                claim.unlink(missing_ok=True)
        return len(stale)

    def _claim(self) -> str:
        _make_private(self._root)
        claims = self._root / _CLAIMS
        _make_private(claims)
        number = max(self._claimed(), default=0) + 1
        while True:
            try:
                os.close(_create_private(claims / str(number)))
            except FileExistsError:
                number += 1
            else:
                return str(number)

    def _claimed(self) -> list[int]:
        try:
            return [int(name) for name in os.listdir(self._root / _CLAIMS) if name.isdecimal()]
        except FileNotFoundError:
            return []


def id_of(file: Path) -> int:
    """The id in the name of an artifact's file."""
    return int(file.name.partition(".")[0])


def parse_uri(uri: str) -> ArtifactRef:
    """Understand `artifact://3`, `artifact://3:100-200`, `artifact://3:100-` and `artifact://3:100`.

    Raises `ArtifactError` for anything else.
    """
    if not uri.startswith(_SCHEME):
        raise ArtifactError(
            f"Not an artifact address: {uri!r}", hint="Write artifact://<id>, or artifact://<id>:<a>-<b>."
        )
    name, colon, span = uri.removeprefix(_SCHEME).partition(":")
    return ArtifactRef(id=str(_number(name)), lines=parse_lines(span) if colon else None)


def parse_lines(span: str) -> LineRange:
    """Understand `100-200`, `100-` and `100`, with lines counted from 1. Raises `ArtifactError` for anything else."""
    match = re.fullmatch(r"([0-9]{1,18})(-([0-9]{0,18}))?", span)
    if match is None:
        raise ArtifactError(f"Not a range of lines: {span!r}", hint="Write 100-200, 100- or 100; lines count from 1.")
    first = int(match[1])
    last = first if match[2] is None else int(match[3]) if match[3] else None
    return LineRange(first=first, last=last)


def _number(artifact_id: str) -> int:
    if re.fullmatch(r"[0-9]{1,18}", artifact_id) is None:
        raise ArtifactError(f"artifact:// ID must be numeric, got: {artifact_id}")
    return int(artifact_id)


def safe_name(name: str) -> str:
    """A part of a file's name that cannot lead anywhere else, and says what it can of the original."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:_NAME_LENGTH] or "unnamed"


def _create_private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _make_private(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def _is_older(path: Path, moment: float) -> bool:
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:
        return False


def remove_if_empty(folder: Path) -> None:
    """Remove a folder, unless something is in it or it is gone already."""
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
            raise
