"""When artifacts and journals are deleted for their age: never by one wrong clock, and never under a writer."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pisces.journal.folder import prune_journals
from pisces.journal.writer import JournalFile
from pisces.output.artifacts import ArtifactStore

DAY = 86_400
YEAR = 365 * DAY

WRITERS = {
    "artifacts": """
import sys
from pathlib import Path
from pisces.output.artifacts import ArtifactStore
writer = ArtifactStore(Path(sys.argv[1])).new("s", "python")
writer.write(b"text\\n")
print(writer.path, flush=True)
sys.stdin.read()
""",
    "journals": """
import sys
from pathlib import Path
from pisces.journal.writer import JournalFile
file = JournalFile(Path(sys.argv[1]) / "s" / "one.jsonl")
file.append(b"{}\\n")
print(file.path, flush=True)
sys.stdin.read()
""",
}


class Folder:
    """Artifacts or journals, and a clock that can be set."""

    def __init__(self, kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kind, self.root = kind, root
        self.real = time.time()
        self._now = self.real
        monkeypatch.setattr("time.time", lambda: self._now)

    def add(self, *, days_ago: float) -> Path:
        if self.kind == "artifacts":
            store = ArtifactStore(self.root)
            path = store.path(store.add_bytes("s", "python", b"text\n", extension="log"))
        else:
            file = JournalFile(self.root / "s" / f"{os.urandom(4).hex()}.jsonl")
            file.append(b"{}\n")
            file.close()
            path = file.path
        self.touch(path, days_ago=days_ago)
        return path

    def touch(self, path: Path, *, days_ago: float) -> None:
        os.utime(path, (self.real - days_ago * DAY,) * 2)

    def prune(self, *, after: float = 0.0) -> int:
        """Prune with 14 days to keep, with a clock that is so many seconds ahead of the real one."""
        self._now = self.real + after
        prune: Callable[[float], int] = ArtifactStore(self.root).prune
        return prune(14) if self.kind == "artifacts" else prune_journals(self.root, 14)

    @contextmanager
    def writer(self) -> Iterator[Path]:
        """A file that another process is writing to."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(
            [sys.executable, "-c", WRITERS[self.kind], str(self.root)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            yield Path(process.stdout.readline().strip())


@pytest.fixture(params=["artifacts", "journals"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return Folder(request.param, tmp_path / "kept", monkeypatch)


def test_an_old_file_is_marked_first_and_deleted_a_day_later(folder: Folder) -> None:
    old, new = folder.add(days_ago=15), folder.add(days_ago=1)
    assert (folder.prune(), folder.prune(after=0.9 * DAY)) == (0, 0)
    assert old.exists()
    assert folder.prune(after=1.1 * DAY) == 1
    assert (old.exists(), new.exists()) == (False, True)


def test_a_clock_that_is_far_ahead_for_a_while_deletes_nothing(folder: Folder) -> None:
    path = folder.add(days_ago=0)
    for after in (10 * YEAR, 10 * YEAR + 3600, 0, 2 * DAY, 10 * YEAR + 2 * DAY, 3 * DAY):
        assert folder.prune(after=after) == 0
    assert path.exists()


def test_a_clock_that_is_far_behind_for_a_while_deletes_nothing(folder: Folder) -> None:
    path = folder.add(days_ago=13.5)
    assert [folder.prune(after=after) for after in (0, -10 * YEAR, DAY, -10 * YEAR, 2.1 * DAY)] == [0] * 5
    assert path.exists()
    assert folder.prune(after=3.2 * DAY) == 1


def test_a_file_that_was_written_again_loses_its_mark(folder: Folder) -> None:
    path = folder.add(days_ago=20)
    folder.prune()
    path.write_bytes(path.read_bytes() * 2)
    folder.touch(path, days_ago=18)  # The clock of the writer is behind.
    assert folder.prune(after=2 * DAY) == 0
    assert folder.prune(after=3.1 * DAY) == 1


@pytest.mark.processes
def test_a_file_that_a_process_writes_to_is_kept_however_old(folder: Folder) -> None:
    with folder.writer() as path:
        folder.touch(path, days_ago=30)
        assert [folder.prune(after=after) for after in (0, 2 * DAY, 4 * DAY)] == [0, 0, 0]
        assert path.exists()
    assert [folder.prune(after=after) for after in (5 * DAY, 6.1 * DAY)] == [0, 1]


def test_marks_that_cannot_be_read_delete_nothing(folder: Folder) -> None:
    folder.add(days_ago=15)
    folder.prune()
    (marks,) = (path for path in folder.root.iterdir() if path.is_file())
    assert marks.stat().st_mode & 0o077 == 0
    marks.write_text('{"s/', encoding="utf-8")
    assert [folder.prune(after=after) for after in (2 * DAY, 3.1 * DAY)] == [0, 1]
    assert not marks.exists()
