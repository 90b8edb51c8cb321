"""Whole outputs as files that only their owner can read, each under a number that is never given twice."""

import errno
import logging
import os
import re
import time
from pathlib import Path
from typing import Final

import msgspec

from pisces.errors import ArtifactError
from pisces.output.artifact_file import ArtifactWriter, create_private, delete_artifact, open_artifact, state_of
from pisces.output.artifact_text import LineRange, read_text
from pisces.output.retention import DAY, FileState, delete_old, is_in_use
from pisces.output.search import SECONDS, Searched, search
from pisces.settings.paths import make_private

_log = logging.getLogger(__name__)

_CLAIMS: Final = ".ids"
_SCHEME: Final = "artifact://"
_NAME_LENGTH: Final = 64
_WHY_GONE: Final = (
    "Artifacts are deleted after `output.keepDays` days, the oldest also when all take more than "
    "`output.folderLimitMb` MiB: run the cell again."
)


class ArtifactRef(msgspec.Struct, frozen=True):
    """What an `artifact://` address names: a whole artifact, or some of its lines."""

    id: str
    lines: LineRange | None = None


class ArtifactStore:
    """The artifacts below one folder: `<root>/<session>/<id>.<tool>.log`.

    Ids count up over all sessions. Several processes may use the same folder at once: an id is claimed by making a
    file of that name exclusively, so no two ever get the same one.
    """

    def __init__(self, root: Path, *, limit: int = 0, folder_limit: int = 0) -> None:
        """`limit` is how many bytes one output may have, `folder_limit` how many all of them; 0 for any number."""
        self._root = root
        self._limit = min(filter(None, (limit, folder_limit)), default=0)
        self._folder_limit = folder_limit
        self._step = folder_limit // 16
        """After so many bytes were written, look at the size of the folder again: 30 µs for each artifact."""
        self._written = 0
        self._made: dict[str, set[str]] = {}

    def make_folder(self) -> None:
        """Have the folder there, for code that lists or watches it; what is kept later says if that cannot be."""
        try:
            _make_private(self._root)
        except OSError as error:
            _log.warning("the folder of the artifacts cannot be made: %s", error)

    def new(self, session: str, tool: str) -> ArtifactWriter:
        """Start an artifact for an output. The caller closes it. Raises OSError when it cannot be made."""
        return self._new(session, tool, "log", self._limit)

    def _new(self, session: str, tool: str, extension: str, limit: int) -> ArtifactWriter:
        artifact_id = self._claim()
        self._made.setdefault(session, set()).add(artifact_id)
        folder = self._root / safe_name(session)
        path = folder / f"{artifact_id}.{safe_name(tool)}.{safe_name(extension)}"
        _make_private(folder)
        on_written = self._make_room if self._folder_limit else None
        try:
            return ArtifactWriter(artifact_id, path, limit=limit, on_written=on_written)
        except FileNotFoundError:  # pruning took the empty folder away just now
            _make_private(folder)
            return ArtifactWriter(artifact_id, path, limit=limit, on_written=on_written)

    def add_bytes(self, session: str, tool: str, data: bytes, *, extension: str) -> str:
        """Keep some data as an artifact of its own, whole whatever its size, and return its id."""
        with self._new(session, tool, extension, 0) as writer:
            writer.write(data)
        return writer.id

    def piece(self, session: str, artifact_id: str, start: int, size: int) -> tuple[str, str, bytes]:
        """Some bytes of an artifact, for a reader who may see this session's outputs alone, with the name of its file.

        The bytes are those from `start` on, with an empty text between; or, where those were not kept, the next that
        were, with the place where they begin. None of them means the end. Only what this process kept for a session of
        that name counts. Raises `ArtifactError`, and OSError.
        """
        if artifact_id not in self._made.get(session, ()):
            raise ArtifactError(f"this session has no artifact {artifact_id}")
        path = self.path(artifact_id)
        with open_artifact(path) as sections:
            for section in sections:
                if start < section.byte + section.size:
                    at = max(start - section.byte, 0)
                    section.file.seek(at)
                    return path.name, section.place if section.byte > start else "", section.file.read(size)
        return path.name, "", b""

    def path(self, artifact_id: str) -> Path:
        """The file of an artifact. Raises `ArtifactError` if there is none, or if the id is not a number."""
        number = _number(artifact_id)
        found = next(self._root.glob(f"*/{number}.*"), None)
        if found is None:
            available = ", ".join(str(id_of(file)) for file in self.files()[:10]) or "none"
            raise ArtifactError(f"Artifact {number} not found. Available: {available}", hint=_WHY_GONE)
        return found

    def read(self, artifact_id: str, *, lines: LineRange | None = None) -> str:
        """The text of an artifact: all of it, or some lines.

        Memory stays bounded whatever the size of the file. Raises `ArtifactError` for what cannot be read that way.
        """
        return read_text(self.path(artifact_id), str(_number(artifact_id)), lines)

    async def search(
        self, artifact_id: str, pattern: str, *, lines: LineRange | None = None, seconds: float = SECONDS
    ) -> str:
        """The lines that a regular expression matches, as `pisces.output.search` has them."""
        name = str(_number(artifact_id))
        path = str(self.path(artifact_id))
        searched = Searched(name=f"artifact {name}", artifact_id=name, path=path, lines=lines)
        return await search(pattern, searched, seconds=seconds)

    def files(self) -> list[Path]:
        """The files of all artifacts, the newest id first."""
        found = [path for path in self._root.glob("*/*.*.*") if path.name.partition(".")[0].isdecimal()]
        return sorted(found, key=id_of, reverse=True)

    def prune(self, keep_days: float) -> int:
        """Delete the artifacts last written more than that many days ago, as `delete_old` does, and the oldest ones
        where all together are too large. Returns how many were deleted.
        """
        deleted = delete_old(self._root, self.files(), keep_days, state_of=state_of, delete=_delete)
        if self._folder_limit:
            deleted += self._shrink()
        # The newest claim stays for ever: without it, ids would begin anew and old addresses would name new files.
        oldest = time.time() - keep_days * DAY
        for number in sorted(self._claimed())[:-1]:
            claim = self._root / _CLAIMS / str(number)
            if _is_older(claim, oldest):
                claim.unlink(missing_ok=True)
        return deleted

    def _make_room(self, size: int) -> None:
        """So many bytes are about to be written. Looks at the folder once in a step only."""
        self._written += size
        if self._written < self._step:
            return
        self._written = 0
        try:
            self._shrink()
        except OSError as error:
            _log.warning("old artifacts were not deleted: %s", error)

    def _shrink(self) -> int:
        """Delete the oldest artifacts until there is room for one step. Ids tell their order, and no clock does."""
        limit = self._folder_limit - self._step
        found = [(path, state) for path in self.files() if (state := _state_or_none(path)) is not None]
        total, deleted = sum(state.size for _, state in found), 0
        for path, state in reversed(found):
            if total <= limit:
                break
            if not is_in_use(path, state):
                _delete(path)
                total -= state.size
                deleted += 1
        return deleted

    def _claim(self) -> str:
        _make_private(self._root)
        claims = self._root / _CLAIMS
        _make_private(claims)
        number = max(self._claimed(), default=0) + 1
        while True:
            try:
                os.close(create_private(claims / str(number)))
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


def _make_private(folder: Path) -> None:
    """Make the folder for the owner alone; one that was open to others is closed to them."""
    make_private(folder)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def _is_older(path: Path, moment: float) -> bool:
    try:
        return path.stat().st_mtime < moment
    except FileNotFoundError:
        return False


def _state_or_none(path: Path) -> FileState | None:
    try:
        return state_of(path)
    except FileNotFoundError:  # Another process deleted it just now.
        return None


def _delete(path: Path) -> None:
    delete_artifact(path)
    remove_if_empty(path.parent)


def remove_if_empty(folder: Path) -> None:
    """Remove a folder, unless something is in it or it is gone already."""
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT}:
            raise
