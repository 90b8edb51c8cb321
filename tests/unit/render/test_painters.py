"""Blocks as text alone, and as text with colours, tables and pictures."""

import base64
import io
import re
from typing import Protocol

import pytest
from PIL import Image as Pillow

from pisces.render.blocks import Block, Code, Formatted, Heading, Image, Markdown, Remark, Tree, Words
from pisces.render.pictures import drawn
from pisces.render.plain import PlainPainter
from pisces.render.screen import Pictures, Screen
from pisces.render.styled import StyledPainter

TERMINAL = Screen(width=60, styled=True, coloured=True)
WIDE = Formatted("| a | b |\n|---|---|\n| " + "x" * 70 + " | 2 |", "a b\n1 2")


def plain(*blocks: Block, most_lines: int | None = 20) -> str:
    return "".join(PlainPainter(most_lines=most_lines).paint(blocks))


def styled(*blocks: Block, screen: Screen = TERMINAL, most_lines: int | None = 20) -> str:
    written: list[str] = []
    StyledPainter(written.append, screen, most_lines=most_lines).paint(blocks)
    return "".join(written)


def without_styles(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Paint(Protocol):
    """Either of the two."""

    def __call__(self, *blocks: Block, most_lines: int | None = 20) -> str: ...


def lines_of(text: str) -> list[str]:
    """The lines of a text without its styles, and without what fills them up."""
    return [line.rstrip() for line in without_styles(text).splitlines()]


def picture(kind: str, width: int, height: int) -> Image:
    made = io.BytesIO()
    Pillow.effect_noise((width, height), 80).convert("RGB").save(made, kind)
    return Image(f"image/{kind.lower()}", base64.b64encode(made.getvalue()).decode(), width, height)


def test_plain_text_has_headings_sources_as_they_are_and_indented_outputs() -> None:
    text = plain(
        Heading(0, ("code", "[1]")),
        Code("x\n\ny", "python"),
        Words("\x1b[31mred\x1b[0m\n\nb"),
        Remark("[image/svg+xml]"),
        picture("PNG", 3, 2),
        Heading(1, ("markdown",)),
        Markdown("# Title <b>"),
    )
    assert text == (
        "── cell 0 · code · [1] ──\nx\n\ny\n    red\n\n    b\n    [image/svg+xml]\n    [image/png 3x2]\n"
        "── cell 1 · markdown ──\n# Title <b>\n"
    )


@pytest.mark.parametrize("paint", [plain, styled], ids=["plain", "styled"])
def test_long_outputs_are_collapsed_unless_all_is_wanted(paint: Paint) -> None:
    long = "".join(f"line {n}\n" for n in range(23))
    shown = lines_of(paint(Words(long)))
    assert (shown[0], shown[19], shown[20:]) == ("    line 0", "    line 19", ["    … 3 more lines"])
    assert len(lines_of(paint(Words(long), most_lines=None))) == 23


@pytest.mark.parametrize("paint", [plain, styled], ids=["plain", "styled"])
def test_of_a_long_traceback_the_end_is_shown(paint: Paint) -> None:
    shown = lines_of(paint(Words("\n".join(map(str, range(30))), "error")))
    assert (shown[0], shown[1], shown[-1]) == ("    … 10 more lines", "    10", "    29")


@pytest.mark.parametrize("paint", [plain, styled], ids=["plain", "styled"])
def test_a_table_that_is_too_wide_is_shown_as_its_maker_writes_it(paint: Paint) -> None:
    assert lines_of(paint(WIDE)) == ["    a b", "    1 2"]


def test_a_heading_fills_the_width_of_the_terminal() -> None:
    assert len(without_styles(styled(Heading(0, ("code", "[1]"))))) == 60 + len("\n")


def test_code_has_colours_and_is_not_broken_into_lines() -> None:
    source = f"def f():\n    return {'1 + ' * 40}1"
    shown = styled(Code(source, "python"))
    assert "\x1b[" in shown
    assert without_styles(shown) == source + "\n"


def test_a_language_that_nobody_knows_is_text() -> None:
    assert without_styles(styled(Code("a :- b.", "no-such-language"))) == "a :- b.\n"


def test_markdown_is_laid_out_and_nothing_of_it_is_lost() -> None:
    shown = without_styles(styled(Markdown("# Title\n\n* one\n\n<b>html</b> and [link](http://a.b/c)\n\n[bold]x[/]")))
    for words in ("Title", " • one", "<b>html</b>", "http://a.b/c", "[bold]x[/]"):
        assert words in shown
    assert "#" not in shown


def test_a_table_is_laid_out() -> None:
    shown = without_styles(styled(Formatted("| a | b |\n|---|---|\n| 1 | 2 |")))
    assert "|" not in shown
    assert re.search(r"^ +a +b *$", shown, re.MULTILINE)
    assert re.search(r"^ +1 +2 *$", shown, re.MULTILINE)


def test_json_has_colours() -> None:
    shown = styled(Tree({"a": None}))
    assert lines_of(shown) == ["    {", '      "a": null', "    }"]
    assert "\x1b[" in shown


def test_colours_of_an_output_stay_and_all_else_that_a_terminal_obeys_goes() -> None:
    shown = styled(Words("\x1b[32mgreen\x1b[0m\x1b[2J\x1b]0;title\x07[red]"))
    assert "\x1b[32mgreen" in shown
    assert without_styles(shown) == "    green[red]\n"


def test_no_color_leaves_no_colour() -> None:
    screen = Screen(width=60, styled=True)
    shown = styled(Code("import os", "python"), Words("\x1b[32mgreen\x1b[0m"), Words("x", "stderr"), screen=screen)
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", shown) for code in found.split(";")}
    assert codes <= {"", "0", "1", "2", "3", "4"}


def test_a_picture_is_named_where_it_cannot_be_shown() -> None:
    assert without_styles(styled(picture("PNG", 3, 2))) == "    [image/png 3x2]\n"


def on(pictures: Pictures) -> Screen:
    return Screen(width=80, styled=True, pictures=pictures, column_pixels=10.0)


def test_kitty_gets_the_png_in_chunks_that_it_takes_and_is_asked_not_to_answer() -> None:
    image = picture("PNG", 100, 60)
    sequences = drawn(image, on("kitty"))
    assert sequences is not None
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sequences)
    assert "".join(f"\x1b_G{keys};{data}\x1b\\" for keys, data in parts) == sequences
    assert len(parts) > 2
    assert parts[0][0] == "a=T,f=100,q=2,m=1"
    assert {keys for keys, _ in parts[1:-1]} == {"m=1"}
    assert parts[-1][0] == "m=0"
    assert all(len(data) == 4096 for _, data in parts[:-1])
    assert "".join(data for _, data in parts) == image.data


