"""What was typed before: kept in a file that several write, and that may be damaged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pisces.tui.editor import past_inputs
from pisces.tui.editor.past_inputs import PastInputs
from pisces.tui.editor.recall import Recall


def loaded(file: Path) -> PastInputs:
    past = PastInputs(file)
    past.load()
    return past


def typed(past: PastInputs, *texts: str) -> None:
    for text in texts:
        if past.add(text):
            past.keep(text)


def test_what_was_typed_is_there_the_next_time_the_newest_first_and_each_once(tmp_path: Path) -> None:
    file = tmp_path / "agent" / "ui-history.jsonl"
    typed(PastInputs(file), "one", "two\nlines", "one", "three  \n")
    assert loaded(file).typed == ["three", "one", "two\nlines"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_begins_with_a_space_is_neither_kept_nor_remembered(tmp_path: Path) -> None:
    past = PastInputs(tmp_path / "h")
    typed(past, " token = 'secret'", "\n", "x")
    assert past.typed == ["x"]
    assert b"secret" not in (tmp_path / "h").read_bytes()


def test_what_is_very_long_is_remembered_and_not_kept(tmp_path: Path) -> None:
    past = PastInputs(tmp_path / "h")
    typed(past, "x" * 200_000)
    assert len(past.typed) == 1
    assert not (tmp_path / "h").exists()


def test_inputs_of_the_session_in_sight_come_first_in_a_search(tmp_path: Path) -> None:
    past = PastInputs(session=lambda: ["by an agent", "mine"])
    past.add("older")
    past.add("mine")
    assert past.all == ["by an agent", "mine", "older"]
    assert past.typed == ["mine", "older"]


def test_torn_and_foreign_lines_are_passed_over_and_the_next_line_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "h"
    file.write_bytes(b'{"text":"a"}\n\xff\xfe\n[1]\n{"text":3}\n\n{"text":"b","later":1}\n{"text":"to')
    past = loaded(file)
    assert past.typed == ["b", "a"]
    typed(past, "c")
    assert loaded(file).typed == ["c", "b", "a"]


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    file = tmp_path / "h"
    file.write_bytes(b"".join(b'{"text":"%d"}\n' % number for number in range(7_000)))
    past = loaded(file)
    assert past.typed[0] == "6999"
    assert len(past.typed) == past_inputs.MOST_KEPT
    assert len(file.read_bytes().splitlines()) == 4_000
    assert loaded(file).typed[0] == "6999"


def test_the_oldest_go_when_there_is_too_much_of_them(tmp_path: Path) -> None:
    file = tmp_path / "h"
    file.write_bytes(b"".join(b'{"text":"%d %s"}\n' % (number, b"x" * 9_000) for number in range(700)))
    typed(PastInputs(file), "the newest")
    assert file.stat().st_size <= past_inputs.MOST_BYTES
    assert loaded(file).typed[0] == "the newest"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="director"):
        loaded(tmp_path)


WRITER = """
import sys
from pathlib import Path
from pisces.tui.editor import past_inputs
past_inputs.MOST_BYTES = 30_000
past = past_inputs.PastInputs(Path(sys.argv[1]))
for number in range(300):
    past.keep(f"{sys.argv[2]} {number} " + "x" * 50)
"""


def test_two_that_write_and_drop_at_once_leave_whole_lines_and_the_newest_of_each(tmp_path: Path) -> None:
    file = tmp_path / "h"
    source = Path(past_inputs.__file__).resolve().parents[3]
    environ = os.environ | {"PYTHONPATH": os.fspath(source)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, os.fspath(file), name], env=environ) for name in ("a", "b")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    raw = file.read_bytes().splitlines()
    kept = loaded(file).typed
    assert len(kept) == len(raw), "every line is whole"
    assert file.stat().st_size <= 35_000
    assert any(text.startswith(("a 299 ", "b 299 ")) for text in kept[:1])
    assert sorted(os.listdir(tmp_path)) == ["h"]


def test_the_way_back_through_what_was_typed_keeps_the_draft_and_what_was_changed() -> None:
    recall = Recall(lambda: ["new", "old"])
    assert recall.later("draft") is None
    assert recall.earlier("draft") == "new"
    assert recall.earlier("new, changed") == "old"
    assert recall.earlier("old") is None
    assert recall.later("old") == "new, changed"
    assert recall.later("new, changed") == "draft"
    recall.end()
    assert recall.earlier("") == "new"
