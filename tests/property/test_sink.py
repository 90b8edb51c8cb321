"""The sink against a model that keeps everything and works character by character."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.output.sink import OutputSink, SinkLimits
from tests.unit.output.spills import MemorySpill

PARTS = ["a", "bc", "é", "漢字", "🐟", "\n", "\n\n", "\r", "word " * 4, "x" * 90, "line\n" * 7, "é" * 45]
WRITES = st.lists(st.sampled_from(PARTS), max_size=60)
LIMITS = st.sampled_from([
    SinkLimits(max_bytes=200, max_lines=8, head_bytes=80, line_chars=30),
    SinkLimits(max_bytes=200, max_lines=100, head_bytes=0, line_chars=4000),
    SinkLimits(max_bytes=4000, max_lines=5, head_bytes=2000, line_chars=10),
    SinkLimits(),
])  # fmt: skip


def as_shown(text: str, clamp: int) -> list[str]:
    """The lines of a text as they should be shown, one state of each."""
    lines = []
    for line in text.split("\n"):
        last = next((state for state in reversed(line.split("\r")) if state), "")
        cut = len(last) - clamp
        lines.append(last if cut <= 0 else f"{last[:clamp]}[…{cut} characters cut…]")
    return lines


def line_count(text: str) -> int:
    return text.count("\n") + (text != "" and not text.endswith("\n"))


@given(writes=WRITES, limits=LIMITS)
def test_everything_is_shown_or_counted_as_elided(writes: list[str], limits: SinkLimits) -> None:
    spill = MemorySpill()
    sink = OutputSink(limits=limits, spill=lambda: spill)
    for text in writes:
        sink.write(text)
    dump = sink.dump()
    sink.close()
    stream = "".join(writes)
    kept = stream.replace("\r", "\n")

    assert (dump.total_bytes, dump.total_lines) == (len(kept.encode()), line_count(kept))
    assert dump.shown_bytes + dump.elided_bytes == dump.total_bytes
    assert dump.shown_lines + dump.elided_lines == dump.total_lines
    assert dump.shown_bytes <= limits.max_bytes
    assert dump.shown_lines <= limits.max_lines
    expected = as_shown(stream, limits.clamp)
    if not dump.truncated:
        assert dump.text == "\n".join(expected)
    else:
        assert dump.artifact_id == "1"
        assert spill.data.decode() == kept
        head, marker, tail = dump.text.partition(f"[…{dump.total_lines - _numbered(dump.ranges)} lines elided…]\n")
        assert "\n".join(expected).startswith(head)
        if marker:
            assert "\n".join(expected).endswith(tail)


@given(writes=WRITES, limits=LIMITS, looks=st.sets(st.integers(0, 60)))
def test_looking_while_output_goes_on_changes_nothing(writes: list[str], limits: SinkLimits, looks: set[int]) -> None:
    watched, unwatched = OutputSink(limits=limits), OutputSink(limits=limits)
    for number, text in enumerate(writes):
        watched.write(text)
        unwatched.write(text)
        if number in looks:
            watched.dump()
            watched.tail(50)
    assert watched.dump() == unwatched.dump()
    assert watched.tail() == unwatched.tail()


@given(before=WRITES, cleared=st.lists(WRITES, max_size=3), after=WRITES)
def test_clearing_shows_as_if_nothing_had_come_since_the_mark(
    before: list[str], cleared: list[list[str]], after: list[str]
) -> None:
    sink, fresh = OutputSink(), OutputSink()
    for target in (sink, fresh):
        for text in before:
            target.write(text)
        target.mark()
    for writes in cleared:
        for text in writes:
            sink.write(text)
        sink.clear()
    for target in (sink, fresh):
        for text in after:
            target.write(text)
    assert sink.dump().text == fresh.dump().text


@given(writes=WRITES, size=st.integers(1, 300))
def test_the_live_tail_is_the_end_of_what_is_shown(writes: list[str], size: int) -> None:
    sink = OutputSink()
    for text in writes:
        sink.write(text)
    tail = sink.tail(size)
    assert len(tail.encode()) <= size
    assert sink.dump().text.endswith(tail)


def _numbered(ranges: tuple[tuple[int, int], ...]) -> int:
    return sum(last - first + 1 for first, last in ranges)
