"""What a cell of the history looks like, read from its journal."""

from pathlib import Path

import pytest

from pisces.host.protocol import Told
from pisces.journal.bounded_output import HEAD_CHARACTERS
from pisces.journal.entries import CellBegan, CellEnded, Output
from pisces.model.events import ClearOutput, Display, ProcessExit, Status, Stream
from pisces.render.blocks import Words
from pisces.render.view import CellView
from pisces.tui.desk.body import MOST_TEXT, Bodies, load
from pisces.tui.desk.folding import Folded
from pisces.tui.desk.following import Following
from pisces.tui.desk.items import CellItem
from pisces.tui.desk.live import LiveText
from tests.unit.journal.journaling import BEGAN, cell
from tests.unit.tui.desk.journals import cell_items, read_all, write


def followed(journal: Path) -> tuple[Following, CellItem]:
    """The journal, and the last cell of it."""
    following = Following()
    following.go_on_with(journal)
    return following, cell_items(read_all(following))[-1]


def text(view: CellView) -> str:
    return "".join(block.text for block in view.blocks if isinstance(block, Words))


def test_a_running_cell_is_read_on_and_ends_as_if_it_had_been_read_at_once(tmp_path: Path) -> None:
    journal = write(tmp_path / "a", BEGAN, CellBegan(2.0, 1, "x"), Output(2.0, 1, Stream("stdout", "one\n")))
    following, item = followed(journal)
    bodies = Bodies()
    assert (bodies.view(item).status, text(bodies.view(item))) == ("running", "one\n")
    write(journal, Output(2.0, 1, Status("read", {"path": "p"})), Output(2.0, 1, Stream("stdout", "two\n")))
    read_all(following)
    assert text(bodies.view(item)) == "one\ntwo\n"
    write(journal, CellEnded(3.0, 1, "crashed", died=True, process_exit=ProcessExit(signal=9)))
    read_all(following)
    assert bodies.view(item) == load(item)
    assert (bodies.view(item).outcome, len(bodies.view(item).status_events)) == ("crashed", 1)
    assert "The kernel" in text(load(item))


def test_a_cell_whose_host_is_gone_is_shown_as_ended_and_unknown(tmp_path: Path) -> None:
    following, item = followed(write(tmp_path / "a", BEGAN, CellBegan(2.0, 1, "x")))
    following.timeline.ended_without_a_word()
    view = load(item)
    assert (view.status, view.outcome, view.notices[0].kind) == ("error", "disconnected", "unknown")


def test_a_long_text_is_shown_with_both_ends(tmp_path: Path) -> None:
    long = Stream("stdout", "first\n" + "x" * 400_000 + "\nlast")
    _, item = followed(write(tmp_path / "a", BEGAN, *cell(1, "x", long)))
    shown = text(load(item))
    assert shown.startswith("first\n")
    assert shown.endswith("\nlast")
    assert f"[…{400_011 - MOST_TEXT} characters are not shown here…]" in shown
    assert len(shown) < MOST_TEXT + 100


def test_displays_beyond_what_can_be_shown_are_not_read_and_named(tmp_path: Path) -> None:
    large = Display({"text/plain": "y" * (4 << 20)})
    end = Stream("stdout", "the end")
    _, item = followed(write(tmp_path / "a", BEGAN, *cell(1, "x", *[large] * 8, end)))
    view = load(item)
    assert text(view).endswith("the end")
    assert any("MiB of displays are not shown" in notice.text for notice in view.notices)
    assert sum(len(block.text) for block in view.blocks if isinstance(block, Words)) < 5 * MOST_TEXT


def test_a_little_that_is_not_shown_is_not_said_to_be_nothing(tmp_path: Path) -> None:
    large = Display({"text/plain": "y" * (1 << 19)})
    _, item = followed(write(tmp_path / "a", BEGAN, *cell(1, "x", *[large] * 27)))
    assert "1 MiB of displays are not shown" in load(item).notices[-1].text


@pytest.mark.parametrize("replaced", [True, False])
def test_an_animation_goes_on_and_pictures_that_stay_are_bounded(tmp_path: Path, *, replaced: bool) -> None:
    journal = write(tmp_path / "a", BEGAN, CellBegan(2.0, 1, "x"))
    following, item = followed(journal)
    bodies = Bodies()
    view = bodies.view(item)
    for number in range(40):
        frame = Display({"text/plain": f"frame {number} " + "y" * (1 << 20)})
        write(journal, *([Output(2.0, 1, ClearOutput(wait=True))] if replaced else []), Output(2.0, 1, frame))
        read_all(following)
        view = bodies.view(item)
        while bodies.behind:
            view = bodies.view(item)
    assert (len(view.blocks) == 1 and text(view).startswith("frame 39")) is replaced
    assert len(view.blocks) < 20


def test_what_a_journal_holds_back_is_heard_or_promised(tmp_path: Path) -> None:
    head = Output(2.0, 1, Stream("stdout", "x" * HEAD_CHARACTERS))
    _, item = followed(write(tmp_path / "a", BEGAN, CellBegan(2.0, 1, "x"), head))
    assert "More is on its way" in load(item).notices[-1].text
    item.live = LiveText()
    item.live.hear(Told(True, "newest\n"))
    assert text(load(item)) == "newest\n"
    assert not load(item).notices


def test_a_journal_that_is_gone_is_said(tmp_path: Path) -> None:
    journal = write(tmp_path / "a", BEGAN, *cell(1, "x"))
    _, item = followed(journal)
    journal.unlink()
    assert "cannot be read any more" in load(item).notices[-1].text


def test_what_is_kept_is_bounded(tmp_path: Path) -> None:
    said = Stream("stdout", "z" * 700_000)
    entries = [entry for number in range(1, 101) for entry in cell(number, "x", said)]
    following, _ = followed(write(tmp_path / "a", BEGAN, *entries))
    bodies = Bodies()
    for item in cell_items(following.timeline):
        bodies.view(item)
    assert 10 < len(bodies._bodies) < 80


def test_live_text_is_what_was_told_last() -> None:
    live = LiveText()
    assert (live.began, live.text) == (False, "")
    live.hear(Told(False, ""))
    assert not live.began
    for number in range(3):
        live.hear(Told(True, f"line {number}\n"))
    assert (live.began, live.text, live.times) == (True, "line 2\n", 4)


def test_a_cell_that_takes_long_to_read_is_read_to_its_end_all_the_same(tmp_path: Path) -> None:
    large = Display({"text/plain": "y" * (4 << 20)})
    journal = write(tmp_path / "a", BEGAN, *cell(1, "x", *[large] * 8, Stream("stdout", "the end")))
    _, item = followed(journal)
    folded = Folded(item.start)
    steps = 0
    while not folded.advance(item.path, item.end, item.ended, seconds=0.0):
        steps += 1
    assert steps > 2
    assert folded.outputs[-1]["text"] == "the end"


def test_a_journal_that_has_become_shorter_is_not_waited_for(tmp_path: Path) -> None:
    journal = write(tmp_path / "a", BEGAN, *cell(1, "x", Stream("stdout", "gone")))
    _, item = followed(journal)
    journal.write_bytes(journal.read_bytes()[: item.start + 10])
    assert load(item).blocks == ()
