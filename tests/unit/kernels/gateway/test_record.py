"""The files of a local gateway: private, whole, and one folder for each interpreter and virtual environment."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from pisces.kernels.gateway.record import GatewayFolder, GatewayRecord, gateway_folders, venv_of
from pisces.settings.paths import Paths
from pisces.settings.recorded_process import RecordedProcess

RECORD = GatewayRecord(
    url="http://127.0.0.1:1",
    pid=os.getpid(),
    started_at=1.0,
    python="/usr/bin/python3",
    venv="",
    token="secret",
    start_time=RecordedProcess.of(os.getpid()).start_time,
)


@pytest.fixture
def folder(tmp_path: Path) -> GatewayFolder:
    found = GatewayFolder.locate(Paths(tmp_path), "/usr/bin/python3", "")
    found.make()
    return found


def test_the_folder_is_below_the_agent_folder_and_named_by_twelve_hex_digits(folder: GatewayFolder) -> None:
    assert folder.path.parent.parts[-2:] == ("agent", "python-gateway")
    assert len(folder.path.name) == 12
    int(folder.path.name, 16)


def test_two_names_of_one_interpreter_share_a_folder_and_two_virtual_environments_do_not(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    link = tmp_path / "python"
    link.symlink_to(sys.executable)
    ours = GatewayFolder.locate(paths, sys.executable, "")
    assert GatewayFolder.locate(paths, str(link), "") == ours
    assert GatewayFolder.locate(paths, sys.executable, "/a/venv") != ours
    assert GatewayFolder.locate(paths, sys.executable, "/a/venv") != GatewayFolder.locate(paths, sys.executable, "/b")


def test_a_virtual_environment_is_found_by_its_interpreter_too(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=60)
    python = str(venv / "bin" / "python")
    assert venv_of(python, {}) == os.path.realpath(venv)
    assert venv_of(python, {"VIRTUAL_ENV": str(venv)}) == os.path.realpath(venv)
    assert venv_of(os.path.realpath(python), {}) == ""


def test_what_is_written_is_read_and_only_its_owner_can_read_it(folder: GatewayFolder) -> None:
    folder.write(RECORD)
    assert folder.record() == RECORD
    assert stat.S_IMODE(folder.record_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert RECORD.process.is_running


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff\x00", msgspec.json.encode({"pid": 1})])
def test_a_record_that_cannot_be_understood_is_none(folder: GatewayFolder, content: bytes) -> None:
    folder.record_file.write_bytes(content)
    assert folder.record() is None


def test_a_record_can_be_forgotten_twice(folder: GatewayFolder) -> None:
    folder.write(RECORD)
    folder.forget()
    folder.forget()
    assert folder.record() is None


def test_all_recorded_gateways_are_found(tmp_path: Path, folder: GatewayFolder) -> None:
    paths = Paths(tmp_path)
    assert list(gateway_folders(paths)) == []
    other = GatewayFolder.locate(paths, "/usr/bin/python3", "/a/venv")
    other.make()
    folder.write(RECORD)
    other.record_file.write_bytes(b"{")
    assert {found.path for found in gateway_folders(paths)} == {folder.path, other.path}
