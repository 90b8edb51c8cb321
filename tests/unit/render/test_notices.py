"""What has to be said: in a frame and in capitals where it is about the state."""

import pytest
from syrupy.assertion import SnapshotAssertion

from pisces.render.cells import notice_block
from pisces.render.look import Look
from pisces.render.plain_cells import plain_notice
from pisces.render.rows import width_of
from pisces.render.view import TITLES, Notice, NoticeKind
from tests.fakes.cell_views import NOTICES, styled_text_of, text_of


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_notice(snapshot: SnapshotAssertion, width: int) -> None:
    looks = (Look(width=width, coloured=False), Look(width=width))
    made = [notice_block(Notice(kind, text), look).rows for kind, text in NOTICES.items() for look in looks]
    texts = [(text_of if number % 2 == 0 else styled_text_of)(rows) for number, rows in enumerate(made)]
    assert "\n".join(texts) == snapshot


@pytest.mark.parametrize("kind", TITLES)
def test_what_became_of_the_state_is_seen_without_any_colour(kind: NoticeKind) -> None:
    rows = notice_block(Notice(kind, "text"), Look(coloured=False)).rows
    assert TITLES[kind] in text_of(rows)
    assert TITLES[kind].isupper()
    assert any(piece.style is not None and piece.style.reverse for piece in rows[0])
    assert {width_of(rows[0]), width_of(rows[-1])} == {80}
    assert plain_notice(Notice(kind, "text")) == f"{TITLES[kind]}: text\n"


def test_a_notice_cannot_bring_control_along_nor_fill_the_screen() -> None:
    text = text_of(notice_block(Notice("error", "a\x1b[2Jb\x07\u202ec\n" * 100), Look()).rows)
    assert "\x1b" not in text
    assert text.startswith("✗ ab\\u202ec\n")
    assert text.endswith("… 60 more lines")
