"""What a terminal sends: keys at once, pasted text as text, and nothing that is no text."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.tui.terminal_input import BEGIN, END, TerminalInput

SENT = st.lists(
    st.sampled_from(["a", "é", "\x1b", "\x1b[A", "\x1b[20", "0~", "1~", "[2J", "\x07", BEGIN, END]), max_size=12
)


def fed(data: bytes, sizes: list[int]) -> str:
    given_, text, at = TerminalInput(), "", 0
    for size in [*sizes, len(data)]:
        text += given_.feed(data[at : at + size])
        at += size
    return text


def test_an_escape_character_in_pasted_text_presses_no_key() -> None:
    sent = f"{BEGIN}one\x1b[2J\x1btwo{END}\x1b[A"
    assert fed(sent.encode(), []) == f"{BEGIN}one[2Jtwo{END}\x1b[A"


def test_keys_are_passed_on_at_once() -> None:
    taken = TerminalInput()
    assert taken.feed(b"\x1b") == "\x1b"
    assert taken.feed(b"[20") == "[20"
    assert taken.feed(b"0~\x1bx") == "0~x"


def test_bytes_that_are_no_text_are_marked_and_end_nothing() -> None:
    assert fed("é".encode("latin-1") + b"a", []) == "\ufffda"


@given(SENT, st.lists(st.integers(1, 5), max_size=20))
def test_however_it_is_cut_it_means_the_same(parts: list[str], sizes: list[int]) -> None:
    data = "".join(parts).encode()
    whole, cut = TerminalInput(), TerminalInput()
    at, said = 0, ""
    for size in sizes:
        said += cut.feed(data[at : at + size])
        at += size
    said += cut.feed(data[at:])
    assert said == whole.feed(data)


@given(SENT)
def test_between_the_marks_there_is_no_escape_character(parts: list[str]) -> None:
    text = fed("".join(parts).encode(), [])
    while BEGIN in text:
        pasted, _, text = text.partition(BEGIN)[2].partition(END)
        assert "\x1b" not in pasted
