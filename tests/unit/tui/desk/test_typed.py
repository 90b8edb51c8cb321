"""What a person has typed: code, or a command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.tui.desk.typed import Typed, split_prefix, understood


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("x = 1", Typed("python", "x = 1")),
        ("$ x = 1", Typed("python", "x = 1")),
        ("$$ x = 1", Typed("python", "x = 1")),
        ("$HOME", Typed("python", "HOME")),
        ("! ls -l", Typed("shell", "ls -l")),
        ("!!ls", Typed("shell", "ls")),
        ("!!!ls", Typed("shell", "!ls")),
        ("! cat <<E\n  a\nE\n", Typed("shell", "cat <<E\n  a\nE")),
        ("!ls\nprint(1)", Typed("shell", "ls\nprint(1)")),
        ("x = !ls", Typed("python", "x = !ls")),
        ("%%bash\nls", Typed("python", "%%bash\nls")),
        ("?print", Typed("python", "?print")),
        ("\n\nif x:\n    y\n    ", Typed("python", "if x:\n    y")),
        ("  x = 'a secret'", Typed("python", "x = 'a secret'")),
        ("    if x:\n        y\n    z", Typed("python", "if x:\n    y\nz")),
        ("    x\ny", Typed("python", "x\ny")),
    ],
)
def test_what_is_typed_is_understood(text: str, typed: Typed) -> None:
    assert understood(text) == typed


@pytest.mark.parametrize("text", ["", "  ", "\n\t\n", "!", " ! ", "$", "$$ \n"])
def test_there_is_nothing_to_run(text: str) -> None:
    assert understood(text) is None


@given(st.text())
def test_nothing_of_a_text_is_lost_but_the_sign_and_white_space(text: str) -> None:
    kind, prefix, rest = split_prefix(text)
    assert prefix + rest == text
    assert prefix.strip() in ("", "$", "$$", "!", "!!")
    assert kind == ("shell" if "!" in prefix else "python")
    typed = understood(text)
    assert "".join((typed.text if typed else "").split()) == "".join(rest.split())
