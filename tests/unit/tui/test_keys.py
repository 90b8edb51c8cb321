"""The table of commands: complete, without two meanings of one key, and the same for keys, palette and help."""

import re
from collections import Counter

import pytest
from textual.binding import BindingType

from pisces.tui.actions.table import DOING
from pisces.tui.help import help_lines
from pisces.tui.keys import COMMANDS, WIDGET_KEYS, readable
from pisces.tui.main_screen import MainScreen
from pisces.tui.notebook.keys import BINDINGS_OF_NOTEBOOK
from pisces.tui.pager.screen import PagerScreen
from tests.source_tree import ROOT

SIGNS = {"question_mark": "?", "slash": "/", "colon": ":", "less_than_sign": "<", "greater_than_sign": ">"}
NAMES = {"pageup": "PageUp", "pagedown": "PageDown", "escape": "Esc"}


def test_every_command_of_the_table_can_be_carried_out() -> None:
    assert {command.name for command in COMMANDS} == set(DOING)


def test_no_key_has_two_meanings_on_the_main_screen() -> None:
    keys = Counter(key for command in COMMANDS for key in command.keys)
    assert [key for key, times in keys.items() if times > 1] == []


def test_every_key_of_the_table_is_bound() -> None:
    bound = MainScreen._merge_bindings().key_to_bindings
    for command in COMMANDS:
        for key in command.keys:
            assert [each.action for each in bound[key] if each.action == f"do('{command.name}')"], key


def test_every_key_is_one_that_terminals_send() -> None:
    for command in COMMANDS:
        for key in command.keys:
            *held, last = key.split("+")
            assert set(held) <= {"ctrl"}, key
            assert last.isalpha() or last in {f"f{number}" for number in range(1, 13)}, key


def test_help_tells_of_every_command_with_its_keys() -> None:
    told = dict.fromkeys(help_lines())
    for command in COMMANDS:
        keys = ", ".join(map(readable, command.keys)) or "Ctrl+P"
        assert (keys, f"{command.title}: {command.help}") in told


def test_keys_are_written_as_a_person_reads_them() -> None:
    assert [readable(key) for key in ("ctrl+o", "f5", "escape", "shift+enter")] == [
        "Ctrl+O",
        "F5",
        "Esc",
        "Shift+Enter",
    ]


def test_the_manual_has_every_command_with_its_keys() -> None:
    manual = (ROOT / "docs" / "reference" / "terminal-ui.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        keys = ", ".join(map(readable, command.keys)) or "Ctrl+P"
        assert f"| {keys} | {command.title} | {command.help} |" in manual


def test_the_guide_names_commands_as_they_are_with_their_keys() -> None:
    guide = (ROOT / "docs" / "tui.md").read_text(encoding="utf-8")
    keys = {command.title: ", ".join(map(readable, command.keys)) for command in COMMANDS}
    rows = re.findall(r"^\| (F\d+|Ctrl\+[A-Z]) \| ([^|]+) \|$", guide, re.MULTILINE)
    commands = [(key, title) for key, title in rows if title != "every command by its name"]
    assert len(commands) >= 10
    assert [(key, title) for key, title in commands if keys.get(title) != key] == []


def test_every_key_that_the_guide_names_does_something() -> None:
    known = {readable(key) for command in COMMANDS for key in command.keys}
    known |= {key for there in WIDGET_KEYS.values() for each in there for key in each.keys.split(", ")}
    guide = (ROOT / "docs" / "tui.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\b(?:F\d+|Ctrl\+[A-Z])\b", guide)) <= known


@pytest.mark.parametrize(
    ("part", "bindings"), [(0, BINDINGS_OF_NOTEBOOK), (1, PagerScreen.BINDINGS)], ids=["notebook", "pager"]
)
def test_the_manual_names_every_key_of_the_other_screens(part: int, bindings: list[BindingType]) -> None:
    page = (ROOT / "docs" / "reference" / "terminal-ui-notebook.md").read_text(encoding="utf-8")
    section = page.split("## The pager")[part]
    keys = [key for each in bindings for key in (each if isinstance(each, tuple) else (each.key,))[0].split(",")]
    assert [key for key in keys if as_written(key) not in section] == []


def as_written(key: str) -> str:
    """A key as the manual has it."""
    *held, last = key.split("+")
    if not held and (last in SIGNS or len(last) == 1):
        return f"`{SIGNS.get(last, last)}`"
    return "+".join((*(each.capitalize() for each in held), NAMES.get(last) or last.capitalize()))
