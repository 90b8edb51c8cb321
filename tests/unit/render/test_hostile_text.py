"""Whatever a cell says, is called or is made of: no row is wider than the terminal, and nothing turns it around."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from pisces.model.events import Status
from pisces.render.blocks import Formatted, Remark, Tree, Words
from pisces.render.cells import cell_rows, notice_block
from pisces.render.look import Look
from pisces.render.plain_cells import plain_cell, plain_notice
from pisces.render.shown_text import MOST_ACCENTS, clean_line, one_line, shown
from pisces.render.view import CellView, Notice

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PIECES = [
    "a", "word ", " ", "\t", "\n", "\r", "\r\n", "\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x1b[31m",
    "\x1b[0m", "\x1b[8m", "\x1b[2J", "\x1b[10;10H", "\x1b]0;t\x07", "\x1b]8;;http://a.b\x1b\\",
    "\x1b_Ga=T;AA\x1b\\", "\x1bPq~\x1b\\", "\x9b", "\x85", "\u0301", "\u0301" * 50, "\u202e", "\u202a",
    "\u2066", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u200c", "\u200d", "\ufeff", "\u2028",
    "\u2029", "\u00ad", "漢字", "ｱ", "한", "\u1112\u1161", "שלום", "سلام", "\u0627\u200d", FAMILY, "❤\ufe0f",
    "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "\U0001f3fb", "\U000e0041", "\ud800", "[red]", "**b**",
    "| a | b |\n|---|---|\n", "# h\n", "```\nx\n```\n", "<b>", "x" * 90, "\uffff", "\U0010ffff", "\ue000",
    "Traceback (most recent call last):\n",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def widest(text: str) -> int:
    """The columns of a row, by the terminal that knows least about what belongs together."""
    return max(cell_len(text), sum(get_character_cell_size(character) for character in text))


def harmless(text: str) -> bool:
    return not any(
        unicodedata.category(character) in {"Cc", "Zl", "Zp", "Cs"} or unicodedata.bidirectional(character) in TURNS
        for character in text
    )


@pytest.mark.parametrize("look", [Look(width=8), Look(width=20, variant="own"), Look(width=40, expanded=True)])
@given(text=HOSTILE, title=HOSTILE, code=HOSTILE)
@example(text=FAMILY * 40, title=FAMILY, code=FAMILY)
@example(text="\t" * 20, title="\t", code="\t\t\tx")
def test_no_row_is_wider_than_the_terminal_nor_has_anything_in_it_that_it_would_obey(
    look: Look, text: str, title: str, code: str
) -> None:
    view = CellView(
        code=code,
        title=title,
        place=title[:5],
        status="error",
        outcome="error",
        mark=title,
        blocks=(Words(text), Words(text, "error"), Formatted(text), Tree({title: [text]}), Remark(text)),
        status_events=(Status("read", {"path": title, "chars": 3}), Status(title, {"error": text})),
        notices=(Notice("lost", text), Notice("error", title)),
    )
    rows = (*cell_rows(view, look), *notice_block(Notice("crashed", text), look).rows)
    for row in rows:
        line = "".join(piece.text for piece in row)
        assert widest(line) <= look.width
        assert harmless(line)


@given(text=HOSTILE)
def test_plain_text_has_nothing_in_it_that_a_terminal_would_obey(text: str) -> None:
    view = CellView(code=text, title=text, blocks=(Words(text), Formatted(text), Tree([text])))
    assert harmless(plain_cell(view, expanded=True).replace("\n", ""))
    assert harmless(plain_notice(Notice("lost", text)).replace("\n", ""))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202eb\u202c", "a\\u202eb\\u202c"),
        ("\u2067x\u2069", "\\u2067x\\u2069"),
        ("a\u200eb\u200fc\u061cd", "abcd"),
        ("e" + "\u0301" * 1000, "e" + "\u0301" * MOST_ACCENTS),
        (FAMILY, "\U0001f468\U0001f469\U0001f467"),
        ("❤\ufe0f", "❤"),
        ("\U0001f44d\U0001f3fd", "\U0001f44d"),
        ("نمی\u200cخواهم", "نمی\u200cخواهم"),
        ("a\u200bb\ufeffc\u00add", "abcd"),
        ("\u0600", "\u0600"),
        ("a\tb", "a       b"),
        ("漢\tb", "漢       b"),
        ("x\u2028y", "x\\u2028y"),
        ("שלום", "שלום"),
    ],
    ids=ascii,
)  # fmt: skip
def test_what_could_break_a_line_is_shown_as_something_that_cannot(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_text_that_asks_to_be_hidden_is_shown() -> None:
    (row,) = cell_rows(CellView(code="", blocks=(Words("\x1b[8mrm -rf\x1b[0m"),)), Look(variant="own"))[1:]
    assert "".join(piece.text for piece in row) == "rm -rf"
    assert not any(piece.style.conceal for piece in row if piece.style)


def test_a_tab_goes_to_the_next_stop_whatever_the_colours() -> None:
    assert clean_line("\x1b[31mab\x1b[0m\tc", coloured=True) == "\x1b[31mab\x1b[0m      c"


def test_a_line_that_was_written_over_is_its_last_state() -> None:
    assert clean_line("10%\r50%\r100%\r", coloured=True) == "100%"


def test_a_name_of_others_is_one_line() -> None:
    assert one_line("a\nb\x1b[2J\tc" + "x" * 1000, 12) == "a b cxxxxxxx"
