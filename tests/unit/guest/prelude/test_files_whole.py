"""A file is replaced in one step: it is the old or the new one, with the rights and the links it had."""

import os
import resource
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pisces.guest.prelude import whole_files
from pisces.guest.prelude.names import append, cp, delete_lines, insert_at, mv, read, replace, rm, rsed, sed, write
from tests.unit.guest.prelude.counterparts import as_somebody_else, each_raises, public_folder

EDITS: dict[str, Callable[[str], Any]] = {
    "write": lambda path: write(path, "new\n"),
    "replace": lambda path: replace(path, "old", "new"),
    "sed": lambda path: sed(path, "o.d", "new"),
    "rsed": lambda path: rsed("o.d", "new", os.path.dirname(path)),
    "delete_lines": lambda path: delete_lines(path, 1),
    "insert_at": lambda path: insert_at(path, 0, "x"),
    "cp": lambda path: cp("other", path),
}


@pytest.fixture(params=sorted(EDITS))
def edit(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """Each way to replace a file."""
    return EDITS[request.param]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_bytes(b"new\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_bytes(b"old\n")
    with public_folder(tmp_path / "d" / "a"):
        yield tmp_path


def names(folder: str = "d") -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664])
def test_the_mode_stays_and_nothing_else_is_left(edit: Callable[[str], Any], mode: int) -> None:
    os.chmod("d/a", mode)
    edit("d/a")
    assert stat.S_IMODE(os.stat("d/a").st_mode) == mode
    assert Path("d/a").read_bytes() != b"old\n"
    assert names() == ["a"]


def test_it_is_another_file_and_not_the_old_one_overwritten(edit: Callable[[str], Any]) -> None:
    with open("d/a", "rb") as old:
        edit("d/a")
        assert old.read() == b"old\n"


def test_owner_and_group_stay() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown("d/a", 1234, 2345)
    write("d/a", "x")
    found = os.stat("d/a")
    assert (found.st_uid, found.st_gid) == (1234, 2345)


def test_who_may_read_it_does_not_grow_when_the_group_cannot_be_kept() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of a group that is not its own")
    os.chown("d", 65534, 65534)
    os.chown("d/a", 65534, 2345)
    os.chmod("d/a", 0o660)
    with as_somebody_else():
        write("d/a", "x")
    found = os.stat("d/a")
    assert (found.st_gid, stat.S_IMODE(found.st_mode)) == (65534, 0o600)


def test_a_link_stays_and_what_it_leads_to_is_replaced() -> None:
    os.symlink("d/a", "link")
    os.symlink("link", "to_link")
    write("to_link", "x")
    assert (os.readlink("link"), Path("d/a").read_bytes()) == ("d/a", b"x")


def test_a_link_to_nothing_gets_something() -> None:
    os.symlink("new/b", "link")
    write("link", "x")
    append("link", "y")
    assert (os.readlink("link"), Path("new/b").read_bytes()) == ("new/b", b"xy")


def test_links_in_a_circle_are_told() -> None:
    os.symlink("circle", "circle")
    each_raises(
        OSError, "'circle'", lambda: write("circle", "x"), lambda: append("circle", "x"), lambda: read("circle")
    )


def test_a_new_file_has_the_mode_that_the_umask_leaves() -> None:
    before = os.umask(0o027)
    try:
        write("new/file", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("new/file").st_mode) == 0o640


def test_a_name_of_full_length_can_be_written() -> None:
    for name in ("x" * 255, "é" * 127):
        write(name, "x")
        write(name, "y")
        assert read(name) == "y"
    with pytest.raises(OSError, match="x" * 256):
        write("x" * 256, "y")


def test_a_read_only_file_is_not_replaced(edit: Callable[[str], Any]) -> None:
    os.chmod("d/a", 0o444)
    os.chmod("d", 0o777)
    with as_somebody_else(), pytest.raises(OSError, match="d/a"):
        edit("d/a")
    assert (Path("d/a").read_bytes(), names()) == (b"old\n", ["a"])


def test_a_file_in_a_folder_that_may_not_be_written_stays(edit: Callable[[str], Any]) -> None:
    os.chmod("d/a", 0o666)
    os.chmod("d", 0o555)
    with as_somebody_else(), pytest.raises(OSError, match=r"Permission denied.*'d/a'"):
        edit("d/a")
    assert (Path("d/a").read_bytes(), names()) == (b"old\n", ["a"])


def test_what_may_not_be_read_is_told() -> None:
    os.chmod("d/a", 0o000)
    with as_somebody_else():
        each_raises(PermissionError, "'d/a'", lambda: read("d/a"), lambda: replace("d/a", "old", "new"))


def test_what_may_not_be_moved_or_deleted_is_told() -> None:
    os.chmod("d", 0o555)
    with as_somebody_else():
        each_raises(PermissionError, "Permission denied: 'd/a'", lambda: rm("d/a"), lambda: mv("d/a", "d/b"))
        with pytest.raises(PermissionError, match=r"Permission denied for '(d/)?a' in it: 'd'"):
            rm("d", recursive=True)
    assert names() == ["a"]


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file can grow beyond 4096 bytes: the system refuses in the middle of a write, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_write_that_fails_in_the_middle_changes_nothing(small_disk: None) -> None:
    with pytest.raises(OSError, match="'d/a'"):
        write("d/a", "x" * 10_000)
    with pytest.raises(OSError, match="'d/b'"):
        write("d/b", "x" * 10_000)
    assert (Path("d/a").read_bytes(), names()) == (b"old\n", ["a"])


def test_an_interrupt_before_the_end_changes_nothing() -> None:
    def interrupted() -> None:
        with whole_files.taking_the_place_of(Path("d/a")) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (Path("d/a").read_bytes(), names()) == (b"old\n", ["a"])
