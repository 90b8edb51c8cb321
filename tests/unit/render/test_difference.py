"""The differences between notebooks as a person sees them."""

from pisces.notebooks.compare import CellLike, compare
from pisces.render.difference import difference_lines

OLD = [CellLike(0, "a", "code", "x = 1\ny = 2", metadata={"k": 1}), CellLike(1, "b", "markdown", "gone")]
NEW = [CellLike(0, "a", "code", "x = 1\ny = 3\x1b[2J", metadata={"k": 2})]


def lines(*, coloured: bool) -> list[str]:
    return list(difference_lines(compare(OLD, NEW), coloured=coloured))


def test_each_cell_has_a_heading_and_below_it_what_differs() -> None:
    assert lines(coloured=False) == [
        "cell 0 (code, id a): changed",
        "  metadata k: 1 → 2",
        "@@ -1,2 +1,2 @@",
        " x = 1",
        "-y = 2",
        "+y = 3\\x1b[2J",
        "cell 1 (markdown, id b): removed",
        "-gone",
    ]


def test_colours_tell_old_from_new() -> None:
    shown = lines(coloured=True)
    assert shown[0] == "\x1b[1mcell 0 (code, id a): changed\x1b[0m"
    assert shown[1] == "  metadata k: 1 → 2"
    assert shown[2:4] == ["\x1b[36m@@ -1,2 +1,2 @@\x1b[0m", " x = 1"]
    assert shown[4:6] == ["\x1b[31m-y = 2\x1b[0m", "\x1b[32m+y = 3\\x1b[2J\x1b[0m"]
