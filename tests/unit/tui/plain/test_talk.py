"""The talk, without a host."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pisces.errors import InvalidCall
from pisces.tui.desk.host_link import LONG
from pisces.tui.desk.sessions import SeenSession
from pisces.tui.options import UiOptions
from pisces.tui.plain.commands import command_of
from pisces.tui.plain.ending import EndSignals
from pisces.tui.plain.talk import Talk


class Typed:
    """What a person types: lines, None for Ctrl+D, and Ctrl+C where nothing is left."""

    is_person = True

    def __init__(self, *lines: str | None) -> None:
        self._lines = list(lines)

    def next_line(self, prompt: str, before: str) -> str | None:
        if not self._lines:
            raise KeyboardInterrupt
        return self._lines.pop(0)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with EndSignals() as ending, asyncio.Runner() as runner:
        yield Talk(UiOptions(cwd=str(tmp_path)), runner, ending)


def typed(talk: Talk, *lines: str | None) -> Talk:
    talk.input = cast(Any, Typed(*lines))
    return talk


@contextmanager
def ctrl_c_is_caught() -> Iterator[None]:
    """One that is not would end the tests, and not this one alone."""
    try:
        yield
    except KeyboardInterrupt:
        pytest.fail("Ctrl+C ended the talk.")


def test_a_text_ends_with_a_dot(talk: Talk) -> None:
    assert typed(talk, "a", "", " .", ".").lines_until_a_dot() == "a\n\n ."


@pytest.mark.parametrize("lines", [("a",), ("a", None)], ids=["Ctrl+C", "Ctrl+D"])
def test_a_text_without_its_dot_is_none(talk: Talk, lines: tuple[str | None, ...]) -> None:
    with ctrl_c_is_caught(), pytest.raises(InvalidCall, match="nothing was changed"):
        typed(talk, *lines).lines_until_a_dot()


def test_ctrl_c_where_nothing_runs_ends_nothing(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(talk, "call", interrupted)
    with ctrl_c_is_caught():
        talk._do(":jobs")
    assert capsys.readouterr().out == "Interrupted.\n"
    assert not talk.ended


def test_code_where_none_can_be_run_counts_as_failed(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    talk.desk.switch(SeenSession(name="s", where="past", journal=None))
    talk._do("6 * 7")
    assert capsys.readouterr().out.startswith("Error: Session s is watched only.")
    assert talk._failed


def test_a_job_is_waited_for_as_long_as_it_takes(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[dict[str, Any]] = []

    def call(tool: str, **params: Any) -> SimpleNamespace:
        called.append({"tool": tool, **params})
        return SimpleNamespace(text="")

    monkeypatch.setattr(talk, "call", call)
    for command in (":wait job-1", ":cancel job-1"):
        does = command_of(command)
        assert does is not None
        does(talk)
    assert called == [
        {"tool": "session", "action": "wait", "job": "job-1", "timeout": LONG},
        {"tool": "session", "action": "cancel", "job": "job-1"},
    ]