def test_kitty_gets_a_jpeg_as_png() -> None:
    sequences = drawn(picture("JPEG", 20, 10), on("kitty"))
    assert sequences is not None
    data = "".join(re.findall(r";([^\x1b]*)\x1b\\", sequences))
    with Pillow.open(io.BytesIO(base64.b64decode(data))) as opened:
        assert (opened.format, opened.size) == ("PNG", (20, 10))


def test_a_picture_that_cannot_be_opened_is_named() -> None:
    broken = Image("image/jpeg", base64.b64encode(b"\xff\xd8\xff no picture").decode(), 20, 10)
    assert drawn(broken, on("kitty")) is None
    assert without_styles(styled(broken, screen=on("kitty"))) == "    [image/jpeg 20x10]\n"


def test_iterm_gets_the_whole_file_with_its_size() -> None:
    image = picture("JPEG", 20, 10)
    size = len(base64.b64decode(image.data))
    expected = f"\x1b]1337;File=inline=1;size={size};preserveAspectRatio=1:{image.data}\x07"
    assert drawn(image, on("iterm")) == expected


@pytest.mark.parametrize(("way", "asked"), [("kitty", ",c=76,"), ("iterm", ";width=76;")])
def test_a_picture_is_no_wider_than_the_room_there_is(way: Pictures, asked: str) -> None:
    assert asked not in (drawn(picture("PNG", 760, 1), on(way), indent=4) or "")
    assert asked in (drawn(picture("PNG", 761, 1), on(way), indent=4) or "")


def test_where_pictures_cannot_be_shown_nothing_is_drawn() -> None:
    assert drawn(picture("PNG", 3, 2), on("none")) is None


def test_on_a_terminal_nothing_turns_a_line_around_or_piles_up_over_it() -> None:
    hostile = "a\u202eb" + "\u0301" * 50
    shown = styled(
        Heading(0, ("code", f"id {hostile}")),
        Code(f"x = 1  # {hostile}", "python"),
        Markdown(hostile),
        Words(hostile),
        Words(hostile, "error"),
        Formatted(hostile),
        Tree({hostile: hostile}),
        Remark(hostile),
    )
    assert "\u202e" not in shown
    assert "\u0301" * 5 not in shown
    assert without_styles(shown).count("a\\u202eb\u0301") == 9
