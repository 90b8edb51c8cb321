"""Pictures in characters and in sixels: no larger than there is room, in their own colours, and never a crash."""

import base64
import io
import re

import pytest
from PIL import Image as Pillow
from rich.segment import Segment

from pisces.output.images import BrokenImage
from pisces.render.blocks import Image
from pisces.render.cells import cell_rows
from pisces.render.half_blocks import UPPER, half_blocks
from pisces.render.look import Look
from pisces.render.pictures import drawn
from pisces.render.rows import width_of
from pisces.render.screen import Screen
from pisces.render.sixel import sixels
from pisces.render.styled import StyledPainter
from pisces.render.view import CellView
from tests.fakes.cell_views import BROKEN, png, text_of


def encoded(picture: Pillow.Image, kind: str = "PNG") -> Image:
    made = io.BytesIO()
    picture.save(made, kind)
    return Image(f"image/{kind.lower()}", base64.b64encode(made.getvalue()).decode(), *picture.size)


def colours(piece: Segment) -> tuple[tuple[int, ...], tuple[int, ...]]:
    assert piece.style is not None
    assert piece.style.color is not None
    assert piece.style.bgcolor is not None
    return tuple(piece.style.color.get_truecolor()), tuple(piece.style.bgcolor.get_truecolor())


def test_a_character_is_two_pixels_one_above_the_other() -> None:
    picture = Pillow.new("RGB", (2, 2))
    for at, colour in {(0, 0): "#ff0000", (1, 0): "#00ff00", (0, 1): "#0000ff", (1, 1): "#ffffff"}.items():
        picture.putpixel(at, tuple(bytes.fromhex(colour[1:])))
    ((left, right),) = half_blocks(encoded(picture), 80, 20)
    assert (left.text, right.text) == (UPPER, UPPER)
    assert colours(left) == ((255, 0, 0), (0, 0, 255))
    assert colours(right) == ((0, 255, 0), (255, 255, 255))


def test_a_picture_that_was_taken_upright_is_drawn_upright() -> None:
    made, turned = io.BytesIO(), Pillow.Exif()
    turned[0x0112] = 6
    Pillow.new("RGB", (400, 100), "#ff0000").save(made, "JPEG", exif=turned)
    image = Image("image/jpeg", base64.b64encode(made.getvalue()).decode(), 400, 100)
    rows = half_blocks(image, 80, 20)
    assert (width_of(rows[0]), len(rows)) == (10, 20)
    assert '"1;1;100;400' in sixels(image, 800)


def test_sixteen_bits_of_grey_are_not_white() -> None:
    picture = Pillow.new("I;16", (2, 2), 0x8000)
    ((piece,),) = half_blocks(encoded(picture), 80, 20)
    assert colours(piece) == ((128, 128, 128), (128, 128, 128))


def test_neighbours_of_one_colour_are_one_piece() -> None:
    assert [len(piece.text) for piece in half_blocks(png(24, 8), 80, 20)[0]] == [12, 12]


@pytest.mark.parametrize(
    ("size", "columns", "rows"),
    [((640, 480), 53, 20), ((2000, 10), 80, 1), ((10, 2000), 1, 20), ((8, 8), 8, 4), ((1, 1), 1, 1)],
)
def test_a_picture_keeps_its_proportions_and_its_bounds(size: tuple[int, int], columns: int, rows: int) -> None:
    made = half_blocks(png(*size), 80, 20)
    assert (width_of(made[0]), len(made)) == (columns, rows)


@pytest.mark.parametrize(("dark", "background"), [(True, (30, 30, 30)), (False, (255, 255, 255))])
def test_where_it_is_transparent_it_is_dark_or_light_as_the_look_is(
    dark: bool, background: tuple[int, int, int]
) -> None:
    ((piece,),) = half_blocks(encoded(Pillow.new("RGBA", (3, 2))), 80, 20, dark=dark)
    assert colours(piece) == (background, background)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_pictures_of_every_mode_are_drawn(mode: str) -> None:
    assert len(half_blocks(encoded(Pillow.new(mode, (4, 4))), 80, 20)) == 2


