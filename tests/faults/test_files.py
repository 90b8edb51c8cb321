"""Files of the user's when the disk is full, a writer is killed, or two write at once: whole, with nothing beside."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pisces.files.whole_file import locked, read_whole
from tests.fakes.drive import PATIENCE

OLD = b"what was there\n" * 100
WRITE = """
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from pisces.errors import PiscesError
from pisces.files.whole_file import locked
def write(path, size):
    try:
        with locked(Path(path)) as file:
            file.read()
            file.replace(b"x" * 1024 for _ in range(size // 1024))
    except PiscesError as error:
        print(type(error).__name__, error.explain())
    else:
        print("written")
"""


def child(code: str, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*before, sys.executable, "-c", WRITE + code, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=PATIENCE, check=False
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "a.txt"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# The file is half written when the disk is full or the process dies.
def test_a_file_stays_whole_when_no_more_can_be_written(file: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
    done = child(limit + "write(sys.argv[1], 1_000_000)", file)
    assert done.stdout.startswith(f"FileError {file} could not be written: file too large\n"), done.stderr
    assert "raise the limit" in done.stdout
    assert (file.read_bytes(), names(file.parent)) == (OLD, ["a.txt"])


ON_A_SMALL_DISK = """
import os
folder = Path(sys.argv[1])
(folder / "a.txt").write_bytes(b"old")
write(folder / "a.txt", 1_000_000)
print((folder / "a.txt").read_bytes(), os.listdir(folder))
write(folder / "a.txt", 16_384)
print((folder / "a.txt").stat().st_size, os.listdir(folder))
"""


def test_a_file_stays_whole_when_the_disk_is_full(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    mount = 'mount -t tmpfs -o size=128k none "$0" && exec "$@"'
    inside = (unshare or "", "-rm", "sh", "-c", mount, str(tmp_path))
    if unshare is None or subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be had here: that takes the right to mount one")
    done = child(ON_A_SMALL_DISK, tmp_path, before=inside)
    assert done.stdout.splitlines() == [
        f"FileError {tmp_path / 'a.txt'} could not be written: no space left on device",
        "Free some space, or write to another disk.",
        "b'old' ['a.txt']",
        "written",
        "16384 ['a.txt']",
    ], done.stderr


KILLED = """
import os, signal
def killed(*paths):
    os.kill(os.getpid(), signal.SIGKILL)
os.rename = os.link = killed
write(sys.argv[1], 1_000_000)
"""


def test_a_writer_that_is_killed_before_its_last_step_leaves_the_old_file_and_one_other(file: Path) -> None:
    for _ in range(3):
        assert child(KILLED, file).returncode == -signal.SIGKILL
        assert file.read_bytes() == OLD
        assert names(file.parent) == [".a.txt.pisces-new", "a.txt"]
    with locked(file, wait=0) as held:
        held.replace([b"new"])
    assert (file.read_bytes(), names(file.parent)) == (b"new", ["a.txt"])


NEW_AND_KILLED = KILLED.replace(
    "write(sys.argv[1], 1_000_000)", "with locked(Path(sys.argv[1])) as f: f.replace([b'x'])"
)


def test_a_writer_that_is_killed_before_its_last_step_makes_no_file(tmp_path: Path) -> None:
    for _ in range(2):
        assert child(NEW_AND_KILLED, tmp_path / "new").returncode == -signal.SIGKILL
        assert names(tmp_path) == [".new.pisces-new"]
    with locked(tmp_path / "new", wait=0) as held:
        held.replace([b"x"])
    assert names(tmp_path) == ["new"]


ADD = """
print("ready", flush=True)
sys.stdin.readline()
for _ in range(25):
    with locked(Path(sys.argv[1]), wait=60) as file:
        data = file.read() if file.version is not None else b""
        try:
            file.replace([data, sys.argv[2].encode()])
        except PiscesError as error:
            assert file.version is None, error  # Another made it first: the one thing that no lock can keep apart.
            file.read()
            file.replace([file.read(), sys.argv[2].encode()])
"""


# Two writers at once.
@pytest.mark.parametrize("there", [True, False], ids=["a file that is there", "a new file"])
def test_processes_that_add_to_one_file_at_once_lose_nothing(file: Path, there: bool) -> None:
    if there:
        file.write_bytes(b"")
    else:
        file.unlink()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE + ADD, str(file), mark],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment,
        )
        for mark in "abcd"
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=PATIENCE * 2)
    assert [writer.returncode for writer in writers] == [0] * 4
    data = file.read_text(encoding="utf-8")
    assert {mark: data.count(mark) for mark in "abcd"} == dict.fromkeys("abcd", 25)
    assert names(file.parent) == ["a.txt"]


AS_NOBODY = """
import os
os.setgroups([]); os.setgid(65534); os.setuid(65534)
write(sys.argv[1], 1024)
"""


def as_nobody(file: Path) -> list[str]:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    for folder in file.parents:
        if not folder.stat().st_mode & stat.S_IXOTH:
            pytest.skip(f"nobody else may enter {folder}")
    done = child(AS_NOBODY, file)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def public() -> Iterator[Path]:
    """A file where other users can get at it, which those of the other tests are not."""
    with tempfile.TemporaryDirectory(prefix="pisces-files-") as folder:
        os.chmod(folder, 0o755)
        path = Path(folder, "a.txt")
        path.write_bytes(OLD)
        yield path


def test_a_file_in_a_folder_that_may_not_be_written_is_told(public: Path) -> None:
    public.chmod(0o666)
    told = as_nobody(public)
    assert told[0] == f"FileError {public} could not be written: permission denied"
    assert "change the mode of the file or of its folder" in told[1]
    assert public.read_bytes() == OLD


def test_a_file_that_may_not_be_written_is_not_replaced_though_its_folder_may(public: Path) -> None:
    public.parent.chmod(0o777)
    public.chmod(0o644)
    assert as_nobody(public)[0] == f"FileError {public} is read-only."
    assert (public.read_bytes(), names(public.parent)) == (OLD, ["a.txt"])


def test_a_file_that_may_not_be_read_is_told(public: Path) -> None:
    public.chmod(0o600)
    assert as_nobody(public)[0] == f"FileError {public} could not be opened: permission denied"


def test_who_may_read_a_file_does_not_grow_when_its_group_cannot_be_kept(public: Path) -> None:
    public.parent.chmod(0o777)
    public.chmod(0o676)
    assert as_nobody(public) == ["written"]
    assert stat.S_IMODE(public.stat().st_mode) == 0o666


def test_a_link_and_the_mode_of_what_it_leads_to_stay_through_another_process(file: Path) -> None:
    file.chmod(0o751)
    link = file.with_name("link")
    link.symlink_to("a.txt")
    assert child("write(sys.argv[1], 1024)", link).stdout == "written\n"
    assert (link.is_symlink(), stat.S_IMODE(file.stat().st_mode), read_whole(file)[1].size) == (True, 0o751, 1024)
