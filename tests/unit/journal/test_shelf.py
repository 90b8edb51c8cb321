"""Looking at journals again and again: the list is the same as by a single look, and only what is new is read."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from pisces.journal.entries import SessionBegan, SessionClosed
from pisces.journal.folder import journal_path, list_journals
from pisces.journal.line import encode_line
from pisces.journal.shelf import Shelf
from pisces.journal.writer import JournalFile
from tests.unit.journal.journaling import cell

_LINES = {
    "cell": b"".join(map(encode_line, cell(1, "x = 1"))),
    "closed": encode_line(SessionClosed(9.0)),
    "damaged": b'{"type":"CellEnd\n',
    "other": b'{"type":"Unheard"}\n',
}


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(sorted(_LINES))), max_size=12))
def test_looking_again_and_again_shows_what_a_single_look_shows(
    steps: list[tuple[int, str]],
) -> None:

    with TemporaryDirectory() as folder:
        root = Path(folder)
        paths = [journal_path(root, f"s{number}") for number in range(3)]
        shelf = Shelf(root)
        for number, path in enumerate(paths):
            path.parent.mkdir()
            path.write_bytes(encode_line(SessionBegan(float(number), f"s{number}", "/w")))
        for number, what in steps:
            with paths[number].open("ab") as file:
                file.write(_LINES[what])
            assert shelf.look(limit=10) == list_journals(root, limit=10)
        assert shelf.look(limit=2) == list_journals(root, limit=2)


def test_a_line_that_is_being_written_counts_when_it_is_whole(tmp_path: Path) -> None:
    path = journal_path(tmp_path, "s")
    path.parent.mkdir()
    line = _LINES["cell"]
    path.write_bytes(encode_line(SessionBegan(1.0, "s")) + line[:20])
    shelf = Shelf(tmp_path)
    assert [info.cells for info in shelf.look(limit=5)] == [0]
    with path.open("ab") as file:
        file.write(line[20:])
    assert [info.cells for info in shelf.look(limit=5)] == [1]


def test_a_journal_that_is_held_is_live_and_one_that_is_gone_is_not_listed(tmp_path: Path) -> None:
    file = JournalFile(journal_path(tmp_path, "s"))
    file.append(encode_line(SessionBegan(1.0, "s")))
    shelf = Shelf(tmp_path)
    assert [info.state for info in shelf.look(limit=5)] == ["live"]
    file.close()
    assert [info.state for info in shelf.look(limit=5)] == ["not_closed"]
    for path in tmp_path.glob("*/*"):
        path.unlink()
    assert shelf.look(limit=5) == []
