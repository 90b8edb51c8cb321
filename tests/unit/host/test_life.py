"""A host that cannot begin tells the one who waits for it why, and what to do."""

import errno
import os
from pathlib import Path

import pytest

from pisces.host import life
from pisces.host.protocol import Refusal, decode_reply


def refusal_of_a_host_whose_start_raises(error: OSError, monkeypatch: pytest.MonkeyPatch) -> Refusal:
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("pisces.host.life.anyio.run", fail)
    monkeypatch.setattr(life, "write_log", lambda: None)
    reading, writing = os.pipe()
    with open(reading, "rb") as told:
        life.live(writing)
        refusal = decode_reply(told.read())
    assert isinstance(refusal, Refusal)
    return refusal


def test_a_host_on_a_full_disk_names_its_folder_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PISCES_HOME", str(tmp_path))
    refusal = refusal_of_a_host_whose_start_raises(OSError(errno.ENOSPC, "No space left on device"), monkeypatch)
    assert refusal.message == (
        f"The background host cannot be started in {tmp_path / 'agent'}: [Errno 28] No space left on device"
    )
    assert "PISCES_HOME" in refusal.hint


def test_a_host_whose_predecessor_does_not_end_asks_for_no_other_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PISCES_HOME", str(tmp_path))
    refusal = refusal_of_a_host_whose_start_raises(TimeoutError("host.alive is held by another process"), monkeypatch)
    assert refusal.message.endswith("host.alive is held by another process")
    assert "try again" in refusal.hint
    assert "PISCES_HOME" not in refusal.hint
