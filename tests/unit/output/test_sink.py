"""What of an output is shown, and what goes where when it is too much."""

import pytest

from pisces.output.record import HELD_LIMIT
from pisces.output.sink import OutputSink, SinkLimits
from tests.unit.output.spills import MemorySpill


def refuse() -> MemorySpill:
    raise AssertionError("nothing was cut, so no artifact may be made")


def test_small_output_is_shown_whole_and_makes_no_artifact() -> None:
    sink = OutputSink(spill=refuse)
    sink.write("one\ntwo")
    dump = sink.dump()
    sink.close()
    assert (dump.text, dump.truncated, dump.total_lines, dump.total_bytes) == ("one\ntwo", False, 2, 7)
    assert dump.truncation is None
    assert dump.artifact_id is None


def test_output_exactly_at_the_limits_is_shown_whole() -> None:
    sink = OutputSink(spill=refuse)
    sink.write("x" * 1023 + "\n")
    for _ in range(49):
        sink.write("x" * 1023 + "\n")
    assert sink.dump().shown_bytes == 51200
    lines = OutputSink(spill=refuse)
    lines.write("\n" * 3000)
    assert not lines.dump().truncated


def test_a_long_output_shows_its_head_and_its_tail_and_says_how_much_is_between() -> None:
    spill = MemorySpill()
    sink = OutputSink(spill=lambda: spill)
    whole = "".join(f"line {number}\n" for number in range(1, 10001))
    sink.write(whole)
    dump = sink.dump()
    sink.close()
    assert dump.text.startswith("line 1\nline 2\n")
    assert dump.text.endswith("line 9999\nline 10000\n")
    (first, head_end), (tail_start, last) = dump.ranges
    assert f"line {head_end}\n[…{tail_start - head_end - 1} lines elided…]\nline {tail_start}\n" in dump.text
    assert (first, last, dump.limit) == (1, 10000, "3000-line")
    assert dump.truncation is not None
    assert dump.truncation.shown_lines == 3000
    assert spill.data.decode() == whole


def test_wide_characters_are_never_cut_in_half() -> None:
    sink = OutputSink(limits=SinkLimits(max_bytes=100, max_lines=50, head_bytes=40, line_chars=4000))
    sink.write("漢🐟é" * 200 + "\n" + "🐟" * 10 + "\n")
    dump = sink.dump()
    assert "�" not in dump.text
    assert dump.shown_bytes <= 100
    assert "�" not in sink.tail(10)


def test_a_long_line_is_clamped_for_display_only() -> None:
    spill = MemorySpill()
    sink = OutputSink(spill=lambda: spill)
    sink.write("x" * 5000 + "\nafter\n")
    dump = sink.dump()
    assert dump.text == "x" * 4000 + "[…1000 characters cut…]\nafter\n"
    assert (dump.truncated, dump.clamped_lines, dump.elided_bytes, dump.artifact_id) == (True, 1, 1000, "1")
    assert spill.data.decode() == "x" * 5000 + "\nafter\n"


def test_a_progress_bar_shows_its_last_state_and_keeps_all_in_the_artifact() -> None:
    spill = MemorySpill()
    sink = OutputSink(spill=lambda: spill)
    states = [f"{percent:3}% {'#' * percent}" for percent in range(101)] * 100
    sink.write("start\n")
    for state in states:
        sink.write(f"\r{state}")
    sink.write("\ndone\n")
    dump = sink.dump()
    sink.close()
    assert dump.text == f"start\n{states[-1]}\ndone\n"
    assert not dump.truncated
    assert dump.total_lines == len(states) + 3
    assert dump.total_bytes > HELD_LIMIT
    assert spill.data.decode() == "start\n\n" + "\n".join(states) + "\ndone\n"


def test_a_return_that_nothing_follows_erases_nothing() -> None:
    sink = OutputSink()
    sink.write("100%\r")
    assert sink.dump().text == "100%"
    sink.write("\n")
    assert sink.dump().text == "100%\n"


def test_clearing_keeps_what_came_before_the_mark() -> None:
    spill = MemorySpill()
    sink = OutputSink(limits=SinkLimits(max_lines=4, max_bytes=400, head_bytes=100), spill=lambda: spill)
    sink.write("[1/1] title\n")
    sink.mark()
    for frame in range(3):
        sink.write(f"frame {frame}")
        sink.clear()
    sink.write("last\n")
    assert sink.dump().text == "[1/1] title\nlast\n"
    sink.write("1\n2\n3\n4\n")
    dump = sink.dump()
    assert spill.data.decode() == "[1/1] title\nframe 0\nframe 1\nframe 2\nlast\n1\n2\n3\n4\n"
    assert dump.total_lines == 9
    assert dump.ranges == ((1, 4), (7, 9))


def test_a_cell_begins_on_a_line_of_its_own() -> None:
    sink = OutputSink()
    sink.write("no newline")
    sink.end_line()
    sink.end_line()
    sink.write("[2/2] title\n")
    assert sink.dump().text == "no newline\n[2/2] title\n"


def test_the_live_tail_holds_more_than_is_shown_in_the_end() -> None:
    sink = OutputSink()
    sink.write("".join(f"{number:09}\n" for number in range(20000)))
    tail = sink.tail()
    assert len(tail) == 102400
    assert tail.endswith("000019999\n")


def test_a_full_disk_is_told_and_does_not_end_the_run() -> None:
    spill = MemorySpill(room=100_000)
    sink = OutputSink(spill=lambda: spill)
    for number in range(200):
        sink.write(f"{number}\n" * 500)
    dump = sink.dump()
    sink.close()
    assert dump.text.endswith("199\n")
    assert dump.artifact_error is not None
    assert f"only the first {len(spill.data)} bytes" in dump.artifact_error
    assert "No space left" in dump.artifact_error
    assert spill.closed


def test_an_artifact_that_cannot_be_made_is_told_and_does_not_end_the_run() -> None:
    def denied() -> MemorySpill:
        raise PermissionError(13, "Permission denied")

    sink = OutputSink(spill=denied)
    sink.write("x\n" * 5000)
    dump = sink.dump()
    sink.close()
    assert dump.truncated
    assert dump.artifact_id is None
    assert dump.artifact_error == "The full output could not be kept: [Errno 13] Permission denied"


def test_one_artifact_is_made_however_much_is_cut() -> None:
    made: list[MemorySpill] = []

    def make() -> MemorySpill:
        made.append(MemorySpill(id=str(len(made))))
        return made[-1]

    sink = OutputSink(spill=make)
    for _ in range(10):
        sink.write("x\n" * 50_000)
        sink.clear()
    sink.close()
    sink.close()
    assert [spill.id for spill in made] == ["0"]


@pytest.mark.parametrize("bad", [{"head_bytes": 51200}, {"max_lines": 1}, {"line_chars": 0}, {"head_bytes": -1}])
def test_limits_that_do_not_fit_together_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="output limits do not fit together"):
        SinkLimits(**bad)
