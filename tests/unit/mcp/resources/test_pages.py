"""Pages of a text: put together they are the text, and none is too long."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import InvalidCall
from pisces.mcp.resources.pages import Page, page_of_data, page_of_file, page_of_lines
from pisces.output.artifact_text import LineRange
from pisces.output.artifacts import ArtifactStore


def address(start: int) -> str:
    return f"next://{start}"


@given(text=st.text(st.sampled_from("aé漢😀\n"), max_size=200), most=st.integers(4, 30))
def test_pages_put_together_are_the_text(text: str, most: int) -> None:
    data, start, shown = text.encode("utf-8"), 0, ""
    while True:
        page = page_of_data(data, start, most)
        assert len(page.data) <= most
        shown += page.data.decode("utf-8")  # No page cuts a character.
        if not page.more:
            break
        assert page.data, "a page that shows nothing leads nowhere"
        start += len(page.data)
    assert shown == text


def test_a_page_ends_with_the_address_of_the_next() -> None:
    page = page_of_data(b"one\ntwo\nthree\n", 0, 9)
    assert page.text(address, "; or not") == "one\ntwo\n[…bytes 0 to 8; go on with next://8; or not…]"
    assert page_of_data(b"one\ntwo\nthree\n", 8, 9) == Page(b"three\n", 8, more=False)
    assert page_of_data(b"one\n", 0, 9).whole


def test_pages_of_lines_count_from_the_first_of_them(tmp_path: Path) -> None:
    path = tmp_path / "1.python.log"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1, 1001)))
    lines = LineRange(500, 510)
    first = page_of_lines(path, "1", lines, 0, 50)
    rest = page_of_lines(path, "1", lines, len(first.data), 1000)
    assert first.more
    assert not rest.more
    assert first.data + rest.data == b"".join(b"line %d\n" % number for number in range(500, 511))


def test_no_more_of_a_file_is_read_than_a_page(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(10 << 40)  # It takes no room on the disk, and would not fit into memory.
        file.seek(9 << 40)
        file.write(b"here\n")
    assert page_of_file(path, 9 << 40, 6).data == b"here\n"


def test_pages_of_an_artifact_that_was_too_large_pass_over_what_is_missing(tmp_path: Path) -> None:
    data = b"".join(b"line %04d\n" % number for number in range(1, 2001))
    with ArtifactStore(tmp_path, limit=4000).new("s", "python") as writer:
        for start in range(0, len(data), 100):
            writer.write(data[start : start + 100])
    head = page_of_file(writer.path, 1500, 1000)
    assert head.data == data[1500:2000]
    assert head.missing_to is not None
    note = f"bytes 2000 to {head.missing_to} are missing: the output was too large to be kept whole"
    assert head.text(address).endswith(f"[…bytes 1500 to 2000; {note}; go on with next://{head.missing_to}…]")
    tail = page_of_file(writer.path, head.missing_to, 100_000)
    assert (tail.data, tail.more) == (data[head.missing_to :], False)
    assert page_of_file(writer.path, len(data) - 10, 100).data == b"line 2000\n"
    with pytest.raises(InvalidCall, match=rf"Bytes up to {head.missing_to} are missing") as caught:
        page_of_file(writer.path, 2000, 100)
    assert caught.value.hint == f"Go on with `from={head.missing_to}`."
    lines = page_of_lines(writer.path, "1", LineRange(200, 1999), 0, 100_000).data.decode().splitlines()
    assert lines[0] == "line 0200"
    assert lines[1].endswith("are missing: the output was too large to be kept whole…]")
    assert lines[-1] == "line 1999"


@pytest.mark.parametrize("start", [5, 10**15])
def test_a_page_past_the_end_is_refused(tmp_path: Path, start: int) -> None:
    path = tmp_path / "1.python.log"
    path.write_bytes(b"one\n")
    with pytest.raises(InvalidCall, match="There are 4 bytes"):
        page_of_data(b"one\n", start, 9)
    with pytest.raises(InvalidCall, match="There are 4 bytes"):
        page_of_file(path, start, 9)
    with pytest.raises(InvalidCall, match="There are 4 bytes"):
        page_of_lines(path, "1", LineRange(1), start, 9)
