"""Whatever there is to show, its rows are made: none is wider than the terminal, and none takes long."""

import math
import random
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pisces.model.events import Status
from pisces.model.results import Outcome
from pisces.render.blocks import Block, Code, Formatted, Heading, Image, Markdown, Remark, Tree, Words
from pisces.render.drawn import Drawings
from pisces.render.look import Look
from pisces.render.plain_cells import plain_cell, plain_notice
from pisces.render.rows import width_of
from pisces.render.status_lines import _WORDS
from pisces.render.view import CellView, Notice, NoticeKind

PIECES = [
    "a", " " * 9, "\t", "\n", "\r", "\x1b[31m", "\x1b[", "\x1b]8;;x\x07", "\x9b1m", "\x00", "e\u0301\u0302", "\u202e",
    "漢字", "\U0001f468\u200d\U0001f469", "\u0600", "\ud800", "x" * 50, "-" * 75 + "\n", '  File "a", line 1\n',
    "E   Traceback (most recent call last)\n", "|a|b|\n|-|-|\n|c|d|\n", "> > - 1. ", "```\n", "[a](b)",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=15).map("".join)
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**4000), math.nan, math.inf])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | st.integers(), inner, max_size=4),
    max_leaves=12,
)
SIZES = st.integers(1, 10**6)
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    st.builds(Words, TEXT, st.sampled_from(["stdout", "stderr", "error", "text"])),
    st.builds(Formatted, TEXT, TEXT),
    st.builds(Markdown, TEXT),
    st.builds(Code, TEXT, st.sampled_from(["python", "bash", "", "no such language"]) | TEXT),
    st.builds(Tree, VALUES),
    st.builds(Remark, TEXT),
    st.builds(Heading, st.integers(), st.lists(TEXT, max_size=2).map(tuple)),
    st.builds(Image, st.just("image/png"), st.text("AB=+/!", max_size=8), SIZES, SIZES),
)
FIELDS = [
    "path",
    "pattern",
    "count",
    "chars",
    "error",
    "ms",
    "key",
    "value",
    "failed",
    "matches",
    "hits",
    "output",
    "top",
]
EVENTS = st.builds(Status, st.sampled_from([*_WORDS]) | TEXT, st.dictionaries(st.sampled_from(FIELDS), VALUES))
KINDS: list[NoticeKind] = ["restored", "lost", "unknown", "crashed", "stopped", "cut", "error", "info"]
NOTICES = st.builds(Notice, st.sampled_from(KINDS), TEXT)
OUTCOMES: list[Outcome | None] = [None, "ok", "error", "timeout", "interrupted", "crashed", "aborted", "disconnected"]
VIEWS = st.builds(
    CellView,
    code=TEXT,
    language=st.sampled_from(["python", "bash", "markdown", "r"]) | TEXT,
    title=TEXT,
    place=TEXT,
    status=st.sampled_from(["pending", "running", "complete", "error"]),
    began=st.none() | st.floats(),
    duration_ms=st.none() | NUMBERS,
    outcome=st.sampled_from(OUTCOMES),
    exit_code=st.none() | st.integers(),
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
    status_events=st.lists(EVENTS, max_size=4).map(tuple),
    notices=st.lists(NOTICES, max_size=2).map(tuple),
    artifact_id=st.none() | TEXT,
    mark=TEXT,
)
LOOKS = st.builds(
    Look,
    width=st.integers(8, 130),
    expanded=st.booleans(),
    variant=st.sampled_from(["tool", "own"]),
    coloured=st.booleans(),
    dark=st.booleans(),
    pictures=st.booleans(),
    ascii=st.booleans(),
    now=st.floats(0, 2e9),
)


@given(view=VIEWS | NOTICES, look=LOOKS)
@example(view=CellView(code="", blocks=(Words("e\u0301" * 200),)), look=Look(width=40, ascii=True))
@example(view=Notice("lost", "x" * 38 + "  y"), look=Look(width=40))
def test_every_view_has_rows_in_every_look(view: CellView | Notice, look: Look) -> None:
    rows = Drawings().lines_of(view, look)
    assert rows
    for row in rows:
        line = "".join(piece.text for piece in row)
        assert width_of(row) <= look.width
        assert line.isascii() or not look.ascii
        assert not set(line) & set("\n\r\t\x1b\x9b\u202e\x00")


@given(view=VIEWS | NOTICES, expanded=st.booleans())
def test_every_view_can_be_read_aloud(view: CellView | Notice, expanded: bool) -> None:
    text = plain_cell(view, expanded=expanded) if isinstance(view, CellView) else plain_notice(view)
    assert text.endswith("\n")
    assert not set(text) & set("\r\t\x1b\x9b\u202e\x00")


SIZE = 50 * 1024
RANDOM = random.Random(20)
HARD = {
    "empty lines": "\n" * SIZE,
    "one line": "x" * SIZE,
    "one wide line": "漢" * SIZE,
    "spaces": " " * SIZE + "x",
    "gaps": (" " * 5000 + "Traceback (most\n") * 10,
    "no markers": "~" * SIZE + "x",
    "no names": "a." * (SIZE // 2) + "!",
    "no frames": ' File "' * (SIZE // 7),
    "accents": "e\u0301" * (SIZE // 2),
    "turned around": "\u202e" * SIZE,
    "tabs": "\t" * SIZE,
    "sequences that never end": "\x1b]8;;\x1b[" * (SIZE // 7),
    "written over": "ab\r" * (SIZE // 3),
    "noise": "".join(chr(RANDOM.randrange(0x3000)) for _ in range(SIZE)),
}


@pytest.mark.parametrize("kind", ["stdout", "error"])
@pytest.mark.parametrize("name", HARD)
def test_fifty_kilobytes_are_drawn_before_anybody_notices(name: str, kind: Any) -> None:
    view = CellView(code="", status="complete", blocks=(Words(HARD[name], kind),))
    assert _seconds(view, Look(width=80)) < 0.25  # Five times what a person would notice.


@pytest.mark.parametrize("name", HARD)
def test_a_notice_is_drawn_as_quickly(name: str) -> None:
    assert _seconds(Notice("lost", HARD[name]), Look(width=40)) < 0.5


@pytest.mark.parametrize(
    "view",
    [
        CellView(code="", blocks=(Formatted("|a|b|\n|-|-|\n" + "|c|d|\n" * 500_000),)),
        CellView(code="# a\n" * 500_000, language="markdown"),
        CellView(code="", blocks=(Tree({"k" * 2_000_000: ["x" * 2_000_000, list(range(500_000))]}),)),
    ],
    ids=["a table", "markdown", "data"],
)
def test_of_megabytes_that_could_be_laid_out_only_what_is_shown_is_looked_at(view: CellView) -> None:
    assert _seconds(view, Look(width=40)) < 0.5  # It was seconds.


def _seconds(view: CellView | Notice, look: Look) -> float:
    took = []
    for _ in range(3):
        began = time.process_time()
        Drawings(most=0).lines_of(view, look)
        took.append(time.process_time() - began)
    return min(took)
