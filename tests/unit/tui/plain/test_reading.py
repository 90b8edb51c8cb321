"""Where the lines of the plain mode come from."""

import pytest

from pisces.tui.plain.reading import Pipe


def test_where_standard_input_is_closed_there_are_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert Pipe().next_line(">>> ", "") is None
