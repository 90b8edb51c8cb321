"""The line under an output that was cut."""

import pytest

from pisces.output.notice import format_size, truncation_notice
from pisces.output.sink import OutputSink
from tests.unit.output.spills import MemorySpill


def flooded(text: str, spill: MemorySpill) -> OutputSink:
    sink = OutputSink(spill=lambda: spill)
    sink.write(text)
    return sink


def test_the_notice_says_what_is_shown_and_how_to_read_the_rest() -> None:
    dump = flooded(("x" * 1023 + "\n") * 100, MemorySpill(id="3")).dump()
    assert truncation_notice(dump) == (
        "\n\n[Showing lines 1-20 and 71-100 of 100 (50 KiB limit). Read artifact://3 for full output]"
    )


def test_each_front_end_names_its_own_way_to_read() -> None:
    dump = flooded("x\n" * 4000, MemorySpill(id="7")).dump()
    notice = truncation_notice(dump, "Run `pisces artifact {id}`")
    assert notice.endswith("of 4000 (3000-line limit). Run `pisces artifact 7` for full output]")


def test_a_clamped_line_is_told_too() -> None:
    notice = truncation_notice(flooded("x" * 5000, MemorySpill()).dump())
    assert notice == "\n\n[Showing lines 1-1 of 1, with long lines cut. Read artifact://1 for full output]"


def test_the_notice_does_not_promise_an_artifact_that_is_not_whole() -> None:
    notice = truncation_notice(flooded("x\n" * 5000, MemorySpill(room=10)).dump())
    assert "for full output" not in notice
    assert "Artifact 1 has only the first 0 bytes of the output" in notice


def test_nothing_cut_means_no_notice() -> None:
    assert truncation_notice(flooded("x\n", MemorySpill()).dump()) == ""


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (812, "812 B"), (51200, "50 KiB"), (1572864, "1.5 MiB"), (2**50, "1024 TiB")]
)
def test_sizes_are_easy_to_read(size: int, text: str) -> None:
    assert format_size(size) == text
