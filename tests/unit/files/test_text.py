"""Text is read within bounds, and what is shown of it is told."""

import codecs
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.errors import FileError, FileMissing
from pisces.files.line_window import Limits, window
from pisces.files.selector import Selection, joined, split_selector
from pisces.files.text import part_of, read_part
from pisces.output.artifact_text import LineRange

ROOMY = Limits(max_bytes=51_200, max_lines=3000)
MEBIBYTE = 1024 * 1024


def read(path: Path, selector: str = "", limits: Limits = ROOMY) -> str:
    _, selection = split_selector(f"x:{selector}" if selector else "x", lambda text: False)
    return read_part(path, path.name, selection, limits)[0].text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.txt"


def test_lines_are_numbered(file: Path) -> None:
    file.write_bytes("def f():\n\treturn 'ä'\n".encode())
    assert read(file) == "     1\tdef f():\n     2\t\treturn 'ä'"


def test_the_last_line_needs_no_end(file: Path) -> None:
    file.write_bytes(b"a\nb")
    assert read(file) == "     1\ta\n     2\tb"
    assert read(file, "raw") == "a\nb"
    assert read(file, "raw:2") == "b"


def test_raw_is_the_text_as_it_is(file: Path) -> None:
    text = "one\r\ntwo\n\nthree\n"
    file.write_bytes(text.encode())
    assert read(file, "raw") == text


def test_wanted_lines_come_with_their_place(file: Path) -> None:
    file.write_bytes(b"".join(b"line %d\n" % number for number in range(1, 21)))
    assert read(file, "3-4,10") == (
        "     3\tline 3\n     4\tline 4\n…\n    10\tline 10\n\n[Showing lines 3-4 and 10 of 20]"
    )
    assert read(file, "19-99").endswith("    20\tline 20\n\n[Showing lines 19-20 of 20]")
    assert read(file, "20").endswith("[Showing line 20 of 20]")
    assert read(file, "raw:3-4") == "line 3\nline 4\n"


def test_a_line_past_the_end_is_told_with_the_number_of_lines(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    with pytest.raises(FileError, match=r"a\.txt has 2 lines; line 3 is past its end\.") as caught:
        read(file, "3")
    assert caught.value.hint == "Read up to a.txt:1-2."
    assert read(file, "2,5").endswith("[Showing line 2 of 2]")


def test_an_empty_file_is_told(file: Path) -> None:
    file.touch()
    assert (read(file), read(file, "raw"), read(file, "4-")) == ("(empty file)", "", "(empty file)")


def test_too_many_lines_are_cut_and_the_notice_goes_on_where_it_stopped(file: Path) -> None:
    file.write_bytes(b"x\n" * 50)
    shown = read(file, limits=Limits(max_bytes=51_200, max_lines=20))
    assert shown.splitlines()[19:] == [
        "    20\tx",
        "",
        "[Showing lines 1-20 of 50 (20 lines limit). Go on with: read a.txt:21-]",
    ]
    shown = read(file, "raw:11-15,31-", Limits(max_bytes=51_200, max_lines=10))
    notice = "[Showing lines 11-15 and 31-35 of 50 (10 lines limit). Go on with: read a.txt:raw:36-]"
    assert shown == "x\n" * 5 + "…\n" + "x\n" * 5 + "\n" + notice


def test_too_many_bytes_are_cut_between_lines(file: Path) -> None:
    file.write_bytes(b"0123456789\n" * 1000)
    shown = read(file, limits=Limits(max_bytes=1024, max_lines=3000))
    body, _, notice = shown.partition("\n\n")
    assert len(body.encode()) <= 1024
    last = len(body.splitlines())
    assert notice == f"[Showing lines 1-{last} of 1000 (1 KiB limit). Go on with: read a.txt:{last + 1}-]"
    following = read(file, f"{last + 1}-", Limits(max_bytes=1024, max_lines=3000))
    assert following.startswith(f"{last + 1:>6}\t0123456789\n")


def test_a_long_line_is_cut_and_says_by_how_much(file: Path) -> None:
    file.write_bytes("ä".encode() * 5000 + b"\r\nnext\n")
    first, second, _, notice = read(file).split("\n")
    assert first == f"     1\t{'ä' * 4000}[…1000 characters cut…]"
    assert second == "     2\tnext"
    assert notice.startswith("[Showing lines 1-2 of 2, with long lines cut.")


def test_a_line_longer_than_all_room_is_shown_in_part(file: Path) -> None:
    file.write_bytes("🐟".encode() * 3000)
    shown = read(file, limits=Limits(max_bytes=1024, max_lines=10))
    assert shown.startswith(f"     1\t{'🐟' * 256}[…2744 characters cut…]")


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_mark_is_decoded(file: Path, name: str) -> None:
    mark = codecs.BOM_UTF16_LE if name == "utf-16-le" else codecs.BOM_UTF16_BE
    file.write_bytes(mark + "grün\n🐟\n".encode(name))
    assert read(file) == (f"     1\tgrün\n     2\t🐟\n\n[The file begins with a byte order mark ({name.upper()})]")


def test_marks_and_line_ends_are_told_and_not_shown(file: Path) -> None:
    file.write_bytes(codecs.BOM_UTF8 + b"a\r\nb\r\n")
    assert read(file) == ("     1\ta\n     2\tb\n\n[The file begins with a byte order mark (UTF-8). Lines end in CRLF]")
    file.write_bytes(b"a\r\nb\n")
    assert read(file).endswith("[Some lines end in CRLF, others in LF]")


def test_bytes_that_are_no_utf_8_are_replaced_and_told(file: Path) -> None:
    file.write_bytes(b"caf\xe9\n")
    assert read(file) == "     1\tcaf\ufffd\n\n[Bytes that are no UTF-8 are shown as \ufffd]"
    file.write_bytes("a real \ufffd\n".encode())
    assert read(file) == "     1\ta real \ufffd"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x00\x01\x02", "binary data, 3 B"),
        (b"\x7fELF\x02\x01\x01\x00", "ELF program or library"),
        (b"%PDF-1.7\nrest", "PDF document"),
        (b"\x1f\x8b\x08abc", "gzip archive"),
        (b"SQLite format 3\x00rest", "SQLite database"),
    ],
)
def test_what_is_no_text_is_refused_with_its_kind_and_size(file: Path, data: bytes, kind: str) -> None:
    file.write_bytes(data)
    with pytest.raises(FileError, match="is not text") as caught:
        read(file)
    assert kind in str(caught.value)


