"""Which version of a file each owner knows."""

from pathlib import Path

from pisces.files.seen import ALL, MOST, SeenFiles
from pisces.files.version import FileVersion
from pisces.output.artifact_text import LineRange

FILE = Path("/a")


def version(number: int) -> FileVersion:
    return FileVersion(1, number, number, number)


def test_each_owner_knows_what_it_read() -> None:
    seen = SeenFiles()
    seen.note("me", FILE, version(1))
    assert (seen.version("me", FILE), seen.version("you", FILE)) == (version(1), None)


def test_a_write_is_known_to_its_writer_if_that_had_read_the_file() -> None:
    seen = SeenFiles()
    seen.wrote("me", FILE, version(1))
    assert seen.version("me", FILE) is None
    seen.note("me", FILE, version(1))
    seen.note("you", FILE, version(1))
    seen.wrote("me", FILE, version(2))
    assert (seen.version("me", FILE), seen.version("you", FILE)) == (version(2), version(1))


def test_what_was_not_asked_for_longest_is_forgotten_first() -> None:
    seen = SeenFiles()
    for number in range(MOST):
        seen.note("me", Path(f"/{number}"), version(number))
    assert seen.version("me", Path("/0")) == version(0)
    seen.note("me", Path("/more"), version(1))
    assert seen.version("me", Path("/0")) == version(0)
    assert seen.version("me", Path("/1")) is None


def test_parts_are_known_as_they_were_read_until_the_whole_is_read_or_written() -> None:
    seen = SeenFiles()
    seen.note("me", FILE, version(1), {"a": 1})
    seen.note("me", FILE, version(2), {"b": 2})
    assert [seen.part("me", FILE, name) for name in ("a", "b", "c")] == [1, 2, None]
    assert seen.part("you", FILE, "a") is None
    seen.note("me", FILE, version(3))
    assert seen.part("me", FILE, "a") is None
    seen.note("me", FILE, version(3), {"a": 1})
    seen.wrote("me", FILE, version(4))
    assert seen.part("me", FILE, "a") is None


def test_who_wrote_a_part_among_what_it_has_not_seen_knows_that_part_only() -> None:
    seen = SeenFiles()
    seen.note("me", FILE, version(1), {"a": 1, "b": 1})
    seen.wrote("me", FILE, None, {"a": 2})
    assert (seen.version("me", FILE), seen.part("me", FILE, "a"), seen.part("me", FILE, "b")) == (version(1), 2, 1)


def test_lines_are_known_of_one_version_and_cells_of_all() -> None:
    seen = SeenFiles()
    seen.note("me", FILE, version(1), lines=[LineRange(1, 2)], total=4, cells=[7])
    assert seen.note("me", FILE, version(1), lines=[LineRange(4, 4)], total=4) == (LineRange(1, 2), LineRange(4, 4))
    assert seen.note("me", FILE, version(1), of_view=True) == ()
    assert seen.note("me", FILE, version(1), lines=[LineRange(2, 3)], total=4) == ALL
    assert seen.note("me", FILE, version(2), cells=[8]) == ()
    assert (seen.lines("me", FILE), set(seen.cells("me", FILE))) == ((), {7, 8})
    seen.wrote("me", FILE, version(3), lines=(LineRange(5),), cells=[9])
    assert (seen.lines("me", FILE), set(seen.cells("me", FILE))) == ((LineRange(5),), {7, 8, 9})
    assert (seen.lines("you", FILE), set(seen.cells("you", FILE))) == ((), set())
