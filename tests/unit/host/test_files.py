import os
import socket
import time
from pathlib import Path

import pytest

from pisces.errors import PiscesError
from pisces.host.files import HostFiles, HostRecord
from pisces.host.guard import is_foreign, locked, peer_uid
from pisces.settings.paths import Paths
from pisces.settings.private_file import write_whole
from pisces.settings.recorded_process import process_start

LONG = Path("/", *["a-rather-long-name"] * 8)


def test_the_socket_is_in_the_agent_folder() -> None:
    found = HostFiles.locate(Paths(Path("/home/ada/.pisces")), {})
    assert found.socket == Path("/home/ada/.pisces/agent/host.sock")


@pytest.mark.parametrize(("temporary", "folder"), [("/var/tmp", "/var/tmp"), ("", "/tmp"), (str(LONG), "/tmp")])
def test_a_path_that_is_too_long_for_a_socket_is_replaced_by_a_short_one(temporary: str, folder: str) -> None:
    found = HostFiles.locate(Paths(LONG), {"TMPDIR": temporary})
    assert found.socket.parent.parent == Path(folder)
    assert len(os.fsencode(found.socket)) <= 100
    other = HostFiles.locate(Paths(LONG / "other"), {"TMPDIR": temporary})
    assert other.socket != found.socket


def test_where_a_host_was_recorded_counts_more_than_the_temporary_folder_of_the_client(tmp_path: Path) -> None:
    home = tmp_path.joinpath(*LONG.parts[1:])
    first = HostFiles.locate(Paths(home), {"TMPDIR": "/var/tmp"})
    first.agent.mkdir(parents=True)
    record = b'{"pid": 1, "started": 0, "version": "1", "socket": "%b"}' % os.fsencode(first.socket)
    write_whole(first.record_file, record)
    assert HostFiles.locate(Paths(home), {}).socket == first.socket


def test_a_folder_that_others_can_enter_is_not_used_for_the_socket(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o755)
    files = HostFiles(tmp_path / "agent", open_to_all / "host.sock")
    with pytest.raises(PiscesError, match="not yours alone"):
        files.make_folders()


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(private)
    with pytest.raises(PiscesError, match="not yours alone"):
        HostFiles(tmp_path / "agent", link / "host.sock").make_folders()


def test_a_record_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    files = HostFiles(tmp_path, tmp_path / "host.sock")
    assert files.record() is None
    files.record_file.write_text("{", encoding="utf-8")
    assert files.record() is None


def test_a_pid_that_was_given_to_another_process_is_not_taken_for_the_host() -> None:
    pid = os.getpid()
    assert HostRecord(pid, 0.0, "1", "", process_start(pid)).is_running
    assert not HostRecord(pid, 0.0, "1", "", process_start(pid) + 1).is_running
    assert not HostRecord(pid, 0.0, "1", "").is_running


def test_a_lock_keeps_a_second_holder_out_until_it_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, 1.0):
        began = time.monotonic()
        with pytest.raises(TimeoutError, match="held by another"), locked(path, 0.05):
            pytest.fail("two held it")
        assert time.monotonic() - began >= 0.05
    with locked(path, 0.0):
        pass


def test_only_the_same_user_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_uid(ours) in (None, os.getuid())
        assert not is_foreign(ours)
        if peer_uid(ours) is not None:
            monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
            assert is_foreign(ours)
