from pathlib import Path

import pytest

from pisces.host.losses import Ending, Losses, with_loss
from pisces.model.kernel_info import KernelInfo
from pisces.model.results import Details, ImageBlock, TextBlock, ToolResult


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
