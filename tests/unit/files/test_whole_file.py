"""A file is read as one version, and replaced whole, by one writer at a time."""

import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pisces.errors import FileChanged, FileError, FileMissing
from pisces.files.version import FileVersion
from pisces.files.whole_file import locked, read_whole


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n")
    return path


def write(path: Path, *pieces: bytes) -> FileVersion:
    with locked(path) as held:
        return held.replace(pieces)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_reading_gives_all_bytes_and_the_version_of_them(file: Path) -> None:
    data, version = read_whole(file)
    assert (data, version.size) == (b"one\n", 4)
    assert read_whole(file)[1] == version
    file.write_bytes(b"three\n")
    assert read_whole(file)[1] != version


def test_a_new_mode_is_no_new_version(file: Path) -> None:
    _, version = read_whole(file)
    file.chmod(0o755)
    assert read_whole(file)[1] == version


def test_what_is_not_there_is_missing_and_the_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"File not found: .*no\.txt") as found:
        read_whole(tmp_path / "no.txt")
    assert found.value.hint == ""
    with pytest.raises(FileMissing) as found:
        read_whole(tmp_path / "no" / "no.txt")
    assert found.value.hint == f"There is no folder {tmp_path / 'no'}."


def test_a_folder_a_pipe_and_a_device_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="is a folder, not a file"):
        read_whole(tmp_path)
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(FileError, match="is not a plain file"):
            read_whole(path)
        with pytest.raises(FileError, match="is not a plain file"), locked(path):
            pass


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="No file can have this name"):
        read_whole(tmp_path / name)
    with pytest.raises(FileError, match="No file can have this name"), locked(tmp_path / name):
        pass


def test_links_that_lead_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(FileError, match="symbolic links"), locked(tmp_path / "a"):
        pass


def test_replacing_writes_the_pieces_and_leaves_nothing_beside_it(file: Path) -> None:
    with locked(file) as held:
        assert held.read() == b"one\n"
        version = held.replace([b"two", memoryview(b" and "), bytearray(b"three\n")])
        assert held.version == version
    assert read_whole(file) == (b"two and three\n", version)
    assert names(file.parent) == ["a.txt"]


def test_one_holder_can_replace_again_and_again(file: Path) -> None:
    with locked(file) as held:
        for number in range(5):
            held.replace([b"%d" % number])
            assert held.read() == b"%d" % number
    assert file.read_bytes() == b"4"


def test_a_new_file_has_the_mode_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert names(tmp_path) == ["new"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664])
def test_the_mode_stays(file: Path, mode: int) -> None:
    file.chmod(mode)
    write(file, b"x")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_owner_and_group_stay(file: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(file, 1234, 2345)
    write(file, b"x")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 2345)


def test_attributes_of_the_user_stay(file: Path) -> None:
    try:
        os.setxattr(file, "user.origin", b"here")
    except OSError:
        pytest.skip("this file system has no attributes")
    write(file, b"x")
    assert os.getxattr(file, "user.origin") == b"here"


def test_a_symbolic_link_stays_and_what_it_leads_to_is_replaced(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to("../a.txt")
    with locked(link) as held:
        assert held.path == file.resolve()
        held.replace([b"new"])
    assert (link.is_symlink(), file.read_bytes()) == (True, b"new")
    assert names(link.parent) == ["link"]


def test_a_link_that_leads_nowhere_gets_a_file_to_lead_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"x"


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="File not found"):
        write(tmp_path / "no" / "a.txt", b"x")


def in_place(path: Path) -> None:
    path.write_bytes(b"longer than it was\n")


def by_rename(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"one\n")
    os.replace(other, path)


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [in_place, by_rename, removed])
def test_a_change_by_others_since_the_read_is_never_overwritten(file: Path, change: object) -> None:
    assert callable(change)
    with locked(file) as held:
        held.read()
        change(file)
        expected = file.read_bytes() if file.exists() else None
        with pytest.raises(FileChanged, match=r"a\.txt has changed on disk since it was read; nothing was written\."):
            held.replace([b"mine"])
    assert (file.read_bytes() if file.exists() else None) == expected
    assert set(names(file.parent)) <= {"a.txt"}