@pytest.mark.parametrize("data", [b"BZhello\n", b"PAR1 is a word\n", b"BM and more\n", b"RIFF raff\n"])
def test_a_text_that_begins_like_something_else_is_text(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    assert read(file) == "     1\t" + data.decode().rstrip("\n")


def test_a_folder_is_told_with_what_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(FileError, match=r"is a folder, not a file\. It is empty"):
        read(folder)
    (folder / "sub").mkdir()
    for number in range(24):
        (folder / f"f{number:02}").touch()
    with pytest.raises(FileError, match=r"It has: f00, f01, .*, f19 and 5 more\."):
        read(folder)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read(tmp_path / "no")


@pytest.mark.parametrize("selector", ["", "900000-", "raw"])
def test_a_huge_line_and_a_huge_file_cost_no_memory(file: Path, selector: str) -> None:
    with open(file, "wb") as out:
        out.write(b"text\n" * 2000)
        out.truncate(256 * MEBIBYTE)  # The rest is one line of NULs that takes no room on the disk.
        out.seek(0, 2)
        out.write(b"\n" * 1_000_000 + b"last\n")
    tracemalloc.start()
    try:
        shown = read(file, selector)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * MEBIBYTE
    assert len(shown.encode()) < 64 * 1024
    assert "of 1002001" in shown


def test_a_text_of_its_own_is_bounded_the_same_way() -> None:
    text = "a\nb\n" * 10
    assert part_of(text, "n.ipynb", Selection(), ROOMY).text == text
    cut = part_of(text, "n.ipynb", Selection(), Limits(max_bytes=51_200, max_lines=10)).text
    assert cut == "a\nb\n" * 5 + "\n[Showing lines 1-10 of 20 (10 lines limit). Go on with: read n.ipynb:11-]"


lines_st = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12), max_size=12
)
ranges = st.builds(
    lambda first, height: LineRange(first, None if height is None else first + height),
    st.integers(1, 14),
    st.none() | st.integers(0, 4),
)


@given(lines_st, st.booleans(), st.lists(ranges, max_size=3), st.integers(1, 9), st.integers(1, 12))
def test_the_wanted_lines_are_those_of_a_plain_split(
    lines: list[str], ends: bool, spans: list[LineRange], size: int, most: int
) -> None:
    data = ("\n".join(lines) + ("\n" if ends and lines else "")).encode()
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    wanted = joined(spans)
    made = window(blocks, wanted, Limits(max_bytes=1_000_000, max_lines=most), numbered=False)
    there = data.split(b"\n")
    if not there[-1]:
        there.pop()
    numbers = [
        number
        for number in range(1, len(there) + 1)
        if not wanted or any(span.first <= number <= (span.last or number) for span in wanted)
    ]
    shown = [number for span in made.shown for number in range(span.first, (span.last or 0) + 1)]
    assert shown == numbers[:most]
    assert made.full == (len(numbers) > most)
    assert (made.total_lines, made.total_bytes, made.invalid) == (len(there), len(data), False)
    exact = [line + b"\n" for line in there]
    if not data.endswith(b"\n"):
        exact[-1:] = there[-1:]
    expected = b""
    for before, number in pairwise([shown[0] - 1 if shown else 0, *shown]):
        expected += (b"" if number == before + 1 else "…\n".encode()) + exact[number - 1]
    assert made.text.encode() == expected