def test_a_jpeg_is_drawn() -> None:
    assert len(half_blocks(encoded(Pillow.new("RGB", (400, 400)), "JPEG"), 80, 20)) == 20


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (BROKEN, "cannot be decoded"),
        (Image("image/png", png(4, 4).data, 100_000, 100_000), "too many"),
        (Image("image/png", png(40, 40).data[:80], 40, 40), "cannot be decoded"),
    ],
    ids=["broken", "huge", "cut"],
)
def test_a_picture_that_cannot_be_drawn_is_its_name_and_why(image: Image, why: str) -> None:
    with pytest.raises(BrokenImage, match=why):
        half_blocks(image, 80, 20)
    with pytest.raises(BrokenImage, match=why):
        sixels(image, 100)
    text = text_of(cell_rows(CellView(code="", blocks=(image,)), Look(width=300)))
    assert f"[image/png {image.width}x{image.height} cannot be shown: " in text
    assert drawn(image, Screen(styled=True, pictures="sixel")) is None


def test_more_rows_are_drawn_when_all_is_wanted() -> None:
    view = CellView(code="", blocks=(png(400, 400),))
    assert len(cell_rows(view, Look(width=100, expanded=True))) - len(cell_rows(view, Look(width=100))) == 20


@pytest.mark.parametrize("look", [Look(coloured=False), Look(pictures=False), Look(ascii=True)])
def test_without_colours_a_picture_is_named(look: Look) -> None:
    assert "[image/png 8x8]" in text_of(cell_rows(CellView(code="", blocks=(png(8, 8),)), look))


def decoded(sequence: str) -> Pillow.Image:
    """What a terminal shows of sixels."""
    size = re.match(r'\x1bP0;1q"1;1;(\d+);(\d+)', sequence)
    assert size is not None
    picture = Pillow.new("RGB", (int(size[1]), int(size[2])), "#123456")
    palette = {
        int(number): tuple(round(int(part) * 2.55) for part in parts)
        for number, *parts in re.findall(r"#(\d+);2;(\d+);(\d+);(\d+)", sequence)
    }
    body = re.sub(r"#\d+;2;\d+;\d+;\d+", "", sequence[size.end() : -2])
    for band, line in enumerate(body.split("-")):
        for part in line.split("$"):
            number, drawn = re.findall(r"^#(\d+)(.*)", part)[0]
            colour, column = palette[int(number)], 0
            for count, character in re.findall(r"(?:!(\d+))?([?-~])", drawn):
                for _ in range(int(count or 1)):
                    for bit in range(6):
                        if ord(character) - 63 >> bit & 1:
                            picture.putpixel((column, band * 6 + bit), colour)
                    column += 1
    return picture


def test_sixels_are_the_picture() -> None:
    shown = decoded(sixels(png(50, 20), 800))
    assert shown.size == (50, 20)
    assert {shown.getpixel((x, y)) for x in range(25) for y in range(20)} == {(255, 0, 0)}
    assert {shown.getpixel((x, y)) for x in range(25, 50) for y in range(20)} == {(0, 0, 255)}


def test_sixels_are_no_wider_than_the_room_there_is() -> None:
    assert decoded(sixels(png(500, 100), 120)).size == (120, 24)


def test_a_notebooks_picture_is_drawn_in_blocks_where_nothing_better_is_known() -> None:
    written: list[str] = []
    painter = StyledPainter(
        written.append, Screen(width=40, styled=True, coloured=True, pictures="blocks"), most_lines=20
    )
    painter.paint([png(8, 8), BROKEN])
    assert "".join(written).count(UPPER) == 8 * 4
    assert "cannot be shown" in "".join(written)