def test_a_change_while_the_pieces_are_written_is_never_overwritten(file: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"mine"
        by_rename(file)
        file.write_bytes(b"theirs")

    with locked(file) as held, pytest.raises(FileChanged):
        held.replace(pieces())
    assert (file.read_bytes(), names(file.parent)) == (b"theirs", ["a.txt"])


def test_a_file_that_others_made_meanwhile_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "new"

    def pieces() -> Iterator[bytes]:
        yield b"mine"
        path.write_bytes(b"theirs")

    with locked(path) as held:
        assert held.version is None
        with pytest.raises(FileChanged, match="has been created by somebody else meanwhile"):
            held.replace(pieces())
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", ["new"])


def test_creation_is_decided_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The moment between check and link is made long enough for another writer, which cannot be had otherwise."""
    path = tmp_path / "new"
    link = os.link

    def late(source: Path, target: Path) -> None:
        path.write_bytes(b"theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with locked(path) as held, pytest.raises(FileChanged):
        held.replace([b"mine"])
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", ["new"])


def test_where_there_are_no_hard_links_files_are_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File systems without them are FAT and some of networks; no test can count on one."""

    def refused(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write(tmp_path / "new", b"x")
    assert ((tmp_path / "new").read_bytes(), names(tmp_path)) == (b"x", ["new"])


def test_pieces_that_fail_leave_the_file_as_it_was(file: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("no more")

    with locked(file) as held, pytest.raises(RuntimeError, match="no more"):
        held.replace(pieces())
    assert (file.read_bytes(), names(file.parent)) == (b"one\n", ["a.txt"])


def test_a_file_that_was_replaced_by_another_program_can_be_read_again_and_written(file: Path) -> None:
    with locked(file) as held:
        held.read()
        by_rename(file)
        file.write_bytes(b"theirs\n")
        assert held.read() == b"theirs\n"
        with open(file, "rb") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # The lock went along to the new file.
        held.replace([b"theirs and mine\n"])
    assert file.read_bytes() == b"theirs and mine\n"


def test_a_second_writer_is_told_who_is_in_the_way(file: Path) -> None:
    with locked(file), pytest.raises(FileError, match="is being written by another process"), locked(file, wait=0.05):
        pass


def test_the_lock_stays_with_the_name_when_the_file_is_replaced(file: Path) -> None:
    with locked(file) as held:
        held.replace([b"two\n"])
        with pytest.raises(FileError, match="is being written"), locked(file, wait=0.05):
            pass
    with locked(file, wait=0) as later:
        assert later.read() == b"two\n"


def test_the_lock_of_a_new_file_is_held_from_its_first_moment(tmp_path: Path) -> None:
    with locked(tmp_path / "new") as held:
        held.replace([b"x"])
        with pytest.raises(FileError, match="is being written"), locked(tmp_path / "new", wait=0.05):
            pass


def test_a_wait_for_the_lock_can_be_given_up(file: Path) -> None:
    def give_up() -> None:
        raise KeyboardInterrupt

    with locked(file), pytest.raises(KeyboardInterrupt), locked(file, while_waiting=give_up):
        pass
    with locked(file, wait=0):
        pass


def test_threads_that_add_to_a_file_lose_nothing(file: Path) -> None:
    def add(mark: bytes) -> None:
        for _ in range(20):
            with locked(file, wait=60) as held:
                held.replace([held.read(), mark])

    threads = [threading.Thread(target=add, args=(mark,)) for mark in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    data = file.read_bytes()
    assert [data.count(mark) for mark in (b"a", b"b", b"c")] == [20, 20, 20]
    assert names(file.parent) == ["a.txt"]


def test_without_locks_a_conflict_is_still_seen(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems of networks have none; no test can count on one."""

    def unsupported(descriptor: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with locked(file) as first:
        first.read()
        with locked(file) as second:
            second.replace([b"second"])
        with pytest.raises(FileChanged):
            first.replace([b"first"])
    assert (file.read_bytes(), names(file.parent)) == (b"second", ["a.txt"])


def test_no_descriptor_is_left_open(file: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    if before is None:
        pytest.skip("descriptors can be counted on Linux only")
    for number in range(5):
        with locked(file) as held:
            held.read()
            held.replace([b"x" * number])
        with locked(file) as held:
            held.read()
            in_place(file)
            with pytest.raises(FileChanged):
                held.replace([b"y"])
        write(file.with_name(f"new{number}"), b"z")
    assert len(os.listdir("/proc/self/fd")) <= before
