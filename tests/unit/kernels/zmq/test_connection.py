"""The folder of a kernel is private, short enough for sockets, and gone when it is removed."""

import json
import stat
import tempfile
from pathlib import Path

import pytest

from pisces.errors import KernelStartError
from pisces.kernels.zmq.connection import CHANNELS, Connection


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_only_the_user_can_look_into_it() -> None:
    connection = Connection(files=True)
    assert stat.S_IMODE(connection.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(connection.file.stat().st_mode) == 0o600
    connection.remove()
    connection.remove()
    assert not connection.folder.exists()


def test_every_channel_has_an_address_of_its_own_in_the_folder() -> None:
    connection = Connection(files=True)
    said = json.loads(connection.file.read_text(encoding="utf-8"))
    assert (said["transport"], said["signature_scheme"], said["key"]) == ("ipc", "hmac-sha256", connection.key)
    addresses = {connection.address(channel) for channel in CHANNELS}
    assert addresses == {f"ipc://{said['ip']}-{said[f'{channel}_port']}" for channel in CHANNELS}
    assert len(addresses) == len(CHANNELS)
    assert all(address.startswith(f"ipc://{connection.folder}/") for address in addresses)
    connection.remove()


def test_ports_are_on_this_machine_only() -> None:
    connection = Connection(files=False)
    said = json.loads(connection.file.read_text(encoding="utf-8"))
    assert (said["transport"], said["ip"]) == ("tcp", "127.0.0.1")
    assert connection.address("shell") == f"tcp://127.0.0.1:{said['shell_port']}"
    assert len({said[f"{channel}_port"] for channel in CHANNELS}) == len(CHANNELS)
    connection.remove()


def test_where_paths_are_too_long_for_sockets_a_shorter_place_is_taken(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = temporary / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    connection = Connection(files=True)
    assert connection.transport == "ipc"
    assert connection.folder.parent == Path("/tmp")
    assert list(long.iterdir()) == []
    connection.remove()


def test_a_folder_that_cannot_be_made_is_told(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(KernelStartError, match="Cannot make a folder for a kernel's sockets"):
        Connection(files=True)


def test_each_kernel_has_a_key_of_its_own() -> None:
    connections = [Connection(files=True) for _ in range(5)]
    assert len({connection.key for connection in connections}) == 5
    for connection in connections:
        connection.remove()
