"""A cell as text: what comes into the editor runs again as it ran."""

import pytest

from pisces.render.view import CellView
from pisces.tui.desk.typed import Kind, Typed, understood
from pisces.tui.history.words import typed_text


@pytest.mark.parametrize(
    ("code", "language", "kind"),
    [
        ("x = 1", "python", "python"),
        ("!pip list", "python", "python"),
        ("!!ls", "python", "python"),
        ("$x", "python", "python"),
        ("ls -l", "bash", "shell"),
        ("! true", "bash", "shell"),
        ("$HOME/run", "bash", "shell"),
    ],
)
def test_code_in_the_editor_is_understood_as_what_it_was(code: str, language: str, kind: Kind) -> None:
    assert understood(typed_text(CellView(code=code, language=language))) == Typed(kind, code)


def test_code_that_nobody_mistakes_comes_as_it_is() -> None:
    assert typed_text(CellView(code="  x = '!'\n")) == "  x = '!'\n"
