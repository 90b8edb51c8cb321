from pathlib import Path

import pytest

from pisces.host.calls import with_loss
from pisces.host.losses import Ending, Losses, lost_sessions
from pisces.model.kernel_info import KernelInfo
from pisces.model.results import Details, ImageBlock, TextBlock, ToolResult
from pisces.model.sessions import LostSession
from pisces.sessions.key import SessionKey


@pytest.mark.parametrize(
    ("ending", "words"),
    [(None, "without being asked to"), ("stopped", "was stopped"), ("idle", "idle for too long")],
)
def test_the_next_host_knows_what_was_lost_and_why(tmp_path: Path, ending: Ending | None, words: str) -> None:
    file = tmp_path / "sessions.json"
    first = Losses(file)
    first.follow(["s"])
    if ending is not None:
        first.end(ending)
    second = Losses(file)
    assert words in (second.of("s") or "")
    assert second.of("t") is None


def test_a_loss_is_told_once_and_waits_for_it_through_any_number_of_hosts(tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    Losses(file).follow(["s", "t"])
    Losses(file)
    third = Losses(file)
    third.told("s")
    fourth = Losses(file)
    assert fourth.of("s") is None
    assert fourth.of("t") is not None


def test_a_session_that_was_closed_is_not_lost(tmp_path: Path) -> None:
    losses = Losses(tmp_path / "sessions.json")
    losses.follow(["s"])
    losses.follow([])
    assert Losses(tmp_path / "sessions.json").of("s") is None


def test_a_file_that_is_damaged_or_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    file.write_bytes(b'{"sessions": 5')
    losses = Losses(file)
    assert losses.of("s") is None
    unwritable = Losses(tmp_path / "no" / "such" / "folder" / "sessions.json")
    unwritable.follow(["s"])
    assert unwritable.of("s") is None


def test_a_result_says_first_what_was_lost_and_keeps_the_rest() -> None:
    image = ImageBlock("aGk=", "image/png")
    kernel = KernelInfo("native", "python", 1, "ready", "kept")
    details = Details(kernel=kernel, notices=["Command exited with code 1"])
    result = with_loss(ToolResult(content=[TextBlock("1"), image], details=details), "The host ended")
    assert result.text.startswith("[State: lost] The host ended. The state is lost")
    assert result.text.endswith("\n\n1")
    assert result.content[1] == image
    assert result.details.kernel.state == "lost"
    assert result.details.notices[1:] == ["Command exited with code 1"]


def test_what_a_lost_session_ran_is_known_until_its_loss_is_told(tmp_path: Path) -> None:
    file, key = tmp_path / "sessions.json", SessionKey("s", "/", "/a/python")
    losses = Losses(file)
    losses.follow(["s", "t"])
    losses.made(key)
    losses.made(SessionKey("closed", "/", "/b/python"))
    Losses(file)
    third = Losses(file)
    assert (third.kernel_of("s"), third.kernel_of("t"), third.kernel_of("closed")) == (key, None, None)
    third.told("s")
    assert Losses(file).kernel_of("s") is None


def test_sessions_that_were_lost_unexpectedly_are_listed_and_others_are_not(tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    first = Losses(file)
    first.follow(["s"])
    first.made(SessionKey("s", "/", "/a/python"))
    why = "The background host that kept the session ended without being asked to"
    expected = [LostSession("s", why, "/a/python")]
    assert lost_sessions(file) == expected
    second = Losses(file)
    second.follow(["t"])
    assert (second.listed(()), second.listed({"s"})) == (expected, [])
    second.end("stopped")
    assert lost_sessions(file) == expected, "whoever stopped the host knows what became of the other"
    Losses(file).told("s")
    assert lost_sessions(file) == []
