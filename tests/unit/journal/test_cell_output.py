"""What a journal takes down of one cell, and what it leaves out."""

from collections.abc import Iterable

import pytest

from pisces.journal import bounded_output
from pisces.journal.cell_output import CellOutput
from pisces.journal.entries import Output, TextCut
from pisces.journal.line import decode_line
from pisces.model.events import AnyEvent, ClearOutput, Display, Done, Error, Started, Status, Stream


def taken(events: Iterable[AnyEvent], output: CellOutput | None = None) -> list[AnyEvent | int]:
    """What is written of these events; where text is missing, the number of characters."""
    output = output or CellOutput(7)
    lines = b""
    for event in events:
        output.add(event)
        lines += output.take() if isinstance(event, Display) else b""
    lines += output.finish()
    found: list[AnyEvent | int] = []
    for line in lines.splitlines():
        entry = decode_line(line)
        assert isinstance(entry, Output | TextCut)
        assert entry.cell == 7
        found.append(entry.event if isinstance(entry, Output) else entry.characters)
    return found


def text_of(found: list[AnyEvent | int]) -> str:
    return "".join(event.text for event in found if isinstance(event, Stream))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test can fill."""
    monkeypatch.setattr(bounded_output, "HEAD_CHARACTERS", 10)
    monkeypatch.setattr(bounded_output, "TAIL_CHARACTERS", 4)
    monkeypatch.setattr(bounded_output, "MAX_LINE", 1000)
    monkeypatch.setattr(bounded_output, "MAX_RICH", 2000)
    monkeypatch.setattr(bounded_output, "_SMALL", 100)
    monkeypatch.setattr(bounded_output, "_MERGED", 1)


def test_neighbouring_text_of_one_stream_is_one_line() -> None:
    found = taken([Started(), *(Stream("stdout", f"{n}\n") for n in range(3)), Stream("stderr", "e"), Done("ok")])
    assert found == [Stream("stdout", "0\n1\n2\n"), Stream("stderr", "e")]


def test_text_and_displays_keep_their_order() -> None:
    events: list[AnyEvent] = [
        Stream("stdout", "a"),
        Display({"text/plain": "d"}),
        Stream("stdout", "b"),
        ClearOutput(),
        Status("read"),
    ]
    assert taken(events) == events


def test_of_long_text_the_beginning_and_the_end_are_kept_and_the_rest_is_counted(small: None) -> None:
    found = taken(Stream("stdout", character) for character in "0123456789 this is a long story")
    assert found == [Stream("stdout", "0123456789"), 17, Stream("stdout", "tory")]


def test_one_long_piece_is_cut_like_many_short_ones(small: None) -> None:
    assert taken([Stream("stderr", "0123456789" + "x" * 100 + "tail")]) == [
        Stream("stderr", "0123456789"),
        100,
        Stream("stderr", "tail"),
    ]


def test_text_that_just_fits_is_whole(small: None) -> None:
    found = taken([Stream("stdout", "0123456789abcd")])
    assert [event for event in found if isinstance(event, int)] == []
    assert text_of(found) == "0123456789abcd"


def test_a_display_within_long_text_stands_where_it_was(small: None) -> None:
    drawing = Display({"image/png": "AAAA"})
    found = taken([Stream("stdout", "0123456789abcdef"), drawing, Stream("stdout", "ghijkl")])
    assert found == [Stream("stdout", "0123456789"), 6, drawing, 2, Stream("stdout", "ijkl")]


def test_memory_stays_bounded_whatever_is_printed() -> None:
    output = CellOutput(7)
    piece = Stream("stdout", "x" * 10_000)
    for _ in range(1000):
        output.add(piece)
        output.take()
    found = taken([], output)
    cut = sum(event for event in found if isinstance(event, int))
    assert len(text_of(found)) < 2 * bounded_output.TAIL_CHARACTERS
    assert cut + len(text_of(found)) + bounded_output.HEAD_CHARACTERS == 10_000_000


def test_of_a_display_that_is_too_large_the_small_parts_are_kept(small: None) -> None:
    output = CellOutput(7)
    found = taken([Display({"image/png": "A" * 2000, "text/plain": "<Figure>"}, display_id="d")], output)
    assert found == [Display({"text/plain": "<Figure>"}, display_id="d")]
    assert output.left_out == 1
    assert taken([Display({"image/png": "A" * 2000})]) == [
        Display({"text/plain": "[image/png of more than 0 MiB, not kept]"})
    ]


def test_more_displays_than_a_cell_may_keep_are_counted_but_an_error_is_told(small: None) -> None:
    output = CellOutput(7)
    found = taken([*[Display({"image/png": "A" * 500})] * 10, Error("E", "e", ("t" * 700,))], output)
    assert output.left_out == 10 - (len(found) - 1)
    assert 0 < output.left_out < 10
    assert isinstance(found[-1], Error)


def test_data_that_is_nested_too_deeply_is_left_out_and_counted() -> None:
    nested: object = []
    for _ in range(100_000):
        nested = [nested]
    output = CellOutput(7)
    assert taken([Display({"application/json": nested})], output) == []
    assert output.left_out == 1


def test_what_json_cannot_hold_is_replaced() -> None:
    events: list[AnyEvent] = [
        Stream("stdout", "a\ud800b"),
        Display({"application/json": {("k",): float("nan"), "o": {1, 2}}}),
    ]
    first, second = taken(events)
    assert first == Stream("stdout", "a\ufffdb")
    assert isinstance(second, Display)
    assert second.bundle["application/json"]["('k',)"] is None
